// Centres made ready for the kernels: shifted, packed, and measured for the bounds.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "simd/kernels.hpp"
#include "views.hpp"

namespace ceiba {

template <typename T>
class CentreFrame {
  public:
    CentreFrame(Matrix<const double> centres, const double* offset, std::size_t block);

    Panels<T> panels() const;

    // Unit roundoff of T.
    static constexpr double kRound = std::numeric_limits<T>::epsilon() / 2;

    // A little over and under one: room for what rounding to float takes from a bound.
    static constexpr double kOver = 1 + 0x1p-20, kUnder = 1 - 0x1p-20;

    // An upper bound on a distance from its computed square.
    float over(T squared) const;

    // A bound on the rounding error of the difference of two squared distances, computed by
    // differences in T, of a row whose squared length is given.
    T difference_error(T squared_row) const;

    // For the bounds of `rows` rows: half the distance from each centre to its nearest other
    // centre, how far each has moved from `previous`, and the farthest that any other has moved.
    void measure(Matrix<const double> centres, const double* previous, std::size_t rows,
                 int threads);

    std::vector<T> shifted;  // (k + 1) x d, relative to the offset; the last is zero: the offset
    std::vector<float> half_gap, movement, other_movement;
    std::vector<T> offset;

  private:
    void measure_gaps(std::size_t k, int threads);
    void measure_movement(Matrix<const double> centres, const double* previous);

    std::size_t blocks_, columns_;
    std::vector<T> coordinates_, bias_;
    double longest_ = 0;  // the longest shifted centre
};

}  // namespace ceiba
