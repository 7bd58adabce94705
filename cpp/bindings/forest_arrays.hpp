// Forests, row samplers and out-of-bag inputs at the boundary.
#pragma once

#include "forest/oob/out_of_bag.hpp"
#include "forest/sample/sampling.hpp"
#include "tree_arrays.hpp"

namespace ceiba::bindings {

using forest::ForestView;
using forest::Sampling;

// Draws the rows of a tree; holds the weights and their cumulative sums.
struct RowSampler {
    Sampling sampling;

    RowSampler(std::size_t n_rows, std::uint64_t n_draws, bool replace, bool all_rows,
               Maybe1<const std::int64_t> weights)
        : weights_(std::move(weights)) {
        require(n_rows >= 1 && n_rows < kMaxRows, "n_rows must be in [1, 2^31 - 1].");
        require(all_rows || n_draws >= 1, "n_draws must be at least 1 unless all_rows is set.");
        require(all_rows || replace || n_draws <= n_rows,
                "n_draws must be at most n_rows without replacement.");
        require(n_draws < (std::uint64_t(1) << 52), "n_draws must be less than 2^52.");
        sampling.rows = n_rows;
        sampling.draws = n_draws;
        sampling.replace = replace;
        sampling.all_rows = all_rows;
        sampling.weight = sized(weights_, n_rows, "weights must have one entry per row.");
        if (sampling.weight == nullptr) return;
        Number total = 0;
        cumulative_.reserve(n_rows);
        for (std::size_t i = 0; i < n_rows; ++i) {
            require(sampling.weight[i] > 0, "weights must be positive.");
            require(!__builtin_add_overflow(total, sampling.weight[i], &total),
                    "weights must sum to less than 2^63.");
            cumulative_.push_back(total);
        }
        sampling.cumulative = cumulative_.data();
    }

    // `sampling` refers to `cumulative_`.
    RowSampler(const RowSampler&) = delete;
    RowSampler& operator=(const RowSampler&) = delete;

  private:
    Maybe1<const std::int64_t> weights_;
    std::vector<Number> cumulative_;
};

// The arrays of a forest, checked once: rows are routed without further checks.
struct ForestArrays {
    NodeArray nodes;
    Array1<const std::int64_t> tree_offsets;
    Array1<const std::uint64_t> words;
    Array1<const std::int32_t> tables;
    Array1<const std::uint8_t> leaves;
    std::size_t n_classes;
    Maybe2<const std::int64_t> class_units;
    ColumnTypes columns;
    std::vector<std::int64_t> first_leaf;

    ForestArrays(NodeArray nodes, Array1<const std::int64_t> tree_offsets,
                 Array1<const std::uint64_t> words, Array1<const std::int32_t> tables,
                 Array1<const std::uint8_t> leaves, std::size_t n_classes,
                 Maybe2<const std::int64_t> class_units, ColumnTypes columns)
        : nodes(std::move(nodes)),
          tree_offsets(std::move(tree_offsets)),
          words(std::move(words)),
          tables(std::move(tables)),
          leaves(std::move(leaves)),
          n_classes(n_classes),
          class_units(std::move(class_units)),
          columns(std::move(columns)) {
        require(this->nodes.shape(1) == 2, "nodes must have shape (n_nodes, 2).");
        require(this->tree_offsets.shape(0) >= 1, "tree_offsets must have at least one entry.");
        require(n_classes <= 0xFFFF, "n_classes must be in [0, 65535].");
        require(!this->class_units ||
                    has_shape(*this->class_units, this->tree_offsets.shape(0) - 1, n_classes),
                "class_units must have shape (n_trees, n_classes).");
        require_sound(forest::forest_defect(view(), this->columns.types, this->columns.n_categories,
                                            first_leaf));
    }

    ForestView view() const {
        ForestView view;
        view.nodes = reinterpret_cast<const PackedNode*>(nodes.data());
        view.count = nodes.shape(0);
        view.first = tree_offsets.data();
        view.n_trees = tree_offsets.shape(0) - 1;
        view.words = words.data();
        view.n_words = words.shape(0);
        view.tables = tables.data();
        view.n_tables = tables.shape(0);
        view.leaves = leaves.data();
        view.n_leaves = leaves.shape(0);
        view.first_leaf = first_leaf.data();
        view.n_classes = n_classes;
        view.class_units = pointer(class_units);
        return view;
    }
};

// Rows to route: a matrix of floats, or the columns of a table, kept alive by this object.
struct ForestRows {
    forest::ForestRows rows;

    explicit ForestRows(TreeTable table) : table_(std::move(table)) {
        rows.columns = table_->columns;
        rows.rows = table_->rows;
        rows.width = table_->size();
    }
    explicit ForestRows(AnyFloat2 matrix) : matrix_(std::move(matrix)) {
        std::visit(
            [&](const auto& X) {
                require(X.shape(0) < kMaxRows, kTooManyRows);
                rows.rows = X.shape(0);
                rows.width = X.shape(1);
            },
            matrix_);
        if (const auto* doubles = std::get_if<Array2<const double>>(&matrix_))
            rows.doubles = doubles->data();
        else
            rows.floats = std::get<Array2<const float>>(matrix_).data();
    }

    // Check that a forest can be applied to these rows.
    void check(const ColumnTypes& columns) const {
        if (table_) return table_->check(columns);
        require(rows.width == columns.size(), "X must have the columns of the forest.");
        for (const Type type : columns.types)
            require(is_real(type), "a matrix requires a forest of floating-point columns.");
    }

  private:
    std::optional<TreeTable> table_;
    AnyFloat2 matrix_;
};

// Targets of the rows that a forest was grown from.
struct OobTargets {
    Maybe1<const std::uint16_t> label;
    Maybe1<const double> target, weight;
    bool balanced;
    double scale;
};

// A forest with its training rows, and how these were sampled for each tree.
struct TrainedForest {
    const ForestArrays& forest;
    const ForestRows& rows;
    const RowSampler& sampler;
    Array1<const std::uint64_t> seeds;
    OobTargets targets;
    ForestView view;

    TrainedForest(const ForestArrays& forest, const ForestRows& rows, const RowSampler& sampler,
                  Array1<const std::uint64_t> seeds, OobTargets targets)
        : forest(forest),
          rows(rows),
          sampler(sampler),
          seeds(std::move(seeds)),
          targets(std::move(targets)),
          view(forest.view()) {
        const std::size_t n = n_rows();
        rows.check(forest.columns);
        require(sampler.sampling.rows == n, "sampler must draw from the rows.");
        require(this->seeds.shape(0) == view.n_trees, "seeds must have one entry per tree.");
        const bool classification = view.n_classes > 0;
        require(bool(this->targets.label) == classification &&
                    bool(this->targets.target) == !classification,
                "classification requires label, and regression target.");
        require(!this->targets.balanced || classification, "balanced requires classification.");
        require(this->targets.scale > 0, "scale must be positive.");
    }

    std::size_t n_rows() const { return rows.rows.rows; }

    forest::TrainedForest checked() const {
        constexpr const char* kPerRow = "label, target and weight must have one entry per row.";
        const std::size_t n = n_rows();
        forest::TrainedForest trained{view, rows.rows, sampler.sampling, seeds.data()};
        trained.label = sized(targets.label, n, kPerRow);
        trained.target = sized(targets.target, n, kPerRow);
        trained.weight = sized(targets.weight, n, kPerRow);
        trained.balanced = targets.balanced;
        trained.scale = targets.scale;
        for (std::size_t i = 0; trained.label != nullptr && i < n; ++i)
            require(trained.label[i] < view.n_classes, "label must be less than n_classes.");
        return trained;
    }
};

}  // namespace ceiba::bindings
