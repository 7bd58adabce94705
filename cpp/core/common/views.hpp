// Non-owning views of arrays: pointer and shape.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba {

// Row-major, contiguous.
template <typename T>
struct Matrix {
    T* data = nullptr;
    std::size_t rows = 0;
    std::size_t cols = 0;

    T* row(std::size_t i) const { return data + i * cols; }
};

}  // namespace ceiba
