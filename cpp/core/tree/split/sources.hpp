// Sources: the rows of a node in the order of a column, as runs of equal codes. A split search
// reads histograms and sorted entries through the same interface.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tree/split/cells.hpp"

namespace ceiba::tree {

// Cells of all codes, followed by that of missing values.
template <typename Cells>
class HistogramSource {
  public:
    HistogramSource(const Cells& cells, const Number* bins, std::uint32_t n_codes)
        : cells_(cells), bins_(bins), n_codes_(n_codes) {
        seek();
    }

    void add_missing(Number* cell) const {
        const Number* missing = bins_ + std::size_t(n_codes_) * cells_.size();
        for (int s = 0; s < cells_.size(); ++s) cell[s] += missing[s];
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

// Sorted entries with the code in the upper bits and the row in the lower ones.
template <typename Rows, typename Entry, int RowBits>
class EntrySource {
  public:
    EntrySource(const Rows& rows, const Entry* first, const Entry* last, std::uint32_t missing_code)
        : rows_(rows), at_(first), last_(last), known_(last) {
        while (known_ > first && code_of(known_[-1]) == missing_code) --known_;
    }

    static std::uint32_t code_of(Entry entry) { return std::uint32_t(entry >> RowBits); }
    static std::size_t row_of(Entry entry) { return entry & ((Entry(1) << RowBits) - 1); }

    void add_missing(Number* cell) const {
        for (const Entry* e = known_; e < last_; ++e) rows_.add(cell, row_of(*e));
    }
    bool more() const { return at_ < known_; }
    std::uint32_t code() const { return code_of(*at_); }
    [[gnu::always_inline]] void take(Number* cell) {
        const std::uint32_t code = code_of(*at_);
        do rows_.add(cell, row_of(*at_++));
        while (at_ < known_ && code_of(*at_) == code);
    }

    // Known rows and codes of neighbors, for a scan by blocks.
    std::size_t known_rows() const { return std::size_t(known_ - at_); }
    void skip(std::size_t n) { at_ += n; }
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

// Sorted entries with the class below the code: unweighted classes need no access to the rows.
class LabelSource {
  public:
    LabelSource(const std::uint32_t* first, const std::uint32_t* last, int bits,
                std::uint32_t missing_code)
        : at_(first), last_(last), known_(last), bits_(bits), mask_((1u << bits) - 1) {
        while (known_ > first && known_[-1] >> bits == missing_code) --known_;
    }

    void add_missing(Number* cell) const {
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
    void skip(std::size_t n) { at_ += n; }
    std::uint32_t code_at(std::size_t i) const { return at_[i] >> bits_; }
    std::size_t label_at(std::size_t i) const { return at_[i] & mask_; }

  private:
    const std::uint32_t* at_;
    const std::uint32_t* last_;
    const std::uint32_t* known_;
    int bits_;
    std::uint32_t mask_;
};

// Sorted entries with everything about a row of a bootstrap sample: its code, how often it was
// drawn, its class.
class TaggedSource {
  public:
    static constexpr int kCodeShift = 32, kCountShift = 16;
    static constexpr std::uint64_t kMax = 0xFFFF;  // of draws and of classes

    TaggedSource(const std::uint64_t* first, const std::uint64_t* last, std::uint32_t missing_code,
                 int n_classes)
        : at_(first), last_(last), known_(last), n_classes_(n_classes) {
        while (known_ > first && code_of(known_[-1]) == missing_code) --known_;
    }

    static std::uint32_t code_of(std::uint64_t entry) { return std::uint32_t(entry >> kCodeShift); }
    static Number count_of(std::uint64_t entry) { return Number(entry >> kCountShift & kMax); }
    static std::size_t label_of(std::uint64_t entry) { return entry & kMax; }

    void add_missing(Number* cell) const {
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
    void skip(std::size_t n) { at_ += n; }
    std::uint32_t code_at(std::size_t i) const { return code_of(at_[i]); }
    std::size_t label_at(std::size_t i) const { return label_of(at_[i]); }
    Number weight_at(std::size_t i) const { return count_of(at_[i]); }

  private:
    void add(Number* cell, std::uint64_t entry) const {
        cell[label_of(entry)] += count_of(entry);
        ++cell[n_classes_];
    }

    const std::uint64_t* at_;
    const std::uint64_t* last_;
    const std::uint64_t* known_;
    int n_classes_;
};

}  // namespace ceiba::tree
