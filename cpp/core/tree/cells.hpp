// What rows add up to: a cell is a short row of 64-bit whole numbers, of one bin, branch or node.
//
// Weights, targets and gradients come as fixed-point numbers, so a cell does not depend on the
// order in which its rows were added: trees are equal for any threads and any partitioning.
//
//   classes:  weight of each class [, number of rows where rows have weights]
//   moments:  weight, weighted target [, number of rows]; for boosting: Hessian, gradient, rows
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba::tree {

using Number = std::int64_t;

// K classes, known when compiled where K > 0: two classes deserve code of their own.
template <int K, bool Weighted>
struct ClassCells {
    static constexpr bool kWeighted = Weighted;
    int classes_ = K;

    int classes() const { return K > 0 ? K : classes_; }
    int size() const { return classes() + (Weighted ? 1 : 0); }
    Number weight(const Number* cell) const {
        Number sum = 0;
        for (int k = 0; k < classes(); ++k) sum += cell[k];
        return sum;
    }
    Number count(const Number* cell) const { return Weighted ? cell[classes()] : weight(cell); }
    bool occupied(const Number* cell) const {
        if constexpr (Weighted) return cell[classes()] != 0;
        Number any = 0;
        for (int k = 0; k < classes(); ++k) any |= cell[k];
        return any != 0;
    }
};

template <bool Weighted>
struct MomentCells {
    static constexpr bool kWeighted = Weighted;
    int size() const { return Weighted ? 3 : 2; }
    Number weight(const Number* cell) const { return cell[0]; }
    Number count(const Number* cell) const { return Weighted ? cell[2] : cell[0]; }
    bool occupied(const Number* cell) const { return count(cell) != 0; }
};

// The rows behind the cells: `add` puts row i into a cell.
template <bool Weighted>
struct ClassRows {
    const std::uint16_t* label = nullptr;
    const Number* weight = nullptr;
    int classes = 0;

    int size() const { return classes + (Weighted ? 1 : 0); }
    void add(Number* cell, std::size_t i) const {
        if constexpr (Weighted) {
            cell[label[i]] += weight[i];
            ++cell[classes];
        } else {
            ++cell[label[i]];
        }
    }
};

template <bool Weighted>
struct MomentRows {
    const Number* target = nullptr;
    const Number* weight = nullptr;

    int size() const { return Weighted ? 3 : 2; }
    void add(Number* cell, std::size_t i) const {
        cell[1] += target[i];
        if constexpr (Weighted) {
            cell[0] += weight[i];
            ++cell[2];
        } else {
            ++cell[0];
        }
    }
};

}  // namespace ceiba::tree
