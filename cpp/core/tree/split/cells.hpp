// Cells: sums over the rows of one bin, branch or node, as a few 64-bit integers.
//
// Weights and targets are fixed-point numbers, so a cell does not depend on the order in
// which its rows were added: trees are equal for any number of threads and any partitioning.
//
//   classes:  weight of each class [, number of rows if rows are weighted]
//   moments:  weight, weighted target [, number of rows if rows are weighted]
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba::tree {

using Number = std::int64_t;

// K classes, known at compile time if K > 0: two classes have specialized code.
template <int K, bool Weighted>
struct ClassCells {
    static constexpr bool kWeighted = Weighted;
    int n_classes_ = K;

    int n_classes() const { return K > 0 ? K : n_classes_; }
    int size() const { return n_classes() + (Weighted ? 1 : 0); }
    Number weight(const Number* cell) const {
        Number sum = 0;
        for (int k = 0; k < n_classes(); ++k) sum += cell[k];
        return sum;
    }
    Number count(const Number* cell) const { return Weighted ? cell[n_classes()] : weight(cell); }
    bool occupied(const Number* cell) const {
        if constexpr (Weighted) return cell[n_classes()] != 0;
        Number any = 0;
        for (int k = 0; k < n_classes(); ++k) any |= cell[k];
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

// Targets of the rows: `add` adds row i to a cell.
template <bool Weighted>
struct ClassRows {
    using Target = std::uint16_t;
    static constexpr bool kIsClassification = true, kWeighted = Weighted;
    const Target* label = nullptr;
    const Number* weight = nullptr;
    int n_classes = 0;

    static ClassRows of(const Target* target, const Number* weight, int n_classes) {
        return {target, Weighted ? weight : nullptr, n_classes};
    }
    int size() const { return n_classes + (Weighted ? 1 : 0); }
    void add(Number* cell, std::size_t i) const {
        if constexpr (Weighted) {
            cell[label[i]] += weight[i];
            ++cell[n_classes];
        } else {
            ++cell[label[i]];
        }
    }
};

template <bool Weighted>
struct MomentRows {
    using Target = Number;
    static constexpr bool kIsClassification = false, kWeighted = Weighted;
    const Target* target = nullptr;
    const Number* weight = nullptr;

    static MomentRows of(const Target* target, const Number* weight, int) {
        return {target, Weighted ? weight : nullptr};
    }
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
