// Compact bit code of the class weights of a leaf.
//
// A leaf stores its number of classes minus two, the order of the weight code and, for each class,
// the number of absent classes before it and its weight minus one. All are integers v in an
// exponential Golomb code of order k: x = v + 2^k has at least k + 1 bits; one zero for each
// further bit, then a one, then the bits of x below its highest. The lowest bit comes first.
//
// The first 64 bits are in the node, the others in separate bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tree/split/cells.hpp"

namespace ceiba::forest {

using tree::Number;

struct ClassWeight {
    std::size_t class_index;
    Number weight;
};

// Every stored integer, and the total weight of a sample, is below 2^53.
constexpr int kNumberBits = 53;

// Order of the code for absent classes, near the optimum if `present` classes are spread evenly.
inline std::uint64_t skip_order(std::size_t classes, std::size_t present) {
    const auto sparse = std::uint64_t(std::bit_width(classes)),
               dense = std::uint64_t(std::bit_width(present));
    return sparse > dense ? sparse - dense - 1 : 0;
}

// Decodes a leaf without reading past its bytes, whatever they contain.
class LeafReader {
  public:
    LeafReader(std::uint64_t first, const std::uint8_t* rest, const std::uint8_t* end,
               std::size_t classes)
        : window_(first), rest_(rest), next_(rest), end_(end) {
        remaining_ = std::size_t(read_integer(0)) + 2;
        order_ = read_integer(0);
        skip_order_ = skip_order(classes, remaining_);
    }

    bool has_more() const { return remaining_ > 0; }
    ClassWeight next() {
        --remaining_;
        const std::size_t class_index = from_ + std::size_t(read_integer(skip_order_));
        from_ = class_index + 1;
        return {class_index, Number(read_integer(order_)) + 1};
    }

    // After the last class: number of bytes that the leaf uses beside the node, less than one if it
    // fits into the node.
    std::ptrdiff_t bytes() const { return next_ - rest_ - left_ / 8; }
    // Whether all bits were present and the padding of the last byte or node is zero.
    bool is_valid() const {
        const int spare = bytes() > 0 ? left_ % 8 : left_;
        return left_ >= 0 && (spare == 0 || window_ << (64 - spare) == 0);
    }

  private:
    std::uint64_t read_integer(std::uint64_t order) {
        if (window_ == 0) fill();
        const std::uint64_t bits = std::uint64_t(std::countr_zero(window_)) + order;
        if (bits > kNumberBits) return fail();
        consume(int(bits - order) + 1);
        if (left_ < int(bits)) fill();
        const std::uint64_t above = std::uint64_t(1) << bits;
        const std::uint64_t x = above | (window_ & (above - 1));
        consume(int(bits));
        return x - (std::uint64_t(1) << order);
    }
    void fill() {
        for (; left_ <= 56 && next_ < end_; left_ += 8) window_ |= std::uint64_t(*next_++) << left_;
    }
    void consume(int bits) {
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
    std::size_t remaining_, from_ = 0;
    std::uint64_t order_, skip_order_;
};

class LeafWriter {
  public:
    // Encode the class weights; at least two must be positive.
    void write(const Number* weight, std::size_t classes) {
        present_.clear();
        for (std::size_t k = 0; k < classes; ++k)
            if (weight[k] > 0) present_.push_back({k, weight[k]});
        words_.assign(1, 0);
        used_ = 0;
        const std::uint64_t order = best_order(), skips = skip_order(classes, present_.size());
        write_integer(present_.size() - 2, 0);
        write_integer(order, 0);
        std::size_t from = 0;
        for (const ClassWeight& entry : present_) {
            write_integer(entry.class_index - from, skips);
            write_integer(std::uint64_t(entry.weight) - 1, order);
            from = entry.class_index + 1;
        }
    }

    std::uint64_t first() const { return words_[0]; }
    bool fits() const { return used_ <= 64; }
    // Append the bits that do not fit into the node.
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
        int bits, zeros;  // bits of x below its highest, and leading zeros
    };

    // The order that minimizes the length of the weight codes.
    std::uint64_t best_order() const {
        std::uint64_t max_weight = 0;
        for (const ClassWeight& entry : present_)
            max_weight = std::max(max_weight, std::uint64_t(entry.weight));
        std::uint64_t best = 0;
        int min_bits = std::numeric_limits<int>::max();
        for (std::uint64_t order = 0; max_weight >> order > 0; ++order) {
            int bits = Code(order, 0).size();
            for (const ClassWeight& entry : present_)
                bits += Code(std::uint64_t(entry.weight) - 1, order).size();
            if (bits < min_bits) best = order;
            min_bits = std::min(min_bits, bits);
        }
        return best;
    }
    void write_integer(std::uint64_t v, std::uint64_t order) {
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
