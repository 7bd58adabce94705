// Weighted count, mean and centered second moment of every column over its observed values.
#pragma once

#include <cstddef>
#include <vector>

#include "common/views.hpp"

namespace ceiba {

struct Moments {
    std::vector<double> weight, mean, squares;  // per column; squares = sum of w (x - mean)^2
    std::vector<double> min, max;               // per column; +inf / -inf if nothing is observed
    std::size_t n_missing = 0;                  // over all columns
    std::size_t infinite_row = kNone, infinite_column = kNone;  // the first infinity

    static constexpr std::size_t kNone = ~std::size_t(0);

    explicit Moments(std::size_t columns);
    // Chan, Golub & LeVeque (1983): merge centered sums, never raw second moments.
    void merge(const Moments& other);
};

template <typename T>
Moments moments(Matrix<const T> X, const double* weight, int threads);

}  // namespace ceiba
