// Keeps what was predicted: another evaluation of a lane, for its predictions, judges anew.
#include "engine/train/lane_judge.h"

#include "engine/core/error.h"
#include "engine/data/gallery.h"
#include "engine/data/held_fault.h"
#include "engine/train/evaluator.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace halfscope {

bool LaneJudge::validate(Lanes lanes, int64_t step, std::span<StepRecord> rows,
                         const std::atomic<bool>& stop) {
    if (m_step == step || !m_problem.empty()) return true; // the test was interrupted
    size_t judged = 0;
    try {
        for (size_t i = 0; i < lanes.size(); ++i) {
            judged = i;
            if (!rows[i].validation) rows[i].validation = lanes[i]->evaluate(stop);
            if (!rows[i].validation) return false;
        }
    } catch (const InputError& error) {
        m_problem = {phrase("Training", "%1. Step %2 is trained but has no validation, and gets "
                                        "none when the run goes on"),
                     error.message(), step};
        for (StepRecord& row : rows)
            row.validation.reset();
        return true;
    } catch (const NoSampleLeft& error) {
        clear();
        m_noValidation = error.message();
        m_leftOut = lanes[judged]->skippedSamples();
        for (StepRecord& row : rows)
            row.validation.reset();
        return true;
    }
    keep(lanes, step);
    return true;
}

void LaneJudge::explain(const TaskConfig& task, const Dataset& data,
                        std::span<const StepRecord> rows, const std::atomic<bool>& stop) {
    const auto isLost = [](const StepRecord& row) {
        return row.validation && !std::isfinite(row.validation->loss);
    };
    if (!m_explained && std::ranges::any_of(rows, isLost))
        m_explained = findHeldFault(task, data, stop);
}

bool LaneJudge::test(Lanes lanes, std::span<StepRecord> rows, const std::atomic<bool>& stop) {
    for (size_t i = 0; i < lanes.size() && m_testProblem.empty(); ++i) {
        if (rows[i].test) continue;
        try {
            rows[i].test = lanes[i]->evaluate(stop, nullptr, JudgedOn::Test);
        } catch (const EngineError&) { // of the device
            throw;
        } catch (const ReportedError& error) {
            m_testProblem = error.message();
            if (dynamic_cast<const NoSampleLeft*>(&error))
                m_leftOutOfTest = lanes[i]->skippedSamples();
            for (StepRecord& row : rows)
                row.test.reset();
            return true;
        }
        if (!rows[i].test) return false;
        if (i == 0) m_leftOutOfTest = lanes[i]->skippedSamples();
    }
    return true;
}

void LaneJudge::follow(Lanes lanes, const ScheduleConfig& schedule,
                       std::span<const StepRecord> rows, std::vector<Event>& events) {
    for (size_t i = 0; i < lanes.size(); ++i) {
        if (!rows[i].validation) continue;
        const auto fall = lanes[i]->followValidation(rows[i].validation->loss);
        if (!fall) continue;
        Event event;
        event.kind = EventKind::RateFall;
        event.step = rows[i].step;
        event.lane = static_cast<int32_t>(i);
        event.scaleBefore = event.scaleAfter = static_cast<float>(lanes[i]->scaler().scale);
        const int64_t without = schedule.patience + 1;
        // as the device has them
        const auto from = static_cast<float>(fall->first), to = static_cast<float>(fall->second);
        event.text = {kRateFell, event.step, without, from, to};
        if (without == 1) event.text = {kRateFellAtOnce, event.step, from, to};
        events.push_back(std::move(event));
    }
}

void LaneJudge::look(Lanes lanes, int64_t step, const TaskConfig& task, const Dataset& data,
                     const std::atomic<bool>& stop) {
    std::vector<StepRecord> rows(lanes.size());
    if (validate(lanes, step, rows, stop)) explain(task, data, rows, stop);
    m_problem = {}; // the next validation may go well
}

void LaneJudge::addLane(size_t parent) {
    if (!m_judged.empty()) m_judged.push_back(m_judged[parent]);
    m_mistakes.reset();
}

void LaneJudge::keep(Lanes lanes, int64_t step) {
    m_step = step;
    m_mistakes.reset();
    m_judged.clear();
    for (const auto& lane : lanes)
        m_judged.push_back(lane->judged());
    clear();
    m_leftOut = lanes.front()->skippedSamples();
}

/// Forgets what the last validation, and the test after it, left out.
void LaneJudge::clear() {
    m_leftOut.clear();
    m_leftOutOfTest.clear();
    m_noValidation = m_testProblem = {};
}

/// Returns those of the last validation; none where its samples are not shown as pictures.
std::vector<Picture> LaneJudge::pictures(const TaskView& view) const {
    std::vector<Picture> all;
    for (const JudgedSamples& judged : m_judged)
        if (auto picture = pictureOf(view, judged)) all.push_back(std::move(*picture));
    if (all.size() < m_judged.size()) all.clear();
    return all;
}

std::optional<std::vector<Picture>> LaneJudge::mistakes(const TaskView& view, const Dataset& data,
                                                        const std::atomic<bool>& stop) {
    if (!m_mistakes) m_mistakes = mistakeSheets(data, m_judged, view.classes, stop);
    return m_mistakes;
}

void LaneJudge::show(const TaskView& view, LanePictures& shown) const {
    std::vector<Picture> all = pictures(view);
    if (all.empty()) return;
    shown.outputs = std::move(all);
    shown.validated = m_step;
    if (view.kind != ViewKind::Scatter) return; // the target of classes suits all samples
    JudgedSamples ideal = m_judged.front();
    ideal.predictions = ideal.targets;
    if (auto target = pictureOf(view, ideal)) {
        shown.target = std::move(*target);
        shown.target.caption = view.truth;
    }
}

} // namespace halfscope
