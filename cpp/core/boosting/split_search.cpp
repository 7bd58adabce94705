// Implementation of the split search of boosted trees.
#include "boosting/split_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "simd/boosting_kernels.hpp"
#include "simd/tree_kernels.hpp"

namespace ceiba::boosting {

SplitSearch::SplitSearch(const BoostingConfig& config, const GradientScale& scale,
                         std::size_t outputs)
    : config_(config), scale_(scale), outputs_(outputs), constrained_(!config.monotonic.empty()) {
    min_hessian_ = config.min_child_weight;
    // Equal Hessians are numbers of rows. Sums are rounded when they are converted and subtracted:
    // without half a row of tolerance, 30 % of the branches of exactly min_rows were refused.
    if (counts_by_hessian() && scale.max_hessian > 0) {
        const double rows = std::ceil(config.min_child_weight / scale.max_hessian * (1 - 1e-12));
        min_hessian_ = (std::max(rows, double(config.min_rows)) - 0.5) * scale.max_hessian;
    }
    missing_.gradient.resize(outputs);
    missing_.hessian.resize(outputs);
}

double SplitSearch::value(double gradient, double hessian) const {
    const double size = std::max(std::abs(gradient) - config_.reg_alpha, 0.0);
    const double weight = hessian + config_.reg_lambda;
    return weight > 0 ? -std::copysign(size, gradient) / weight : 0.0;
}

double SplitSearch::score(double gradient, double hessian) const {
    const double size = std::max(std::abs(gradient) - config_.reg_alpha, 0.0);
    const double weight = hessian + config_.reg_lambda;
    return weight > 0 ? size / weight * size : 0.0;
}

double SplitSearch::score_of_value(double gradient, double hessian, double value) const {
    return -(2 * gradient * value + (hessian + config_.reg_lambda) * value * value +
             2 * config_.reg_alpha * std::abs(value));
}

double SplitSearch::clipped_value(double gradient, double hessian, const Bounds& bounds) const {
    return std::clamp(value(gradient, hessian), bounds.lower, bounds.upper);
}

double SplitSearch::node_score(const RealSums& sums, const Bounds& bounds) const {
    if (constrained_) {
        const double own = clipped_value(sums.gradient[0], sums.hessian[0], bounds);
        return score_of_value(sums.gradient[0], sums.hessian[0], own);
    }
    double sum = 0;
    for (std::size_t k = 0; k < outputs_; ++k) sum += score(sums.gradient[k], sums.hessian[k]);
    return sum;
}

void SplitSearch::to_real(const GradientSum* sums, Number rows, RealSums& out) const {
    out.gradient.resize(outputs_);
    out.hessian.resize(outputs_);
    for (std::size_t k = 0; k < outputs_; ++k) {
        out.gradient[k] = double(sums[k].gradient) * scale_.gradient_unit;
        out.hessian[k] = double(sums[k].hessian) * scale_.hessian_unit;
    }
    out.rows = double(rows);
}

template <typename Layout>
void SplitSearch::add_prefix_sums(const typename Layout::Word* cells, const std::uint32_t* counts,
                                  const std::uint32_t* codes, std::size_t n) {
    if (capacity_ < n) {
        capacity_ = n;
        left_gradient_.resize(outputs_ * n);
        left_hessian_.resize(outputs_ * n);
        left_rows_.resize(n);
        words_.resize(n);
        missing_right_.resize(n);
        missing_left_.resize(n);
        best_scores_.resize(n);
    }
    for (std::size_t k = 0; k < outputs_; ++k) {
        double* gradient = left_gradient_.data() + k * capacity_;
        double* hessian = left_hessian_.data() + k * capacity_;
        const auto cell = [&](std::size_t i) {
            return cells[(codes ? codes[i] : i) * outputs_ + k];
        };
        if constexpr (std::is_same_v<Layout, PackedGradients>) {
            const std::uint64_t* words = cells;
            if (codes || outputs_ > 1) {
                for (std::size_t i = 0; i < n; ++i) words_[i] = cell(i);
                words = words_.data();
            }
            boosting_kernels().prefix_sums(words, n, scale_.gradient_unit, scale_.hessian_unit,
                                           gradient, hessian);
        } else {
            GradientSum sum;
            for (std::size_t i = 0; i < n; ++i) {
                sum += Layout::sum(cell(i));
                gradient[i] = double(sum.gradient) * scale_.gradient_unit;
                hessian[i] = double(sum.hessian) * scale_.hessian_unit;
            }
        }
    }
    if (counts == nullptr) return;
    std::uint32_t rows = 0;
    for (std::size_t i = 0; i < n; ++i) {
        rows += counts[codes ? codes[i] : i];
        left_rows_[i] = rows;
    }
}

bool SplitSearch::is_enough(double gain, const BoostedNode& node) const {
    return gain > config_.min_split_gain + tree::kGainRounding * std::abs(node.score);
}

template <typename Layout>
void SplitSearch::find(const BoostedNode& node, const Column& column,
                       const typename Layout::Word* cells, const std::uint32_t* counts,
                       Candidate& best) {
    has_counts_ = counts != nullptr;
    if (column.nominal)
        find_categories<Layout>(node, column, cells, counts, best);
    else
        find_threshold<Layout>(node, column, cells, counts, best);
}

// In a node of fewer rows than codes, many codes have no rows, and prefixes that end at them repeat
// the one before: only the others are scored. That takes 12 % off a fit of 5,000 rows.
template <typename Layout>
bool SplitSearch::collect_present_codes(const BoostedNode& node, const typename Layout::Word* cells,
                                        std::size_t n) {
    if (node.sums.rows >= double(n)) return false;
    codes_.resize(n);
    std::size_t n_present = 0;
    if constexpr (std::is_same_v<Layout, PackedGradients>) {
        if (outputs_ == 1) {
            codes_.resize(boosting_kernels().find_nonzero(cells, n, codes_.data()));
            return true;
        }
    }
    for (std::uint32_t code = 0; code < n; ++code) {
        codes_[n_present] = code;
        n_present += Layout::sum(cells[code * outputs_]).hessian != 0;
    }
    codes_.resize(n_present);
    return true;
}

template <typename Layout>
void SplitSearch::find_threshold(const BoostedNode& node, const Column& column,
                                 const typename Layout::Word* cells, const std::uint32_t* counts,
                                 Candidate& best) {
    const int monotonic = constrained_ ? config_.monotonic[column.index] : 0;
    bool has_missing = false;
    missing_units_.resize(outputs_);
    for (std::size_t k = 0; k < outputs_; ++k) {
        missing_units_[k] = Layout::sum(cells[column.missing_code() * outputs_ + k]);
        has_missing |= missing_units_[k].hessian != 0;
    }
    const bool is_selection = collect_present_codes<Layout>(node, cells, column.n_codes);
    const std::uint32_t* codes = is_selection ? codes_.data() : nullptr;
    const std::size_t n = is_selection ? codes_.size() : column.n_codes;
    if (n < (has_missing ? 1 : 2)) return;
    add_prefix_sums<Layout>(cells, counts, codes, n);
    // With missing values, the last prefix separates the known values from the missing ones.
    const std::size_t m = has_missing ? n : n - 1;
    score_prefixes(node, m, nullptr, monotonic, missing_right_.data());
    if (has_missing) {
        to_real(missing_units_.data(), counts ? counts[column.missing_code()] : 0, missing_);
        score_prefixes(node, n - 1, &missing_, monotonic, missing_left_.data());
        // Prefixes of no known value, or of all of them, separate them from the missing ones:
        // only the last prefix does so, with the known values on the left.
        const double all_known = left_hessian_[n - 1];
        for (std::size_t i = n; i-- > 0 && left_hessian_[i] == all_known;)
            missing_left_[i] = -kInfinity;
        for (std::size_t i = 0; i < n && left_hessian_[i] == 0; ++i) missing_left_[i] = -kInfinity;
        for (std::size_t i = 0; i < m; ++i)
            best_scores_[i] = std::max(missing_left_[i], missing_right_[i]);
    }
    const double* scores = has_missing ? best_scores_.data() : missing_right_.data();
    const double largest = tree_kernels().largest(scores, m);
    const double gain = largest - node.score;
    if (!is_enough(gain, node)) return;
    const auto at = std::size_t(std::find(scores, scores + m, largest) - scores);
    const auto last_left = codes ? codes[at] : std::uint32_t(at);
    best.split_between(last_left, last_left + 1, gain);
    if (!has_missing) return;
    best.missing_branch = missing_left_[at] == largest ? 0 : 1;
    if (best.missing_branch == 1 && left_hessian_[at] == left_hessian_[n - 1])
        best.shape = tree::SplitShape::kKnown;
}

// Order the categories of a node, and its missing values as one more, by their mean gradient
// relative to that of the node, smoothed towards zero:
//
//   key(c) = (G_c - H_c G / H) / (H_c + category_smoothing)
//
// With several outputs, by that of the output with the largest spread of keys.
template <typename Layout>
void SplitSearch::sort_categories(const BoostedNode& node, const Column& column,
                                  const typename Layout::Word* cells) {
    const auto sum = [&](std::uint32_t code, std::size_t k) {
        return Layout::sum(cells[code * outputs_ + k]);
    };
    const auto hessian = [&](std::uint32_t code, std::size_t k) {
        return double(sum(code, k).hessian) * scale_.hessian_unit;
    };
    const auto relative_gradient = [&](std::uint32_t code, std::size_t k) {
        return double(sum(code, k).gradient) * scale_.gradient_unit -
               hessian(code, k) * node.sums.mean_gradient(k);
    };
    const auto key = [&](std::uint32_t code, std::size_t k) {
        return relative_gradient(code, k) / (hessian(code, k) + config_.category_smoothing);
    };
    codes_.clear();
    for (std::uint32_t code = 0; code <= column.n_codes; ++code)
        if (sum(code, 0).hessian != 0) codes_.push_back(code);
    std::size_t key_output = 0;
    double largest = -kInfinity;
    for (std::size_t k = 0; k < outputs_ && outputs_ > 1; ++k) {
        double spread = 0;
        for (const std::uint32_t code : codes_) spread += key(code, k) * relative_gradient(code, k);
        if (spread > largest) {
            largest = spread;
            key_output = k;
        }
    }
    keys_.resize(column.n_codes + 1);
    for (const std::uint32_t code : codes_) keys_[code] = key(code, key_output);
    std::stable_sort(codes_.begin(), codes_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return keys_[a] < keys_[b]; });
}

template <typename Layout>
void SplitSearch::find_categories(const BoostedNode& node, const Column& column,
                                  const typename Layout::Word* cells, const std::uint32_t* counts,
                                  Candidate& best) {
    sort_categories<Layout>(node, column, cells);
    const std::size_t n = codes_.size();
    if (n < 2) return;
    add_prefix_sums<Layout>(cells, counts, codes_.data(), n);
    score_prefixes(node, n - 1, nullptr, 0, missing_right_.data());
    const double largest = tree_kernels().largest(missing_right_.data(), n - 1);
    double gain = largest - node.score;
    if (column.n_codes > tree::kFewCategories)
        gain -= double(n - 2) * node.chance_gain_per_category;
    if (!is_enough(gain, node)) return;
    const auto at = std::size_t(std::find(missing_right_.begin(), missing_right_.end(), largest) -
                                missing_right_.begin());
    best.score = best.terms = gain;
    best.shape = tree::SplitShape::kTable;
    best.method = tree::SearchMethod::kOrdered;
    best.n_categories = column.n_codes;
    for (std::size_t i = 0; i < n; ++i) {
        if (codes_[i] == column.missing_code())
            best.missing_branch = i > at;
        else
            best.table.emplace_back(codes_[i], i > at);
    }
}

void SplitSearch::score_prefixes(const BoostedNode& node, std::size_t m, const RealSums* missing,
                                 int monotonic, double* out) {
    if (constrained_) {
        score_constrained(node, m, missing, monotonic, out);
    } else if (outputs_ == 1) {
        boosting_kernels().scores(left_gradient_.data(), left_hessian_.data(), m,
                                  missing ? missing->gradient[0] : 0,
                                  missing ? missing->hessian[0] : 0,
                                  {node.sums.gradient[0], node.sums.hessian[0], config_.reg_lambda,
                                   config_.reg_alpha, min_hessian_},
                                  out);
    } else {
        output_scores_.resize(std::max(output_scores_.size(), m));
        hessian_sum_.assign(m, 0.0);
        std::fill_n(out, m, 0.0);
        double total = 0;
        for (std::size_t k = 0; k < outputs_; ++k) {
            const double* hessian = left_hessian_.data() + k * capacity_;
            const double add = missing ? missing->hessian[k] : 0;
            boosting_kernels().scores(left_gradient_.data() + k * capacity_, hessian, m,
                                      missing ? missing->gradient[k] : 0, add,
                                      {node.sums.gradient[k], node.sums.hessian[k],
                                       config_.reg_lambda, config_.reg_alpha, 0},
                                      output_scores_.data());
            for (std::size_t i = 0; i < m; ++i) {
                out[i] += output_scores_[i];
                hessian_sum_[i] += hessian[i] + add;
            }
            total += node.sums.hessian[k];
        }
        const double min_sum = config_.min_child_weight * double(outputs_);
        for (std::size_t i = 0; i < m; ++i)
            if (hessian_sum_[i] < min_sum || total - hessian_sum_[i] < min_sum) out[i] = -kInfinity;
    }
    if (!has_counts_) return;
    // Rows left of the split must be in [min, max].
    const Number add = missing ? Number(missing->rows) : 0;
    const Number min = config_.min_rows - add,
                 max = Number(node.sums.rows) - config_.min_rows - add;
    for (std::size_t i = 0; i < m; ++i)
        out[i] = Number(left_rows_[i]) < min || Number(left_rows_[i]) > max ? -kInfinity : out[i];
}

void SplitSearch::score_constrained(const BoostedNode& node, std::size_t m, const RealSums* missing,
                                    int monotonic, double* out) {
    for (std::size_t i = 0; i < m; ++i) {
        const double g = left_gradient_[i] + (missing ? missing->gradient[0] : 0);
        const double h = left_hessian_[i] + (missing ? missing->hessian[0] : 0);
        const double other_g = node.sums.gradient[0] - g, other_h = node.sums.hessian[0] - h;
        const double left = clipped_value(g, h, node.bounds);
        const double right = clipped_value(other_g, other_h, node.bounds);
        const bool is_allowed = h > 0 && other_h > 0 && h >= min_hessian_ &&
                                other_h >= min_hessian_ && monotonic * (right - left) >= 0;
        out[i] = is_allowed ? score_of_value(g, h, left) + score_of_value(other_g, other_h, right)
                            : -kInfinity;
    }
}

template void SplitSearch::find<PackedGradients>(const BoostedNode&, const Column&,
                                                 const PackedGradients::Word*, const std::uint32_t*,
                                                 Candidate&);
template void SplitSearch::find<WideGradients>(const BoostedNode&, const Column&,
                                               const WideGradients::Word*, const std::uint32_t*,
                                               Candidate&);

}  // namespace ceiba::boosting
