// Encoding of tables for the tree engine: from values to codes, and back for some codes.
#include <algorithm>
#include <bit>

#include "tree_arrays.hpp"

namespace ceiba::bindings {
namespace {

// Values as 64 bits: those of double, int64 or uint64.
std::uint64_t to_bits(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t to_bits(float value) { return to_bits(double(value)); }
std::uint64_t to_bits(std::int64_t value) { return std::uint64_t(value); }
std::uint64_t to_bits(std::uint64_t value) { return value; }

template <typename T>
T from_bits(std::uint64_t bits) {
    if constexpr (std::is_floating_point_v<T>)
        return T(std::bit_cast<double>(bits));
    else
        return T(bits);
}

template <typename T>
std::vector<std::uint64_t> as_bits(const std::vector<T>& values) {
    std::vector<std::uint64_t> bits;
    bits.reserve(values.size());
    for (const T value : values) bits.push_back(to_bits(value));
    return bits;
}

// Values or edges of all columns, concatenated.
struct ConcatenatedBits {
    std::vector<std::uint64_t> bits;
    std::vector<std::int64_t> offsets{0};

    explicit ConcatenatedBits(const std::vector<std::vector<std::uint64_t>>& columns) {
        for (const auto& column : columns) {
            bits.insert(bits.end(), column.begin(), column.end());
            offsets.push_back(std::int64_t(bits.size()));
        }
    }
};

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

nb::tuple rank_columns(const TreeTable& table, int threads) {
    const std::size_t p = table.size(), n = table.rows;
    table.check_own_types();
    checked_threads(threads);
    std::vector<std::uint32_t> codes(p * n), n_codes(p);
    std::vector<RankBuffers> buffers(static_cast<std::size_t>(threads));
    without_gil([&] {
        for_segments({p, p}, threads_for(40.0 * double(p * n), threads),
                     [&](std::size_t j, int thread, Interrupt&) {
                         std::uint32_t* own = codes.data() + j * n;
                         const AnyColumn& column = table.columns[j];
                         if (column.type >= Type::kOrdinal) {
                             for (std::size_t i = 0; i < n; ++i) own[i] = table.category(j, i);
                             n_codes[j] = column.n_categories;
                             return;
                         }
                         n_codes[j] = with_type(column.type, [&](auto kind) {
                             using T = decltype(kind);
                             return rank<T>(table.values<T>(j), own, buffers[std::size_t(thread)]);
                         });
                     });
    });
    const std::uint32_t max = *std::max_element(n_codes.begin(), n_codes.end());
    nb::object encoded = max <= 0xFF     ? narrowed<std::uint8_t>(codes, p, n, threads)
                         : max <= 0xFFFF ? narrowed<std::uint16_t>(codes, p, n, threads)
                                         : nb::cast(owned(std::move(codes), {p, n}));
    return nb::make_tuple(encoded, owned(std::move(n_codes)));
}

nb::tuple edges_of_columns(const TreeTable& table, const Maybe1<const double>& weight,
                           std::size_t max_bins, int threads) {
    const std::size_t p = table.size();
    const double* row_weight = sized(weight, table.rows, "weight must have one entry per row.");
    if (max_bins < 2 || max_bins > 0xFFFF)
        throw std::invalid_argument("max_bins must be in [2, 65535], got " +
                                    std::to_string(max_bins) + ".");
    table.check_own_types();
    checked_threads(threads);
    std::vector<std::uint32_t> n_codes(p);
    std::vector<std::vector<std::uint64_t>> edges(p);
    std::vector<std::vector<bool>> halves(p);
    std::vector<RankBuffers> buffers(static_cast<std::size_t>(threads));
    without_gil([&] {
        for_segments({p, p}, threads_for(40.0 * double(p * table.rows), threads),
                     [&](std::size_t j, int thread, Interrupt&) {
                         const AnyColumn& column = table.columns[j];
                         n_codes[j] = column.n_categories;
                         if (column.type >= Type::kOrdinal) return;
                         with_type(column.type, [&](auto kind) {
                             using T = decltype(kind);
                             BinEdges<T> own = bin_edges<T>(table.values<T>(j), row_weight,
                                                            max_bins, buffers[std::size_t(thread)]);
                             edges[j] = as_bits(own.values);
                             halves[j] = std::move(own.halves);
                         });
                         n_codes[j] = std::uint32_t(edges[j].size() + 1);
                     });
    });
    ConcatenatedBits all(edges);
    std::vector<std::uint8_t> all_halves;
    for (const auto& own : halves) all_halves.insert(all_halves.end(), own.begin(), own.end());
    return nb::make_tuple(owned(std::move(n_codes)), owned(std::move(all.bits)),
                          owned(std::move(all.offsets)), owned(std::move(all_halves)));
}

template <typename Code>
nb::object bins(const TreeTable& table, const std::uint64_t* bits, const std::int64_t* offsets,
                int threads) {
    const std::size_t p = table.size(), n = table.rows;
    std::vector<Code> codes(p * n);
    const auto edges_of = [&](std::size_t j, auto kind) {
        using T = decltype(kind);
        std::vector<T> edges;
        for (std::int64_t e = offsets[j]; e < offsets[j + 1]; ++e)
            edges.push_back(from_bits<T>(bits[e]));
        return edges;
    };
    const auto assign = [&](std::size_t j, std::size_t begin, std::size_t end) {
        Code* own = codes.data() + j * n;
        if (table.columns[j].type >= Type::kOrdinal) {
            for (std::size_t i = begin; i < end; ++i) own[i] = Code(table.category(j, i));
            return;
        }
        with_type(table.columns[j].type, [&](auto kind) {
            using T = decltype(kind);
            assign_bins<T, Code>(table.values<T>(j), edges_of(j, kind), begin, end, own);
        });
    };
    // A block of rows with all its columns stays in the cache while its columns are read.
    constexpr std::size_t kBlock = 2048;
    const Segments parts = segments(n, kBlock);
    without_gil([&] {
        for_segments(parts, threads_for(10.0 * double(p * n), threads),
                     [&](std::size_t s, int thread, Interrupt& interrupt) {
                         for (std::size_t i = parts.begin(s); i < parts.end(s); i += kBlock) {
                             if (interrupt.stopped(thread)) return;
                             const std::size_t end = std::min(parts.end(s), i + kBlock);
                             for (std::size_t j = 0; j < p; ++j) assign(j, i, end);
                         }
                     });
    });
    return nb::cast(owned(std::move(codes), {p, n}));
}

nb::object bin_columns(const TreeTable& table, const Array1<const std::uint32_t>& n_codes,
                       const Array1<const std::uint64_t>& edges,
                       const Array1<const std::int64_t>& offsets, int threads) {
    const std::size_t p = table.size();
    table.check_own_types();
    require(n_codes.shape(0) == p && offsets.shape(0) == p + 1,
            "n_codes must have one entry per column, and offsets one more.");
    check_offsets(offsets.data(), p, edges.shape(0), "offsets must be ascending indices of edges.");
    for (std::size_t j = 0; j < p; ++j) {
        const AnyColumn& column = table.columns[j];
        const auto n_edges = std::uint32_t(offsets.data()[j + 1] - offsets.data()[j]);
        const bool numeric = column.type < Type::kOrdinal;
        require(n_codes.data()[j] == (numeric ? n_edges + 1 : column.n_categories),
                "n_codes must be the numbers of bins or categories.");
    }
    checked_threads(threads);
    const std::uint32_t max = *std::max_element(n_codes.data(), n_codes.data() + p);
    if (max <= 0xFF) return bins<std::uint8_t>(table, edges.data(), offsets.data(), threads);
    if (max <= 0xFFFF) return bins<std::uint16_t>(table, edges.data(), offsets.data(), threads);
    return bins<std::uint32_t>(table, edges.data(), offsets.data(), threads);
}

template <typename Code>
nb::ndarray<nb::numpy, std::uint64_t> look_up(const TreeTable& table,
                                              const Array2<const Code>& codes,
                                              const Array1<const std::uint32_t>& wanted,
                                              const Array1<const std::int64_t>& offsets,
                                              int threads) {
    const std::size_t p = table.size();
    table.check_own_types();
    require(has_shape(codes, p, table.rows), "codes must have shape (n_columns, n_rows).");
    require(offsets.shape(0) == p + 1 && offsets.data()[0] == 0 &&
                std::size_t(offsets.data()[p]) == wanted.shape(0),
            "offsets must begin with 0 and end with the number of wanted codes.");
    check_offsets(offsets.data(), p, wanted.shape(0), "offsets must be ascending.");
    checked_threads(threads);
    std::vector<std::vector<std::uint64_t>> found(p);
    without_gil([&] {
        for_segments({p, p}, threads_for(2.0 * double(p * table.rows), threads),
                     [&](std::size_t j, int, Interrupt&) {
                         const std::vector<std::uint32_t> own(
                             wanted.data() + offsets.data()[j],
                             wanted.data() + offsets.data()[j + 1]);
                         require(std::is_sorted(own.begin(), own.end()),
                                 "wanted codes must be ascending in each column.");
                         if (table.columns[j].type >= Type::kOrdinal) return;
                         with_type(table.columns[j].type, [&](auto kind) {
                             using T = decltype(kind);
                             found[j] = as_bits(values_of_codes<T, Code>(
                                 table.values<T>(j), codes.data() + j * table.rows, own));
                         });
                     });
    });
    ConcatenatedBits all(found);
    require(all.bits.size() == wanted.shape(0), "wanted must be codes of numeric columns.");
    return owned(std::move(all.bits));
}

}  // namespace

void bind_tree_encode(nb::module_& module) {
    nb::class_<ColumnTypes>(module, "ColumnTypes", "Types and numbers of categories of columns.")
        .def(nb::init<std::vector<Type>, std::vector<std::uint32_t>>(), "types"_a,
             "n_categories"_a);
    nb::class_<TreeTable>(module, "TreeTable", "The columns of a table, in their own types.")
        .def(nb::init<std::vector<Any1>, Masks, const ColumnTypes&>(), "arrays"_a,
             "missing_masks"_a, "columns"_a);
    module.def(
        "tree_rank", &rank_columns, "table"_a, "threads"_a,
        "Return the ranks of all values (columns x rows) and the number of codes per column.");
    module.def("tree_bin_edges", &edges_of_columns, "table"_a, "weight"_a.noconvert().none(),
               "max_bins"_a, "threads"_a,
               "Compute bins by weight, finer in the tails.\n\n"
               "Returns the number of codes per column, the upper edges and their offsets, and\n"
               "which edges between integers are one half higher.");
    module.def("tree_bin", &bin_columns, "table"_a, "n_codes"_a.noconvert(), "edges"_a.noconvert(),
               "offsets"_a.noconvert(), "threads"_a,
               "Return the bins of all values (columns x rows).");
    module.def(
        "tree_values",
        [](const TreeTable& table, const AnyCodes& any, const Array1<const std::uint32_t>& wanted,
           const Array1<const std::int64_t>& offsets, int threads) {
            return std::visit(
                [&](const auto& codes) { return look_up(table, codes, wanted, offsets, threads); },
                any);
        },
        "table"_a, "codes"_a.noconvert(), "wanted"_a.noconvert(), "offsets"_a.noconvert(),
        "threads"_a, "Return the values of the wanted codes of each numeric column, as bits.");
}

}  // namespace ceiba::bindings
