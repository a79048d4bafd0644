// The tables of a run, field by field, with the bounds of what a run can write.
#include "engine/runs/saved_run.h"

#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/runs/run_files.h"
#include "engine/runs/run_summary.h"
#include "engine/runs/saved_table.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

namespace halfscope {
namespace {

constexpr const char* kSteps = "steps.csv";
constexpr const char* kEvents = "events.csv";
constexpr const char* kTimings = "timing.csv";
constexpr const char* kSummary = "summary.json";
constexpr int64_t kMostSteps = 1'000'000'000; // run.steps ends there

/// What the rows of a lane have to go on from.
struct LaneEnd {
    int64_t step = 0, skipped = 0;
};

StepRecord readStep(SavedTable& table, std::span<const std::string> lanes,
                    std::vector<LaneEnd>& ends) {
    StepRecord record;
    record.step = table.whole(1, kMostSteps);
    record.lane = table.lane(lanes, false);
    LaneEnd& end = ends[static_cast<size_t>(record.lane)];
    if (record.step != end.step + 1)
        throw InputError(table.place() + ", step: \"" + std::to_string(record.step) +
                         "\" is not allowed: the next step of " +
                         lanes[static_cast<size_t>(record.lane)] + " is " +
                         std::to_string(end.step + 1));
    record.loss = table.number<float>();
    record.scale = table.numberFromZero<float>();
    record.growthTracker =
        static_cast<int32_t>(table.whole(0, std::numeric_limits<int32_t>::max()));
    record.learningRate = table.number<float>();
    record.gradientNorm = table.number<float>();
    for (const StepFlag flag : {kSkipped, kGrew, kBackedOff, kLossNotFinite})
        if (table.whole(0, 1) == 1) record.flags |= flag;
    const int64_t skipped = end.skipped + ((record.flags & kSkipped) != 0 ? 1 : 0);
    record.skippedSoFar = table.whole(skipped, skipped);
    end = {record.step, skipped};
    return record;
}

EventKind readKind(SavedTable& table) {
    const std::string_view field = table.text();
    std::string allowed;
    for (const EventKind kind : {EventKind::Overflow, EventKind::Growth, EventKind::Backoff,
                                 EventKind::LossNotFinite, EventKind::Edit}) {
        if (field == nameOf(kind)) return kind;
        allowed += (allowed.empty() ? "" : ", ") + std::string(nameOf(kind));
    }
    table.refuse("one of " + allowed);
}

Event readEvent(SavedTable& table, std::span<const std::string> lanes, int64_t lastStep) {
    Event event;
    event.step = table.whole(0, lastStep + 2); // an edit is of the next step, or the one after it
    event.lane = table.lane(lanes, true);
    event.kind = readKind(table);
    event.scaleBefore = table.number<float>();
    event.scaleAfter = table.number<float>();
    event.tensor = table.text();
    event.text = table.text();
    return event;
}

void readTime(SavedTable& table, std::span<const std::string> lanes, StepRecord& record) {
    table.whole(record.step, record.step);
    if (table.lane(lanes, false) != record.lane)
        table.refuse(lanes[static_cast<size_t>(record.lane)] + ", as in this row of steps.csv");
    record.deviceSeconds = table.numberFromZero<double>();
    record.wallSeconds = table.numberFromZero<double>();
}

/// Reads one file after the other and tells how far it is by their bytes.
class Reading {
public:
    Reading(const std::string& folder, std::span<const std::string> lanes,
            const std::function<bool(double)>& goesOn)
        : m_folder(folder), m_lanes(lanes), m_goesOn(goesOn) {
        for (const char* name : {kSteps, kTimings, kEvents})
            m_all += bytesOf(name);
    }

    std::optional<SavedRun> read() {
        if (!readSteps()) return std::nullopt;
        const bool done =
            (!isThere(kTimings) || readTimes()) && (!isThere(kEvents) || readEvents());
        if (!done) return std::nullopt;
        readSummary();
        return std::move(m_run);
    }

private:
    std::string pathTo(const char* name) const {
        return (std::filesystem::path(m_folder) / name).string();
    }
    double bytesOf(const char* name) const {
        std::error_code ignored;
        const auto bytes = std::filesystem::file_size(pathTo(name), ignored);
        return ignored ? 0.0 : static_cast<double>(bytes);
    }
    bool exists(const char* name) const {
        std::error_code ignored;
        return std::filesystem::exists(pathTo(name), ignored);
    }
    bool isThere(const char* name) {
        if (exists(name)) return true;
        m_run.missing.push_back(name);
        return false;
    }

    /// After each row.
    bool goesOn(const SavedTable& table, const char* name) {
        if (!m_goesOn || ++m_sinceTold < SavedRun::kPieceRows) return true;
        m_sinceTold = 0;
        const double bytes = m_before + table.shareRead() * bytesOf(name);
        return m_goesOn(m_all > 0 ? std::min(1.0, bytes / m_all) : 1.0);
    }

    bool readSteps() {
        SavedTable table(pathTo(kSteps), kStepHeader);
        std::vector<LaneEnd> ends(m_lanes.size());
        while (table.next()) {
            const StepRecord record = readStep(table, m_lanes, ends);
            if (m_run.pieces.empty() || m_run.pieces.back().size() == SavedRun::kPieceRows)
                m_run.pieces.emplace_back().reserve(SavedRun::kPieceRows);
            m_run.pieces.back().push_back(record);
            ++m_run.rows;
            if (!goesOn(table, kSteps)) return false;
        }
        m_run.steps = kMostSteps;
        for (const LaneEnd& end : ends) {
            m_run.steps = std::min(m_run.steps, end.step);
            m_last = std::max(m_last, end.step);
        }
        m_before += bytesOf(kSteps);
        return true;
    }

    bool readTimes() {
        SavedTable table(pathTo(kTimings), kTimingHeader);
        const auto fail = [&](int64_t rows) {
            throw InputError(pathTo(kTimings) + ": " + std::to_string(rows) +
                             " rows are not allowed: as many as in steps.csv, " +
                             std::to_string(m_run.rows));
        };
        int64_t rows = 0;
        for (auto& piece : m_run.pieces)
            for (StepRecord& record : piece) {
                if (!table.next()) fail(rows);
                readTime(table, m_lanes, record);
                ++rows;
                if (!goesOn(table, kTimings)) return false;
            }
        if (table.next()) fail(rows + 1);
        m_before += bytesOf(kTimings);
        return true;
    }

    bool readEvents() {
        SavedTable table(pathTo(kEvents), kEventHeader);
        while (table.next()) {
            m_run.events.push_back(readEvent(table, m_lanes, m_last));
            if (!goesOn(table, kEvents)) return false;
        }
        return true;
    }

    void readSummary() {
        if (!exists(kSummary)) return; // the window writes none
        m_run.summary = readFile(pathTo(kSummary));
        m_run.trainedOn = trainedOnOf(m_run.summary, pathTo(kSummary), m_lanes, m_run.steps);
    }

    const std::string& m_folder;
    std::span<const std::string> m_lanes;
    const std::function<bool(double)>& m_goesOn;
    double m_all = 0, m_before = 0; ///< bytes: of all files, and of those that are done
    size_t m_sinceTold = 0;         ///< rows
    int64_t m_last = 0;             ///< the last step of any lane
    SavedRun m_run;
};

} // namespace

bool SavedRun::lacks(std::string_view file) const {
    return std::find(missing.begin(), missing.end(), file) != missing.end();
}

std::optional<SavedRun> readSavedRun(const std::string& folder, std::span<const std::string> lanes,
                                     const std::function<bool(double)>& goesOn) {
    return Reading(folder, lanes, goesOn).read();
}

} // namespace halfscope
