#include "stats/centre_frame.hpp"

#include <algorithm>
#include <cmath>

#include "parallel.hpp"

namespace ceiba {
namespace {

double distance(const double* a, const double* b, std::size_t d) {
    double sum = 0;
    for (std::size_t j = 0; j < d; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return std::sqrt(sum);
}

}  // namespace

template <typename T>
CentreFrame<T>::CentreFrame(Matrix<const double> centres, const double* from, std::size_t block)
    : shifted((centres.rows + 1) * centres.cols),
      offset(from, from + centres.cols),
      blocks_((centres.rows + block - 1) / block),
      columns_(centres.cols),
      coordinates_(blocks_ * block * centres.cols),
      bias_(blocks_ * block, -std::numeric_limits<T>::infinity()) {
    const std::size_t d = centres.cols;
    for (std::size_t c = 0; c < centres.rows; ++c) {
        double squared = 0;
        for (std::size_t j = 0; j < d; ++j) {
            // Relative to the offset as T holds it: that is what is taken off the rows.
            const double from_offset = centres.row(c)[j] - double(offset[j]);
            shifted[c * d + j] = T(from_offset);
            coordinates_[(c / block * d + j) * block + c % block] = T(from_offset);
            squared += from_offset * from_offset;
        }
        bias_[c] = T(-squared / 2);
        longest_ = std::max(longest_, std::sqrt(squared));
    }
}

// Errors of running sums of d + 1 terms (Higham 2002, "Accuracy and stability", ch. 3), and of the
// roundings of the row, the centre and the bias.
template <typename T>
Panels<T> CentreFrame<T>::panels() const {
    const double terms = double(columns_);
    return {
        coordinates_.data(),     bias_.data(),           blocks_, T(longest_ * (1 + 4 * kRound)),
        T((terms + 8) * kRound), T((terms + 4) * kRound)};
}

template <typename T>
float CentreFrame<T>::over(T squared) const {
    const double wide = std::sqrt(double(squared)) * (1 + (double(columns_) + 8) * kRound);
    return float((wide + 8 * kRound * longest_) * kOver);
}

template <typename T>
T CentreFrame<T>::difference_error(T squared_row) const {
    return T(4 * (double(columns_) + 8) * kRound * (double(squared_row) + longest_ * longest_));
}

template <typename T>
void CentreFrame<T>::measure(Matrix<const double> centres, const double* previous, std::size_t rows,
                             int threads) {
    const std::size_t k = centres.rows;
    half_gap.assign(k, 0);
    // k^2 distances pay only where they are few beside the rows' own.
    if (4 * k <= rows) measure_gaps(k, threads);
    movement.assign(k, 0);
    other_movement.assign(k, 0);
    if (previous != nullptr) measure_movement(centres, previous);
}

template <typename T>
void CentreFrame<T>::measure_gaps(std::size_t k, int threads) {
    const Kernels<T>& kernel = kernels<T>();
    const std::size_t d = columns_, tile = kernel.tile;
    const std::vector<T> zero(d);
    const Segments tiles{(k + tile - 1) / tile, (k + tile - 1) / tile};
    const double work = double(k) * double(k) * double(d);
    for_segments(tiles, threads_for(work, threads), [&](std::size_t s, int, Interrupt&) {
        std::vector<T> room(tile * d), squared(k * tile);
        const std::size_t first = s * tile, count = std::min(tile, k - first);
        kernel.squared_to_points(shifted.data(), d, first, count, zero.data(), shifted.data(), k,
                                 room.data(), squared.data());
        for (std::size_t r = 0; r < count; ++r) {
            T least = std::numeric_limits<T>::infinity();
            for (std::size_t c = 0; c < k; ++c)
                if (c != first + r) least = std::min(least, squared[c * tile + r]);
            if (!std::isfinite(least) && k > 1) continue;  // overflow: no bound at all
            const double gap =
                std::sqrt(double(least)) * (1 - (double(d) + 8) * kRound) - 8 * kRound * longest_;
            half_gap[first + r] = float(std::max(0.0, gap / 2 * kUnder));
        }
    });
}

template <typename T>
void CentreFrame<T>::measure_movement(Matrix<const double> centres, const double* previous) {
    const std::size_t k = centres.rows, d = centres.cols;
    float first = 0, second = 0;
    std::size_t farthest = 0;
    for (std::size_t c = 0; c < k; ++c) {
        movement[c] = float(distance(centres.row(c), previous + c * d, d) * kOver);
        if (movement[c] > first) {
            second = first;
            first = movement[c];
            farthest = c;
        } else {
            second = std::max(second, movement[c]);
        }
    }
    for (std::size_t c = 0; c < k; ++c) other_movement[c] = c == farthest ? second : first;
}

template class CentreFrame<double>;
template class CentreFrame<float>;

}  // namespace ceiba
