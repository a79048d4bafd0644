// Lines of gradients.csv.
#include "ui/models/gradient_table.h"

#include "engine/core/text.h"
#include "engine/train/run_files.h"

#include <algorithm>

namespace halfscope {

namespace {

using Counts = MagnitudeCounts;

/// As RFC 4180 quotes a field.
std::string quoted(const std::string& text) {
    std::string field = "\"";
    for (const char c : text)
        field += c == '"' ? std::string("\"\"") : std::string(1, c);
    return field + '"';
}

std::string lineOf(const GradientColumn& column, const std::string& lane) {
    std::string line = lane + ',' + numberText(column.from) + ',' + numberText(column.to - 1) +
                       ',' + (column.merged ? std::string() : numberText(column.counted));
    line += ',' + numberText(column.shares.zeros);
    for (const float share : column.shares.buckets)
        line += ',' + numberText(share);
    return line + ',' + numberText(column.shares.notFinite) + '\n';
}

} // namespace

bool writeGradients(std::span<const GradientHistory> lanes, std::span<const std::string> names,
                    const std::string& path) {
    if (std::all_of(lanes.begin(), lanes.end(), [](const auto& lane) { return lane.empty(); }))
        return false;
    GrowingFile file(path);
    file.append(gradientHeader());
    for (size_t i = 0; i < std::min(lanes.size(), names.size()); ++i) {
        const std::string& name = names[i];
        const bool plain = name.find_first_of(",\"\r\n") == std::string::npos;
        for (const GradientColumn& column : lanes[i].columns())
            file.append(lineOf(column, plain ? name : quoted(name)));
    }
    file.finish();
    return true;
}

} // namespace halfscope
