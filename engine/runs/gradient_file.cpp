// Lines of gradients.csv, written and read.
#include "engine/runs/gradient_file.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/runs/run_files.h"
#include "engine/runs/saved_table.h"

#include <algorithm>
#include <cmath>

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

constexpr double kRounding = 1e-3; // of a sum of shares, each a mean of many
constexpr int kRowsBetween = 256;  // rows between two looks at whether to go on

/// A row whose steps are among these.
GradientColumn readColumn(SavedTable& table, int64_t first, int64_t last) {
    GradientColumn column;
    column.from = table.whole(first, last);
    column.to = table.whole(column.from, last) + 1;
    const auto counted = table.wholeOrNothing(1, column.from);
    column.merged = !counted;
    column.counted = counted.value_or(0);
    if (column.merged && column.to - column.from < 2)
        table.refuse("a whole number from 1 to " + std::to_string(column.from) +
                     ", or nothing for several steps");
    GradientShares& shares = column.shares;
    const auto rounding = static_cast<float>(kRounding);
    shares.zeros = table.share(rounding);
    for (float& share : shares.buckets)
        share = table.share(rounding);
    shares.notFinite = table.share(rounding);
    const double total = shares.total();
    if (total != 0 && std::abs(total - 1) > kRounding)
        throw InputError(table.place() + ": shares that add up to " +
                         numberText(static_cast<float>(total)) + " are not allowed: 1 or 0");
    return column;
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

std::optional<std::vector<GradientHistory>>
readGradients(const std::string& path, std::span<const std::string> names, int64_t steps,
              const std::function<bool(double)>& goesOn) {
    SavedTable table(path, gradientHeader());
    std::vector<GradientHistory> lanes(names.size(), GradientHistory::ofSavedRun());
    std::vector<int64_t> next(names.size(), 1);
    for (int64_t row = 1; table.next(); ++row) {
        const auto lane = static_cast<size_t>(table.lane(names, false));
        // a run may end between a count and the end of its step
        const GradientColumn column = readColumn(table, next[lane], steps + 1);
        next[lane] = column.to;
        lanes[lane].addSaved(column);
        if (goesOn && row % kRowsBetween == 0 && !goesOn(table.shareRead())) return std::nullopt;
    }
    return lanes;
}

} // namespace halfscope
