// Rows of a growing tree with their targets: the rows of a node are contiguous and in table order,
// and a split partitions them in place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "tree/grow/grow.hpp"
#include "tree/split/cells.hpp"

namespace ceiba::tree {

// Values of the rows of a node, and a buffer for as many.
template <typename T>
struct RowValues {
    T* data;
    T* buffer;
};

// Stable partition of the rows of a node among its branches, with any number of their values.
class RowPartition {
  public:
    // Partition by the branches branch(i) of the rows; returns where each branch begins, and the
    // end.
    template <typename Branch, typename... T>
    const std::vector<std::size_t>& split(std::size_t n, std::size_t n_branches,
                                          const Branch& branch, RowValues<T>... values) {
        if (n_branches == 2) {
            starts_.assign({0, in_two(n, branch, values...), n});
            return starts_;
        }
        starts_.assign(n_branches + 1, 0);
        for (std::size_t i = 0; i < n; ++i) ++starts_[std::size_t(branch(i)) + 1];
        for (std::size_t b = 1; b <= n_branches; ++b) starts_[b] += starts_[b - 1];
        repeat(n, branch, values...);
        return starts_;
    }

    // Partition other values of the same rows.
    template <typename Branch, typename... T>
    void repeat(std::size_t n, const Branch& branch, RowValues<T>... values) {
        if (starts_.size() == 3) {
            in_two(n, branch, values...);
            return;
        }
        next_ = starts_;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t to = next_[std::size_t(branch(i))]++;
            ((values.buffer[to] = values.data[i]), ...);
        }
        (std::copy_n(values.buffer, n, values.data), ...);
    }

    const std::vector<std::size_t>& starts() const { return starts_; }

  private:
    // Returns the number of rows on the left.
    template <typename Branch, typename... T>
    static std::size_t in_two(std::size_t n, const Branch& branch, RowValues<T>... values) {
        std::size_t left = 0, n_right = 0;
        // Write to both sides and advance one index: no branch to mispredict.
        const auto write = [&](auto& each, std::size_t i) {
            const auto value = each.data[i];
            each.data[left] = value;
            each.buffer[n_right] = value;
        };
        for (std::size_t i = 0; i < n; ++i) {
            const auto goes_right = std::size_t(branch(i));
            (write(values, i), ...);
            left += 1 - goes_right;
            n_right += goes_right;
        }
        (std::copy_n(values.buffer, n_right, values.data + left), ...);
        return left;
    }

    std::vector<std::size_t> starts_, next_;
};

// Row indices, targets and weights of all nodes.
template <typename Rows_>
class RowStore {
  public:
    using Rows = Rows_;
    using Target = typename Rows::Target;

    // Remove all rows, but keep the memory, for another tree.
    void clear(const TreeConfig& config) {
        n_classes_ = int(config.n_classes);
        rows_.clear();
        target_.clear();
        weight_.clear();
    }
    // Add a row of the table that counts `count` times.
    void add(const Targets& targets, std::size_t row, Number count = 1) {
        rows_.push_back(std::uint32_t(row));
        if constexpr (Rows::kIsClassification)
            target_.push_back(targets.label[row]);
        else
            target_.push_back(count * targets.weighted_target[row]);
        if constexpr (Rows::kWeighted)
            weight_.push_back(count * (targets.weight ? targets.weight[row] : 1));
    }
    void reserve(std::size_t n) {
        rows_.reserve(n);
        target_.reserve(n);
        if constexpr (Rows::kWeighted) weight_.reserve(n);
    }

    std::size_t size() const { return rows_.size(); }
    std::uint32_t row(std::size_t i) const { return rows_[i]; }
    std::span<const std::uint32_t> rows(std::size_t begin, std::size_t end) const {
        return std::span(rows_).subspan(begin, end - begin);
    }
    // Targets from row `begin` on.
    Rows view(std::size_t begin) const {
        const Number* weight = Rows::kWeighted ? weight_.data() + begin : nullptr;
        return Rows::of(target_.data() + begin, weight, n_classes_);
    }

    // Partition the rows [begin, end) by branch(index of the row in the table); returns where each
    // branch begins, relative to `begin`, and the end.
    template <typename Branch>
    const std::vector<std::size_t>& partition(std::size_t begin, std::size_t end,
                                              std::size_t n_branches, const Branch& branch) {
        const std::uint32_t* row = rows_.data() + begin;
        const auto of_row = [&](std::size_t i) { return branch(row[i]); };
        const auto values = [&](auto& all, auto& spare) {
            if (spare.size() < all.size()) spare.resize(all.size());
            return RowValues{all.data() + begin, spare.data()};
        };
        const auto rows = values(rows_, spare_rows_);
        const auto targets = values(target_, spare_target_);
        if constexpr (Rows::kWeighted)
            return partition_.split(end - begin, n_branches, of_row, rows, targets,
                                    values(weight_, spare_weight_));
        else
            return partition_.split(end - begin, n_branches, of_row, rows, targets);
    }

  protected:
    std::vector<std::uint32_t> rows_, spare_rows_;
    std::vector<Target> target_, spare_target_;
    std::vector<Number> weight_, spare_weight_;
    int n_classes_ = 0;
    RowPartition partition_;
};

// Rows of a single node, for trees that send a row down several branches with fractions of its
// weight.
template <typename Rows>
class FractionalRows : public RowStore<Rows> {
  public:
    void add(const Targets& targets, std::size_t row) {
        RowStore<Rows>::add(targets, row);
        if (targets.weighted_square) square_.push_back(targets.weighted_square[row]);
        if (targets.weight_without_costs)
            weight_without_costs_.push_back(targets.weight_without_costs[row]);
    }
    // Take a row of another node.
    void take(const FractionalRows& from, std::size_t i) {
        this->n_classes_ = from.n_classes_;
        const auto copy = [i](auto& to, const auto& values) {
            if (!values.empty()) to.push_back(values[i]);
        };
        copy(this->rows_, from.rows_);
        copy(this->target_, from.target_);
        copy(this->weight_, from.weight_);
        copy(square_, from.square_);
        copy(weight_without_costs_, from.weight_without_costs_);
    }
    // Take a fraction of a row; nothing if that is less than the smallest representable weight.
    void take_fraction(const FractionalRows& from, std::size_t i, double fraction) {
        const auto scaled = [&](Number value) {
            return Number(std::llround(double(value) * fraction));
        };
        const Number weight = scaled(from.weight_[i]);
        if (weight == 0) return;
        take(from, i);
        this->weight_.back() = weight;
        if constexpr (!Rows::kIsClassification) this->target_.back() = scaled(from.target_[i]);
        if (!square_.empty()) square_.back() = scaled(square_.back());
        if (!weight_without_costs_.empty())
            weight_without_costs_.back() =
                std::max<Number>(1, scaled(weight_without_costs_.back()));
    }

    Number square(std::size_t i) const { return square_[i]; }
    // Weights by which branches are compared: costs of classes do not count there. Empty: 1 each.
    std::span<const Number> branch_weights() const {
        return weight_without_costs_.empty() ? this->weight_ : weight_without_costs_;
    }

  private:
    std::vector<Number> square_, weight_without_costs_;
};

}  // namespace ceiba::tree
