// Folders of saved runs, and what a window shows of one, for the tests of saved runs in the window.
#pragma once

#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/io/strict_json.h"
#include "tests/support/opened_window.h"
#include "tests/support/plot_parts.h"
#include "tests/support/run_tables.h"
#include "tests/support/train_into.h"

#include <QDir>
#include <QLabel>

#include <algorithm>

namespace halfscope {

inline std::string contentOf(const QString& folder, const char* name) {
    return readFile(QDir(folder).filePath(QLatin1String(name)).toStdString());
}

inline void put(const QString& folder, const char* name, const std::string& text) {
    writeFileAtomically(QDir(folder).filePath(QLatin1String(name)).toStdString(), text);
}

inline RunConfig skippingConfig(int64_t steps) {
    RunConfig config = tinyConfig(steps);
    config.title = "Kept";
    config.lanes[1].scaler.initScale = 1e30; // overflows
    return config;
}

/// Writes a run as if an H200 had trained it, with 5 and 7 MiB for its two lanes and gradients
/// counted every 4 steps.
inline void trainElsewhere(const QString& folder, const RunConfig& config) {
    trainInto(folder.toStdString(), config, 4);
    Json summary = Json::parse(contentOf(folder, "summary.json"));
    summary["device"] = {{"name", "NVIDIA H200"},
                         {"kind", "cuda"},
                         {"libraries", "cuDNN 9.7"},
                         {"memory_bytes", 150754820096}};
    summary["lanes"][0]["peak_bytes"] = 5 << 20;
    summary["lanes"][1]["peak_bytes"] = 7 << 20;
    put(folder, "summary.json", summary.dump(2));
    // it holds the sizes of the files
    QFile::remove(QDir(folder).filePath(QStringLiteral("manifest.json")));
}

/// Copies a run so that it can be damaged: without the manifest, which holds the sizes of the
/// files.
inline QString copyOf(const QString& folder, const QString& copy) {
    QDir().mkpath(copy);
    for (const QString& name : QDir(folder).entryList(QDir::Files))
        if (name != QLatin1String("manifest.json"))
            QFile::copy(QDir(folder).filePath(name), QDir(copy).filePath(name));
    return copy;
}

/// A test of one saved run and of copies of it.
class SavedRunTest : public QObject {
protected:
    QString copyOfResults() {
        return copyOf(m_results, m_folder.filePath(QStringLiteral("copy%1").arg(++m_copies)));
    }
    const QTemporaryDir m_folder;
    const QString m_results = m_folder.filePath(QStringLiteral("results")); ///< not written yet

private:
    int m_copies = 0;
};

inline QList<QByteArray> sortedLines(const std::string& text) {
    QList<QByteArray> lines = QByteArray::fromStdString(text).split('\n');
    std::sort(lines.begin(), lines.end());
    return lines;
}

inline QString stateOf(MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("state"))->text();
}

/// Returns a curve's steps and values, one after the other.
inline std::vector<double> pointsOf(MainWindow& window, const char* graph) {
    std::vector<double> points;
    const QCPGraph* found = graphNamed(window.plots(), QLatin1String(graph));
    for (int i = 0; found && i < found->data()->size(); ++i) {
        points.push_back(found->data()->at(i)->key);
        points.push_back(found->data()->at(i)->value);
    }
    return points;
}

inline QStringList sentencesOf(MainWindow& window) {
    QStringList sentences;
    for (int row = 0; row < window.events().rowCount(); ++row)
        sentences << EventModel::sentenceOf(window.events().eventAt(row));
    return sentences;
}

/// Waits until all of it is shown and drawn.
inline bool showsSaved(MainWindow& window) {
    return QTest::qWaitFor(
               [&] {
                   return window.showsSaved() &&
                          stateOf(window).startsWith(QLatin1String("Saved run of"));
               },
               kPatience) &&
           QTest::qWaitFor([&] { return !pointsOf(window, "Loss/A fp32").empty(); }, kPatience);
}

} // namespace halfscope
