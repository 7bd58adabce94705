#include "tree/surrogates.hpp"

#include <algorithm>

namespace ceiba::tree {
namespace {

std::uint32_t code_of(LargeEntry entry) { return std::uint32_t(entry >> kLargeBits); }
std::size_t place_of(LargeEntry entry) { return std::size_t(std::uint32_t(entry)); }

// Fewer rows on a side of a cut tell nothing about the others.
constexpr std::size_t kLeastRows = 2;

// Rows known in both columns: `weight[b]` goes to branch b.
struct Sent {
    Number weight[2] = {0, 0};
    std::size_t rows = 0;

    void add(const SentRows& from, std::size_t place) {
        weight[std::size_t(from.branch[place])] += from.weight_of(place);
        ++rows;
    }
};

Agreement best_levels(const Column& column, std::span<const LargeEntry> known,
                      const SentRows& rows) {
    Agreement found;
    found.levels.assign(column.n_codes, -1);
    Sent all;
    for (const LargeEntry entry : known) all.add(rows, place_of(entry));
    const std::int32_t heavier = all.weight[1] > all.weight[0];
    for (std::size_t i = 0; i < known.size();) {
        const std::uint32_t code = code_of(known[i]);
        Sent here;
        for (; i < known.size() && code_of(known[i]) == code; ++i)
            here.add(rows, place_of(known[i]));
        // A level that says nothing goes with most.
        const std::int32_t branch =
            here.weight[0] == here.weight[1] ? heavier : here.weight[1] > here.weight[0];
        found.levels[code] = branch;
        found.right += here.weight[branch];
    }
    return found;
}

Agreement best_cut(std::span<const LargeEntry> known, const SentRows& rows) {
    Agreement found;
    Sent left, all;
    for (const LargeEntry entry : known) all.add(rows, place_of(entry));
    for (std::size_t i = 0; i + 1 < known.size(); ++i) {
        left.add(rows, place_of(known[i]));
        const std::uint32_t code = code_of(known[i]), next = code_of(known[i + 1]);
        if (code == next || left.rows < kLeastRows || all.rows - left.rows < kLeastRows) continue;
        const Number same = left.weight[0] + all.weight[1] - left.weight[1];
        const Number other = left.weight[1] + all.weight[0] - left.weight[0];
        if (std::max(same, other) <= found.right) continue;
        found.right = std::max(same, other);
        found.split.cut = code;
        found.split.next = next;
        found.split.flipped = other > same;
    }
    return found;
}

}  // namespace

Agreement best_agreement(const Column& column, std::span<const LargeEntry> sorted,
                         const SentRows& rows) {
    std::vector<LargeEntry> known;
    for (const LargeEntry entry : sorted)
        if (code_of(entry) != column.gap() && rows.branch[place_of(entry)] >= 0)
            known.push_back(entry);
    Agreement found = column.nominal ? best_levels(column, known, rows) : best_cut(known, rows);
    // The cut is to part all rows of the node, those that it will be asked about included.
    for (const LargeEntry entry : sorted) {
        const std::uint32_t code = code_of(entry);
        if (code <= found.split.cut) continue;
        found.split.next = std::min(found.split.next, code);
        break;
    }
    found.split.column = std::int32_t(column.index);
    found.split.agreement = double(found.right) / double(rows.known);
    found.split.adjusted = double(found.right - rows.majority) /
                           double(std::max<Number>(1, rows.known - rows.majority));
    return found;
}

}  // namespace ceiba::tree
