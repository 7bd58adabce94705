// The tree engine: the way of rows through a finished tree.
#include "tree_table.hpp"

namespace ceiba::bindings {
namespace {

std::string check_tree(Array2<const std::uint64_t> nodes, Array1<const std::uint64_t> words,
                       Array1<const std::int32_t> tables, const std::vector<std::uint8_t>& types,
                       const std::vector<std::uint32_t>& levels) {
    require(types.size() == levels.size(), "types and levels must be told of every column");
    const char* wrong = complaint(tree_view(nodes, words, tables), checked_types(types), levels);
    return wrong == nullptr ? "" : wrong;
}

template <typename T>
void bind_matrix(nb::module_& module) {
    module.def(
        "tree_route_matrix",
        [](Array2<const std::uint64_t> nodes, Array1<const std::uint64_t> words,
           Array1<const std::int32_t> tables, Array2<const T> X, std::size_t width,
           Array1<std::int32_t> leaf, int threads) {
            require(leaf.shape(0) == X.shape(0), "leaves must be as many as rows");
            require(X.shape(1) == width, "X must have the columns that the tree was checked for");
            checked_threads(threads);
            const TreeView tree = tree_view(nodes, words, tables);
            without_gil([&] {
                route_matrix(tree, X.data(), X.shape(0), X.shape(1), leaf.data(), threads);
            });
        },
        "nodes"_a.noconvert(), "words"_a.noconvert(), "tables"_a.noconvert(), "X"_a.noconvert(),
        "width"_a, "leaf"_a.noconvert(), "threads"_a,
        "The leaf of every row of floats, in a tree that tree_check has passed for them.");
}

void route_any(Array2<const std::uint64_t> nodes, Array1<const std::uint64_t> words,
               Array1<const std::int32_t> tables, const std::vector<Any1>& arrays,
               const std::vector<Maybe1<const bool>>& gaps, const std::vector<std::uint8_t>& types,
               const std::vector<std::uint32_t>& levels, Array1<std::int32_t> leaf, int threads) {
    const Table table = table_of(arrays, gaps, types, levels);
    require(leaf.shape(0) == table.rows, "leaves must be as many as rows");
    checked_threads(threads);
    const TreeView tree = tree_view(nodes, words, tables);
    without_gil([&] { route_columns(tree, table.columns, table.rows, leaf.data(), threads); });
}

}  // namespace

void bind_tree_routing(nb::module_& module) {
    module.def("tree_check", &check_tree, "nodes"_a.noconvert(), "words"_a.noconvert(),
               "tables"_a.noconvert(), "types"_a, "levels"_a,
               "What is wrong with a tree for rows of such columns; empty where nothing is.");
    bind_matrix<double>(module);
    bind_matrix<float>(module);
    module.def("tree_route_columns", &route_any, "nodes"_a.noconvert(), "words"_a.noconvert(),
               "tables"_a.noconvert(), "arrays"_a, "gaps"_a, "types"_a, "levels"_a,
               "leaf"_a.noconvert(), "threads"_a,
               "The leaf of every row of columns, in a tree that tree_check has passed for them.");
}

}  // namespace ceiba::bindings
