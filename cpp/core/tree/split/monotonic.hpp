// Monotonic constraints: bounds of the values below a node, and a split criterion under them.
#pragma once

#include <limits>
#include <numeric>

#include "tree/split/cells.hpp"

namespace ceiba::tree {

// Values that the leaves below a node may have.
struct Bounds {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();

    bool contains(double value) const { return value >= lower && value <= upper; }
};

// Value of a branch that constraints compare: the fraction of the second of two classes, or the
// mean target, in fixed-point units.
inline double constrained_value(const Number* cell, Number weight) {
    return double(cell[1]) / double(weight);
}

// Bound the values below two branches by the middle between their own values, `left_value` and
// `right_value`; `sign` is that of the split's column.
inline void separate(Bounds& left, Bounds& right, int sign, double left_value, double right_value) {
    const double middle = std::midpoint(left_value, right_value);
    (sign > 0 ? left : right).upper = middle;
    (sign > 0 ? right : left).lower = middle;
}

// A criterion whose splits of constrained columns keep the values of both branches within the
// bounds of the node and in the order of the column's sign. Missing values that are separated from
// known ones are the largest, as in scikit-learn; with a branch of their own beside two others
// (missing="branch") only those two are ordered. Splits of other columns are free: leaves are
// moved to their bounds. It is a type of its own, so that trees without constraints run no
// instruction for them.
template <typename CriterionTerm>
struct Constrained : CriterionTerm {
    Bounds bounds;
    int sign = 0;  // of the column: 1 for an ascending order, -1 for a descending one, 0 for any

    template <typename Cells>
    bool allows(const Cells& cells, const Number* left, const Number* right) const {
        if (sign == 0) return true;
        const double a = constrained_value(left, cells.weight(left));
        const double b = constrained_value(right, cells.weight(right));
        return bounds.contains(a) && bounds.contains(b) && sign * (b - a) >= 0;
    }
};

}  // namespace ceiba::tree
