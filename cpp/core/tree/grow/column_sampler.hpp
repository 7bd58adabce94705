// Columns in the order of a search: column order, or random order drawn one by one, so that drawing
// five of a hundred columns costs five draws.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "common/random.hpp"

namespace ceiba::tree {

// Random streams of the columns of a node (keyed by its path as well) and of a whole tree.
constexpr std::uint64_t kNodeStream = 0x636F6C756D6E73;
constexpr std::uint64_t kTreeStream = 0x7472656566656174;

// Fisher-Yates shuffle from the front, as far as columns are requested.
class ColumnSampler {
  public:
    // Draw from 0 .. n - 1.
    void begin(std::size_t n, std::uint64_t seed, std::uint64_t stream) {
        order_.resize(n);
        std::iota(order_.begin(), order_.end(), 0);
        restart(seed, stream);
    }
    // Return the given columns in their order, without draws.
    void begin(const std::vector<std::int32_t>& columns) {
        order_ = columns;
        drawn_ = 0;
        random_ = false;
    }
    // Draw from the given columns, ascending.
    void begin(const std::vector<std::int32_t>& columns, std::uint64_t seed, std::uint64_t stream) {
        order_ = columns;
        restart(seed, stream);
    }

    bool has_more() const { return drawn_ < order_.size(); }
    std::int32_t next() {
        if (!random_) return order_[drawn_++];
        const std::size_t to = drawn_ + draw_below(order_.size() - drawn_);
        std::swap(order_[drawn_], order_[to]);
        return order_[drawn_++];
    }
    // Draw with replacement.
    std::int32_t next_with_replacement() {
        const std::int32_t column = order_[draw_below(order_.size())];
        ++drawn_;
        return column;
    }

  private:
    std::size_t draw_below(std::uint64_t n) {
        if (drawn_ % 4 == 0) words_ = philox(seed_, stream_, drawn_ / 4);
        return std::size_t(words_.word[drawn_ % 4] * n >> 32);
    }
    void restart(std::uint64_t seed, std::uint64_t stream) {
        seed_ = seed;
        stream_ = stream;
        drawn_ = 0;
        random_ = true;
    }

    std::vector<std::int32_t> order_;
    bool random_ = false;
    std::uint64_t seed_ = 0, stream_ = 0;
    std::size_t drawn_ = 0;
    Philox words_{};
};

// Columns that a tree does not use, ascending, because it draws `n_drawn` others (0: all).
inline std::vector<std::int32_t> columns_not_drawn(std::size_t n, std::size_t n_drawn,
                                                   std::uint64_t seed) {
    std::vector<std::int32_t> out;
    if (n_drawn == 0 || n_drawn >= n) return out;
    ColumnSampler draw;
    draw.begin(n, seed, kTreeStream);
    for (std::size_t i = 0; i < n_drawn; ++i) draw.next();
    while (draw.has_more()) out.push_back(draw.next());
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace ceiba::tree
