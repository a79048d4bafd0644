// The tables of a run as text, for tests that write and damage them.
#pragma once

#include "engine/core/text.h"
#include "engine/io/atomic_file.h"
#include "engine/runs/run_reader.h"
#include "engine/settings/fields.h"

#include <QString>
#include <QTemporaryDir>

#include <memory>
#include <string>
#include <vector>

namespace halfscope {

namespace table {
inline constexpr const char* kSteps = "step,lane,loss,scale,growth_tracker,learning_rate,"
                                      "gradient_norm,skipped,grew,backed_off,loss_not_finite,"
                                      "skipped_so_far\n";
inline constexpr const char* kEvents = "step,lane,kind,scale_before,scale_after,tensor,text\n";
inline constexpr const char* kTiming = "step,lane,device_seconds,wall_seconds\n";
inline constexpr const char* kRow = "1,fp32,0.5,1,0,0.01,1,0,0,0,0,0\n";
/// Returns a line of steps.csv.
inline std::string stepLine(const StepRow& row, const std::vector<std::string>& lanes) {
    std::string line = numberText(row.step) + ',' + lanes[static_cast<size_t>(row.lane)];
    for (MetricId id = 0; const Metric& each : knownMetrics()) {
        if (each.file == MetricFile::Steps && each.always)
            line += ',' + metricText(each.kind, row[id]);
        ++id;
    }
    return line + '\n';
}

/// Returns the rows and the event of a step of two lanes.
inline RunBatch batchOf(int64_t step) {
    RunBatch batch;
    for (int lane = 0; lane < 2; ++lane)
        batch.rows.push_back(StepRow(step, lane)
                                 .set(metric::Loss, 0.5f)
                                 .set(metric::Scale, 1.0f)
                                 .set(metric::GrowthTracker, int64_t{0})
                                 .set(metric::LearningRate, 0.1f)
                                 .set(metric::GradientNorm, 1.0f)
                                 .setFlags(0)
                                 .set(metric::SkippedSoFar, 0.0)
                                 .set(metric::DeviceSeconds, 0.1)
                                 .set(metric::WallSeconds, 0.1));
    batch.events.push_back({EventKind::Growth, step, 0, 1, 2, {}, Message::data("It grew.")});
    return batch;
}

inline RunInfo runInfo() {
    RunInfo info;
    info.config = info.recorded = defaultConfig();
    info.device = DeviceInfo{};
    return info;
}

} // namespace table

/// A folder with files of a run whose settings are the defaults.
class RunFolder {
public:
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    std::string file(const char* name) const { return path(name).toStdString(); }
    QString folder() const { return m_folder.path(); }
    void put(const char* name, const std::string& text) const {
        writeFileAtomically(file(name), text);
    }
    std::shared_ptr<Run> read() const { return readRun(folder().toStdString(), defaultConfig()); }

private:
    QTemporaryDir m_folder;
};

} // namespace halfscope
