// Arrays at the boundary to Python: typed and contiguous, and checked before a kernel sees them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/parallel.hpp"
#include "common/views.hpp"

namespace ceiba::bindings {

namespace nb = nanobind;
using namespace nb::literals;

template <typename T>
using Array1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu, nb::numpy>;
template <typename T>
using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu, nb::numpy>;
template <typename T>
using Maybe1 = std::optional<Array1<T>>;
template <typename T>
using Maybe2 = std::optional<Array2<T>>;
// float64 or float32, whichever the array has.
using AnyFloat2 = std::variant<Array2<const double>, Array2<const float>>;
// Codes of a table, column by column, in the narrowest type that holds all of them.
using AnyCodes = std::variant<Array2<const std::uint8_t>, Array2<const std::uint16_t>,
                              Array2<const std::uint32_t>>;

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

// Raise the message of a check that returns null for sound arrays.
inline void require_sound(const char* defect) { require(defect == nullptr, defect); }

template <typename T>
Matrix<T> matrix(const Array2<T>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}

template <typename A>
auto pointer(const std::optional<A>& array) -> decltype(array->data()) {
    return array ? array->data() : nullptr;
}

// Null if there is no array; an error if its length is not `length`.
template <typename T>
T* sized(const Maybe1<T>& array, std::size_t length, const char* message) {
    require(!array || array->shape(0) == length, message);
    return pointer(array);
}

template <typename T>
bool has_shape(const Array2<T>& array, std::size_t rows, std::size_t columns) {
    return array.shape(0) == rows && array.shape(1) == columns;
}

inline int checked_threads(int threads) {
    if (threads < 1)
        throw std::invalid_argument("threads must be at least 1, got " + std::to_string(threads) +
                                    ".");
    return threads;
}

// Check n + 1 offsets into an array of `size` entries.
inline void check_offsets(const std::int64_t* offsets, std::size_t n, std::size_t size,
                          const char* message) {
    for (std::size_t j = 0; j < n; ++j)
        require(
            offsets[j] >= 0 && offsets[j] <= offsets[j + 1] && std::size_t(offsets[j + 1]) <= size,
            message);
}

// Hand a vector over to NumPy without a copy, as an array of `Word`.
template <typename Word, typename T>
nb::ndarray<nb::numpy, Word> owned_as(std::vector<T>&& values,
                                      std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, Word>(kept->data(), shape, owner);
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

// Run native code without the GIL; Ctrl-C inside raises the exception of the signal handler.
template <typename Work>
void without_gil(Work work) {
    try {
        nb::gil_scoped_release release;
        work();
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

// Key of one random draw per row: draws depend on the global row, never on partition or thread.
struct DrawKey {
    std::uint64_t seed, stream, first_row;
};

void bind_process(nb::module_& module);
void bind_kmeans(nb::module_& module);
void bind_mixture(nb::module_& module);
void bind_bayes(nb::module_& module);
void bind_boosting(nb::module_& module);
void bind_neighbors(nb::module_& module);
void bind_vantage(nb::module_& module);
void bind_tree_config(nb::module_& module);
void bind_tree_encode(nb::module_& module);
void bind_tree_explain(nb::module_& module);
void bind_tree_grow(nb::module_& module);
void bind_tree_pack(nb::module_& module);
void bind_tree_predict(nb::module_& module);
void bind_tree_prune(nb::module_& module);
void bind_forest_grow(nb::module_& module);
void bind_forest_predict(nb::module_& module);

}  // namespace ceiba::bindings
