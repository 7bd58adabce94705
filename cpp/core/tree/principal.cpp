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

// Power iteration, begun at the class that varies most and with that class positive: the sign of
// the component, and so the order of the levels, is always the same.
std::vector<double> first_component(const std::vector<double>& matrix, std::size_t n) {
    std::size_t widest = 0;
    for (std::size_t k = 1; k < n; ++k)
        if (matrix[k * n + k] > matrix[widest * n + widest]) widest = k;
    std::vector<double> vector(matrix.begin() + std::ptrdiff_t(widest * n),
                               matrix.begin() + std::ptrdiff_t(widest * n + n));
    for (int step = 0; step < 100; ++step) {
        std::vector<double> next(n, 0.0);
        double length = 0;
        for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = 0; b < n; ++b) next[a] += matrix[a * n + b] * vector[b];
            length += next[a] * next[a];
        }
        if (!(length > 0)) return vector;
        for (double& part : next) part /= std::sqrt(length);
        vector = next;
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
