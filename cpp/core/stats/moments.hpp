// Weighted count, mean and centred second moment of every column, over what is observed.
#pragma once

#include <cstddef>
#include <vector>

#include "views.hpp"

namespace ceiba {

struct Moments {
    std::vector<double> weight, mean, squares;  // per column; squares = sum of w (x - mean)^2
    std::vector<double> least, most;            // per column, +inf / -inf where nothing is observed
    std::size_t gaps = 0;                       // missing values in all
    std::size_t infinite_row = kNone, infinite_column = kNone;  // first infinity met

    static constexpr std::size_t kNone = ~std::size_t(0);

    explicit Moments(std::size_t columns);
    // Chan, Golub & LeVeque (1983): centred sums are merged, raw second moments never.
    void merge(const Moments& other);
};

template <typename T>
Moments moments(Matrix<const T> X, const double* weight, int threads);

}  // namespace ceiba
