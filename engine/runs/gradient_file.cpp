// Writes and reads the lines of gradients.csv.
#include "engine/runs/gradient_file.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/runs/run_tables.h"
#include "engine/runs/table_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace halfscope {

namespace {

using Counts = MagnitudeCounts;

std::string lineOf(const GradientColumn& column, const std::string& lane) {
    std::string line = lane + ',' + numberText(column.from) + ',' + numberText(column.to - 1) +
                       ',' + (column.merged ? std::string() : numberText(column.counted));
    line += ',' + numberText(column.shares.zeros);
    for (const float share : column.shares.buckets)
        line += ',' + numberText(share);
    return line + ',' + numberText(column.shares.notFinite) + '\n';
}

std::string bucketName(int bucket) { return "2^" + std::to_string(Counts::kLowest + bucket); }

constexpr double kRounding = 1e-3; // the error of a sum of shares, each a mean of many
constexpr int kRowsBetween = 256;  // rows between two calls of goesOn

/// The places of the columns that make a row.
struct Places {
    explicit Places(const TableReader& table) {
        lane = table.wanted("lane");
        first = table.wanted("first_step");
        last = table.wanted("last_step");
        counted = table.wanted("counted_step");
        zero = table.wanted("zero");
        for (int i = 0; i < Counts::kBuckets; ++i)
            buckets.push_back(table.wanted(bucketName(i)));
        notFinite = table.wanted("not_finite");
    }
    int lane, first, last, counted, zero, notFinite;
    std::vector<int> buckets;
};

/// Reads a row whose steps must be within first..last.
GradientColumn readColumn(const TableReader& table, const Places& at, int64_t first, int64_t last) {
    GradientColumn column;
    column.from = table.whole(at.first, first, last);
    column.to = table.whole(at.last, column.from, last) + 1;
    column.merged = table.text(at.counted).empty();
    if (!column.merged) column.counted = table.whole(at.counted, 1, column.from);
    if (column.merged && column.to - column.from < 2)
        table.refuse(at.counted,
                     {phrase("Files", "a whole number from 1 to %1, or empty for several steps"),
                      column.from});
    GradientShares& shares = column.shares;
    const auto rounding = static_cast<float>(kRounding);
    shares.zeros = table.share(at.zero, rounding);
    for (size_t i = 0; i < shares.buckets.size(); ++i)
        shares.buckets[i] = table.share(at.buckets[i], rounding);
    shares.notFinite = table.share(at.notFinite, rounding);
    const double total = shares.total();
    if (total != 0 && std::abs(total - 1) > kRounding)
        throw InputError(phrase("Files", "%1: shares add up to %2; allowed is 1, or 0"),
                         table.place(), numberText(static_cast<float>(total)));
    return column;
}

/// Whether the row is of a step whose row in steps.csv never reached the disk.
bool isBehind(const TableReader& table, const Places& at, int64_t steps) {
    const std::string_view text = table.text(at.first);
    int64_t first = 0;
    std::from_chars(text.data(), text.data() + text.size(), first);
    return first > steps + 1;
}

} // namespace

std::string gradientHeader() {
    std::string line = "lane,first_step,last_step,counted_step,zero";
    for (int i = 0; i < MagnitudeCounts::kBuckets; ++i)
        line += ',' + bucketName(i);
    return line + ",not_finite\n";
}

std::string gradientLine(const GradientRange& range, const std::string& lane) {
    const auto total = static_cast<double>(std::max<int64_t>(1, range.total()));
    const auto share = [total](int64_t count) {
        return ',' + numberText(static_cast<float>(static_cast<double>(count) / total));
    };
    const std::string step = ',' + numberText(range.step);
    std::string line = csvField(lane) + step + step + step + share(range.zeros());
    for (size_t i = 0; i < range.outputs.buckets.size(); ++i)
        line += share(range.outputs.buckets[i] + range.weights.buckets[i]);
    return line + share(range.notFinite()) + '\n';
}

std::string gradientText(std::span<const GradientHistory* const> lanes,
                         std::span<const std::string> names) {
    if (std::all_of(lanes.begin(), lanes.end(), [](const auto* lane) { return lane->empty(); }))
        return {};
    std::string text = gradientHeader();
    for (size_t i = 0; i < std::min(lanes.size(), names.size()); ++i)
        for (const GradientColumn& column : lanes[i]->columns())
            text += lineOf(column, csvField(names[i]));
    return text;
}

std::string gradientText(std::span<const GradientHistory> lanes,
                         std::span<const std::string> names) {
    std::vector<const GradientHistory*> all;
    for (const GradientHistory& each : lanes)
        all.push_back(&each);
    return gradientText(all, names);
}

std::optional<std::vector<GradientHistory>>
readGradients(const std::string& path, std::span<const std::string> names, int64_t steps,
              const std::function<bool(double)>& goesOn, Message* damage, bool* cutOff) {
    TableReader table(path);
    std::vector<GradientHistory> lanes(names.size(), GradientHistory::ofSavedRun());
    if (table.columns().empty()) return lanes; // its first line never reached the disk
    const Places at(table);
    std::vector<int64_t> next(names.size(), 1);
    try {
        for (int64_t row = 1; table.next(); ++row) {
            const auto lane = static_cast<size_t>(table.lane(at.lane, names, false));
            if (isBehind(table, at, steps)) continue;
            // a run may end between a count and the end of its step
            const GradientColumn column = readColumn(table, at, next[lane], steps + 1);
            next[lane] = column.to;
            lanes[lane].addSaved(column);
            if (goesOn && row % kRowsBetween == 0 && !goesOn(table.shareRead()))
                return std::nullopt;
        }
    } catch (const InputError& error) {
        if (!damage) throw;
        *damage = error.message();
    }
    if (cutOff) *cutOff = table.cutOff();
    return lanes;
}

} // namespace halfscope
