// Greedy k-means++ as a race: one pass a centre, the same winners on any partitioning.
//
// Arthur & Vassilvitskii (2007), "k-means++: the advantages of careful seeding", in its greedy
// form. A row drawn with probability proportional to its weight times its squared distance D^2 to
// the centres so far is the winner of an exponential race: the least -log(u) / (w D^2), where u is
// the row's own keyed draw. The first M at the finish are M candidates (Efraimidis & Spirakis
// 2006), and the merge of two parts is their common first M.
#pragma once

#include <cstddef>
#include <cstdint>

#include "views.hpp"

namespace ceiba {

template <typename T>
struct RaceProblem {
    Matrix<const T> X;
    const double* weight = nullptr;
    const double* offset = nullptr;
    Matrix<const double> chosen;      // centres so far
    Matrix<const double> candidates;  // one of these is the next
    T* nearest = nullptr;             // n: D^2 to the first `settled` chosen ones, or null
    std::size_t settled = 0;
    bool gaps = false;
    std::uint64_t seed = 0, stream = 0, first_row = 0;
};

struct RaceTotals {
    std::size_t places = 0;        // M
    double* potential = nullptr;   // for each candidate: sum of w D^2 if it were chosen
    double* keys = nullptr;        // candidates x M: finish times, in order; +inf where nobody ran
    std::int64_t* rows = nullptr;  // candidates x M: global rows, -1 where nobody ran
};

// No chosen centre and no candidate: a race by weight alone (one list of M).
template <typename T>
void race(const RaceProblem<T>& problem, int threads, const RaceTotals& totals);

}  // namespace ceiba
