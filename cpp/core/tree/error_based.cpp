#include "tree/error_based.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "parallel.hpp"

namespace ceiba::tree {
namespace {

// A simpler tree may look worse by this much, and is taken.
constexpr double kSlack = 0.1;
// Sums of parts of rows are equal when they differ by rounding alone.
constexpr double kAlike = 1e-6;

bool no_more(double one, double other) { return one <= other + kAlike; }

// Where a node stands. `rows` and `errors` are those of the last look; they hold as long as the
// rows are the same.
struct Place {
    std::int32_t origin = 0;
    std::int32_t child = -1, branches = 0;
    std::int32_t leaves = 1;
    std::int64_t rows = -1;
    double errors = 0;
    bool settled = false;  // pruned, with these rows
    bool gaps = false;     // some of them are shared out among the branches

    bool leaf() const { return child < 0; }
};

// The tree as it is being pruned. The branches of a place are those of the old tree's node
// `origin`, so a raised one takes its own along by their number.
struct Work {
    const TreeView& tree;
    const TrainingRows& training;
    const ErrorRules& rules;
    std::vector<Place> places;
    std::vector<double> cells;  // class weights of every place

    double* cell(std::int32_t place) { return cells.data() + std::size_t(place) * rules.classes; }
};

// A part of the tree that is pruned on its own, and what was done to it.
struct Task {
    std::int32_t place;
    std::vector<WeightedRow> rows;
    std::vector<PruneStep> steps;
};

// Prunes one subtree. Trees may be as deep as they have rows: no function calls itself.
class Pruner {
  public:
    Pruner(Work& work, std::vector<WeightedRow> rows, Interrupt& interrupt, int thread)
        : work_(work),
          interrupt_(interrupt),
          thread_(thread),
          stack_(work.tree, work.training.columns, work.training.gaps, std::move(rows)),
          cell_(work.rules.classes) {}

    // Subtrees of at most `most` rows, in the order in which `run` comes to them.
    std::vector<Task> tasks(std::size_t most) {
        std::vector<Task> found;
        send_down(0, stack_.all(), [&](std::int32_t at, RowRange rows) {
            Place& place = work_.places[std::size_t(at)];
            if (place.leaf()) return false;
            if (rows.size() <= most) {
                found.push_back({at, stack_.copy(rows), {}});
                return false;
            }
            place.rows = std::int64_t(rows.size());
            return true;
        });
        return found;
    }

    // Prune below `root`. What has been done to subtrees already, in `earlier`, is put where it
    // would have been done.
    std::vector<PruneStep> run(std::int32_t root, std::vector<Task> earlier = {}) {
        earlier_ = std::move(earlier);
        enter(root, stack_.all(), false);
        while (!visits_.empty()) {
            Visit& visit = visits_.back();
            const Place& place = work_.places[std::size_t(visit.place)];
            if (visit.next == place.branches) {
                leave();
                continue;
            }
            const std::int32_t b = visit.next++;
            enter(place.child + b, ranges_[visit.first + std::size_t(b)], visit.uneven);
        }
        return std::move(steps_);
    }

  private:
    struct Visit {
        std::int32_t place;
        RowRange rows;
        std::size_t top;    // of the stack of rows, before its branches
        std::size_t first;  // range of its first branch
        std::int32_t next;  // branch to go to
        bool uneven;        // parts of rows below may not be what they were
    };
    struct Sent {
        std::int32_t place;
        RowRange rows;
        std::size_t top;
    };

    // `uneven`: the rows may be the same as before, in other parts.
    void enter(std::int32_t at, RowRange rows, bool uneven) {
        Place& place = work_.places[std::size_t(at)];
        const bool same = place.rows == std::int64_t(rows.size()) && !uneven;
        // Raising only adds rows: as many as before are the same. Pruning again would change
        // nothing.
        if (same && place.settled) return recall(at);
        place.rows = std::int64_t(rows.size());
        stack_.count(rows, work_.cell(at), work_.rules.classes);
        place.settled = place.leaf();
        if (place.leaf()) {
            place.errors = expected_errors(work_.cell(at), work_.rules);
            return;
        }
        Visit visit{at, rows, stack_.top(), ranges_.size(), 0, false};
        place.gaps = split(place, rows, ranges_);
        visit.uneven = uneven || (place.gaps && !same);
        visits_.push_back(visit);
    }

    void recall(std::int32_t at) {
        if (recalled_ == earlier_.size() || earlier_[recalled_].place != at) return;
        const std::vector<PruneStep>& done = earlier_[recalled_++].steps;
        steps_.insert(steps_.end(), done.begin(), done.end());
    }

    // All branches are pruned: decide about the node itself.
    void leave() {
        const Visit visit = visits_.back();
        visits_.pop_back();
        Place& place = work_.places[std::size_t(visit.place)];
        const std::int32_t heaviest = heaviest_branch(place);
        const RowRange own = ranges_[visit.first + std::size_t(heaviest - place.child)];
        ranges_.resize(visit.first);
        stack_.drop(visit.top);
        sum_up(place);
        PruneStep step{place.origin, -1, 0, 0, place.errors, 0};
        step.as_leaf = expected_errors(work_.cell(visit.place), work_.rules);
        step.as_branch = work_.rules.raising ? branch_errors(visit, heaviest, own, step.as_leaf)
                                             : std::numeric_limits<double>::infinity();
        if (no_more(step.as_leaf, step.as_is + kSlack) &&
            no_more(step.as_leaf, step.as_branch + kSlack))
            make_leaf(place, step);
        else if (no_more(step.as_branch, step.as_is + kSlack))
            raise(visit, heaviest, step);
        else
            place.settled = true;
    }

    void sum_up(Place& place) const {
        place.errors = 0;
        place.leaves = 0;
        for (std::int32_t b = 0; b < place.branches; ++b) {
            const Place& branch = work_.places[std::size_t(place.child + b)];
            place.errors += branch.errors;
            place.leaves += branch.leaves;
        }
    }

    // Of equals the first.
    std::int32_t heaviest_branch(const Place& place) {
        std::int32_t heaviest = place.child;
        double most = weight_of(work_.cell(heaviest), work_.rules.classes);
        for (std::int32_t b = place.child + 1; b < place.child + place.branches; ++b) {
            const double weight = weight_of(work_.cell(b), work_.rules.classes);
            if (no_more(weight, most)) continue;
            heaviest = b;
            most = weight;
        }
        return heaviest;
    }

    // Errors to be expected were the branch given all rows of its node; `own` are those it has.
    double branch_errors(const Visit& visit, std::int32_t branch, RowRange own, double as_leaf) {
        if (work_.places[std::size_t(branch)].leaf()) return as_leaf;
        if (!work_.places[std::size_t(visit.place)].gaps) {
            const RowRange others = stack_.push_without(visit.rows, own);
            const std::optional<double> errors = errors_with(branch, others);
            stack_.drop(visit.top);
            if (errors) return *errors;
        }
        return errors_of(branch, visit.rows);
    }

    // From what the branch has and the rows that come to it: with splits that put off a few rows
    // at a time, all would be too many. Nothing where these change the parts of others.
    std::optional<double> errors_with(std::int32_t branch, RowRange others) {
        double errors = 0;
        shared_out_ = false;
        send_down(branch, others, [&](std::int32_t at, RowRange added) {
            const Place& place = work_.places[std::size_t(at)];
            if (added.size() == 0)
                errors += place.errors;
            else if (place.leaf())
                errors += errors_of_leaf(added, work_.cell(at));
            else
                shared_out_ = shared_out_ || place.gaps;
            return !place.leaf() && added.size() > 0 && !shared_out_;
        });
        return shared_out_ ? std::nullopt : std::optional(errors);
    }

    double errors_of(std::int32_t branch, RowRange rows) {
        double errors = 0;
        send_down(branch, rows, [&](std::int32_t at, RowRange own) {
            const bool leaf = work_.places[std::size_t(at)].leaf();
            if (leaf) errors += errors_of_leaf(own, nullptr);
            return !leaf && own.size() > 0;
        });
        return errors;
    }

    double errors_of_leaf(RowRange rows, const double* before) {
        stack_.count(rows, cell_.data(), cell_.size());
        for (std::size_t k = 0; before != nullptr && k < cell_.size(); ++k) cell_[k] += before[k];
        return expected_errors(cell_.data(), work_.rules);
    }

    void make_leaf(Place& place, PruneStep step) {
        step.lost = place.leaves - 1;
        steps_.push_back(step);
        place.child = -1;
        place.branches = 0;
        place.leaves = 1;
        place.errors = step.as_leaf;
        place.settled = true;
    }

    void raise(const Visit& visit, std::int32_t branch, PruneStep step) {
        Place& place = work_.places[std::size_t(visit.place)];
        const Place& raised = work_.places[std::size_t(branch)];
        const bool gaps = place.gaps;
        step.lost = place.leaves - raised.leaves;
        step.replacing = raised.origin;
        steps_.push_back(step);
        place = raised;
        enter(visit.place, visit.rows, gaps);
    }

    // look(place, rows) at every place that rows of `root` come to, first branches first; below
    // those where it returns true.
    template <typename Look>
    void send_down(std::int32_t root, RowRange rows, Look look) {
        const std::size_t top = stack_.top();
        sent_.assign(1, {root, rows, top});
        while (!sent_.empty()) {
            const Sent sent = sent_.back();
            sent_.pop_back();
            stack_.drop(sent.top);
            if (!look(sent.place, sent.rows)) continue;
            const Place& place = work_.places[std::size_t(sent.place)];
            parts_.clear();
            split(place, sent.rows, parts_);
            for (std::int32_t b = place.branches - 1; b >= 0; --b)
                sent_.push_back({place.child + b, parts_[std::size_t(b)], stack_.top()});
        }
        stack_.drop(top);
    }

    bool split(const Place& place, RowRange rows, std::vector<RowRange>& out) {
        if (interrupt_.stopped(thread_)) throw Interrupted();
        const bool gaps = stack_.split(place.origin, place.branches, rows, out);
        shared_out_ = shared_out_ || gaps;
        return gaps;
    }

    Work& work_;
    Interrupt& interrupt_;
    int thread_;
    RowStack stack_;
    std::vector<double> cell_;
    std::vector<Visit> visits_;
    std::vector<RowRange> ranges_, parts_;
    std::vector<Sent> sent_;
    std::vector<PruneStep> steps_;
    std::vector<Task> earlier_;
    std::size_t recalled_ = 0;
    bool shared_out_ = false;  // by a split since it was last set
};

Work work_of(const TreeView& tree, const std::int32_t* branches, const TrainingRows& training,
             const ErrorRules& rules) {
    Work work{tree, training, rules, {}, {}};
    work.places.resize(tree.count);
    work.cells.resize(tree.count * rules.classes);
    for (std::size_t i = 0; i < tree.count; ++i) {
        work.places[i].origin = std::int32_t(i);
        if (tree.nodes[i].kind() == Test::kLeaf) continue;
        work.places[i].child = tree.nodes[i].child;
        work.places[i].branches = branches[i];
    }
    return work;
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

// Subtrees side by side, then what is above them. How the tree is parted depends on the rows alone.
std::vector<PruneStep> prune(Work& work, int threads) {
    constexpr std::size_t kLeast = 4096, kParts = 16;
    std::vector<WeightedRow> rows = all_rows(work.training);
    const std::size_t n = rows.size();
    std::vector<Task> tasks;
    std::vector<PruneStep> steps;
    for_segments({1, 1}, 1, [&](std::size_t, int thread, Interrupt& interrupt) {
        tasks = Pruner(work, rows, interrupt, thread).tasks(std::max(kLeast, n / kParts));
    });
    for_segments({tasks.size(), tasks.size()}, threads_for(1000.0 * double(n), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     Task& task = tasks[s];
                     Pruner pruner(work, std::move(task.rows), interrupt, thread);
                     task.steps = pruner.run(task.place);
                 });
    for_segments({1, 1}, 1, [&](std::size_t, int thread, Interrupt& interrupt) {
        steps = Pruner(work, std::move(rows), interrupt, thread).run(0, std::move(tasks));
    });
    return steps;
}

// Places that hang on the root. Branches stand behind their node, raised ones too.
std::vector<bool> places_left(const Work& work) {
    std::vector<bool> left(work.places.size(), false);
    left[0] = true;
    for (std::size_t i = 0; i < left.size(); ++i)
        for (std::int32_t b = 0; left[i] && b < work.places[i].branches; ++b)
            left[std::size_t(work.places[i].child + b)] = true;
    return left;
}

// Those places in their order: branches are still neighbours.
ErrorPruned numbered(Work& work) {
    const std::vector<bool> left = places_left(work);
    std::vector<std::int32_t> number;
    std::int32_t next = 0;
    for (const bool is_left : left) number.push_back(is_left ? next++ : -1);
    ErrorPruned out;
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (!left[i]) continue;
        const Place& place = work.places[i];
        const double* cell = work.cell(std::int32_t(i));
        out.origin.push_back(place.origin);
        out.child.push_back(place.leaf() ? -1 : number[std::size_t(place.child)]);
        out.rows.push_back(place.rows);
        out.weight.push_back(weight_of(cell, work.rules.classes));
        out.value.insert(out.value.end(), cell, cell + work.rules.classes);
    }
    return out;
}

}  // namespace

ErrorPruned prune_by_errors(const TreeView& tree, const std::int32_t* branches,
                            const TrainingRows& rows, const ErrorRules& rules, int threads) {
    Work work = work_of(tree, branches, rows, rules);
    std::vector<PruneStep> steps = prune(work, threads);
    ErrorPruned out = numbered(work);
    out.steps = std::move(steps);
    return out;
}

}  // namespace ceiba::tree
