// The tree engine: the ways of rows through trees whose gaps do not have one branch.
#include "tree/ways.hpp"
#include "tree_table.hpp"

namespace ceiba::bindings {
namespace {

using Nodes = Array2<const std::uint64_t>;
using Words = Array1<const std::uint64_t>;
using Branches = Array1<const std::int32_t>;

SurrogateView surrogate_view(const Nodes& splits, const Array1<const std::int64_t>& first,
                             std::size_t nodes) {
    require(splits.shape(1) == 2, "surrogates must be two words each");
    require(first.shape(0) == nodes + 1, "surrogates must be told of every node");
    return {reinterpret_cast<const PackedNode*>(splits.data()), first.data()};
}

std::string check_presence(Nodes nodes, Words words, Branches tables,
                           const std::vector<std::uint32_t>& levels) {
    const TreeView tree = tree_view(nodes, words, tables);
    for (std::size_t v = 0; v < tree.count; ++v)
        require(tree.nodes[v].column() < levels.size(), "a node tests a column that is not there");
    const char* wrong = presence_complaint(tree, levels);
    return wrong == nullptr ? "" : wrong;
}

std::string check_surrogates(Nodes nodes, Words words, Branches tables, Nodes splits,
                             Array1<const std::int64_t> first,
                             const std::vector<std::uint8_t>& types,
                             const std::vector<std::uint32_t>& levels) {
    require(types.size() == levels.size(), "types and levels must be told of every column");
    const TreeView tree = tree_view(nodes, words, tables);
    const SurrogateView surrogates = surrogate_view(splits, first, tree.count);
    const char* wrong = complaint(tree, surrogates, splits.shape(0), checked_types(types), levels);
    return wrong == nullptr ? "" : wrong;
}

void route_surrogates(Nodes nodes, Words words, Branches tables, Nodes splits,
                      Array1<const std::int64_t> first, const std::vector<Any1>& arrays,
                      const std::vector<Maybe1<const bool>>& gaps,
                      const std::vector<std::uint8_t>& types,
                      const std::vector<std::uint32_t>& levels, Array1<std::int32_t> leaf,
                      int threads) {
    const Table table = table_of(arrays, gaps, types, levels);
    require(leaf.shape(0) == table.rows, "leaves must be as many as rows");
    checked_threads(threads);
    const TreeView tree = tree_view(nodes, words, tables);
    const SurrogateView surrogates = surrogate_view(splits, first, tree.count);
    without_gil([&] {
        route_by_surrogates(tree, surrogates, table.columns, table.rows, leaf.data(), threads);
    });
}

Shares shares_of(const Array1<const double>& share, const Branches& branches,
                 const TreeView& tree) {
    require(share.shape(0) == tree.count && branches.shape(0) == tree.count,
            "shares and branches must be told of every node");
    for (std::size_t v = 0; v < tree.count; ++v) {
        require(share.data()[v] >= 0 && share.data()[v] <= 1, "a share lies between 0 and 1");
        const bool leaf = tree.nodes[v].kind() == Test::kLeaf;
        require(leaf || (branches.data()[v] >= 2 &&
                         std::size_t(tree.nodes[v].child) + std::size_t(branches.data()[v]) <=
                             tree.count),
                "the branches of a node are not where they should be");
    }
    return {share.data(), branches.data()};
}

void mean_ways(Nodes nodes, Words words, Branches tables, Array1<const double> share,
               Branches branches, const std::vector<Any1>& arrays,
               const std::vector<Maybe1<const bool>>& gaps, const std::vector<std::uint8_t>& types,
               const std::vector<std::uint32_t>& levels, Array2<const double> said, Branches row,
               Array2<double> out, int threads) {
    const Table table = table_of(arrays, gaps, types, levels);
    checked_threads(threads);
    const TreeView tree = tree_view(nodes, words, tables);
    const Shares shares = shares_of(share, branches, tree);
    require(out.shape(0) == table.rows && out.shape(1) == said.shape(1),
            "there must be room for what every row is told");
    require(row.shape(0) == tree.count, "rows of values must be told of every node");
    for (std::size_t v = 0; v < tree.count; ++v)
        require(tree.nodes[v].kind() != Test::kLeaf ||
                    (row.data()[v] >= 0 && std::size_t(row.data()[v]) < said.shape(0)),
                "a leaf's row is not there");
    const LeafValues values{said.data(), row.data(), said.shape(1)};
    without_gil([&] {
        mean_of_ways(tree, shares, table.columns, table.rows, values, out.data(), threads);
    });
}

void weigh(Nodes nodes, Words words, Branches tables, Array1<const double> share, Branches branches,
           const std::vector<Any1>& arrays, const std::vector<Maybe1<const bool>>& gaps,
           const std::vector<std::uint8_t>& types, const std::vector<std::uint32_t>& levels,
           Array2<double> out, Maybe1<const double> weight, Maybe1<const std::int32_t> label,
           Maybe1<const double> value) {
    const Table table = table_of(arrays, gaps, types, levels);
    const TreeView tree = tree_view(nodes, words, tables);
    const Shares shares = shares_of(share, branches, tree);
    constexpr const char* kLong = "weights and targets must be as many as rows";
    const double* weights = sized(weight, table.rows, kLong);
    const std::int32_t* labels = sized(label, table.rows, kLong);
    const double* values = sized(value, table.rows, kLong);
    require((labels != nullptr) != (values != nullptr), "rows have labels or values");
    require(out.shape(0) == tree.count && (labels != nullptr || out.shape(1) == 3),
            "there must be room for every node");
    for (std::size_t i = 0; labels != nullptr && i < table.rows; ++i)
        require(labels[i] >= 0 && std::size_t(labels[i]) < out.shape(1),
                "a label lies outside of the classes");
    without_gil([&] {
        weigh_ways(tree, shares, table.columns, table.rows, weights, labels, values, out.shape(1),
                   out.data());
    });
}

}  // namespace

void bind_tree_ways(nb::module_& module) {
    module.def("tree_check_presence", &check_presence, "nodes"_a.noconvert(), "words"_a.noconvert(),
               "tables"_a.noconvert(), "levels"_a,
               "What is wrong with the levels of a tree whose gaps do not have one branch.");
    module.def("tree_check_surrogates", &check_surrogates, "nodes"_a.noconvert(),
               "words"_a.noconvert(), "tables"_a.noconvert(), "surrogates"_a.noconvert(),
               "first"_a.noconvert(), "types"_a, "levels"_a,
               "What is wrong with the surrogates of a tree; empty where nothing is.");
    module.def("tree_route_surrogates", &route_surrogates, "nodes"_a.noconvert(),
               "words"_a.noconvert(), "tables"_a.noconvert(), "surrogates"_a.noconvert(),
               "first"_a.noconvert(), "arrays"_a, "gaps"_a, "types"_a, "levels"_a,
               "leaf"_a.noconvert(), "threads"_a,
               "The leaf of every row in a tree whose gaps follow surrogates.");
    module.def("tree_mean_ways", &mean_ways, "nodes"_a.noconvert(), "words"_a.noconvert(),
               "tables"_a.noconvert(), "share"_a.noconvert(), "branches"_a.noconvert(), "arrays"_a,
               "gaps"_a, "types"_a, "levels"_a, "said"_a.noconvert(), "row"_a.noconvert(),
               "out"_a.noconvert(), "threads"_a,
               "What rows are told by all leaves they come to, where gaps go every way.");
    module.def("tree_weigh_ways", &weigh, "nodes"_a.noconvert(), "words"_a.noconvert(),
               "tables"_a.noconvert(), "share"_a.noconvert(), "branches"_a.noconvert(), "arrays"_a,
               "gaps"_a, "types"_a, "levels"_a, "out"_a.noconvert(),
               "weight"_a.noconvert() = nb::none(), "label"_a.noconvert() = nb::none(),
               "value"_a.noconvert() = nb::none(),
               "Add the rows to the leaves they come to, by their shares.");
}

}  // namespace ceiba::bindings
