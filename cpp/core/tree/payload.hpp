// The targets of the rows, kept in the order of the nodes: every node's rows lie side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/cells.hpp"
#include "tree/problem.hpp"

namespace ceiba::tree {

// Move values[begin + i] to values[begin + to[i]].
template <typename T>
void move_to(std::vector<T>& values, std::size_t begin, std::span<const std::uint32_t> to,
             std::vector<T>& spare) {
    if (values.empty()) return;
    spare.resize(to.size());
    for (std::size_t i = 0; i < to.size(); ++i) spare[to[i]] = values[begin + i];
    std::copy(spare.begin(), spare.end(), values.begin() + std::ptrdiff_t(begin));
}

template <typename T>
std::vector<T> picked(const T* values, const std::vector<std::uint32_t>& rows) {
    std::vector<T> found;
    if (values == nullptr) return found;
    found.reserve(rows.size());
    for (const std::uint32_t row : rows) found.push_back(values[row]);
    return found;
}

template <bool Weighted>
class ClassPayload {
  public:
    using Rows = ClassRows<Weighted>;

    ClassPayload(const Targets& targets, const GrowthRules& rules,
                 const std::vector<std::uint32_t>& rows)
        : label_(picked(targets.label, rows)),
          weight_(picked(targets.weight, rows)),
          classes_(int(rules.classes)) {}

    Rows rows(std::size_t begin) const {
        return {label_.data() + begin, Weighted ? weight_.data() + begin : nullptr, classes_};
    }
    void move(std::size_t begin, std::span<const std::uint32_t> to) {
        move_to(label_, begin, to, spare_label_);
        move_to(weight_, begin, to, spare_weight_);
    }
    // Bits of a label that fits beside a code; 0 where the class alone does not tell all.
    int label_bits() const;
    std::uint32_t label(std::size_t i) const { return label_[i]; }

  private:
    std::vector<std::uint16_t> label_, spare_label_;
    std::vector<Number> weight_, spare_weight_;
    int classes_;
};

template <bool Weighted>
class MomentPayload {
  public:
    using Rows = MomentRows<Weighted>;

    MomentPayload(const Targets& targets, const GrowthRules&,
                  const std::vector<std::uint32_t>& rows)
        : number_(picked(targets.number, rows)), weight_(picked(targets.weight, rows)) {}

    Rows rows(std::size_t begin) const {
        return {number_.data() + begin, Weighted ? weight_.data() + begin : nullptr};
    }
    void move(std::size_t begin, std::span<const std::uint32_t> to) {
        move_to(number_, begin, to, spare_);
        move_to(weight_, begin, to, spare_);
    }
    int label_bits() const { return 0; }
    std::uint32_t label(std::size_t) const { return 0; }

  private:
    std::vector<Number> number_, weight_, spare_;
};

template <bool Weighted>
int ClassPayload<Weighted>::label_bits() const {
    return Weighted ? 0 : std::max(1, int(std::bit_width(unsigned(classes_ - 1))));
}

}  // namespace ceiba::tree
