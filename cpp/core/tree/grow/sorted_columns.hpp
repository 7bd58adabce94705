// Columns of a small node, each sorted once; splits partition their entries and keep the order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/encode/columns.hpp"
#include "tree/encode/radix_sort.hpp"
#include "tree/split/candidate.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::tree {

// Larger codes do not fit beside a position: the column is ranked anew within the node.
constexpr std::uint32_t kMaxSmallCode = 0xFFFF;

template <typename Code>
class SortedColumns {
  public:
    explicit SortedColumns(const Columns<Code>& columns)
        : columns_(columns), ranks_(columns.count()) {}

    // Sort the rows, which are indices in the table, by every column.
    void sort(std::span<const std::uint32_t> rows) {
        rows_ = rows;
        entries_.resize(columns_.count() * rows.size());
        for (std::size_t j = 0; j < columns_.count(); ++j) is_ranked(j) ? rank(j) : sort(j);
    }

    // Entries (code or rank, position in the rows) of a column.
    SmallEntry* entries(std::size_t j) { return entries_.data() + j * rows_.size(); }
    static std::size_t position_of(SmallEntry entry) { return entry & kMaxSmallCode; }
    bool varies(std::size_t j) {
        return entries(j)[0] >> kSmallBits != entries(j)[rows_.size() - 1] >> kSmallBits;
    }

    // Code of missing values in the entries.
    std::uint32_t missing_code(std::size_t j) const {
        return is_ranked(j) ? kMaxSmallCode : columns_.columns[j].missing_code();
    }
    // Code of an entry in the table.
    std::uint32_t code_of(std::size_t j, SmallEntry entry) const {
        const std::uint32_t code = entry >> kSmallBits;
        if (!is_ranked(j)) return code;
        return code == kMaxSmallCode ? columns_.columns[j].missing_code() : ranks_[j].code[code];
    }
    // The column with the values of its ranks.
    Column column(std::size_t j) const {
        Column own = columns_.columns[j];
        if (own.values != nullptr && is_ranked(j)) own.values = ranks_[j].values.data();
        if (own.distances != nullptr && is_ranked(j)) own.distances = ranks_[j].distances.data();
        return own;
    }
    // Replace the ranks of a split by the codes of the table.
    void restore_codes(std::size_t j, Candidate& best) const {
        if (!best.found() || !is_ranked(j)) return;
        const std::vector<std::uint32_t>& code = ranks_[j].code;
        best.threshold_code = code[best.threshold_code];
        best.next_code = code[best.next_code];
        for (auto& [below, above] : best.thresholds) {
            below = code[below];
            above = code[above];
        }
    }

  private:
    struct Ranks {
        std::vector<std::uint32_t> code;
        std::vector<double> values;
        std::vector<std::uint64_t> distances;
    };

    bool is_ranked(std::size_t j) const { return columns_.columns[j].n_codes >= kMaxSmallCode; }

    void sort(std::size_t j) {
        const std::size_t n = rows_.size();
        const Code* codes = columns_.column(j);
        const std::uint32_t n_codes = columns_.columns[j].n_codes;
        SmallEntry* out = entries(j);
        if (n_codes >= 4 * n + 256) {
            small_.resize(2 * n);
            for (std::size_t i = 0; i < n; ++i)
                small_[i] = SmallEntry(codes[rows_[i]]) << kSmallBits | SmallEntry(i);
            const SmallEntry* sorted = radix_sort(small_.data(), small_.data() + n, n, kSmallBits,
                                                  kSmallBits + bits_of(n_codes));
            std::copy_n(sorted, n, out);
            return;
        }
        // Counting sort, with one counter per code.
        counts_.assign(n_codes + 2, 0);
        for (std::size_t i = 0; i < n; ++i) ++counts_[std::size_t(codes[rows_[i]]) + 1];
        for (std::size_t c = 1; c < counts_.size(); ++c) counts_[c] += counts_[c - 1];
        for (std::size_t i = 0; i < n; ++i) {
            const Code code = codes[rows_[i]];
            out[counts_[code]++] = SmallEntry(code) << kSmallBits | SmallEntry(i);
        }
    }

    // Replace codes that do not fit beside a position by their ranks.
    void rank(std::size_t j) {
        const std::size_t n = rows_.size();
        const Column& column = columns_.columns[j];
        const Code* codes = columns_.column(j);
        large_.resize(2 * n);
        for (std::size_t i = 0; i < n; ++i)
            large_[i] = LargeEntry(codes[rows_[i]]) << kSmallBits | LargeEntry(i);
        const LargeEntry* sorted = radix_sort(large_.data(), large_.data() + n, n, kSmallBits,
                                              kSmallBits + bits_of(column.missing_code()));
        SmallEntry* out = entries(j);
        Ranks& ranks = ranks_[j];
        ranks.code.clear();
        for (std::size_t i = 0; i < n; ++i) {
            const auto code = std::uint32_t(sorted[i] >> kSmallBits);
            const bool missing = code == column.missing_code();
            if (!missing && (ranks.code.empty() || ranks.code.back() != code))
                ranks.code.push_back(code);
            const SmallEntry small = missing ? kMaxSmallCode : SmallEntry(ranks.code.size() - 1);
            out[i] = small << kSmallBits | SmallEntry(sorted[i] & kMaxSmallCode);
        }
        ranks.values.clear();
        ranks.distances.clear();
        for (const std::uint32_t code : ranks.code) {
            if (column.values != nullptr) ranks.values.push_back(column.values[code]);
            if (column.distances != nullptr) ranks.distances.push_back(column.distances[code]);
        }
    }

    const Columns<Code>& columns_;
    std::span<const std::uint32_t> rows_;
    std::vector<SmallEntry> entries_, small_;
    std::vector<LargeEntry> large_;
    std::vector<std::uint32_t> counts_;
    std::vector<Ranks> ranks_;
};

}  // namespace ceiba::tree
