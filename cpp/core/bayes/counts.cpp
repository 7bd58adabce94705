// Implementation of the counts: segments of rows, added in order.
#include "bayes/counts.hpp"

#include <algorithm>
#include <cmath>

#include "common/ordered_sum.hpp"

namespace ceiba {
namespace {

// Interrupts are polled once per block of rows; in counts of pairs, of which there may be 100,000,
// once per block and first feature.
constexpr std::size_t kBlock = 2048;

// Counts of pairs for a block of rows, whose codes are first transposed: a column of codes and the
// table of one pair then stay in the first-level cache.
template <typename Code>
class PairCounter {
  public:
    PairCounter(const CodedRows<Code>& rows, const std::int32_t* sizes, const PairBlock& block)
        : rows_(rows),
          sizes_(sizes),
          block_(block),
          columns_(rows.codes.cols * kBlock),
          first_index_(kBlock) {}

    // Return false if interrupted.
    bool add(std::size_t first, std::size_t last, double* counts, Interrupt& stop, int thread) {
        const std::size_t n = last - first;
        transpose(first, n, block_.first_begin, block_.first_end);
        transpose(first, n, std::max(block_.first_end, block_.second_begin), block_.second_end);
        for (std::size_t i = block_.first_begin; i < block_.first_end; ++i) {
            if (stop.stopped(thread)) return false;
            const Code* one = columns_.data() + i * kBlock;
            for (std::size_t r = 0; r < n; ++r)
                first_index_[r] = std::uint32_t(one[r] * rows_.n_classes) +
                                  std::uint32_t(rows_.labels[first + r]);
            for (std::size_t j = block_.second_after(i); j < block_.second_end; ++j) {
                add_pair(columns_.data() + j * kBlock, std::uint32_t(sizes_[j]), first, n, counts);
                counts += std::size_t(sizes_[i]) * rows_.n_classes * std::size_t(sizes_[j]);
            }
        }
        return true;
    }

  private:
    void transpose(std::size_t first, std::size_t n, std::size_t begin, std::size_t end) {
        for (std::size_t r = 0; r < n; ++r) {
            const Code* codes = rows_.codes.row(first + r);
            for (std::size_t j = begin; j < end; ++j) columns_[j * kBlock + r] = codes[j];
        }
    }

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
    const PairBlock& block_;
    std::vector<Code> columns_;
    std::vector<std::uint32_t> first_index_;  // code of the first feature and class
};

// Counts of one pair of features.
struct PairTable {
    const double* counts;
    std::size_t first_size, second_size, n_classes;

    std::size_t size() const { return first_size * n_classes * second_size; }

    double at(std::size_t x, std::size_t c, std::size_t y) const {
        return counts[(x * n_classes + c) * second_size + y];
    }

    // `first` and `second` are memory for the margins.
    void compute(const PairDependence& out, std::size_t pair, std::vector<double>& first,
                 std::vector<double>& second) const {
        double information = 0, total = 0, degrees = 0;
        for (std::size_t c = 0; c < n_classes; ++c) {
            first.assign(first_size, 0.0);
            second.assign(second_size, 0.0);
            double of_class = 0;
            for (std::size_t x = 0; x + 1 < first_size; ++x)
                for (std::size_t y = 0; y + 1 < second_size; ++y) {
                    const double n = at(x, c, y);
                    first[x] += n, second[y] += n, of_class += n;
                }
            total += of_class;
            for (std::size_t x = 0; x + 1 < first_size; ++x)
                for (std::size_t y = 0; y + 1 < second_size; ++y) {
                    const double n = at(x, c, y);
                    if (n > 0) information += n * std::log(n * of_class / (first[x] * second[y]));
                }
            if (of_class > 0) degrees += (seen(first) - 1) * (seen(second) - 1);
        }
        out.information[pair] = total > 0 ? std::max(information / total, 0.0) : 0.0;
        out.totals[pair] = total;
        out.degrees[pair] = degrees;
    }

  private:
    static double seen(const std::vector<double>& margin) {
        return double(std::count_if(margin.begin(), margin.end(), [](double n) { return n > 0; }));
    }
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
void pair_counts(const CodedRows<Code>& rows, const std::int32_t* sizes, const PairBlock& block,
                 double* counts, int threads) {
    const std::size_t n = rows.codes.rows;
    std::size_t size = 0, pairs = 0;
    block.for_each([&](std::size_t i, std::size_t j) {
        size += std::size_t(sizes[i]) * rows.n_classes * std::size_t(sizes[j]);
        ++pairs;
    });
    const Segments parts = row_segments(n, size, pairs);
    const auto count = [&](std::size_t s, double* out, Interrupt& stop, int thread) {
        PairCounter<Code> counter(rows, sizes, block);
        for (std::size_t i = parts.begin(s); i < parts.end(s); i += kBlock) {
            const std::size_t end = std::min(i + kBlock, parts.end(s));
            if (!counter.add(i, end, out, stop, thread)) return false;
        }
        return true;
    };
    // Few rows of many columns: tables of 128 MB, which are not copied.
    if (parts.count == 1) {
        std::fill_n(counts, size, 0.0);
        for_segments(parts, 1, [&](std::size_t s, int thread, Interrupt& stop) {
            count(s, counts, stop, thread);
        });
        return;
    }
    OrderedSum sum(size);
    for_segments(parts, threads_for(double(n) * double(pairs), threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Aligned<double> own = sum.zeros();
                     if (count(s, own.data(), stop, thread))
                         sum.add(s, std::move(own), thread, stop);
                 });
    std::copy_n(sum.values(), size, counts);
}

void pair_dependence(const double* counts, const std::int32_t* sizes, const PairBlock& block,
                     std::size_t n_classes, const PairDependence& out) {
    std::vector<PairTable> tables;
    block.for_each([&](std::size_t i, std::size_t j) {
        tables.push_back({counts, std::size_t(sizes[i]), std::size_t(sizes[j]), n_classes});
        counts += tables.back().size();
    });
    const Segments parts = segments(tables.size(), 1);
    std::vector<double> first, second;
    // On one thread: the segments are there to be interrupted.
    for_segments(parts, 1, [&](std::size_t s, int thread, Interrupt& stop) {
        for (std::size_t pair = parts.begin(s); pair < parts.end(s); ++pair) {
            if (stop.stopped(thread)) return;
            tables[pair].compute(out, pair, first, second);
        }
    });
}

template void family_counts<std::uint8_t>(const CodedRows<std::uint8_t>&, const Families&, double*,
                                          int);
template void family_counts<std::uint16_t>(const CodedRows<std::uint16_t>&, const Families&,
                                           double*, int);
template void pair_counts<std::uint8_t>(const CodedRows<std::uint8_t>&, const std::int32_t*,
                                        const PairBlock&, double*, int);
template void pair_counts<std::uint16_t>(const CodedRows<std::uint16_t>&, const std::int32_t*,
                                         const PairBlock&, double*, int);

}  // namespace ceiba
