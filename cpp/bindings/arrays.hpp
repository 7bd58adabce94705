// What may cross the boundary: typed, contiguous arrays, checked here and nowhere else.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "parallel.hpp"
#include "views.hpp"

namespace ceiba::bindings {

namespace nb = nanobind;

template <typename T>
using Array1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu, nb::numpy>;
template <typename T>
using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu, nb::numpy>;
template <typename T>
using Maybe1 = std::optional<Array1<T>>;
template <typename T>
using Maybe2 = std::optional<Array2<T>>;

inline void require(bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
}

template <typename T>
Matrix<T> matrix(const Array2<T>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}

template <typename A>
auto pointer(const std::optional<A>& array) -> decltype(array->data()) {
    return array ? array->data() : nullptr;
}

// Null where there is no array; an error where its length is not `length`.
template <typename T>
T* sized(const Maybe1<T>& array, std::size_t length, const char* sentence) {
    require(!array || array->shape(0) == length, sentence);
    return pointer(array);
}

inline int checked_threads(int threads) {
    require(threads >= 1, "threads must be at least 1");
    return threads;
}

// The native work itself runs without the GIL; a Ctrl-C heard inside comes out as the Python
// exception that the signal handler raised.
template <typename Work>
void without_gil(Work work) {
    try {
        nb::gil_scoped_release release;
        work();
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

void bind_process(nb::module_& module);
void bind_cluster(nb::module_& module);
void bind_mixture(nb::module_& module);
void bind_tree_coding(nb::module_& module);
void bind_tree_rules(nb::module_& module);
void bind_tree_growing(nb::module_& module);
void bind_tree_routing(nb::module_& module);
void bind_tree_pruning(nb::module_& module);
void bind_tree_ways(nb::module_& module);
void bind_forest_growing(nb::module_& module);
void bind_forest_routing(nb::module_& module);

}  // namespace ceiba::bindings
