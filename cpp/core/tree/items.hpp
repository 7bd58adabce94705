// Levels or intervals of a column at one node, with their cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/cells.hpp"

namespace ceiba::tree {

struct Items {
    std::vector<std::uint32_t> codes;
    std::vector<Number> cells;
    std::size_t size = 0;  // of a cell

    std::size_t count() const { return codes.size(); }
    const Number* cell(std::size_t i) const { return cells.data() + i * size; }
    Number* cell(std::size_t i) { return cells.data() + i * size; }

    void clear(std::size_t cell_size) {
        size = cell_size;
        codes.clear();
        cells.clear();
    }
    // One more, without rows as yet.
    Number* add(std::uint32_t code) {
        codes.push_back(code);
        cells.resize(codes.size() * size, 0);
        return cell(codes.size() - 1);
    }
    // Each code that a source knows, in order.
    template <typename Source>
    void collect(Source& source, std::size_t cell_size) {
        clear(cell_size);
        while (source.more()) {
            Number* cell = add(source.code());
            source.take(cell);
        }
    }
};

}  // namespace ceiba::tree
