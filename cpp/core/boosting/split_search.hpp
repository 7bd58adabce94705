// Search for the best split of one column at a node of a boosted tree, by gradient sums.
//
//   T(G)        = sign(G) max(|G| - reg_alpha, 0)
//   score(G, H) = T(G)^2 / (H + reg_lambda)
//   value(G, H) = -T(G) / (H + reg_lambda)
//   gain        = score(left) + score(right) - score(node)
//
// Chen & Guestrin (2016), "XGBoost: a scalable tree boosting system", KDD. With several outputs the
// scores of all outputs are added. Under monotonic constraints values are limited to the bounds of
// their node, and scores are those of the limited values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "boosting/config.hpp"
#include "boosting/quantized.hpp"
#include "tree/encode/columns.hpp"
#include "tree/split/candidate.hpp"

namespace ceiba::boosting {

using tree::Bounds;
using tree::Candidate;
using tree::Column;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums of a node or a branch in real units; one gradient and one Hessian per output.
struct RealSums {
    std::vector<double> gradient, hessian;
    double rows = 0;

    double mean_gradient(std::size_t k) const {
        return hessian[k] > 0 ? gradient[k] / hessian[k] : 0.0;
    }
};

// The node whose splits are searched.
struct BoostedNode {
    RealSums sums;
    Bounds bounds;
    double score = 0;
    // Gain that one more random category reaches; only for columns of many categories.
    double chance_gain_per_category = 0;
};

class SplitSearch {
  public:
    SplitSearch(const BoostingConfig& config, const GradientScale& scale, std::size_t outputs);

    // Whether all rows have the same Hessian, which then gives their number.
    bool counts_by_hessian() const { return scale_.equal_hessians && outputs_ == 1; }

    double value(double gradient, double hessian) const;
    double score(double gradient, double hessian) const;
    // Score of a leaf with this value, not the best one.
    double score_of_value(double gradient, double hessian, double value) const;
    double clipped_value(double gradient, double hessian, const Bounds& bounds) const;
    // Score of a whole node.
    double node_score(const RealSums& sums, const Bounds& bounds) const;
    // Convert sums in units.
    void to_real(const GradientSum* sums, Number rows, RealSums& out) const;

    // Find the best split of a column from the cells of its codes and of missing values. `counts`
    // are the numbers of rows of each code; null: min_rows is not enforced, except where
    // equal Hessians count the rows. The score of `best` is the gain; one that is not found has no
    // gain above min_split_gain.
    template <typename Layout>
    void find(const BoostedNode& node, const Column& column, const typename Layout::Word* cells,
              const std::uint32_t* counts, Candidate& best);

  private:
    // Whether a gain exceeds min_split_gain and rounding errors.
    bool is_enough(double gain, const BoostedNode& node) const;
    template <typename Layout>
    void add_prefix_sums(const typename Layout::Word* cells, const std::uint32_t* counts,
                         const std::uint32_t* codes, std::size_t n);
    // Write the codes that have rows to codes_, and return whether only they are to be searched.
    template <typename Layout>
    bool collect_present_codes(const BoostedNode& node, const typename Layout::Word* cells,
                               std::size_t n);
    template <typename Layout>
    void find_threshold(const BoostedNode& node, const Column& column,
                        const typename Layout::Word* cells, const std::uint32_t* counts,
                        Candidate& best);
    template <typename Layout>
    void find_categories(const BoostedNode& node, const Column& column,
                         const typename Layout::Word* cells, const std::uint32_t* counts,
                         Candidate& best);
    // Scores of the m prefixes whose sums are in left_*; `missing`, if not null, goes left as well.
    void score_prefixes(const BoostedNode& node, std::size_t m, const RealSums* missing,
                        int monotonic, double* out);
    void score_constrained(const BoostedNode& node, std::size_t m, const RealSums* missing,
                           int monotonic, double* out);
    template <typename Layout>
    void sort_categories(const BoostedNode& node, const Column& column,
                         const typename Layout::Word* cells);

    const BoostingConfig& config_;
    const GradientScale& scale_;
    std::size_t outputs_;
    bool constrained_;
    double min_hessian_;  // of each branch
    bool has_counts_ = false;
    // Prefix sums: one array of `capacity_` entries per output.
    std::size_t capacity_ = 0;
    std::vector<double> left_gradient_, left_hessian_;
    std::vector<std::uint32_t> left_rows_;
    std::vector<std::uint64_t> words_;  // packed cells in the order of the prefixes
    // Scores of the prefixes with missing values in either branch, and the larger ones. Without
    // missing values, and of categories, only the first are computed.
    std::vector<double> missing_right_, missing_left_, best_scores_;
    // With several outputs: scores of one output, and Hessians summed over all of them.
    std::vector<double> output_scores_, hessian_sum_;
    std::vector<std::uint32_t> codes_;
    std::vector<double> keys_;
    std::vector<GradientSum> missing_units_;
    RealSums missing_;
};

}  // namespace ceiba::boosting
