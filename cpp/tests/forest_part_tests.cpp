// Tests of the parts of forest growth: row draws, entry sorting, the small-node scan.
#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "check.hpp"
#include "forest/grow/entry_sort.hpp"
#include "forest/grow/small_gini_scan.hpp"
#include "forest/sample/sampling.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::tests {
namespace {

using forest::Sampling;
using tree::Number;

constexpr std::uint64_t kBootstrapStream = 0x626F6F74, kSubsampleStream = 0x737562;

// Draws

struct DrawCase {
    std::vector<Number> weight, running;
    Sampling sampling;

    DrawCase(std::size_t rows, std::uint64_t draws, bool replace, bool weighted,
             RandomSource& random) {
        sampling = {rows, draws, replace, false, nullptr, nullptr};
        if (!weighted) return;
        for (std::size_t i = 0; i < rows; ++i) weight.push_back(Number(random.between(1, 5)));
        running.resize(rows);
        std::partial_sum(weight.begin(), weight.end(), running.begin());
        sampling.weight = weight.data();
        sampling.cumulative = running.data();
    }

    Number weight_of(std::size_t i) const { return weight.empty() ? 1 : weight[i]; }
    std::vector<Number> counts(std::uint64_t seed, Interrupt* interrupt = nullptr,
                               int thread = 0) const {
        std::vector<Number> out(sampling.rows, -1);
        sampling.counts(seed, out.data(), interrupt, thread);
        return out;
    }
};

// Find the row of a draw by walking the cumulative weights.
std::uint32_t row_of_draw(const DrawCase& test_case, std::uint64_t seed, std::uint64_t d) {
    const Philox block = philox(seed, kBootstrapStream, d / 2);
    Number total = 0;
    for (std::size_t i = 0; i < test_case.sampling.rows; ++i) total += test_case.weight_of(i);
    auto point = Number(scaled(d % 2 ? odd_half(block) : even_half(block), std::uint64_t(total)));
    std::size_t row = 0;
    while (point >= test_case.weight_of(row)) point -= test_case.weight_of(row++);
    return std::uint32_t(row);
}

void rows_are_drawn_with_replacement() {
    RandomSource random(1);
    for (int round = 0; round < 60; ++round) {
        const std::size_t rows = random.between(1, 40);
        const DrawCase test_case(rows, random.between(1, 90), true, round % 2 == 0, random);
        const std::uint64_t seed = random.bits();
        std::vector<Number> expected(rows, 0);
        std::vector<std::uint32_t> order;
        for (std::uint64_t d = 0; d < test_case.sampling.draws; ++d) {
            order.push_back(row_of_draw(test_case, seed, d));
            ++expected[order.back()];
        }
        expect(test_case.counts(seed) == expected, "counts");
        expect(test_case.sampling.draw_rows(seed) == order, "order of the draws");
        expect(std::accumulate(expected.begin(), expected.end(), Number(0)) ==
                   Number(test_case.sampling.draws),
               "number of draws");
    }
}

void a_subset_has_the_rows_of_the_smallest_keys() {
    RandomSource random(2);
    for (int round = 0; round < 60; ++round) {
        const std::size_t rows = random.between(1, 40);
        const DrawCase test_case(rows, random.between(1, rows), false, round % 2 == 0, random);
        const std::uint64_t seed = random.bits();
        std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
        for (std::uint32_t i = 0; i < rows; ++i)
            keys.emplace_back(even_half(philox(seed, kSubsampleStream, i)), i);
        std::sort(keys.begin(), keys.end());
        std::vector<std::uint32_t> chosen;
        for (std::size_t i = 0; i < test_case.sampling.draws; ++i) chosen.push_back(keys[i].second);
        std::sort(chosen.begin(), chosen.end());
        expect(test_case.sampling.draw_rows(seed) == chosen, "rows");
        std::vector<Number> expected(rows, 0);
        for (const std::uint32_t row : chosen) expected[row] = test_case.weight_of(row);
        expect(test_case.counts(seed) == expected, "each with its own weight");
    }
}

void without_draws_every_row_is_in_the_sample() {
    RandomSource random(3);
    DrawCase test_case(20, 0, true, true, random);
    test_case.sampling.all_rows = true;
    expect(test_case.counts(7) == test_case.weight, "weights");
    test_case.sampling.weight = test_case.sampling.cumulative = nullptr;
    expect(test_case.counts(7) == std::vector<Number>(20, 1), "or one each");
    expect(test_case.sampling.draw_rows(7).size() == 20, "each once");
}

void tree_seeds_are_keyed_by_tree_index() {
    for (const std::uint64_t t : {0, 1, 99})
        expect(forest::tree_seed(5, t) == even_half(philox(5, 0x666F72657374, t)), "seed");
}

std::size_t n_polls = 0;

bool count_poll() {
    ++n_polls;
    return false;
}

// Many more draws than between two polls.
void polling_does_not_change_the_draws() {
    RandomSource random(4);
    const DrawCase test_case(50, 500'001, true, true, random);
    const std::vector<Number> alone = test_case.counts(3);
    Interrupt unpolled, polled, other;
    expect(test_case.counts(3, &unpolled) == alone, "no poll function");
    set_interrupt_poll(count_poll);
    n_polls = 0;
    for (int turn = 0; turn < 2000 && n_polls == 0; ++turn)
        expect(test_case.counts(3, &polled) == alone, "thread 0 polls for an interrupt");
    expect(n_polls > 0, "the interrupt was polled");
    expect(test_case.counts(3, &other, 1) == alone, "other threads read a flag");
    set_interrupt_poll(nullptr);
    expect(std::accumulate(alone.begin(), alone.end(), Number(0)) == 500'001, "all draws");
}

// Without the interrupt these draws would take hours.
void an_interrupt_ends_the_draws() {
    RandomSource random(5);
    const DrawCase test_case(50, std::uint64_t(1) << 45, true, false, random);
    Interrupt interrupt;
    interrupt.stop();
    test_case.counts(3, &interrupt);
    test_case.counts(3, &interrupt, 1);
    expect(test_case.sampling.draw_rows(3, &interrupt).empty(), "no rows");
}

// Sorting

using Codes = std::vector<std::uint32_t>;

// Sort entries through the interface of EntrySorter.
std::vector<tree::LargeEntry> sorted_entries(forest::EntrySorter& sort,
                                             std::vector<tree::LargeEntry> entries) {
    std::uint32_t min_code = entries.empty() ? 0 : ~0u, max_code = 0;
    for (const tree::LargeEntry entry : entries) {
        min_code = std::min(min_code, std::uint32_t(entry >> tree::kLargeBits));
        max_code = std::max(max_code, std::uint32_t(entry >> tree::kLargeBits));
    }
    const tree::LargeEntry* found = sort(entries.data(), entries.size(), min_code, max_code);
    return {found, found + entries.size()};
}

std::vector<tree::LargeEntry> with_random_tags(const Codes& codes, RandomSource& random) {
    std::vector<tree::LargeEntry> entries;
    for (const std::uint32_t code : codes)
        entries.push_back(tree::LargeEntry(code) << tree::kLargeBits | (random.bits() >> 32));
    return entries;
}

Codes make_codes(std::size_t n, const std::function<std::uint64_t(std::size_t)>& code) {
    Codes codes(n);
    for (std::size_t i = 0; i < n; ++i) codes[i] = std::uint32_t(code(i));
    return codes;
}

// Codes that are hard to sort; of skewed codes nearly all are in one bucket.
std::vector<Codes> adversarial_codes(std::size_t n, RandomSource& random) {
    const auto max_code = std::uint64_t(std::numeric_limits<std::uint32_t>::max());
    const auto any = [&](std::uint64_t below) {
        return [&random, below](std::size_t) { return random.below(below); };
    };
    const std::size_t odd = n ? random.below(n) : 0;
    return {
        make_codes(n, any(n + 1)),
        make_codes(n, any(7)),
        make_codes(n, any(40 * n + 1)),
        make_codes(n, any(max_code)),
        make_codes(n, [](std::size_t) { return 3; }),
        make_codes(n, [&](std::size_t) { return max_code; }),
        make_codes(n, [&](std::size_t) { return random.below(2) * max_code; }),
        make_codes(n, [&](std::size_t) { return 5 + random.below(2); }),
        make_codes(n, [](std::size_t i) { return i; }),
        make_codes(n, [&](std::size_t i) { return 3 * (n - i); }),
        make_codes(n, [&](std::size_t i) { return i == odd ? max_code : random.below(n + 1); }),
        make_codes(n, [&](std::size_t i) { return i == odd ? 0 : max_code - random.below(50); }),
        make_codes(n, [&](std::size_t) { return std::uint64_t(1) << random.below(32); }),
        make_codes(
            n, [&](std::size_t i) { return i % 2 ? random.below(3) : 1000 + random.below(99); }),
    };
}

void entries_are_sorted_by_code_and_stay_in_order() {
    RandomSource random(6);
    forest::EntrySorter sort;
    std::vector<std::size_t> sizes(301);
    std::iota(sizes.begin(), sizes.end(), 0);
    for (const std::size_t more : {4095, 4096, 5000}) sizes.push_back(more);
    for (const std::size_t n : sizes) {
        std::size_t number = 0;
        for (const Codes& codes : adversarial_codes(n, random)) {
            const std::vector<tree::LargeEntry> entries = with_random_tags(codes, random);
            std::vector<tree::LargeEntry> expected = entries;
            std::stable_sort(expected.begin(), expected.end(), [](auto one, auto other) {
                return one >> tree::kLargeBits < other >> tree::kLargeBits;
            });
            expect(sorted_entries(sort, entries) == expected,
                   std::to_string(n) + " codes of kind " + std::to_string(number));
            ++number;
        }
    }
}

// The small-node scan

struct SortedNode {
    tree::TreeConfig config;
    tree::Column column;
    std::vector<Number> cell;
    std::vector<tree::LargeEntry> sorted;

    // Rows of a sample, sorted by a column without missing values.
    SortedNode(std::size_t rows, RandomSource& random) {
        const std::size_t classes = random.between(2, 7);
        config.n_classes = Number(classes);
        config.weighted = true;
        config.split.min_rows = Number(random.one_in(2) ? 1 : random.between(1, 5));
        config.split.min_weight = Number(random.one_in(2) ? 0 : random.between(1, 9));
        column.n_codes = std::uint32_t(random.one_in(2) ? random.between(1, 6) : 5000);
        const std::size_t max_code = random.one_in(3) ? 2 : 4,
                          n_present = random.between(1, classes);
        cell.assign(classes + 1, 0);
        for (std::size_t i = 0; i < rows; ++i) {
            const std::uint64_t code = random.below(column.n_codes),
                                count = random.between(1, max_code);
            const std::uint64_t label = random.below(n_present);
            sorted.push_back(code << tree::TaggedSource::kCodeShift |
                             count << tree::TaggedSource::kCountShift | label);
            cell[label] += Number(count);
            ++cell[classes];
        }
        std::stable_sort(sorted.begin(), sorted.end(), [](auto one, auto other) {
            return tree::TaggedSource::code_of(one) < tree::TaggedSource::code_of(other);
        });
    }

    bool varies() const {
        return tree::TaggedSource::code_of(sorted.front()) !=
               tree::TaggedSource::code_of(sorted.back());
    }
    std::uint32_t max_code() const { return tree::TaggedSource::code_of(sorted.back()); }
};

// Search a node with SmallGiniScan.
tree::Candidate by_small_scan(const SortedNode& node) {
    forest::SmallGiniScan scan(node.config);
    tree::Candidate best;
    expect(scan.applies(node.column, node.sorted.size(), node.max_code()), "the scan applies");
    scan.find(node.cell.data(), node.sorted, best);
    return best;
}

tree::Candidate by_finder(const SortedNode& node) {
    const auto finder =
        tree::make_split_finder<tree::ClassRows<true>>(tree::split_finder_spec(node.config));
    tree::Candidate best;
    finder->search_tagged({node.cell.data(), finder->term(node.cell.data()), 1}, node.column,
                          node.sorted, best);
    return best;
}

void small_scan_equals_the_general_search() {
    RandomSource random(7);
    std::size_t found = 0;
    for (int round = 0; round < 6000; ++round) {
        const std::size_t rows = round % 4 ? random.between(2, 24) : random.between(25, 256);
        const SortedNode node(rows, random);
        if (!node.varies()) continue;  // the grower does not search constant columns
        const tree::Candidate one = by_small_scan(node), other = by_finder(node);
        const std::string what = " of round " + std::to_string(round);
        expect(one.found() == other.found(), "whether there is a split" + what);
        if (!one.found()) continue;
        ++found;
        expect(one.score == other.score && one.terms == other.terms, "score" + what);
        expect(one.threshold_code == other.threshold_code && one.next_code == other.next_code,
               "threshold" + what);
        expect(one.shape == other.shape && one.missing_branch == other.missing_branch,
               "shape" + what);
        expect(one.n_branches == other.n_branches && one.method == other.method, "branches" + what);
    }
    expect(found > 4000, "most nodes are split");
}

void small_scan_declines_unsupported_columns() {
    RandomSource random(8);
    SortedNode node(20, random);
    node.column.n_codes = 5001;
    const forest::SmallGiniScan scan(node.config);
    expect(scan.applies(node.column, 20, 5000), "a numeric column without missing values");
    expect(!scan.applies(node.column, 20, node.column.missing_code()), "missing values");
    tree::Column nominal = node.column;
    nominal.nominal = true;
    expect(!scan.applies(nominal, 20, 5000), "a nominal column");
    tree::TreeConfig other = node.config;
    other.criterion = tree::Criterion::kEntropy;
    expect(!forest::SmallGiniScan(other).applies(node.column, 20, 5000), "another criterion");
    other = node.config;
    other.split.threshold_grid = tree::ThresholdGrid::kRandom;
    expect(!forest::SmallGiniScan(other).applies(node.column, 20, 5000), "random thresholds");
}

}  // namespace

Tests forest_part_tests() {
    return {
        {"rows_are_drawn_with_replacement", rows_are_drawn_with_replacement},
        {"a_subset_has_the_rows_of_the_smallest_keys", a_subset_has_the_rows_of_the_smallest_keys},
        {"without_draws_every_row_is_in_the_sample", without_draws_every_row_is_in_the_sample},
        {"tree_seeds_are_keyed_by_tree_index", tree_seeds_are_keyed_by_tree_index},
        {"polling_does_not_change_the_draws", polling_does_not_change_the_draws},
        {"an_interrupt_ends_the_draws", an_interrupt_ends_the_draws},
        {"entries_are_sorted_by_code_and_stay_in_order",
         entries_are_sorted_by_code_and_stay_in_order},
        {"small_scan_equals_the_general_search", small_scan_equals_the_general_search},
        {"small_scan_declines_unsupported_columns", small_scan_declines_unsupported_columns},
    };
}

}  // namespace ceiba::tests
