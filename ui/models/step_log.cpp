// Rows are packed as they come and unpacked into the engine's lines when they are written.
#include "ui/models/step_log.h"

#include "engine/runs/run_files.h"

#include <algorithm>
#include <utility>

namespace halfscope {

void StepLog::start(std::vector<std::string> laneNames) {
    m_lanes = std::move(laneNames);
    m_rows.clear();
}

void StepLog::append(std::span<const StepRecord> records) {
    for (const StepRecord& record : records) {
        if (record.lane < 0 || static_cast<size_t>(record.lane) >= m_lanes.size()) continue;
        m_rows.push_back({record.deviceSeconds, record.wallSeconds, record.loss, record.scale,
                          record.learningRate, record.gradientNorm,
                          static_cast<uint32_t>(record.step),
                          static_cast<uint32_t>(record.skippedSoFar), record.growthTracker,
                          static_cast<uint16_t>(record.flags), static_cast<int16_t>(record.lane)});
    }
}

StepRecord StepLog::unpacked(const Row& row) {
    StepRecord record;
    record.step = row.step;
    record.lane = row.lane;
    record.flags = row.flags;
    record.loss = row.loss;
    record.scale = row.scale;
    record.growthTracker = row.growthTracker;
    record.learningRate = row.learningRate;
    record.gradientNorm = row.gradientNorm;
    record.deviceSeconds = row.deviceSeconds;
    record.wallSeconds = row.wallSeconds;
    record.skippedSoFar = row.skippedSoFar;
    return record;
}

std::vector<StepRecord> StepLog::rows(size_t from, size_t count) const {
    const size_t end = std::min(m_rows.size(), from + count);
    std::vector<StepRecord> records;
    records.reserve(end - from);
    for (size_t i = from; i < end; ++i)
        records.push_back(unpacked(m_rows[i]));
    return records;
}

void StepLog::write(const std::string& path) const {
    GrowingFile file(path);
    file.append(kStepHeader);
    for (const Row& row : m_rows)
        file.append(stepLine(unpacked(row), m_lanes));
    file.finish();
}

void StepLog::writeTimes(const std::string& path) const {
    GrowingFile file(path);
    file.append(kTimingHeader);
    for (const Row& row : m_rows)
        file.append(timingLine(unpacked(row), m_lanes));
    file.finish();
}

} // namespace halfscope
