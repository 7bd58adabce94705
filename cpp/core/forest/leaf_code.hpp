// Class weights of a leaf, in few bits.
//
// A leaf tells how many classes it has, less two; the order of the weights; and of each class how
// many are left out before it, and its weight less one. All are numbers v in an exponential Golomb
// code of some order k: x = v + 2^k has k + 1 bits or more; for each one more there is a zero, then
// comes a one, then the bits of x below its highest. The lowest bit is the first.
//
// The first 64 bits stand in a node, the others in bytes beside.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tree/cells.hpp"

namespace ceiba::forest {

using tree::Number;

struct ClassWeight {
    std::size_t place;
    Number weight;
};

// Numbers are less, and so are the weights of a bag together.
constexpr int kNumberBits = 53;

// Order of how many classes are left out, about the best where `present` ones are spread evenly.
inline std::uint64_t gap_order(std::size_t classes, std::size_t present) {
    const auto sparse = std::uint64_t(std::bit_width(classes)),
               dense = std::uint64_t(std::bit_width(present));
    return sparse > dense ? sparse - dense - 1 : 0;
}

// Reads a leaf, and nothing beyond its bytes, whatever they are.
class LeafReader {
  public:
    LeafReader(std::uint64_t first, const std::uint8_t* rest, const std::uint8_t* end,
               std::size_t classes)
        : window_(first), rest_(rest), next_(rest), end_(end) {
        more_ = std::size_t(number(0)) + 2;
        order_ = number(0);
        gap_order_ = gap_order(classes, more_);
    }

    bool more() const { return more_ > 0; }
    ClassWeight next() {
        --more_;
        const std::size_t place = from_ + std::size_t(number(gap_order_));
        from_ = place + 1;
        return {place, Number(number(order_)) + 1};
    }

    // After the last class: how many bytes beside the node were the leaf's, less than one where it
    // fits into the node.
    std::ptrdiff_t bytes() const { return next_ - rest_ - left_ / 8; }
    // ... and whether all its bits were there, and those that fill its last byte or node are zero.
    bool sound() const {
        const int spare = bytes() > 0 ? left_ % 8 : left_;
        return left_ >= 0 && (spare == 0 || window_ << (64 - spare) == 0);
    }

  private:
    std::uint64_t number(std::uint64_t order) {
        if (window_ == 0) fill();
        const std::uint64_t bits = std::uint64_t(std::countr_zero(window_)) + order;
        if (bits > kNumberBits) return fail();
        drop(int(bits - order) + 1);
        if (left_ < int(bits)) fill();
        const std::uint64_t above = std::uint64_t(1) << bits;
        const std::uint64_t x = above | (window_ & (above - 1));
        drop(int(bits));
        return x - (std::uint64_t(1) << order);
    }
    void fill() {
        for (; left_ <= 56 && next_ < end_; left_ += 8) window_ |= std::uint64_t(*next_++) << left_;
    }
    void drop(int bits) {
        window_ >>= bits;
        left_ -= bits;
    }
    std::uint64_t fail() {
        next_ = end_;
        left_ = -1;
        return 0;
    }

    std::uint64_t window_;
    const std::uint8_t *rest_, *next_, *end_;
    int left_ = 64;  // bits in the window
    std::size_t more_, from_ = 0;
    std::uint64_t order_, gap_order_;
};

class LeafWriter {
  public:
    // Code the weights of all classes, of which two or more have some.
    void write(const Number* weight, std::size_t classes) {
        present_.clear();
        for (std::size_t k = 0; k < classes; ++k)
            if (weight[k] > 0) present_.push_back({k, weight[k]});
        words_.assign(1, 0);
        used_ = 0;
        const std::uint64_t order = best_order(), gaps = gap_order(classes, present_.size());
        number(present_.size() - 2, 0);
        number(order, 0);
        std::size_t from = 0;
        for (const ClassWeight& own : present_) {
            number(own.place - from, gaps);
            number(std::uint64_t(own.weight) - 1, order);
            from = own.place + 1;
        }
    }

    std::uint64_t first() const { return words_[0]; }
    bool fits() const { return used_ <= 64; }
    // Put the bits that do not fit into a node behind others.
    void add_rest(std::vector<std::uint8_t>& bytes) const {
        for (std::size_t bit = 64; bit < used_; bit += 8)
            bytes.push_back(std::uint8_t(words_[bit / 64] >> bit % 64));
    }

  private:
    struct Code {
        Code(std::uint64_t v, std::uint64_t order)
            : x(v + (std::uint64_t(1) << order)),
              bits(int(std::bit_width(x)) - 1),
              zeros(bits - int(order)) {}

        int size() const { return zeros + 1 + bits; }

        std::uint64_t x;
        int bits, zeros;  // those of x below its highest, and before it
    };

    // The order that makes the code of the weights shortest.
    std::uint64_t best_order() const {
        std::uint64_t most = 0;
        for (const ClassWeight& own : present_) most = std::max(most, std::uint64_t(own.weight));
        std::uint64_t best = 0;
        int least = std::numeric_limits<int>::max();
        for (std::uint64_t order = 0; most >> order > 0; ++order) {
            int bits = Code(order, 0).size();
            for (const ClassWeight& own : present_)
                bits += Code(std::uint64_t(own.weight) - 1, order).size();
            if (bits < least) best = order;
            least = std::min(least, bits);
        }
        return best;
    }
    void number(std::uint64_t v, std::uint64_t order) {
        const Code code(v, order);
        put(std::uint64_t(1) << code.zeros, code.zeros + 1);
        put(code.x ^ std::uint64_t(1) << code.bits, code.bits);
    }
    void put(std::uint64_t bits, int count) {
        const std::size_t word = used_ / 64, shift = used_ % 64;
        used_ += std::size_t(count);
        if (used_ / 64 > word) words_.push_back(0);
        words_[word] |= bits << shift;
        if (shift + std::size_t(count) > 64) words_[word + 1] |= bits >> (64 - shift);
    }

    std::vector<ClassWeight> present_;
    std::vector<std::uint64_t> words_;
    std::size_t used_ = 0;
};

}  // namespace ceiba::forest
