#include "forest/grow_forest.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

#include "forest/drawn_tree.hpp"
#include "parallel.hpp"
#include "tree/logarithms.hpp"

namespace ceiba::forest {
namespace {

using tree::Columns;
using tree::FinderSpec;

// Codes row after row, for trees that look at few of their columns.
template <typename Code>
std::vector<Code> by_rows(const Columns<Code>& columns, int threads) {
    const std::size_t p = columns.count();
    std::vector<Code> codes(columns.rows * p);
    const Segments parts = segments(columns.rows, 1024);
    for_segments(parts, threads_for(double(codes.size()), threads),
                 [&](std::size_t s, int, Interrupt&) {
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i)
                         for (std::size_t j = 0; j < p; ++j)
                             codes[i * p + j] = columns.column(j)[i];
                 });
    return codes;
}

// The targets of one tree, where its own weights change them.
struct OwnTargets {
    tree::Targets view;
    std::vector<Number> weight, number;
};

// What a thread grows one tree after the other with; its memory is had once.
template <typename Code, typename Bag>
struct Drawn {
    Drawn(const RowCodes<Code>& codes, const GrowthRules& rules) : tree(codes, rules) {}

    Bag bag;
    DrawnTree<Code, Bag> tree;
};

template <typename Code>
struct Workspace {
    Workspace(const RowCodes<Code>& codes, const GrowthRules& rules)
        : growth(rules, codes.by_column->count()),
          tagged(codes, rules),
          weighted(codes, rules),
          numbers(codes, rules) {}

    template <typename Bag>
    Drawn<Code, Bag>& drawn() {
        if constexpr (std::is_same_v<Bag, TaggedBag>)
            return tagged;
        else if constexpr (std::is_same_v<Bag, WeightedBag>)
            return weighted;
        else
            return numbers;
    }

    std::vector<Number> count;  // draws of every row
    std::vector<Number> steps;  // of the weights of each class
    Growth growth;
    Drawn<Code, TaggedBag> tagged;
    Drawn<Code, WeightedBag> weighted;
    Drawn<Code, NumberBag> numbers;
};

template <typename Code>
class ForestGrower {
  public:
    ForestGrower(const ForestRules& rules, const Columns<Code>& columns,
                 const tree::Targets& targets, const Sampling& sampling, const tree::Scales& scales,
                 int threads)
        : rules_(rules),
          columns_(columns),
          targets_(targets),
          sampling_(sampling),
          scales_(scales) {
        drawn_ = draws_columns();
        if (drawn_) codes_ = by_rows(columns, threads);
        table_ = tree::xlog2x_table(rules.tree, columns.rows);
        spec_ = tree::finder_spec(rules.tree);
        spec_.xlog2x = {table_.data(), table_.size()};
    }

    Trees run(int threads) {
        const std::size_t trees = rules_.seeds.size();
        std::vector<Trees> grown(trees);
        const double work =
            100.0 * double(trees) * double(columns_.rows) * double(columns_.count());
        const int used = threads_for(work, threads);
        using Space = Workspace<Code>;
        std::vector<std::unique_ptr<Space>> spaces{std::size_t(used)};
        for_segments({trees, trees}, used, [&](std::size_t t, int thread, Interrupt& interrupt) {
            std::unique_ptr<Space>& own = spaces[std::size_t(thread)];
            const RowCodes<Code> codes{codes_.data(), &columns_};
            if (!own) own = std::make_unique<Space>(codes, rules_.tree);
            grown[t] = grow_tree(rules_.seeds[t], *own, interrupt, thread);
        });
        Trees all;
        std::size_t nodes = 0;
        for (const Trees& one : grown) nodes += one.nodes.size();
        all.nodes.reserve(nodes);
        for (Trees& one : grown) {
            all.join(one);
            one = Trees{};
        }
        const auto& steps = all.steps;
        if (std::all_of(steps.begin(), steps.end(), [](Number step) { return step == 1; }))
            all.steps.clear();
        return all;
    }

  private:
    // Looking at the drawn columns of every node, against parting all columns with the rows. On
    // 100,000 x 28 exact values half of the columns cost 0.68 (numbers) to 0.78 (classes) as much;
    // of 255 bins 0.42 to 0.51, so that all of them cost no more.
    bool draws_columns() const {
        const tree::GrowthRules& rules = rules_.tree;
        if (rules.limited() || rules.criterion == tree::Criterion::kAbsolute) return false;
        std::size_t looked_at = columns_.count();
        if (rules_.columns_a_tree > 0) looked_at = std::min(looked_at, rules_.columns_a_tree);
        if (rules.columns_a_node > 0)
            looked_at = std::min(looked_at, std::size_t(rules.columns_a_node));
        const auto& all = columns_.columns;
        const bool few_codes = std::all_of(all.begin(), all.end(), [&](const tree::Column& column) {
            return columns_.rows >= 3 * (std::size_t(column.n_codes) + 1);
        });
        return few_codes || 3 * looked_at <= 2 * columns_.count();
    }

    Trees grow_tree(std::uint64_t seed, Workspace<Code>& space, Interrupt& interrupt, int thread) {
        std::vector<Number>& count = space.count;
        count.resize(sampling_.rows);
        sampling_.counts(seed, count.data(), &interrupt, thread);
        if (interrupt.raised()) return {};
        Growth& growth = space.growth;
        growth.clear();
        growth.rules = rules_.tree;
        growth.rules.seed = seed;
        growth.used = left_out(seed);
        OwnTargets own;
        own.view = targets_;
        if (rules_.balanced > 0) balance(count.data(), own);
        if (rules_.least_share > 0)
            growth.rules.split.least_weight =
                Number(std::ceil(rules_.least_share * weight_of(count.data(), own.view)));
        space.steps = class_steps(count.data(), own.view);
        if (!drawn_) return grow_whole(space, own, count.data(), interrupt);
        if (rules_.tree.classes == 0)
            return grow_drawn<NumberBag>(space, own.view, interrupt, thread);
        if (TaggedBag::fits(own.view, count.data(), count.size()))
            return grow_drawn<TaggedBag>(space, own.view, interrupt, thread);
        return grow_drawn<WeightedBag>(space, own.view, interrupt, thread);
    }

    // What the weights of each class in a bag are multiples of. Those of class weights and of
    // balanced classes are counts of rows in long steps, and counts take few bits in a leaf.
    std::vector<Number> class_steps(const Number* count, const tree::Targets& targets) const {
        if (targets.label == nullptr || targets.weight == nullptr) return {};
        std::vector<Number> steps(std::size_t(rules_.tree.classes), 0);
        for (std::size_t i = 0; i < sampling_.rows; ++i)
            if (count[i] > 0)
                steps[targets.label[i]] = std::gcd(steps[targets.label[i]], targets.weight[i]);
        // Of a class that is not there any will do.
        for (Number& step : steps) step = std::max<Number>(step, 1);
        return steps;
    }

    double weight_of(const Number* count, const tree::Targets& targets) const {
        double total = 0;
        for (std::size_t i = 0; i < sampling_.rows; ++i)
            total += double(count[i]) * double(targets.weight ? targets.weight[i] : 1);
        return total;
    }

    // Columns that a tree may not test, because it drew others.
    std::vector<std::int32_t> left_out(std::uint64_t seed) const {
        std::vector<std::int32_t> out;
        if (rules_.columns_a_tree == 0 || rules_.columns_a_tree >= columns_.count()) return out;
        tree::ColumnDraw draw;
        draw.begin(columns_.count(), seed, tree::kTreeColumns);
        for (std::size_t i = 0; i < rules_.columns_a_tree; ++i) draw.next();
        while (draw.more()) out.push_back(draw.next());
        std::sort(out.begin(), out.end());
        return out;
    }

    // Give the classes of a bag equal weight: rows / (classes in it * rows of the class).
    void balance(const Number* count, OwnTargets& own) const {
        std::vector<double> rows(std::size_t(rules_.tree.classes), 0);
        for (std::size_t i = 0; i < sampling_.rows; ++i)
            rows[targets_.label[i]] += double(count[i]);
        double total = 0, classes = 0;
        for (const double each : rows) {
            total += each;
            classes += each > 0;
        }
        own.weight.resize(sampling_.rows);
        for (std::size_t i = 0; i < sampling_.rows; ++i) {
            const double factor = total / (classes * std::max(1.0, rows[targets_.label[i]]));
            const auto fixed = Number(std::nearbyint(factor / rules_.balanced));
            own.weight[i] = std::max<Number>(1, fixed);
        }
        own.view.weight = own.weight.data();
    }

    template <typename Bag>
    Trees grow_drawn(Workspace<Code>& space, const tree::Targets& targets, Interrupt& interrupt,
                     int thread) {
        const GrowthRules& rules = space.growth.rules;
        const auto finder = tree::make_finder<typename Bag::Rows>(spec_of(rules));
        Drawn<Code, Bag>& own = space.template drawn<Bag>();
        own.bag.fill(targets, rules, space.count.data(), sampling_.rows);
        TreePacker packer(space.growth, scales_, space.steps);
        own.tree.grow(space.growth, own.bag, *finder, packer, interrupt, thread);
        return interrupt.raised() ? Trees{} : packer.finish();
    }

    // What a tree has of its own: the seed of random cuts, and the weight that branches need.
    FinderSpec spec_of(const GrowthRules& rules) const {
        FinderSpec spec = spec_;
        spec.rules.seed = rules.seed;
        spec.rules.least_weight = rules.split.least_weight;
        return spec;
    }

    // All columns are looked at: they are sorted once, and parted with the rows.
    Trees grow_whole(Workspace<Code>& space, OwnTargets& own, const Number* count,
                     Interrupt& interrupt) {
        Growth& growth = space.growth;
        std::vector<Number> weight(sampling_.rows, 1), number;
        std::vector<std::int32_t> node(sampling_.rows, -1);
        Number total = 0;
        for (std::size_t i = 0; i < sampling_.rows; ++i) {
            if (count[i] == 0) continue;
            node[i] = 0;
            weight[i] = count[i] * (own.view.weight ? own.view.weight[i] : 1);
            total += weight[i];
        }
        const bool sums = own.view.number && rules_.tree.criterion != tree::Criterion::kAbsolute;
        for (std::size_t i = 0; sums && i < sampling_.rows; ++i)
            number.push_back(count[i] * own.view.number[i]);
        if (sums) own.view.number = number.data();
        own.view.weight = weight.data();
        own.view.square = nullptr;
        growth.add(0, 1);
        growth.rules.root_weight = double(total);
        tree::grow(growth, columns_, own.view, node.data(), 1);
        return interrupt.raised() ? Trees{} : pack_tree(growth, scales_, space.steps);
    }

    const ForestRules& rules_;
    const Columns<Code>& columns_;
    const tree::Targets& targets_;
    const Sampling& sampling_;
    const tree::Scales& scales_;
    bool drawn_ = false;
    std::vector<Code> codes_;
    std::vector<double> table_;
    FinderSpec spec_;
};

}  // namespace

template <typename Code>
Trees grow_forest(const ForestRules& rules, const Columns<Code>& columns,
                  const tree::Targets& targets, const Sampling& sampling,
                  const tree::Scales& scales, int threads) {
    ForestGrower<Code> grower(rules, columns, targets, sampling, scales, threads);
    return grower.run(threads);
}

template Trees grow_forest(const ForestRules&, const Columns<std::uint8_t>&, const tree::Targets&,
                           const Sampling&, const tree::Scales&, int);
template Trees grow_forest(const ForestRules&, const Columns<std::uint16_t>&, const tree::Targets&,
                           const Sampling&, const tree::Scales&, int);
template Trees grow_forest(const ForestRules&, const Columns<std::uint32_t>&, const tree::Targets&,
                           const Sampling&, const tree::Scales&, int);

}  // namespace ceiba::forest
