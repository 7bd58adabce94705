// Compiled once for each instruction set: see CMakeLists.txt. Nothing here or in the headers that
// only this unit includes may instantiate a template of the standard library: the linker could then
// pick this unit's copy, with instructions that the processor at hand does not have, for everybody.
#include "simd/kernels.hpp"

#include "random.hpp"
#include "simd/nearest.hpp"
#include "simd/row_sums.hpp"

#define CEIBA_TABLE_NAME(isa, type) CEIBA_TABLE_NAME_(isa, type)
#define CEIBA_TABLE_NAME_(isa, type) kernels_##isa##_##type

namespace ceiba {
namespace {

// Lane by lane, so that a whole tile is one pass of vectors; padded lanes have weight zero.
template <typename T>
bool race_rates(const T* nearest, const T* distances, const double* weights, const double* draws,
                double limit, double* rates, double* totals) {
    unsigned long long contenders = 0;
#pragma GCC ivdep
    for (std::size_t r = 0; r < kTile<T>; ++r) {
        const T squared = nearest[r] < distances[r] ? nearest[r] : distances[r];
        const double rate = weights[r] * double(squared);
        rates[r] = rate;
        totals[r] += rate;
        contenders |= 1 - draws[r] <= limit * rate ? 1ULL : 0ULL;
    }
    return contenders != 0;
}

void uniforms(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::size_t count,
              double* out) {
    for (std::size_t i = 0; i < count; ++i) out[i] = uniform(seed, stream, first + i);
}

template <typename T>
constexpr Kernels<T> kTable{kTile<T>,
                            kBlock,
                            nearest_two<T>,
                            squared_to_own<false, T>,
                            squared_to_own<true, T>,
                            squared_to_points<false, T>,
                            squared_to_points<true, T>,
                            add_rows<T>,
                            add_moments<T>,
                            race_rates<T>,
                            add_row_exactly<T>,
                            loosen,
                            uniforms};

}  // namespace

extern const Kernels<double> CEIBA_TABLE_NAME(CEIBA_ISA, double);
extern const Kernels<float> CEIBA_TABLE_NAME(CEIBA_ISA, float);
const Kernels<double> CEIBA_TABLE_NAME(CEIBA_ISA, double) = kTable<double>;
const Kernels<float> CEIBA_TABLE_NAME(CEIBA_ISA, float) = kTable<float>;

}  // namespace ceiba
