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

    // For the bounds: half the distance from each centre to its nearest other centre, how far each
    // has moved from `previous`, and the farthest that any other has moved.
    void measure(Matrix<const double> centres, const double* previous);

    std::vector<T> shifted;  // k x d, relative to the offset
    std::vector<float> half_gap, movement, other_movement;
    std::vector<T> offset;

  private:
    std::size_t blocks_, columns_;
    std::vector<T> coordinates_, bias_;
    double longest_ = 0;  // the longest shifted centre
};

}  // namespace ceiba
