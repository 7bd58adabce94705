#include "tree/route.hpp"

#include <algorithm>
#include <bit>

#include "parallel.hpp"
#include "tree/abreast.hpp"

namespace ceiba::tree {
namespace {

template <typename T>
T at(const AnyColumn& column, std::size_t row) {
    return static_cast<const T*>(column.data)[std::ptrdiff_t(row) * column.stride];
}

std::int32_t real_branch(const PackedNode& node, double x) {
    if (x != x) return std::int32_t(node.gap());
    return !(x <= std::bit_cast<double>(node.cut));
}

// How many of a node's thresholds lie below a value.
template <typename T>
std::int32_t interval_of(const std::uint64_t* words, T value) {
    const std::uint64_t *first = words + 1, *last = first + std::uint32_t(*words);
    const auto below = [&](std::uint64_t word) { return value > std::bit_cast<T>(word); };
    return std::int32_t(std::partition_point(first, last, below) - first);
}

std::int32_t interval_branch(const std::uint64_t* words, const AnyColumn& column, std::size_t row) {
    const auto gap = std::int32_t(*words >> 32);
    if (column.gaps != nullptr && column.gaps[row]) return gap;
    switch (column.type) {
        case Type::kInt:
            return interval_of(words, at<std::int64_t>(column, row));
        case Type::kUnsigned:
            return interval_of(words, at<std::uint64_t>(column, row));
        case Type::kOrdinal: {
            const auto level = at<std::int32_t>(column, row);
            return level < 0 ? gap : interval_of(words, std::int64_t(level));
        }
        default:
            break;
    }
    const double x =
        column.type == Type::kDouble ? at<double>(column, row) : double(at<float>(column, row));
    return x != x ? gap : interval_of(words, x);
}

}  // namespace

bool is_gap(const AnyColumn& column, std::size_t row) {
    switch (column.type) {
        case Type::kDouble:
            return at<double>(column, row) != at<double>(column, row);
        case Type::kFloat:
            return at<float>(column, row) != at<float>(column, row);
        case Type::kInt:
        case Type::kUnsigned:
            return column.gaps != nullptr && column.gaps[row];
        default:
            return at<std::int32_t>(column, row) < 0;
    }
}

std::int32_t branch_of(const TreeView& tree, const PackedNode& node, const AnyColumn& column,
                       std::size_t row) {
    const auto gap = std::int32_t(node.gap());
    switch (node.kind()) {
        case Test::kReal:
            if (column.type == Type::kDouble) return real_branch(node, at<double>(column, row));
            return real_branch(node, at<float>(column, row));
        case Test::kInt:
            if (column.gaps != nullptr && column.gaps[row]) return gap;
            return at<std::int64_t>(column, row) > std::int64_t(node.cut);
        case Test::kUnsigned:
            if (column.gaps != nullptr && column.gaps[row]) return gap;
            return at<std::uint64_t>(column, row) > node.cut;
        case Test::kIntervals:
            return interval_branch(tree.words + node.cut, column, row);
        default:
            break;
    }
    const auto level = at<std::int32_t>(column, row);
    // The gap, -1, has its branch before those of the levels.
    if (node.kind() == Test::kTable) return tree.tables[node.cut + std::size_t(level + 1)];
    if (level < 0) return gap;
    if (node.kind() == Test::kOrdinal) return std::int64_t(level) > std::int64_t(node.cut);
    if (node.kind() == Test::kMask) return !(node.cut >> level & 1);
    return !(tree.words[node.cut + std::size_t(level) / 64] >> level % 64 & 1);
}

template <typename T>
void route_matrix(const TreeView& tree, const T* rows, std::size_t n, std::size_t width,
                  std::int32_t* leaf, int threads) {
    constexpr std::size_t kTogether = 4096;  // between two looks for an interrupt
    const Segments parts = segments(n, kTogether);
    for_segments(parts, threads_for(20.0 * double(n), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     for (std::size_t i = parts.begin(s); i < parts.end(s); i += kTogether) {
                         if (interrupt.stopped(thread)) return;
                         const std::size_t m = std::min(kTogether, parts.end(s) - i);
                         const T* first = rows + i * width;
                         walk_abreast(
                             tree.nodes, m, [&](std::size_t r) { return first + r * width; },
                             next_of_reals<T>, leaf + i);
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

bool fits(Test kind, Type type) {
    switch (kind) {
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

// Branches of a node that the arrays may be asked for; 0 where its levels lie outside of them.
std::size_t branches_of(const TreeView& tree, const PackedNode& node, std::size_t levels) {
    const std::size_t two = std::max<std::size_t>(2, node.gap() + 1);
    if (node.kind() == Test::kMask) return levels <= 64 ? two : 0;
    if (node.kind() == Test::kWords) {
        const std::size_t need = (levels + 63) / 64;
        return need <= tree.n_words && node.cut <= tree.n_words - need ? two : 0;
    }
    if (node.kind() == Test::kIntervals) {
        if (node.cut >= tree.n_words) return 0;
        const std::uint64_t n = std::uint32_t(tree.words[node.cut]);
        if (n == 0 || n > tree.n_words - node.cut - 1) return 0;
        return std::max<std::size_t>(n + 1, (tree.words[node.cut] >> 32) + 1);
    }
    if (node.kind() != Test::kTable) return two;
    if (levels + 1 > tree.n_tables || node.cut > tree.n_tables - levels - 1) return 0;
    const std::int32_t* first = tree.tables + node.cut;
    const auto [least, most] = std::minmax_element(first, first + levels + 1);
    return *least < 0 ? 0 : std::size_t(*most) + 1;
}

}  // namespace

const char* complaint(const TreeView& tree, const std::vector<Type>& types,
                      const std::vector<std::uint32_t>& levels, bool flags) {
    if (tree.count == 0) return "a tree has at least one node";
    std::vector<bool> has_parent(tree.count, false);
    std::size_t children = 0;
    for (std::size_t i = 0; i < tree.count; ++i) {
        const PackedNode& node = tree.nodes[i];
        if (node.kind() == Test::kLeaf) {
            if (node.column() != 0 || (node.gap() != 0 && !flags)) return "a leaf tests nothing";
            continue;
        }
        if (node.column() >= types.size()) return "a node tests a column that is not there";
        if (!fits(node.kind(), types[node.column()]))
            return "a node's test does not suit the type of its column";
        const std::size_t branches = branches_of(tree, node, levels[node.column()]);
        if (branches == 0) return "the levels of a node lie outside of the tree's arrays";
        // Branches stand behind their node, so that every way down has an end.
        if (node.child < 0 || std::size_t(node.child) <= i ||
            std::size_t(node.child) + branches > tree.count)
            return "the branches of a node are not where they should be";
        children += branches;
        for (std::size_t b = 0; b < branches; ++b) has_parent[std::size_t(node.child) + b] = true;
    }
    if (children + 1 != tree.count ||
        std::count(has_parent.begin(), has_parent.end(), true) + 1 != std::ptrdiff_t(tree.count))
        return "every node but the root must be the branch of one other";
    return nullptr;
}

template void route_matrix(const TreeView&, const double*, std::size_t, std::size_t, std::int32_t*,
                           int);
template void route_matrix(const TreeView&, const float*, std::size_t, std::size_t, std::int32_t*,
                           int);

}  // namespace ceiba::tree
