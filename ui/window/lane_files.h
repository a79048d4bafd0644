// What lanes have become: asks for file names and saves weights, networks and predictions.
#pragma once

#include "engine/core/message.h"
#include "engine/settings/run_config.h"
#include "engine/train/lane_file.h"
#include "ui/window/predict_samples.h"
#include "ui/window/window_parts.h"

#include <QByteArray>
#include <QHash>
#include <QObject>
#include <QStringList>
#include <QTemporaryDir>

#include <functional>
#include <optional>

class QWidget;

namespace halfscope {

class ExperimentController;
class ShownRun;

class LaneFiles : public QObject {
    Q_OBJECT
public:
    LaneFiles(ExperimentController&, ShownRun&, const WindowParts&, QWidget& window);

    /// Whether no networks of the run that is shown are built: at most its folder has them.
    bool networksAreGone() const;
    /// See WindowFiles::networks().
    QStringList networks() const;
    bool hasCritics() const;
    void chooseLaneFile(LaneFile, int lane);
    /// See WindowFiles::predict().
    void predict(int lane, SamplesIn);

signals:
    /// A sentence for the status bar.
    void told(const QString& text);

private:
    struct Asked {
        TaskKind kind{};
        QString samples{}, lane{}; ///< the lane's name, where one predicts
    };
    struct Answer {
        Asked picture;
        QByteArray table;
        QString name, note; ///< what a file of it may be called, and sentences to know
    };
    /// Asks for paths; is given the training data.
    using AskPaths = std::function<LanePaths(const TaskConfig&)>;
    /// Asks for the paths and writes a lane's file.
    void saveLane(LaneFile, int lane, const QString& title, const AskPaths& ask);
    void saveFromFolder(LaneFile, int lane, const QString& title, const AskPaths& ask);
    bool canPredict(TaskConfig, const QString& samples);
    QString answersFolder();
    bool isAnswer(const QString& path) const;
    void showAnswer(const QString& path, const Message& note);
    void offerAnswer(const Answer&);
    bool saveAnswer(const Answer&);
    void tellOf(LaneFile, const QString& path, const Message& note);

    ExperimentController& m_controller;
    ShownRun& m_shown;
    WindowParts m_parts;
    QWidget& m_window;
    QHash<QString, LaneFile> m_asked; ///< what lanes were asked for, by path, until it is saved
    QHash<QString, Asked> m_pictures; ///< by the path of the answer, until it is shown
    std::optional<QTemporaryDir> m_answers; ///< with a folder for each answer
    int m_lastAnswer = 0;                   ///< the number of its folder
};

} // namespace halfscope
