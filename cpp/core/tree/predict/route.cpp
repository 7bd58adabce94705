// Implementation of routing and of the checks of packed trees (route.hpp).
#include "tree/predict/route.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "common/parallel.hpp"
#include "tree/predict/interleaved_walk.hpp"

namespace ceiba::tree {
namespace {

template <typename T>
T at(const AnyColumn& column, std::size_t row) {
    return static_cast<const T*>(column.data)[std::ptrdiff_t(row) * column.stride];
}

std::int32_t real_branch(const PackedNode& node, double x) {
    if (x != x) return std::int32_t(node.missing_branch());
    return !(x <= std::bit_cast<double>(node.bits));
}

double real_at(const AnyColumn& column, std::size_t row) {
    return column.type == Type::kDouble ? at<double>(column, row) : double(at<float>(column, row));
}

// Whether a float is above an integer threshold, which may be one half higher. Exact: up to 2^52 in
// size the threshold is a float, beyond that all floats are whole numbers.
template <typename T>
bool is_above(double x, T threshold, bool half) {
    constexpr double kLimit = 0x1p52;
    // The largest integer separates known values from missing ones.
    if (threshold == std::numeric_limits<T>::max()) return false;
    const auto rounded = double(threshold);
    if (std::abs(rounded) <= kLimit) return x > rounded + (half ? 0.5 : 0.0);
    // 2^63 or 2^64: the first float above all integers of the type.
    if (x >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return true;
    return x >= double(std::numeric_limits<T>::min()) && T(x) > threshold;
}

// Branch of a float at a threshold of an integer column.
template <typename T>
std::int32_t integer_branch(const PackedNode& node, double x) {
    if (x != x) return std::int32_t(node.missing_branch());
    return is_above(x, T(node.bits), node.has_half());
}

// Number of a node's thresholds for which `below` holds, which are the first ones.
template <typename Below>
std::int32_t count_thresholds(const std::uint64_t* words, const Below& below) {
    const std::uint64_t *first = words + 1, *last = first + std::uint32_t(*words);
    return std::int32_t(std::partition_point(first, last, below) - first);
}

// Number of a node's thresholds below a value.
template <typename T>
std::int32_t interval_of(const std::uint64_t* words, T value) {
    return count_thresholds(
        words, [&](const std::uint64_t& word) { return value > std::bit_cast<T>(word); });
}

// Number of a node's thresholds of an integer column below a float.
template <typename T>
std::int32_t integer_interval_of(const std::uint64_t* words, bool has_halves, double x) {
    const std::uint64_t *first = words + 1, *halves = first + std::uint32_t(*words);
    return count_thresholds(words, [&](const std::uint64_t& word) {
        const auto i = std::size_t(&word - first);
        return is_above(x, T(word), has_halves && halves[i / 64] >> i % 64 & 1);
    });
}

std::int32_t interval_branch(const TreeView& tree, const PackedNode& node, const AnyColumn& column,
                             std::size_t row) {
    const std::uint64_t* words = tree.words + node.bits;
    const auto missing_branch = std::int32_t(*words >> 32);
    if (column.missing_mask != nullptr && column.missing_mask[row]) return missing_branch;
    switch (column.type) {
        case Type::kInt:
            return interval_of(words, at<std::int64_t>(column, row));
        case Type::kUnsigned:
            return interval_of(words, at<std::uint64_t>(column, row));
        case Type::kOrdinal: {
            const auto category = at<std::int32_t>(column, row);
            return category < 0 ? missing_branch : interval_of(words, std::int64_t(category));
        }
        default:
            break;
    }
    const double x = real_at(column, row);
    if (x != x) return missing_branch;
    if (column.model_type == Type::kInt)
        return integer_interval_of<std::int64_t>(words, node.has_half(), x);
    if (column.model_type == Type::kUnsigned)
        return integer_interval_of<std::uint64_t>(words, node.has_half(), x);
    return interval_of(words, x);
}

}  // namespace

bool is_missing(const AnyColumn& column, std::size_t row) {
    switch (column.type) {
        case Type::kDouble:
            return at<double>(column, row) != at<double>(column, row);
        case Type::kFloat:
            return at<float>(column, row) != at<float>(column, row);
        case Type::kInt:
        case Type::kUnsigned:
            return column.missing_mask != nullptr && column.missing_mask[row];
        default:
            return at<std::int32_t>(column, row) < 0;
    }
}

std::int32_t branch_of(const TreeView& tree, const PackedNode& node, const AnyColumn& column,
                       std::size_t row) {
    const auto missing_branch = std::int32_t(node.missing_branch());
    switch (node.kind()) {
        case Test::kReal:
            if (column.type == Type::kDouble) return real_branch(node, at<double>(column, row));
            return real_branch(node, at<float>(column, row));
        case Test::kInt:
            if (column.missing_mask != nullptr && column.missing_mask[row]) return missing_branch;
            if (is_real(column.type))
                return integer_branch<std::int64_t>(node, real_at(column, row));
            return at<std::int64_t>(column, row) > std::int64_t(node.bits);
        case Test::kUnsigned:
            if (column.missing_mask != nullptr && column.missing_mask[row]) return missing_branch;
            if (is_real(column.type))
                return integer_branch<std::uint64_t>(node, real_at(column, row));
            return at<std::uint64_t>(column, row) > node.bits;
        case Test::kIntervals:
            return interval_branch(tree, node, column, row);
        default:
            break;
    }
    const auto category = at<std::int32_t>(column, row);
    // The branch of missing values (code -1) precedes those of the categories.
    if (node.kind() == Test::kTable) return tree.tables[node.bits + std::size_t(category + 1)];
    if (category < 0) return missing_branch;
    if (node.kind() == Test::kOrdinal) return std::int64_t(category) > std::int64_t(node.bits);
    if (node.kind() == Test::kMask) return !(node.bits >> category & 1);
    return !(tree.words[node.bits + std::size_t(category) / 64] >> category % 64 & 1);
}

template <typename T>
void route_matrix(const TreeView& tree, const T* rows, std::size_t n, std::size_t width,
                  std::int32_t* leaf, int threads) {
    constexpr std::size_t kBlock = 4096;  // rows between two checks for an interrupt
    const Segments parts = segments(n, kBlock);
    for_segments(parts, threads_for(20.0 * double(n), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     for (std::size_t i = parts.begin(s); i < parts.end(s); i += kBlock) {
                         if (interrupt.stopped(thread)) return;
                         const std::size_t m = std::min(kBlock, parts.end(s) - i);
                         const T* first = rows + i * width;
                         walk_interleaved(
                             tree.nodes, m, [&](std::size_t r) { return first + r * width; },
                             next_of_real_row<T>, leaf + i);
                     }
                 });
}

void route_columns(const TreeView& tree, const std::vector<AnyColumn>& columns, std::size_t n,
                   std::int32_t* leaf, int threads) {
    const Segments parts = segments(n, 1024);
    for_segments(parts, threads_for(40.0 * double(n), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i) {
                         if ((i - parts.begin(s)) % 1024 == 0 && interrupt.stopped(thread)) return;
                         std::int32_t at = 0;
                         while (tree.nodes[at].kind() != Test::kLeaf) {
                             const PackedNode& node = tree.nodes[at];
                             at = node.child + branch_of(tree, node, columns[node.column()], i);
                         }
                         leaf[i] = at;
                     }
                 });
}

bool test_fits_type(const PackedNode& node, Type type) {
    if (node.has_half() && type != Type::kInt && type != Type::kUnsigned) return false;
    switch (node.kind()) {
        case Test::kReal:
            return type == Type::kDouble || type == Type::kFloat;
        case Test::kInt:
            return type == Type::kInt;
        case Test::kUnsigned:
            return type == Type::kUnsigned;
        case Test::kOrdinal:
            return type == Type::kOrdinal;
        case Test::kMask:
        case Test::kWords:
        case Test::kTable:
            return type == Type::kNominal;
        case Test::kIntervals:
            return type != Type::kNominal;
        default:
            return false;
    }
}

namespace {

// Number of branches of a node; 0 if its categories or thresholds exceed the arrays.
std::size_t expected_branches(const TreeView& tree, const PackedNode& node,
                              std::size_t n_categories) {
    const std::size_t two = std::max<std::size_t>(2, node.missing_branch() + 1);
    if (node.kind() == Test::kMask) return n_categories <= 64 ? two : 0;
    if (node.kind() == Test::kWords) {
        const std::size_t need = (n_categories + 63) / 64;
        return need <= tree.n_words && node.bits <= tree.n_words - need ? two : 0;
    }
    if (node.kind() == Test::kIntervals) {
        if (node.bits >= tree.n_words) return 0;
        const std::uint64_t n = std::uint32_t(tree.words[node.bits]);
        const std::uint64_t n_halves = node.has_half() ? (n + 63) / 64 : 0;
        if (n == 0 || n + n_halves > tree.n_words - node.bits - 1) return 0;
        return std::max<std::size_t>(n + 1, (tree.words[node.bits] >> 32) + 1);
    }
    if (node.kind() != Test::kTable) return two;
    if (n_categories + 1 > tree.n_tables || node.bits > tree.n_tables - n_categories - 1) return 0;
    const std::int32_t* first = tree.tables + node.bits;
    const auto [lowest, highest] = std::minmax_element(first, first + n_categories + 1);
    return *lowest < 0 ? 0 : std::size_t(*highest) + 1;
}

}  // namespace

const char* tree_defect(const TreeView& tree, const std::vector<Type>& types,
                        const std::vector<std::uint32_t>& n_categories, bool leaf_flags) {
    if (tree.count == 0) return "a tree must have at least one node, got 0.";
    std::vector<bool> has_parent(tree.count, false);
    std::size_t children = 0;
    for (std::size_t i = 0; i < tree.count; ++i) {
        const PackedNode& node = tree.nodes[i];
        if (node.kind() == Test::kLeaf) {
            if (node.column() != 0 || node.has_half() ||
                (node.missing_branch() != 0 && !leaf_flags))
                return "a leaf must not have a test.";
            continue;
        }
        if (node.column() >= types.size())
            return "the column of a node must be less than the number of columns.";
        if (!test_fits_type(node, types[node.column()]))
            return "the test of a node must match the type of its column.";
        const std::size_t n_branches = expected_branches(tree, node, n_categories[node.column()]);
        if (n_branches == 0)
            return "the categories or thresholds of a node must lie within the arrays of the tree.";
        // Branches follow their node, so that every path ends.
        if (node.child < 0 || std::size_t(node.child) <= i ||
            std::size_t(node.child) + n_branches > tree.count)
            return "the branches of a node must follow it within the tree.";
        children += n_branches;
        for (std::size_t b = 0; b < n_branches; ++b) has_parent[std::size_t(node.child) + b] = true;
    }
    if (children + 1 != tree.count ||
        std::count(has_parent.begin(), has_parent.end(), true) + 1 != std::ptrdiff_t(tree.count))
        return "every node except the root must be a branch of exactly one node.";
    return nullptr;
}

template void route_matrix(const TreeView&, const double*, std::size_t, std::size_t, std::int32_t*,
                           int);
template void route_matrix(const TreeView&, const float*, std::size_t, std::size_t, std::int32_t*,
                           int);

}  // namespace ceiba::tree
