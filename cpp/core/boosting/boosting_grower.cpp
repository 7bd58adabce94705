// Implementation of the grower of boosted trees.
#include "boosting/boosting_grower.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boosting/tree_growth.hpp"
#include "common/parallel.hpp"

namespace ceiba::boosting {

namespace {

tree::TreeConfig builder_config(const BoostingConfig& config) {
    tree::TreeConfig tree;
    tree.criterion = tree::Criterion::kSquared;
    tree.growth_order = config.growth_order;
    tree.max_leaves = config.max_leaves;
    tree.max_depth = config.max_depth;
    tree.interactions = config.interactions;
    return tree;
}

}  // namespace

template <typename Code>
BoostingGrower<Code>::BoostingGrower(const BoostingConfig& config,
                                     const tree::Columns<Code>& columns, int threads)
    : BoostingGrower(config, columns, threads,
                     std::make_shared<const CodeMatrix<Code>>(columns, threads)) {}

template <typename Code>
void BoostingGrower<Code>::grow(const Gradients& gradients, std::span<const std::uint32_t> rows,
                                std::vector<std::int32_t> columns, std::uint64_t seed,
                                int threads) {
    all_rows_ = rows.empty();
    if (all_rows_) {
        rows_.resize(columns_.rows);
        std::iota(rows_.begin(), rows_.end(), 0u);
    } else {
        rows_.assign(rows.begin(), rows.end());
        in_sample_.assign(columns_.rows, false);
        for (const std::uint32_t row : rows_) in_sample_[row] = true;
    }
    builder_ = std::make_unique<TreeBuilder>(builder_config(config_), columns_.count());
    GradientScale scale = measure_gradients(gradients, rows_, threads);
    scale_ = scale;
    const auto run = [&]<typename Layout>(std::type_identity<Layout>,
                                          std::vector<typename Layout::Word>& values,
                                          HistogramStore<Layout>& histograms) {
        double max_quantized = Layout::max_quantized(rows_.size());
        if (config_.gradient_bits > 0)
            max_quantized = std::min(max_quantized, std::ldexp(1.0, config_.gradient_bits - 1));
        scale.set_max_quantized(max_quantized);
        // The growers that share the codes keep their memory between trees.
        histograms.set_max_bytes(config_.max_histogram_bytes / std::size_t(codes_.use_count()));
        TreeGrowth<Code, Layout>(*this, gradients, scale, std::move(columns), seed, threads, values,
                                 histograms)
            .grow();
    };
    if (packed_suffices(scale, rows_.size(), config_.gradient_bits))
        run(std::type_identity<PackedGradients>{}, packed_values_, packed_histograms_);
    else
        run(std::type_identity<WideGradients>{}, wide_values_, wide_histograms_);
}

template <typename Code>
std::vector<RealSums> BoostingGrower<Code>::leaf_sums(const Gradients& gradients,
                                                      bool as_grown) const {
    const std::size_t outputs = gradients.outputs;
    GradientScale scale = as_grown ? scale_ : measure_gradients(gradients, rows_, threads_);
    scale.set_max_quantized(std::min(0x1p50, std::floor(0x1p62 / double(rows_.size()))));
    const Segments parts = segments(columns_.rows, 4096);
    // Threads have sums of their own, which together take at most 256 MB.
    const std::size_t sum_bytes = leaves_.size() * outputs * sizeof(GradientSum);
    const std::size_t max_threads =
        std::max<std::size_t>(1, (std::size_t(1) << 28) / std::max<std::size_t>(1, sum_bytes));
    const int threads = int(std::min(
        max_threads, std::size_t(threads_for(4.0 * double(columns_.rows * outputs), threads_))));
    // Integers: the order of the rows does not matter.
    std::vector<std::vector<GradientSum>> thread_sums(
        std::size_t(threads), std::vector<GradientSum>(leaves_.size() * outputs));
    for_segments(parts, threads, [&](std::size_t s, int thread, Interrupt&) {
        std::vector<GradientSum>& own = thread_sums[std::size_t(thread)];
        GradientBlock block;
        std::uint32_t rows[GradientBlock::kRows];
        for_blocks(parts.begin(s), parts.end(s), [&](std::size_t first, std::size_t n) {
            std::size_t size = 0;
            for (std::size_t row = first; row < first + n; ++row) {
                rows[size] = std::uint32_t(row);
                size += std::size_t(all_rows_ || in_sample_[row]);
            }
            for (std::size_t k = 0; k < outputs && size > 0; ++k) {
                block.load(gradients, {rows, size}, k);
                block.round(scale.gradient_factor, scale.hessian_factor);
                for (std::size_t i = 0; i < size; ++i)
                    own[leaf_index_[rows[i]] * outputs + k] +=
                        GradientSum{block.quantized_gradient[i], block.quantized_hessian[i]};
            }
        });
    });
    std::vector<RealSums> sums(leaves_.size());
    for (std::size_t l = 0; l < leaves_.size(); ++l) {
        for (std::size_t k = 0; k < outputs; ++k) {
            GradientSum sum;
            for (const auto& own : thread_sums) sum += own[l * outputs + k];
            sums[l].gradient.push_back(double(sum.gradient) * scale.gradient_unit);
            sums[l].hessian.push_back(double(sum.hessian) * scale.hessian_unit);
        }
        sums[l].rows = double(leaves_[l].end - leaves_[l].begin);
    }
    return sums;
}

template <typename Code>
void BoostingGrower<Code>::index_leaves(int threads) {
    leaf_index_.resize(columns_.rows);
    for_segments({leaves_.size(), leaves_.size()}, threads_for(2.0 * double(rows_.size()), threads),
                 [&](std::size_t l, int, Interrupt&) {
                     for (const std::uint32_t row : rows_of(leaves_[l]))
                         leaf_index_[row] = std::uint32_t(l);
                 });
    if (all_rows_) return;
    std::vector<std::uint32_t> index(builder_->nodes.size());
    for (std::size_t l = 0; l < leaves_.size(); ++l)
        index[std::size_t(leaves_[l].node)] = std::uint32_t(l);
    const Segments parts = segments(columns_.rows, 4096);
    for_segments(parts, threads_for(20.0 * double(columns_.rows), threads),
                 [&](std::size_t s, int, Interrupt&) {
                     for (std::size_t row = parts.begin(s); row < parts.end(s); ++row)
                         if (!in_sample_[row])
                             leaf_index_[row] = index[std::size_t(leaf_of_row(row))];
                 });
}

template <typename Code>
std::int32_t BoostingGrower<Code>::leaf_of_row(std::size_t row) const {
    const Code* codes = codes_->row(row);
    std::int32_t at = 0;
    while (builder_->nodes[std::size_t(at)].expanded()) {
        const Node& n = builder_->nodes[std::size_t(at)];
        const auto j = std::size_t(n.column);
        std::int32_t branch = builder_->branch(n, codes[j], columns_.columns[j].missing_code());
        if (branch < 0) branch = n.missing_branch;  // a category absent from the node
        at = n.child + branch;
    }
    return at;
}

template <typename Code>
void BoostingGrower<Code>::add_values(const double* values, std::size_t outputs,
                                      double* scores) const {
    const std::size_t n = columns_.rows;
    const Segments parts = segments(n, 4096);
    for_segments(parts, threads_for(2.0 * double(n * outputs), threads_),
                 [&](std::size_t s, int, Interrupt&) {
                     for (std::size_t k = 0; k < outputs; ++k)
                         for (std::size_t row = parts.begin(s); row < parts.end(s); ++row)
                             scores[k * n + row] += values[leaf_index_[row] * outputs + k];
                 });
}

template <typename Code>
forest::PackedForest BoostingGrower<Code>::pack(const tree::Scales& scales, const double* values,
                                                std::size_t outputs) const {
    forest::TreePacker packer(*builder_, scales, {});
    packer.add(builder_->nodes.size());
    for (std::size_t node = 0; node < builder_->nodes.size(); ++node)
        if (builder_->nodes[node].expanded())
            packer.split(node, std::int32_t(node), builder_->nodes[node].child);
    for (std::size_t l = 0; l < leaves_.size(); ++l)
        packer.put(leaves_[l].node, forest::number_leaf(values[l * outputs],
                                                        Number(leaves_[l].end - leaves_[l].begin)));
    return packer.finish();
}

template class BoostingGrower<std::uint8_t>;
template class BoostingGrower<std::uint16_t>;
template class BoostingGrower<std::uint32_t>;

}  // namespace ceiba::boosting
