#include "forest/sampling.hpp"

#include <algorithm>
#include <utility>

#include "random.hpp"

namespace ceiba::forest {
namespace {

constexpr std::uint64_t kTrees = 0x666F72657374, kDraws = 0x626F6F74, kChosen = 0x737562;

}  // namespace

std::uint64_t seed_of_tree(std::uint64_t forest_seed, std::uint64_t tree) {
    return even_half(philox(forest_seed, kTrees, tree));
}

std::uint32_t Sampling::row_of(std::uint64_t point) const {
    if (running == nullptr) return std::uint32_t(point);
    return std::uint32_t(std::upper_bound(running, running + rows, Number(point)) - running);
}

template <typename Body>
void Sampling::each_draw(std::uint64_t seed, const Body& body, Interrupt* interrupt,
                         int thread) const {
    constexpr std::uint64_t kTogether = 1 << 16;  // between two looks for an interrupt
    const auto all = std::uint64_t(total());
    for (std::uint64_t d = 0; d < draws; d += 2) {
        if (interrupt != nullptr && d % kTogether == 0 && interrupt->stopped(thread)) return;
        const Philox block = philox(seed, kDraws, d / 2);
        body(row_of(scaled(even_half(block), all)));
        if (d + 1 < draws) body(row_of(scaled(odd_half(block), all)));
    }
}

std::vector<std::uint32_t> Sampling::chosen(std::uint64_t seed) const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keys(rows);
    for (std::size_t i = 0; i < rows; ++i)
        keys[i] = {even_half(philox(seed, kChosen, i)), std::uint32_t(i)};
    const auto middle = keys.begin() + std::ptrdiff_t(std::min<std::uint64_t>(draws, rows));
    std::nth_element(keys.begin(), middle, keys.end());
    std::vector<std::uint32_t> found;
    for (auto key = keys.begin(); key != middle; ++key) found.push_back(key->second);
    std::sort(found.begin(), found.end());
    return found;
}

void Sampling::counts(std::uint64_t seed, Number* out, Interrupt* interrupt, int thread) const {
    std::fill_n(out, rows, Number(0));
    const auto own = [&](std::size_t i) { return weight ? weight[i] : Number(1); };
    if (every) {
        for (std::size_t i = 0; i < rows; ++i) out[i] = own(i);
    } else if (replace) {
        each_draw(seed, [&](std::uint32_t row) { ++out[row]; }, interrupt, thread);
    } else {
        for (const std::uint32_t row : chosen(seed)) out[row] = own(row);
    }
}

std::vector<std::uint32_t> Sampling::drawn(std::uint64_t seed, Interrupt* interrupt) const {
    if (!every && !replace) return chosen(seed);
    std::vector<std::uint32_t> found;
    if (every)
        for (std::size_t i = 0; i < rows; ++i) found.push_back(std::uint32_t(i));
    else
        each_draw(seed, [&](std::uint32_t row) { found.push_back(row); }, interrupt, 0);
    return found;
}

}  // namespace ceiba::forest
