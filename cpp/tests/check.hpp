// Shared by the tests of the core: a test is a function that throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/random.hpp"

namespace ceiba::tests {

using Tests = std::vector<std::pair<const char*, std::function<void()>>>;

Tests boosting_part_tests();  // boosting_part_tests.cpp
Tests forest_part_tests();    // forest_part_tests.cpp
Tests forest_tests();         // forest_tests.cpp
Tests leaf_code_tests();      // leaf_code_tests.cpp
Tests tree_part_tests();      // tree_part_tests.cpp
Tests tree_tests();           // tree_tests.cpp
Tests vector_grower_tests();  // vector_grower_tests.cpp

inline void expect(bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error(what);
}

// Reproducible random numbers.
class RandomSource {
  public:
    explicit RandomSource(std::uint64_t seed) : seed_(seed) {}

    std::uint64_t bits() { return even_half(philox(seed_, 0, drawn_++)); }
    // A uniform integer in [0, n).
    std::size_t below(std::uint64_t n) { return std::size_t(scaled(bits(), n)); }
    // A uniform integer in [min, max].
    std::size_t between(std::size_t min, std::size_t max) { return min + below(max - min + 1); }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

  private:
    std::uint64_t seed_, drawn_ = 0;
};

}  // namespace ceiba::tests
