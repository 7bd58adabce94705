// The products of queries and rows of one instruction set. They only select candidates, so that
// they may be contracted into fused multiply-adds, in a unit of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#define CEIBA_PRODUCT_NAME(isa) CEIBA_PRODUCT_NAME_(isa)
#define CEIBA_PRODUCT_NAME_(isa) product_hits_##isa

namespace ceiba {

std::size_t CEIBA_PRODUCT_NAME(CEIBA_ISA)(const float* tiles, const float* half_squares,
                                          std::size_t n_tiles, std::size_t d, const float* queries,
                                          const float* limits, std::uint32_t* hits);

}  // namespace ceiba
