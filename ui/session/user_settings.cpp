// Uses QSettings on one thread that reads and one that writes; both own what they use.
#include "ui/session/user_settings.h"

#include "engine/core/error.h"
#include "ui/session/file_job.h"
#include "ui/session/left_threads.h"

#include <QSettings>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace halfscope {
namespace {

constexpr std::chrono::milliseconds kAtOnce{50};

/// What the window's thread shares with the two others.
struct Shared {
    std::mutex mutex;
    QVariantMap read;            ///< as they were last read
    QVariantMap coming, written; ///< waiting to be written; being written
    bool wasRead = false, writes = false;
    int rounds = 0; ///< how often values were written
};

using SharedPtr = std::shared_ptr<Shared>;

/// Reads again what may have been written while it was read.
void readAll(const SharedPtr& shared) {
    for (;;) {
        const int before = [&shared] {
            const std::lock_guard lock(shared->mutex);
            return shared->rounds;
        }();
        const QSettings settings;
        QVariantMap all;
        for (const QString& key : settings.allKeys())
            all.insert(key, settings.value(key));
        const std::lock_guard lock(shared->mutex);
        if (shared->rounds != before) continue;
        shared->read = std::move(all);
        shared->wasRead = true;
        return;
    }
}

/// Writes until nothing is waiting any more.
void writeAll(const SharedPtr& shared) {
    for (;;) {
        QVariantMap now;
        {
            const std::lock_guard lock(shared->mutex);
            // known from now on, even when the disk does not answer the next read
            if (!shared->written.isEmpty()) ++shared->rounds;
            shared->read.insert(std::exchange(shared->written, {}));
            shared->writes = !shared->coming.isEmpty();
            if (!shared->writes) return;
            now = shared->written = std::exchange(shared->coming, {});
        }
        QSettings settings;
        for (const auto& [key, value] : now.asKeyValueRange())
            settings.setValue(key, value);
        settings.sync();
    }
}

class UserSettings {
public:
    QVariantMap all();
    void keep(const QVariantMap& values);
    bool finish(std::chrono::milliseconds patience);
    bool missed() const { return m_missed; }

private:
    /// Starts `work` on a thread. Returns null when the system has no thread to give.
    static std::unique_ptr<FileJob> start(std::function<void()> work);

    SharedPtr m_shared = std::make_shared<Shared>();
    std::unique_ptr<FileJob> m_reads, m_writes; ///< the last thread of each kind
    bool m_missed = false; ///< all() has returned before the disk had ever answered
};

std::unique_ptr<FileJob> UserSettings::start(std::function<void()> work) {
    try {
        return std::make_unique<FileJob>(std::move(work), FileJob::Leaving::Abandons);
    } catch (const RunError&) {
        return nullptr;
    }
}

QVariantMap UserSettings::all() {
    if (!m_reads || m_reads->isDone()) { // a thread that hangs is not waited for again
        m_reads = start([shared = m_shared] { readAll(shared); });
        const bool known = [this] {
            const std::lock_guard lock(m_shared->mutex);
            return m_shared->wasRead;
        }();
        if (m_reads) m_reads->isDone(known ? kAtOnce : kForReading);
    }
    const std::lock_guard lock(m_shared->mutex);
    m_missed = m_missed || !m_shared->wasRead;
    QVariantMap values = m_shared->read;
    for (const QVariantMap& later : {m_shared->written, m_shared->coming})
        values.insert(later);
    return values;
}

void UserSettings::keep(const QVariantMap& values) {
    const std::lock_guard lock(m_shared->mutex);
    if (m_shared->writes && m_writes && m_writes->isDone()) { // there was no memory to write all
        QVariantMap left = m_shared->written;
        left.insert(m_shared->coming);
        m_shared->coming = std::move(left);
        m_shared->writes = false;
    }
    m_shared->coming.insert(values);
    if (m_shared->writes) return;
    m_writes = start([shared = m_shared] { writeAll(shared); });
    m_shared->writes = m_writes != nullptr; // without a thread, the next call writes them
}

bool UserSettings::finish(std::chrono::milliseconds patience) {
    const bool kept = !m_writes || m_writes->isDone(patience);
    m_writes.reset();
    m_reads.reset();
    return kept;
}

UserSettings& settingsOfUser() {
    static UserSettings all; // the program has one user
    return all;
}

} // namespace

QVariantMap userSettings() { return settingsOfUser().all(); }

bool missedUserSettings() { return settingsOfUser().missed(); }

void keepUserSettings(const QVariantMap& values) { settingsOfUser().keep(values); }

bool finishUserSettings(std::chrono::milliseconds patience) {
    return settingsOfUser().finish(patience);
}

} // namespace halfscope
