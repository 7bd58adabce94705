// Distances between rows: kinds, and their reduced form, which is compared in inner loops.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ceiba {

// The first four are sums or maxima over the columns, for which an index of boxes exists.
enum class MetricKind : std::uint8_t {
    kEuclidean,
    kManhattan,
    kChebyshev,
    kMinkowski,
    kCanberra,
    kBrayCurtis,
    kHaversine,
    kHamming,
    kJaccard,
    kDice,
    kRogersTanimoto,
    kRussellRao,
    kSokalSneath,
    kYule,
};

// What a value adds to a distance if it is missing in one of the two rows.
enum class MissingRule : std::uint8_t {
    kNone,      // no values are missing
    kPartial,   // nothing: the sum over the known columns is divided by their share of the weight
    kMismatch,  // as much as two different categories
};

// A distance. Columns are in units in which they count equally; a nominal column holds codes.
struct Metric {
    MetricKind kind = MetricKind::kEuclidean;
    double p = 2;                      // of kMinkowski
    const double* mismatch = nullptr;  // what different codes add to the reduced distance, for each
                                       // column; NaN for numeric columns; null if all are numeric
    MissingRule missing = MissingRule::kNone;
    const double* weights = nullptr;  // of the columns, for the missing rules

    bool is_coordinate() const { return kind <= MetricKind::kMinkowski; }

    // Reduced distances are sums: squares for kEuclidean, p-th powers for kMinkowski.
    double to_distance(double reduced) const {
        if (kind == MetricKind::kEuclidean) return std::sqrt(reduced);
        if (kind == MetricKind::kMinkowski) return std::pow(reduced, 1 / p);
        return reduced;
    }

    // A reduced distance that no row at up to this distance exceeds, whatever the rounding.
    double to_limit(double distance) const {
        constexpr double kSlack = 1 + 8 * std::numeric_limits<double>::epsilon();
        if (kind == MetricKind::kEuclidean) return distance * distance * kSlack;
        if (kind == MetricKind::kMinkowski)
            return std::pow(distance, p) * (1 + 64 * p * std::numeric_limits<double>::epsilon());
        return distance * kSlack;
    }
};

}  // namespace ceiba
