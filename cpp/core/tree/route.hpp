// The way of rows through a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/packed.hpp"

namespace ceiba::tree {

// One column of the rows, in the type in which it came.
struct AnyColumn {
    Type type = Type::kDouble;
    const void* data = nullptr;          // int32 codes for ordinal and nominal columns
    std::ptrdiff_t stride = 1;           // in elements
    const std::uint8_t* gaps = nullptr;  // mask of whole numbers; floats say NaN, codes -1
    std::uint32_t levels = 0;            // of ordinal and nominal columns
};

struct TreeView {
    const PackedNode* nodes = nullptr;
    std::size_t count = 0;
    const std::uint64_t* words = nullptr;
    std::size_t n_words = 0;
    const std::int32_t* tables = nullptr;
    std::size_t n_tables = 0;
};

// The branch that a row takes at a node, and whether it has no value there.
std::int32_t branch_of(const TreeView& tree, const PackedNode& node, const AnyColumn& column,
                       std::size_t row);
bool is_gap(const AnyColumn& column, std::size_t row);
bool fits(Test kind, Type type);

// Whether every row ends in a leaf and reads nothing beyond the arrays: a tree may come from a
// file. `levels` of every column, 0 for numbers; leaves of forests have `flags` in the place of a
// branch for gaps. Returns what is wrong, or null.
const char* complaint(const TreeView& tree, const std::vector<Type>& types,
                      const std::vector<std::uint32_t>& levels, bool flags = false);

// The leaf of every row. A matrix of floats, row after row, has its own way.
template <typename T>
void route_matrix(const TreeView& tree, const T* rows, std::size_t n, std::size_t width,
                  std::int32_t* leaf, int threads);
void route_columns(const TreeView& tree, const std::vector<AnyColumn>& columns, std::size_t n,
                   std::int32_t* leaf, int threads);

}  // namespace ceiba::tree
