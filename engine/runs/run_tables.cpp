// Rows and lines of the tables; numbers read back as the same value.
#include "engine/runs/run_tables.h"

#include "engine/core/text.h"

#include <algorithm>

namespace halfscope {
namespace {

std::string laneField(int32_t lane, std::span<const std::string> lanes) {
    return lane < 0 ? "all" : csvField(lanes[static_cast<size_t>(lane)]);
}

/// Returns a line with its line end.
std::string eventText(const Event& event, std::span<const std::string> lanes) {
    return numberText(event.step) + ',' + laneField(event.lane, lanes) + ',' +
           std::string(kindNameOf(event)) + ',' + numberText(event.scaleBefore) + ',' +
           numberText(event.scaleAfter) + ',' + csvField(event.tensor) + ',' +
           csvField(event.text.english()) + '\n';
}

} // namespace

std::string csvField(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string eventHeader() { return "step,lane,kind,scale_before,scale_after,tensor,text\n"; }

void appendEvents(GrowingFile& file, std::vector<const Event*> events,
                  std::span<const std::string> lanes) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Event* a, const Event* b) { return isToldBefore(*a, *b); });
    for (const Event* event : events)
        file.append(eventText(*event, lanes));
}

StepTable::StepTable(const OpenFolder& folder, const char* name, std::span<const std::string> lanes,
                     std::vector<Column> columns)
    : m_columns(std::move(columns)), m_values(m_columns.size()),
      m_file(std::make_unique<GrowingFile>(folder, name)) {
    for (const std::string& lane : lanes)
        addLane(lane);
    std::string header = "step,lane";
    for (const auto& [id, metric] : m_columns)
        header += ',' + csvField(metric.column);
    m_file->append(header + '\n');
    m_file->flush();
}

void StepTable::addLane(const std::string& name) { m_lanes.push_back(csvField(name)); }

void StepTable::append(int64_t step, int32_t lane, std::span<const std::optional<double>> values) {
    m_line = numberText(step) + ',' + m_lanes[static_cast<size_t>(lane)];
    for (size_t i = 0; i < m_columns.size(); ++i) {
        m_line += ',';
        if (values[i]) m_line += metricText(m_columns[i].second.kind, *values[i]);
    }
    m_line += '\n';
    m_file->append(m_line);
}

void StepTable::append(const StepRow& row) {
    for (size_t i = 0; i < m_columns.size(); ++i) {
        const MetricId id = m_columns[i].first;
        m_values[i] = row.measured(id) ? std::optional(row[id]) : std::nullopt;
    }
    append(row.step, row.lane, m_values);
}

} // namespace halfscope
