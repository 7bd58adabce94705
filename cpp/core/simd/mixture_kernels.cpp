// Implementation of the mixture kernels, compiled once for each instruction set; the warning in
// kmeans_kernels.cpp about templates of the standard library applies here too.
#include "simd/mixture_kernels.hpp"

#include "simd/vector_math.hpp"

#define CEIBA_MIXTURE_NAME(isa) CEIBA_MIXTURE_NAME_(isa)
#define CEIBA_MIXTURE_NAME_(isa) mixture_kernels_##isa

namespace ceiba {
namespace {

constexpr std::size_t kRows = kMixtureRows;
constexpr std::size_t kWide = kLanes<double>;
// Vectors of rows processed together: four outputs times four vectors are 16 accumulators, half of
// AVX-512's registers; other instruction sets have half as many.
constexpr std::size_t kVectorsPerGroup = CEIBA_VECTOR_BYTES == 64 ? 4 : 2;
constexpr std::size_t kGroup = kVectorsPerGroup * kWide;
static_assert(kRows % kGroup == 0);

// d rounded up to whole vectors.
constexpr std::size_t side_up(std::size_t d) { return (d + kWide - 1) / kWide * kWide; }

inline double sum_of(const Doubles& v) {
    double total = 0;
    for (std::size_t lane = 0; lane < kWide; ++lane) total += v[lane];
    return total;
}

// As many doubles or floats as a vector of doubles has lanes.
inline Doubles load_as_doubles(const double* from) { return load(from); }
inline Doubles load_as_doubles(const float* from) {
    typedef float Half __attribute__((vector_size(CEIBA_VECTOR_BYTES / 2)));
    Half v;
    __builtin_memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, Doubles);
}

// Squares of rows and columns are transposed in registers. A square that reaches past the last
// column reads into the next row and drops the excess; the last rows, which no row follows, are
// copied value by value.
template <typename T>
void pack(const T* X, std::size_t d, std::size_t count, std::size_t padded, std::size_t readable,
          double* tile) {
    std::size_t r = 0;
    for (; r + kWide <= count && (r + kWide - 1) * d + side_up(d) <= readable; r += kWide)
        for (std::size_t j = 0; j < d; j += kWide) {
            Doubles v[kWide];
            for (std::size_t i = 0; i < kWide; ++i) v[i] = load_as_doubles(X + (r + i) * d + j);
            transpose<double>(v);
            const std::size_t n_columns = d - j < kWide ? d - j : kWide;
            for (std::size_t i = 0; i < n_columns; ++i) store(tile + (j + i) * kRows + r, v[i]);
        }
    for (std::size_t j = 0; j < d; ++j) {
        double* column = tile + j * kRows;
        for (std::size_t i = r; i < count; ++i) column[i] = double(X[i * d + j]);
        for (std::size_t i = count; i < padded; ++i) column[i] = column[count - 1];
    }
}

// One group of rows at a time, so that its centered copy, the panels and the tile share the
// first-level cache: `work` holds one group of every column, with zero columns up to a whole block.
void triangular(const double* tile, std::size_t d, std::size_t padded, const double* mean,
                const double* panels, double norm, double* work, double* out) {
    for (std::size_t r = 0; r < padded; r += kGroup) {
        for (std::size_t j = 0; j < side_blocks(d) * kSide; ++j)
            for (std::size_t v = 0; v < kVectorsPerGroup; ++v) {
                const std::size_t at = j * kRows + r + v * kWide;
                store(work + j * kGroup + v * kWide,
                      j < d ? load(tile + at) - splat(mean[j]) : Doubles{});
            }
        Doubles squares[kVectorsPerGroup] = {};
        const double* panel = panels;
        for (std::size_t block = 0; block < side_blocks(d); ++block) {
            Doubles y[kSide][kVectorsPerGroup] = {};
            const std::size_t columns = (block + 1) * kSide;
            for (std::size_t i = 0; i < columns; ++i, panel += kSide)
                for (std::size_t v = 0; v < kVectorsPerGroup; ++v) {
                    const Doubles z = load(work + i * kGroup + v * kWide);
                    for (std::size_t j = 0; j < kSide; ++j) y[j][v] += panel[j] * z;
                }
            for (std::size_t v = 0; v < kVectorsPerGroup; ++v)
                for (std::size_t j = 0; j < kSide; ++j) squares[v] += y[j][v] * y[j][v];
        }
        for (std::size_t v = 0; v < kVectorsPerGroup; ++v)
            store(out + r + v * kWide, norm - 0.5 * squares[v]);
    }
}

void diagonal(const double* tile, std::size_t d, std::size_t padded, const double* mean,
              const double* factor, double norm, double* out) {
    for (std::size_t r = 0; r < padded; r += kGroup) {
        Doubles squares[kVectorsPerGroup] = {};
        for (std::size_t j = 0; j < d; ++j)
            for (std::size_t v = 0; v < kVectorsPerGroup; ++v) {
                const Doubles y =
                    (load(tile + j * kRows + r + v * kWide) - mean[j]) * splat(factor[j]);
                squares[v] += y * y;
            }
        for (std::size_t v = 0; v < kVectorsPerGroup; ++v)
            store(out + r + v * kWide, norm - 0.5 * squares[v]);
    }
}

void diagonal_missing(const double* tile, std::size_t d, std::size_t padded, const double* mean,
                      const double* factor, const double* log_norm, double norm, double* out) {
    for (std::size_t r = 0; r < padded; r += kWide) {
        Doubles squares = {}, norms = splat(norm);
        for (std::size_t j = 0; j < d; ++j) {
            const Doubles x = load(tile + j * kRows + r);
            const Words observed = x == x;
            // Selected before squaring, so that a complete row has the same bits as without missing
            // values.
            const Doubles y = choose(observed, (x - mean[j]) * splat(factor[j]), Doubles{});
            squares += y * y;
            norms += choose(observed, splat(log_norm[j]), Doubles{});
        }
        store(out + r, norms - 0.5 * squares);
    }
}

double responsibilities(double* joint, std::size_t k, std::size_t padded, const double* weight,
                        double* density) {
    Doubles total = {};
    for (std::size_t r = 0; r < padded; r += kWide) {
        Doubles max = load(joint + r);
        for (std::size_t c = 1; c < k; ++c) max = larger(load(joint + c * kRows + r), max);
        Doubles sum = {};
        const Words underflows = max < -0x1.fffffffffffffp1023;
        for (std::size_t c = 0; c < k; ++c) {
            double* here = joint + c * kRows + r;
            const Doubles e = exp_negative(choose(underflows, Doubles{}, load(here) - max));
            store(here, e);
            sum += e;
        }
        const Doubles w = load(weight + r), scale = w / sum;
        const Doubles logarithm = max + log_positive(sum);
        for (std::size_t c = 0; c < k; ++c)
            store(joint + c * kRows + r, load(joint + c * kRows + r) * scale);
        total += choose(w > 0, w * logarithm, Doubles{});
        if (density != nullptr) store(density + r, logarithm);
    }
    return sum_of(total);
}

// Lane i of the result is the sum of all lanes of v[i]: swap and add halves, then quarters, ...,
// which takes 14 shuffles for eight vectors where a transposition takes 24.
template <std::size_t kStride = kWide / 2>
inline Doubles lane_sums(Doubles (&v)[kWide]) {
    if constexpr (kStride == 0) {
        return v[0];
    } else {
        for (std::size_t i = 0; i < kStride; ++i) {
            swap_halves<double, kStride>(v[i], v[i + kStride], std::make_index_sequence<kWide>());
            v[i] += v[i + kStride];
        }
        return lane_sums<kStride / 2>(v);
    }
}

// Add the lane sums of 8 or 16 accumulators to as many numbers.
template <std::size_t kCount>
inline void add_lanes(const Doubles (&sums)[kCount], double* to) {
    for (std::size_t first = 0; first < kCount; first += kWide) {
        Doubles v[kWide];
        for (std::size_t i = 0; i < kWide; ++i) v[i] = sums[first + i];
        store(to + first, load(to + first) + lane_sums(v));
    }
}

// One block of 4 x 4 sums of products, a few of its rows at a time.
inline void add_block(const double* weighted, const double* z, std::size_t padded, double* block) {
    constexpr std::size_t kHeight = CEIBA_VECTOR_BYTES == 64 ? 4 : 2;
    for (std::size_t top = 0; top < kSide; top += kHeight) {
        Doubles sums[kHeight * kSide] = {};
        for (std::size_t r = 0; r < padded; r += kWide) {
            Doubles right[kSide];
            for (std::size_t j = 0; j < kSide; ++j) right[j] = load(z + j * kRows + r);
            for (std::size_t i = 0; i < kHeight; ++i) {
                const Doubles left = load(weighted + (top + i) * kRows + r);
                for (std::size_t j = 0; j < kSide; ++j) sums[i * kSide + j] += left * right[j];
            }
        }
        add_lanes(sums, block + top * kSide);
    }
}

inline double total_of(const double* r, std::size_t padded) {
    Doubles total = {};
    for (std::size_t i = 0; i < padded; i += kWide) total += load(r + i);
    return sum_of(total);
}

// Four columns at a time: their weighted values are multiplied with all columns before them at
// once, so that only the centered rows are kept (16 columns: from 9.8 to 7.4 ns per row and
// component).
double full_moments(const double* tile, std::size_t d, std::size_t padded, const double* pivot,
                    const double* r, double* work, double* first, double* second) {
    const std::size_t blocks = side_blocks(d);
    double *z = work, *weighted = work + blocks * kSide * kRows;
    for (std::size_t block = 0; block < blocks; ++block) {
        for (std::size_t i = 0; i < kSide; ++i) {
            const std::size_t j = block * kSide + i;
            Doubles total = {};
            for (std::size_t at = 0; at < padded; at += kWide) {
                // Columns that pad a block are zero.
                const Doubles from_pivot =
                    j < d ? load(tile + j * kRows + at) - splat(pivot[j]) : Doubles{};
                const Doubles product = load(r + at) * from_pivot;
                store(z + j * kRows + at, from_pivot);
                store(weighted + i * kRows + at, product);
                total += product;
            }
            if (j < d) first[j] += sum_of(total);
        }
        for (std::size_t j = 0; j <= block; ++j, second += kSide * kSide)
            add_block(weighted, z + j * kSide * kRows, padded, second);
    }
    return total_of(r, padded);
}

template <bool kMissing>
double diagonal_moments(const double* tile, std::size_t d, std::size_t padded, const double* pivot,
                        const double* r, double* sums) {
    for (std::size_t j = 0; j < d; ++j) {
        double* column_sums = sums + j * (kMissing ? 3 : 2) * kWide;
        Doubles first = load(column_sums), second = load(column_sums + kWide), observed_weight = {};
        if constexpr (kMissing) observed_weight = load(column_sums + 2 * kWide);
        for (std::size_t i = 0; i < padded; i += kWide) {
            const Doubles x = load(tile + j * kRows + i), w = load(r + i);
            Doubles z = x - splat(pivot[j]);
            if constexpr (kMissing) {
                const Words observed = x == x;
                z = choose(observed, z, Doubles{});
                observed_weight += choose(observed, w, Doubles{});
            }
            const Doubles product = w * z;
            first += product;
            second += product * z;
        }
        store(column_sums, first);
        store(column_sums + kWide, second);
        if constexpr (kMissing) store(column_sums + 2 * kWide, observed_weight);
    }
    return total_of(r, padded);
}

void regress(const double* tile, std::size_t d, std::size_t padded, const double* mean,
             const double* slope, double start, double* out) {
    for (std::size_t r = 0; r < padded; r += kWide) {
        Doubles y = splat(start);
        for (std::size_t i = 0; i < d; ++i) y += slope[i] * (load(tile + i * kRows + r) - mean[i]);
        store(out + r, y);
    }
}

}  // namespace

extern const MixtureKernels CEIBA_MIXTURE_NAME(CEIBA_ISA);
const MixtureKernels CEIBA_MIXTURE_NAME(CEIBA_ISA){kGroup,
                                                   kWide,
                                                   pack<double>,
                                                   pack<float>,
                                                   triangular,
                                                   diagonal,
                                                   diagonal_missing,
                                                   responsibilities,
                                                   full_moments,
                                                   diagonal_moments<false>,
                                                   diagonal_moments<true>,
                                                   regress};

}  // namespace ceiba
