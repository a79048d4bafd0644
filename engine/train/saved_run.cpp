// The tables of a run, field by field, with the bounds of what a run can write.
#include "engine/train/saved_run.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/csv.h"
#include "engine/train/run_files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

namespace halfscope {
namespace {

constexpr const char* kSteps = "steps.csv";
constexpr const char* kEvents = "events.csv";
constexpr const char* kTimings = "timing.csv";
constexpr const char* kAllLanes = "all";
constexpr int64_t kMostSteps = 1'000'000'000; // run.steps ends there

/// A table with the header that its writer gives it, and fields that are taken one after the other.
class Table {
public:
    Table(const std::string& path, std::string_view header) : m_reader(path) {
        header.remove_suffix(1); // its line end
        m_columns = partsOf(header, ',');
        const bool there = m_reader.next(m_fields);
        if (!there || m_reader.text() != header)
            throw InputError(m_reader.place() + ": " + quotedText(there ? m_reader.text() : "") +
                             " is not allowed: the columns of this version are " +
                             std::string(header));
    }

    /// The next row; false at the end.
    bool next() {
        if (!m_reader.next(m_fields)) return false;
        if (m_fields.size() != m_columns.size())
            throw InputError(m_reader.place() + ": " + quotedText(m_reader.text()) + " has " +
                             std::to_string(m_fields.size()) +
                             " fields: " + std::to_string(m_columns.size()) + " are wanted");
        if (++m_rows > SavedRun::kMostRows)
            throw InputError(m_reader.place() + ": at most " + std::to_string(SavedRun::kMostRows) +
                             " rows are read");
        m_column = 0;
        return true;
    }

    std::string_view text() { return m_fields[m_column++]; }

    int64_t whole(int64_t least, int64_t most) {
        const std::string_view field = text();
        int64_t value = 0;
        if (!parsed(field, value) || value < least || value > most)
            refuse(least == most ? std::to_string(least)
                                 : "a whole number from " + std::to_string(least) + " to " +
                                       std::to_string(most));
        return value;
    }

    template <class Number>
    Number number() {
        Number value = 0;
        if (!parsed(text(), value)) refuse("a number, nan, inf or -inf");
        return value;
    }

    /// A scale or a time: neither negative nor nan.
    template <class Number>
    Number numberFromZero() {
        Number value = 0;
        if (!parsed(text(), value) || !(value >= 0)) refuse("a number from 0 or inf");
        return value;
    }

    /// The index of a name; -1 for "all" where that may be.
    int32_t lane(std::span<const std::string> names, bool mayBeAll) {
        const std::string_view field = text();
        if (mayBeAll && field == kAllLanes) return -1;
        const auto found = std::find(names.begin(), names.end(), field);
        if (found != names.end()) return static_cast<int32_t>(found - names.begin());
        std::string allowed = "of the lanes of experiment.json";
        for (const std::string& name : names)
            allowed += (&name == names.data() ? ", " : " or ") + name;
        refuse("one " + allowed + (mayBeAll ? " or all" : ""));
    }

    /// Throws about the field that was taken last.
    [[noreturn]] void refuse(const std::string& allowed) const {
        const size_t column = m_column - 1;
        throw InputError(m_reader.place() + ", " + std::string(m_columns[column]) + ": " +
                         quotedText(m_fields[column]) + " is not allowed: " + allowed);
    }

    const CsvReader& reader() const { return m_reader; }

private:
    template <class Number>
    static bool parsed(std::string_view field, Number& value) {
        const char* const last = field.data() + field.size();
        const auto [end, error] = std::from_chars(field.data(), last, value);
        return error == std::errc() && end == last;
    }

    CsvReader m_reader;
    std::vector<std::string_view> m_columns, m_fields;
    size_t m_column = 0; ///< the next one
    int64_t m_rows = 0;
};

/// What the rows of a lane have to go on from.
struct LaneEnd {
    int64_t step = 0, skipped = 0;
};

StepRecord readStep(Table& table, std::span<const std::string> lanes, std::vector<LaneEnd>& ends) {
    StepRecord record;
    record.step = table.whole(1, kMostSteps);
    record.lane = table.lane(lanes, false);
    LaneEnd& end = ends[static_cast<size_t>(record.lane)];
    if (record.step != end.step + 1)
        throw InputError(table.reader().place() + ", step: \"" + std::to_string(record.step) +
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

EventKind readKind(Table& table) {
    const std::string_view field = table.text();
    std::string allowed;
    for (const EventKind kind : {EventKind::Overflow, EventKind::Growth, EventKind::Backoff,
                                 EventKind::LossNotFinite, EventKind::Edit}) {
        if (field == nameOf(kind)) return kind;
        allowed += (allowed.empty() ? "" : ", ") + std::string(nameOf(kind));
    }
    table.refuse("one of " + allowed);
}

Event readEvent(Table& table, std::span<const std::string> lanes, int64_t lastStep) {
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

void readTime(Table& table, std::span<const std::string> lanes, StepRecord& record) {
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
    bool isThere(const char* name) {
        std::error_code ignored;
        if (std::filesystem::exists(pathTo(name), ignored)) return true;
        m_run.missing.push_back(name);
        return false;
    }

    /// After each row.
    bool goesOn(const Table& table, const char* name) {
        if (!m_goesOn || ++m_sinceTold < SavedRun::kPieceRows) return true;
        m_sinceTold = 0;
        const double bytes = m_before + table.reader().share() * bytesOf(name);
        return m_goesOn(m_all > 0 ? std::min(1.0, bytes / m_all) : 1.0);
    }

    bool readSteps() {
        Table table(pathTo(kSteps), kStepHeader);
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
        Table table(pathTo(kTimings), kTimingHeader);
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
        Table table(pathTo(kEvents), kEventHeader);
        while (table.next()) {
            m_run.events.push_back(readEvent(table, m_lanes, m_last));
            if (!goesOn(table, kEvents)) return false;
        }
        return true;
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

bool holdsSavedRun(const std::string& folder) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::path(folder) / kSteps, ignored);
}

std::optional<SavedRun> readSavedRun(const std::string& folder, std::span<const std::string> lanes,
                                     const std::function<bool(double)>& goesOn) {
    return Reading(folder, lanes, goesOn).read();
}

} // namespace halfscope
