// Implementation of the grouping of rows by missing columns.
#include "mixture/missing_patterns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ceiba {
namespace {

// One bit per column, set if the value is missing.
template <typename T>
std::vector<std::uint64_t> masks_of(Matrix<const T> X, std::size_t words) {
    std::vector<std::uint64_t> masks(X.rows * words);
    for (std::size_t i = 0; i < X.rows; ++i)
        for (std::size_t j = 0; j < X.cols; ++j)
            masks[i * words + j / 64] |= std::uint64_t(std::isnan(X.row(i)[j])) << j % 64;
    return masks;
}

}  // namespace

template <typename T>
MissingPatternOrder missing_patterns(Matrix<const T> X) {
    const std::size_t words = (X.cols + 63) / 64;
    const std::vector<std::uint64_t> masks = masks_of(X, words);
    const auto mask = [&](std::int64_t i) { return masks.begin() + i * std::int64_t(words); };
    MissingPatternOrder result;
    result.order.resize(X.rows);
    std::iota(result.order.begin(), result.order.end(), 0);
    std::sort(result.order.begin(), result.order.end(), [&](std::int64_t a, std::int64_t b) {
        const auto [left, right] = std::mismatch(mask(a), mask(a) + std::ptrdiff_t(words), mask(b));
        return left == mask(a) + std::ptrdiff_t(words) ? a < b : *left < *right;
    });
    for (std::size_t i = 0; i < X.rows; ++i)
        if (i == 0 ||
            !std::equal(mask(result.order[i]), mask(result.order[i]) + std::ptrdiff_t(words),
                        mask(result.order[i - 1])))
            result.starts.push_back(std::int64_t(i));
    result.starts.push_back(std::int64_t(X.rows));
    return result;
}

template MissingPatternOrder missing_patterns<double>(Matrix<const double>);
template MissingPatternOrder missing_patterns<float>(Matrix<const float>);

}  // namespace ceiba
