// The tables of a run as text: rows of steps.csv and timing.csv, lines of events.csv.
#pragma once

#include "engine/io/growing_file.h"
#include "engine/runs/events.h"
#include "engine/runs/metrics.h"
#include "engine/runs/step_row.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace halfscope {

/// steps.csv or timing.csv while it grows.
class StepTable {
public:
    using Column = std::pair<MetricId, Metric>;
    /// Writes the header at once. The folder must outlive the table.
    StepTable(const OpenFolder&, const char* name, std::span<const std::string> lanes,
              std::vector<Column> columns);
    const std::vector<Column>& columns() const { return m_columns; }
    void addLane(const std::string& name);
    /// Appends a row with a value for each column.
    void append(int64_t step, int32_t lane, std::span<const std::optional<double>> values);
    void append(const StepRow&);
    GrowingFile& file() { return *m_file; }
    /// Gives the file away; no other call may follow.
    std::unique_ptr<GrowingFile> takeFile() { return std::move(m_file); }

private:
    std::vector<std::string> m_lanes; ///< as csv fields
    std::vector<Column> m_columns;
    std::vector<std::optional<double>> m_values;
    std::string m_line;
    std::unique_ptr<GrowingFile> m_file;
};

std::string eventHeader();
/// Appends the lines of events, in the order in which they are told; lane -1 is "all".
void appendEvents(GrowingFile&, std::vector<const Event*>, std::span<const std::string> lanes);
/// Quotes a field of a csv file as RFC 4180 says.
std::string csvField(const std::string& text);

} // namespace halfscope
