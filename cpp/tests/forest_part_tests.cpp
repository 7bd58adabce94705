// The parts of a forest's growth by themselves: draws, sorting, the search in few rows.
#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "check.hpp"
#include "forest/entry_sort.hpp"
#include "forest/few_rows.hpp"
#include "forest/sampling.hpp"
#include "tree/finder.hpp"

namespace ceiba::tests {
namespace {

using forest::Sampling;
using tree::Number;

constexpr std::uint64_t kRows = 0x626F6F74, kChosen = 0x737562;

// Draws

struct Drawn {
    std::vector<Number> weight, running;
    Sampling sampling;

    Drawn(std::size_t rows, std::uint64_t draws, bool replace, bool weighted, Chance& chance) {
        sampling = {rows, draws, replace, false, nullptr, nullptr};
        if (!weighted) return;
        for (std::size_t i = 0; i < rows; ++i) weight.push_back(Number(chance.between(1, 5)));
        running.resize(rows);
        std::partial_sum(weight.begin(), weight.end(), running.begin());
        sampling.weight = weight.data();
        sampling.running = running.data();
    }

    Number own(std::size_t i) const { return weight.empty() ? 1 : weight[i]; }
    std::vector<Number> counts(std::uint64_t seed, Interrupt* interrupt = nullptr,
                               int thread = 0) const {
        std::vector<Number> out(sampling.rows, -1);
        sampling.counts(seed, out.data(), interrupt, thread);
        return out;
    }
};

// The row whose stretch of the total weight a draw falls into, found step by step.
std::uint32_t row_of_draw(const Drawn& drawn, std::uint64_t seed, std::uint64_t d) {
    const Philox block = philox(seed, kRows, d / 2);
    Number total = 0;
    for (std::size_t i = 0; i < drawn.sampling.rows; ++i) total += drawn.own(i);
    auto point = Number(scaled(d % 2 ? odd_half(block) : even_half(block), std::uint64_t(total)));
    std::size_t row = 0;
    while (point >= drawn.own(row)) point -= drawn.own(row++);
    return std::uint32_t(row);
}

void rows_are_drawn_with_replacement() {
    Chance chance(1);
    for (int round = 0; round < 60; ++round) {
        const std::size_t rows = chance.between(1, 40);
        const Drawn drawn(rows, chance.between(1, 90), true, round % 2 == 0, chance);
        const std::uint64_t seed = chance.bits();
        std::vector<Number> wanted(rows, 0);
        std::vector<std::uint32_t> order;
        for (std::uint64_t d = 0; d < drawn.sampling.draws; ++d) {
            order.push_back(row_of_draw(drawn, seed, d));
            ++wanted[order.back()];
        }
        expect(drawn.counts(seed) == wanted, "counts");
        expect(drawn.sampling.drawn(seed) == order, "order of the draws");
        expect(std::accumulate(wanted.begin(), wanted.end(), Number(0)) ==
                   Number(drawn.sampling.draws),
               "as many as draws");
    }
}

void a_subset_has_the_rows_of_the_smallest_keys() {
    Chance chance(2);
    for (int round = 0; round < 60; ++round) {
        const std::size_t rows = chance.between(1, 40);
        const Drawn drawn(rows, chance.between(1, rows), false, round % 2 == 0, chance);
        const std::uint64_t seed = chance.bits();
        std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
        for (std::uint32_t i = 0; i < rows; ++i)
            keys.emplace_back(even_half(philox(seed, kChosen, i)), i);
        std::sort(keys.begin(), keys.end());
        std::vector<std::uint32_t> chosen;
        for (std::size_t i = 0; i < drawn.sampling.draws; ++i) chosen.push_back(keys[i].second);
        std::sort(chosen.begin(), chosen.end());
        expect(drawn.sampling.drawn(seed) == chosen, "rows");
        std::vector<Number> wanted(rows, 0);
        for (const std::uint32_t row : chosen) wanted[row] = drawn.own(row);
        expect(drawn.counts(seed) == wanted, "each with its own weight");
    }
}

void without_draws_every_row_is_in_the_bag() {
    Chance chance(3);
    Drawn drawn(20, 0, true, true, chance);
    drawn.sampling.every = true;
    expect(drawn.counts(7) == drawn.weight, "weights");
    drawn.sampling.weight = drawn.sampling.running = nullptr;
    expect(drawn.counts(7) == std::vector<Number>(20, 1), "or one each");
    expect(drawn.sampling.drawn(7).size() == 20, "each once");
}

void the_seeds_of_trees_are_keyed_by_their_numbers() {
    for (const std::uint64_t t : {0, 1, 99})
        expect(forest::seed_of_tree(5, t) == even_half(philox(5, 0x666F72657374, t)), "seed");
}

std::size_t looks = 0;

bool never() {
    ++looks;
    return false;
}

// Many more draws than are made between two looks at the clock.
void who_listens_changes_no_draw() {
    Chance chance(4);
    const Drawn drawn(50, 500'001, true, true, chance);
    const std::vector<Number> alone = drawn.counts(3);
    Interrupt quiet, asked, other;
    expect(drawn.counts(3, &quiet) == alone, "nobody asks");
    set_interrupt_poll(never);
    looks = 0;
    for (int turn = 0; turn < 2000 && looks == 0; ++turn)
        expect(drawn.counts(3, &asked) == alone, "thread 0 looks for an interrupt");
    expect(looks > 0, "somebody looked");
    expect(drawn.counts(3, &other, 1) == alone, "other threads look at a flag");
    set_interrupt_poll(nullptr);
    expect(std::accumulate(alone.begin(), alone.end(), Number(0)) == 500'001, "all draws");
}

// It would go on for hours.
void an_interrupt_ends_the_draws() {
    Chance chance(5);
    const Drawn drawn(50, std::uint64_t(1) << 45, true, false, chance);
    Interrupt interrupt;
    interrupt.stop();
    drawn.counts(3, &interrupt);
    drawn.counts(3, &interrupt, 1);
    expect(drawn.sampling.drawn(3, &interrupt).empty(), "nothing was drawn");
}

// Sorting

using Codes = std::vector<std::uint32_t>;

// The one place that knows how entries are sorted.
std::vector<tree::LargeEntry> sorted_entries(forest::EntrySort& sort,
                                             std::vector<tree::LargeEntry> entries) {
    std::uint32_t least = entries.empty() ? 0 : ~0u, most = 0;
    for (const tree::LargeEntry entry : entries) {
        least = std::min(least, std::uint32_t(entry >> tree::kLargeBits));
        most = std::max(most, std::uint32_t(entry >> tree::kLargeBits));
    }
    const tree::LargeEntry* found = sort(entries.data(), entries.size(), least, most);
    return {found, found + entries.size()};
}

std::vector<tree::LargeEntry> tagged(const Codes& codes, Chance& chance) {
    std::vector<tree::LargeEntry> entries;
    for (const std::uint32_t code : codes)
        entries.push_back(tree::LargeEntry(code) << tree::kLargeBits | (chance.bits() >> 32));
    return entries;
}

Codes made(std::size_t n, const std::function<std::uint64_t(std::size_t)>& code) {
    Codes codes(n);
    for (std::size_t i = 0; i < n; ++i) codes[i] = std::uint32_t(code(i));
    return codes;
}

// Codes on which a sort may go wrong; of skewed ones nearly all lie in one bucket.
std::vector<Codes> hard_codes(std::size_t n, Chance& chance) {
    const auto most = std::uint64_t(std::numeric_limits<std::uint32_t>::max());
    const auto any = [&](std::uint64_t below) {
        return [&chance, below](std::size_t) { return chance.below(below); };
    };
    const std::size_t odd = n ? chance.below(n) : 0;
    return {
        made(n, any(n + 1)),
        made(n, any(7)),
        made(n, any(40 * n + 1)),
        made(n, any(most)),
        made(n, [](std::size_t) { return 3; }),
        made(n, [&](std::size_t) { return most; }),
        made(n, [&](std::size_t) { return chance.below(2) * most; }),
        made(n, [&](std::size_t) { return 5 + chance.below(2); }),
        made(n, [](std::size_t i) { return i; }),
        made(n, [&](std::size_t i) { return 3 * (n - i); }),
        made(n, [&](std::size_t i) { return i == odd ? most : chance.below(n + 1); }),
        made(n, [&](std::size_t i) { return i == odd ? 0 : most - chance.below(50); }),
        made(n, [&](std::size_t) { return std::uint64_t(1) << chance.below(32); }),
        made(n, [&](std::size_t i) { return i % 2 ? chance.below(3) : 1000 + chance.below(99); }),
    };
}

void entries_are_sorted_by_code_and_stay_in_order() {
    Chance chance(6);
    forest::EntrySort sort;
    std::vector<std::size_t> sizes(301);
    std::iota(sizes.begin(), sizes.end(), 0);
    for (const std::size_t more : {4095, 4096, 5000}) sizes.push_back(more);
    for (const std::size_t n : sizes) {
        std::size_t number = 0;
        for (const Codes& codes : hard_codes(n, chance)) {
            const std::vector<tree::LargeEntry> entries = tagged(codes, chance);
            std::vector<tree::LargeEntry> wanted = entries;
            std::stable_sort(wanted.begin(), wanted.end(), [](auto one, auto other) {
                return one >> tree::kLargeBits < other >> tree::kLargeBits;
            });
            expect(sorted_entries(sort, entries) == wanted,
                   std::to_string(n) + " codes of kind " + std::to_string(number));
            ++number;
        }
    }
}

// The search in few rows

struct SmallNode {
    tree::GrowthRules rules;
    tree::Column column;
    std::vector<Number> cell;
    std::vector<tree::LargeEntry> sorted;

    // Rows of a bag, sorted by a column that has no gaps in them.
    SmallNode(std::size_t rows, Chance& chance) {
        const std::size_t classes = chance.between(2, 7);
        rules.classes = Number(classes);
        rules.weighted = true;
        rules.split.least_rows = Number(chance.one_in(2) ? 1 : chance.between(1, 5));
        rules.split.least_weight = Number(chance.one_in(2) ? 0 : chance.between(1, 9));
        column.n_codes = std::uint32_t(chance.one_in(2) ? chance.between(1, 6) : 5000);
        const std::size_t most = chance.one_in(3) ? 2 : 4, present = chance.between(1, classes);
        cell.assign(classes + 1, 0);
        for (std::size_t i = 0; i < rows; ++i) {
            const std::uint64_t code = chance.below(column.n_codes),
                                count = chance.between(1, most);
            const std::uint64_t label = chance.below(present);
            sorted.push_back(code << tree::Tagged::kCodeShift | count << tree::Tagged::kCountShift |
                             label);
            cell[label] += Number(count);
            ++cell[classes];
        }
        std::stable_sort(sorted.begin(), sorted.end(), [](auto one, auto other) {
            return tree::Tagged::code_of(one) < tree::Tagged::code_of(other);
        });
    }

    bool varies() const {
        return tree::Tagged::code_of(sorted.front()) != tree::Tagged::code_of(sorted.back());
    }
    std::uint32_t most() const { return tree::Tagged::code_of(sorted.back()); }
};

// The one place that knows how few rows are searched.
tree::Candidate by_few_rows(const SmallNode& node) {
    forest::FewRows few(node.rules);
    tree::Candidate best;
    expect(few.suits(node.column, node.sorted.size(), node.most()), "few rows suit");
    few.find(node.cell.data(), node.sorted, best);
    return best;
}

tree::Candidate by_finder(const SmallNode& node) {
    const auto finder = tree::make_finder<tree::ClassRows<true>>(tree::finder_spec(node.rules));
    tree::Candidate best;
    finder->tagged({node.cell.data(), finder->term(node.cell.data()), 1}, node.column, node.sorted,
                   best);
    return best;
}

void few_rows_are_split_as_many_are() {
    Chance chance(7);
    std::size_t found = 0;
    for (int round = 0; round < 6000; ++round) {
        const std::size_t rows = round % 4 ? chance.between(2, 24) : chance.between(25, 256);
        const SmallNode node(rows, chance);
        if (!node.varies()) continue;  // the growing tree does not ask
        const tree::Candidate one = by_few_rows(node), other = by_finder(node);
        const std::string what = " of round " + std::to_string(round);
        expect(one.found() == other.found(), "whether there is a split" + what);
        if (!one.found()) continue;
        ++found;
        expect(one.score == other.score && one.terms == other.terms, "score" + what);
        expect(one.cut == other.cut && one.next == other.next, "cut" + what);
        expect(one.shape == other.shape && one.gap == other.gap, "shape" + what);
        expect(one.branches == other.branches && one.method == other.method, "branches" + what);
    }
    expect(found > 4000, "most nodes are split");
}

void what_is_not_for_few_rows_is_left_to_others() {
    Chance chance(8);
    SmallNode node(20, chance);
    node.column.n_codes = 5001;
    const forest::FewRows few(node.rules);
    expect(few.suits(node.column, 20, 5000), "a number without gaps");
    expect(!few.suits(node.column, 20, node.column.gap()), "gaps");
    tree::Column nominal = node.column;
    nominal.nominal = true;
    expect(!few.suits(nominal, 20, 5000), "levels");
    tree::GrowthRules other = node.rules;
    other.criterion = tree::Criterion::kEntropy;
    expect(!forest::FewRows(other).suits(node.column, 20, 5000), "another criterion");
    other = node.rules;
    other.split.cuts = tree::CutRule::kRandom;
    expect(!forest::FewRows(other).suits(node.column, 20, 5000), "drawn thresholds");
}

}  // namespace

Tests forest_part_tests() {
    return {
        {"rows_are_drawn_with_replacement", rows_are_drawn_with_replacement},
        {"a_subset_has_the_rows_of_the_smallest_keys", a_subset_has_the_rows_of_the_smallest_keys},
        {"without_draws_every_row_is_in_the_bag", without_draws_every_row_is_in_the_bag},
        {"the_seeds_of_trees_are_keyed_by_their_numbers",
         the_seeds_of_trees_are_keyed_by_their_numbers},
        {"who_listens_changes_no_draw", who_listens_changes_no_draw},
        {"an_interrupt_ends_the_draws", an_interrupt_ends_the_draws},
        {"entries_are_sorted_by_code_and_stay_in_order",
         entries_are_sorted_by_code_and_stay_in_order},
        {"few_rows_are_split_as_many_are", few_rows_are_split_as_many_are},
        {"what_is_not_for_few_rows_is_left_to_others", what_is_not_for_few_rows_is_left_to_others},
    };
}

}  // namespace ceiba::tests
