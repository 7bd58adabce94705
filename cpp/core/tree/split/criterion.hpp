// Split criteria as terms that are summed over the branches of a split.
//
// For every criterion the gain of a split is (sum of the branches' terms - the node's term) /
// weight of the node; so the best split has the largest sum of terms.
//
//   Gini               sum c_k^2 / t
//   entropy, in bits   sum c_k log2 c_k - t log2 t
//   error              max c_k
//   squared error      (sum w (y - m))^2 / sum w, m the mean of the node
//   Poisson deviance   s ln (s / t), s = sum w y; a branch needs s > 0
//
// Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees"; Quinlan (1986),
// "Induction of decision trees", Machine Learning 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tree/split/cells.hpp"

namespace ceiba::tree {

// x log2 x, from a table for integers below its size: counts increase one by one along a scan, so
// the table is read in order.
struct Xlog2x {
    const double* table = nullptr;
    std::size_t size = 0;

    double operator()(Number x) const {
        if (std::size_t(x) < size) return table[x];
        return double(x) * std::log2(double(x));
    }
};

struct Gini {
    template <typename Cells>
    void begin(const Cells&, const Number*) {}
    template <typename Cells>
    double term(const Cells& cells, const Number* cell, Number weight) const {
        double squares = 0;
        for (int k = 0; k < cells.n_classes(); ++k) squares += double(cell[k]) * double(cell[k]);
        return squares / double(weight);
    }
};

struct Entropy {
    Xlog2x xlog2x;

    template <typename Cells>
    void begin(const Cells&, const Number*) {}
    template <typename Cells>
    double term(const Cells& cells, const Number* cell, Number weight) const {
        double sum = 0;
        for (int k = 0; k < cells.n_classes(); ++k)
            if (cell[k] > 0) sum += xlog2x(cell[k]);
        return sum - xlog2x(weight);
    }
};

struct Error {
    template <typename Cells>
    void begin(const Cells&, const Number*) {}
    template <typename Cells>
    double term(const Cells& cells, const Number* cell, Number) const {
        return double(*std::max_element(cell, cell + cells.n_classes()));
    }
};

// Computed relative to the mean of the node: the common part of its branches would cancel, and with
// it the digits in which they differ. The integer part of the mean is subtracted exactly. That
// suffices for integer weights; with fractional weights a unit of the targets is coarse, so the
// fractional part is subtracted as well.
struct SquaredError {
    bool fractional = false;
    Number whole_mean = 0;
    double mean_fraction = 0;

    template <typename Cells>
    void begin(const Cells&, const Number* node) {
        whole_mean = node[1] / node[0];
        if (fractional) mean_fraction = double(node[1] - node[0] * whole_mean) / double(node[0]);
    }
    template <typename Cells>
    double term(const Cells&, const Number* cell, Number weight) const {
        const double sum = double(cell[1] - weight * whole_mean) - double(weight) * mean_fraction;
        return sum / double(weight) * sum;
    }
};

// Targets are not centered, so their sum is the number in the cell.
struct PoissonDeviance {
    template <typename Cells>
    void begin(const Cells&, const Number*) {}
    template <typename Cells>
    double term(const Cells&, const Number* cell, Number weight) const {
        if (cell[1] <= 0) return 0;
        return double(cell[1]) * std::log(double(cell[1]) / double(weight));
    }
    // A branch whose targets are all zero would predict a rate of 0, under which any positive
    // count has infinite deviance.
    template <typename Cells>
    bool is_allowed(const Cells&, const Number* cell) const {
        return cell[1] > 0;
    }
};

}  // namespace ceiba::tree
