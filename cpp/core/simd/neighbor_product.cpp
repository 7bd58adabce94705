// Implementation of the products that select candidates among the rows of a leaf.
#include "simd/neighbor_product.hpp"

#include "simd/lanes.hpp"
#include "simd/neighbor_kernels.hpp"

namespace ceiba {
namespace {

using Floats = Lanes<float>::Vector;
using Mask = Lanes<float>::Index;

constexpr std::size_t kWidth = kLanes<float>;
// AVX-512 has 32 registers: two tiles of one vector times eight queries take 16 of them. With 16
// registers, a tile of two vectors times four queries takes eight.
constexpr std::size_t kVectorsPerTile = kTileRows / kWidth;
constexpr std::size_t kTiles = CEIBA_VECTOR_BYTES == 64 ? 2 : 1;
constexpr std::size_t kColumns = CEIBA_VECTOR_BYTES == 64 ? kQueries : kQueries / 2;

inline bool any(const Mask& mask) {
    int found = 0;
    for (std::size_t i = 0; i < kWidth; ++i) found |= mask[i];
    return found != 0;
}

// Scores of kCount tiles against kColumns queries from `first_query` on.
template <std::size_t kCount>
std::size_t score_tiles(const float* tiles, const float* half_squares, std::size_t d,
                        const float* queries, const float* limits, std::size_t first_query,
                        std::size_t first_row, std::uint32_t* hits) {
    constexpr std::size_t kVectors = kCount * kVectorsPerTile;
    Floats sums[kVectors][kColumns];
    for (std::size_t v = 0; v < kVectors; ++v)
        for (std::size_t q = 0; q < kColumns; ++q) sums[v][q] = load(half_squares + v * kWidth);
    for (std::size_t j = 0; j < d; ++j) {
        Floats x[kVectors];
        for (std::size_t t = 0; t < kCount; ++t)
            for (std::size_t v = 0; v < kVectorsPerTile; ++v)
                x[t * kVectorsPerTile + v] = load(tiles + (t * d + j) * kTileRows + v * kWidth);
        for (std::size_t q = 0; q < kColumns; ++q) {
            const Floats value = splat(queries[j * kQueries + first_query + q]);
            for (std::size_t v = 0; v < kVectors; ++v) sums[v][q] += x[v] * value;
        }
    }
    // Hits are rare: one test for all pairs first.
    Mask inside[kVectors][kColumns], found{};
    for (std::size_t q = 0; q < kColumns; ++q)
        for (std::size_t v = 0; v < kVectors; ++v) {
            inside[v][q] = sums[v][q] <= splat(limits[first_query + q]);
            found |= inside[v][q];
        }
    if (!any(found)) return 0;
    std::size_t n = 0;
    for (std::size_t q = 0; q < kColumns; ++q)
        for (std::size_t v = 0; v < kVectors; ++v)
            for (std::size_t i = 0; i < kWidth; ++i)
                if (inside[v][q][i])
                    hits[n++] =
                        std::uint32_t((first_row + v * kWidth + i) * kQueries + first_query + q);
    return n;
}

}  // namespace

std::size_t CEIBA_PRODUCT_NAME(CEIBA_ISA)(const float* tiles, const float* half_squares,
                                          std::size_t n_tiles, std::size_t d, const float* queries,
                                          const float* limits, std::uint32_t* hits) {
    std::size_t n = 0, tile = 0;
    for (; tile + kTiles <= n_tiles; tile += kTiles)
        for (std::size_t q = 0; q < kQueries; q += kColumns)
            n += score_tiles<kTiles>(tiles + tile * d * kTileRows, half_squares + tile * kTileRows,
                                     d, queries, limits, q, tile * kTileRows, hits + n);
    if constexpr (kTiles > 1)
        for (; tile < n_tiles; ++tile)
            n += score_tiles<1>(tiles + tile * d * kTileRows, half_squares + tile * kTileRows, d,
                                queries, limits, 0, tile * kTileRows, hits + n);
    return n;
}

}  // namespace ceiba
