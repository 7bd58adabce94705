// A node of a few rows: its columns are sorted and looked at some at a time, side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "forest/columns_abreast.hpp"
#include "forest/entry_sort.hpp"
#include "forest/row_codes.hpp"

namespace ceiba::forest {

template <typename Code, typename Bag>
class SmallNode {
  public:
    SmallNode(const RowCodes<Code>& codes, const GrowthRules& rules)
        : codes_(codes),
          columns_(codes.by_column->columns),
          every_(rules.split.cuts == tree::CutRule::kEvery),
          abreast_(rules) {
        for (const Column& column : columns_) ranks_ = ranks_ && column.gap() < kMostRanked;
    }

    // Take up the node whose rows are [begin, end) of the bag; false where it is none for us.
    bool begin(const Bag& bag, const Growth& growth, std::size_t node, std::size_t begin,
               std::size_t end) {
        n_ = end - begin;
        if (!every_ || n_ > Abreast<Bag>::kMostRows ||
            !abreast_.begin(bag, growth, node, begin, n_))
            return false;
        least_ = {std::size_t(growth.rules.split.least_rows), growth.rules.split.least_weight};
        for (std::size_t i = 0; i < n_; ++i) {
            row_[i] = codes_.row(bag.row(begin + i));
            tag_[i] = bag.tag(begin, begin + i);
        }
        return true;
    }

    // The best cuts of up to kAbreast numeric columns, as if nothing were missing in them.
    void find(std::span<const std::int32_t> columns, AbreastCuts& cuts) {
        if (ranks_ && n_ <= kRanked)
            sort_by_rank(columns);
        else
            for (std::size_t c = 0; c < columns.size(); ++c)
                columns_[std::size_t(columns[c])].gap() < kCounted ? count(columns[c], c)
                                                                   : throw_in(columns[c], c);
        abreast_.find(n_, columns.size(), least_, cuts);
    }
    // Of the c-th of these columns.
    std::uint32_t least(std::size_t c) const { return abreast_.code(0, c); }
    std::uint32_t most(std::size_t c) const { return abreast_.code(n_ - 1, c); }

  private:
    static constexpr std::size_t kMost = 1024;
    static_assert(Abreast<Bag>::kMostRows <= kMost);
    static constexpr std::uint32_t kMostRanked = 1u << (31 - kRankBits), kCounted = 1024;

    void sort_by_rank(std::span<const std::int32_t> columns) {
        alignas(64) std::int32_t keys[kAbreast * kRanked], places[kAbreast * kRanked];
        for (std::size_t c = 0; c < columns.size(); ++c)
            for (std::size_t i = 0; i < n_; ++i)
                keys[c * kRanked + i] =
                    std::int32_t(row_[i][columns[c]]) << kRankBits | std::int32_t(i);
        forest_kernels().rank(keys, n_, columns.size(), places);
        for (std::size_t c = 0; c < columns.size(); ++c)
            for (std::size_t i = 0; i < n_; ++i) {
                const std::size_t at = c * kRanked + i;
                abreast_.put(std::size_t(places[at]), c, std::uint32_t(keys[at] >> kRankBits),
                             tag_[i]);
            }
    }

    // Sort a column of few codes: rows of a code follow those of all codes below.
    void count(std::int32_t column, std::size_t c) {
        const std::size_t codes = columns_[std::size_t(column)].gap() + 1;
        std::uint32_t code[kMost];
        std::fill_n(place_, codes, 0u);
        for (std::size_t i = 0; i < n_; ++i) {
            code[i] = row_[i][column];
            ++place_[code[i]];
        }
        std::uint32_t sum = 0;
        for (std::size_t b = 0; b < codes; ++b) sum += std::exchange(place_[b], sum);
        for (std::size_t i = 0; i < n_; ++i) abreast_.put(place_[code[i]]++, c, code[i], tag_[i]);
    }

    void throw_in(std::int32_t column, std::size_t c) {
        LargeEntry entries[kMost];
        std::uint32_t least = ~0u, most = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            const std::uint32_t code = row_[i][column];
            entries[i] = LargeEntry(code) << kLargeBits | tag_[i];
            least = std::min(least, code);
            most = std::max(most, code);
        }
        const LargeEntry* sorted = sort_(entries, n_, least, most);
        for (std::size_t i = 0; i < n_; ++i)
            abreast_.put(i, c, Tagged::code_of(sorted[i]), std::uint32_t(sorted[i]));
    }

    const RowCodes<Code> codes_;
    const std::vector<Column>& columns_;
    bool every_, ranks_ = true;
    Abreast<Bag> abreast_;
    EntrySort sort_;
    std::size_t n_ = 0;
    AbreastLeast least_{};
    const Code* row_[kMost];
    std::uint32_t tag_[kMost];
    std::uint32_t place_[kCounted];
};

}  // namespace ceiba::forest
