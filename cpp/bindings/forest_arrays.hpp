// Forests, rows and draws as they cross the boundary: checked here.
#pragma once

#include "forest/out_of_bag.hpp"
#include "forest/sampling.hpp"
#include "tree_table.hpp"

namespace ceiba::bindings {

using forest::ForestView;
using forest::Sampling;

// How rows are drawn, its arrays checked: weights and their running totals.
struct SamplingArrays {
    Sampling sampling;
    Maybe1<const std::int64_t> weight;
    std::vector<Number> running;

    SamplingArrays(std::size_t rows, std::uint64_t draws, bool replace, bool every,
                   Maybe1<const std::int64_t> weights)
        : weight(std::move(weights)) {
        require(rows >= 1 && rows < kMostRows, "there must be 1 to 2^31 rows to draw from");
        require(every || draws >= 1, "there must be something to draw");
        require(every || replace || draws <= rows, "there are not so many rows to choose from");
        require(draws < (std::uint64_t(1) << 52), "too many draws");
        sampling.rows = rows;
        sampling.draws = draws;
        sampling.replace = replace;
        sampling.every = every;
        sampling.weight = sized(weight, rows, "weights must be as many as rows");
        if (sampling.weight == nullptr) return;
        Number total = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            require(sampling.weight[i] > 0, "weights are positive");
            require(!__builtin_add_overflow(total, sampling.weight[i], &total),
                    "the weights are too large");
            running.push_back(total);
        }
        sampling.running = running.data();
    }
};

// A forest whose arrays were found sound: they are walked without looking twice.
struct ForestArrays {
    Array2<const std::uint64_t> nodes;
    Array1<const std::int64_t> first;
    Array1<const std::uint64_t> words;
    Array1<const std::int32_t> tables;
    Array1<const std::uint8_t> leaves;
    std::size_t classes;
    Maybe2<const std::int64_t> steps;
    std::vector<std::int64_t> first_leaf;
    std::vector<Type> types;
    std::vector<std::uint32_t> levels;

    ForestArrays(Array2<const std::uint64_t> nodes, Array1<const std::int64_t> first,
                 Array1<const std::uint64_t> words, Array1<const std::int32_t> tables,
                 Array1<const std::uint8_t> leaves, std::size_t classes,
                 Maybe2<const std::int64_t> steps, const std::vector<std::uint8_t>& types,
                 const std::vector<std::uint32_t>& levels)
        : nodes(std::move(nodes)),
          first(std::move(first)),
          words(std::move(words)),
          tables(std::move(tables)),
          leaves(std::move(leaves)),
          classes(classes),
          steps(std::move(steps)),
          types(checked_types(types)),
          levels(levels) {
        require(types.size() == levels.size(), "types and levels must be told of every column");
        require(this->nodes.shape(1) == 2, "nodes must be two words each");
        require(this->first.shape(0) >= 1, "a forest says where its trees begin");
        require(classes <= 0xFFFF, "classes must be 0 to 65535");
        require(!this->steps || (this->steps->shape(0) + 1 == this->first.shape(0) &&
                                 this->steps->shape(1) == classes),
                "steps must be told of every tree and class");
        const char* wrong = forest::complaint(view(), this->types, levels, first_leaf);
        require(wrong == nullptr, wrong);
    }

    ForestView view() const {
        ForestView view;
        view.nodes = reinterpret_cast<const PackedNode*>(nodes.data());
        view.count = nodes.shape(0);
        view.first = first.data();
        view.trees = first.shape(0) - 1;
        view.words = words.data();
        view.n_words = words.shape(0);
        view.tables = tables.data();
        view.n_tables = tables.shape(0);
        view.leaves = leaves.data();
        view.n_leaves = leaves.shape(0);
        view.first_leaf = first_leaf.data();
        view.classes = classes;
        view.steps = steps ? steps->data() : nullptr;
        return view;
    }
};

// Rows to be routed; their arrays are held as long as this is.
struct RowArrays {
    forest::ForestRows rows;
    std::vector<Any1> held;
    std::vector<Maybe1<const bool>> gaps;
    std::vector<Type> types;
    std::vector<std::uint32_t> levels;

    RowArrays(const std::vector<Any1>& arrays, const std::vector<Maybe1<const bool>>& masks,
              const std::vector<std::uint8_t>& types, const std::vector<std::uint32_t>& levels)
        : held(arrays), gaps(masks), types(checked_types(types)), levels(levels) {
        Table table = table_of(held, gaps, types, levels);
        rows.columns = std::move(table.columns);
        rows.rows = table.rows;
        rows.width = arrays.size();
    }
    explicit RowArrays(Array2<const double> matrix) : RowArrays(matrix, 0) {
        rows.doubles = matrix.data();
    }
    explicit RowArrays(Array2<const float> matrix) : RowArrays(matrix, 0) {
        rows.floats = matrix.data();
    }

    // Whether a forest's tests suit these columns.
    void check(const ForestArrays& forest) const {
        require(rows.width == forest.types.size(), "rows must have the columns of the forest");
        const auto real = [](Type type) { return type <= Type::kFloat; };
        for (std::size_t j = 0; j < rows.width; ++j) {
            if (rows.columns.empty()) {
                require(real(forest.types[j]), "a matrix is for columns of reals");
                continue;
            }
            const bool same =
                types[j] == forest.types[j] || (real(types[j]) && real(forest.types[j]));
            require(same && levels[j] == forest.levels[j],
                    "rows must have the types and levels of the forest");
        }
    }

  private:
    template <typename Matrix>
    RowArrays(const Matrix& matrix, int) {
        require(matrix.shape(0) < kMostRows, "more than 2^31 rows in memory");
        matrix_ = nb::cast(matrix);
        rows.rows = matrix.shape(0);
        rows.width = matrix.shape(1);
    }
    nb::object matrix_;
};

// Classes or numbers of the rows that a forest was grown from.
struct LabelArrays {
    Maybe1<const std::uint16_t> label;
    Maybe1<const double> target, weight;
    bool balanced;
    double scale;

    LabelArrays(Maybe1<const std::uint16_t> label, Maybe1<const double> target,
                Maybe1<const double> weight, bool balanced, double scale)
        : label(std::move(label)),
          target(std::move(target)),
          weight(std::move(weight)),
          balanced(balanced),
          scale(scale) {
        require(scale > 0, "a scale is positive");
    }

    forest::Grown grown(const ForestView& view, const RowArrays& rows,
                        const SamplingArrays& sampling,
                        const Array1<const std::uint64_t>& seeds) const {
        const std::size_t n = rows.rows.rows;
        require(sampling.sampling.rows == n, "as many rows must be drawn from");
        require(seeds.shape(0) == view.trees, "every tree has its seed");
        require(bool(label) == (view.classes > 0) && bool(target) == (view.classes == 0),
                "classes have labels, numbers have targets");
        forest::Grown grown{view, rows.rows, sampling.sampling, seeds.data()};
        constexpr const char* kLong = "targets must be as many as rows";
        grown.label = sized(label, n, kLong);
        grown.target = sized(target, n, kLong);
        grown.weight = sized(weight, n, kLong);
        require(!balanced || view.classes > 0, "only classes can be balanced");
        grown.balanced = balanced;
        grown.scale = scale;
        for (std::size_t i = 0; grown.label != nullptr && i < n; ++i)
            require(grown.label[i] < view.classes, "a label lies outside of the classes");
        return grown;
    }
};

}  // namespace ceiba::bindings
