// The tree engine: from values to codes, and back for the codes that a tree cuts at.
#include <algorithm>

#include "tree_table.hpp"

namespace ceiba::bindings {
namespace {

std::uint64_t bits_of_value(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t bits_of_value(float value) { return bits_of_value(double(value)); }
std::uint64_t bits_of_value(std::int64_t value) { return std::uint64_t(value); }
std::uint64_t bits_of_value(std::uint64_t value) { return value; }
template <typename T>
T value_of_bits(std::uint64_t bits) {
    if constexpr (std::is_floating_point_v<T>)
        return T(std::bit_cast<double>(bits));
    else
        return T(bits);
}

// The values or edges of all columns one behind the other.
struct Scale {
    std::vector<std::uint64_t> bits;
    std::vector<std::int64_t> offsets{0};

    void add(const std::vector<std::vector<std::uint64_t>>& columns) {
        for (const auto& column : columns) {
            bits.insert(bits.end(), column.begin(), column.end());
            offsets.push_back(std::int64_t(bits.size()));
        }
    }
};

template <typename T>
std::vector<std::uint64_t> as_bits(const std::vector<T>& values) {
    std::vector<std::uint64_t> bits;
    bits.reserve(values.size());
    for (const T value : values) bits.push_back(bits_of_value(value));
    return bits;
}

std::uint32_t code_of_level(const AnyColumn& column, std::size_t row, std::uint32_t levels) {
    const std::int32_t code =
        static_cast<const std::int32_t*>(column.data)[std::ptrdiff_t(row) * column.stride];
    return code < 0 ? levels : std::uint32_t(code);
}

template <typename Code>
nb::object narrowed(const std::vector<std::uint32_t>& wide, std::size_t p, std::size_t n,
                    int threads) {
    std::vector<Code> codes(wide.size());
    without_gil([&] {
        for_segments({p, p}, threads_for(double(wide.size()), threads),
                     [&](std::size_t j, int, Interrupt&) {
                         std::copy_n(wide.data() + j * n, n, codes.data() + j * n);
                     });
    });
    return nb::cast(owned(std::move(codes), {p, n}));
}

nb::tuple rank_columns(const std::vector<Any1>& arrays, const std::vector<Maybe1<const bool>>& gaps,
                       const std::vector<std::uint8_t>& types,
                       const std::vector<std::uint32_t>& levels, int threads) {
    const Table table = table_of(arrays, gaps, types, levels);
    const std::size_t p = table.columns.size(), n = table.rows;
    checked_threads(threads);
    std::vector<std::uint32_t> codes(p * n), n_codes(p);
    std::vector<RankBuffers> buffers(static_cast<std::size_t>(threads));
    without_gil([&] {
        for_segments({p, p}, threads_for(40.0 * double(p * n), threads),
                     [&](std::size_t j, int thread, Interrupt&) {
                         std::uint32_t* own = codes.data() + j * n;
                         const AnyColumn& column = table.columns[j];
                         if (column.type >= Type::kOrdinal) {
                             for (std::size_t i = 0; i < n; ++i)
                                 own[i] = code_of_level(column, i, levels[j]);
                             n_codes[j] = levels[j];
                             return;
                         }
                         n_codes[j] = with_type(column.type, [&](auto kind) {
                             using T = decltype(kind);
                             return rank<T>(values_of<T>(table, j), own,
                                            buffers[std::size_t(thread)]);
                         });
                     });
    });
    const std::uint32_t most = *std::max_element(n_codes.begin(), n_codes.end());
    nb::object coded = most <= 0xFF     ? narrowed<std::uint8_t>(codes, p, n, threads)
                       : most <= 0xFFFF ? narrowed<std::uint16_t>(codes, p, n, threads)
                                        : nb::cast(owned(std::move(codes), {p, n}));
    return nb::make_tuple(coded, owned(std::move(n_codes)));
}

nb::tuple edges_of_columns(const std::vector<Any1>& arrays,
                           const std::vector<Maybe1<const bool>>& gaps,
                           const std::vector<std::uint8_t>& types,
                           const std::vector<std::uint32_t>& levels,
                           const Maybe1<const double>& weight, std::size_t bins, int threads) {
    const Table table = table_of(arrays, gaps, types, levels);
    const std::size_t p = table.columns.size();
    const double* w = sized(weight, table.rows, "weights must be as many as rows");
    require(bins >= 2 && bins <= 0xFFFF, "bins must be 2 to 65535");
    checked_threads(threads);
    std::vector<std::uint32_t> n_codes(p);
    std::vector<std::vector<std::uint64_t>> edges(p);
    std::vector<RankBuffers> buffers(static_cast<std::size_t>(threads));
    without_gil([&] {
        for_segments({p, p}, threads_for(40.0 * double(p * table.rows), threads),
                     [&](std::size_t j, int thread, Interrupt&) {
                         n_codes[j] = levels[j];
                         if (table.columns[j].type >= Type::kOrdinal) return;
                         with_type(table.columns[j].type, [&](auto kind) {
                             using T = decltype(kind);
                             edges[j] = as_bits(bin_edges<T>(values_of<T>(table, j), w, bins,
                                                             buffers[std::size_t(thread)]));
                         });
                         n_codes[j] = std::uint32_t(edges[j].size() + 1);
                     });
    });
    Scale scale;
    scale.add(edges);
    return nb::make_tuple(owned(std::move(n_codes)), owned(std::move(scale.bits)),
                          owned(std::move(scale.offsets)));
}

template <typename Code>
nb::object binned(const Table& table, const Array1<const std::uint64_t>& bits,
                  const Array1<const std::int64_t>& offsets, int threads) {
    const std::size_t p = table.columns.size(), n = table.rows;
    std::vector<Code> codes(p * n);
    const auto own_edges = [&](std::size_t j, auto kind) {
        using T = decltype(kind);
        std::vector<T> edges;
        for (std::int64_t e = offsets.data()[j]; e < offsets.data()[j + 1]; ++e)
            edges.push_back(value_of_bits<T>(bits.data()[e]));
        return edges;
    };
    // A block of rows with all its columns stays in the cache while its columns are read.
    const Segments parts = segments(n, 2048);
    without_gil([&] {
        for_segments(parts, threads_for(10.0 * double(p * n), threads),
                     [&](std::size_t s, int thread, Interrupt& interrupt) {
                         constexpr std::size_t kBlock = 2048;
                         for (std::size_t i = parts.begin(s); i < parts.end(s); i += kBlock) {
                             if (interrupt.stopped(thread)) return;
                             const std::size_t end = std::min(parts.end(s), i + kBlock);
                             for (std::size_t j = 0; j < p; ++j) {
                                 Code* own = codes.data() + j * n;
                                 const AnyColumn& column = table.columns[j];
                                 if (column.type >= Type::kOrdinal) {
                                     for (std::size_t r = i; r < end; ++r)
                                         own[r] = Code(code_of_level(column, r, table.levels[j]));
                                     continue;
                                 }
                                 with_type(column.type, [&](auto kind) {
                                     using T = decltype(kind);
                                     bin<T, Code>(values_of<T>(table, j), own_edges(j, kind), i,
                                                  end, own);
                                 });
                             }
                         }
                     });
    });
    return nb::cast(owned(std::move(codes), {p, n}));
}

nb::object bin_columns(const std::vector<Any1>& arrays, const std::vector<Maybe1<const bool>>& gaps,
                       const std::vector<std::uint8_t>& types,
                       const std::vector<std::uint32_t>& levels,
                       const Array1<const std::uint32_t>& n_codes,
                       const Array1<const std::uint64_t>& bits,
                       const Array1<const std::int64_t>& offsets, int threads) {
    const Table table = table_of(arrays, gaps, types, levels);
    const std::size_t p = table.columns.size();
    require(n_codes.shape(0) == p && offsets.shape(0) == p + 1,
            "codes and offsets must be told of every column");
    for (std::size_t j = 0; j < p; ++j) {
        require(offsets.data()[j] >= 0 && offsets.data()[j] <= offsets.data()[j + 1] &&
                    std::size_t(offsets.data()[j + 1]) <= bits.shape(0),
                "offsets must lie within the edges");
        const auto edges = std::uint32_t(offsets.data()[j + 1] - offsets.data()[j]);
        require(
            n_codes.data()[j] == (table.columns[j].type < Type::kOrdinal ? edges + 1 : levels[j]),
            "a column's codes must be its bins or levels");
    }
    checked_threads(threads);
    const std::uint32_t most = *std::max_element(n_codes.data(), n_codes.data() + p);
    if (most <= 0xFF) return binned<std::uint8_t>(table, bits, offsets, threads);
    if (most <= 0xFFFF) return binned<std::uint16_t>(table, bits, offsets, threads);
    return binned<std::uint32_t>(table, bits, offsets, threads);
}

template <typename Code>
void bind_values(nb::module_& module) {
    module.def(
        "tree_values",
        [](const std::vector<Any1>& arrays, const std::vector<Maybe1<const bool>>& gaps,
           const std::vector<std::uint8_t>& types, const std::vector<std::uint32_t>& levels,
           Array2<const Code> codes, Array1<const std::uint32_t> wanted,
           Array1<const std::int64_t> offsets, int threads) {
            const Table table = table_of(arrays, gaps, types, levels);
            const std::size_t p = table.columns.size();
            require(codes.shape(0) == p && codes.shape(1) == table.rows,
                    "codes must be those of the columns");
            require(offsets.shape(0) == p + 1 && offsets.data()[0] == 0 &&
                        std::size_t(offsets.data()[p]) == wanted.shape(0),
                    "offsets must lie within the codes");
            for (std::size_t j = 0; j < p; ++j)
                require(offsets.data()[j] <= offsets.data()[j + 1], "offsets must not fall");
            checked_threads(threads);
            std::vector<std::vector<std::uint64_t>> found(p);
            without_gil([&] {
                for_segments(
                    {p, p}, threads_for(2.0 * double(p * table.rows), threads),
                    [&](std::size_t j, int, Interrupt&) {
                        const Code* own = codes.data() + j * table.rows;
                        const std::vector<std::uint32_t> asked(
                            wanted.data() + offsets.data()[j],
                            wanted.data() + offsets.data()[j + 1]);
                        require(std::is_sorted(asked.begin(), asked.end()), "codes must not fall");
                        with_type(table.columns[j].type, [&](auto kind) {
                            using T = decltype(kind);
                            if (table.columns[j].type < Type::kOrdinal)
                                found[j] = as_bits(
                                    values_of_codes<T, Code>(values_of<T>(table, j), own, asked));
                        });
                    });
            });
            Scale scale;
            scale.add(found);
            require(scale.bits.size() == wanted.shape(0), "only numbers have values to look up");
            return owned(std::move(scale.bits));
        },
        "arrays"_a, "gaps"_a, "types"_a, "levels"_a, "codes"_a.noconvert(), "wanted"_a.noconvert(),
        "offsets"_a.noconvert(), "threads"_a,
        "Values of some codes of each numeric column, as bits.");
}

}  // namespace

void bind_tree_coding(nb::module_& module) {
    module.def("tree_rank", &rank_columns, "arrays"_a, "gaps"_a, "types"_a, "levels"_a, "threads"_a,
               "Ranks of all values: codes (columns x rows), and how many a column has.");
    module.def(
        "tree_edges", &edges_of_columns, "arrays"_a, "gaps"_a, "types"_a, "levels"_a,
        "weight"_a.noconvert().none(), "bins"_a, "threads"_a,
        "Bins by weight, finer in the tails: how many codes a column has, and their upper edges.");
    module.def("tree_bin", &bin_columns, "arrays"_a, "gaps"_a, "types"_a, "levels"_a,
               "n_codes"_a.noconvert(), "edges"_a.noconvert(), "offsets"_a.noconvert(), "threads"_a,
               "Bins of all values: codes (columns x rows).");
    bind_values<std::uint8_t>(module);
    bind_values<std::uint16_t>(module);
    bind_values<std::uint32_t>(module);
}

}  // namespace ceiba::bindings
