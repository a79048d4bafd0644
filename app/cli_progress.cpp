// Implements the progress line.
#include "app/cli_progress.h"

#include "app/cli_output.h"

#include "engine/settings/precision.h"

#include <algorithm>
#include <cmath>

namespace halfscope::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kRedraw = 100ms;
constexpr auto kLineAfter = 2s;
constexpr int64_t kLines = 20; // 5 % each
constexpr size_t kTrainingBar = 10;
constexpr int64_t kToldDamaged = 3; // each in a line of its own

} // namespace

Progress::Progress(const RunConfig& config, const EpochPlan& epochs, int64_t begun)
    : m_steps(config.steps), m_begun(begun), m_epochs(epochs), m_terminal(noteIsTerminal()) {
    setLanes(config);
}

void Progress::setLanes(const RunConfig& config) {
    m_lanes = laneNames(config);
    m_scales.clear();
    for (const LaneConfig& lane : config.lanes)
        m_scales.push_back(scalesLoss(lane));
}

bool Progress::isTime(int64_t step) const {
    if (step == m_steps || m_shownStep == 0) return true;
    const auto since = Clock::now() - m_shown;
    if (m_terminal) return since >= kRedraw;
    return since >= kLineAfter || (step - m_shownStep) * kLines >= m_steps;
}

std::string Progress::laneText(const StepRecord& record) const {
    // A terminal is narrow: there the order of the values replaces the words.
    std::string text = m_lanes[static_cast<size_t>(record.lane)];
    text += (m_terminal ? " " : " loss ") + shortNumber(static_cast<double>(record.loss));
    if (record.generatorLoss)
        text += (m_terminal ? " " : " generator ") +
                shortNumber(static_cast<double>(*record.generatorLoss));
    if (m_scales[static_cast<size_t>(record.lane)]) text += " scale " + scaleText(record.scale);
    if (record.skippedSoFar > 0) text += " skips " + std::to_string(record.skippedSoFar);
    return text;
}

std::string Progress::text(std::span<const StepRecord> records) const {
    const int64_t step = records.front().step;
    const double seconds = std::chrono::duration<double>(Clock::now() - m_start).count();
    const double rate = seconds > 0 ? static_cast<double>(step - m_begun) / seconds : 0;
    const double share = static_cast<double>(step) / static_cast<double>(m_steps);
    std::string text;
    if (m_terminal) text += barText(share, kTrainingBar) + " ";
    text += std::to_string(static_cast<int>(share * 100)) + (m_terminal ? " %  " : " %  step ") +
            std::to_string(step) + "/" + std::to_string(m_steps);
    if (m_epochs.hasBatches()) {
        text += "  epoch " + std::to_string(m_epochs.epochOf(step)) + "/" +
                std::to_string(m_epochs.epochOf(m_steps));
        if (!m_terminal)
            text += " batch " + std::to_string(m_epochs.batchOf(step) + 1) + "/" +
                    std::to_string(m_epochs.stepsPerEpoch());
    }
    text += "  " + rateText(rate) + " it/s";
    if (step < m_steps && rate > 0) {
        text += "  ETA " + timeText(static_cast<double>(m_steps - step) / rate);
    }
    for (const StepRecord& record : records) {
        text += (record.lane == 0 ? "  " : " | ") + laneText(record);
    }
    return text;
}

void Progress::tell(std::span<const Event> events) {
    for (const Event& event : events) {
        const bool damaged = event.kind == EventKind::Damaged && ++m_damaged <= kToldDamaged;
        const bool told = event.kind == EventKind::Underflow || event.kind == EventKind::RateFall;
        if (!damaged && !told) continue;
        endLine();
        const std::string who = damaged ? "Data" : m_lanes[static_cast<size_t>(event.lane)];
        printNote(who + ": " + event.text.english() + "\n");
    }
}

void Progress::show(std::span<const StepRecord> records, std::span<const Event> events) {
    tell(events);
    if (records.empty() || !isTime(records.front().step)) return;
    if (m_terminal)
        redrawNote(text(records));
    else
        printNote(text(records) + "\n");
    m_drawn = m_terminal;
    m_shown = Clock::now();
    m_shownStep = records.front().step;
}

void Progress::end() {
    endLine();
    if (m_damaged <= kToldDamaged) return;
    printNote("Data: " + std::to_string(m_damaged - kToldDamaged) +
              " more samples could not be read.\n");
}

void Progress::endLine() {
    if (m_drawn) printNote("\n");
    m_drawn = false;
}

} // namespace halfscope::cli
