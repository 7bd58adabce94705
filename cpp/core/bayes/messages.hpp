// Sums over the missing values of a row, by messages along the forest of its features (Pearl 1988).
//
// A feature whose value is missing and that has children is *hidden*: all its values are summed
// over. A missing value of a feature without children needs no sum, since its probabilities add up
// to 1: it is a code as any other, with weight 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "bayes/families.hpp"

namespace ceiba {

class ForestMessages {
  public:
    // Each family has at most one parent, whose family precedes it.
    ForestMessages(const Families& families, const double* weights, std::size_t n_classes)
        : families_(families), weights_(weights), k_(n_classes), parent_(families.count, -1) {
        std::size_t beliefs = 0, messages = 0;
        has_children_.resize(families.count);
        for (std::size_t f = 0; f < families.count; ++f) {
            stride_.push_back(0);
            if (families.starts[f] < families.starts[f + 1]) {
                const auto p = families.starts[f];
                stride_[f] = std::size_t(families.strides[p]);
                parent_[f] = family_of(families.parents[p], f);
                has_children_[std::size_t(parent_[f])] = true;
            }
            beliefs_.push_back(beliefs);
            messages_.push_back(messages);
            beliefs += known(f) * k_;
            messages += (parent_[f] < 0 ? 1 : known(std::size_t(parent_[f]))) * k_;
        }
        belief_.resize(beliefs);
        posterior_.resize(beliefs);
        message_.resize(messages);
        joint_.resize(k_);
    }

    // Add log p(observed values | c) to `out`, from the children to the parents.
    template <typename Code>
    void add_log_joint(const Code* codes, double* out) {
        hide(codes);
        std::fill(belief_.begin(), belief_.end(), 0.0);
        for (std::size_t f = families_.count; f-- > 0;) {
            const auto [first, last] = parent_codes(f, codes);
            double* to = parent_hidden(f) ? belief(std::size_t(parent_[f])) : out;
            for (std::size_t xp = first; xp < last; ++xp) {
                const double* message = row(f, xp, code(f, codes));
                if (hidden_[f]) message = sum_out(f, xp, xp - first);
                double* target = to + (parent_hidden(f) ? xp * k_ : 0);
                for (std::size_t c = 0; c < k_; ++c) target[c] += message[c];
            }
        }
    }

    // Add values[c] * p(table row | observed values, c) to the rows of `table`, from the parents to
    // the children; to be called after `add_log_joint` for the same row.
    template <typename Code>
    void scatter(const Code* codes, const double* values, double* table) {
        for (std::size_t f = 0; f < families_.count; ++f) {
            const auto [first, last] = parent_codes(f, codes);
            if (hidden_[f]) std::fill_n(posterior_.data() + beliefs_[f], known(f) * k_, 0.0);
            for (std::size_t xp = first; xp < last; ++xp) {
                const double* of_parent =
                    parent_hidden(f)
                        ? posterior_.data() + beliefs_[std::size_t(parent_[f])] + xp * k_
                        : nullptr;
                if (!hidden_[f])
                    add(row_index(f, xp, code(f, codes)), values, of_parent, table);
                else
                    scatter_hidden(f, xp, xp - first, values, of_parent, table);
            }
        }
    }

  private:
    std::size_t known(std::size_t f) const { return std::size_t(families_.sizes[f]) - 1; }
    double* belief(std::size_t f) { return belief_.data() + beliefs_[f]; }
    bool parent_hidden(std::size_t f) const {
        return parent_[f] >= 0 && hidden_[std::size_t(parent_[f])];
    }
    template <typename Code>
    std::size_t code(std::size_t f, const Code* codes) const {
        return std::size_t(codes[families_.features[f]]);
    }
    std::size_t row_index(std::size_t f, std::size_t xp, std::size_t x) const {
        return std::size_t(families_.offsets[f]) + stride_[f] * xp + x;
    }
    const double* row(std::size_t f, std::size_t xp, std::size_t x) const {
        return weights_ + row_index(f, xp, x) * k_;
    }

    int family_of(std::int32_t feature, std::size_t before) const {
        for (std::size_t f = 0; f < before; ++f)
            if (families_.features[f] == feature) return int(f);
        return -1;
    }

    template <typename Code>
    void hide(const Code* codes) {
        hidden_.assign(families_.count, false);
        for (std::size_t f = 0; f < families_.count; ++f)
            hidden_[f] = has_children_[f] && code(f, codes) == known(f);
    }

    // The codes of the parent that have to be regarded: all if it is hidden, else its own.
    template <typename Code>
    std::pair<std::size_t, std::size_t> parent_codes(std::size_t f, const Code* codes) const {
        if (parent_[f] < 0) return {0, 1};
        const auto p = std::size_t(parent_[f]);
        if (hidden_[p]) return {0, known(p)};
        return {code(p, codes), code(p, codes) + 1};
    }

    // Message of a hidden feature to one code of its parent.
    const double* sum_out(std::size_t f, std::size_t xp, std::size_t slot) {
        double* message = message_.data() + messages_[f] + slot * k_;
        const double* own = belief(f);
        for (std::size_t c = 0; c < k_; ++c) {
            double top = row(f, xp, 0)[c] + own[c];
            for (std::size_t x = 1; x < known(f); ++x)
                top = std::max(top, row(f, xp, x)[c] + own[x * k_ + c]);
            double sum = 0;
            for (std::size_t x = 0; x < known(f); ++x)
                sum += std::exp(row(f, xp, x)[c] + own[x * k_ + c] - top);
            message[c] = top + std::log(sum);
        }
        return message;
    }

    void scatter_hidden(std::size_t f, std::size_t xp, std::size_t slot, const double* values,
                        const double* of_parent, double* table) {
        const double* message = message_.data() + messages_[f] + slot * k_;
        for (std::size_t x = 0; x < known(f); ++x) {
            for (std::size_t c = 0; c < k_; ++c) {
                const double given =
                    std::exp(row(f, xp, x)[c] + belief(f)[x * k_ + c] - message[c]);
                joint_[c] = of_parent == nullptr ? given : of_parent[c] * given;
                posterior_[beliefs_[f] + x * k_ + c] += joint_[c];
            }
            add(row_index(f, xp, x), values, joint_.data(), table);
        }
    }

    void add(std::size_t row, const double* values, const double* probability,
             double* table) const {
        for (std::size_t c = 0; c < k_; ++c)
            table[row * k_ + c] += probability == nullptr ? values[c] : values[c] * probability[c];
    }

    const Families& families_;
    const double* weights_;
    std::size_t k_;
    std::vector<int> parent_;          // family of the parent; -1 for none
    std::vector<std::size_t> stride_;  // table rows per code of the parent
    std::vector<bool> has_children_, hidden_;
    std::vector<std::size_t> beliefs_, messages_;  // first entry of each family
    std::vector<double> belief_;                   // sum of the children's messages: code x class
    std::vector<double> posterior_;  // p(code | observed values, c) of hidden features
    std::vector<double> message_;    // of hidden features: code of the parent x class
    std::vector<double> joint_;      // p(code, code of the parent | observed values, c)
};

}  // namespace ceiba
