// Reads what settings need to know of files of data (how many samples they have, of which shape),
// so that the window's thread never opens one: whoever asks there hears that the data are still
// being read, and asks again after changed().
#pragma once

#include "engine/data/known_facts.h"
#include "ui/session/file_job.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <map>
#include <memory>
#include <span>
#include <vector>

namespace halfscope {

class FactsReader : public QObject {
    Q_OBJECT
public:
    /// Answers factsOf() of the thread that makes it, while it lives.
    FactsReader();
    /// Cancels what is read.
    ~FactsReader() override;

    /// Whether data are being read, or wait for it.
    bool reads() const { return !m_waiting.empty() || !m_jobs.empty(); }
    /// Of what was asked for, whose facts are not these settings' is no longer wanted: its reading
    /// ends, and nothing is remembered of it.
    void keepOnly(std::span<const FactsKey>);

signals:
    /// Something is known that was not known, or is no longer what it was.
    void changed();

private:
    struct Job;
    void ask(const TaskConfig&);
    void startNext();
    void start(const TaskConfig&);
    void conclude(const FactsKey&);
    void forgetLeft();
    bool isAsked(const FactsKey&) const;

    std::vector<TaskConfig> m_waiting; ///< in the order of the questions
    std::map<FactsKey, std::unique_ptr<Job>> m_jobs;
    std::vector<std::unique_ptr<Job>> m_left;   ///< cancelled ones whose threads are not back yet
    std::map<FactsKey, QElapsedTimer> m_looked; ///< when files were looked at last
    QTimer m_timer;                             ///< starts what waits
    FactsElsewhere m_elsewhere;                 ///< last: it asks
};

} // namespace halfscope
