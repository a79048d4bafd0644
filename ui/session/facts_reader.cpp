// Turns questions of the window's thread into jobs; a job leaves its answer in knownFacts().
#include "ui/session/facts_reader.h"

#include <algorithm>
#include <utility>

namespace halfscope {
namespace {

constexpr size_t kMostThreads = 4; // those that a dead network holds included
constexpr int kRetryMs = 100;      // ms, until a thread is free
constexpr qint64 kAgainMs = 2000;  // ms, between two looks at files that cannot be used
constexpr size_t kMostLooked = 256;

/// Reads the facts; returns whether the answer differs from the one before.
bool readFacts(const TaskConfig& task, const std::optional<FactsAnswer>& before) {
    try {
        factsOf(task);
        return true;
    } catch (const InputError& error) {
        return !before || before->facts || !(before->error == error.message());
    }
}

} // namespace

struct FactsReader::Job {
    std::shared_ptr<bool> changed; ///< written before the job is done
    FileJob file;

    Job(const Request& request, std::shared_ptr<bool> to)
        : changed(to), file([request, to] { *to = readFacts(request.task, request.before); },
                            FileJob::Leaving::Abandons) {}
};

FactsReader::FactsReader() : m_elsewhere([this](const TaskConfig& task) { ask(task); }) {
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &FactsReader::startNext);
}

FactsReader::~FactsReader() {
    for (const auto& [key, job] : m_jobs) // all at once, because each takes its time to stop
        job->file.cancel();
}

bool FactsReader::isAsked(const FactsKey& key) const {
    return m_jobs.contains(key) ||
           std::any_of(m_waiting.begin(), m_waiting.end(),
                       [&](const Request& each) { return factsKeyOf(each.task) == key; });
}

void FactsReader::ask(const TaskConfig& task) {
    const FactsKey key = factsKeyOf(task);
    if (isAsked(key)) return;
    const auto looked = m_looked.find(key);
    if (looked != m_looked.end() && looked->second.elapsed() < kAgainMs) return;
    m_waiting.push_back({task, knownFacts().find(task)});
    // not at once: the code that asks must not be called back meanwhile
    if (!m_timer.isActive()) m_timer.start(0);
}

void FactsReader::keepOnly(std::span<const FactsKey> wanted) {
    const auto isWanted = [&](const FactsKey& key) {
        return std::find(wanted.begin(), wanted.end(), key) != wanted.end();
    };
    std::erase_if(m_waiting, [&](const Request& each) { return !isWanted(factsKeyOf(each.task)); });
    for (auto at = m_jobs.begin(); at != m_jobs.end();) {
        if (isWanted(at->first)) {
            ++at;
            continue;
        }
        at->second->file.disconnect(this);
        at->second->file.cancel();
        m_left.push_back(std::move(at->second));
        at = m_jobs.erase(at);
    }
    forgetLeft();
}

void FactsReader::forgetLeft() {
    std::erase_if(m_left, [](const std::unique_ptr<Job>& job) { return job->file.isDone(); });
}

void FactsReader::startNext() {
    forgetLeft();
    while (!m_waiting.empty() && m_jobs.size() + m_left.size() < kMostThreads) {
        const Request request = m_waiting.front();
        try {
            start(request);
        } catch (const RunError&) { // no thread is available now
            break;
        }
        m_waiting.erase(m_waiting.begin());
    }
    if (!m_waiting.empty()) m_timer.start(kRetryMs);
}

void FactsReader::start(const Request& request) {
    const FactsKey key = factsKeyOf(request.task);
    auto job = std::make_unique<Job>(request, std::make_shared<bool>(false));
    connect(&job->file, &FileJob::done, this, [this, key] { conclude(key); });
    m_jobs[key] = std::move(job);
}

void FactsReader::conclude(const FactsKey& key) {
    const auto found = m_jobs.find(key);
    const std::unique_ptr<Job> job = std::move(found->second);
    m_jobs.erase(found);
    if (!m_waiting.empty() && !m_timer.isActive()) m_timer.start(0);
    if (m_looked.size() >= kMostLooked) m_looked.clear();
    m_looked[key].start();
    job->file.result();
    if (*job->changed) emit changed();
}

} // namespace halfscope
