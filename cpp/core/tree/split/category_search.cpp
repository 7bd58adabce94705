// Scores by which categories are ordered: principal components of their class fractions or means.
#include "tree/split/category_search.hpp"

#include <algorithm>
#include <cmath>

namespace ceiba::tree {
namespace {

// Class fractions, or means of several targets.
struct CategoryMeans {
    std::size_t categories, n_targets;
    std::vector<double> mean;    // categories x targets
    std::vector<double> weight;  // of each category, summing to 1
};

CategoryMeans class_fractions(const std::vector<Number>& cells, std::size_t size,
                              std::size_t n_classes) {
    CategoryMeans fractions{cells.size() / size, n_classes, {}, {}};
    double all = 0;
    for (std::size_t i = 0; i < fractions.categories; ++i) {
        const Number* cell = cells.data() + i * size;
        double total = 0;
        for (std::size_t k = 0; k < n_classes; ++k) total += double(cell[k]);
        for (std::size_t k = 0; k < n_classes; ++k)
            fractions.mean.push_back(double(cell[k]) / total);
        fractions.weight.push_back(total);
        all += total;
    }
    for (double& weight : fractions.weight) weight /= all;
    return fractions;
}

// Means relative to those of the node, in the scale of the criterion.
CategoryMeans target_means(const std::vector<Number>& cells, const VectorSquaredError& criterion) {
    const std::size_t n_targets = criterion.factors.size(), size = n_targets + 2;
    CategoryMeans means{cells.size() / size, n_targets, {}, {}};
    double all = 0;
    for (std::size_t i = 0; i < means.categories; ++i) {
        const Number* cell = cells.data() + i * size;
        for (std::size_t k = 0; k < n_targets; ++k) {
            const double sum = double(cell[1 + k] - cell[0] * criterion.whole_mean[k]);
            means.mean.push_back(std::sqrt(criterion.factors[k]) * sum / double(cell[0]));
        }
        means.weight.push_back(double(cell[0]));
        all += double(cell[0]);
    }
    for (double& weight : means.weight) weight /= all;
    return means;
}

std::vector<double> covariance(const CategoryMeans& s) {
    std::vector<double> mean(s.n_targets, 0.0), matrix(s.n_targets * s.n_targets, 0.0);
    for (std::size_t i = 0; i < s.categories; ++i)
        for (std::size_t k = 0; k < s.n_targets; ++k)
            mean[k] += s.weight[i] * s.mean[i * s.n_targets + k];
    for (std::size_t i = 0; i < s.categories; ++i)
        for (std::size_t a = 0; a < s.n_targets; ++a)
            for (std::size_t b = 0; b < s.n_targets; ++b)
                matrix[a * s.n_targets + b] += s.weight[i] *
                                               (s.mean[i * s.n_targets + a] - mean[a]) *
                                               (s.mean[i * s.n_targets + b] - mean[b]);
    return matrix;
}

std::vector<double> product_of(const std::vector<double>& a, const std::vector<double>& b,
                               std::size_t n, std::size_t columns) {
    std::vector<double> product(n * columns, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t j = 0; j < columns; ++j)
                product[i * columns + j] += a[i * n + k] * b[k * columns + j];
    return product;
}

// Scale the largest absolute entry to 1; false if all are zero.
bool scale(std::vector<double>& values) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    for (double& value : values) value /= largest > 0 ? largest : 1;
    return largest > 0;
}

// Power iteration, started at the class of largest variance, so that the sign of the component, and
// with it the order of the categories, is deterministic. Up to 64 classes the matrix is squared 20
// times, because plain iteration converges slowly if the two largest eigenvalues are close: any
// column of its power 2^20 is the component. With more classes that is too expensive.
std::vector<double> first_component(std::vector<double> matrix, std::size_t n) {
    constexpr std::size_t kMaxSquaring = 64;
    if (!scale(matrix)) return std::vector<double>(n, 0.0);
    for (int step = 0; n <= kMaxSquaring && step < 20; ++step) {
        matrix = product_of(matrix, matrix, n, n);
        scale(matrix);
    }
    std::size_t widest = 0;
    for (std::size_t k = 1; k < n; ++k)
        if (matrix[k * n + k] > matrix[widest * n + widest]) widest = k;
    std::vector<double> vector(n, 0.0);
    vector[widest] = 1;
    for (int step = 0; step < (n <= kMaxSquaring ? 1 : 100); ++step) {
        vector = product_of(matrix, vector, n, 1);
        scale(vector);
    }
    return vector;
}

// Every category's means along a direction.
std::vector<double> projections(const CategoryMeans& s, const std::vector<double>& direction) {
    std::vector<double> scores(s.categories, 0.0);
    for (std::size_t i = 0; i < s.categories; ++i)
        for (std::size_t k = 0; k < s.n_targets; ++k)
            scores[i] += direction[k] * s.mean[i * s.n_targets + k];
    return scores;
}

}  // namespace

std::vector<double> principal_component_scores(const std::vector<Number>& cells, std::size_t size,
                                               std::size_t n_classes) {
    const CategoryMeans s = class_fractions(cells, size, n_classes);
    std::vector<double> direction(n_classes, 0.0);
    if (n_classes == 2)
        direction[1] = 1;
    else
        direction = first_component(covariance(s), n_classes);
    return projections(s, direction);
}

std::vector<double> principal_component_scores(const std::vector<Number>& cells,
                                               const VectorSquaredError& criterion) {
    const CategoryMeans s = target_means(cells, criterion);
    return projections(s, first_component(covariance(s), s.n_targets));
}

}  // namespace ceiba::tree
