// Families of a Bayesian network classifier: a feature with its feature parents; the class is a
// parent of all of them.
//
// The conditional tables of all families are stored one after another, as rows of K entries, one
// per class. The table row of a row is linear in its codes:
//     offset + code(feature) + sum over the parents of stride * code(parent).
// A feature of r categories has the codes 0 to r; code r is a missing value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/views.hpp"

namespace ceiba {

struct Families {
    std::size_t count = 0;                   // number of families
    const std::int32_t* features = nullptr;  // column of codes of each family
    const std::int32_t* sizes = nullptr;     // number of codes of each family's feature
    const std::int64_t* offsets = nullptr;   // first table row of each family, and their number
    const std::int32_t* starts = nullptr;    // first parent of each family, and their number
    const std::int32_t* parents = nullptr;   // columns of codes
    const std::int64_t* strides = nullptr;   // table rows per code of a parent

    std::size_t n_rows() const { return std::size_t(offsets[count]); }

    bool single_parents() const {
        for (std::size_t f = 0; f < count; ++f)
            if (starts[f + 1] - starts[f] > 1) return false;
        return true;
    }
};

// Table rows of the families of a few rows at a time.
template <typename Code>
class TableRows {
  public:
    explicit TableRows(const Families& families)
        : families_(families), single_(families.single_parents()) {
        for (std::size_t f = 0; f < families.count; ++f) {
            const bool has_parent = families.starts[f] < families.starts[f + 1];
            // Without a parent, the stride 0 makes any column do.
            parent_.push_back(has_parent ? families.parents[families.starts[f]] : 0);
            stride_.push_back(has_parent ? std::uint32_t(families.strides[families.starts[f]]) : 0);
        }
    }

    // Write families.count table rows for one row.
    void compute(const Code* codes, std::uint32_t* rows) const {
        for (std::size_t f = 0; f < families_.count; ++f)
            rows[f] = std::uint32_t(families_.offsets[f]) + codes[families_.features[f]] +
                      stride_[f] * codes[parent_[f]];
        if (single_) return;
        for (std::size_t f = 0; f < families_.count; ++f)
            for (auto p = families_.starts[f] + 1; p < families_.starts[f + 1]; ++p)
                rows[f] += std::uint32_t(families_.strides[p]) * codes[families_.parents[p]];
    }

  private:
    const Families& families_;
    bool single_;
    std::vector<std::int32_t> parent_;
    std::vector<std::uint32_t> stride_;
};

}  // namespace ceiba
