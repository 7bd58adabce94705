// Tables and finished trees at the boundary of the tree engine.
#pragma once

#include "arrays.hpp"
#include "tree/encode/encoding.hpp"
#include "tree/predict/missing_routing.hpp"
#include "tree/predict/packed_tree.hpp"
#include "tree/predict/route.hpp"

namespace ceiba::bindings {

using namespace ceiba::tree;

constexpr std::size_t kMaxRows = std::size_t(1) << 31;
constexpr std::size_t kMaxColumns = std::size_t(1) << 24;
constexpr const char* kTooManyRows = "a table in memory must have less than 2^31 rows.";

// How the values of each column are stored, and its number of categories (0 for numbers).
struct ColumnTypes {
    std::vector<Type> types;
    std::vector<std::uint32_t> n_categories;

    ColumnTypes(std::vector<Type> types, std::vector<std::uint32_t> n_categories)
        : types(std::move(types)), n_categories(std::move(n_categories)) {
        require(size() >= 1 && size() < kMaxColumns,
                "types must have at least 1 and less than 2^24 entries.");
        require(this->n_categories.size() == size(), "n_categories must have one entry per type.");
    }

    std::size_t size() const { return types.size(); }
};

inline bool is_number(Type type) { return type < Type::kOrdinal; }

using Any1 = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using Masks = std::vector<Maybe1<const bool>>;

// The columns of a table in their own types, which may be strided. A missing value is NaN, a masked
// integer, or the code -1. For prediction, floats may replace integers.
struct TreeTable {
    std::vector<AnyColumn> columns;
    std::size_t rows = 0;

    TreeTable(std::vector<Any1> arrays, Masks masks, const ColumnTypes& types)
        : arrays_(std::move(arrays)), masks_(std::move(masks)) {
        require(arrays_.size() == types.size() && masks_.size() == types.size(),
                "arrays and missing_masks must have one entry per column.");
        rows = arrays_[0].shape(0);
        require(rows < kMaxRows, kTooManyRows);
        columns.reserve(types.size());
        for (std::size_t j = 0; j < types.size(); ++j)
            add(j, types.types[j], types.n_categories[j]);
    }

    std::size_t size() const { return columns.size(); }

    // Codes are those of integers: floats among them would have none.
    void check_own_types() const {
        require(!floats_for_integers_, "integer columns must have integers to be encoded.");
    }

    // Whether a model of these types can be applied; float64 and float32 are compared alike.
    void check(const ColumnTypes& model) const {
        require(size() == model.size(), "the table must have the columns of the model.");
        for (std::size_t j = 0; j < size(); ++j) {
            const Type type = columns[j].type, expected = model.types[j];
            require(type == expected || (is_real(type) && is_number(expected)),
                    "the columns must have the types of the model.");
            require(columns[j].n_categories == model.n_categories[j],
                    "the columns must have the numbers of categories of the model.");
        }
    }

    template <typename T>
    ColumnValues<T> values(std::size_t j) const {
        const AnyColumn& column = columns[j];
        return {static_cast<const T*>(column.data), rows, column.stride, column.missing_mask};
    }

    // The code of a category; n_categories if it is missing.
    std::uint32_t category(std::size_t j, std::size_t row) const {
        const AnyColumn& column = columns[j];
        const std::int32_t code =
            static_cast<const std::int32_t*>(column.data)[std::ptrdiff_t(row) * column.stride];
        return code < 0 ? column.n_categories : std::uint32_t(code);
    }

  private:
    void add(std::size_t j, Type type, std::uint32_t n_categories) {
        const Any1& array = arrays_[j];
        require(array.shape(0) == rows, "columns must have equal lengths.");
        AnyColumn column;
        column.type = stored_type(array, type);
        floats_for_integers_ |= is_real(column.type) && !is_real(type);
        column.data = array.data();
        column.stride = array.stride(0);
        column.n_categories = n_categories;
        column.model_type = type;
        column.missing_mask = reinterpret_cast<const std::uint8_t*>(
            sized(masks_[j], rows, "a missing mask must be as long as its column."));
        if (type >= Type::kOrdinal) check_codes(column);
        columns.push_back(column);
    }

    // The type of an array: that of its column, but floats may replace numbers of other types.
    static Type stored_type(const Any1& array, Type type) {
        if (is_number(type) && array.dtype() == nb::dtype<double>()) return Type::kDouble;
        if (is_number(type) && array.dtype() == nb::dtype<float>()) return Type::kFloat;
        const bool fits = type == Type::kInt ? array.dtype() == nb::dtype<std::int64_t>()
                          : type == Type::kUnsigned
                              ? array.dtype() == nb::dtype<std::uint64_t>()
                              : !is_real(type) && array.dtype() == nb::dtype<std::int32_t>();
        require(fits, "arrays must have the dtypes of their column types.");
        return type;
    }

    void check_codes(const AnyColumn& column) const {
        const auto* codes = static_cast<const std::int32_t*>(column.data);
        for (std::size_t i = 0; i < rows; ++i) {
            const std::int32_t code = codes[std::ptrdiff_t(i) * column.stride];
            require(code >= -1 && code < std::int64_t(column.n_categories),
                    "codes of categories must be -1 or less than n_categories.");
        }
    }

    std::vector<Any1> arrays_;
    Masks masks_;
    bool floats_for_integers_ = false;
};

// Call body with a value of the C++ type of a column.
template <typename Body>
auto with_type(Type type, Body body) {
    switch (type) {
        case Type::kDouble:
            return body(double{});
        case Type::kFloat:
            return body(float{});
        case Type::kInt:
            return body(std::int64_t{});
        default:
            return body(std::uint64_t{});
    }
}

using NodeArray = Array2<const std::uint64_t>;

// The prediction arrays of a tree. Kernels trust them: `tree_defect` checks those of a file.
struct TreeArrays {
    NodeArray nodes;
    Array1<const std::uint64_t> words;
    Array1<const std::int32_t> tables;
    ColumnTypes columns;
    std::optional<NodeArray> surrogates;
    Maybe1<const std::int64_t> first_surrogate;

    TreeArrays(NodeArray nodes, Array1<const std::uint64_t> words,
               Array1<const std::int32_t> tables, ColumnTypes columns,
               std::optional<NodeArray> surrogates, Maybe1<const std::int64_t> first_surrogate)
        : nodes(std::move(nodes)),
          words(std::move(words)),
          tables(std::move(tables)),
          columns(std::move(columns)),
          surrogates(std::move(surrogates)),
          first_surrogate(std::move(first_surrogate)) {
        require(this->nodes.shape(1) == 2, "nodes must have shape (n_nodes, 2).");
        require(bool(this->surrogates) == bool(this->first_surrogate),
                "surrogates requires first_surrogate, and first_surrogate surrogates.");
        if (!this->surrogates) return;
        require(this->surrogates->shape(1) == 2, "surrogates must have shape (n_surrogates, 2).");
        require(this->first_surrogate->shape(0) == this->nodes.shape(0) + 1,
                "first_surrogate must have n_nodes + 1 entries.");
    }

    TreeView view() const {
        return {reinterpret_cast<const PackedNode*>(nodes.data()),
                nodes.shape(0),
                words.data(),
                words.shape(0),
                tables.data(),
                tables.shape(0)};
    }

    SurrogateView surrogate_view() const {
        if (!surrogates) return {};
        return {reinterpret_cast<const PackedNode*>(surrogates->data()), first_surrogate->data()};
    }

    // What is wrong with the nodes, with the categories that were present in training, and with
    // the surrogates; null if nothing is.
    const char* defect() const { return tree_defect(view(), columns.types, columns.n_categories); }
    const char* categories_defect() const {
        const TreeView tree = view();
        for (std::size_t v = 0; v < tree.count; ++v)
            require(tree.nodes[v].column() < columns.size(),
                    "nodes must test columns of the table.");
        return presence_defect(tree, columns.n_categories);
    }
    const char* surrogates_defect() const {
        if (!surrogates) return nullptr;
        return surrogate_defect(view(), surrogate_view(), surrogates->shape(0), columns.types,
                                columns.n_categories);
    }
};

}  // namespace ceiba::bindings
