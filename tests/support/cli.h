// halfscope-cli from outside: how tests call it, and what a small run leaves. The tests decide what
// the words and numbers must be.
#pragma once

#include <QCoreApplication>
#include <QDir>
#include <QProcess>

namespace halfscope::test {

struct Outcome {
    int code = -1;
    bool crashed = false;
    QByteArray out, error;

    /// Whether standard error is a single line of the program's own.
    bool saysOneLine() const {
        return error.startsWith("halfscope-cli: ") && error.count('\n') == 1 &&
               error.endsWith('\n');
    }
};

/// Milliseconds. Only a hang takes so long: PyTorch's compiler may take half of it beside tests.
constexpr int kPatience = 240'000;

inline QString program() { return QStringLiteral(HALFSCOPE_BINARY_DIR "/halfscope-cli"); }

inline Outcome outcomeOf(QProcess& process) {
    const bool ended = process.waitForFinished(kPatience);
    Outcome outcome{ended ? process.exitCode() : -1, process.exitStatus() == QProcess::CrashExit,
                    process.readAllStandardOutput(), process.readAllStandardError()};
    if (!ended) process.kill();
    return outcome;
}

inline Outcome call(const QStringList& arguments, const QString& workingFolder = {}) {
    QProcess process;
    process.setWorkingDirectory(workingFolder);
    process.start(program(), arguments);
    return outcomeOf(process);
}

/// Whether a program that was started catches a signal or waits for it by now; before that, the
/// signal would kill it.
inline bool takesSignal(const QProcess& process, int number) {
    const QString folder = QStringLiteral("/proc/%1/").arg(process.processId());
    // at first it is a copy of the test, which catches signals
    if (QFile::symLinkTarget(folder + QStringLiteral("exe")) ==
        QCoreApplication::applicationFilePath())
        return false;
    QFile file(folder + QStringLiteral("status"));
    if (!file.open(QIODevice::ReadOnly)) return false;
    for (const QByteArray& line : file.readAll().split('\n'))
        if (line.startsWith("SigBlk:") || line.startsWith("SigCgt:"))
            if ((line.mid(7).trimmed().toULongLong(nullptr, 16) >> (number - 1) & 1) != 0)
                return true;
    return false;
}

/// Calls the program through a shell, for redirections: "$0" is the program.
inline Outcome callShell(const QString& script, const QStringList& arguments = {}) {
    QProcess process;
    process.start(QStringLiteral("/bin/sh"),
                  QStringList{QStringLiteral("-c"), script, program()} + arguments);
    return outcomeOf(process);
}

inline QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("(missing)");
}

inline QStringList filesOf(const QString& folder) {
    return QDir(folder).entryList(QDir::Files | QDir::Hidden, QDir::Name);
}

/// Returns the arguments of a run of a few milliseconds.
inline QStringList smallRun(const QString& out, const QStringList& more = {}) {
    const QString words =
        "run --preset checkerboard --set task.side=8 --set model.width=8 --steps 12 --device cpu";
    return words.split(' ') + QStringList{"--out", out} + more;
}

inline const QStringList kRunFiles{"checkpoint.safetensors",
                                   "events.csv",
                                   "experiment.json",
                                   "manifest.json",
                                   "output_amp-fp16.png",
                                   "output_fp32.png",
                                   "steps.csv",
                                   "summary.json",
                                   "target.png",
                                   "timing.csv",
                                   "weights_amp-fp16.safetensors",
                                   "weights_fp32.safetensors"};

} // namespace halfscope::test
