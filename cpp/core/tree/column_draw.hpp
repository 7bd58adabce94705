// Columns in random order, drawn one after the other: who wants five of a hundred pays for five.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "random.hpp"

namespace ceiba::tree {

// Streams of the columns of a node, keyed by its path as well, and of a whole tree.
constexpr std::uint64_t kNodeColumns = 0x636F6C756D6E73;
constexpr std::uint64_t kTreeColumns = 0x7472656566656174;

// The shuffle of Fisher and Yates, from the front and as far as it is asked for.
class ColumnDraw {
  public:
    // Draw from 0 .. n - 1.
    void begin(std::size_t n, std::uint64_t seed, std::uint64_t stream) {
        order_.resize(n);
        std::iota(order_.begin(), order_.end(), 0);
        restart(seed, stream);
    }
    // Draw from some columns, ascending.
    void begin(const std::vector<std::int32_t>& columns, std::uint64_t seed, std::uint64_t stream) {
        order_ = columns;
        restart(seed, stream);
    }

    bool more() const { return drawn_ < order_.size(); }
    std::int32_t next() {
        const std::size_t to = drawn_ + below(order_.size() - drawn_);
        std::swap(order_[drawn_], order_[to]);
        return order_[drawn_++];
    }
    // With replacement: any of all.
    std::int32_t any() {
        const std::int32_t column = order_[below(order_.size())];
        ++drawn_;
        return column;
    }

  private:
    std::size_t below(std::uint64_t n) {
        if (drawn_ % 4 == 0) words_ = philox(seed_, stream_, drawn_ / 4);
        return std::size_t(words_.word[drawn_ % 4] * n >> 32);
    }
    void restart(std::uint64_t seed, std::uint64_t stream) {
        seed_ = seed;
        stream_ = stream;
        drawn_ = 0;
    }

    std::vector<std::int32_t> order_;
    std::uint64_t seed_ = 0, stream_ = 0;
    std::size_t drawn_ = 0;
    Philox words_{};
};

}  // namespace ceiba::tree
