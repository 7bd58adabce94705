// exp and log of whole vectors of doubles, accurate to one or two ulps.
// Included only by units that are compiled once for each instruction set, so everything is local.
#pragma once

#include "simd/lanes.hpp"

namespace ceiba {
namespace {

using Doubles = Lanes<double>::Vector;
using Words = Lanes<double>::Index;

inline Doubles choose(const Words& mask, const Doubles& yes, const Doubles& no) {
    return mask ? yes : no;
}

inline Doubles larger(const Doubles& a, const Doubles& b) { return choose(a > b, a, b); }

// e^x for x <= 0 or NaN; zero below e^-708.3, just above the subnormal numbers. x = n log 2 + r
// with |r| <= log(2) / 2; the Taylor series of e^r to r^13 has an error of 4e-18, and n is added to
// the exponent.
inline Doubles exp_negative(const Doubles& x) {
    constexpr double kShift = 0x1.8p52;  // adding it rounds to an integer in the low bits
    constexpr double kLog2High = 0x1.62e42fefa38p-1, kLog2Low = 0x1.ef35793c7673p-45;
    constexpr double kMinExponent = -708.3;
    const Doubles inside = choose(x < kMinExponent, splat(kMinExponent), x);
    const Doubles shifted = inside * 0x1.71547652b82fep0 + kShift;
    const Doubles n = shifted - kShift;
    const Doubles r = (inside - n * kLog2High) - n * kLog2Low;
    Doubles p = splat(1.0 / 6227020800.0);
    constexpr double kTaylor[] = {1.0 / 479001600,
                                  1.0 / 39916800,
                                  1.0 / 3628800,
                                  1.0 / 362880,
                                  1.0 / 40320,
                                  1.0 / 5040,
                                  1.0 / 720,
                                  1.0 / 120,
                                  1.0 / 24,
                                  1.0 / 6,
                                  0.5,
                                  1.0,
                                  1.0};
    for (const double coefficient : kTaylor) p = p * r + coefficient;
    Words bits, exponent;
    __builtin_memcpy(&bits, &p, sizeof p);
    __builtin_memcpy(&exponent, &shifted, sizeof p);
    bits += exponent << 52;
    Doubles result;
    __builtin_memcpy(&result, &bits, sizeof p);
    return choose(x < kMinExponent, Doubles{}, result);
}

// log of a normal positive x = 2^e m with m in [sqrt(1/2), sqrt(2)). With f = (m - 1) / (m + 1),
// log m = 2 (f + f^3 / 3 + f^5 / 5 + ...); as f^2 < 0.03, the series ends after f^21.
inline Doubles log_positive(const Doubles& x) {
    Words bits;
    __builtin_memcpy(&bits, &x, sizeof x);
    // Subtracting the bits of sqrt(1/2) first rounds the exponent where the mantissa wraps.
    constexpr long long kRootHalf = 0x3fe6a09e667f3bcdLL;
    const Words e = (bits - kRootHalf) >> 52;
    bits -= e << 52;
    Doubles m;
    __builtin_memcpy(&m, &bits, sizeof m);
    const Doubles f = (m - 1) / (m + 1), square = f * f;
    Doubles p = splat(2.0 / 21);
    for (int odd = 19; odd >= 3; odd -= 2) p = p * square + 2.0 / odd;
    const Doubles exponent = __builtin_convertvector(e, Doubles);
    // The largest term is added last.
    return exponent * 0x1.62e42fefa38p-1 +
           (2 * f + (p * square * f + exponent * 0x1.ef35793c7673p-45));
}

}  // namespace
}  // namespace ceiba
