// Counter-based random numbers: the draw of (seed, stream, row) is the same in any order and on any
// partition.
//
// Philox 4x32 with ten rounds: Salmon, Moraes, Dror & Shaw (2011), "Parallel random numbers: as
// easy as 1, 2, 3", SC'11.
#pragma once

#include <cstdint>

namespace ceiba {

// static: every kernel unit has its own copy, compiled for its own instruction set.
struct Philox {
    std::uint32_t word[4];
};

static inline Philox philox(std::uint64_t seed, std::uint64_t stream, std::uint64_t row) {
    constexpr std::uint64_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57;
    constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
    std::uint32_t c0 = std::uint32_t(row), c1 = std::uint32_t(row >> 32);
    std::uint32_t c2 = std::uint32_t(stream), c3 = std::uint32_t(stream >> 32);
    std::uint32_t k0 = std::uint32_t(seed), k1 = std::uint32_t(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = kMultiply0 * c0, p1 = kMultiply1 * c2;
        c0 = std::uint32_t(p1 >> 32) ^ c1 ^ k0;
        c1 = std::uint32_t(p1);
        c2 = std::uint32_t(p0 >> 32) ^ c3 ^ k1;
        c3 = std::uint32_t(p0);
        k0 += kWeyl0;
        k1 += kWeyl1;
    }
    return {{c0, c1, c2, c3}};
}

static inline std::uint64_t even_half(const Philox& draw) {
    return std::uint64_t(draw.word[0]) << 32 | draw.word[1];
}
static inline std::uint64_t odd_half(const Philox& draw) {
    return std::uint64_t(draw.word[2]) << 32 | draw.word[3];
}

// A uniform integer in [0, below): the upper half of the product, which needs no division. The
// probabilities differ by at most one part in 2^64 / below.
__extension__ typedef unsigned __int128 Wide;
static inline std::uint64_t scaled(std::uint64_t bits, std::uint64_t below) {
    return std::uint64_t(Wide(bits) * below >> 64);
}

// A uniform number in (0, 1): the midpoint of one of 2^52 cells, so that both log(u) and log(1 - u)
// are finite.
static inline double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t row) {
    const Philox draw = philox(seed, stream, row);
    return (double(even_half(draw) >> 12) + 0.5) * 0x1p-52;
}

}  // namespace ceiba
