// Counts and passes of the Bayesian network classifiers.
#include "arrays.hpp"
#include "bayes/gaussians.hpp"
#include "bayes/passes.hpp"
#include "bayes/softmax.hpp"

namespace ceiba::bindings {
namespace {

using RowCodes = std::variant<Array2<const std::uint8_t>, Array2<const std::uint16_t>>;

// Families as arrays: the parents of family f are parents[starts[f]] to parents[starts[f + 1]].
struct FamilyArrays {
    Array1<const std::int32_t> features, sizes;
    Array1<const std::int64_t> offsets;
    Array1<const std::int32_t> starts, parents;
    Array1<const std::int64_t> strides;

    Families view(std::size_t columns) const {
        const std::size_t n = features.shape(0);
        require(sizes.shape(0) == n, "sizes must have one entry per feature.");
        require(offsets.shape(0) == n + 1 && starts.shape(0) == n + 1,
                "offsets and starts must have one entry more than features.");
        require(strides.shape(0) == parents.shape(0), "strides must have one entry per parent.");
        require(starts.data()[0] == 0 && std::size_t(starts.data()[n]) == parents.shape(0),
                "starts must go from 0 to the number of parents.");
        check_offsets(offsets.data(), n, std::size_t(1) << 31, "offsets must ascend below 2^31.");
        for (std::size_t f = 0; f < n; ++f) {
            require(starts.data()[f] <= starts.data()[f + 1], "starts must ascend.");
            require(in_range(features.data()[f], columns), kColumn);
            require(sizes.data()[f] >= 1, "sizes must be at least 1.");
        }
        for (std::size_t p = 0; p < parents.shape(0); ++p)
            require(in_range(parents.data()[p], columns) && strides.data()[p] >= 0, kColumn);
        return {n,
                features.data(),
                sizes.data(),
                offsets.data(),
                starts.data(),
                parents.data(),
                strides.data()};
    }

  private:
    static constexpr const char* kColumn = "features and parents must be columns of the codes.";

    static bool in_range(std::int32_t column, std::size_t columns) {
        return column >= 0 && std::size_t(column) < columns;
    }
};

struct LogLinearArrays {
    FamilyArrays families;
    Array2<const double> weights;
    Array1<const double> bias;
    bool sums_missing;

    LogLinear view(std::size_t columns) const {
        LogLinear model{families.view(columns), weights.data(), bias.data(), sums_missing};
        require(!sums_missing || model.families.single_parents(),
                "sums_missing requires families with at most one parent.");
        require(has_shape(weights, model.families.n_rows(), bias.shape(0)),
                "weights must have shape (n_table_rows, n_classes).");
        return model;
    }
};

void check_labels(const Array1<const std::int32_t>& labels, std::size_t n_classes) {
    for (std::size_t i = 0; i < labels.shape(0); ++i)
        require(labels.data()[i] >= 0 && std::size_t(labels.data()[i]) < n_classes,
                "labels must be in [0, n_classes).");
}

struct CodedRowArrays {
    RowCodes codes;
    Maybe1<const std::int32_t> labels;
    Maybe1<const double> weight;
    std::size_t n_classes;

    template <typename Code>
    CodedRows<Code> view(const Array2<const Code>& array, bool needs_labels = true) const {
        require(labels.has_value() || !needs_labels, "labels are required.");
        if (labels) check_labels(*labels, n_classes);
        return {matrix(array),
                sized(labels, array.shape(0), "labels must have one entry per row of codes."),
                sized(weight, array.shape(0), "weight must have one entry per row of codes."),
                n_classes};
    }
};

void count_families(const CodedRowArrays& rows, const FamilyArrays& families,
                    const Array2<double>& counts, int threads) {
    std::visit(
        [&](const auto& codes) {
            const auto view = rows.view(codes);
            const Families own = families.view(codes.shape(1));
            require(has_shape(counts, own.n_rows(), rows.n_classes),
                    "counts must have shape (n_table_rows, n_classes).");
            checked_threads(threads);
            without_gil([&] { family_counts(view, own, counts.data(), threads); });
        },
        rows.codes);
}

// Ranges of columns: pairs i < j with i in the first and j in the second range.
using PairRanges = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;

PairBlock checked_block(const PairRanges& ranges, const Array1<const std::int32_t>& sizes) {
    const auto [first_begin, first_end, second_begin, second_end] = ranges;
    require(first_begin <= first_end && first_end <= sizes.shape(0) && second_begin <= second_end &&
                second_end <= sizes.shape(0),
            "block must have ranges of columns.");
    for (std::size_t i = 0; i < sizes.shape(0); ++i)
        require(sizes.data()[i] >= 1, "sizes must be at least 1.");
    return {first_begin, first_end, second_begin, second_end};
}

void check_pair_counts(std::size_t found, const PairBlock& block,
                       const Array1<const std::int32_t>& sizes, std::size_t n_classes) {
    std::size_t entries = 0;
    block.for_each([&](std::size_t i, std::size_t j) {
        entries += std::size_t(sizes.data()[i]) * std::size_t(sizes.data()[j]);
    });
    require(found == entries * n_classes,
            "counts must have one entry per pair of codes and class.");
}

void count_pairs(const CodedRowArrays& rows, const Array1<const std::int32_t>& sizes,
                 const PairRanges& ranges, const Array1<double>& counts, int threads) {
    std::visit(
        [&](const auto& codes) {
            const auto view = rows.view(codes);
            require(sizes.shape(0) == codes.shape(1), "sizes must have one entry per column.");
            const PairBlock block = checked_block(ranges, sizes);
            check_pair_counts(counts.shape(0), block, sizes, rows.n_classes);
            checked_threads(threads);
            without_gil([&] { pair_counts(view, sizes.data(), block, counts.data(), threads); });
        },
        rows.codes);
}

void dependence_of_pairs(const Array1<const double>& counts,
                         const Array1<const std::int32_t>& sizes, const PairRanges& ranges,
                         std::size_t n_classes, const Array1<double>& information,
                         const Array1<double>& totals, const Array1<double>& degrees) {
    const PairBlock block = checked_block(ranges, sizes);
    check_pair_counts(counts.shape(0), block, sizes, n_classes);
    std::size_t pairs = 0;
    block.for_each([&](std::size_t, std::size_t) { ++pairs; });
    require(information.shape(0) == pairs && totals.shape(0) == pairs && degrees.shape(0) == pairs,
            "information, totals and degrees must have one entry per pair.");
    const PairDependence out{information.data(), totals.data(), degrees.data()};
    without_gil([&] { pair_dependence(counts.data(), sizes.data(), block, n_classes, out); });
}

void joint_of_rows(const RowCodes& any, const LogLinearArrays& model, const Array2<double>& out,
                   int threads) {
    std::visit(
        [&](const auto& codes) {
            const LogLinear view = model.view(codes.shape(1));
            const std::size_t k = model.bias.shape(0);
            require(has_shape(out, codes.shape(0), k), "out must have shape (n_rows, n_classes).");
            checked_threads(threads);
            without_gil([&] { log_joint(matrix(codes), view, k, out.data(), threads); });
        },
        any);
}

void normalize(const Array2<double>& scores, bool logarithms, int threads) {
    checked_threads(threads);
    without_gil([&] {
        normalize_scores(scores.data(), scores.shape(0), scores.shape(1), logarithms, threads);
    });
}

void indices_of_largest(const Array2<const double>& scores, const Array1<std::int64_t>& out,
                        int threads) {
    require(out.shape(0) == scores.shape(0), "out must have one entry per row of scores.");
    require(scores.shape(1) > 0, "scores must have columns.");
    checked_threads(threads);
    without_gil([&] {
        largest_scores(scores.data(), scores.shape(0), scores.shape(1), out.data(), threads);
    });
}

// Output of `sum_tables`, with the variances if they are asked for.
struct TableSumArrays {
    Array2<double> table;
    Array1<double> bias;
    Maybe2<double> table_variances;

    TableSums view(std::size_t n_rows, std::size_t k) const {
        require(has_shape(table, n_rows, k) && bias.shape(0) == k,
                "table must have shape (n_table_rows, n_classes).");
        require(!table_variances || has_shape(*table_variances, n_rows, k),
                "table_variances must have the shape of table.");
        return {0, table.data(), bias.data(), pointer(table_variances)};
    }
};

double sum_tables(const CodedRowArrays& rows, const LogLinearArrays& model,
                  const FamilyArrays* target, ClassWeighting weighting,
                  const Maybe1<const double>& class_means, const TableSumArrays& out, int threads) {
    return std::visit(
        [&](const auto& codes) {
            const bool has_labels =
                weighting == ClassWeighting::kResiduals || weighting == ClassWeighting::kLabels;
            const auto view = rows.view(codes, has_labels);
            const LogLinear own = model.view(codes.shape(1));
            const Families to = target == nullptr ? own.families : target->view(codes.shape(1));
            const std::size_t k = rows.n_classes;
            require(model.bias.shape(0) == k, "bias must have one entry per class.");
            require(class_means.has_value() == (weighting == ClassWeighting::kInformation),
                    "class_means are those of INFORMATION.");
            const double* means = sized(class_means, k, "class_means must have one per class.");
            TableSums sums = out.view(to.n_rows(), k);
            checked_threads(threads);
            without_gil([&] { table_sums(view, own, to, weighting, means, sums, threads); });
            return sums.objective;
        },
        rows.codes);
}

void likelihoods_along(const CodedRowArrays& rows, const LogLinearArrays& model,
                       const LogLinearArrays& direction, const Array1<const double>& steps,
                       const Array1<double>& log_likelihoods, int threads) {
    std::visit(
        [&](const auto& codes) {
            const auto view = rows.view(codes);
            const LogLinear own = model.view(codes.shape(1));
            const LogLinear along = direction.view(codes.shape(1));
            require(
                model.bias.shape(0) == rows.n_classes && direction.bias.shape(0) == rows.n_classes,
                "bias must have one entry per class.");
            require(steps.shape(0) == log_likelihoods.shape(0),
                    "log_likelihoods must have one entry per step.");
            checked_threads(threads);
            without_gil([&] {
                conditional_log_likelihoods(view, own, along, steps.data(), steps.shape(0),
                                            log_likelihoods.data(), threads);
            });
        },
        rows.codes);
}

void index_tables(const RowCodes& any, const FamilyArrays& families,
                  const Array2<std::uint16_t>& out, int threads) {
    std::visit(
        [&](const auto& codes) {
            const Families view = families.view(codes.shape(1));
            require(view.n_rows() <= std::size_t(1) << 16,
                    "families must have at most 2^16 table rows.");
            require(has_shape(out, codes.shape(0), view.count),
                    "out must have shape (n_rows, n_families).");
            checked_threads(threads);
            without_gil([&] { table_indices(matrix(codes), view, out.data(), threads); });
        },
        any);
}

// Rows of many passes: they are checked once, when they are made.
class IndexedRowArrays {
  public:
    IndexedRowArrays(Array2<const std::uint16_t> indices, Array1<const std::int32_t> labels,
                     Maybe1<const double> weight, std::size_t n_classes)
        : indices_(indices), labels_(labels), weight_(weight), n_classes_(n_classes) {
        const std::size_t n = indices.shape(0);
        require(n_classes >= 2, "n_classes must be at least 2.");
        require(labels.shape(0) == n, "labels must have one entry per row of indices.");
        check_labels(labels, n_classes);
        sized(weight, n, "weight must have one entry per row of indices.");
        // In the type of the indices, which the compiler vectorizes: 0.2 instead of 2 ms for two
        // million of them.
        std::uint16_t last = 0;
        for (std::size_t i = 0; i < indices.size(); ++i) last = std::max(last, indices.data()[i]);
        n_table_rows_ = indices.size() == 0 ? 0 : std::size_t(last) + 1;
    }

    IndexedRows view() const {
        return {matrix(indices_), labels_.data(), pointer(weight_), n_classes_};
    }

    SoftmaxWeights weights(const Array2<const double>& table,
                           const Array1<const double>& bias) const {
        require(bias.shape(0) == n_classes_ && table.shape(1) == n_classes_,
                "table and bias must have one entry per class.");
        require(table.shape(0) >= n_table_rows_, "table must have the rows of all indices.");
        return {table.data(), bias.data(), table.shape(0)};
    }

  private:
    Array2<const std::uint16_t> indices_;
    Array1<const std::int32_t> labels_;
    Maybe1<const double> weight_;
    std::size_t n_classes_, n_table_rows_ = 0;
};

double gradient_of_softmax(const IndexedRowArrays& rows, const Array2<const double>& table,
                           const Array1<const double>& bias, const Array2<double>& table_gradient,
                           const Array1<double>& bias_gradient, int threads) {
    const SoftmaxWeights weights = rows.weights(table, bias);
    require(has_shape(table_gradient, table.shape(0), table.shape(1)) &&
                bias_gradient.shape(0) == bias.shape(0),
            "gradients must have the shapes of table and bias.");
    checked_threads(threads);
    double log_likelihood = 0;
    without_gil([&] {
        log_likelihood = softmax_gradient(rows.view(), weights, table_gradient.data(),
                                          bias_gradient.data(), threads);
    });
    return log_likelihood;
}

void likelihoods_of_softmax(const IndexedRowArrays& rows, const Array2<const double>& table,
                            const Array1<const double>& bias,
                            const Array2<const double>& table_direction,
                            const Array1<const double>& bias_direction,
                            const Array1<const double>& steps,
                            const Array1<double>& log_likelihoods, int threads) {
    const SoftmaxWeights weights = rows.weights(table, bias);
    const SoftmaxWeights direction = rows.weights(table_direction, bias_direction);
    require(steps.shape(0) == log_likelihoods.shape(0),
            "log_likelihoods must have one entry per step.");
    checked_threads(threads);
    without_gil([&] {
        softmax_likelihoods(rows.view(), weights, direction, steps.data(), steps.shape(0),
                            log_likelihoods.data(), threads);
    });
}

void sums_by_class(const Array2<const double>& X, const Array1<const std::int32_t>& labels,
                   const Maybe1<const double>& weight, std::size_t k, const Array2<double>& sums,
                   int threads) {
    const std::size_t d = X.shape(1);
    require(has_shape(sums, kClassSums, k * d),
            "sums must have shape (10, n_classes * n_columns).");
    require(labels.shape(0) == X.shape(0), "labels must have one entry per row of X.");
    check_labels(labels, k);
    const double* w = sized(weight, X.shape(0), "weight must have one entry per row of X.");
    checked_threads(threads);
    without_gil([&] { class_sums(matrix(X), labels.data(), w, k, sums.data(), threads); });
}

using Triples =
    nb::ndarray<const double, nb::shape<3, -1, -1>, nb::c_contig, nb::device::cpu, nb::numpy>;

void centered(const Triples& weight, const Triples& sum, const Triples& squares,
              const Array2<double>& mean, const Array2<double>& out) {
    const std::size_t k = mean.shape(0), d = mean.shape(1);
    for (const Triples* own : {&weight, &sum, &squares})
        require(own->shape(1) == k && own->shape(2) == d,
                "sums must have shape (3, n_classes, n_columns).");
    require(has_shape(out, k, d), "out must have the shape of mean.");
    centered_moments(weight.data(), sum.data(), squares.data(), k * d, mean.data(), out.data());
}

void log_normals(const Array2<const double>& X, const Array2<const double>& means,
                 const Array2<const double>& factors, const Array2<const double>& constants,
                 const Array2<double>& out, int threads) {
    const std::size_t k = means.shape(0), d = X.shape(1);
    require(has_shape(means, k, d) && has_shape(factors, k, d) && has_shape(constants, k, d),
            "means, factors and constants must have shape (n_classes, n_columns).");
    require(has_shape(out, X.shape(0), k), "out must have shape (n_rows, n_classes).");
    checked_threads(threads);
    without_gil([&] {
        add_log_normals(matrix(X), {means.data(), factors.data(), constants.data()}, k, out.data(),
                        threads);
    });
}

}  // namespace

void bind_bayes(nb::module_& module) {
    nb::class_<FamilyArrays>(module, "Families", "Features with their feature parents.")
        .def(nb::init<Array1<const std::int32_t>, Array1<const std::int32_t>,
                      Array1<const std::int64_t>, Array1<const std::int32_t>,
                      Array1<const std::int32_t>, Array1<const std::int64_t>>(),
             "features"_a.noconvert(), "sizes"_a.noconvert(), "offsets"_a.noconvert(),
             "starts"_a.noconvert(), "parents"_a.noconvert(), "strides"_a.noconvert());
    nb::class_<LogLinearArrays>(module, "LogLinear",
                                "Log joint: bias plus the weights of the families' table rows.")
        .def(nb::init<FamilyArrays, Array2<const double>, Array1<const double>, bool>(),
             "families"_a, "weights"_a.noconvert(), "bias"_a.noconvert(), "sums_missing"_a = false);
    nb::class_<CodedRowArrays>(module, "CodedRows", "Codes, class indices and weights of rows.")
        .def(nb::init<RowCodes, Maybe1<const std::int32_t>, Maybe1<const double>, std::size_t>(),
             "codes"_a.noconvert(), "labels"_a.noconvert().none(), "weight"_a.noconvert().none(),
             "n_classes"_a);
    nb::enum_<ClassWeighting>(module, "ClassWeighting", "What a row adds to each class.")
        .value("RESIDUALS", ClassWeighting::kResiduals)
        .value("LABELS", ClassWeighting::kLabels)
        .value("POSTERIORS", ClassWeighting::kPosteriors)
        .value("INFORMATION", ClassWeighting::kInformation);
    module.def("bayes_family_counts", &count_families, "rows"_a, "families"_a,
               "counts"_a.noconvert(), "threads"_a = 1,
               "Sum the weight of each table row and class.");
    module.def("bayes_pair_counts", &count_pairs, "rows"_a, "sizes"_a.noconvert(), "block"_a,
               "counts"_a.noconvert(), "threads"_a = 1,
               "Sum the weight of each pair of codes and class, for the pairs of a block.");
    module.def("bayes_pair_dependence", &dependence_of_pairs, "counts"_a.noconvert(),
               "sizes"_a.noconvert(), "block"_a, "n_classes"_a, "information"_a.noconvert(),
               "totals"_a.noconvert(), "degrees"_a.noconvert(),
               "Compute the conditional mutual information of the pairs of a block.");
    module.def("bayes_log_joint", &joint_of_rows, "codes"_a.noconvert(), "model"_a,
               "out"_a.noconvert(), "threads"_a = 1, "Compute log p(c, x) of each row and class.");
    module.def("bayes_normalize", &normalize, "scores"_a.noconvert(), "logarithms"_a,
               "threads"_a = 1,
               "Turn log scores into probabilities of the classes, or their logarithms.");
    module.def("bayes_largest", &indices_of_largest, "scores"_a.noconvert(), "out"_a.noconvert(),
               "threads"_a = 1, "Compute the index of the largest score of each row.");
    nb::class_<TableSumArrays>(module, "TableSumArrays", "Output of bayes_table_sums.")
        .def(nb::init<Array2<double>, Array1<double>, Maybe2<double>>(), "table"_a.noconvert(),
             "bias"_a.noconvert(), "table_variances"_a.noconvert() = nb::none());
    module.def("bayes_table_sums", &sum_tables, "rows"_a, "model"_a, "target"_a.none(),
               "weighting"_a, "class_means"_a.noconvert().none(), "out"_a, "threads"_a = 1,
               "Sum class weights by table row and class; return the objective of the weighting.");
    module.def("bayes_log_likelihoods", &likelihoods_along, "rows"_a, "model"_a, "direction"_a,
               "steps"_a.noconvert(), "log_likelihoods"_a.noconvert(), "threads"_a = 1,
               "Compute the conditional log-likelihood at several steps along a direction.");
    module.def("bayes_table_indices", &index_tables, "codes"_a.noconvert(), "families"_a,
               "out"_a.noconvert(), "threads"_a = 1,
               "Compute the table row of each row and family, at most 2^16 of them.");
    nb::class_<IndexedRowArrays>(module, "IndexedRows",
                                 "Table rows, class indices and weights of rows.")
        .def(nb::init<Array2<const std::uint16_t>, Array1<const std::int32_t>, Maybe1<const double>,
                      std::size_t>(),
             "indices"_a.noconvert(), "labels"_a.noconvert(), "weight"_a.noconvert().none(),
             "n_classes"_a);
    module.def("bayes_softmax_gradient", &gradient_of_softmax, "rows"_a, "table"_a.noconvert(),
               "bias"_a.noconvert(), "table_gradient"_a.noconvert(), "bias_gradient"_a.noconvert(),
               "threads"_a = 1,
               "Compute the gradient of the conditional log-likelihood, and return the latter.");
    module.def("bayes_softmax_likelihoods", &likelihoods_of_softmax, "rows"_a,
               "table"_a.noconvert(), "bias"_a.noconvert(), "table_direction"_a.noconvert(),
               "bias_direction"_a.noconvert(), "steps"_a.noconvert(),
               "log_likelihoods"_a.noconvert(), "threads"_a = 1,
               "Compute the conditional log-likelihood at several steps along a direction.");
    module.def("bayes_class_sums", &sums_by_class, "X"_a.noconvert(), "labels"_a.noconvert(),
               "weight"_a.noconvert().none(), "n_classes"_a, "sums"_a.noconvert(), "threads"_a = 1,
               "Sum weights, values and squared values of each class and column, in three doubles "
               "each; the last row has the weight of nonzero values. The array must be zero.");
    module.def("bayes_centered_moments", &centered, "weight"_a.noconvert(), "sum"_a.noconvert(),
               "squares"_a.noconvert(), "mean"_a.noconvert(), "out"_a.noconvert(),
               "Compute mean and centered squares of each class and column from sums of three "
               "doubles.");
    module.def("bayes_add_log_normals", &log_normals, "X"_a.noconvert(), "means"_a.noconvert(),
               "factors"_a.noconvert(), "constants"_a.noconvert(), "out"_a.noconvert(),
               "threads"_a = 1,
               "Add constant - ((x - mean) * factor)^2 of every observed value to each class.");
}

}  // namespace ceiba::bindings
