// Cells of several targets, and their criterion: squared error, averaged over the outputs.
//
//   cell:  weight, weighted sum of each target, number of rows
//
// Outputs are numbers, a target each, or classes. A class is a target that is 1 for its rows and 0
// for all others; the squared error of the targets of a column of classes is its Gini impurity,
//
//   sum_c p_c (1 - p_c) = 1 - sum_c p_c^2.
//
// De'ath (2002), "Multivariate regression trees: a new technique for modeling species-environment
// relationships", Ecology 83.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/split/cells.hpp"

namespace ceiba::tree {

struct VectorCells {
    static constexpr bool kWeighted = true;
    int n_targets;

    int size() const { return n_targets + 2; }
    Number weight(const Number* cell) const { return cell[0]; }
    Number count(const Number* cell) const { return cell[n_targets + 1]; }
    bool occupied(const Number* cell) const { return count(cell) != 0; }
};

// Rows with several numbers. `target` has weight * target for each (row, target) of a row that
// counts once; row i counts `count[i]` times, and has the weight `weight[i]` then.
struct NumberVectors {
    const Number* target = nullptr;
    const Number* count = nullptr;
    const Number* weight = nullptr;
    std::size_t n_targets = 0;

    void add(Number* cell, std::size_t i) const {
        const Number* own = target + i * n_targets;
        const Number times = count[i];
        cell[0] += weight[i];
        for (std::size_t k = 0; k < n_targets; ++k) cell[1 + k] += times * own[k];
        ++cell[1 + n_targets];
    }
};

// Rows with several classes. `label` has, for each (row, output), the index of the class among all
// targets.
struct LabelVectors {
    const std::uint16_t* label = nullptr;
    const Number* weight = nullptr;
    std::size_t n_outputs = 0, n_targets = 0;

    void add(Number* cell, std::size_t i) const {
        const std::uint16_t* own = label + i * n_outputs;
        cell[0] += weight[i];
        for (std::size_t k = 0; k < n_outputs; ++k) cell[1 + own[k]] += weight[i];
        ++cell[1 + n_targets];
    }
};

// Squared error relative to the mean of the node, as in SquaredError: the integer part of the mean
// is subtracted exactly, and a target that is constant in the node adds nothing, however large.
struct VectorSquaredError {
    std::vector<double> factors;  // of the squares of each target
    std::vector<Number> whole_mean;
    std::vector<double> mean_fraction;

    void begin(const VectorCells& cells, const Number* node) {
        whole_mean.resize(std::size_t(cells.n_targets));
        mean_fraction.resize(whole_mean.size());
        for (std::size_t k = 0; k < whole_mean.size(); ++k) {
            whole_mean[k] = node[1 + k] / node[0];
            mean_fraction[k] = double(node[1 + k] - node[0] * whole_mean[k]) / double(node[0]);
        }
    }
    double term(const VectorCells&, const Number* cell, Number weight) const {
        double squares = 0;
        for (std::size_t k = 0; k < whole_mean.size(); ++k) {
            const double sum =
                double(cell[1 + k] - weight * whole_mean[k]) - double(weight) * mean_fraction[k];
            squares += factors[k] * sum * sum;
        }
        return squares / double(weight);
    }
};

}  // namespace ceiba::tree
