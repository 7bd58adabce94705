// A random table of codes with targets, for the tests of the tree engine.
#pragma once

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "tree/grow/grow.hpp"

namespace ceiba::tests {

using tree::Column;
using tree::Criterion;
using tree::Number;
using tree::TreeBuilder;
using tree::TreeConfig;

using RowList = std::vector<std::uint32_t>;

// A random table of codes with targets: labels if n_classes > 0, otherwise numbers.
struct CodedTable {
    std::size_t rows;
    std::vector<std::uint8_t> codes;
    std::vector<Column> columns;
    std::vector<std::uint16_t> label;
    std::vector<Number> weight, weighted_target, weighted_square;
    std::vector<double> value;
    TreeConfig config;

    CodedTable(std::size_t rows, std::size_t n_classes, bool weighted, std::uint64_t seed)
        : rows(rows), random_(seed) {
        config.n_classes = Number(n_classes);
        config.weighted = weighted;
        config.criterion = n_classes > 0 ? Criterion::kGini : Criterion::kSquared;
        config.seed = seed;
    }

    void add_column(std::uint32_t n_codes, std::uint64_t one_missing_in, bool nominal = false) {
        const auto index = std::uint32_t(columns.size());
        columns.push_back({n_codes, nominal, index});
        for (std::size_t i = 0; i < rows; ++i) {
            const bool missing = one_missing_in > 0 && random_.one_in(one_missing_in);
            codes.push_back(std::uint8_t(missing ? n_codes : random_.below(n_codes)));
        }
    }

    // Targets that depend on the first two columns, with noise.
    void add_targets() {
        for (std::size_t i = 0; i < rows; ++i) {
            const Number signal = codes[i] / 3 + 2 * (codes[rows + i] / 5);
            const Number w = config.weighted ? Number(random_.between(1, 4)) : 1;
            if (config.weighted) weight.push_back(w);
            if (config.n_classes > 0) {
                const auto k = std::uint64_t(config.n_classes);
                const bool noise = random_.one_in(4);
                label.push_back(
                    std::uint16_t(noise ? random_.below(k) : std::uint64_t(signal) % k));
                continue;
            }
            const Number y = 3 * signal + Number(random_.below(8)) - 5;
            value.push_back(double(y));
            weighted_target.push_back(w * y);
            weighted_square.push_back(w * y * y);
        }
    }

    tree::Columns<std::uint8_t> view() const { return {codes.data(), rows, columns}; }
    tree::Targets targets() const {
        tree::Targets found;
        if (!label.empty()) found.label = label.data();
        if (!weight.empty()) found.weight = weight.data();
        if (label.empty()) {
            found.value = value.data();
            found.weighted_target = weighted_target.data();
            found.weighted_square = weighted_square.data();
        }
        return found;
    }

    std::uint32_t code(std::size_t column, std::uint32_t row) const {
        return codes[column * rows + row];
    }
    Number weight_of(std::uint32_t row) const { return weight.empty() ? 1 : weight[row]; }
    RowList all_rows() const {
        RowList all(rows);
        std::iota(all.begin(), all.end(), 0u);
        return all;
    }

    // Add a row to a cell, by the definition of cells (tree/split/cells.hpp).
    void add(Number* cell, std::uint32_t row) const {
        if (config.n_classes > 0) {
            cell[label[row]] += weight_of(row);
        } else {
            cell[0] += weight_of(row);
            cell[1] += weighted_target[row];
        }
        if (config.weighted) ++cell[config.cell_size() - 1];
    }
    std::vector<Number> total(const RowList& of) const {
        std::vector<Number> cell(std::size_t(config.cell_size()), 0);
        for (const std::uint32_t row : of) add(cell.data(), row);
        return cell;
    }

    TreeBuilder grow(int threads) const {
        TreeBuilder builder(config, columns.size());
        tree::grow(builder, view(), targets(), nullptr, threads);
        return builder;
    }

  private:
    RandomSource random_;
};

inline std::string name_of(const CodedTable& table) {
    return std::to_string(table.config.n_classes) + " classes" +
           (table.config.weighted ? ", weighted" : "");
}

// Every kind of cell: two, three and five classes or a regression, with and without weights.
inline std::vector<CodedTable> tables(std::size_t rows) {
    std::vector<CodedTable> found;
    for (const std::size_t n_classes : {2, 3, 5, 0})
        for (const bool weighted : {false, true})
            found.emplace_back(rows, n_classes, weighted, 11 + n_classes);
    return found;
}

// The rows of every node, routed from the root one by one and in table order.
inline std::vector<RowList> rows_of_nodes(const CodedTable& table, const TreeBuilder& builder) {
    std::vector<RowList> found(builder.nodes.size());
    for (const std::uint32_t row : table.all_rows()) {
        std::size_t at = 0;
        found[at].push_back(row);
        while (builder.nodes[at].expanded()) {
            const tree::Node& node = builder.nodes[at];
            const auto j = std::size_t(node.column);
            at = std::size_t(node.child + builder.branch(node, table.code(j, row),
                                                         table.columns[j].missing_code()));
            found[at].push_back(row);
        }
    }
    return found;
}

// Arrays for the sums over the rows of some nodes (tree::DepthSums).
struct SumArrays {
    std::vector<Number> cells, squares;
    std::vector<double> min_target, max_target;

    SumArrays(const CodedTable& table, std::size_t n_slots)
        : squares(n_slots, 0),
          min_target(n_slots, std::numeric_limits<double>::infinity()),
          max_target(n_slots, -std::numeric_limits<double>::infinity()) {
        std::size_t n_codes = 0;
        for (const Column& column : table.columns) n_codes += column.n_codes + 1;
        cells.resize(n_slots * n_codes * std::size_t(table.config.cell_size()), 0);
    }
    tree::DepthSums view() {
        return {cells.data(), squares.data(), min_target.data(), max_target.data()};
    }
};

}  // namespace ceiba::tests
