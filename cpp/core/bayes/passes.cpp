// Implementation of the passes over the rows: blocks of rows, segments added in order.
#include "bayes/passes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "bayes/messages.hpp"
#include "common/ordered_sum.hpp"
#include "simd/bayes_kernels.hpp"

namespace ceiba {
namespace {

// Rows whose log joint is normalized together.
constexpr std::size_t kBlock = 64;

// K classes known at compile time unroll the sums over classes: a pass over 20 features and five
// classes takes 0.6 of the time.
template <std::size_t K>
void add_rows(const double* weights, const std::uint32_t* rows, std::size_t families, std::size_t k,
              double* sums) {
    if constexpr (K > 0) {
        double own[K];
        for (std::size_t c = 0; c < K; ++c) own[c] = sums[c];
        for (std::size_t f = 0; f < families; ++f)
            for (std::size_t c = 0; c < K; ++c) own[c] += weights[rows[f] * K + c];
        for (std::size_t c = 0; c < K; ++c) sums[c] = own[c];
    } else {
        for (std::size_t f = 0; f < families; ++f)
            for (std::size_t c = 0; c < k; ++c) sums[c] += weights[rows[f] * k + c];
    }
}

template <std::size_t K>
void scatter(const double* values, const std::uint32_t* rows, std::size_t families, std::size_t k,
             double* table) {
    const std::size_t width = K == 0 ? k : K;
    for (std::size_t f = 0; f < families; ++f)
        for (std::size_t c = 0; c < width; ++c) table[rows[f] * width + c] += values[c];
}

using AddRows = void (*)(const double*, const std::uint32_t*, std::size_t, std::size_t, double*);

AddRows gather_for(std::size_t k) {
    constexpr AddRows kUnrolled[] = {add_rows<0>, add_rows<0>, add_rows<2>,
                                     add_rows<3>, add_rows<4>, add_rows<5>,
                                     add_rows<6>, add_rows<7>, add_rows<8>};
    return kUnrolled[k <= 8 ? k : 0];
}

AddRows scatter_for(std::size_t k) {
    constexpr AddRows kUnrolled[] = {scatter<0>, scatter<0>, scatter<2>, scatter<3>, scatter<4>,
                                     scatter<5>, scatter<6>, scatter<7>, scatter<8>};
    return kUnrolled[k <= 8 ? k : 0];
}

// The log joint of blocks of rows under one model.
template <typename Code>
class JointBlock {
  public:
    JointBlock(const LogLinear& model, std::size_t k)
        : model_(model),
          k_(k),
          table_rows_(model.families),
          gather_(gather_for(k)),
          entries_(kBlock * model.families.count) {}

    void compute(const Matrix<const Code>& codes, std::size_t first, std::size_t n, double* out) {
        const std::size_t count = model_.families.count;
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t* entries = entries_.data() + i * count;
            table_rows_.compute(codes.row(first + i), entries);
            std::copy_n(model_.bias, k_, out + i * k_);
            gather_(model_.weights, entries, count, k_, out + i * k_);
            if (model_.sums_missing && std::isnan(out[i * k_]))
                sum_missing(codes.row(first + i), out + i * k_);
        }
    }

    const std::uint32_t* entries(std::size_t i) const {
        return entries_.data() + i * model_.families.count;
    }

    // Messages of a row whose missing values are summed over: after them `scatter` may be called.
    ForestMessages& sum_missing(const Code* codes, double* out) {
        if (!messages_) messages_.emplace(model_.families, model_.weights, k_);
        std::copy_n(model_.bias, k_, out);
        messages_->add_log_joint(codes, out);
        return *messages_;
    }

    bool has_hidden(std::size_t i) const {
        const std::uint32_t* own = entries(i);
        for (std::size_t f = 0; f < model_.families.count; ++f)
            if (std::isnan(model_.weights[own[f] * k_])) return true;
        return false;
    }

  private:
    const LogLinear& model_;
    std::size_t k_;
    TableRows<Code> table_rows_;
    AddRows gather_;
    std::vector<std::uint32_t> entries_;
    std::optional<ForestMessages> messages_;
};

// Sums over the rows of one segment, by the table rows of the target families.
template <typename Code>
class SegmentSums {
  public:
    SegmentSums(const CodedRows<Code>& rows, const LogLinear& model, const Families& target,
                ClassWeighting weighting, const double* class_means, bool variances)
        : rows_(rows),
          k_(rows.n_classes),
          joint_(model, k_),
          // The same layout is the same array: equal offsets of another structure do not count.
          same_(target.offsets == model.families.offsets),
          sums_out_(same_ && model.sums_missing),
          weighting_(weighting),
          target_(target),
          target_rows_(target),
          scatter_(scatter_for(k_)),
          entries_(target.count),
          p_(kBlock * k_),
          log_evidence_(kBlock),
          variance_(variances ? k_ : 0),
          unused_(k_) {
        for (std::size_t c = 0; class_means != nullptr && c < k_; ++c)
            log_means_.push_back(std::log(class_means[c]));
    }

    // `out`: objective, bias, table, then the variances of bias and table.
    void add(std::size_t first, std::size_t n, double* out) {
        joint_.compute(rows_.codes, first, n, p_.data());
        double objective = 0;
        if (has_labels())
            for (std::size_t i = 0; i < n; ++i)
                objective += weight(first + i) * p_[i * k_ + label(first + i)];
        bayes_kernels().normalize(p_.data(), n, k_, log_evidence_.data());
        for (std::size_t i = 0; i < n; ++i) {
            const double w = weight(first + i);
            if (weighting_ == ClassWeighting::kResiduals) objective -= w * log_evidence_[i];
            if (weighting_ == ClassWeighting::kPosteriors) objective += w * log_evidence_[i];
            objective += add_row(first + i, i, out + 1);
        }
        out[0] += objective;
    }

  private:
    double add_row(std::size_t row, std::size_t i, double* out) {
        double* p = p_.data() + i * k_;
        if (!variance_.empty()) {
            for (std::size_t c = 0; c < k_; ++c) variance_[c] = weight(row) * p[c] * (1 - p[c]);
            add_to(variance_.data(), row, i, out + (1 + target_.n_rows()) * k_);
        }
        const double objective = weigh_classes(row, p);
        add_to(p, row, i, out);
        return objective;
    }

    // Replace the probabilities of a row by what it adds to each class; return what the
    // information adds to the objective.
    double weigh_classes(std::size_t row, double* p) const {
        const double w = weight(row);
        double information = 0;
        switch (weighting_) {
            case ClassWeighting::kResiduals:
                for (std::size_t c = 0; c < k_; ++c) p[c] *= -w;
                p[label(row)] += w;
                break;
            case ClassWeighting::kLabels:
                std::fill_n(p, k_, 0.0);
                p[label(row)] = w;
                break;
            case ClassWeighting::kPosteriors:
                for (std::size_t c = 0; c < k_; ++c) p[c] *= w;
                break;
            case ClassWeighting::kInformation:
                for (std::size_t c = 0; c < k_; ++c)
                    if (p[c] > 0) information += p[c] * (std::log(p[c]) - log_means_[c]);
                for (std::size_t c = 0; c < k_; ++c)
                    if (p[c] > 0) p[c] *= w * (std::log(p[c]) - log_means_[c] - information);
                break;
        }
        return w * information;
    }

    void add_to(const double* values, std::size_t row, std::size_t i, double* out) {
        for (std::size_t c = 0; c < k_; ++c) out[c] += values[c];
        const std::uint32_t* entries = joint_.entries(i);
        if (sums_out_ && joint_.has_hidden(i)) {
            const Code* codes = rows_.codes.row(row);
            joint_.sum_missing(codes, unused_.data()).scatter(codes, values, out + k_);
            return;
        }
        if (!same_) {
            target_rows_.compute(rows_.codes.row(row), entries_.data());
            entries = entries_.data();
        }
        scatter_(values, entries, target_.count, k_, out + k_);
    }

    bool has_labels() const {
        return weighting_ == ClassWeighting::kResiduals || weighting_ == ClassWeighting::kLabels;
    }
    double weight(std::size_t row) const { return rows_.weight == nullptr ? 1 : rows_.weight[row]; }
    std::size_t label(std::size_t row) const { return std::size_t(rows_.labels[row]); }

    const CodedRows<Code>& rows_;
    std::size_t k_;
    JointBlock<Code> joint_;
    bool same_, sums_out_;
    ClassWeighting weighting_;
    const Families& target_;
    TableRows<Code> target_rows_;
    AddRows scatter_;
    std::vector<std::uint32_t> entries_;
    std::vector<double> p_, log_evidence_, variance_, log_means_, unused_;
};

}  // namespace

template <typename Code>
void log_joint(Matrix<const Code> codes, const LogLinear& model, std::size_t n_classes, double* out,
               int threads) {
    const Segments parts = segments(codes.rows, 1024, 4096);
    const double work = double(codes.rows) * double(model.families.count * n_classes);
    for_segments(
        parts, threads_for(work, threads), [&](std::size_t s, int thread, Interrupt& stop) {
            JointBlock<Code> block(model, n_classes);
            for (std::size_t i = parts.begin(s); i < parts.end(s) && !stop.stopped(thread);
                 i += kBlock)
                block.compute(codes, i, std::min(kBlock, parts.end(s) - i), out + i * n_classes);
        });
}

void normalize_scores(double* scores, std::size_t n, std::size_t k, bool logarithms, int threads) {
    const Segments parts = segments(n, 1024, 4096);
    for_segments(parts, threads_for(8.0 * double(n * k), threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     std::vector<double> p(kBlock * k), evidence(kBlock);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); i += kBlock) {
                         if (stop.stopped(thread)) return;
                         const std::size_t m = std::min(kBlock, parts.end(s) - i);
                         double* own = scores + i * k;
                         if (!logarithms) {
                             bayes_kernels().normalize(own, m, k, nullptr);
                             continue;
                         }
                         std::copy_n(own, m * k, p.data());
                         bayes_kernels().normalize(p.data(), m, k, evidence.data());
                         for (std::size_t r = 0; r < m; ++r)
                             for (std::size_t c = 0; c < k; ++c) own[r * k + c] -= evidence[r];
                     }
                 });
}

void largest_scores(const double* scores, std::size_t n, std::size_t k, std::int64_t* indices,
                    int threads) {
    const Segments parts = segments(n, 1024, 4096);
    for_segments(parts, threads_for(double(n * k), threads), [&](std::size_t s, int, Interrupt&) {
        for (std::size_t i = parts.begin(s); i < parts.end(s); ++i) {
            const double* row = scores + i * k;
            std::size_t best = 0;
            double top = row[0];
            // Without a branch, which the scores make unpredictable.
            for (std::size_t c = 1; c < k; ++c) {
                best = row[c] > top ? c : best;
                top = row[c] > top ? row[c] : top;
            }
            indices[i] = std::int64_t(best);
        }
    });
}

template <typename Code>
void table_sums(const CodedRows<Code>& rows, const LogLinear& model, const Families& target,
                ClassWeighting weighting, const double* class_means, TableSums& sums, int threads) {
    const std::size_t n = rows.codes.rows, k = rows.n_classes;
    const std::size_t table = target.n_rows() * k, with_bias = k + table;
    const bool variances = sums.table_variances != nullptr;
    const std::size_t size = 1 + with_bias * (variances ? 2 : 1);
    const std::size_t per_row = (model.families.count + target.count) * k;
    const Segments parts = row_segments(n, size, per_row);
    OrderedSum sum(size);
    for_segments(parts, threads_for(double(n) * double(per_row + 8 * k), threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Aligned<double> own = sum.zeros();
                     SegmentSums<Code> segment(rows, model, target, weighting, class_means,
                                               variances);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); i += kBlock) {
                         if (stop.stopped(thread)) return;
                         segment.add(i, std::min(kBlock, parts.end(s) - i), own.data());
                     }
                     sum.add(s, std::move(own), thread, stop);
                 });
    const double* values = sum.values();
    sums.objective = values[0];
    std::copy_n(values + 1, k, sums.bias);
    std::copy_n(values + 1 + k, table, sums.table);
    if (variances) std::copy_n(values + 1 + with_bias + k, table, sums.table_variances);
}

template <typename Code>
void conditional_log_likelihoods(const CodedRows<Code>& rows, const LogLinear& model,
                                 const LogLinear& direction, const double* steps,
                                 std::size_t n_steps, double* log_likelihoods, int threads) {
    const std::size_t n = rows.codes.rows, k = rows.n_classes;
    const Segments parts = segments(n, 4096);
    OrderedSum sum(n_steps);
    const double work = double(n) * double((model.families.count + 8 * n_steps) * k);
    for_segments(
        parts, threads_for(work, threads), [&](std::size_t s, int thread, Interrupt& stop) {
            Aligned<double> own = sum.zeros();
            JointBlock<Code> start(model, k), change(direction, k);
            std::vector<double> a(kBlock * k), b(kBlock * k), p(kBlock * k), evidence(kBlock);
            for (std::size_t first = parts.begin(s); first < parts.end(s); first += kBlock) {
                if (stop.stopped(thread)) return;
                const std::size_t m = std::min(kBlock, parts.end(s) - first);
                start.compute(rows.codes, first, m, a.data());
                change.compute(rows.codes, first, m, b.data());
                for (std::size_t t = 0; t < n_steps; ++t) {
                    for (std::size_t i = 0; i < m * k; ++i) p[i] = a[i] + steps[t] * b[i];
                    bayes_kernels().normalize(p.data(), m, k, evidence.data());
                    for (std::size_t i = 0; i < m; ++i) {
                        const std::size_t entry = i * k + std::size_t(rows.labels[first + i]);
                        const double w = rows.weight == nullptr ? 1 : rows.weight[first + i];
                        own[t] += w * (a[entry] + steps[t] * b[entry] - evidence[i]);
                    }
                }
            }
            sum.add(s, std::move(own), thread, stop);
        });
    std::copy_n(sum.values(), n_steps, log_likelihoods);
}

#define CEIBA_BAYES_PASSES(Code)                                                                  \
    template void log_joint<Code>(Matrix<const Code>, const LogLinear&, std::size_t, double*,     \
                                  int);                                                           \
    template void table_sums<Code>(const CodedRows<Code>&, const LogLinear&, const Families&,     \
                                   ClassWeighting, const double*, TableSums&, int);               \
    template void conditional_log_likelihoods<Code>(const CodedRows<Code>&, const LogLinear&,     \
                                                    const LogLinear&, const double*, std::size_t, \
                                                    double*, int);
CEIBA_BAYES_PASSES(std::uint8_t)
CEIBA_BAYES_PASSES(std::uint16_t)
#undef CEIBA_BAYES_PASSES

}  // namespace ceiba
