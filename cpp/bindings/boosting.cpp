// Gradient boosting: gradients of losses, growth of trees, values of leaves, raw scores.
#include "boosting/boosting_grower.hpp"

#include "boosting/leaf_values.hpp"
#include "boosting/raw_scores.hpp"
#include "forest_arrays.hpp"
#include "simd/boosting_kernels.hpp"
#include "training_arrays.hpp"

namespace ceiba::bindings {
namespace {

using boosting::BoostingConfig;
using boosting::Gradients;

using AnyGrower = std::variant<std::shared_ptr<boosting::BoostingGrower<std::uint8_t>>,
                               std::shared_ptr<boosting::BoostingGrower<std::uint16_t>>,
                               std::shared_ptr<boosting::BoostingGrower<std::uint32_t>>>;

constexpr const char* kPerRow = "gradient, hessian and weight must have one entry per row.";

// Grows the trees of a fit on encoded rows, and keeps the last one and the codes alive.
class BoostingGrower {
  public:
    BoostingGrower(const BoostingConfig& config, const AnyCodes& any,
                   const EncodingArrays& encoding, int threads)
        : codes_(any), encoding_(encoding), threads_(checked_threads(threads)) {
        std::visit(
            [&](const auto& codes) {
                const auto columns = encoded_columns(codes, encoding_.view());
                using Code = std::remove_const_t<typename std::decay_t<decltype(codes)>::Scalar>;
                check(config, columns.columns);
                is_constrained_ = !config.monotonic.empty();
                require(columns.rows >= 1, "codes must have at least one row.");
                n_rows_ = columns.rows;
                n_columns_ = columns.count();
                without_gil([&] {
                    grower_ =
                        std::make_shared<boosting::BoostingGrower<Code>>(config, columns, threads);
                });
            },
            any);
    }

    // A second grower on the same codes, for another tree at the same time.
    BoostingGrower with_shared_codes() const {
        BoostingGrower other(*this);
        std::visit(
            [&](const auto& grower) {
                using Grower = typename std::decay_t<decltype(grower)>::element_type;
                other.grower_ = std::make_shared<Grower>(grower->with_shared_codes());
            },
            grower_);
        other.is_grown_ = false;
        return other;
    }

    // Grow a tree with each grower at the same time; gradients are of shape (n_outputs, n_rows),
    // the same number of outputs for each tree. All growers share their codes.
    static void grow_trees(const std::vector<BoostingGrower*>& growers,
                           Array2<const double> gradient, Maybe2<const double> hessian,
                           Maybe1<const double> weight, Maybe1<const std::uint32_t> rows,
                           Maybe2<const std::int32_t> columns, Array1<const std::uint64_t> seeds) {
        const std::size_t n_trees = growers.size();
        require(n_trees >= 1 && seeds.shape(0) == n_trees, "seeds must have one entry per grower.");
        require(gradient.shape(0) % n_trees == 0,
                "gradient must have a multiple of len(growers) rows.");
        require(!columns || columns->shape(0) == n_trees, "columns must have one row per grower.");
        BoostingGrower& first = *growers[0];
        Gradients all = first.view(gradient, hessian, weight);
        all.outputs /= n_trees;
        require(!first.is_constrained_ || all.outputs == 1,
                "monotonic must be empty for trees of several outputs.");
        if (rows) check_ascending(rows->data(), rows->shape(0), first.n_rows_, "rows");
        std::span<const std::uint32_t> sample;
        if (rows) sample = {rows->data(), rows->shape(0)};
        std::vector<std::vector<std::int32_t>> tested;
        for (std::size_t t = 0; t < n_trees; ++t) {
            require(growers[t]->codes_data() == first.codes_data(),
                    "growers must share their codes.");
            require(std::find(growers.begin(), growers.begin() + std::ptrdiff_t(t), growers[t]) ==
                        growers.begin() + std::ptrdiff_t(t),
                    "growers must be different.");
            require(growers[t]->n_outputs_ == 0 || growers[t]->n_outputs_ == all.outputs,
                    "gradient must have as many outputs per tree as before.");
            tested.push_back(first.tested_columns(columns, t));
            growers[t]->is_grown_ = false;
            growers[t]->n_outputs_ = all.outputs;
        }
        const auto grow = [&](std::size_t t, int threads) {
            Gradients own = all;
            own.gradient += t * all.outputs * all.rows;
            if (own.hessian != nullptr) own.hessian += t * all.outputs * all.rows;
            std::visit(
                [&](auto& grower) {
                    grower->grow(own, sample, std::move(tested[t]), seeds.data()[t], threads);
                },
                growers[t]->grower_);
        };
        without_gil([&] {
            if (n_trees == 1) return grow(0, first.threads_);
            const double work = 8.0 * double(all.rows * n_trees * all.outputs * first.n_columns_);
            for_segments({n_trees, n_trees}, threads_for(work, first.threads_),
                         [&](std::size_t t, int, Interrupt&) { grow(t, 1); });
        });
        for (BoostingGrower* grower : growers) grower->is_grown_ = true;
    }

    nb::ndarray<nb::numpy, double> newton_values(Array2<const double> gradient,
                                                 Maybe2<const double> hessian,
                                                 Maybe1<const double> weight, bool as_grown) {
        const Gradients gradients = view_of_tree(gradient, hessian, weight);
        std::vector<double> values;
        with_grown(
            [&](auto& grower) { values = boosting::newton_values(grower, gradients, as_grown); });
        const std::size_t n = values.size() / gradients.outputs;
        return owned(std::move(values), {n, gradients.outputs});
    }

    // Sums of two arrays over the rows of every leaf.
    nb::ndarray<nb::numpy, double> leaf_sums(Array2<const double> gradient,
                                             Maybe2<const double> hessian,
                                             Maybe1<const double> weight) {
        const Gradients gradients = view_of_tree(gradient, hessian, weight);
        std::vector<double> sums;
        with_grown([&](auto& grower) {
            for (const auto& leaf : grower.leaf_sums(gradients, false))
                for (std::size_t k = 0; k < gradients.outputs; ++k) {
                    sums.push_back(leaf.gradient[k]);
                    sums.push_back(leaf.hessian[k]);
                }
        });
        const std::size_t n = sums.size() / (2 * gradients.outputs);
        return owned(std::move(sums), {n, gradients.outputs, 2});
    }

    nb::ndarray<nb::numpy, double> node_sums() {
        std::vector<double> sums;
        std::size_t n_nodes = 1;
        with_grown([&](auto& grower) {
            sums = grower.node_sums();
            n_nodes = grower.builder().nodes.size();
        });
        const std::size_t outputs = sums.size() / (2 * n_nodes);
        return owned(std::move(sums), {n_nodes, outputs, 2});
    }

    nb::ndarray<nb::numpy, double> node_bounds() {
        std::vector<double> bounds;
        with_grown([&](auto& grower) { bounds = grower.node_bounds(); });
        const std::size_t n_nodes = bounds.size() / 2;
        return owned(std::move(bounds), {n_nodes, 2});
    }

    nb::ndarray<nb::numpy, double> leaf_bounds() {
        std::vector<double> bounds;
        with_grown([&](auto& grower) {
            for (const auto& leaf : grower.leaves()) {
                bounds.push_back(leaf.bounds.lower);
                bounds.push_back(leaf.bounds.upper);
            }
        });
        const std::size_t n_leaves = bounds.size() / 2;
        return owned(std::move(bounds), {n_leaves, 2});
    }

    nb::ndarray<nb::numpy, double> leaf_quantiles(Array1<const double> residual,
                                                  Maybe1<const double> weight, double probability) {
        require(residual.shape(0) == n_rows_, "residual must have one entry per row.");
        const double* w = sized(weight, n_rows_, kPerRow);
        require(probability > 0 && probability < 1, "probability must be in (0, 1).");
        std::vector<double> values;
        with_grown([&](auto& grower) {
            values = boosting::leaf_quantiles(grower, residual.data(), w, probability);
        });
        return owned(std::move(values));
    }

    void add_values(Array2<const double> values, Array2<double> scores) {
        check_values(values);
        require(has_shape(scores, values.shape(1), n_rows_),
                "scores must have shape (n_outputs, n_rows).");
        with_grown([&](auto& grower) {
            grower.add_values(values.data(), values.shape(1), scores.data());
        });
    }

    // The arrays of the tree for each output, one tree behind the other.
    nb::dict pack(const CodeValues& code_values, Array2<const double> values) {
        check_values(values);
        const Scales scales = code_values.view();
        require(scales.types.size() == n_columns_,
                "code_values must have the columns of the codes.");
        forest::PackedForest packed;
        std::vector<double> rows, gains;
        with_grown([&](auto& grower) {
            const auto& builder = grower.builder();
            const std::size_t outputs = values.shape(1);
            for (std::size_t k = 0; k < outputs; ++k) {
                packed.append(grower.pack(scales, values.data() + k, outputs));
                for (std::size_t i = 0; i < builder.nodes.size(); ++i) {
                    const auto& node = builder.nodes[i];
                    rows.push_back(double(builder.cell(i)[0]));
                    gains.push_back(node.expanded() ? node.gain * rows.back() : 0);
                }
            }
        });
        nb::dict out;
        out["nodes"] = owned_words<std::uint64_t>(std::move(packed.nodes));
        out["tree_offsets"] = owned(std::move(packed.first));
        out["words"] = owned(std::move(packed.words));
        out["tables"] = owned(std::move(packed.tables));
        out["node_rows"] = owned(std::move(rows));
        out["node_gains"] = owned(std::move(gains));
        return out;
    }

  private:
    static void check(const BoostingConfig& config, const std::vector<Column>& columns) {
        require(config.min_rows >= 1 && config.min_rows <= std::int64_t(1) << 53,
                "min_rows must be in [1, 2^53].");
        require(config.max_leaves == 0 || config.max_leaves >= 2,
                "max_leaves must be 0 or at least 2.");
        require(config.reg_lambda >= 0 && config.reg_alpha >= 0 && config.category_smoothing >= 0,
                "reg_lambda, reg_alpha and category_smoothing must not be negative.");
        require(config.min_child_weight >= 0 && config.min_split_gain >= 0 &&
                    config.columns_per_node >= 0,
                "min_child_weight, min_split_gain and columns_per_node must not be negative.");
        check_monotonic(config.monotonic, columns);
        check_interactions(config.interactions, columns.size());
        require(
            config.gradient_bits == 0 || (config.gradient_bits >= 2 && config.gradient_bits <= 41),
            "gradient_bits must be 0 or in [2, 41].");
    }

    // Gradients of the outputs of the tree.
    Gradients view_of_tree(const Array2<const double>& gradient,
                           const Maybe2<const double>& hessian,
                           const Maybe1<const double>& weight) const {
        require(gradient.shape(0) == n_outputs_, "gradient must have one row per output.");
        return view(gradient, hessian, weight);
    }

    Gradients view(const Array2<const double>& gradient, const Maybe2<const double>& hessian,
                   const Maybe1<const double>& weight) const {
        require(gradient.shape(1) == n_rows_ && gradient.shape(0) >= 1, kPerRow);
        require(!hessian || has_shape(*hessian, gradient.shape(0), n_rows_), kPerRow);
        Gradients gradients;
        gradients.gradient = gradient.data();
        gradients.hessian = pointer(hessian);
        gradients.weight = sized(weight, n_rows_, kPerRow);
        gradients.rows = n_rows_;
        gradients.outputs = gradient.shape(0);
        return gradients;
    }

    const void* codes_data() const {
        return std::visit([](const auto& codes) -> const void* { return codes.data(); }, codes_);
    }

    template <typename T>
    static void check_ascending(const T* values, std::size_t size, std::size_t n,
                                const char* name) {
        bool valid = size > 0;
        for (std::size_t i = 0; i < size; ++i)
            valid = valid && values[i] >= T(0) && std::size_t(values[i]) < n &&
                    (i == 0 || values[i - 1] < values[i]);
        if (!valid)
            throw std::invalid_argument(std::string(name) +
                                        " must be ascending indices, and not empty.");
    }

    // The columns that a tree may test: a row of the given ones, or all.
    std::vector<std::int32_t> tested_columns(const Maybe2<const std::int32_t>& given,
                                             std::size_t tree) const {
        if (given) {
            const std::size_t n = given->shape(1);
            const std::int32_t* first = given->data() + tree * n;
            check_ascending(first, n, n_columns_, "columns");
            return {first, first + n};
        }
        std::vector<std::int32_t> all(n_columns_);
        std::iota(all.begin(), all.end(), 0);
        return all;
    }

    void check_values(const Array2<const double>& values) {
        std::size_t n_leaves = 0;
        with_grown([&](auto& grower) { n_leaves = grower.leaves().size(); });
        require(values.shape(0) == n_leaves && values.shape(1) >= 1,
                "values must have shape (n_leaves, n_outputs).");
    }

    template <typename Body>
    void with(const Body& body) {
        std::visit([&](auto& grower) { without_gil([&] { body(*grower); }); }, grower_);
    }
    template <typename Body>
    void with_grown(const Body& body) {
        require(is_grown_, "no tree was grown yet.");
        with(body);
    }

    AnyCodes codes_;
    EncodingArrays encoding_;
    std::size_t n_rows_ = 0, n_columns_ = 0;
    int threads_;
    bool is_constrained_ = false;
    bool is_grown_ = false;
    std::size_t n_outputs_ = 0;  // of the trees; 0 before the first one
    AnyGrower grower_;
};

// Rows per segment of a loop over gradients.
constexpr std::size_t kGradientRows = 8192;

void logistic_gradients(Array1<const double> y, Array1<const double> raw,
                        Maybe1<const double> weight, Array1<double> gradient,
                        Array1<double> hessian, int threads) {
    const std::size_t n = y.shape(0);
    require(raw.shape(0) == n && gradient.shape(0) == n && hessian.shape(0) == n, kPerRow);
    const double* w = sized(weight, n, kPerRow);
    const Segments parts = segments(n, kGradientRows);
    without_gil([&] {
        for_segments(parts, threads_for(20.0 * double(n), checked_threads(threads)),
                     [&](std::size_t s, int, Interrupt&) {
                         const std::size_t i = parts.begin(s);
                         boosting_kernels().logistic_gradients(
                             y.data() + i, raw.data() + i, w ? w + i : nullptr, parts.end(s) - i,
                             gradient.data() + i, hessian.data() + i);
                     });
    });
}

void softmax_gradients(Array1<const std::int32_t> label, Array2<const double> raw,
                       Maybe1<const double> weight, Array2<double> gradient, Array2<double> hessian,
                       int threads) {
    const std::size_t n = label.shape(0), classes = raw.shape(0);
    require(classes >= 2, "raw must have at least two classes.");
    require(raw.shape(1) == n && has_shape(gradient, classes, n) && has_shape(hessian, classes, n),
            kPerRow);
    const double* w = sized(weight, n, kPerRow);
    const Segments parts = segments(n, kGradientRows);
    without_gil([&] {
        for_segments(parts, threads_for(20.0 * double(n * classes), checked_threads(threads)),
                     [&](std::size_t s, int, Interrupt&) {
                         const std::size_t i = parts.begin(s);
                         boosting_kernels().softmax_gradients(
                             label.data() + i, raw.data() + i, w ? w + i : nullptr,
                             parts.end(s) - i, n, classes, gradient.data() + i, hessian.data() + i);
                     });
    });
}

void add_raw_scores(const ForestArrays& trees, const ForestRows& rows, std::size_t begin,
                    std::size_t end, Array2<double> scores, int threads) {
    rows.check(trees.columns);
    const ForestView view = trees.view();
    require(view.n_classes == 0, "raw scores require trees with numbers in their leaves.");
    require(begin <= end && end <= view.n_trees, "begin and end must be a range of trees.");
    require(scores.shape(0) == rows.rows.rows && scores.shape(1) >= 1,
            "scores must have shape (n_rows, n_outputs).");
    checked_threads(threads);
    without_gil([&] {
        boosting::add_raw_scores(view, rows.rows, begin, end, scores.shape(1), scores.data(),
                                 threads);
    });
}

}  // namespace

void bind_boosting(nb::module_& module) {
    nb::class_<BoostingConfig>(module, "BoostingConfig", "Settings of a boosted tree.")
        .def(nb::init<>())
        .def_rw("growth_order", &BoostingConfig::growth_order)
        .def_rw("max_leaves", &BoostingConfig::max_leaves)
        .def_rw("max_depth", &BoostingConfig::max_depth)
        .def_rw("min_rows", &BoostingConfig::min_rows)
        .def_rw("min_child_weight", &BoostingConfig::min_child_weight)
        .def_rw("reg_lambda", &BoostingConfig::reg_lambda)
        .def_rw("reg_alpha", &BoostingConfig::reg_alpha)
        .def_rw("min_split_gain", &BoostingConfig::min_split_gain)
        .def_rw("category_smoothing", &BoostingConfig::category_smoothing)
        .def_rw("columns_per_node", &BoostingConfig::columns_per_node)
        .def_rw("monotonic", &BoostingConfig::monotonic)
        .def_rw("gradient_bits", &BoostingConfig::gradient_bits)
        .def_prop_rw("interactions", &interactions_of<BoostingConfig>,
                     &set_interactions<BoostingConfig>);
    nb::class_<BoostingGrower>(module, "BoostingGrower",
                               "Grow the trees of a fit on encoded rows, and keep the last one.")
        .def(nb::init<const BoostingConfig&, const AnyCodes&, const EncodingArrays&, int>(),
             "config"_a, "codes"_a.noconvert(), "encoding"_a, "threads"_a)
        .def("with_shared_codes", &BoostingGrower::with_shared_codes,
             "Return a second grower on the same codes, for another tree at the same time.")
        .def("newton_values", &BoostingGrower::newton_values, "gradient"_a.noconvert(),
             "hessian"_a.noconvert() = nb::none(), "weight"_a.noconvert() = nb::none(),
             nb::kw_only(), "as_grown"_a = false,
             "Return the regularized Newton step of each leaf and output.")
        .def("leaf_sums", &BoostingGrower::leaf_sums, "gradient"_a.noconvert(),
             "hessian"_a.noconvert() = nb::none(), "weight"_a.noconvert() = nb::none(),
             "Return the sums over the rows of each leaf, of shape (n_leaves, n_outputs, 2).")
        .def("node_sums", &BoostingGrower::node_sums,
             "Return the sums from which splits were scored, of shape (n_nodes, n_outputs, 2).")
        .def("node_bounds", &BoostingGrower::node_bounds,
             "Return the bounds of the values of each node, of shape (n_nodes, 2).")
        .def("leaf_bounds", &BoostingGrower::leaf_bounds,
             "Return the bounds of the values of each leaf, of shape (n_leaves, 2).")
        .def("leaf_quantiles", &BoostingGrower::leaf_quantiles, "residual"_a.noconvert(),
             "weight"_a.noconvert(), "probability"_a,
             "Return the weighted quantile of the residuals of each leaf's rows.")
        .def("add_values", &BoostingGrower::add_values, "values"_a.noconvert(),
             "scores"_a.noconvert(), "Add the values of the leaves to the scores of all rows.")
        .def("pack", &BoostingGrower::pack, "code_values"_a, "values"_a.noconvert(),
             "Return the arrays of the tree, once for each output.");
    module.def("grow_trees", &BoostingGrower::grow_trees, "growers"_a, "gradient"_a.noconvert(),
               "hessian"_a.noconvert(), "weight"_a.noconvert(), nb::kw_only(), "rows"_a.noconvert(),
               "columns"_a.noconvert(), "seeds"_a.noconvert(),
               "Grow a tree with each grower at the same time, from the gradients of some rows.");
    module.def("logistic_gradients", &logistic_gradients, "y"_a.noconvert(), "raw"_a.noconvert(),
               "weight"_a.noconvert(), "gradient"_a.noconvert(), "hessian"_a.noconvert(),
               "threads"_a, "Compute gradients and Hessians of the binary log-loss.");
    module.def("softmax_gradients", &softmax_gradients, "label"_a.noconvert(), "raw"_a.noconvert(),
               "weight"_a.noconvert(), "gradient"_a.noconvert(), "hessian"_a.noconvert(),
               "threads"_a, "Compute gradients and Hessians of the multinomial log-loss.");
    module.def("add_raw_scores", &add_raw_scores, "trees"_a, "rows"_a, "begin"_a, "end"_a,
               "scores"_a.noconvert(), "threads"_a,
               "Add the leaf values of trees [begin, end) to the scores of the rows.");
}

}  // namespace ceiba::bindings
