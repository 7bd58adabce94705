// The E step of Gaussian mixtures.
#include <memory>

#include "arrays.hpp"
#include "mixture/expectation.hpp"
#include "mixture/patterns.hpp"

namespace ceiba::bindings {
namespace {

using namespace nb::literals;

constexpr const char* kRowsWanted = "an array of row values must have as many rows as X";

// A mixture's parameters; covariances and factors have d x d or d entries a component.
struct Parameters {
    Array1<const double> log_weights;
    Array2<const double> means, covariances, factors;
};

Gaussians gaussians(const Parameters& given, std::size_t d) {
    Gaussians model;
    model.k = given.means.shape(0);
    model.d = d;
    const std::size_t entries = given.covariances.shape(1);
    require(model.k >= 1, "at least one component is needed");
    require(model.k < std::size_t(std::numeric_limits<std::int32_t>::max()), "too many components");
    require(given.means.shape(1) == d, "means must have as many columns as X");
    require(given.log_weights.shape(0) == model.k && given.covariances.shape(0) == model.k,
            "weights and covariances must be those of the components of the means");
    require(entries == d || (d > 0 && entries % d == 0 && entries / d == d),
            "a covariance must have d or d x d entries");
    require(given.factors.shape(0) == model.k && given.factors.shape(1) == entries,
            "factors must have the shape of the covariances");
    // In one column both readings have one entry and mean the same.
    model.full = entries != d;
    model.log_weights = given.log_weights.data();
    model.means = given.means.data();
    model.covariances = given.covariances.data();
    model.factors = given.factors.data();
    return model;
}

Patterns patterns(const Maybe1<const std::int64_t>& order, const Maybe1<const std::int64_t>& starts,
                  std::size_t rows) {
    Patterns result;
    require(bool(order) == bool(starts), "an order of rows comes with the starts of its patterns");
    if (!order) return result;
    result.order = sized(order, rows, kRowsWanted);
    require(starts->shape(0) >= 2, "there must be at least one pattern");
    result.starts = starts->data();
    result.count = starts->shape(0) - 1;
    require(result.starts[0] == 0 && result.starts[result.count] == std::int64_t(rows),
            "patterns must cover all rows");
    for (std::size_t p = 0; p < result.count; ++p)
        require(result.starts[p] < result.starts[p + 1], "starts of patterns must ascend");
    std::vector<bool> named(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::int64_t row = result.order[i];
        require(row >= 0 && std::size_t(row) < rows && !named[std::size_t(row)],
                "an order must name every row of X once");
        named[std::size_t(row)] = true;
    }
    return result;
}

template <typename T>
MixtureProblem<T> problem_of(const Array2<const T>& X, const Maybe1<const double>& weight,
                             const Parameters& parameters, bool gaps,
                             const Maybe1<const std::int64_t>& order,
                             const Maybe1<const std::int64_t>& starts) {
    MixtureProblem<T> problem;
    problem.X = matrix(X);
    problem.weight = sized(weight, X.shape(0), kRowsWanted);
    problem.model = gaussians(parameters, X.shape(1));
    problem.gaps = gaps;
    problem.patterns = patterns(order, starts, X.shape(0));
    require(!gaps || !problem.model.full || problem.patterns.order != nullptr,
            "rows with gaps and full covariances need the order of their patterns");
    require(problem.model.full || problem.patterns.order == nullptr,
            "an order of patterns is of use with full covariances only");
    return problem;
}

Given given_of(const Maybe1<const std::int32_t>& labels, const Maybe2<const double>& shares,
               const std::optional<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>& draw,
               std::size_t rows, std::size_t k) {
    require(int(bool(labels)) + int(bool(shares)) + int(bool(draw)) <= 1,
            "responsibilities are given in one way only");
    Given given;
    given.labels = sized(labels, rows, kRowsWanted);
    for (std::size_t i = 0; labels && i < rows; ++i)
        require(given.labels[i] >= 0 && std::size_t(given.labels[i]) < k,
                "labels must be numbers of components");
    require(!shares || (shares->shape(0) == rows && shares->shape(1) == k),
            "responsibilities must be rows x components");
    given.shares = pointer(shares);
    if (draw) {
        given.drawn = true;
        std::tie(given.seed, given.stream, given.first_row) = *draw;
    }
    return given;
}

template <typename T>
void bind_moments(nb::module_& module) {
    using Draw = std::optional<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>;
    module.def(
        "mixture_moments",
        [](Array2<const T> X, Maybe1<const double> weight, Array1<const double> log_weights,
           Array2<const double> means, Array2<const double> covariances,
           Array2<const double> factors, Array2<const double> pivots, Array1<double> weights,
           Array2<double> first, Array2<double> second, bool gaps, Maybe1<const std::int64_t> order,
           Maybe1<const std::int64_t> starts, Maybe1<const std::int32_t> labels,
           Maybe2<const double> shares, Draw draw, int threads) {
            MixtureProblem<T> problem = problem_of<T>(
                X, weight, {log_weights, means, covariances, factors}, gaps, order, starts);
            const std::size_t k = problem.model.k, d = problem.model.d;
            require(pivots.shape(0) == k && pivots.shape(1) == d, "pivots must be k x d");
            require(weights.shape(0) == k && first.shape(0) == k && first.shape(1) == d,
                    "weights must have k entries and first moments be k x d");
            require(second.shape(0) == k && second.shape(1) == problem.model.covariance_size(),
                    "second moments must have the shape of the covariances");
            problem.given = given_of(labels, shares, draw, X.shape(0), k);
            checked_threads(threads);
            MixtureMoments out{pivots.data(), weights.data(), first.data(), second.data()};
            without_gil([&] { expected_moments(problem, out, threads); });
            return out.log_likelihood;
        },
        "X"_a.noconvert(), "weight"_a.noconvert().none(), "log_weights"_a.noconvert(),
        "means"_a.noconvert(), "covariances"_a.noconvert(), "factors"_a.noconvert(),
        "pivots"_a.noconvert(), "weights"_a.noconvert(), "first"_a.noconvert(),
        "second"_a.noconvert(), nb::kw_only(), "gaps"_a = false, "order"_a.noconvert() = nb::none(),
        "starts"_a.noconvert() = nb::none(), "labels"_a.noconvert() = nb::none(),
        "shares"_a.noconvert() = nb::none(), "draw"_a = nb::none(), "threads"_a = 1,
        "Expected moments of every component about the pivots (E step of a mixture).\n\n"
        "Responsibilities are those of the model, or given: a label a row, shares, or a draw\n"
        "(seed, stream, first row). Returns the log-likelihood (0 where they are given).");
}

template <typename T>
void bind_posteriors(nb::module_& module) {
    module.def(
        "mixture_posteriors",
        [](Array2<const T> X, Array1<const double> log_weights, Array2<const double> means,
           Array2<const double> covariances, Array2<const double> factors, bool gaps,
           Maybe1<const std::int64_t> order, Maybe1<const std::int64_t> starts,
           Maybe1<double> log_density, Maybe2<double> posteriors, Maybe1<std::int32_t> labels,
           int threads) {
            const MixtureProblem<T> problem = problem_of<T>(
                X, std::nullopt, {log_weights, means, covariances, factors}, gaps, order, starts);
            const std::size_t n = X.shape(0);
            RowPosteriors out;
            out.log_density = sized(log_density, n, kRowsWanted);
            out.labels = sized(labels, n, kRowsWanted);
            require(!posteriors ||
                        (posteriors->shape(0) == n && posteriors->shape(1) == problem.model.k),
                    "posteriors must be rows x components");
            out.posteriors = pointer(posteriors);
            checked_threads(threads);
            without_gil([&] { row_posteriors(problem, out, threads); });
        },
        "X"_a.noconvert(), "log_weights"_a.noconvert(), "means"_a.noconvert(),
        "covariances"_a.noconvert(), "factors"_a.noconvert(), nb::kw_only(), "gaps"_a = false,
        "order"_a.noconvert() = nb::none(), "starts"_a.noconvert() = nb::none(),
        "log_density"_a.noconvert() = nb::none(), "posteriors"_a.noconvert() = nb::none(),
        "labels"_a.noconvert() = nb::none(), "threads"_a = 1,
        "What a mixture says of each row: log density, posteriors, the likeliest component.");
}

template <typename T>
void bind_patterns(nb::module_& module) {
    module.def(
        "gap_patterns",
        [](Array2<const T> X) {
            PatternOrder found;
            without_gil([&] { found = gap_patterns<T>(matrix(X)); });
            const auto array = [](std::vector<std::int64_t>&& values) {
                auto kept = std::make_unique<std::vector<std::int64_t>>(std::move(values));
                nb::capsule owner(kept.get(), [](void* p) noexcept {
                    delete static_cast<std::vector<std::int64_t>*>(p);
                });
                std::vector<std::int64_t>& held = *kept.release();
                return Array1<std::int64_t>(held.data(), {held.size()}, owner);
            };
            return std::make_tuple(array(std::move(found.order)), array(std::move(found.starts)));
        },
        "X"_a.noconvert(),
        "Rows sorted by which columns they miss, and where each pattern starts (and the end).");
}

}  // namespace

void bind_mixture(nb::module_& module) {
    bind_moments<double>(module);
    bind_moments<float>(module);
    bind_posteriors<double>(module);
    bind_posteriors<float>(module);
    bind_patterns<double>(module);
    bind_patterns<float>(module);
}

}  // namespace ceiba::bindings
