// A folder of files that a test of halfscope-cli writes and names on the command line.
#pragma once

#include "tests/support/array_files.h"
#include "tests/support/cli.h"

#include <QJsonDocument>
#include <QJsonValue>
#include <QTemporaryDir>

namespace halfscope::test {

/// A test whose functions share one folder.
class CliFolderTest : public QObject {
protected:
    QString path(const char* name) const { return m_folder.filePath(QString::fromUtf8(name)); }
    /// Writes a file, in place of one of that name, and returns its path.
    QString file(const char* name, const std::string& bytes) const {
        return QString::fromStdString(writeBytes(path(name).toStdString(), bytes));
    }

private:
    const QTemporaryDir m_folder;
};

/// Returns what a file that describes a run, for example its summary, tells of its first lane.
inline QJsonValue firstLaneIn(const QString& json) {
    return QJsonDocument::fromJson(contentOf(json))["lanes"][0];
}

} // namespace halfscope::test
