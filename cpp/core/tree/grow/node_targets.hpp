// Targets of the rows in node order: the rows of a node are contiguous.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/grow/grow.hpp"
#include "tree/split/cells.hpp"

namespace ceiba::tree {

// Move values[begin + i] to values[begin + destination[i]].
template <typename T>
void permute(std::vector<T>& values, std::size_t begin, std::span<const std::uint32_t> destination,
             std::vector<T>& spare) {
    if (values.empty()) return;
    spare.resize(destination.size());
    for (std::size_t i = 0; i < destination.size(); ++i) spare[destination[i]] = values[begin + i];
    std::copy(spare.begin(), spare.end(), values.begin() + std::ptrdiff_t(begin));
}

template <typename T>
std::vector<T> gather(const T* values, const std::vector<std::uint32_t>& rows) {
    std::vector<T> found;
    if (values == nullptr) return found;
    found.reserve(rows.size());
    for (const std::uint32_t row : rows) found.push_back(values[row]);
    return found;
}

template <bool Weighted>
class ClassNodeTargets {
  public:
    using Rows = ClassRows<Weighted>;

    ClassNodeTargets(const Targets& targets, const TreeConfig& config,
                     const std::vector<std::uint32_t>& rows)
        : label_(gather(targets.label, rows)),
          weight_(gather(targets.weight, rows)),
          n_classes_(int(config.n_classes)) {}

    Rows rows(std::size_t begin) const {
        return {label_.data() + begin, Weighted ? weight_.data() + begin : nullptr, n_classes_};
    }
    void move(std::size_t begin, std::span<const std::uint32_t> destination) {
        permute(label_, begin, destination, spare_label_);
        permute(weight_, begin, destination, spare_weight_);
    }
    // Number of bits of a label that is stored beside a code; 0 if rows are weighted.
    int label_bits() const;
    std::uint32_t label(std::size_t i) const { return label_[i]; }

  private:
    std::vector<std::uint16_t> label_, spare_label_;
    std::vector<Number> weight_, spare_weight_;
    int n_classes_;
};

template <bool Weighted>
class MomentNodeTargets {
  public:
    using Rows = MomentRows<Weighted>;

    MomentNodeTargets(const Targets& targets, const TreeConfig&,
                      const std::vector<std::uint32_t>& rows)
        : weighted_target_(gather(targets.weighted_target, rows)),
          weight_(gather(targets.weight, rows)) {}

    Rows rows(std::size_t begin) const {
        return {weighted_target_.data() + begin, Weighted ? weight_.data() + begin : nullptr};
    }
    void move(std::size_t begin, std::span<const std::uint32_t> destination) {
        permute(weighted_target_, begin, destination, spare_);
        permute(weight_, begin, destination, spare_);
    }
    int label_bits() const { return 0; }
    std::uint32_t label(std::size_t) const { return 0; }

  private:
    std::vector<Number> weighted_target_, weight_, spare_;
};

template <bool Weighted>
int ClassNodeTargets<Weighted>::label_bits() const {
    return Weighted ? 0 : std::max(1, int(std::bit_width(unsigned(n_classes_ - 1))));
}

}  // namespace ceiba::tree
