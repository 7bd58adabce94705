#include "tree/growth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "random.hpp"
#include "tree/column_draw.hpp"

namespace ceiba::tree {
namespace {

std::uint64_t path_of(std::uint64_t parent, std::size_t branch) {
    return even_half(philox(parent, 0x70617468, branch));
}

}  // namespace

Number Growth::weight(std::size_t node) const {
    const Number* c = cell(node);
    return rules.classes ? std::accumulate(c, c + rules.classes, Number(0)) : c[0];
}

Number Growth::count(std::size_t node) const {
    return rules.weighted ? cell(node)[size - 1] : weight(node);
}

void Growth::clear() {
    nodes.clear();
    cells.clear();
    tables.clear();
    surrogates.clear();
    used.clear();
    candidate_gains.clear();
    candidate_cuts.clear();
}

std::int32_t Growth::add(std::int32_t depth, std::uint64_t path) {
    if (nodes.size() >= std::size_t(std::numeric_limits<std::int32_t>::max()))
        throw std::length_error("a tree has at most 2^31 - 1 nodes: limit its depth or leaves");
    Node node;
    node.depth = depth;
    node.path = path;
    node.least = std::numeric_limits<double>::infinity();
    node.most = -node.least;
    nodes.push_back(node);
    cells.resize(nodes.size() * size, 0);
    if (rules.candidates) {
        candidate_gains.resize(nodes.size() * columns, std::numeric_limits<double>::quiet_NaN());
        candidate_cuts.resize(nodes.size() * columns, 0);
    }
    return std::int32_t(nodes.size() - 1);
}

void Growth::copy(std::size_t node, std::size_t to) {
    nodes[to] = nodes[node];
    std::copy_n(cell(node), size, cell(to));
}

std::size_t Growth::add_copy(std::size_t node) {
    const auto to = std::size_t(add(0, 0));
    copy(node, to);
    return to;
}

void Growth::drop_to(std::size_t count) {
    nodes.resize(count);
    cells.resize(count * size);
}

bool Growth::pure(std::size_t node) const {
    const Number* c = cell(node);
    if (rules.classes) return *std::max_element(c, c + rules.classes) == weight(node);
    return nodes[node].least == nodes[node].most;
}

double Growth::impurity(std::size_t node) const {
    if (pure(node) || count(node) == 0) return 0;
    const Node& n = nodes[node];
    const double weight_ = double(weight(node));
    switch (rules.criterion) {
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
    const double weight_real = weight_ * rules.weight_unit;
    const double sum = double(cell(node)[1]) * rules.target_unit, mean = sum / weight_real;
    if (rules.criterion == Criterion::kPoisson) {
        const double logs = double(n.squares) * rules.square_unit;
        return std::max(0.0, sum > 0 ? (logs - sum * std::log(mean)) / weight_real : 0.0);
    }
    return std::max(0.0, double(n.squares) * rules.square_unit / weight_real - mean * mean);
}

void Growth::close_if_done(std::size_t node) {
    Node& n = nodes[node];
    if (count(node) == 0)
        n.reason = Reason::kEmpty;
    else if (pure(node))
        n.reason = Reason::kPure;
    else if (rules.enough > 0 && impurity(node) <= rules.enough)
        n.reason = Reason::kImpurity;
    else if (n.depth >= rules.max_depth)
        n.reason = Reason::kDepth;
    else if (count(node) < rules.least_to_split)
        n.reason = Reason::kRows;
}

double Growth::gain(std::size_t node, const Candidate& candidate) const {
    const double gained = candidate.terms - candidate.less - nodes[node].term;
    const double terms = std::max(0.0, gained) / double(weight(node));
    const double unit = rules.target_unit / rules.weight_unit;
    if (rules.criterion == Criterion::kPoisson) return terms * unit;
    return rules.criterion == Criterion::kSquared ? terms * unit * unit : terms;
}

namespace {

// The average gain is met to within Quinlan's slack.
constexpr double kSlack = 1e-3;

}  // namespace

bool Growth::offers_nothing(std::size_t node, const Candidate& candidate) const {
    return gain(node, candidate) <= kNoGain || candidate.score <= 0;
}

// Mean gain of the columns that gain something; columns of very many levels would raise it.
double Growth::average_gain(std::size_t node, const std::vector<Candidate>& best) const {
    double sum = 0, count = 0;
    for (const Candidate& candidate : best) {
        if (!candidate.found() || gain(node, candidate) <= kNoGain) continue;
        if (double(candidate.levels) >= rules.many_levels) continue;
        sum += gain(node, candidate);
        ++count;
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::infinity();
}

void Growth::keep(std::size_t node, const std::vector<std::int32_t>& looked_at,
                  const std::vector<Candidate>& best) {
    // Columns that no longer vary are not looked at; columns that were not drawn stay NaN.
    if (rules.columns_a_node == 0 || std::size_t(rules.columns_a_node) >= columns)
        std::fill_n(candidate_gains.begin() + std::ptrdiff_t(node * columns), columns, -1.0);
    for (std::size_t i = 0; i < looked_at.size(); ++i) {
        const std::size_t place = node * columns + std::size_t(looked_at[i]);
        candidate_gains[place] = -1;
        if (!best[i].found()) continue;
        candidate_gains[place] = rules.split.ratio ? best[i].score : gain(node, best[i]);
        candidate_cuts[place] = best[i].cut;
    }
}

void Growth::decide(std::size_t node, const std::vector<std::int32_t>& looked_at,
                    const std::vector<Candidate>& best) {
    Node& n = nodes[node];
    std::size_t winner = best.size(), second = best.size();
    bool seen = false, worthless = false;
    const bool guard = rules.split.ratio && rules.split.guard;
    const double enough = guard ? average_gain(node, best) - kSlack : 0;
    std::uint32_t ties = 0;
    const auto score = [&](std::size_t i) {
        return i < best.size() ? best[i].score : -std::numeric_limits<double>::infinity();
    };
    for (std::size_t i = 0; i < best.size(); ++i) {
        seen = seen || best[i].seen;
        worthless = worthless || best[i].worthless;
        if (!best[i].found()) continue;
        if (guard && (offers_nothing(node, best[i]) || gain(node, best[i]) < enough)) {
            worthless = true;
            continue;
        }
        if (winner == best.size() || best[i].score > score(winner)) {
            second = winner;
            winner = i;
            ties = best[i].ties;
            continue;
        }
        if (best[i].score == score(winner)) ties += 1 + best[i].ties;
        if (second == best.size() || best[i].score > score(second)) second = i;
    }
    if (rules.candidates) keep(node, looked_at, best);
    if (winner == best.size()) {
        n.reason = worthless ? Reason::kNoGain : seen ? Reason::kLeafRows : Reason::kNoSplit;
        return;
    }
    const double gain_ = gain(node, best[winner]);
    if (second < best.size()) {
        n.runner_up = looked_at[second];
        n.runner_up_gain = gain(node, best[second]);
    }
    if (rules.least_decrease > 0 &&
        double(weight(node)) / rules.root_weight * gain_ < rules.least_decrease) {
        n.reason = Reason::kGain;
        return;
    }
    const Candidate& chosen = best[winner];
    n.column = looked_at[winner];
    n.gain = gain_;
    n.ties = ties;
    n.cut = chosen.cut;
    n.next = chosen.next;
    n.gap = chosen.gap;
    n.branches = chosen.branches;
    n.shape = chosen.shape;
    n.method = chosen.method;
    n.at = chosen.at;
    n.nominal = chosen.shape == Shape::kTable;
    n.reason = Reason::kSplit;
    if (chosen.shape == Shape::kIntervals) note_cuts(n, chosen);
    if (chosen.shape == Shape::kTable) {
        n.table = std::int64_t(tables.size());
        tables.resize(tables.size() + chosen.levels, -1);
        for (const auto& [level, branch] : chosen.table)
            tables[std::size_t(n.table) + level] = branch;
    }
}

// The number of cuts, and of each its code and the one above.
void Growth::note_cuts(Node& node, const Candidate& chosen) {
    node.table = std::int64_t(tables.size());
    tables.push_back(std::int32_t(chosen.cuts.size()));
    for (const auto& [cut, next] : chosen.cuts) {
        tables.push_back(std::int32_t(cut));
        tables.push_back(std::int32_t(next));
    }
}

void Growth::branch_out(std::size_t node) {
    add_branches(node);
    const Node n = nodes[node];
    for (std::int32_t b = 0; b < n.branches; ++b)
        name(std::size_t(n.child + b), n.path, std::size_t(b));
}

void Growth::add_branches(std::size_t node) {
    const std::int32_t branches = nodes[node].branches, depth = nodes[node].depth + 1;
    nodes[node].child = std::int32_t(nodes.size());
    for (std::int32_t b = 0; b < branches; ++b)
        nodes[std::size_t(add(depth, 0))].parent = std::int32_t(node);
}

void Growth::name(std::size_t node, std::uint64_t path_above, std::size_t branch) {
    nodes[node].path = path_of(path_above, branch);
}

void Growth::settle_gaps(std::size_t node) {
    Node& n = nodes[node];
    if (n.gap != kHeavier) return;
    n.gap = 0;
    const auto heft = [&](std::int32_t branch) {
        const auto node = std::size_t(n.child + branch);
        return rules.split.heft(cell(node), weight(node));
    };
    for (std::int32_t b = 1; b < n.branches; ++b)
        if (heft(b) > heft(n.gap)) n.gap = b;
}

std::vector<std::int32_t> Growth::barred(std::size_t node) const {
    std::vector<std::int32_t> found = used;
    if (rules.reuse == Reuse::kAll) return found;
    for (std::int32_t at = nodes[node].parent; at >= 0; at = nodes[std::size_t(at)].parent) {
        const Node& above = nodes[std::size_t(at)];
        if (!reusable(above.nominal)) found.push_back(above.column);
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<std::int32_t> Growth::drawn(std::size_t node) const {
    std::vector<std::int32_t> order(columns);
    std::iota(order.begin(), order.end(), 0);
    const std::vector<std::int32_t> out = barred(node);
    std::erase_if(order,
                  [&](std::int32_t j) { return std::binary_search(out.begin(), out.end(), j); });
    if (rules.columns_a_node == 0) return order;
    ColumnDraw draw;
    draw.begin(order, rules.seed ^ nodes[node].path, kNodeColumns);
    for (std::int32_t& column : order) column = draw.next();
    return order;
}

void Growth::graft(std::size_t node, const Growth& part) {
    const auto shift = std::int32_t(nodes.size()) - 1;  // the part's node 1 becomes nodes.size()
    const auto table_shift = std::int64_t(tables.size());
    const std::int64_t begin = nodes[node].begin, end = nodes[node].end;
    for (std::size_t i = 0; i < part.nodes.size(); ++i) {
        Node copy = part.nodes[i];
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
    cells.insert(cells.end(), part.cells.begin() + std::ptrdiff_t(size), part.cells.end());
    tables.insert(tables.end(), part.tables.begin(), part.tables.end());
    if (!rules.candidates) return;
    const auto width = std::ptrdiff_t(columns), place = std::ptrdiff_t(node) * width;
    std::copy_n(part.candidate_gains.begin(), width, candidate_gains.begin() + place);
    std::copy_n(part.candidate_cuts.begin(), width, candidate_cuts.begin() + place);
    candidate_gains.insert(candidate_gains.end(), part.candidate_gains.begin() + width,
                           part.candidate_gains.end());
    candidate_cuts.insert(candidate_cuts.end(), part.candidate_cuts.begin() + width,
                          part.candidate_cuts.end());
}

void Order::push_if_split(std::int32_t node) {
    const auto place = std::size_t(node);
    if (growth_.nodes[place].reason != Reason::kSplit) return;
    const double priority = double(growth_.weight(place)) * growth_.nodes[place].gain;
    waiting_.push_back({priority, pushed_++, node});
    if (growth_.rules.growing == Growing::kBestFirst)
        std::push_heap(waiting_.begin(), waiting_.end());
}

void Order::push_branches(std::size_t node) {
    const Node& n = growth_.nodes[node];
    // The first branch is to come off a stack first.
    const bool stack = growth_.rules.growing == Growing::kDepthFirst;
    for (std::int32_t b = 0; b < n.branches; ++b)
        push_if_split(stack ? n.child + n.branches - 1 - b : n.child + b);
}

std::int32_t Order::pop() {
    if (growth_.rules.growing == Growing::kLevelWise) return waiting_[first_++].node;
    if (growth_.rules.growing == Growing::kBestFirst)
        std::pop_heap(waiting_.begin(), waiting_.end());
    const std::int32_t node = waiting_.back().node;
    waiting_.pop_back();
    return node;
}

Numbering number(const Growth& growth) {
    Numbering found;
    Order order(growth);
    std::vector<std::int32_t> place(growth.nodes.size(), -1);
    std::int64_t leaves = 1;
    const auto give = [&](std::int32_t node) {
        place[std::size_t(node)] = std::int32_t(found.order.size());
        found.order.push_back(node);
        found.child.push_back(-1);
    };
    give(0);
    order.push_if_split(0);
    while (!order.empty()) {
        const std::int32_t node = order.pop();
        const Node& n = growth.nodes[std::size_t(node)];
        // The first split that has no room ends it: what is known of a tree that is still growing
        // can then never be more than the tree will have.
        if (growth.rules.limited() && leaves + n.branches - 1 > growth.rules.max_leaves) break;
        leaves += n.branches - 1;
        if (!n.expanded()) {
            found.unexpanded.push_back(node);
            continue;
        }
        found.child[std::size_t(place[std::size_t(node)])] = std::int32_t(found.order.size());
        for (std::int32_t b = 0; b < n.branches; ++b) give(n.child + b);
        order.push_branches(std::size_t(node));
    }
    return found;
}

}  // namespace ceiba::tree
