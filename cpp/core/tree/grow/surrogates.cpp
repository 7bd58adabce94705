// Search for surrogate splits (surrogates.hpp).
#include "tree/grow/surrogates.hpp"

#include <algorithm>
#include <numeric>

namespace ceiba::tree {
namespace {

std::uint32_t code_of(LargeEntry entry) { return std::uint32_t(entry >> kLargeBits); }
std::size_t position_of(LargeEntry entry) { return std::size_t(std::uint32_t(entry)); }

// Min number of rows on each side of a surrogate's threshold.
constexpr std::size_t kMinRows = 2;

// Weight that goes to each branch, among rows known in both columns.
struct RoutedWeights {
    Number weight[2] = {0, 0};
    std::size_t rows = 0;

    void add(const RoutedRows& from, std::size_t position) {
        weight[std::size_t(from.branch[position])] += from.weight_of(position);
        ++rows;
    }
};

Agreement best_categories(const Column& column, std::span<const LargeEntry> known,
                          const RoutedRows& rows) {
    Agreement found;
    found.category_branches.assign(column.n_codes, -1);
    RoutedWeights all;
    for (const LargeEntry entry : known) all.add(rows, position_of(entry));
    const std::int32_t heavier = all.weight[1] > all.weight[0];
    for (std::size_t i = 0; i < known.size();) {
        const std::uint32_t code = code_of(known[i]);
        RoutedWeights category;
        for (; i < known.size() && code_of(known[i]) == code; ++i)
            category.add(rows, position_of(known[i]));
        // A category with equal weights follows the heavier branch.
        const std::int32_t branch = category.weight[0] == category.weight[1]
                                        ? heavier
                                        : category.weight[1] > category.weight[0];
        found.category_branches[code] = branch;
        found.agreeing_weight += category.weight[branch];
    }
    return found;
}

Agreement best_threshold(std::span<const LargeEntry> known, const RoutedRows& rows) {
    Agreement found;
    RoutedWeights left, all;
    for (const LargeEntry entry : known) all.add(rows, position_of(entry));
    for (std::size_t i = 0; i + 1 < known.size(); ++i) {
        left.add(rows, position_of(known[i]));
        const std::uint32_t code = code_of(known[i]), next = code_of(known[i + 1]);
        if (code == next || left.rows < kMinRows || all.rows - left.rows < kMinRows) continue;
        const Number same = left.weight[0] + all.weight[1] - left.weight[1];
        const Number other = left.weight[1] + all.weight[0] - left.weight[0];
        if (std::max(same, other) <= found.agreeing_weight) continue;
        found.agreeing_weight = std::max(same, other);
        found.split.threshold_code = code;
        found.split.next_code = next;
        found.split.flipped = other > same;
    }
    return found;
}

}  // namespace

RoutedRows::RoutedRows(std::span<const std::int32_t> branch, std::span<const Number> weight,
                       std::size_t n_branches)
    : branch(branch), weight(weight), weights(n_branches, 0) {
    for (std::size_t i = 0; i < branch.size(); ++i)
        if (branch[i] >= 0) weights[std::size_t(branch[i])] += weight_of(i);
    known = std::accumulate(weights.begin(), weights.end(), Number(0));
}

std::int32_t RoutedRows::heaviest() const {
    return std::int32_t(std::max_element(weights.begin(), weights.end()) - weights.begin());
}

std::int32_t Agreement::branch(std::uint32_t code, std::uint32_t missing_code) const {
    if (code == missing_code) return -1;
    if (!category_branches.empty()) return category_branches[code];
    return std::int32_t(code > split.threshold_code) ^ split.flipped;
}

void Agreement::record(TreeBuilder& builder, std::size_t node) const {
    Surrogate surrogate = split;
    surrogate.node = std::int32_t(node);
    if (!category_branches.empty()) {
        surrogate.table = std::int64_t(builder.tables.size());
        builder.tables.insert(builder.tables.end(), category_branches.begin(),
                              category_branches.end());
    }
    builder.surrogates.push_back(surrogate);
}

Agreement best_agreement(const Column& column, std::span<const LargeEntry> sorted,
                         const RoutedRows& rows) {
    std::vector<LargeEntry> known;
    for (const LargeEntry entry : sorted)
        if (code_of(entry) != column.missing_code() && rows.branch[position_of(entry)] >= 0)
            known.push_back(entry);
    Agreement found =
        column.nominal ? best_categories(column, known, rows) : best_threshold(known, rows);
    // The threshold must separate all rows of the node, including those that the surrogate will
    // route.
    for (const LargeEntry entry : sorted) {
        const std::uint32_t code = code_of(entry);
        if (code <= found.split.threshold_code) continue;
        found.split.next_code = std::min(found.split.next_code, code);
        break;
    }
    found.split.column = std::int32_t(column.index);
    found.split.agreement = double(found.agreeing_weight) / double(rows.known);
    found.split.adjusted = double(found.agreeing_weight - rows.majority()) /
                           double(std::max<Number>(1, rows.known - rows.majority()));
    return found;
}

}  // namespace ceiba::tree
