// Routing of rows through a packed tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/predict/packed_tree.hpp"

namespace ceiba::tree {

// One column of the rows, in its original type.
struct AnyColumn {
    Type type = Type::kDouble;
    const void* data = nullptr;  // int32 codes for ordinal and nominal columns
    std::ptrdiff_t stride = 1;   // in elements
    const std::uint8_t* missing_mask =
        nullptr;                      // of integers; a missing float is NaN, a missing code -1
    std::uint32_t n_categories = 0;   // of ordinal and nominal columns
    Type model_type = Type::kDouble;  // an integer type where floats replace integers
};

struct TreeView {
    const PackedNode* nodes = nullptr;
    std::size_t count = 0;
    const std::uint64_t* words = nullptr;
    std::size_t n_words = 0;
    const std::int32_t* tables = nullptr;
    std::size_t n_tables = 0;
};

// Branch of a row at a node, and whether its value is missing. An integer column may be stored as
// floats.
std::int32_t branch_of(const TreeView& tree, const PackedNode& node, const AnyColumn& column,
                       std::size_t row);
bool is_missing(const AnyColumn& column, std::size_t row);
bool test_fits_type(const PackedNode& node, Type type);
inline bool is_real(Type type) { return type <= Type::kFloat; }

// Check that every row reaches a leaf and reads nothing beyond the arrays, since a tree may come
// from a file. `n_categories` of every column, 0 for numbers; with `leaf_flags` (forests) leaves
// store flags in place of a branch for missing values. Returns an error message, or null.
const char* tree_defect(const TreeView& tree, const std::vector<Type>& types,
                        const std::vector<std::uint32_t>& n_categories, bool leaf_flags = false);

// Find the leaf of every row. A row-major matrix of floats has a faster path.
template <typename T>
void route_matrix(const TreeView& tree, const T* rows, std::size_t n, std::size_t width,
                  std::int32_t* leaf, int threads);
void route_columns(const TreeView& tree, const std::vector<AnyColumn>& columns, std::size_t n,
                   std::int32_t* leaf, int threads);

}  // namespace ceiba::tree
