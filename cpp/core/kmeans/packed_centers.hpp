// Centers prepared for the kernels: shifted, packed into panels, with distances for the bounds.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "common/views.hpp"
#include "simd/kmeans_kernels.hpp"

namespace ceiba {

template <typename T>
class PackedCenters {
  public:
    PackedCenters(Matrix<const double> centers, const double* offset, std::size_t block);

    Panels<T> panels() const;

    // Unit roundoff of T.
    static constexpr double kRound = std::numeric_limits<T>::epsilon() / 2;

    // Slightly above and below one, to absorb the rounding of bounds to float.
    static constexpr double kOver = 1 + 0x1p-20, kUnder = 1 - 0x1p-20;

    // Upper bound on a distance, given its computed square.
    float upper_bound(T squared) const;

    // Bound on the rounding error of the difference of two squared distances that were computed by
    // differences in T, for a row of the given squared norm.
    T difference_error(T squared_row) const;

    // Compute what the bounds of `rows` rows need: half the distance from each center to its
    // nearest other center, how far each center moved from `previous`, and the largest movement of
    // any other center.
    void update_bounds(Matrix<const double> centers, const double* previous, std::size_t rows,
                       int threads);

    std::vector<T>
        shifted;  // (k + 1) x d, relative to the offset; the last row is zero: the offset
    std::vector<float> half_separation, movement, other_movement;
    std::vector<T> offset;

  private:
    void measure_separation(std::size_t k, int threads);
    void measure_movement(Matrix<const double> centers, const double* previous);

    std::size_t blocks_, columns_;
    std::vector<T> coordinates_, bias_;
    double max_norm_ = 0;  // the largest norm of a shifted center
};

}  // namespace ceiba
