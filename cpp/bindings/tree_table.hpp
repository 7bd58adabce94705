// Columns of a table as they cross the boundary to the tree engine, checked here.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <vector>

#include "arrays.hpp"
#include "tree/coding.hpp"
#include "tree/packed.hpp"
#include "tree/route.hpp"

namespace ceiba::bindings {

using namespace nb::literals;
using namespace ceiba::tree;

constexpr std::size_t kMostRows = std::size_t(1) << 31;
constexpr std::size_t kMostColumns = std::size_t(1) << 24;

template <typename Word, typename T>
nb::ndarray<nb::numpy, Word> owned_as(std::vector<T>&& values,
                                      std::initializer_list<std::size_t> shape) {
    auto* held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, Word>(held->data(), shape, owner);
}

template <typename T>
nb::ndarray<nb::numpy, T> owned(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    return owned_as<T>(std::move(values), shape);
}

template <typename T>
nb::ndarray<nb::numpy, T> owned(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return owned(std::move(values), {n});
}

// Records as rows of words.
template <typename Word, typename Record>
nb::ndarray<nb::numpy, Word> owned_words(std::vector<Record>&& records) {
    static_assert(std::is_trivially_copyable_v<Record>);
    const std::size_t n = records.size();
    return owned_as<Word>(std::move(records), {n, sizeof(Record) / sizeof(Word)});
}

// Columns: (array, mask or None) each; types and levels beside them.
struct Table {
    std::vector<AnyColumn> columns;
    std::vector<std::uint32_t> levels;
    std::size_t rows = 0;
};

using Any1 = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

inline Type type_of(const Any1& array, std::uint8_t asked) {
    require(asked <= std::uint8_t(Type::kNominal), "unknown type of column");
    const auto type = Type(asked);
    const bool right = type == Type::kDouble     ? array.dtype() == nb::dtype<double>()
                       : type == Type::kFloat    ? array.dtype() == nb::dtype<float>()
                       : type == Type::kInt      ? array.dtype() == nb::dtype<std::int64_t>()
                       : type == Type::kUnsigned ? array.dtype() == nb::dtype<std::uint64_t>()
                                                 : array.dtype() == nb::dtype<std::int32_t>();
    require(right, "a column's array must have the type that is said of it");
    return type;
}

inline void check_codes(const AnyColumn& column, std::size_t rows, std::uint32_t levels) {
    const auto* codes = static_cast<const std::int32_t*>(column.data);
    for (std::size_t i = 0; i < rows; ++i) {
        const std::int32_t code = codes[std::ptrdiff_t(i) * column.stride];
        require(code >= -1 && code < std::int64_t(levels), "a code lies outside of its levels");
    }
}

inline Table table_of(const std::vector<Any1>& arrays, const std::vector<Maybe1<const bool>>& gaps,
                      const std::vector<std::uint8_t>& types,
                      const std::vector<std::uint32_t>& levels) {
    require(!arrays.empty() && arrays.size() < kMostColumns, "too few or too many columns");
    require(gaps.size() == arrays.size() && types.size() == arrays.size() &&
                levels.size() == arrays.size(),
            "gaps, types and levels must be told of every column");
    Table table;
    table.rows = arrays[0].shape(0);
    require(table.rows < kMostRows, "more than 2^31 rows in memory");
    table.levels = levels;
    for (std::size_t j = 0; j < arrays.size(); ++j) {
        require(arrays[j].shape(0) == table.rows, "columns must have equal lengths");
        AnyColumn column;
        column.type = type_of(arrays[j], types[j]);
        column.data = arrays[j].data();
        column.stride = arrays[j].stride(0);
        column.levels = levels[j];
        column.gaps = reinterpret_cast<const std::uint8_t*>(
            sized(gaps[j], table.rows, "a mask of gaps must be as long as its column"));
        if (types[j] >= std::uint8_t(Type::kOrdinal)) check_codes(column, table.rows, levels[j]);
        table.columns.push_back(column);
    }
    return table;
}

inline TreeView tree_view(const Array2<const std::uint64_t>& nodes,
                          const Array1<const std::uint64_t>& words,
                          const Array1<const std::int32_t>& tables) {
    require(nodes.shape(1) == 2, "nodes must be two words each");
    return {reinterpret_cast<const PackedNode*>(nodes.data()),
            nodes.shape(0),
            words.data(),
            words.shape(0),
            tables.data(),
            tables.shape(0)};
}

template <typename T>
Values<T> values_of(const Table& table, std::size_t j) {
    const AnyColumn& column = table.columns[j];
    return {static_cast<const T*>(column.data), table.rows, column.stride, column.gaps};
}

// The types of columns, checked.
inline std::vector<Type> checked_types(const std::vector<std::uint8_t>& types) {
    std::vector<Type> checked;
    for (const std::uint8_t type : types) {
        require(type <= std::uint8_t(Type::kNominal), "unknown type of column");
        checked.push_back(Type(type));
    }
    return checked;
}

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

}  // namespace ceiba::bindings
