// Conversion of a grown tree to its packed form (packed_tree.hpp).
#include "tree/predict/packed_tree.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "tree/encode/encoding.hpp"
#include "tree/grow/split_order.hpp"

namespace ceiba::tree {
namespace {

constexpr std::size_t kMaxMaskCategories = 64;

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
    Packer(const TreeBuilder& builder, const Scales& scales)
        : builder_(builder),
          numbering_(number_nodes(builder)),
          splits_(builder, scales, tree_.words, tree_.tables) {}

    PackedTree run() {
        const std::size_t n = numbering_.order.size();
        tree_.nodes.reserve(n);
        for (std::size_t i = 0; i < n; ++i) {
            const auto node = std::size_t(numbering_.order[i]);
            add_side(node, numbering_.child[i] >= 0);
            if (numbering_.child[i] >= 0)
                tree_.nodes.push_back(splits_.split(builder_.nodes[node], numbering_.child[i]));
            else
                add_leaf(node);
        }
        if (!builder_.surrogates.empty()) add_surrogates();
        tree_.order = std::move(numbering_.order);
        return std::move(tree_);
    }

  private:
    void add_side(std::size_t node, bool split) {
        const Node& n = builder_.nodes[node];
        tree_.rows.push_back(builder_.count(node));
        tree_.weight.push_back(double(builder_.weight(node)) * builder_.config.weight_unit);
        tree_.impurity.push_back(builder_.impurity(node));
        tree_.gain.push_back(split ? n.gain : 0.0);
        tree_.runner_up.push_back(n.runner_up);
        tree_.runner_up_gain.push_back(n.runner_up_gain);
        tree_.reason.push_back(
            std::uint8_t(!split && n.reason == Reason::kSplit ? Reason::kLeaves : n.reason));
        tree_.method.push_back(std::uint8_t(split ? n.method : SearchMethod::kNone));
        tree_.ties.push_back(split ? std::int32_t(n.ties) : 0);
        tree_.depth.push_back(n.depth);
        if (builder_.config.n_classes) {
            const Number* weights = predicted_weights(node);
            for (std::int64_t k = 0; k < builder_.config.n_classes; ++k)
                tree_.value.push_back(double(weights[k]) * builder_.config.weight_unit);
        } else {
            tree_.value.push_back(leaf_value(builder_, node));
        }
    }

    void add_leaf(std::size_t node) {
        PackedNode leaf{0, -1, packed_test(0, Test::kLeaf, 0)};
        if (builder_.config.n_classes)
            leaf.child = leaf_row(node);
        else
            leaf.bits = std::bit_cast<std::uint64_t>(tree_.value.back());
        tree_.nodes.push_back(leaf);
    }

    // Leaves with equal class weights share a row.
    std::int32_t leaf_row(std::size_t node) {
        const auto k = std::size_t(builder_.config.n_classes);
        const Number* cell = predicted_weights(prediction_node(builder_, node));
        const std::string_view key(reinterpret_cast<const char*>(cell), k * sizeof(Number));
        const auto [found, is_new] = rows_.emplace(key, std::int32_t(rows_.size()));
        if (is_new) tree_.leaves.insert(tree_.leaves.end(), cell, cell + k);
        return found->second;
    }

    // Class weights from which a node predicts.
    const Number* predicted_weights(std::size_t node) {
        if (builder_.is_within_bounds(node)) return builder_.cell(node);
        bounded_.push_back(builder_.bounded_weights(node));
        return bounded_.back().data();
    }

    void add_surrogates() {
        std::vector<std::vector<const Surrogate*>> by_node(builder_.nodes.size());
        for (const Surrogate& surrogate : builder_.surrogates)
            by_node[std::size_t(surrogate.node)].push_back(&surrogate);
        tree_.first_surrogate.push_back(0);
        for (std::size_t i = 0; i < numbering_.order.size(); ++i) {
            if (numbering_.child[i] >= 0)
                for (const Surrogate* s : by_node[std::size_t(numbering_.order[i])])
                    add_surrogate(*s);
            tree_.first_surrogate.push_back(std::int64_t(tree_.surrogates.size()));
        }
    }

    void add_surrogate(const Surrogate& s) {
        tree_.surrogates.push_back(splits_.surrogate(s));
        tree_.agreement.push_back(s.agreement);
        tree_.adjusted.push_back(s.adjusted);
    }

    const TreeBuilder& builder_;
    Numbering numbering_;
    PackedTree tree_;
    SplitPacker splits_;
    std::deque<ClassPair>
        bounded_;  // weights that were moved to bounds; keys of `rows_` refer to them
    std::unordered_map<std::string_view, std::int32_t> rows_;
};

// Prediction of a node from its rows alone.
double unbounded_value(const TreeBuilder& builder, std::size_t node) {
    const Node& n = builder.nodes[node];
    if (n.min_target == n.max_target) return n.min_target;
    if (builder.config.criterion == Criterion::kAbsolute) return n.median;
    const TreeConfig& config = builder.config;
    const double mean = double(builder.cell(node)[1]) * config.target_unit /
                        (double(builder.weight(node)) * config.weight_unit);
    // Rounding in fixed point must not leave the range of the targets.
    return std::clamp(config.target_center + mean, n.min_target, n.max_target);
}

}  // namespace

// An empty node predicts what its parent would.
std::size_t prediction_node(const TreeBuilder& builder, std::size_t node) {
    const Node& n = builder.nodes[node];
    return n.reason == Reason::kEmpty ? std::size_t(n.parent) : node;
}

double leaf_value(const TreeBuilder& builder, std::size_t node) {
    if (builder.config.has_vectors()) return 0;  // leaves predict vectors, which are stored apart
    const double value = unbounded_value(builder, prediction_node(builder, node));
    const TreeConfig& config = builder.config;
    if (!config.split.has_monotonic()) return value;
    const double unit = config.target_unit / config.weight_unit;
    const Bounds& bounds = builder.nodes[node].bounds;
    return std::clamp(value, config.target_center + bounds.lower * unit,
                      config.target_center + bounds.upper * unit);
}

PackedNode SplitPacker::split(const Node& n, std::int32_t child) {
    if (n.shape == SplitShape::kThreshold) return split(ThresholdSplit::of(n, child));
    const auto column = std::size_t(n.column);
    PackedNode packed{0, child, 0};
    if (n.shape == SplitShape::kTable) {
        add_categories(n, packed);
    } else if (n.shape == SplitShape::kIntervals) {
        add_intervals(n, packed);
    } else {
        packed.bits = scales_.largest(column);
        packed.test = packed_test(column, threshold_test(scales_.types[column]), n.missing_branch);
    }
    return packed;
}

PackedNode SplitPacker::split(const ThresholdSplit& s) const {
    const auto [bits, half] = scales_.threshold(s.column, s.code, s.next_code, s.threshold);
    return {bits, s.child,
            packed_test(s.column, threshold_test(scales_.types[s.column]), s.missing_branch, half)};
}

void SplitPacker::add_intervals(const Node& n, PackedNode& packed) {
    const auto column = std::size_t(n.column);
    packed.bits = words_.size();
    const auto n_thresholds = std::size_t(builder_.n_thresholds(n));
    words_.push_back(std::uint64_t(n.missing_branch) << 32 | std::uint64_t(n_thresholds));
    std::vector<std::uint64_t> halves((n_thresholds + 63) / 64, 0);
    bool any_half = false;
    for (std::size_t i = 0; i < n_thresholds; ++i) {
        const auto [bits, half] =
            scales_.threshold(column, builder_.threshold_code(n, std::int32_t(i), false),
                              builder_.threshold_code(n, std::int32_t(i), true));
        words_.push_back(bits);
        halves[i / 64] |= std::uint64_t(half) << i % 64;
        any_half |= half;
    }
    if (any_half) words_.insert(words_.end(), halves.begin(), halves.end());
    packed.test = packed_test(column, Test::kIntervals, 0, any_half);
}

PackedNode SplitPacker::surrogate(const Surrogate& s) {
    const auto column = std::size_t(s.column);
    PackedNode packed{0, s.flipped, 0};
    if (s.table >= 0) {
        const auto first = builder_.tables.begin() + s.table;
        packed.bits = tables_.size();
        packed.test = packed_test(column, Test::kTable, 0);
        tables_.push_back(-1);
        tables_.insert(tables_.end(), first, first + std::ptrdiff_t(scales_.n_categories[column]));
    } else {
        const Threshold threshold = scales_.threshold(column, s.threshold_code, s.next_code);
        packed.bits = threshold.bits;
        packed.test = packed_test(column, threshold_test(scales_.types[column]), 0, threshold.half);
    }
    return packed;
}

std::vector<std::uint64_t> SplitPacker::with_presence(std::vector<std::uint64_t> words,
                                                      std::int64_t table,
                                                      std::size_t n_categories) const {
    const std::size_t width = words.size();
    words.resize(2 * width, 0);
    for (std::size_t category = 0; category < n_categories; ++category)
        if (builder_.tables[std::size_t(table) + category] >= 0)
            words[width + category / 64] |= std::uint64_t(1) << category % 64;
    return words;
}

// A category absent from the node goes where its missing values go.
void SplitPacker::add_categories(const Node& n, PackedNode& packed) {
    const auto column = std::size_t(n.column);
    const std::size_t n_categories = scales_.n_categories[column];
    std::vector<std::int32_t> branch(
        builder_.tables.begin() + n.table,
        builder_.tables.begin() + n.table + std::ptrdiff_t(n_categories));
    std::replace(branch.begin(), branch.end(), -1, n.missing_branch);
    // With fractional or surrogate routing, a category absent from the node is treated as missing:
    // the categories present are stored behind the branches.
    const bool presence = builder_.config.split.ignores_missing();
    if (n.n_branches > 2 || n.method == SearchMethod::kMultiway) {
        packed.bits = tables_.size();
        packed.test = packed_test(column, Test::kTable, 0);
        tables_.push_back(n.missing_branch);
        tables_.insert(tables_.end(), branch.begin(), branch.end());
        for (std::size_t category = 0; presence && category < n_categories; ++category)
            tables_.push_back(builder_.tables[std::size_t(n.table) + category] >= 0);
        return;
    }
    std::vector<std::uint64_t> words((n_categories + 63) / 64, 0);
    for (std::size_t category = 0; category < n_categories; ++category)
        if (branch[category] == 0) words[category / 64] |= std::uint64_t(1) << category % 64;
    if (presence) {
        words = with_presence(std::move(words), n.table, n_categories);
    } else if (n_categories <= kMaxMaskCategories) {
        packed.bits = words.empty() ? 0 : words[0];
        packed.test = packed_test(column, Test::kMask, n.missing_branch);
        return;
    }
    packed.bits = words_.size();
    packed.test = packed_test(column, Test::kWords, n.missing_branch);
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

// Threshold that separates a < b: `threshold_value` if it does, otherwise their midpoint.
Threshold real_threshold(std::uint64_t below, std::uint64_t above, double threshold_value) {
    const auto a = std::bit_cast<double>(below), b = std::bit_cast<double>(above);
    const bool separates = a <= threshold_value && threshold_value < b;
    const double otherwise = std::isnan(threshold_value) ? midpoint(a, b) : a;
    return {std::bit_cast<std::uint64_t>(separates ? threshold_value : otherwise)};
}

// The same for integers, in multiples of one half: `distance` from a is rounded down to one.
template <typename T>
Threshold integer_threshold(std::uint64_t below, std::uint64_t above, double distance) {
    const T a = std::bit_cast<T>(below), b = std::bit_cast<T>(above);
    if (std::isnan(distance)) return {std::uint64_t(midpoint(a, b)), odd_distance(a, b)};
    if (!(distance > 0)) return {below};
    const double whole = std::floor(distance);
    if (whole >= double(above - below)) return {above - 1};
    return {below + std::uint64_t(whole), distance - whole >= 0.5};
}

}  // namespace

Threshold Scales::threshold(std::size_t column, std::uint32_t code, std::uint32_t next_code,
                            double threshold_value) const {
    if (types[column] == Type::kOrdinal) return {code};
    if (codes == nullptr && !values) return edge(column, code);
    const std::uint64_t below = value(column, code), above = value(column, next_code);
    if (types[column] == Type::kInt)
        return integer_threshold<std::int64_t>(below, above, threshold_value);
    if (types[column] == Type::kUnsigned)
        return integer_threshold<std::uint64_t>(below, above, threshold_value);
    return real_threshold(below, above, threshold_value);
}

Threshold Scales::edge(std::size_t column, std::uint32_t code) const {
    const std::int64_t index = offsets[column] + code;
    return {bits[index], halves != nullptr && halves[index]};
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

PackedTree pack(const TreeBuilder& builder, const Scales& scales) {
    return Packer(builder, scales).run();
}

}  // namespace ceiba::tree
