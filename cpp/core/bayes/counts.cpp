// Implementation of the counts: segments of rows, added in order.
#include "bayes/counts.hpp"

#include <algorithm>

#include "common/ordered_sum.hpp"

namespace ceiba {
namespace {

// Rows of a segment: enough that clearing and adding its table costs less than counting.
Segments row_segments(std::size_t rows, std::size_t table, std::size_t per_row) {
    return segments(rows,
                    std::max<std::size_t>(4096, 2 * table / std::max<std::size_t>(per_row, 1)));
}

// Interrupts are polled once per block of rows.
constexpr std::size_t kBlock = 2048;

// Counts of all pairs for a block of rows, whose codes are first transposed: a column of codes and
// the table of one pair then stay in the first-level cache.
template <typename Code>
class PairBlock {
  public:
    PairBlock(const CodedRows<Code>& rows, const std::int32_t* sizes)
        : rows_(rows), sizes_(sizes), columns_(rows.codes.cols * kBlock), first_index_(kBlock) {}

    void add(std::size_t first, std::size_t last, double* counts) {
        const std::size_t m = rows_.codes.cols, n = last - first;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < m; ++j)
                columns_[j * kBlock + i] = rows_.codes.row(first + i)[j];
        for (std::size_t i = 0; i + 1 < m; ++i) {
            const Code* one = columns_.data() + i * kBlock;
            for (std::size_t r = 0; r < n; ++r)
                first_index_[r] = std::uint32_t(one[r] * rows_.n_classes) +
                                  std::uint32_t(rows_.labels[first + r]);
            for (std::size_t j = i + 1; j < m; ++j) {
                add_pair(columns_.data() + j * kBlock, std::uint32_t(sizes_[j]), first, n, counts);
                counts += std::size_t(sizes_[i]) * rows_.n_classes * std::size_t(sizes_[j]);
            }
        }
    }

  private:
    void add_pair(const Code* other, std::uint32_t size, std::size_t first, std::size_t n,
                  double* counts) const {
        if (rows_.weight == nullptr)
            for (std::size_t r = 0; r < n; ++r) counts[first_index_[r] * size + other[r]] += 1;
        else
            for (std::size_t r = 0; r < n; ++r)
                counts[first_index_[r] * size + other[r]] += rows_.weight[first + r];
    }

    const CodedRows<Code>& rows_;
    const std::int32_t* sizes_;
    std::vector<Code> columns_;
    std::vector<std::uint32_t> first_index_;  // code of the first feature and class
};

}  // namespace

template <typename Code>
void family_counts(const CodedRows<Code>& rows, const Families& families, double* counts,
                   int threads) {
    const std::size_t n = rows.codes.rows, k = rows.n_classes, size = families.n_rows() * k;
    const Segments parts = row_segments(n, size, families.count);
    OrderedSum sum(size);
    const TableRows<Code> table_rows(families);
    for_segments(parts, threads_for(double(n) * double(families.count), threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Aligned<double> own = sum.zeros();
                     std::vector<std::uint32_t> entries(families.count);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i) {
                         if (i % kBlock == 0 && stop.stopped(thread)) return;
                         table_rows.compute(rows.codes.row(i), entries.data());
                         const double w = rows.weight == nullptr ? 1 : rows.weight[i];
                         double* of_class = own.data() + rows.labels[i];
                         for (const std::uint32_t entry : entries) of_class[entry * k] += w;
                     }
                     sum.add(s, std::move(own), thread, stop);
                 });
    std::copy_n(sum.values(), size, counts);
}

template <typename Code>
void pair_counts(const CodedRows<Code>& rows, const std::int32_t* sizes, double* counts,
                 int threads) {
    const std::size_t n = rows.codes.rows, m = rows.codes.cols, pairs = m * (m - 1) / 2;
    std::size_t size = 0;
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = i + 1; j < m; ++j)
            size += std::size_t(sizes[i]) * rows.n_classes * std::size_t(sizes[j]);
    const Segments parts = row_segments(n, size, pairs);
    OrderedSum sum(size);
    for_segments(parts, threads_for(double(n) * double(pairs), threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Aligned<double> own = sum.zeros();
                     PairBlock<Code> block(rows, sizes);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); i += kBlock) {
                         if (stop.stopped(thread)) return;
                         block.add(i, std::min(i + kBlock, parts.end(s)), own.data());
                     }
                     sum.add(s, std::move(own), thread, stop);
                 });
    std::copy_n(sum.values(), size, counts);
}

template void family_counts<std::uint8_t>(const CodedRows<std::uint8_t>&, const Families&, double*,
                                          int);
template void family_counts<std::uint16_t>(const CodedRows<std::uint16_t>&, const Families&,
                                           double*, int);
template void pair_counts<std::uint8_t>(const CodedRows<std::uint8_t>&, const std::int32_t*,
                                        double*, int);
template void pair_counts<std::uint16_t>(const CodedRows<std::uint16_t>&, const std::int32_t*,
                                         double*, int);

}  // namespace ceiba
