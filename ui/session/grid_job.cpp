// The thread puts finished cells where the window's thread finds them.
#include "ui/session/grid_job.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace halfscope {
namespace {

constexpr int kBetweenLooks = 100; // ms

} // namespace

struct GridJob::Shared {
    std::mutex mutex;
    std::vector<std::pair<size_t, GridCell>> cells; ///< that nobody has looked at
    std::atomic<size_t> cell{0};
    std::atomic<int64_t> steps{0};
};

GridJob::GridJob(SettingGrid grid) : m_grid(std::move(grid)), m_shared(std::make_shared<Shared>()) {
    m_looks.callOnTimeout(this, &GridJob::look);
}

GridJob::~GridJob() = default;

void GridJob::start() {
    const auto train = [shared = m_shared, grid = m_grid] {
        GridListener listener;
        listener.stepped = [&shared](size_t cell, int64_t steps) {
            shared->cell = cell;
            shared->steps = steps;
        };
        listener.finished = [&shared](size_t cell, const GridCell& result) {
            const std::lock_guard lock(shared->mutex);
            shared->cells.emplace_back(cell, result);
        };
        trainGrid(grid, listener, cancelToken());
    };
    try {
        m_job = std::make_unique<FileJob>(train, FileJob::Leaving::Abandons);
    } catch (const RunError& error) {
        QMetaObject::invokeMethod(
            this, [this, reason = error.message()] { emit failed(reason); }, Qt::QueuedConnection);
        return;
    }
    m_looks.start(kBetweenLooks);
}

void GridJob::stop() {
    if (m_job) m_job->cancel();
}

/// The thread tells nothing by itself once it was asked to stop, so its end is looked for, too.
void GridJob::look() {
    const bool done = m_job->isDone();
    std::vector<std::pair<size_t, GridCell>> cells;
    {
        const std::lock_guard lock(m_shared->mutex);
        cells.swap(m_shared->cells);
    }
    for (const auto& [cell, result] : cells)
        emit trained(static_cast<int>(cell), result);
    if (done) return conclude();
    emit progressed(static_cast<int>(m_shared->cell.load()), m_shared->steps);
}

void GridJob::conclude() {
    m_looks.stop();
    try {
        m_job->result();
    } catch (const std::exception& error) {
        return emit failed(messageOf(error));
    }
    emit ended();
}

} // namespace halfscope
