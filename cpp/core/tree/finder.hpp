// Who finds the best split of a column at a node: one for each criterion and kind of target.
//
// A finder keeps buffers, so every thread has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>

#include "parallel.hpp"
#include "tree/candidate.hpp"
#include "tree/columns.hpp"
#include "tree/criterion.hpp"
#include "tree/growth.hpp"

namespace ceiba::tree {

// A row of a small node or of a large one: code above, place below.
using SmallEntry = std::uint32_t;
using LargeEntry = std::uint64_t;
constexpr int kSmallBits = 16;
constexpr int kLargeBits = 32;

// Middle of a node under absolute error.
struct Middle {
    double median = 0;
    double deviation = 0;  // weighted sum of distances to it
};

template <typename Rows>
class Finder {
  public:
    virtual ~Finder() = default;

    // Whom to ask whether to stop, while a search goes on that may take long.
    void listen(Interrupt* interrupt, int thread = 0) {
        interrupt_ = interrupt;
        thread_ = thread;
    }
    bool stopped() { return interrupt_ != nullptr && interrupt_->stopped(thread_); }

    // The node's term of the criterion; under absolute error it is told from the rows instead.
    virtual double term(const Number* cell) const = 0;
    virtual bool by_rows() const { return false; }
    virtual Middle middle(const Rows&, std::span<const std::uint32_t>) { return {}; }

    virtual void bins(const NodeCell&, const Column&, const Number* bins, Candidate&) = 0;
    virtual void labels(const NodeCell&, const Column&, std::span<const std::uint32_t> sorted,
                        int bits, Candidate&) = 0;
    // Entries of a bag, see Tagged; of classes only.
    virtual void tagged(const NodeCell&, const Column&, std::span<const LargeEntry> sorted,
                        Candidate&);
    virtual void small(const NodeCell&, const Column&, std::uint32_t gap_code, const Rows&,
                       std::span<const SmallEntry> sorted, Candidate&) = 0;
    virtual void large(const NodeCell&, const Column&, const Rows&,
                       std::span<const LargeEntry> sorted, Candidate&) = 0;

  private:
    Interrupt* interrupt_ = nullptr;
    int thread_ = 0;
};

template <typename Rows>
void Finder<Rows>::tagged(const NodeCell&, const Column&, std::span<const LargeEntry>, Candidate&) {
    throw std::logic_error("only weighted classes have tags");
}

// What a finder is made from.
struct FinderSpec {
    Criterion criterion = Criterion::kGini;
    SplitRules rules;
    Xlog2x xlog2x;
    int classes = 0;
    bool fractional = false;         // weights that are not whole numbers
    const double* values = nullptr;  // absolute error: the target of each rank,
    double centre = 0;               // ... and the middle of all targets
};

inline FinderSpec finder_spec(const GrowthRules& rules) {
    FinderSpec spec;
    spec.criterion = rules.criterion;
    spec.rules = rules.split;
    spec.rules.seed = rules.seed;
    spec.classes = int(rules.classes);
    spec.fractional = rules.fractional();
    spec.centre = rules.centre;
    return spec;
}

template <typename Rows>
std::unique_ptr<Finder<Rows>> make_finder(const FinderSpec& spec);

}  // namespace ceiba::tree
