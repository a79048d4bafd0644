// Implements event files that a run can do without.
#include "app/cli_board.h"

#include "app/cli_output.h"

#include "engine/core/error.h"

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

void BoardFiles::sync() {
    attempt([](TensorBoardWriter& writer) { writer.sync(); });
}

void BoardFiles::finish() {
    attempt([](TensorBoardWriter& writer) { writer.finish(); });
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

} // namespace halfscope::cli
