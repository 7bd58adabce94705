// The E step of Gaussian mixtures.
#include "arrays.hpp"
#include "mixture/expectation.hpp"
#include "mixture/missing_patterns.hpp"

namespace ceiba::bindings {
namespace {

constexpr const char* kPerRow = "arrays of row values must have one entry per row of X.";

// Covariances and factors have d x d or d entries per component.
struct GaussianComponents {
    Array1<const double> log_weights;
    Array2<const double> means, covariances, factors;

    Gaussians view(std::size_t d) const {
        Gaussians model;
        model.k = means.shape(0);
        model.d = d;
        const std::size_t entries = covariances.shape(1);
        require(model.k >= 1, "means must have at least one row.");
        require(model.k < std::size_t(std::numeric_limits<std::int32_t>::max()),
                "means must have less than 2^31 - 1 rows.");
        require(means.shape(1) == d, "means must have the columns of X.");
        require(log_weights.shape(0) == model.k && covariances.shape(0) == model.k,
                "log_weights and covariances must have one entry or row per row of means.");
        require(entries == d || (d > 0 && entries % d == 0 && entries / d == d),
                "covariances must have d or d x d columns.");
        require(has_shape(factors, model.k, entries),
                "factors must have the shape of the covariances.");
        // With one column both readings have one entry and mean the same.
        model.full = entries != d;
        model.log_weights = log_weights.data();
        model.means = means.data();
        model.covariances = covariances.data();
        model.factors = factors.data();
        return model;
    }
};

struct PatternArrays {
    bool has_missing = false;
    Maybe1<const std::int64_t> order, starts;

    MissingPatterns view(std::size_t rows) const {
        MissingPatterns patterns;
        require(bool(order) == bool(starts), "order requires starts, and starts order.");
        if (!order) return patterns;
        patterns.order = sized(order, rows, kPerRow);
        require(starts->shape(0) >= 2, "starts must have at least 2 entries.");
        patterns.starts = starts->data();
        patterns.count = starts->shape(0) - 1;
        require(patterns.starts[0] == 0 && patterns.starts[patterns.count] == std::int64_t(rows),
                "starts must begin with 0 and end with the number of rows.");
        for (std::size_t p = 0; p < patterns.count; ++p)
            require(patterns.starts[p] < patterns.starts[p + 1], "starts must be ascending.");
        std::vector<bool> seen(rows);
        for (std::size_t i = 0; i < rows; ++i) {
            const std::int64_t row = patterns.order[i];
            require(row >= 0 && std::size_t(row) < rows && !seen[std::size_t(row)],
                    "order must contain every row of X once.");
            seen[std::size_t(row)] = true;
        }
        return patterns;
    }
};

struct ResponsibilityArrays {
    Maybe1<const std::int32_t> labels;
    Maybe2<const double> values;
    std::optional<DrawKey> key;

    GivenResponsibilities view(std::size_t rows, std::size_t k) const {
        require(int(bool(labels)) + int(bool(values)) + int(bool(key)) <= 1,
                "responsibilities must be one of labels, values and key.");
        GivenResponsibilities given;
        given.labels = sized(labels, rows, kPerRow);
        for (std::size_t i = 0; labels && i < rows; ++i)
            require(given.labels[i] >= 0 && std::size_t(given.labels[i]) < k,
                    "labels must be indices of components.");
        require(!values || has_shape(*values, rows, k),
                "values of responsibilities must have shape (n_rows, n_components).");
        given.responsibilities = pointer(values);
        if (key) {
            given.drawn = true;
            given.seed = key->seed;
            given.stream = key->stream;
            given.first_row = key->first_row;
        }
        return given;
    }
};

// Sums about the pivots, in the shapes of means and covariances.
struct MomentSums {
    Array2<const double> pivots;
    Array1<double> weights;
    Array2<double> first, second;

    MixtureMoments view(const Gaussians& model) const {
        require(has_shape(pivots, model.k, model.d) && has_shape(first, model.k, model.d),
                "pivots and first must have the shape of the means.");
        require(weights.shape(0) == model.k, "weights must have one entry per component.");
        require(has_shape(second, model.k, model.covariance_size()),
                "second must have the shape of the covariances.");
        return {pivots.data(), weights.data(), first.data(), second.data()};
    }
};

template <typename T>
MixtureProblem<T> mixture_problem(const Array2<const T>& X, const Maybe1<const double>& weight,
                                  const GaussianComponents& model, const PatternArrays* patterns) {
    MixtureProblem<T> problem;
    problem.X = matrix(X);
    problem.weight = sized(weight, X.shape(0), kPerRow);
    problem.model = model.view(X.shape(1));
    if (patterns == nullptr) return problem;
    problem.has_missing = patterns->has_missing;
    problem.patterns = patterns->view(X.shape(0));
    require(!problem.has_missing || !problem.model.full || problem.patterns.order != nullptr,
            "full covariances require the order of the missing patterns.");
    require(problem.model.full || problem.patterns.order == nullptr,
            "order requires full covariances.");
    return problem;
}

double sum_moments(const AnyFloat2& any, const Maybe1<const double>& weight,
                   const GaussianComponents& model, const MomentSums& sums,
                   const PatternArrays* patterns, const ResponsibilityArrays* responsibilities,
                   int threads) {
    return std::visit(
        [&](const auto& X) {
            auto problem = mixture_problem(X, weight, model, patterns);
            MixtureMoments out = sums.view(problem.model);
            if (responsibilities != nullptr)
                problem.given = responsibilities->view(X.shape(0), problem.model.k);
            checked_threads(threads);
            without_gil([&] { expected_moments(problem, out, threads); });
            return out.log_likelihood;
        },
        any);
}

void posteriors_of_rows(const AnyFloat2& any, const GaussianComponents& model,
                        const PatternArrays* patterns, const Maybe1<double>& log_density,
                        const Maybe2<double>& posteriors, const Maybe1<std::int32_t>& labels,
                        int threads) {
    std::visit(
        [&](const auto& X) {
            const auto problem = mixture_problem(X, std::nullopt, model, patterns);
            const std::size_t n = X.shape(0);
            RowPosteriors out;
            out.log_density = sized(log_density, n, kPerRow);
            out.labels = sized(labels, n, kPerRow);
            require(!posteriors || has_shape(*posteriors, n, problem.model.k),
                    "posteriors must have shape (n_rows, n_components).");
            out.posteriors = pointer(posteriors);
            checked_threads(threads);
            without_gil([&] { row_posteriors(problem, out, threads); });
        },
        any);
}

nb::tuple patterns_of_rows(const AnyFloat2& any) {
    MissingPatternOrder found;
    std::visit([&](const auto& X) { without_gil([&] { found = missing_patterns(matrix(X)); }); },
               any);
    return nb::make_tuple(owned(std::move(found.order)), owned(std::move(found.starts)));
}

}  // namespace

void bind_mixture(nb::module_& module) {
    nb::class_<GaussianComponents>(module, "GaussianComponents",
                                   "Parameters of a mixture; factors are inverse Cholesky factors.")
        .def(nb::init<Array1<const double>, Array2<const double>, Array2<const double>,
                      Array2<const double>>(),
             "log_weights"_a.noconvert(), "means"_a.noconvert(), "covariances"_a.noconvert(),
             "factors"_a.noconvert());
    nb::class_<PatternArrays>(module, "MissingPatterns",
                              "Rows grouped by the columns that they miss.")
        .def(nb::init<bool, Maybe1<const std::int64_t>, Maybe1<const std::int64_t>>(),
             "has_missing"_a, "order"_a.noconvert() = nb::none(),
             "starts"_a.noconvert() = nb::none());
    nb::class_<ResponsibilityArrays>(
        module, "Responsibilities",
        "Given responsibilities: a label per row, values, or the key of random ones.")
        .def(nb::init<Maybe1<const std::int32_t>, Maybe2<const double>, std::optional<DrawKey>>(),
             nb::kw_only(), "labels"_a.noconvert() = nb::none(),
             "values"_a.noconvert() = nb::none(), "key"_a = nb::none());
    nb::class_<MomentSums>(module, "MomentSums", "Moments of the components about the pivots.")
        .def(nb::init<Array2<const double>, Array1<double>, Array2<double>, Array2<double>>(),
             "pivots"_a.noconvert(), "weights"_a.noconvert(), "first"_a.noconvert(),
             "second"_a.noconvert());
    module.def("mixture_moments", &sum_moments, "X"_a.noconvert(), "weight"_a.noconvert().none(),
               "model"_a, "sums"_a, "patterns"_a.none() = nb::none(),
               "responsibilities"_a.none() = nb::none(), nb::kw_only(), "threads"_a = 1,
               "Compute the expected moments of the components (E step of a mixture).\n\n"
               "Responsibilities are those of the model unless given. Returns the log-likelihood,\n"
               "0 with given responsibilities.");
    module.def("mixture_posteriors", &posteriors_of_rows, "X"_a.noconvert(), "model"_a,
               "patterns"_a.none() = nb::none(), nb::kw_only(),
               "log_density"_a.noconvert() = nb::none(), "posteriors"_a.noconvert() = nb::none(),
               "labels"_a.noconvert() = nb::none(), "threads"_a = 1,
               "Compute log density, posteriors and most probable component of each row.");
    module.def("missing_patterns", &patterns_of_rows, "X"_a.noconvert(),
               "Return the rows ordered by missing pattern, and the start of each pattern.");
}

}  // namespace ceiba::bindings
