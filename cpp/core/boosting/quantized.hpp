// Quantized gradients: integers of one scale per tree, and the cells that add them up.
//
// Sums of integers do not depend on their order, so a tree is the same for any number of threads
// and any partitioning. In a packed cell the gradient sum is the upper half of a 64-bit word and
// the Hessian sum its lower half: adding a row is one addition per column, 0.23 ns where two
// 64-bit sums take 0.5 ns (28 columns of 255 bins, one core of an EPYC 9005). Shi et al. (2022),
// "Quantized training of gradient boosting decision trees", NeurIPS.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "boosting/config.hpp"
#include "common/parallel.hpp"
#include "simd/boosting_kernels.hpp"
#include "tree/split/cells.hpp"

namespace ceiba::boosting {

using tree::Number;

// Sums of gradients and Hessians in units.
struct GradientSum {
    Number gradient = 0, hessian = 0;

    GradientSum& operator+=(const GradientSum& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        return *this;
    }
    GradientSum& operator-=(const GradientSum& other) {
        gradient -= other.gradient;
        hessian -= other.hessian;
        return *this;
    }
};

// Layouts of cells (tree/grow/histogram_store.hpp), one word per output. `pack` makes words of
// gradients and Hessians in units, and returns their sum. Hessians have at least one unit: a branch
// then has a positive sum if, and only if, it has rows.
struct PackedGradients {
    using Word = std::uint64_t;
    std::size_t words;

    explicit PackedGradients(std::size_t outputs) : words(outputs) {}

    static GradientSum pack(const Number* gradient, const Number* hessian, std::size_t n,
                            Word* words) {
        return sum(boosting_kernels().pack(gradient, hessian, n, words));
    }
    static GradientSum sum(Word word) { return {Number(word) >> 32, Number(word & 0xFFFFFFFF)}; }
    // Largest absolute value of a quantized gradient whose sums over n rows fit.
    static double max_quantized(std::size_t n) {
        return std::floor(double((1u << 31) - 1) / double(n));
    }
};

struct WideGradients {
    typedef Number Word __attribute__((vector_size(2 * sizeof(Number))));
    std::size_t words;

    explicit WideGradients(std::size_t outputs) : words(outputs) {}

    static GradientSum pack(const Number* gradient, const Number* hessian, std::size_t n,
                            Word* words) {
        GradientSum total;
        for (std::size_t i = 0; i < n; ++i) {
            words[i] = Word{gradient[i], std::max(Number(1), hessian[i])};
            total += sum(words[i]);
        }
        return total;
    }
    static GradientSum sum(Word word) { return {word[0], word[1]}; }
    static double max_quantized(std::size_t n) {
        return std::min(0x1p40, std::floor(0x1p62 / double(n)));
    }
};

// Gradients and Hessians of some rows one behind the other, as the kernels take them: the arrays
// themselves for consecutive rows, copies for others.
class GradientBlock {
  public:
    static constexpr std::size_t kRows = 512;

    // Rows are ascending, at most kRows of them.
    void load(const Gradients& gradients, std::span<const std::uint32_t> rows, std::size_t k) {
        size = rows.size();
        if (rows.back() - rows.front() == size - 1) return load(gradients, rows.front(), size, k);
        for (std::size_t i = 0; i < size; ++i) {
            gradient_copy_[i] = gradients.gradient_of(rows[i], k);
            hessian_copy_[i] = gradients.hessian_of(rows[i], k);
        }
        gradient = gradient_copy_;
        hessian = hessian_copy_;
    }
    // Consecutive rows from `begin` on.
    void load(const Gradients& gradients, std::size_t begin, std::size_t n, std::size_t k) {
        size = n;
        gradient = gradients.gradient + k * gradients.rows + begin;
        if (gradients.hessian) {
            hessian = gradients.hessian + k * gradients.rows + begin;
        } else if (gradients.weight) {
            hessian = gradients.weight + begin;
        } else {
            std::fill_n(hessian_copy_, n, 1.0);
            hessian = hessian_copy_;
        }
    }
    // Round to integer units; the factors are units per 1.0.
    void round(double gradient_factor, double hessian_factor) {
        boosting_kernels().round(gradient, size, gradient_factor, quantized_gradient);
        boosting_kernels().round(hessian, size, hessian_factor, quantized_hessian);
    }

    std::size_t size = 0;
    const double *gradient = nullptr, *hessian = nullptr;
    Number quantized_gradient[kRows], quantized_hessian[kRows];

  private:
    double gradient_copy_[kRows], hessian_copy_[kRows];
};

// Units of smaller numbers could be zero, and their inverses infinite.
constexpr double kMinSize = 1e-280;

// Sizes of the gradients of a tree, and the units in which they are rounded; means are those of
// absolute values.
struct GradientScale {
    double max_gradient = 0, max_hessian = 0, mean_abs_gradient = 0, mean_hessian = 0;
    bool equal_hessians = true;
    double gradient_unit = 1, hessian_unit = 1;
    double gradient_factor = 1, hessian_factor = 1;  // units per one
    Number max_quantized = 1;                        // of a Hessian

    // Choose units such that the largest gradient is `units` of them.
    void set_max_quantized(double units) {
        const double gradient = max_gradient > 0 ? std::max(max_gradient, kMinSize) : units;
        gradient_unit = gradient / units;
        hessian_unit = max_hessian / units;
        gradient_factor = units / gradient;
        hessian_factor = units / max_hessian;
        max_quantized = Number(units);
    }
};

// Call body(first, n) for consecutive blocks of at most GradientBlock::kRows indices.
template <typename Body>
void for_blocks(std::size_t begin, std::size_t end, const Body& body) {
    for (std::size_t i = begin; i < end; i += GradientBlock::kRows)
        body(i, std::min(GradientBlock::kRows, end - i));
}

inline void merge_summaries(GradientSummary& summary, const GradientSummary& other) {
    summary.max_gradient = std::max(summary.max_gradient, other.max_gradient);
    summary.max_hessian = std::max(summary.max_hessian, other.max_hessian);
    summary.gradient_sum += other.gradient_sum;
    summary.hessian_sum += other.hessian_sum;
    summary.equal_hessians &= other.equal_hessians;
}

// Measure the gradients of some rows, ascending. The segments do not depend on the threads, so
// neither do the means.
inline GradientScale measure_gradients(const Gradients& gradients,
                                       std::span<const std::uint32_t> rows, int threads) {
    const Segments parts = segments(rows.size(), 16384);
    std::vector<GradientSummary> part(parts.count);
    const std::size_t outputs = gradients.outputs;
    const double first = rows.empty() ? 0 : gradients.hessian_of(rows[0], 0);
    for_segments(parts, threads_for(double(rows.size() * outputs), threads),
                 [&](std::size_t s, int, Interrupt&) {
                     GradientBlock block;
                     for_blocks(parts.begin(s), parts.end(s), [&](std::size_t i, std::size_t n) {
                         for (std::size_t k = 0; k < outputs; ++k) {
                             block.load(gradients, rows.subspan(i, n), k);
                             merge_summaries(part[s], boosting_kernels().summarize(
                                                          block.gradient, block.hessian, n, first));
                         }
                     });
                 });
    GradientSummary all;
    for (const GradientSummary& own : part) merge_summaries(all, own);
    GradientScale scale;
    scale.max_gradient = all.max_gradient;
    scale.max_hessian = all.max_hessian;
    scale.equal_hessians = all.equal_hessians;
    scale.mean_abs_gradient = all.gradient_sum;
    scale.mean_hessian = all.hessian_sum;
    if (!std::isfinite(scale.mean_abs_gradient) || !std::isfinite(scale.mean_hessian))
        throw std::invalid_argument(
            "gradients and Hessians must be finite, got an overflow: decrease learning_rate, or "
            "scale y.");
    // Where probabilities have reached 0 and 1, gradients vanish as well: the leaf values are zero.
    if (!(scale.max_hessian >= kMinSize)) {
        if (scale.max_gradient >= kMinSize)
            throw std::invalid_argument(
                "some Hessian must be at least 1e-280: decrease learning_rate, scale the loss, or "
                "return 1 from hessian of a loss without curvature.");
        scale.max_hessian = kMinSize;
    }
    scale.mean_abs_gradient /= double(rows.size() * outputs);
    scale.mean_hessian /= double(rows.size() * outputs);
    return scale;
}

// Packed cells round gradients to some 12 bits of the largest one (500,000 rows). They are used
// while the mean gradient has several units; a few outliers far above all others need wide cells.
constexpr double kMinMeanUnits = 8;

inline bool packed_suffices(const GradientScale& scale, std::size_t n, int bits) {
    const double max_quantized = PackedGradients::max_quantized(n);
    if (bits > 0) return std::ldexp(1.0, bits - 1) <= max_quantized;
    return scale.mean_abs_gradient * max_quantized >= kMinMeanUnits * scale.max_gradient &&
           scale.mean_hessian * max_quantized >= kMinMeanUnits * scale.max_hessian;
}

}  // namespace ceiba::boosting
