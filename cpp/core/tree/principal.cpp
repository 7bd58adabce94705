#include "tree/principal.hpp"

#include <algorithm>
#include <cmath>

namespace ceiba::tree {
namespace {

struct Shares {
    std::size_t levels, classes;
    std::vector<double> share;   // levels x classes
    std::vector<double> weight;  // of each level, all together 1
};

Shares shares_of(const std::vector<Number>& cells, std::size_t size, std::size_t classes) {
    Shares shares{cells.size() / size, classes, {}, {}};
    double all = 0;
    for (std::size_t i = 0; i < shares.levels; ++i) {
        const Number* cell = cells.data() + i * size;
        double total = 0;
        for (std::size_t k = 0; k < classes; ++k) total += double(cell[k]);
        for (std::size_t k = 0; k < classes; ++k) shares.share.push_back(double(cell[k]) / total);
        shares.weight.push_back(total);
        all += total;
    }
    for (double& weight : shares.weight) weight /= all;
    return shares;
}

std::vector<double> covariance(const Shares& s) {
    std::vector<double> mean(s.classes, 0.0), matrix(s.classes * s.classes, 0.0);
    for (std::size_t i = 0; i < s.levels; ++i)
        for (std::size_t k = 0; k < s.classes; ++k)
            mean[k] += s.weight[i] * s.share[i * s.classes + k];
    for (std::size_t i = 0; i < s.levels; ++i)
        for (std::size_t a = 0; a < s.classes; ++a)
            for (std::size_t b = 0; b < s.classes; ++b)
                matrix[a * s.classes + b] += s.weight[i] * (s.share[i * s.classes + a] - mean[a]) *
                                             (s.share[i * s.classes + b] - mean[b]);
    return matrix;
}

std::vector<double> times(const std::vector<double>& a, const std::vector<double>& b, std::size_t n,
                          std::size_t columns) {
    std::vector<double> product(n * columns, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t j = 0; j < columns; ++j)
                product[i * columns + j] += a[i * n + k] * b[k * columns + j];
    return product;
}

// Scaled to a largest entry of 1; false for zeros.
bool scale(std::vector<double>& values) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    for (double& value : values) value /= largest > 0 ? largest : 1;
    return largest > 0;
}

// Power iteration, begun at the class that varies most, so that the sign of the component, and with
// it the order of the levels, is always the same. Squaring the matrix makes twenty steps worth a
// million where two axes are nearly of one length: any column of it is then the component. Too dear
// for very many classes.
std::vector<double> first_component(std::vector<double> matrix, std::size_t n) {
    constexpr std::size_t kSquared = 64;
    if (!scale(matrix)) return std::vector<double>(n, 0.0);
    for (int step = 0; n <= kSquared && step < 20; ++step) {
        matrix = times(matrix, matrix, n, n);
        scale(matrix);
    }
    std::size_t widest = 0;
    for (std::size_t k = 1; k < n; ++k)
        if (matrix[k * n + k] > matrix[widest * n + widest]) widest = k;
    std::vector<double> vector(n, 0.0);
    vector[widest] = 1;
    for (int step = 0; step < (n <= kSquared ? 1 : 100); ++step) {
        vector = times(matrix, vector, n, 1);
        scale(vector);
    }
    return vector;
}

}  // namespace

std::vector<double> principal_scores(const std::vector<Number>& cells, std::size_t size,
                                     std::size_t classes) {
    const Shares s = shares_of(cells, size, classes);
    std::vector<double> direction(classes, 0.0);
    if (classes == 2)
        direction[1] = 1;
    else
        direction = first_component(covariance(s), classes);
    std::vector<double> scores(s.levels, 0.0);
    for (std::size_t i = 0; i < s.levels; ++i)
        for (std::size_t k = 0; k < classes; ++k)
            scores[i] += direction[k] * s.share[i * classes + k];
    return scores;
}

}  // namespace ceiba::tree
