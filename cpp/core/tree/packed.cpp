#include "tree/packed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "tree/coding.hpp"

namespace ceiba::tree {
namespace {

constexpr std::size_t kMaskLevels = 64;

Test threshold_test(Type type) {
    switch (type) {
        case Type::kInt:
            return Test::kInt;
        case Type::kUnsigned:
            return Test::kUnsigned;
        case Type::kOrdinal:
            return Test::kOrdinal;
        default:
            return Test::kReal;
    }
}

class Packer {
  public:
    Packer(const Growth& growth, const Scales& scales)
        : growth_(growth),
          numbering_(number(growth)),
          splits_(growth, scales, tree_.words, tree_.tables) {}

    PackedTree run() {
        const std::size_t n = numbering_.order.size();
        tree_.nodes.reserve(n);
        for (std::size_t i = 0; i < n; ++i) {
            const auto node = std::size_t(numbering_.order[i]);
            add_side(node, numbering_.child[i] >= 0);
            if (numbering_.child[i] >= 0)
                tree_.nodes.push_back(splits_.split(growth_.nodes[node], numbering_.child[i]));
            else
                add_leaf(node);
        }
        if (!growth_.surrogates.empty()) add_surrogates();
        tree_.order = std::move(numbering_.order);
        return std::move(tree_);
    }

  private:
    void add_side(std::size_t node, bool split) {
        const Node& n = growth_.nodes[node];
        tree_.rows.push_back(growth_.count(node));
        tree_.weight.push_back(double(growth_.weight(node)) * growth_.rules.weight_unit);
        tree_.impurity.push_back(growth_.impurity(node));
        tree_.gain.push_back(split ? n.gain : 0.0);
        tree_.runner_up.push_back(n.runner_up);
        tree_.runner_up_gain.push_back(n.runner_up_gain);
        tree_.reason.push_back(
            std::uint8_t(!split && n.reason == Reason::kSplit ? Reason::kLeaves : n.reason));
        tree_.method.push_back(std::uint8_t(split ? n.method : Method::kNone));
        tree_.ties.push_back(split ? std::int32_t(n.ties) : 0);
        tree_.depth.push_back(n.depth);
        if (growth_.rules.classes) {
            for (std::int64_t k = 0; k < growth_.rules.classes; ++k)
                tree_.value.push_back(double(growth_.cell(node)[k]) * growth_.rules.weight_unit);
        } else {
            tree_.value.push_back(leaf_value(growth_, node));
        }
    }

    void add_leaf(std::size_t node) {
        PackedNode leaf{0, -1, packed_test(0, Test::kLeaf, 0)};
        if (growth_.rules.classes)
            leaf.child = leaf_row(node);
        else
            leaf.cut = std::bit_cast<std::uint64_t>(tree_.value.back());
        tree_.nodes.push_back(leaf);
    }

    // Leaves with equal class weights share a row.
    std::int32_t leaf_row(std::size_t node) {
        const auto k = std::size_t(growth_.rules.classes);
        const Number* cell = growth_.cell(model_of(growth_, node));
        const std::string_view key(reinterpret_cast<const char*>(cell), k * sizeof(Number));
        const auto [found, fresh] = rows_.emplace(key, std::int32_t(rows_.size()));
        if (fresh) tree_.leaves.insert(tree_.leaves.end(), cell, cell + k);
        return found->second;
    }

    void add_surrogates() {
        std::vector<std::vector<const Surrogate*>> of(growth_.nodes.size());
        for (const Surrogate& surrogate : growth_.surrogates)
            of[std::size_t(surrogate.node)].push_back(&surrogate);
        tree_.first_surrogate.push_back(0);
        for (std::size_t i = 0; i < numbering_.order.size(); ++i) {
            if (numbering_.child[i] >= 0)
                for (const Surrogate* s : of[std::size_t(numbering_.order[i])]) add_surrogate(*s);
            tree_.first_surrogate.push_back(std::int64_t(tree_.surrogates.size()));
        }
    }

    void add_surrogate(const Surrogate& s) {
        tree_.surrogates.push_back(splits_.surrogate(s));
        tree_.agreement.push_back(s.agreement);
        tree_.adjusted.push_back(s.adjusted);
    }

    const Growth& growth_;
    Numbering numbering_;
    PackedTree tree_;
    SplitPacker splits_;
    std::unordered_map<std::string_view, std::int32_t> rows_;
};

}  // namespace

// Whose rows tell what a node predicts: its own, or, of an empty one, those of the node above.
std::size_t model_of(const Growth& growth, std::size_t node) {
    const Node& n = growth.nodes[node];
    return n.reason == Reason::kEmpty ? std::size_t(n.parent) : node;
}

double leaf_value(const Growth& growth, std::size_t own) {
    const std::size_t node = model_of(growth, own);
    const Node& n = growth.nodes[node];
    if (n.least == n.most) return n.least;
    if (growth.rules.criterion == Criterion::kAbsolute) return n.median;
    const GrowthRules& rules = growth.rules;
    const double mean = double(growth.cell(node)[1]) * rules.target_unit /
                        (double(growth.weight(node)) * rules.weight_unit);
    // Rounding of the fixed-point numbers must not leave the range of the targets.
    return std::clamp(rules.centre + mean, n.least, n.most);
}

PackedNode SplitPacker::split(const Node& n, std::int32_t child) {
    const auto column = std::size_t(n.column);
    PackedNode packed{0, child, 0};
    if (n.shape == Shape::kTable) {
        add_levels(n, packed);
    } else if (n.shape == Shape::kIntervals) {
        add_intervals(n, packed);
    } else {
        packed.cut = n.shape == Shape::kKnown ? scales_.largest(column)
                                              : scales_.threshold(column, n.cut, n.next, n.at);
        packed.test = packed_test(column, threshold_test(scales_.types[column]), n.gap);
    }
    return packed;
}

void SplitPacker::add_intervals(const Node& n, PackedNode& packed) {
    const auto column = std::size_t(n.column);
    packed.cut = words_.size();
    packed.test = packed_test(column, Test::kIntervals, 0);
    const std::int32_t cuts = growth_.n_cuts(n);
    words_.push_back(std::uint64_t(n.gap) << 32 | std::uint64_t(cuts));
    for (std::int32_t i = 0; i < cuts; ++i)
        words_.push_back(
            scales_.threshold(column, growth_.cut(n, i, false), growth_.cut(n, i, true)));
}

PackedNode SplitPacker::surrogate(const Surrogate& s) {
    const auto column = std::size_t(s.column);
    PackedNode packed{0, s.flipped, 0};
    if (s.table >= 0) {
        const auto first = growth_.tables.begin() + s.table;
        packed.cut = tables_.size();
        packed.test = packed_test(column, Test::kTable, 0);
        tables_.push_back(-1);
        tables_.insert(tables_.end(), first, first + std::ptrdiff_t(scales_.levels[column]));
    } else {
        packed.cut = scales_.threshold(column, s.cut, s.next);
        packed.test = packed_test(column, threshold_test(scales_.types[column]), 0);
    }
    return packed;
}

std::vector<std::uint64_t> SplitPacker::with_presence(std::vector<std::uint64_t> words,
                                                      std::int64_t table,
                                                      std::size_t levels) const {
    const std::size_t width = words.size();
    words.resize(2 * width, 0);
    for (std::size_t level = 0; level < levels; ++level)
        if (growth_.tables[std::size_t(table) + level] >= 0)
            words[width + level / 64] |= std::uint64_t(1) << level % 64;
    return words;
}

// A level that the node did not have goes where its gaps go.
void SplitPacker::add_levels(const Node& n, PackedNode& packed) {
    const auto column = std::size_t(n.column);
    const std::size_t levels = scales_.levels[column];
    std::vector<std::int32_t> branch(growth_.tables.begin() + n.table,
                                     growth_.tables.begin() + n.table + std::ptrdiff_t(levels));
    std::replace(branch.begin(), branch.end(), -1, n.gap);
    // Where gaps are shared or follow surrogates, a level that the node did not have is one: which
    // levels it had stands behind the branches.
    const bool presence = growth_.rules.split.ignores_gaps();
    if (n.branches > 2 || n.method == Method::kMultiway) {
        packed.cut = tables_.size();
        packed.test = packed_test(column, Test::kTable, 0);
        tables_.push_back(n.gap);
        tables_.insert(tables_.end(), branch.begin(), branch.end());
        for (std::size_t level = 0; presence && level < levels; ++level)
            tables_.push_back(growth_.tables[std::size_t(n.table) + level] >= 0);
        return;
    }
    std::vector<std::uint64_t> words((levels + 63) / 64, 0);
    for (std::size_t level = 0; level < levels; ++level)
        if (branch[level] == 0) words[level / 64] |= std::uint64_t(1) << level % 64;
    if (presence) {
        words = with_presence(std::move(words), n.table, levels);
    } else if (levels <= kMaskLevels) {
        packed.cut = words.empty() ? 0 : words[0];
        packed.test = packed_test(column, Test::kMask, n.gap);
        return;
    }
    packed.cut = words_.size();
    packed.test = packed_test(column, Test::kWords, n.gap);
    words_.insert(words_.end(), words.begin(), words.end());
}

bool Scales::has(std::size_t column, std::uint32_t code) const {
    const std::int64_t begin = offsets[column], end = offsets[column + 1];
    if (codes == nullptr) return std::int64_t(code) < end - begin;
    return std::binary_search(codes + begin, codes + end, code);
}

std::uint64_t Scales::value(std::size_t column, std::uint32_t code) const {
    const std::int64_t begin = offsets[column], end = offsets[column + 1];
    if (codes == nullptr) return bits[begin + code];
    return bits[std::lower_bound(codes + begin, codes + end, code) - codes];
}

namespace {

// A threshold that separates a < b: `at` where it does, else their middle.
template <typename T>
std::uint64_t separating(std::uint64_t below, std::uint64_t above, double at) {
    const T a = std::bit_cast<T>(below), b = std::bit_cast<T>(above);
    if constexpr (std::is_same_v<T, double>) {
        if (a <= at && at < b) return std::bit_cast<std::uint64_t>(at);
    } else if (double(a) < at && at < double(b)) {
        // Whole numbers that are not above `at` are not above its whole part.
        return std::bit_cast<std::uint64_t>(std::clamp(T(std::floor(at)), a, T(b - 1)));
    }
    return std::bit_cast<std::uint64_t>(std::isnan(at) ? between(a, b) : a);
}

}  // namespace

std::uint64_t Scales::threshold(std::size_t column, std::uint32_t cut, std::uint32_t next,
                                double at) const {
    if (types[column] == Type::kOrdinal) return cut;
    const std::uint64_t below = value(column, cut);
    if (codes == nullptr && !values) return below;
    const std::uint64_t above = value(column, next);
    if (types[column] == Type::kInt) return separating<std::int64_t>(below, above, at);
    if (types[column] == Type::kUnsigned) return separating<std::uint64_t>(below, above, at);
    return separating<double>(below, above, at);
}

std::uint64_t Scales::largest(std::size_t column) const {
    switch (types[column]) {
        case Type::kInt:
            return std::uint64_t(std::numeric_limits<std::int64_t>::max());
        case Type::kUnsigned:
            return std::numeric_limits<std::uint64_t>::max();
        case Type::kOrdinal:
            return std::uint64_t(std::numeric_limits<std::int32_t>::max());
        default:
            return std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
    }
}

PackedTree pack(const Growth& growth, const Scales& scales) { return Packer(growth, scales).run(); }

}  // namespace ceiba::tree
