// Moments, centre sums and the seeding race.
#include "arrays.hpp"
#include "stats/centre_sums.hpp"
#include "stats/moments.hpp"
#include "stats/race.hpp"

namespace ceiba::bindings {
namespace {

using namespace nb::literals;

constexpr const char* kRowsWanted =
    "an array of row values must have as many entries as X has rows";
constexpr const char* kWidthWanted = "centres and offset must have as many columns as X";

template <typename T>
void bind_moments(nb::module_& module) {
    module.def(
        "moments",
        [](Array2<const T> X, Maybe1<const double> weight, Array2<double> out, int threads) {
            const double* w = sized(weight, X.shape(0), kRowsWanted);
            require(out.shape(0) == 5 && out.shape(1) == X.shape(1), "out must be 5 x columns");
            checked_threads(threads);
            Moments result(0);
            without_gil([&] { result = moments<T>(matrix(X), w, threads); });
            const std::vector<double>* parts[] = {&result.weight, &result.mean, &result.squares,
                                                  &result.least, &result.most};
            for (std::size_t p = 0; p < 5; ++p)
                std::copy(parts[p]->begin(), parts[p]->end(), out.data() + p * X.shape(1));
            const auto place = [](std::size_t i) {
                return i == Moments::kNone ? std::int64_t(-1) : std::int64_t(i);
            };
            return std::make_tuple(result.gaps, place(result.infinite_row),
                                   place(result.infinite_column));
        },
        "X"_a.noconvert(), "weight"_a.noconvert().none(), "out"_a.noconvert(), "threads"_a,
        "Per column: weight, mean, centred squares, least and most, into out (5 x d).\n\n"
        "Returns (gaps, row and column of the first infinity), -1 for none.");
}

template <typename T>
CentreProblem<T> centre_problem(const Array2<const T>& X, const Maybe1<const double>& weight,
                                const Array1<const double>& offset,
                                const Array2<const double>& centres, bool gaps) {
    require(centres.shape(0) >= 1, "at least one centre is needed");
    require(centres.shape(0) < std::size_t(std::numeric_limits<std::int32_t>::max()),
            "too many centres");
    require(centres.shape(1) == X.shape(1) && offset.shape(0) == X.shape(1), kWidthWanted);
    CentreProblem<T> problem;
    problem.X = matrix(X);
    problem.weight = sized(weight, X.shape(0), kRowsWanted);
    problem.offset = offset.data();
    problem.centres = matrix(centres);
    problem.gaps = gaps;
    return problem;
}

template <typename T>
void bind_centre_sums(nb::module_& module) {
    module.def(
        "centre_sums",
        [](Array2<const T> X, Maybe1<const double> weight, Array1<const double> offset,
           Array2<const double> centres, bool gaps, Maybe2<const double> previous,
           Maybe1<std::int32_t> labels, Maybe1<float> upper, Maybe1<float> lower,
           Maybe1<double> memory, Maybe2<double> table, Maybe1<double> squared, bool want_inertia,
           int threads) {
            const std::size_t n = X.shape(0), k = centres.shape(0), d = X.shape(1);
            const CentreProblem<T> problem = centre_problem<T>(X, weight, offset, centres, gaps);
            require(!previous || (previous->shape(0) == k && previous->shape(1) == d),
                    "previous centres must have the shape of the centres");
            require(!previous || labels, "previous centres are of use with labels only");
            require(bool(upper) == bool(lower) && (!upper || (labels && !gaps)),
                    "bounds come in pairs, with labels and without gaps");
            require(!memory || (labels && table && !gaps),
                    "remembered sums come with labels and a table, without gaps");
            require(!table || (table->shape(0) == k && table->shape(1) == problem.width()),
                    "table must be k x (d + 2), or k x (2 d + 1) with gaps");
            RowState state;
            state.previous = pointer(previous);
            state.labels = sized(labels, n, kRowsWanted);
            state.upper = sized(upper, n, kRowsWanted);
            state.lower = sized(lower, n, kRowsWanted);
            state.sums = sized(memory, 2 * problem.parts().count * k * problem.width(),
                               "remembered sums must have the size that remembered_size gives");
            CentreTotals totals;
            totals.table = pointer(table);
            totals.squared = sized(squared, n, kRowsWanted);
            totals.want_inertia = want_inertia;
            checked_threads(threads);
            without_gil([&] { centre_sums(problem, state, threads, totals); });
            return std::make_tuple(totals.inertia, totals.moved, totals.scanned);
        },
        "X"_a.noconvert(), "weight"_a.noconvert().none(), "offset"_a.noconvert(),
        "centres"_a.noconvert(), "gaps"_a, nb::kw_only(), "previous"_a.noconvert() = nb::none(),
        "labels"_a.noconvert() = nb::none(), "upper"_a.noconvert() = nb::none(),
        "lower"_a.noconvert() = nb::none(), "memory"_a.noconvert() = nb::none(),
        "table"_a.noconvert() = nb::none(), "squared"_a.noconvert() = nb::none(),
        "want_inertia"_a = false, "threads"_a = 1,
        "Label every row with its nearest centre and sum the rows of each (E step of k-means).\n\n"
        "Without previous centres the row state (labels, bounds, memory) is only written.\n"
        "Returns (inertia, rows that changed label, rows that looked at every centre).");
    module.def(
        "squared_distances",
        [](Array2<const T> X, Array1<const double> offset, Array2<const double> centres, bool gaps,
           Array2<T> out, int threads) {
            const auto problem = centre_problem<T>(X, std::nullopt, offset, centres, gaps);
            require(out.shape(0) == X.shape(0) && out.shape(1) == centres.shape(0),
                    "out must be rows x centres");
            checked_threads(threads);
            without_gil([&] { squared_distances(problem, threads, out.data()); });
        },
        "X"_a.noconvert(), "offset"_a.noconvert(), "centres"_a.noconvert(), "gaps"_a,
        "out"_a.noconvert(), "threads"_a,
        "Squared distance of every row to every centre; with gaps scaled by columns / observed.");
}

template <typename T>
void bind_race(nb::module_& module) {
    module.def(
        "race",
        [](Array2<const T> X, Maybe1<const double> weight, Array1<const double> offset, bool gaps,
           Array2<const double> chosen, Array2<const double> candidates, Maybe1<T> nearest,
           std::size_t settled, std::uint64_t seed, std::uint64_t stream, std::uint64_t first_row,
           Array1<double> potential, Array2<double> keys, Array2<std::int64_t> rows, int threads) {
            const std::size_t d = X.shape(1), lists = candidates.shape(0) ? candidates.shape(0) : 1;
            require(chosen.shape(1) == d && candidates.shape(1) == d && offset.shape(0) == d,
                    kWidthWanted);
            require(settled <= chosen.shape(0) && (nearest || settled == 0),
                    "settled counts chosen centres whose distances are held in nearest");
            require(chosen.shape(0) == 0 || candidates.shape(0) > 0,
                    "a race after chosen centres needs candidates");
            require(potential.shape(0) == lists && keys.shape(0) == lists &&
                        rows.shape(0) == lists && keys.shape(1) == rows.shape(1) &&
                        keys.shape(1) >= 1,
                    "potential, keys and rows hold a list for each candidate");
            RaceProblem<T> problem;
            problem.X = matrix(X);
            problem.weight = sized(weight, X.shape(0), kRowsWanted);
            problem.offset = offset.data();
            problem.chosen = matrix(chosen);
            problem.candidates = matrix(candidates);
            problem.nearest = sized(nearest, X.shape(0), kRowsWanted);
            problem.settled = settled;
            problem.gaps = gaps;
            problem.seed = seed;
            problem.stream = stream;
            problem.first_row = first_row;
            const RaceTotals totals{keys.shape(1), potential.data(), keys.data(), rows.data()};
            checked_threads(threads);
            without_gil([&] { race(problem, threads, totals); });
        },
        "X"_a.noconvert(), "weight"_a.noconvert().none(), "offset"_a.noconvert(), "gaps"_a,
        "chosen"_a.noconvert(), "candidates"_a.noconvert(), "nearest"_a.noconvert().none(),
        "settled"_a, "seed"_a, "stream"_a, "first_row"_a, "potential"_a.noconvert(),
        "keys"_a.noconvert(), "rows"_a.noconvert(), "threads"_a,
        "One heat of greedy k-means++: potentials of the candidates and, for each, who runs next.");
}

}  // namespace

void bind_cluster(nb::module_& module) {
    module.def(
        "remembered_size",
        [](std::size_t n, std::size_t k, std::size_t d) {
            CentreProblem<double> problem;
            problem.X = {nullptr, n, d};
            problem.centres = {nullptr, k, d};
            std::size_t size = 2 * problem.parts().count;
            const bool fits = !__builtin_mul_overflow(size, k, &size) &&
                              !__builtin_mul_overflow(size, problem.width(), &size);
            require(fits, "that many centres of that many columns cannot be held");
            return size;
        },
        "n"_a, "k"_a, "d"_a, "Numbers that centre_sums remembers for n rows of d columns.");
    bind_moments<double>(module);
    bind_moments<float>(module);
    bind_centre_sums<double>(module);
    bind_centre_sums<float>(module);
    bind_race<double>(module);
    bind_race<float>(module);
}

}  // namespace ceiba::bindings
