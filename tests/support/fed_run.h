// Views and models of a run that grows row by row, for tests that feed them by hand.
#pragma once

#include "engine/runs/run.h"
#include "engine/runs/step_record.h"
#include "ui/models/event_model.h"
#include "ui/models/run_model.h"

#include <QStringList>

#include <memory>
#include <span>
#include <vector>

namespace halfscope {

/// A run with the given names of lanes, whatever their settings are. Its settings have one lane
/// more than the run, so that the run's lanes are named by themselves.
class FedRun {
public:
    FedRun() { start({}, {}); }

    /// `scales` tells whether each lane has a dynamic loss scale; all of them have one when it is
    /// empty.
    void start(const QStringList& names, const std::vector<bool>& scales, RunConfig config = {}) {
        std::vector<LaneInfo> lanes;
        config.lanes.clear();
        for (qsizetype i = 0; i <= names.size(); ++i) {
            const auto lane = static_cast<size_t>(i);
            config.lanes.emplace_back();
            setScales(config.lanes.back(), lane >= scales.size() || scales[lane]);
            if (i == names.size()) break;
            lanes.emplace_back();
            lanes.back().name = lanes.back().title = names[i].toStdString();
        }
        RunInfo info;
        info.config = info.recorded = std::move(config);
        run = std::make_shared<Run>(std::move(info), std::move(lanes));
    }
    /// Appends rows and events; rows of lanes that do not exist are dropped.
    void append(std::span<const StepRecord> records, std::span<const Event> events) {
        RunBatch batch;
        const auto there = [this](int lane) { return lane < run->now().laneCount(); };
        for (const StepRecord& record : records)
            if (record.lane >= 0 && there(record.lane)) batch.rows.push_back(rowOf(record));
        for (const Event& event : events)
            if (there(event.lane)) batch.events.push_back(event);
        run->append(std::move(batch));
    }
    void appendGradients(const std::vector<GradientRange>& ranges) {
        RunBatch batch;
        batch.gradients.push_back(ranges);
        run->append(std::move(batch));
    }
    template <class Edit>
    void edit(Edit edit) {
        RunBatch batch;
        batch.info = run->info();
        edit(batch.info->config);
        run->append(std::move(batch));
    }
    static void setScales(LaneConfig& lane, bool scales) {
        lane.precision = scales ? Precision::AmpFp16 : Precision::Fp32;
    }

    std::shared_ptr<Run> run;
};

class FedModel : public RunModel {
public:
    void start(const std::vector<std::string>& names) {
        QStringList all;
        for (const std::string& name : names)
            all << QString::fromStdString(name);
        m_fed.start(all, std::vector<bool>(names.size(), false));
        setRun(m_fed.run);
    }
    template <class Edit>
    void edit(Edit edit) {
        m_fed.edit(edit);
        refresh();
    }
    void setGrowthInterval(int lane, int64_t steps) {
        edit([&](RunConfig& config) {
            LaneConfig& each = config.lanes[static_cast<size_t>(lane)];
            FedRun::setScales(each, steps > 0);
            each.scaler.rules.growthInterval = steps;
        });
    }
    void append(std::span<const StepRecord> records, std::span<const Event> events) {
        m_fed.append(records, events);
        refresh();
    }

private:
    FedRun m_fed;
};

class FedEvents : public EventModel {
public:
    FedEvents() { clear(); }
    void clear() {
        m_fed.start(QStringList(6, QStringLiteral("fp32")), {});
        setRun(m_fed.run);
    }
    void append(std::span<const Event> events) {
        m_fed.append({}, events);
        refresh();
    }
    int64_t total() const { return rowCount(); }

private:
    FedRun m_fed;
};

} // namespace halfscope
