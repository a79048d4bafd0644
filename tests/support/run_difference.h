// Whether two runs have the same values.
#pragma once

#include "engine/runs/run.h"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace halfscope {

/// Compares all columns; returns the first difference, or nothing.
inline std::string difference(const RunSnapshot& a, const RunSnapshot& b) {
    if (a.laneCount() != b.laneCount()) return "lanes";
    for (int lane = 0; lane < a.laneCount(); ++lane) {
        if (a.lanes()[size_t(lane)].name != b.lanes()[size_t(lane)].name) return "name of a lane";
        if (a.totals(lane).skips().skipped() != b.totals(lane).skips().skipped()) return "skipped";
        for (MetricId id = 0; id < metric::kKnown; ++id) {
            const std::string what = std::to_string(lane) + " " + a.metrics()[size_t(id)].column;
            if (a.column(lane, id).size() != b.column(lane, id).size()) return what + " size";
            std::vector<Point> points;
            a.column(lane, id).values(1, 1 << 30, [&](int64_t step, double value) {
                points.push_back({step, value});
            });
            size_t next = 0;
            std::string found;
            b.column(lane, id).values(1, 1 << 30, [&](int64_t step, double value) {
                const Point& wanted = points[next++];
                if (wanted.step != step ||
                    std::bit_cast<uint64_t>(wanted.value) != std::bit_cast<uint64_t>(value))
                    found = what + " step " + std::to_string(step);
            });
            if (!found.empty()) return found;
        }
    }
    return {};
}

} // namespace halfscope
