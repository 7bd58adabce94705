// The rows of one node in the order of one column, as runs of equal codes: from a histogram, or
// from sorted entries. A split search walks them without knowing which.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tree/cells.hpp"

namespace ceiba::tree {

// Cells of all codes, the gap's behind them.
template <typename Cells>
class Bins {
  public:
    Bins(const Cells& cells, const Number* bins, std::uint32_t n_codes)
        : cells_(cells), bins_(bins), n_codes_(n_codes) {
        seek();
    }

    void add_gap(Number* cell) const {
        const Number* gap = bins_ + std::size_t(n_codes_) * cells_.size();
        for (int s = 0; s < cells_.size(); ++s) cell[s] += gap[s];
    }
    bool more() const { return at_ < n_codes_; }
    std::uint32_t code() const { return at_; }
    [[gnu::always_inline]] void take(Number* cell) {
        const Number* bin = bins_ + std::size_t(at_) * cells_.size();
        for (int s = 0; s < cells_.size(); ++s) cell[s] += bin[s];
        ++at_;
        seek();
    }

  private:
    void seek() {
        while (at_ < n_codes_ && !cells_.occupied(bins_ + std::size_t(at_) * cells_.size())) ++at_;
    }

    Cells cells_;
    const Number* bins_;
    std::uint32_t n_codes_;
    std::uint32_t at_ = 0;
};

// Sorted entries, code above and row below: row `entry & mask` of `rows` is added.
template <typename Rows, typename Entry, int RowBits>
class Entries {
  public:
    Entries(const Rows& rows, const Entry* first, const Entry* last, std::uint32_t gap_code)
        : rows_(rows), at_(first), last_(last), known_(last) {
        while (known_ > first && code_of(known_[-1]) == gap_code) --known_;
    }

    static std::uint32_t code_of(Entry entry) { return std::uint32_t(entry >> RowBits); }
    static std::size_t row_of(Entry entry) { return entry & ((Entry(1) << RowBits) - 1); }

    void add_gap(Number* cell) const {
        for (const Entry* e = known_; e < last_; ++e) rows_.add(cell, row_of(*e));
    }
    bool more() const { return at_ < known_; }
    std::uint32_t code() const { return code_of(*at_); }
    [[gnu::always_inline]] void take(Number* cell) {
        const std::uint32_t code = code_of(*at_);
        do rows_.add(cell, row_of(*at_++));
        while (at_ < known_ && code_of(*at_) == code);
    }

    // Sorted rows that are known, and codes of neighbours, for a scan by blocks.
    std::size_t known_rows() const { return std::size_t(known_ - at_); }
    void pass(std::size_t n) { at_ += n; }
    std::uint32_t code_at(std::size_t i) const { return code_of(at_[i]); }
    std::size_t label_at(std::size_t i) const { return rows_.label[row_of(at_[i])]; }
    Number target_at(std::size_t i) const { return rows_.target[row_of(at_[i])]; }
    Number weight_at(std::size_t i) const { return rows_.weight[row_of(at_[i])]; }

  private:
    Rows rows_;
    const Entry* at_;
    const Entry* last_;
    const Entry* known_;
};

// Sorted entries that carry their class below the code: unweighted classes need no look at a row.
class Labels {
  public:
    Labels(const std::uint32_t* first, const std::uint32_t* last, int bits, std::uint32_t gap_code)
        : at_(first), last_(last), known_(last), bits_(bits), mask_((1u << bits) - 1) {
        while (known_ > first && known_[-1] >> bits == gap_code) --known_;
    }

    void add_gap(Number* cell) const {
        for (const std::uint32_t* e = known_; e < last_; ++e) ++cell[*e & mask_];
    }
    bool more() const { return at_ < known_; }
    std::uint32_t code() const { return *at_ >> bits_; }
    [[gnu::always_inline]] void take(Number* cell) {
        const std::uint32_t code = *at_ >> bits_;
        do ++cell[*at_++ & mask_];
        while (at_ < known_ && *at_ >> bits_ == code);
    }

    std::size_t known_rows() const { return std::size_t(known_ - at_); }
    void pass(std::size_t n) { at_ += n; }
    std::uint32_t code_at(std::size_t i) const { return at_[i] >> bits_; }
    std::size_t label_at(std::size_t i) const { return at_[i] & mask_; }

  private:
    const std::uint32_t* at_;
    const std::uint32_t* last_;
    const std::uint32_t* known_;
    int bits_;
    std::uint32_t mask_;
};

// Sorted entries that carry all there is to know of a row in a bag: its code, how often it was
// drawn, its class.
class Tagged {
  public:
    static constexpr int kCodeShift = 32, kCountShift = 16;
    static constexpr std::uint64_t kMost = 0xFFFF;  // of draws, and of classes

    Tagged(const std::uint64_t* first, const std::uint64_t* last, std::uint32_t gap_code,
           int classes)
        : at_(first), last_(last), known_(last), classes_(classes) {
        while (known_ > first && code_of(known_[-1]) == gap_code) --known_;
    }

    static std::uint32_t code_of(std::uint64_t entry) { return std::uint32_t(entry >> kCodeShift); }
    static Number count_of(std::uint64_t entry) { return Number(entry >> kCountShift & kMost); }
    static std::size_t label_of(std::uint64_t entry) { return entry & kMost; }

    void add_gap(Number* cell) const {
        for (const std::uint64_t* e = known_; e < last_; ++e) add(cell, *e);
    }
    bool more() const { return at_ < known_; }
    std::uint32_t code() const { return code_of(*at_); }
    [[gnu::always_inline]] void take(Number* cell) {
        const std::uint32_t code = code_of(*at_);
        do add(cell, *at_++);
        while (at_ < known_ && code_of(*at_) == code);
    }

    std::size_t known_rows() const { return std::size_t(known_ - at_); }
    void pass(std::size_t n) { at_ += n; }
    std::uint32_t code_at(std::size_t i) const { return code_of(at_[i]); }
    std::size_t label_at(std::size_t i) const { return label_of(at_[i]); }
    Number weight_at(std::size_t i) const { return count_of(at_[i]); }

  private:
    void add(Number* cell, std::uint64_t entry) const {
        cell[label_of(entry)] += count_of(entry);
        ++cell[classes_];
    }

    const std::uint64_t* at_;
    const std::uint64_t* last_;
    const std::uint64_t* known_;
    int classes_;
};

}  // namespace ceiba::tree
