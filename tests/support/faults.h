// A fault that a program is started with (fault_shim.cpp), and what the disk holds after a power
// cut.
#pragma once

#include "tests/support/cli.h"

#include <QDateTime>
#include <QHash>
#include <QMap>
#include <QProcessEnvironment>
#include <QTemporaryDir>
#include <QtTest>

#include <vector>

#include <sys/stat.h>

namespace halfscope::test {

/// Whether `./dev torture` runs the tests.
inline bool tortures() { return qEnvironmentVariableIsSet("HALFSCOPE_TORTURE"); }

class Faults {
public:
    /// Returns the seed of what is left to chance: another one each time where faults are looked
    /// for, and always the same where a change is tested.
    static quint32 seed() {
        return tortures() ? static_cast<quint32>(QDateTime::currentMSecsSinceEpoch()) : 17;
    }
    /// Returns why no program can be started with a fault here; or nullptr.
    static const char* clash() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        return "sanitizers stand before the system's calls themselves";
#else
        return nullptr;
#endif
    }
    /// Adds rows for the columns "kind" and "how": all kinds of calls, failing once and from there
    /// on.
    static void addCallRows() {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("how");
        for (const char* kind : {"open", "read", "list", "write", "sync", "rename", "unlink",
                                 "close", "mmap", "thread"})
            for (const char* how : {"once", "on"})
                QTest::addRow("%s %s", kind, how) << QString(kind) << QString(how);
    }
    /// The plan is like "write:3:once", see fault_shim.cpp; with an unknown kind nothing fails, and
    /// calls are counted.
    explicit Faults(const QString& plan) : m_plan(plan) {}
    static constexpr const char* kNothing = "nothing:0:once";

    QProcessEnvironment environment() const {
        QProcessEnvironment all = QProcessEnvironment::systemEnvironment();
        all.insert(QStringLiteral("LD_PRELOAD"), QStringLiteral(HALFSCOPE_FAULT_SHIM));
        all.insert(QStringLiteral("HALFSCOPE_FAULT"), m_plan);
        all.insert(QStringLiteral("HALFSCOPE_FAULT_MARK"), m_folder.filePath("mark"));
        all.insert(QStringLiteral("HALFSCOPE_FAULT_COUNTS"), m_folder.filePath("counts"));
        all.insert(QStringLiteral("HALFSCOPE_DISK"), m_folder.path());
        return all;
    }
    /// Returns how many calls of each kind there were, for a program that ended by itself.
    QMap<QString, int> counts() const {
        QMap<QString, int> counts;
        for (const QByteArray& line : contentOf(m_folder.filePath("counts")).split('\n'))
            counts[line.left(line.indexOf(' '))] = line.mid(line.indexOf(' ') + 1).toInt();
        return counts;
    }
    /// Returns some of the numbers 1 to `all`, one from each equal part of them, chosen by `seed`.
    static std::vector<int> sample(int all, int parts, size_t seed) {
        std::vector<int> chosen;
        for (int i = 0; i < std::min(all, parts); ++i) {
            const auto first = static_cast<size_t>(qint64{all} * i / std::min(all, parts));
            const auto end = static_cast<size_t>(qint64{all} * (i + 1) / std::min(all, parts));
            chosen.push_back(static_cast<int>(1 + first + qHash(i, seed) % (end - first)));
        }
        return chosen;
    }
    /// Makes one call of each of `parts` equal parts of 1 to `all` fail: `fails` takes the call's
    /// number and returns whether the program reached it. Under torture makes every call fail, also
    /// beyond `all`, the number of a run without faults, because threads make no two runs alike; it
    /// ends when several in a row were not reached. Returns how many were; ends at a failed check.
    template <class Fails>
    static int failEach(int all, int parts, size_t seed, const Fails& fails) {
        constexpr int kInARow = 10;
        const std::vector<int> chosen = sample(all, parts, seed);
        const auto number = [&](int turn) {
            if (tortures()) return turn + 1;
            return turn < static_cast<int>(chosen.size()) ? chosen[static_cast<size_t>(turn)] : 0;
        };
        int reached = 0, missed = 0;
        for (int turn = 0; number(turn) > 0; ++turn) {
            const bool came = fails(number(turn));
            if (QTest::currentTestFailed()) return reached;
            reached += came ? 1 : 0;
            missed = came ? 0 : missed + 1;
            if (turn >= all && missed >= kInARow) return reached;
        }
        return reached;
    }
    /// Whether the program reached the call.
    bool came() const { return QFile::exists(m_folder.filePath("mark")); }

    Outcome call(const QStringList& arguments) const {
        QProcess process;
        process.setProcessEnvironment(environment());
        process.start(program(), arguments);
        return outcomeOf(process);
    }

    enum class Names { Synced, Newest };
    /// Copies a folder as a power cut leaves it: files have the bytes that were synced, under the
    /// names that were synced, or under their present names (the system may write names earlier
    /// than it must). Files that were there before the program began are complete.
    void cutPower(const QString& folder, const QStringList& before, const QString& to,
                  Names names) const {
        struct stat status {};
        QDir().mkpath(to);
        if (::stat(folder.toUtf8().constData(), &status) != 0) return;
        const QString list = m_folder.filePath(QStringLiteral("names.%1").arg(status.st_ino));
        if (names == Names::Synced && QFile::exists(list)) {
            for (const QByteArray& line : contentOf(list).split('\n')) {
                const qsizetype space = line.indexOf(' ');
                if (space > 0) restore(line.left(space), to + '/' + line.mid(space + 1));
            }
            return;
        }
        for (const QString& name : filesOf(folder)) {
            const QByteArray path = (folder + '/' + name).toUtf8();
            if (::lstat(path.constData(), &status) != 0) continue;
            const QByteArray inode = QByteArray::number(static_cast<qulonglong>(status.st_ino));
            if (!QFile::exists(m_folder.filePath(inode)) && before.contains(name))
                QFile::copy(path, to + '/' + name);
            else
                restore(inode, to + '/' + name);
        }
    }
    /// Records a folder's files for the disk before the program begins.
    void keep(const QString& folder) const {
        QByteArray names;
        for (const QString& name : filesOf(folder)) {
            struct stat status {};
            ::lstat((folder + '/' + name).toUtf8().constData(), &status);
            const QByteArray inode = QByteArray::number(static_cast<qulonglong>(status.st_ino));
            QFile::copy(folder + '/' + name, m_folder.filePath(inode));
            names += inode + ' ' + name.toUtf8() + '\n';
        }
        struct stat status {};
        if (::stat(folder.toUtf8().constData(), &status) != 0) return;
        QFile list(m_folder.filePath(QStringLiteral("names.%1").arg(status.st_ino)));
        if (list.open(QIODevice::WriteOnly)) list.write(names);
    }

private:
    void restore(const QByteArray& inode, const QString& to) const {
        QFile file(to);
        const QString kept = m_folder.filePath(inode);
        if (file.open(QIODevice::WriteOnly) && QFile::exists(kept)) file.write(contentOf(kept));
    }
    QString m_plan;
    QTemporaryDir m_folder;
};

} // namespace halfscope::test
