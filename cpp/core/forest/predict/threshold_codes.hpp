// Codes of floats by the thresholds of a forest: one byte per value.
//
// Trees that were grown from at most 255 bins test few distinct thresholds. The code of a value is
// the number of thresholds of its column below it, so that x <= t exactly if code(x) <= rank(t),
// for float32 and float64 alike.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

#include "forest/predict/packed_forest.hpp"

namespace ceiba::forest {

class ThresholdCodes {
  public:
    static constexpr std::size_t kMaxThresholds = 255;

    // The thresholds of all trees; null if a column has too many of them, or a test is not that of
    // a float.
    static std::unique_ptr<const ThresholdCodes> of(const ForestView& forest,
                                                    std::size_t n_columns) {
        std::unique_ptr<ThresholdCodes> codes(new ThresholdCodes(n_columns));
        for (std::size_t i = 0; i < forest.count; ++i) {
            const PackedNode& node = forest.nodes[i];
            if (node.kind() == tree::Test::kLeaf) continue;
            if (node.kind() != tree::Test::kReal || !codes->add(node.column(), node.bits))
                return nullptr;
        }
        for (Column& column : codes->columns_) column.rank_thresholds();
        return codes;
    }

    // Number of smaller thresholds of the column; the threshold must be one of the forest.
    std::uint32_t rank(std::size_t column, std::uint64_t bits) const {
        const Column& own = columns_[column];
        return own.ranks[own.slot(bits)];
    }

    // Write the codes of n rows, row by row, with `stride` bytes each; return whether all values
    // are known.
    template <typename T>
    bool encode(const T* rows, std::size_t n, std::uint8_t* codes, std::size_t stride) const {
        bool missing = false;
        for (std::size_t first = 0; first < n; first += kTile)
            missing |= encode_tile(rows + first * columns_.size(), std::min(kTile, n - first),
                                   codes + first * stride, stride);
        return !missing;
    }

  private:
    // The rows of a tile stay in the L1 cache from column to column.
    static constexpr std::size_t kTile = 64;
    static constexpr int kSlotBits = 9;
    static constexpr std::uint64_t kEmpty = ~std::uint64_t(0);  // a NaN

    // A hash table of thresholds, and their ranks; open addressing, at most half full.
    struct Column {
        Column() {
            std::fill(std::begin(keys), std::end(keys), kEmpty);
            std::fill(std::begin(sorted), std::end(sorted),
                      std::numeric_limits<double>::infinity());
        }

        std::size_t slot(std::uint64_t bits) const {
            std::size_t s = bits * 0x9E3779B97F4A7C15 >> (64 - kSlotBits);
            while (keys[s] != bits && keys[s] != kEmpty) s = (s + 1) % std::size(keys);
            return s;
        }
        void rank_thresholds() {
            std::sort(sorted, sorted + count);
            for (std::size_t s = 0; s < std::size(keys); ++s)
                if (keys[s] != kEmpty)
                    ranks[s] = std::uint8_t(
                        std::lower_bound(sorted, sorted + count, std::bit_cast<double>(keys[s])) -
                        sorted);
        }

        std::uint64_t keys[std::size_t(1) << kSlotBits];
        std::uint8_t ranks[std::size_t(1) << kSlotBits];
        double sorted[kMaxThresholds + 1];  // then infinity, which no value is above
        std::size_t count = 0;
    };

    explicit ThresholdCodes(std::size_t n_columns) : columns_(n_columns) {}

    bool add(std::size_t column, std::uint64_t bits) {
        Column& own = columns_[column];
        std::uint64_t& key = own.keys[own.slot(bits)];
        if (key == bits && bits != kEmpty) return true;
        const auto threshold = std::bit_cast<double>(bits);
        if (own.count == kMaxThresholds || threshold != threshold) return false;
        own.sorted[own.count++] = threshold;
        key = bits;
        return true;
    }

    // Binary searches without branches, of all rows of a tile side by side.
    template <typename T>
    bool encode_tile(const T* rows, std::size_t n, std::uint8_t* codes, std::size_t stride) const {
        const std::size_t width = columns_.size();
        bool missing = false;
        for (std::size_t j = 0; j < width; ++j) {
            const double* sorted = columns_[j].sorted;
            double x[kTile];
            std::uint32_t below[kTile];
            for (std::size_t i = 0; i < n; ++i) {
                x[i] = double(rows[i * width + j]);
                missing |= x[i] != x[i];
                below[i] = 0;
            }
            for (std::uint32_t half = (kMaxThresholds + 1) / 2; half > 0; half /= 2)
                for (std::size_t i = 0; i < n; ++i)
                    below[i] += sorted[below[i] + half - 1] < x[i] ? half : 0;
            for (std::size_t i = 0; i < n; ++i) codes[i * stride + j] = std::uint8_t(below[i]);
        }
        return missing;
    }

    std::vector<Column> columns_;
};

}  // namespace ceiba::forest
