// Implements event files that a run can do without.
#include "app/cli_board.h"

#include "app/cli_output.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <chrono>
#include <new>
#include <utility>

namespace halfscope::cli {

BoardFiles::BoardFiles(std::string folder, std::span<const LaneInfo> lanes, int64_t after,
                       std::function<void()> beforeNote)
    : m_folder(std::move(folder)), m_beforeNote(std::move(beforeNote)) {
    m_writer.emplace(m_folder, lanes, after);
}

void BoardFiles::append(const RunBatch& batch) {
    attempt([&batch](TensorBoardWriter& writer) { writer.append(batch); });
}

void BoardFiles::countGradients(int64_t step, int64_t every, double stepSeconds,
                                const std::function<std::vector<GradientRange>()>& count) {
    const auto now = [] {
        const auto time = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration<double>(time).count();
    };
    const double start = now();
    if (!m_writer || !m_counts || !m_pace.dueForGlance(start, stepSeconds, step, every)) return;
    std::vector<GradientRange> ranges;
    try {
        ranges = count();
    } catch (const EngineError& error) {
        stopCounting(error.message());
    } catch (const std::bad_alloc&) {
        stopCounting(Message::data("there is too little memory for them"));
    }
    if (ranges.empty()) return;
    m_pace.counted(ranges.front().step, start, now());
    RunBatch batch;
    batch.gradients.push_back(std::move(ranges));
    append(batch);
}

void BoardFiles::sync() {
    attempt([](TensorBoardWriter& writer) { writer.sync(); });
}

void BoardFiles::finish() {
    attempt([](TensorBoardWriter& writer) { writer.finish(); });
}

void BoardFiles::stopCounting(const Message& why) {
    m_counts = false;
    m_beforeNote();
    printNote("halfscope-cli: TensorBoard gets no more counts of gradients: " + why.english() +
              "\n");
}

void BoardFiles::attempt(const std::function<void(TensorBoardWriter&)>& write) {
    if (!m_writer) return;
    try {
        write(*m_writer);
    } catch (const ReportedError& error) {
        m_problem = error.message();
        m_writer.reset();
        m_beforeNote();
        printNote("halfscope-cli: " + m_problem.english() +
                  "; the run goes on without TensorBoard\n");
    }
}

std::string boardNote(const BoardFiles& files, std::span<const LaneInfo> lanes) {
    const std::string& folder = files.folder();
    std::string note, others;
    if (files.replaced())
        note = "Event files of an earlier run in " + pathText(folder) +
               " were replaced; with another folder, both runs stay.\n";
    for (const std::string& name : otherBoardLanes(folder, lanes))
        others += (others.empty() ? "" : ", ") + pathText(name);
    if (others.empty()) return note;
    return note + "TensorBoard will also show lanes of earlier runs, which are left in " +
           pathText(folder) + ": " + others + "\n";
}

} // namespace halfscope::cli
