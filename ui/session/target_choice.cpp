// One job at a time: a newer question takes the place of the one before.
#include "ui/session/target_choice.h"

#include "engine/core/error.h"
#include "engine/data/csv_columns.h"
#include "engine/settings/data_experiment.h"
#include "ui/session/file_job.h"

#include <utility>

namespace halfscope {

TargetChoice::TargetChoice(ConfigModel& model, QObject* parent) : QObject(parent), m_model(model) {}

TargetChoice::~TargetChoice() = default;

/// Runs `work` aside, then `then` on this thread: at once when the work is short.
void TargetChoice::start(const std::function<void()>& work, const std::function<void()>& then) {
    constexpr std::chrono::milliseconds kAtOnce{50};
    try {
        m_job = std::make_unique<FileJob>(work, FileJob::Leaving::Abandons);
    } catch (const RunError&) { // the system has no thread to give
        work();
        return then();
    }
    const auto conclude = [this, then] {
        const std::unique_ptr<FileJob> ended = std::move(m_job);
        then();
    };
    if (m_job->isDone(kAtOnce)) return conclude();
    connect(m_job.get(), &FileJob::done, this, conclude);
}

void TargetChoice::readNames() {
    const auto names = std::make_shared<QStringList>();
    const auto read = [names, task = m_model.config().task] {
        try {
            for (const std::string& name : columnNames(task))
                if (!isUnnamed(name)) *names << QString::fromStdString(name);
        } catch (const InputError&) { // the note below the data says it
        }
    };
    start(read, [this, names] { emit named(*names); });
}

void TargetChoice::choose(const QString& column) {
    const auto chosen = std::make_shared<std::optional<RunConfig>>();
    const RunConfig from = m_model.config();
    const auto read = [chosen, from, name = column.toStdString()] {
        try {
            *chosen = predicting(from, name);
        } catch (const InputError&) { // the note below the data says it
        }
    };
    start(read, [this, from, chosen, column] { apply(from, *chosen, column); });
}

void TargetChoice::apply(const RunConfig& from, const std::optional<RunConfig>& chosen,
                         const QString& column) {
    if (!m_model.isStill(from)) return; // the settings were changed meanwhile
    if (!chosen) {
        m_model.setData(m_model.index(m_model.rowOf("data.target")), column);
        return;
    }
    ConfigModel::Edits edits = m_model.edits();
    edits.config.task = chosen->task;
    m_model.restore(edits);
}

} // namespace halfscope
