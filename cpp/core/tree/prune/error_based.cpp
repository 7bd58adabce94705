// Implementation of error-based pruning (error_based.hpp).
#include "tree/prune/error_based.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "common/parallel.hpp"

namespace ceiba::tree {
namespace {

// A simpler tree is preferred even if its expected errors are higher by this much.
constexpr double kSlack = 0.1;
// Sums of fractions of rows count as equal if they differ by rounding alone.
constexpr double kTolerance = 1e-6;

bool not_above(double one, double other) { return one <= other + kTolerance; }

// State of one node. `rows` and `errors` are those of the last visit; they are valid as long as the
// rows are the same.
struct PruneNode {
    std::int32_t origin = 0;
    std::int32_t child = -1, n_branches = 0;
    std::int32_t leaves = 1;
    std::int64_t rows = -1;
    double errors = 0;
    bool is_final = false;       // pruned, with these rows
    bool has_fractions = false;  // some of the rows are divided among the branches

    bool leaf() const { return child < 0; }
};

// The tree during pruning. The branches of a node are those of node `origin` of the old tree, so
// that a raised node keeps its branches.
struct PruneState {
    const TreeView& tree;
    const TrainingRows& training;
    const ErrorPruneConfig& config;
    std::vector<PruneNode> nodes;
    std::vector<double> cells;  // class weights of every node

    double* cell(std::int32_t node) { return cells.data() + std::size_t(node) * config.n_classes; }
};

// A subtree that is pruned on its own, and the steps taken.
struct Task {
    std::int32_t node;
    std::vector<WeightedRow> rows;
    std::vector<PruneStep> steps;
};

// Prunes one subtree. Trees may be as deep as they have rows: no function is recursive.
class Pruner {
  public:
    Pruner(PruneState& state, std::vector<WeightedRow> rows, Interrupt& interrupt, int thread)
        : state_(state),
          interrupt_(interrupt),
          thread_(thread),
          stack_(state.tree, state.training.columns, state.training.routing, std::move(rows)),
          cell_(state.config.n_classes) {}

    // Subtrees of at most `max_rows` rows, in the order in which `run` visits them.
    std::vector<Task> tasks(std::size_t max_rows) {
        std::vector<Task> found;
        route_down(0, stack_.all(), [&](std::int32_t at, RowRange rows) {
            PruneNode& node = state_.nodes[std::size_t(at)];
            if (node.leaf()) return false;
            if (rows.size() <= max_rows) {
                found.push_back({at, stack_.copy(rows), {}});
                return false;
            }
            node.rows = std::int64_t(rows.size());
            return true;
        });
        return found;
    }

    // Prune below `root`. The steps of subtrees in `earlier`, which are pruned already, are
    // inserted in order.
    std::vector<PruneStep> run(std::int32_t root, std::vector<Task> earlier = {}) {
        earlier_ = std::move(earlier);
        enter(root, stack_.all(), false);
        while (!visits_.empty()) {
            Visit& visit = visits_.back();
            const PruneNode& node = state_.nodes[std::size_t(visit.node)];
            if (visit.next == node.n_branches) {
                leave();
                continue;
            }
            const std::int32_t b = visit.next++;
            enter(node.child + b, ranges_[visit.first + std::size_t(b)], visit.fractions_changed);
        }
        return std::move(steps_);
    }

  private:
    struct Visit {
        std::int32_t node;
        RowRange rows;
        std::size_t top;         // of the stack of rows, before its branches
        std::size_t first;       // index of the range of its first branch
        std::int32_t next;       // branch to visit
        bool fractions_changed;  // fractions of rows below may differ from those of the last visit
    };
    struct Pending {
        std::int32_t node;
        RowRange rows;
        std::size_t top;
    };

    // With `fractions_changed` the rows may be the same as before, in other fractions.
    void enter(std::int32_t at, RowRange rows, bool fractions_changed) {
        PruneNode& node = state_.nodes[std::size_t(at)];
        const bool same = node.rows == std::int64_t(rows.size()) && !fractions_changed;
        // Raising only adds rows: if there are as many as before, they are the same, and pruning
        // again would change nothing.
        if (same && node.is_final) return append_earlier_steps(at);
        node.rows = std::int64_t(rows.size());
        stack_.count(rows, state_.cell(at), state_.config.n_classes);
        node.is_final = node.leaf();
        if (node.leaf()) {
            node.errors = expected_errors(state_.cell(at), state_.config);
            return;
        }
        Visit visit{at, rows, stack_.top(), ranges_.size(), 0, false};
        node.has_fractions = split(node, rows, ranges_);
        visit.fractions_changed = fractions_changed || (node.has_fractions && !same);
        visits_.push_back(visit);
    }

    void append_earlier_steps(std::int32_t at) {
        if (n_appended_ == earlier_.size() || earlier_[n_appended_].node != at) return;
        const std::vector<PruneStep>& done = earlier_[n_appended_++].steps;
        steps_.insert(steps_.end(), done.begin(), done.end());
    }

    // All branches are pruned: decide about the node itself.
    void leave() {
        const Visit visit = visits_.back();
        visits_.pop_back();
        PruneNode& node = state_.nodes[std::size_t(visit.node)];
        const std::int32_t heaviest = heaviest_branch(node);
        const RowRange own = ranges_[visit.first + std::size_t(heaviest - node.child)];
        ranges_.resize(visit.first);
        stack_.drop(visit.top);
        add_branches_of(node);
        PruneStep step{node.origin, -1, 0, 0, node.errors, 0};
        step.leaf_errors = expected_errors(state_.cell(visit.node), state_.config);
        step.branch_errors = state_.config.subtree_raising
                                 ? errors_of_raised(visit, heaviest, own, step.leaf_errors)
                                 : std::numeric_limits<double>::infinity();
        if (not_above(step.leaf_errors, step.subtree_errors + kSlack) &&
            not_above(step.leaf_errors, step.branch_errors + kSlack))
            make_leaf(node, step);
        else if (not_above(step.branch_errors, step.subtree_errors + kSlack))
            raise(visit, heaviest, step);
        else
            node.is_final = true;
    }

    void add_branches_of(PruneNode& node) const {
        node.errors = 0;
        node.leaves = 0;
        for (std::int32_t b = 0; b < node.n_branches; ++b) {
            const PruneNode& branch = state_.nodes[std::size_t(node.child + b)];
            node.errors += branch.errors;
            node.leaves += branch.leaves;
        }
    }

    // Ties go to the first branch.
    std::int32_t heaviest_branch(const PruneNode& node) {
        std::int32_t heaviest = node.child;
        double max_weight = weight_of(state_.cell(heaviest), state_.config.n_classes);
        for (std::int32_t b = node.child + 1; b < node.child + node.n_branches; ++b) {
            const double weight = weight_of(state_.cell(b), state_.config.n_classes);
            if (not_above(weight, max_weight)) continue;
            heaviest = b;
            max_weight = weight;
        }
        return heaviest;
    }

    // Expected errors if the branch received all rows of its node; `own` are the rows that it has.
    double errors_of_raised(const Visit& visit, std::int32_t branch, RowRange own,
                            double leaf_errors) {
        if (state_.nodes[std::size_t(branch)].leaf()) return leaf_errors;
        if (!state_.nodes[std::size_t(visit.node)].has_fractions) {
            const RowRange others = stack_.push_without(visit.rows, own);
            const std::optional<double> errors = errors_with_added(branch, others);
            stack_.drop(visit.top);
            if (errors) return *errors;
        }
        return errors_of(branch, visit.rows);
    }

    // Compute them from the rows of the branch and those that are added: with splits that separate
    // a few rows at a time, routing all rows would be too slow. Empty if the added rows change the
    // fractions of others.
    std::optional<double> errors_with_added(std::int32_t branch, RowRange others) {
        double errors = 0;
        split_fractions_ = false;
        route_down(branch, others, [&](std::int32_t at, RowRange added) {
            const PruneNode& node = state_.nodes[std::size_t(at)];
            if (added.size() == 0)
                errors += node.errors;
            else if (node.leaf())
                errors += errors_of_leaf(added, state_.cell(at));
            else
                split_fractions_ = split_fractions_ || node.has_fractions;
            return !node.leaf() && added.size() > 0 && !split_fractions_;
        });
        return split_fractions_ ? std::nullopt : std::optional(errors);
    }

    double errors_of(std::int32_t branch, RowRange rows) {
        double errors = 0;
        route_down(branch, rows, [&](std::int32_t at, RowRange own) {
            const bool leaf = state_.nodes[std::size_t(at)].leaf();
            if (leaf) errors += errors_of_leaf(own, nullptr);
            return !leaf && own.size() > 0;
        });
        return errors;
    }

    double errors_of_leaf(RowRange rows, const double* before) {
        stack_.count(rows, cell_.data(), cell_.size());
        for (std::size_t k = 0; before != nullptr && k < cell_.size(); ++k) cell_[k] += before[k];
        return expected_errors(cell_.data(), state_.config);
    }

    void make_leaf(PruneNode& node, PruneStep step) {
        step.leaves_removed = node.leaves - 1;
        steps_.push_back(step);
        node.child = -1;
        node.n_branches = 0;
        node.leaves = 1;
        node.errors = step.leaf_errors;
        node.is_final = true;
    }

    void raise(const Visit& visit, std::int32_t branch, PruneStep step) {
        PruneNode& node = state_.nodes[std::size_t(visit.node)];
        const PruneNode& raised = state_.nodes[std::size_t(branch)];
        const bool has_fractions = node.has_fractions;
        step.leaves_removed = node.leaves - raised.leaves;
        step.replacing = raised.origin;
        steps_.push_back(step);
        node = raised;
        enter(visit.node, visit.rows, has_fractions);
    }

    // Call visit(node, rows) for every node that rows of `root` reach, first branches first, and
    // continue below those for which it returns true.
    template <typename Visitor>
    void route_down(std::int32_t root, RowRange rows, Visitor visit) {
        const std::size_t top = stack_.top();
        pending_.assign(1, {root, rows, top});
        while (!pending_.empty()) {
            const Pending pending = pending_.back();
            pending_.pop_back();
            stack_.drop(pending.top);
            if (!visit(pending.node, pending.rows)) continue;
            const PruneNode& node = state_.nodes[std::size_t(pending.node)];
            parts_.clear();
            split(node, pending.rows, parts_);
            for (std::int32_t b = node.n_branches - 1; b >= 0; --b)
                pending_.push_back({node.child + b, parts_[std::size_t(b)], stack_.top()});
        }
        stack_.drop(top);
    }

    bool split(const PruneNode& node, RowRange rows, std::vector<RowRange>& out) {
        if (interrupt_.stopped(thread_)) throw Interrupted();
        const bool has_fractions = stack_.split(node.origin, node.n_branches, rows, out);
        split_fractions_ = split_fractions_ || has_fractions;
        return has_fractions;
    }

    PruneState& state_;
    Interrupt& interrupt_;
    int thread_;
    RowStack stack_;
    std::vector<double> cell_;
    std::vector<Visit> visits_;
    std::vector<RowRange> ranges_, parts_;
    std::vector<Pending> pending_;
    std::vector<PruneStep> steps_;
    std::vector<Task> earlier_;
    std::size_t n_appended_ = 0;
    bool split_fractions_ = false;  // by a split since it was last reset
};

PruneState make_state(const TreeView& tree, const std::int32_t* n_branches,
                      const TrainingRows& training, const ErrorPruneConfig& config) {
    PruneState state{tree, training, config, {}, {}};
    state.nodes.resize(tree.count);
    state.cells.resize(tree.count * config.n_classes);
    for (std::size_t i = 0; i < tree.count; ++i) {
        state.nodes[i].origin = std::int32_t(i);
        if (tree.nodes[i].kind() == Test::kLeaf) continue;
        state.nodes[i].child = tree.nodes[i].child;
        state.nodes[i].n_branches = n_branches[i];
    }
    return state;
}

std::vector<WeightedRow> all_rows(const TrainingRows& training) {
    std::vector<WeightedRow> rows;
    rows.reserve(training.rows);
    for (std::size_t i = 0; i < training.rows; ++i) {
        const double weight = training.weight != nullptr ? training.weight[i] : 1.0;
        if (weight > 0) rows.push_back({weight, std::uint32_t(i), training.label[i]});
    }
    return rows;
}

// Prune subtrees in parallel, then the nodes above them. The partition depends on the rows alone.
std::vector<PruneStep> prune(PruneState& state, int threads) {
    constexpr std::size_t kMinRows = 4096, kParts = 16;
    std::vector<WeightedRow> rows = all_rows(state.training);
    const std::size_t n = rows.size();
    std::vector<Task> tasks;
    std::vector<PruneStep> steps;
    for_segments({1, 1}, 1, [&](std::size_t, int thread, Interrupt& interrupt) {
        tasks = Pruner(state, rows, interrupt, thread).tasks(std::max(kMinRows, n / kParts));
    });
    for_segments({tasks.size(), tasks.size()}, threads_for(1000.0 * double(n), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     Task& task = tasks[s];
                     Pruner pruner(state, std::move(task.rows), interrupt, thread);
                     task.steps = pruner.run(task.node);
                 });
    for_segments({1, 1}, 1, [&](std::size_t, int thread, Interrupt& interrupt) {
        steps = Pruner(state, std::move(rows), interrupt, thread).run(0, std::move(tasks));
    });
    return steps;
}

// Nodes that are reachable from the root. Branches follow their node, raised ones as well.
std::vector<bool> reachable_nodes(const PruneState& state) {
    std::vector<bool> is_reachable(state.nodes.size(), false);
    is_reachable[0] = true;
    for (std::size_t i = 0; i < is_reachable.size(); ++i)
        for (std::int32_t b = 0; is_reachable[i] && b < state.nodes[i].n_branches; ++b)
            is_reachable[std::size_t(state.nodes[i].child + b)] = true;
    return is_reachable;
}

// Renumber the reachable nodes in order: branches are still contiguous.
PrunedTree renumber(PruneState& state) {
    const std::vector<bool> is_reachable = reachable_nodes(state);
    std::vector<std::int32_t> number;
    std::int32_t next = 0;
    for (const bool reachable : is_reachable) number.push_back(reachable ? next++ : -1);
    PrunedTree out;
    for (std::size_t i = 0; i < is_reachable.size(); ++i) {
        if (!is_reachable[i]) continue;
        const PruneNode& node = state.nodes[i];
        const double* cell = state.cell(std::int32_t(i));
        out.origin.push_back(node.origin);
        out.child.push_back(node.leaf() ? -1 : number[std::size_t(node.child)]);
        out.rows.push_back(node.rows);
        out.weight.push_back(weight_of(cell, state.config.n_classes));
        out.value.insert(out.value.end(), cell, cell + state.config.n_classes);
    }
    return out;
}

}  // namespace

PrunedTree prune_by_errors(const TreeView& tree, const std::int32_t* n_branches,
                           const TrainingRows& rows, const ErrorPruneConfig& config, int threads) {
    PruneState state = make_state(tree, n_branches, rows, config);
    std::vector<PruneStep> steps = prune(state, threads);
    PrunedTree out = renumber(state);
    out.steps = std::move(steps);
    return out;
}

}  // namespace ceiba::tree
