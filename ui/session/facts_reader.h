// Reads the facts that settings need from data files (how many samples they have, of which shape),
// so that the window's thread never opens such a file. Code that asks on that thread is told that
// the data are still being read, and asks again after changed().
#pragma once

#include "engine/data/known_facts.h"
#include "ui/session/file_job.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

class FactsReader : public QObject {
    Q_OBJECT
public:
    /// Answers calls of factsOf() on the thread that creates the reader, as long as the reader
    /// lives.
    FactsReader();
    /// Cancels what is being read.
    ~FactsReader() override;

    /// Whether data are being read or wait to be read.
    bool reads() const { return !m_waiting.empty() || !m_jobs.empty(); }
    /// Cancels the requests whose facts are not among these keys: their reading ends, and no answer
    /// of theirs is kept.
    void keepOnly(std::span<const FactsKey>);

signals:
    /// Emitted when facts have become known or have changed.
    void changed();

private:
    struct Request {
        TaskConfig task;
        /// What was known when it was asked for: a job that was cancelled may still tell the same
        /// before this one looks, and nobody would hear of it.
        std::optional<FactsAnswer> before{};
    };
    struct Job;
    void ask(const TaskConfig&);
    void startNext();
    void start(const Request&);
    void conclude(const FactsKey&);
    void forgetLeft();
    bool isAsked(const FactsKey&) const;

    std::vector<Request> m_waiting; ///< in the order in which they were asked for
    std::map<FactsKey, std::unique_ptr<Job>> m_jobs;
    std::vector<std::unique_ptr<Job>> m_left;   ///< cancelled jobs whose threads have not ended yet
    std::map<FactsKey, QElapsedTimer> m_looked; ///< when unusable files were looked at last
    QTimer m_timer;                             ///< starts the waiting requests
    FactsElsewhere m_elsewhere;                 ///< last member: it calls ask()
};

} // namespace halfscope
