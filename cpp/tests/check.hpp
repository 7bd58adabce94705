// What the tests of the core share: a test is a function that throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "random.hpp"

namespace ceiba::tests {

using Tests = std::vector<std::pair<const char*, std::function<void()>>>;

Tests forest_part_tests();  // forest_part_tests.cpp
Tests forest_tests();       // forest_tests.cpp
Tests leaf_code_tests();    // leaf_code_tests.cpp

inline void expect(bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error(what);
}

// Random numbers, one after the other: the same in every run.
class Chance {
  public:
    explicit Chance(std::uint64_t seed) : seed_(seed) {}

    std::uint64_t bits() { return even_half(philox(seed_, 0, drawn_++)); }
    // Below `n`.
    std::size_t below(std::uint64_t n) { return std::size_t(scaled(bits(), n)); }
    // In [least, most].
    std::size_t between(std::size_t least, std::size_t most) {
        return least + below(most - least + 1);
    }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

  private:
    std::uint64_t seed_, drawn_ = 0;
};

}  // namespace ceiba::tests
