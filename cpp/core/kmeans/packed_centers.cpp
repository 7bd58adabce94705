// Implementation of the packed centers: rounding bounds, separations and movements.
#include "kmeans/packed_centers.hpp"

#include <algorithm>
#include <cmath>

#include "common/parallel.hpp"

namespace ceiba {
namespace {

double distance(const double* a, const double* b, std::size_t d) {
    double sum = 0;
    for (std::size_t j = 0; j < d; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return std::sqrt(sum);
}

}  // namespace

template <typename T>
PackedCenters<T>::PackedCenters(Matrix<const double> centers, const double* from, std::size_t block)
    : shifted((centers.rows + 1) * centers.cols),
      offset(from, from + centers.cols),
      blocks_((centers.rows + block - 1) / block),
      columns_(centers.cols),
      coordinates_(blocks_ * block * centers.cols),
      bias_(blocks_ * block, -std::numeric_limits<T>::infinity()) {
    const std::size_t d = centers.cols;
    for (std::size_t c = 0; c < centers.rows; ++c) {
        double squared = 0;
        for (std::size_t j = 0; j < d; ++j) {
            // Relative to the offset as rounded to T, because that value is subtracted from the
            // rows.
            const double from_offset = centers.row(c)[j] - double(offset[j]);
            shifted[c * d + j] = T(from_offset);
            coordinates_[(c / block * d + j) * block + c % block] = T(from_offset);
            squared += from_offset * from_offset;
        }
        bias_[c] = T(-squared / 2);
        max_norm_ = std::max(max_norm_, std::sqrt(squared));
    }
}

// Errors of running sums of d + 1 terms (Higham 2002, "Accuracy and stability", ch. 3), and
// rounding errors of the row, the center and the bias.
template <typename T>
Panels<T> PackedCenters<T>::panels() const {
    const double terms = double(columns_);
    return {
        coordinates_.data(),     bias_.data(),           blocks_, T(max_norm_ * (1 + 4 * kRound)),
        T((terms + 8) * kRound), T((terms + 4) * kRound)};
}

template <typename T>
float PackedCenters<T>::upper_bound(T squared) const {
    const double widened = std::sqrt(double(squared)) * (1 + (double(columns_) + 8) * kRound);
    return float((widened + 8 * kRound * max_norm_) * kOver);
}

template <typename T>
T PackedCenters<T>::difference_error(T squared_row) const {
    return T(4 * (double(columns_) + 8) * kRound * (double(squared_row) + max_norm_ * max_norm_));
}

template <typename T>
void PackedCenters<T>::update_bounds(Matrix<const double> centers, const double* previous,
                                     std::size_t rows, int threads) {
    const std::size_t k = centers.rows;
    half_separation.assign(k, 0);
    // k^2 distances pay off only where they are few compared with those of the rows.
    if (4 * k <= rows) measure_separation(k, threads);
    movement.assign(k, 0);
    other_movement.assign(k, 0);
    if (previous != nullptr) measure_movement(centers, previous);
}

template <typename T>
void PackedCenters<T>::measure_separation(std::size_t k, int threads) {
    const KMeansKernels<T>& kernel = kmeans_kernels<T>();
    const std::size_t d = columns_, tile = kernel.tile;
    const std::vector<T> zero(d);
    const Segments tiles{(k + tile - 1) / tile, (k + tile - 1) / tile};
    const double work = double(k) * double(k) * double(d);
    for_segments(tiles, threads_for(work, threads), [&](std::size_t s, int, Interrupt&) {
        std::vector<T> work(tile * d), squared(k * tile);
        const std::size_t first = s * tile, count = std::min(tile, k - first);
        kernel.squared_to_points(shifted.data(), d, first, count, zero.data(), shifted.data(), k,
                                 work.data(), squared.data());
        for (std::size_t r = 0; r < count; ++r) {
            T nearest = std::numeric_limits<T>::infinity();
            for (std::size_t c = 0; c < k; ++c)
                if (c != first + r) nearest = std::min(nearest, squared[c * tile + r]);
            if (!std::isfinite(nearest) && k > 1) continue;  // overflow: no bound
            const double separation = std::sqrt(double(nearest)) * (1 - (double(d) + 8) * kRound) -
                                      8 * kRound * max_norm_;
            half_separation[first + r] = float(std::max(0.0, separation / 2 * kUnder));
        }
    });
}

template <typename T>
void PackedCenters<T>::measure_movement(Matrix<const double> centers, const double* previous) {
    const std::size_t k = centers.rows, d = centers.cols;
    float first = 0, second = 0;
    std::size_t farthest = 0;
    for (std::size_t c = 0; c < k; ++c) {
        movement[c] = float(distance(centers.row(c), previous + c * d, d) * kOver);
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

template class PackedCenters<double>;
template class PackedCenters<float>;

}  // namespace ceiba
