// Other people's programs, called through Python: the real library reads what a test writes. ./dev
// clients makes the environment that HALFSCOPE_PYTHON names.
#pragma once

#include <QProcess>
#include <QString>

namespace halfscope::test {

/// Returns why a test that needs Python is left out; nullptr when there is Python.
inline const char* lacksPython() {
    return qEnvironmentVariableIsEmpty("HALFSCOPE_PYTHON")
               ? "HALFSCOPE_PYTHON names no Python with PyTorch, ONNX, TensorBoard and pandas "
                 "(./dev clients)"
               : nullptr;
}

/// Returns what a script prints; when it failed, its exit code and the end of its output.
inline QString python(const QString& script, const QStringList& arguments = {}) {
    constexpr int kLongest = 300'000; // ms; the first import of PyTorch takes many seconds
    QProcess process;
    process.start(qEnvironmentVariable("HALFSCOPE_PYTHON"),
                  QStringList{QStringLiteral("-c"), script} + arguments);
    if (!process.waitForFinished(kLongest)) return QStringLiteral("Python did not end");
    const QString out = QString::fromUtf8(process.readAllStandardOutput()).trimmed();
    if (process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0) return out;
    return QStringLiteral("exit code %1: %2")
        .arg(process.exitCode())
        .arg(QString::fromUtf8(process.readAllStandardError()));
}

} // namespace halfscope::test
