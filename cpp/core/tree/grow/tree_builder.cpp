// Implementation of the growing tree.
#include "tree/grow/tree_builder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "common/random.hpp"

namespace ceiba::tree {
namespace {

std::uint64_t path_of(std::uint64_t parent, std::size_t branch) {
    return even_half(philox(parent, 0x70617468, branch));
}

}  // namespace

Number TreeBuilder::weight(std::size_t node) const {
    const Number* c = cell(node);
    return config.n_classes ? std::accumulate(c, c + config.n_classes, Number(0)) : c[0];
}

Number TreeBuilder::count(std::size_t node) const {
    return config.weighted ? cell(node)[size - 1] : weight(node);
}

void TreeBuilder::clear() {
    nodes.clear();
    cells.clear();
    tables.clear();
    surrogates.clear();
    excluded.clear();
    candidate_gains.clear();
    candidate_codes.clear();
}

std::int32_t TreeBuilder::add(std::int32_t depth, std::uint64_t path) {
    if (nodes.size() >= std::size_t(std::numeric_limits<std::int32_t>::max()))
        throw std::length_error(
            "a tree must have at most 2^31 - 1 nodes: set max_depth or max_leaf_nodes.");
    Node node;
    node.depth = depth;
    node.path = path;
    node.min_target = std::numeric_limits<double>::infinity();
    node.max_target = -node.min_target;
    nodes.push_back(node);
    cells.resize(nodes.size() * size, 0);
    if (config.keep_candidates) {
        candidate_gains.resize(nodes.size() * columns, std::numeric_limits<double>::quiet_NaN());
        candidate_codes.resize(nodes.size() * columns, 0);
    }
    return std::int32_t(nodes.size() - 1);
}

void TreeBuilder::copy(std::size_t node, std::size_t to) {
    nodes[to] = nodes[node];
    std::copy_n(cell(node), size, cell(to));
}

std::size_t TreeBuilder::add_copy(std::size_t node) {
    const auto to = std::size_t(add(0, 0));
    copy(node, to);
    return to;
}

void TreeBuilder::truncate(std::size_t count) {
    nodes.resize(count);
    cells.resize(count * size);
}

bool TreeBuilder::pure(std::size_t node) const {
    const Number* c = cell(node);
    if (config.n_classes) return *std::max_element(c, c + config.n_classes) == weight(node);
    return nodes[node].min_target == nodes[node].max_target;
}

double TreeBuilder::impurity(std::size_t node) const {
    if (pure(node) || count(node) == 0) return 0;
    const Node& n = nodes[node];
    const double weight_ = double(weight(node));
    if (config.has_vectors()) {
        const double unit = config.target_unit / config.weight_unit;
        return n.deviation / weight_ * unit * unit;
    }
    switch (config.criterion) {
        case Criterion::kGini:
        case Criterion::kError:
            return std::max(0.0, 1 - n.term / weight_);
        case Criterion::kEntropy:
        case Criterion::kGainRatio:
            return std::max(0.0, -n.term / weight_);
        case Criterion::kAbsolute:
            return n.deviation / weight_;
        default:
            break;
    }
    const double weight_real = weight_ * config.weight_unit;
    const double sum = double(cell(node)[1]) * config.target_unit, mean = sum / weight_real;
    if (config.criterion == Criterion::kPoisson) {
        const double logs = double(n.squares) * config.square_unit;
        return std::max(0.0, sum > 0 ? (logs - sum * std::log(mean)) / weight_real : 0.0);
    }
    return std::max(0.0, double(n.squares) * config.square_unit / weight_real - mean * mean);
}

NodeCell TreeBuilder::node_cell(std::size_t node) const {
    NodeCell found{cell(node), nodes[node].term, nodes[node].path, 0, nodes[node].bounds};
    if (config.split.category_correction)
        found.max_gain = to_terms(impurity(node) * double(weight(node)));
    return found;
}

void TreeBuilder::close_if_leaf(std::size_t node) {
    Node& n = nodes[node];
    if (count(node) == 0)
        n.reason = Reason::kEmpty;
    else if (pure(node))
        n.reason = Reason::kPure;
    else if (config.min_impurity > 0 && impurity(node) <= config.min_impurity)
        n.reason = Reason::kImpurity;
    else if (n.depth >= config.max_depth)
        n.reason = Reason::kDepth;
    else if (count(node) < config.min_rows_split)
        n.reason = Reason::kRows;
}

double TreeBuilder::gain(std::size_t node, const Candidate& candidate) const {
    const double gained = candidate.terms - candidate.correction - nodes[node].term;
    const double terms = std::max(0.0, gained) / double(weight(node));
    const double unit = config.target_unit / config.weight_unit;
    if (config.criterion == Criterion::kPoisson) return terms * unit;
    // Not unit^2, which may underflow.
    return config.criterion == Criterion::kSquared ? terms * unit * unit : terms;
}

double TreeBuilder::to_terms(double gain) const {
    const double unit = config.target_unit / config.weight_unit;
    if (config.criterion == Criterion::kPoisson) return gain / unit;
    return config.criterion == Criterion::kSquared ? gain / unit / unit : gain;
}

namespace {

// Quinlan's tolerance when a gain is compared with the average gain.
constexpr double kSlack = 1e-3;

}  // namespace

bool TreeBuilder::has_no_gain(std::size_t node, const Candidate& candidate) const {
    return gain(node, candidate) <= kGainRounding || candidate.score <= 0;
}

// Mean gain of the columns with a gain; columns of very many categories would raise it.
double TreeBuilder::average_gain(std::size_t node, const std::vector<Candidate>& best) const {
    double sum = 0, count = 0;
    for (const Candidate& candidate : best) {
        if (!candidate.found() || gain(node, candidate) <= kGainRounding) continue;
        if (double(candidate.n_categories) >= config.many_categories) continue;
        sum += gain(node, candidate);
        ++count;
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::infinity();
}

void TreeBuilder::record_candidates(std::size_t node,
                                    const std::vector<std::int32_t>& columns_searched,
                                    const std::vector<Candidate>& best) {
    // Columns that do not vary are not searched; those that were not drawn stay NaN.
    if (config.columns_per_node == 0 || std::size_t(config.columns_per_node) >= columns)
        std::fill_n(candidate_gains.begin() + std::ptrdiff_t(node * columns), columns, -1.0);
    for (std::size_t i = 0; i < columns_searched.size(); ++i) {
        const std::size_t index = node * columns + std::size_t(columns_searched[i]);
        candidate_gains[index] = -1;
        if (!best[i].found()) continue;
        candidate_gains[index] = config.split.gain_ratio ? best[i].score : gain(node, best[i]);
        candidate_codes[index] = best[i].threshold_code;
    }
}

// The best column of a node, the second best, and why there is no best one.
struct TreeBuilder::Ranking {
    std::size_t best, second;
    std::uint32_t ties = 0;
    bool has_candidates = false, no_gain = false, breaks_constraints = false;

    Reason reason_of_leaf() const {
        return no_gain              ? Reason::kNoGain
               : breaks_constraints ? Reason::kMonotonic
               : has_candidates     ? Reason::kLeafRows
                                    : Reason::kNoSplit;
    }
};

TreeBuilder::Ranking TreeBuilder::rank_columns(std::size_t node,
                                               const std::vector<Candidate>& columns) const {
    Ranking ranking{columns.size(), columns.size()};
    auto& [best, second, ties, has_candidates, no_gain, breaks_constraints] = ranking;
    const bool guard = config.split.gain_ratio && config.split.above_average_gain;
    const double min_gain = guard ? average_gain(node, columns) - kSlack : 0;
    const auto score = [&](std::size_t i) {
        return i < columns.size() ? columns[i].score : -std::numeric_limits<double>::infinity();
    };
    for (std::size_t i = 0; i < columns.size(); ++i) {
        has_candidates = has_candidates || columns[i].has_candidates;
        no_gain = no_gain || columns[i].no_gain;
        breaks_constraints = breaks_constraints || columns[i].breaks_constraints;
        if (!columns[i].found()) continue;
        if (guard && (has_no_gain(node, columns[i]) || gain(node, columns[i]) < min_gain)) {
            no_gain = true;
            continue;
        }
        if (best == columns.size() || columns[i].score > score(best)) {
            second = best;
            best = i;
            ties = columns[i].ties;
            continue;
        }
        if (columns[i].score == score(best)) ties += 1 + columns[i].ties;
        if (second == columns.size() || columns[i].score > score(second)) second = i;
    }
    return ranking;
}

void TreeBuilder::decide(std::size_t node, const std::vector<std::int32_t>& columns_searched,
                         const std::vector<Candidate>& found) {
    Node& n = nodes[node];
    const Ranking ranking = rank_columns(node, found);
    if (config.keep_candidates) record_candidates(node, columns_searched, found);
    if (ranking.best == found.size()) {
        n.reason = ranking.reason_of_leaf();
        return;
    }
    const Candidate& best = found[ranking.best];
    const double best_gain = gain(node, best);
    if (ranking.second < found.size()) {
        n.runner_up = columns_searched[ranking.second];
        n.runner_up_gain = gain(node, found[ranking.second]);
    }
    if (config.min_impurity_decrease > 0 &&
        double(weight(node)) / config.root_weight * best_gain < config.min_impurity_decrease) {
        n.reason = Reason::kGain;
        return;
    }
    record_split(node, columns_searched[ranking.best], best);
    n.gain = best_gain;
    n.ties = ranking.ties;
}

void TreeBuilder::record_split(std::size_t node, std::int32_t column, const Candidate& chosen) {
    Node& n = nodes[node];
    n.column = column;
    n.threshold_code = chosen.threshold_code;
    n.next_code = chosen.next_code;
    n.missing_branch = chosen.missing_branch;
    n.n_branches = chosen.n_branches;
    n.shape = chosen.shape;
    n.method = chosen.method;
    n.threshold = chosen.threshold;
    n.nominal = chosen.shape == SplitShape::kTable;
    n.reason = Reason::kSplit;
    if (chosen.shape == SplitShape::kIntervals) record_thresholds(n, chosen);
    if (chosen.shape == SplitShape::kTable) {
        n.table = std::int64_t(tables.size());
        tables.resize(tables.size() + chosen.n_categories, -1);
        for (const auto& [category, branch] : chosen.table)
            tables[std::size_t(n.table) + category] = branch;
    }
}

// Store the number of thresholds, then the codes below and above each.
void TreeBuilder::record_thresholds(Node& node, const Candidate& chosen) {
    node.table = std::int64_t(tables.size());
    tables.push_back(std::int32_t(chosen.thresholds.size()));
    for (const auto& [code, next_code] : chosen.thresholds) {
        tables.push_back(std::int32_t(code));
        tables.push_back(std::int32_t(next_code));
    }
}

void TreeBuilder::make_branches(std::size_t node) {
    add_branches(node);
    const Node n = nodes[node];
    for (std::int32_t b = 0; b < n.n_branches; ++b)
        set_path(std::size_t(n.child + b), n.path, std::size_t(b));
}

void TreeBuilder::add_branches(std::size_t node) {
    const std::int32_t n_branches = nodes[node].n_branches, depth = nodes[node].depth + 1;
    nodes[node].child = std::int32_t(nodes.size());
    for (std::int32_t b = 0; b < n_branches; ++b)
        nodes[std::size_t(add(depth, 0))].parent = std::int32_t(node);
    if (!config.interactions) return;
    const Node n = nodes[node];
    const std::int32_t state = interactions.below(n.interaction_state, n.column);
    for (std::int32_t b = 0; b < n_branches; ++b)
        nodes[std::size_t(n.child + b)].interaction_state = state;
}

ClassPair TreeBuilder::bounded_weights(std::size_t node) const {
    const Number total = weight(node);
    const auto [lower, upper] = nodes[node].bounds;
    const bool is_below = constrained_value(cell(node), total) < lower;
    const double second =
        is_below ? std::ceil(lower * double(total)) : std::floor(upper * double(total));
    return {total - Number(second), Number(second)};
}

void TreeBuilder::restore_interactions() {
    if (!config.interactions) return;
    for (Node& node : nodes) {
        if (node.parent < 0) continue;
        const Node& above = nodes[std::size_t(node.parent)];
        node.interaction_state = interactions.below(above.interaction_state, above.column);
    }
}

void TreeBuilder::separate_branches(std::size_t node) {
    const Node n = nodes[node];
    for (std::int32_t b = 0; b < n.n_branches; ++b)
        nodes[std::size_t(n.child + b)].bounds = n.bounds;
    const int sign = config.split.monotonic[std::size_t(n.column)];
    if (sign == 0) return;
    const auto left = std::size_t(n.child), right = left + 1;
    separate(nodes[left].bounds, nodes[right].bounds, sign,
             constrained_value(cell(left), weight(left)),
             constrained_value(cell(right), weight(right)));
}

void TreeBuilder::set_path(std::size_t node, std::uint64_t path_above, std::size_t branch) {
    nodes[node].path = path_of(path_above, branch);
}

void TreeBuilder::assign_missing(std::size_t node) {
    Node& n = nodes[node];
    if (n.missing_branch != kHeavierBranch) return;
    n.missing_branch = 0;
    const auto mass = [&](std::int32_t branch) {
        const auto node = std::size_t(n.child + branch);
        return config.split.weight_without_costs(cell(node), weight(node));
    };
    for (std::int32_t b = 1; b < n.n_branches; ++b)
        if (mass(b) > mass(n.missing_branch)) n.missing_branch = b;
}

std::vector<std::int32_t> TreeBuilder::excluded_columns(std::size_t node) const {
    std::vector<std::int32_t> found = excluded;
    const bool reuses_all = config.feature_reuse == FeatureReuse::kAll;
    if (reuses_all && !config.interactions) return found;
    for (std::int32_t j = 0; config.interactions && std::size_t(j) < columns; ++j)
        if (!interactions.is_allowed(nodes[node].interaction_state, j)) found.push_back(j);
    std::int32_t at = reuses_all ? -1 : nodes[node].parent;
    for (; at >= 0; at = nodes[std::size_t(at)].parent) {
        const Node& above = nodes[std::size_t(at)];
        if (!may_reuse(above.nominal)) found.push_back(above.column);
    }
    std::sort(found.begin(), found.end());
    return found;
}

void TreeBuilder::begin_columns(std::size_t node, ColumnSampler& order) const {
    std::vector<std::int32_t> allowed(columns);
    std::iota(allowed.begin(), allowed.end(), 0);
    const std::vector<std::int32_t> forbidden = excluded_columns(node);
    std::erase_if(allowed, [&](std::int32_t j) {
        return std::binary_search(forbidden.begin(), forbidden.end(), j);
    });
    if (config.columns_per_node == 0)
        order.begin(allowed);
    else
        order.begin(allowed, config.seed ^ nodes[node].path, kNodeStream);
}

TreeBuilder TreeBuilder::subtree(std::size_t node) const {
    TreeBuilder found(config, columns);
    found.add(0, 1);
    found.nodes[0] = nodes[node];
    found.nodes[0].parent = -1;
    if (config.interactions) {
        found.interactions = interactions.from(nodes[node].interaction_state);
        found.nodes[0].interaction_state = 0;
    }
    found.excluded = excluded_columns(node);
    std::copy_n(cell(node), size, found.cell(0));
    return found;
}

void TreeBuilder::append_subtree(std::size_t node, const TreeBuilder& subtree) {
    // Node 1 of the subtree becomes node nodes.size().
    const auto shift = std::int32_t(nodes.size()) - 1;
    const auto table_shift = std::int64_t(tables.size());
    const auto [begin, end] = std::pair(nodes[node].begin, nodes[node].end);
    for (std::size_t i = 0; i < subtree.nodes.size(); ++i) {
        Node copy = subtree.nodes[i];
        if (copy.child >= 0) copy.child += shift;
        if (copy.table >= 0) copy.table += table_shift;
        copy.parent = copy.parent == 0 ? std::int32_t(node) : copy.parent + shift;
        if (i == 0) {
            copy.begin = begin;
            copy.end = end;
            copy.parent = nodes[node].parent;
            nodes[node] = copy;
        } else {
            nodes.push_back(copy);
        }
    }
    cells.insert(cells.end(), subtree.cells.begin() + std::ptrdiff_t(size), subtree.cells.end());
    tables.insert(tables.end(), subtree.tables.begin(), subtree.tables.end());
    if (!config.keep_candidates) return;
    const auto width = std::ptrdiff_t(columns), offset = std::ptrdiff_t(node) * width;
    std::copy_n(subtree.candidate_gains.begin(), width, candidate_gains.begin() + offset);
    std::copy_n(subtree.candidate_codes.begin(), width, candidate_codes.begin() + offset);
    candidate_gains.insert(candidate_gains.end(), subtree.candidate_gains.begin() + width,
                           subtree.candidate_gains.end());
    candidate_codes.insert(candidate_codes.end(), subtree.candidate_codes.begin() + width,
                           subtree.candidate_codes.end());
}

}  // namespace ceiba::tree
