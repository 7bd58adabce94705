// Tests of the parts of forest growth: row draws, entry sorting and the search in coarse bins.
#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "check.hpp"
#include "forest/grow/coarse_search.hpp"
#include "forest/grow/entry_sort.hpp"
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

// Coarse bins

// Sums on one side of a threshold: weights by class, or weight and sum of the targets.
using Side = std::vector<Number>;

// Rows of one node in a few columns: skewed codes, some of them many times, and targets that depend
// on the first column.
template <typename Sample>
struct CoarseCase {
    static constexpr bool kClasses = Sample::kIsClassification;

    tree::TreeConfig config;
    std::vector<std::uint16_t> label;
    std::vector<Number> target, count;
    std::vector<double> value;
    std::vector<Codes> columns;
    Number mean = 0;

    CoarseCase(std::size_t rows, std::size_t n_columns, RandomSource& random) {
        config.n_classes = kClasses ? std::int64_t(random.between(2, 9)) : 0;
        config.weighted = true;
        config.criterion = kClasses ? tree::Criterion::kGini : tree::Criterion::kSquared;
        config.split.min_rows = random.one_in(2) ? 1 : Number(random.between(2, rows / 3));
        config.split.min_weight = random.one_in(2) ? 0 : Number(random.between(2, rows / 3));
        const std::uint64_t range = random.one_in(4) ? 90 : random.one_in(2) ? rows : 1 << 22;
        for (std::size_t j = 0; j < n_columns; ++j)
            columns.push_back(make_codes(rows, [&](std::size_t) {
                const std::size_t code = random.below(range);
                return random.one_in(3) ? code * code / range : code;
            }));
        const Number scale = Number(1) << random.below(20), shift = Number(random.below(9)) - 4;
        const std::uint64_t noise = random.between(1, 9);
        for (std::size_t i = 0; i < rows; ++i) {
            const std::size_t step = 3 * columns[0][i] / range + random.below(noise);
            label.push_back(std::uint16_t(kClasses ? step % std::size_t(config.n_classes) : 0));
            count.push_back(Number(random.between(1, 3)));
            target.push_back((shift - Number(step)) * scale);
            value.push_back(double(target.back()));
        }
    }

    tree::Targets targets() const {
        tree::Targets found;
        if (kClasses) {
            found.label = label.data();
        } else {
            found.weighted_target = target.data();
            found.value = value.data();
        }
        return found;
    }

    void add(Side& side, std::size_t i) const {
        if (kClasses) {
            side[label[i]] += count[i];
        } else {
            side[0] += count[i];
            side[1] += count[i] * (target[i] - mean);
        }
    }
    double term(const Side& side) const {
        if (!kClasses) return double(side[1]) / double(side[0]) * double(side[1]);
        double squares = 0, total = 0;
        for (const Number weight : side) {
            squares += double(weight) * double(weight);
            total += double(weight);
        }
        return squares / total;
    }
    Number weight(const Side& side) const {
        return kClasses ? std::accumulate(side.begin(), side.end(), Number(0)) : side[0];
    }

    // Sort all rows and try every threshold.
    tree::Candidate best_of(std::size_t j) const {
        std::vector<std::size_t> order(columns[j].size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(),
                  [&](auto a, auto b) { return columns[j][a] < columns[j][b]; });
        Side left(kClasses ? std::size_t(config.n_classes) : 2, 0), right = left;
        for (const std::size_t i : order) add(right, i);
        const Side all = right;
        tree::Candidate best;
        for (std::size_t r = 0; r + 1 < order.size(); ++r) {
            add(left, order[r]);
            for (std::size_t k = 0; k < all.size(); ++k) right[k] = all[k] - left[k];
            const std::uint32_t code = columns[j][order[r]], next = columns[j][order[r + 1]];
            if (code == next || r + 1 < std::size_t(config.split.min_rows) ||
                order.size() - r - 1 < std::size_t(config.split.min_rows) ||
                std::min(weight(left), weight(right)) < config.split.min_weight)
                continue;
            const double score = term(left) + term(right);
            if (score > best.score) best.split_between(code, next, score);
        }
        return best;
    }

    // The best split of all columns by the coarse search.
    std::vector<tree::Candidate> find() {
        const std::size_t n = label.size();
        Sample sample;
        sample.fill(targets(), config, count.data(), n);
        tree::TreeBuilder builder(config, columns.size());
        builder.add(0, 1);
        sample.sum_targets(builder.cell(0), 0, n);
        if (!kClasses) mean = builder.cell(0)[1] / builder.cell(0)[0];
        forest::CoarseSearch<Sample> search(config);
        expect(search.begin(sample, builder, {0, 0, n}), "the node is large enough");
        std::vector<std::vector<tree::LargeEntry>> entries(columns.size());
        std::vector<tree::Candidate> found(columns.size());
        for (std::size_t j = 0; j < columns.size(); ++j) {
            for (std::size_t i = 0; i < n; ++i)
                entries[j].push_back(tree::LargeEntry(columns[j][i]) << tree::kLargeBits |
                                     sample.tag(0, i));
            const auto [min, max] = std::minmax_element(columns[j].begin(), columns[j].end());
            search.add(entries[j], *min, *max, found[j]);
        }
        search.find();
        return found;
    }
};

bool same_split(const tree::Candidate& one, const tree::Candidate& other) {
    return one.score == other.score && one.found() == other.found() &&
           one.threshold_code == other.threshold_code && one.next_code == other.next_code;
}

// Columns that cannot be the best may have a worse candidate than their best, or none.
template <typename Sample>
void compare_with_all_thresholds(std::uint64_t seed) {
    RandomSource random(seed);
    std::size_t n_skipped = 0;
    for (int round = 0; round < 150; ++round) {
        CoarseCase<Sample> test_case(random.between(512, 900), random.between(1, 4), random);
        const std::vector<tree::Candidate> found = test_case.find();
        std::vector<tree::Candidate> expected;
        double best = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < found.size(); ++j) {
            expected.push_back(test_case.best_of(j));
            best = std::max(best, expected[j].score);
        }
        for (std::size_t j = 0; j < found.size(); ++j) {
            const std::string where =
                "round " + std::to_string(round) + ", column " + std::to_string(j);
            expect(found[j].has_candidates, where + " varies");
            if (expected[j].score == best)
                expect(same_split(found[j], expected[j]), where + " has the best split");
            else
                expect(found[j].score <= expected[j].score, where + " is not better");
            n_skipped += !found[j].found() && expected[j].found();
        }
    }
    expect(n_skipped > 50, "columns that cannot be the best are not sorted");
}

void coarse_bins_find_the_best_threshold_of_classes() {
    compare_with_all_thresholds<forest::CountedClassSample>(7);
}

void coarse_bins_find_the_best_threshold_of_numbers() {
    compare_with_all_thresholds<forest::RegressionSample>(8);
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
        {"coarse_bins_find_the_best_threshold_of_classes",
         coarse_bins_find_the_best_threshold_of_classes},
        {"coarse_bins_find_the_best_threshold_of_numbers",
         coarse_bins_find_the_best_threshold_of_numbers},
    };
}

}  // namespace ceiba::tests
