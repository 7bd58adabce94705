// Work division of an E step among threads.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "mixture/gaussians.hpp"

namespace ceiba {

// Borders of segments of equal work. A missing pattern costs d^3 operations, as much as d rows of
// d^2 each; without patterns all rows cost the same.
inline std::vector<std::size_t> segment_borders(const Segments& parts,
                                                const MissingPatterns& patterns, std::size_t d) {
    std::vector<std::size_t> result;
    if (patterns.order == nullptr) {
        for (std::size_t s = 0; s <= parts.count; ++s) result.push_back(parts.begin(s));
        return result;
    }
    const double all = double(parts.rows) + double(patterns.count * d);
    double done = 0;
    for (std::size_t p = 0; p < patterns.count; ++p) {
        const double rows = double(patterns.starts[p + 1] - patterns.starts[p]);
        while (result.size() <= parts.count) {
            const double target = all * double(result.size()) / double(parts.count);
            if (target >= done + double(d) + rows) break;
            const double within = std::clamp(target - done - double(d), 0.0, rows);
            result.push_back(std::size_t(patterns.starts[p]) + std::size_t(within));
        }
        done += double(d) + rows;
    }
    result.resize(parts.count + 1, parts.rows);
    result.back() = parts.rows;
    return result;
}

// One worker object per thread, created on first use.
template <typename Worker>
class PerThread {
  public:
    explicit PerThread(int threads) : each_(std::size_t(threads)) {}

    template <typename... Arguments>
    Worker& of(int thread, const Arguments&... arguments) {
        std::unique_ptr<Worker>& worker = each_[std::size_t(thread)];
        if (!worker) worker = std::make_unique<Worker>(arguments...);
        return *worker;
    }

  private:
    std::vector<std::unique_ptr<Worker>> each_;
};

}  // namespace ceiba
