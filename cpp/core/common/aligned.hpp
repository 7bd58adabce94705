// Vectors aligned to cache lines, so that no 64-byte SIMD vector straddles two lines.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace ceiba {

template <typename T>
struct CacheLineAllocator {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};

    CacheLineAllocator() = default;
    template <typename U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {}

    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }

    template <typename U>
    bool operator==(const CacheLineAllocator<U>&) const {
        return true;
    }
};

template <typename T>
using Aligned = std::vector<T, CacheLineAllocator<T>>;

}  // namespace ceiba
