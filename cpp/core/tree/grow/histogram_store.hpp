// Histograms: target sums of the rows of a node per code, for columns of few codes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "tree/config.hpp"
#include "tree/split/cells.hpp"
#include "tree/split/sources.hpp"

namespace ceiba::tree {

// Layouts: how the sums of a code are stored, for nodes up to a weight of kMaxWeight. A layout has
// the type Word of its sums, the number of words per code, `add` for row i of some rows, and
// `unpack` into a plain cell. Sums that share a word have enough bits each, so that histograms are
// subtracted word by word.

// Plain cells (tree/split/cells.hpp).
struct PlainCells {
    using Word = Number;
    static constexpr Number kMaxWeight = std::numeric_limits<Number>::max();
    std::size_t words;

    explicit PlainCells(const TreeConfig& config) : words(std::size_t(config.cell_size())) {}

    template <typename Rows>
    void add(Word* sums, const Rows& rows, std::size_t i) const {
        rows.add(sums, i);
    }
};

// Draws and rows of a class in the halves of one counter, so that there is one addition per row and
// the counters of a column stay in the first-level cache. Rows are tagged entries.
template <typename T>
struct ClassCounters {
    using Word = T;
    static constexpr int kHalf = 4 * sizeof(T);
    static constexpr Number kMaxWeight = (Number(1) << kHalf) - 1;
    std::size_t words;

    explicit ClassCounters(const TreeConfig& config) : words(std::size_t(config.n_classes)) {}

    void add(Word* sums, const std::uint64_t* rows, std::size_t i) const {
        sums[TaggedSource::label_of(rows[i])] += T(TaggedSource::count_of(rows[i])) << kHalf | 1;
    }
    void unpack(const Word* sums, Number* cell) const {
        Number rows = 0;
        for (std::size_t k = 0; k < words; ++k) {
            cell[k] = Number(sums[k] >> kHalf);
            rows += Number(sums[k] & T(kMaxWeight));
        }
        cell[words] = rows;
    }
};

// Target sums and, in the halves of one word, weights and rows, added together.
struct PackedMoments {
    typedef Number Word __attribute__((vector_size(2 * sizeof(Number))));
    static constexpr Number kMaxWeight = 0xFFFFFFFF;
    std::size_t words = 1;

    explicit PackedMoments(const TreeConfig&) {}

    void add(Word* sums, const MomentRows<true>& rows, std::size_t i) const {
        *sums += Word{rows.target[i], rows.weight[i] << 32 | 1};
    }
    void unpack(const Word* sums, Number* cell) const {
        cell[0] = Number(std::uint64_t((*sums)[1]) >> 32);
        cell[1] = (*sums)[0];
        cell[2] = (*sums)[1] & kMaxWeight;
    }
};

// The histograms of some columns of one node, one behind the other.
template <typename Layout>
class Histogram {
  public:
    using Word = typename Layout::Word;

    explicit Histogram(const TreeConfig& config)
        : layout_(config), cell_size_(std::size_t(config.cell_size())) {}
    // Histograms of a layout that does not unpack into plain cells.
    explicit Histogram(const Layout& layout) : layout_(layout), cell_size_(0) {}

    // Start with empty sums of this many codes, but keep the memory.
    void begin(std::size_t n_codes) { words_.assign(n_codes * layout_.words, Word{}); }
    // The same, but what the sums are is left open.
    void resize(std::size_t n_codes) { words_.resize(n_codes * layout_.words); }
    // Add `n` rows with the codes code(i) to the column whose codes begin at `first`.
    template <typename Rows, typename CodeOf>
    void add(const Rows& rows, std::size_t n, std::size_t first, const CodeOf& code) {
        const Layout layout = layout_;
        Word* sums = words_.data() + first * layout.words;
        for (std::size_t i = 0; i < n; ++i)
            layout.add(sums + std::size_t(code(i)) * layout.words, rows, i);
    }
    Word* words() { return words_.data(); }
    // Add or subtract a histogram of the same columns.
    void add(const Histogram& other) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] += other.words_[i];
    }
    void subtract(const Histogram& other) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] -= other.words_[i];
    }
    // Plain cells of all codes.
    const Number* cells() {
        if constexpr (requires(Number* cell) { layout_.unpack(words_.data(), cell); }) {
            const Layout layout = layout_;
            cells_.resize(words_.size() / layout.words * cell_size_);
            Number* cell = cells_.data();
            const Word* end = words_.data() + words_.size();
            for (const Word* sums = words_.data(); sums < end; sums += layout.words) {
                layout.unpack(sums, cell);
                cell += cell_size_;
            }
            return cells_.data();
        } else {
            return words_.data();
        }
    }
    std::size_t bytes() const { return words_.size() * sizeof(Word); }

  private:
    Layout layout_;
    std::size_t cell_size_;
    std::vector<Word> words_;
    std::vector<Number> cells_;
};

// Histograms of the open nodes. Those of the oldest nodes are dropped when all take more than
// `max_bytes`; they are counted again when they are needed. Depth-first growth splits the oldest
// open nodes last; breadth-first growth splits them next, and counts those that were dropped again.
template <typename Layout>
class HistogramStore {
  public:
    explicit HistogramStore(std::size_t max_bytes = 0) : max_bytes_(max_bytes) {}

    void set_max_bytes(std::size_t max_bytes) { max_bytes_ = max_bytes; }

    bool contains(std::size_t node) const { return stored_.contains(node); }
    Histogram<Layout>& at(std::size_t node) { return stored_.at(node); }
    std::size_t bytes() const { return bytes_; }

    // Return a histogram to count in, with the memory of one that is no longer needed, if any.
    template <typename Source>
    Histogram<Layout> make(const Source& layout_or_config) {
        if (spare_.empty()) return Histogram<Layout>(layout_or_config);
        Histogram<Layout> histogram = std::move(spare_.back());
        spare_.pop_back();
        return histogram;
    }
    void recycle(Histogram<Layout> histogram) { spare_.push_back(std::move(histogram)); }
    // Drop all histograms, but keep their memory.
    void clear() {
        while (!stored_.empty()) recycle(take(stored_.begin()->first));
    }

    void put(std::size_t node, Histogram<Layout> histogram) {
        put(node, std::move(histogram), node);
    }
    // The same, but that of a sibling, which is searched together with the node, is not dropped.
    void put(std::size_t node, Histogram<Layout> histogram, std::size_t sibling) {
        erase(node);
        bytes_ += histogram.bytes();
        stored_.emplace(node, std::move(histogram));
        for (auto at = stored_.begin(); bytes_ > max_bytes_ && at != stored_.end();) {
            const bool is_kept = at->first == node || at->first == sibling;
            at = is_kept ? std::next(at) : drop(at);
        }
    }
    Histogram<Layout> take(std::size_t node) {
        Histogram<Layout> histogram = std::move(stored_.at(node));
        bytes_ -= histogram.bytes();
        stored_.erase(node);
        return histogram;
    }
    // Replace the histogram of a node, if it is stored, by those of its branches [begin, end): that
    // of the largest branch is the node's minus the others, which count(branch) returns. Branches
    // that are not needed(branch) get none.
    template <typename Needed, typename Count>
    void split(std::size_t node, std::size_t begin, std::size_t end, std::size_t largest,
               const Needed& needed, const Count& count) {
        if (!contains(node)) return;
        Histogram<Layout> rest = take(node);
        if (!needed(largest)) return recycle(std::move(rest));
        for (std::size_t branch = begin; branch < end; ++branch) {
            if (branch == largest) continue;
            Histogram<Layout> counted = count(branch);
            rest.subtract(counted);
            if (needed(branch))
                put(branch, std::move(counted));
            else
                recycle(std::move(counted));
        }
        put(largest, std::move(rest));
    }
    void erase(std::size_t node) {
        if (contains(node)) recycle(take(node));
    }

  private:
    using Stored = std::map<std::size_t, Histogram<Layout>>;

    typename Stored::iterator drop(typename Stored::iterator at) {
        bytes_ -= at->second.bytes();
        return stored_.erase(at);
    }

    std::size_t max_bytes_, bytes_ = 0;
    Stored stored_;
    std::vector<Histogram<Layout>> spare_;
};

}  // namespace ceiba::tree
