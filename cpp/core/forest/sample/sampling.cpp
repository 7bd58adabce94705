// Implementation of the keyed row draws.
#include "forest/sample/sampling.hpp"

#include <algorithm>
#include <utility>

#include "common/random.hpp"

namespace ceiba::forest {
namespace {

constexpr std::uint64_t kTreeStream = 0x666F72657374, kBootstrapStream = 0x626F6F74,
                        kSubsampleStream = 0x737562;

}  // namespace

std::uint64_t tree_seed(std::uint64_t forest_seed, std::uint64_t tree) {
    return even_half(philox(forest_seed, kTreeStream, tree));
}

std::uint32_t Sampling::row_of(std::uint64_t point) const {
    if (cumulative == nullptr) return std::uint32_t(point);
    return std::uint32_t(std::upper_bound(cumulative, cumulative + rows, Number(point)) -
                         cumulative);
}

template <typename Body>
void Sampling::for_each_draw(std::uint64_t seed, const Body& body, Interrupt* interrupt,
                             int thread) const {
    constexpr std::uint64_t kPollInterval = 1 << 16;  // draws between two interrupt polls
    const auto all = std::uint64_t(total());
    for (std::uint64_t d = 0; d < draws; d += 2) {
        if (interrupt != nullptr && d % kPollInterval == 0 && interrupt->stopped(thread)) return;
        const Philox block = philox(seed, kBootstrapStream, d / 2);
        body(row_of(scaled(even_half(block), all)));
        if (d + 1 < draws) body(row_of(scaled(odd_half(block), all)));
    }
}

std::vector<std::uint32_t> Sampling::draw_without_replacement(std::uint64_t seed) const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keys(rows);
    for (std::size_t i = 0; i < rows; ++i)
        keys[i] = {even_half(philox(seed, kSubsampleStream, i)), std::uint32_t(i)};
    const auto middle = keys.begin() + std::ptrdiff_t(std::min<std::uint64_t>(draws, rows));
    std::nth_element(keys.begin(), middle, keys.end());
    std::vector<std::uint32_t> selected;
    for (auto key = keys.begin(); key != middle; ++key) selected.push_back(key->second);
    std::sort(selected.begin(), selected.end());
    return selected;
}

void Sampling::counts(std::uint64_t seed, Number* out, Interrupt* interrupt, int thread) const {
    std::fill_n(out, rows, Number(0));
    const auto weight_of = [&](std::size_t i) { return weight ? weight[i] : Number(1); };
    if (all_rows) {
        for (std::size_t i = 0; i < rows; ++i) out[i] = weight_of(i);
    } else if (replace) {
        for_each_draw(seed, [&](std::uint32_t row) { ++out[row]; }, interrupt, thread);
    } else {
        for (const std::uint32_t row : draw_without_replacement(seed)) out[row] = weight_of(row);
    }
}

std::vector<std::uint32_t> Sampling::draw_rows(std::uint64_t seed, Interrupt* interrupt) const {
    if (!all_rows && !replace) return draw_without_replacement(seed);
    std::vector<std::uint32_t> selected;
    if (all_rows)
        for (std::size_t i = 0; i < rows; ++i) selected.push_back(std::uint32_t(i));
    else
        for_each_draw(seed, [&](std::uint32_t row) { selected.push_back(row); }, interrupt, 0);
    return selected;
}

}  // namespace ceiba::forest
