// The menus and shortcuts of the window, and the windows that they open.
#pragma once

#include "engine/train/lane_file.h"
#include "ui/window/run_models.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QVariantMap>

class QAction;
class QKeySequence;
class QMainWindow;
class QMenu;

namespace halfscope {

class ExperimentController;
class GridDialog;
class HelpDialog;
class LessonColumn;
class Presentation;
class RecentFiles;
class SessionKeeper;
class ShownRun;
class WindowFiles;

class WindowMenus : public QObject {
    Q_OBJECT
public:
    /// `remembers`: choices that take effect at the next start are stored. Without a keeper there
    /// is no item for its memory.
    WindowMenus(RunModels&, ExperimentController&, ShownRun&, WindowFiles&, RecentFiles&,
                const WindowParts&, QMainWindow& window, bool remembers, SessionKeeper* keeper);

    void showHelp();
    void endPresentation();
    /// Which views are shown, and how.
    void restore(const QVariantMap&);
    void save(QVariantMap&) const;

signals:
    /// The user wants the program to start again, so that another zoom acts.
    void restartAsked();

private:
    void fillFile(QMenu&);
    void fillLanes(QMenu&, LaneFile);
    void addPredictions(QMenu&, const QStringList& lanes);
    void fillEdit(QMenu&);
    void fillScales(QMenu&);
    void fillView(QMenu&);
    void fillPlots(QMenu&);
    void fillPictures(QMenu&);
    void fillSmoothing(QMenu&);
    void fillZoom(QMenu&);
    void offerRestart(int percent);
    void fillHelp(QMenu&);
    void addGradients(QMenu&);
    void addRuns(QMenu&);
    void addSettings(QMenu&);
    /// Adds the entry that hides the column of the lanes' cards and of the events.
    void addRight(QMenu&);
    void addFullScreen(QMenu&);
    void addPresentation(QMenu&);
    /// Hides the settings while the window is too narrow for three columns, unless the user asks
    /// for them: the pictures and the lanes' cards would be cut off.
    void show(QWidget& column, bool on);
    void giveWay();
    /// Returns the width of three columns with so much for the middle one.
    int leastWidth(int middle) const;
    template <class Action>
    void addShortcut(const QKeySequence&, Action);
    void showHelpPart(const QString& anchor);
    void showNumber();
    void showTypes();
    void showLayerGradients();
    void showMap();
    void showVerification();
    void showAbout();
    bool eventFilter(QObject*, QEvent*) override;

    RunModels& m_models;
    ExperimentController& m_controller;
    ShownRun& m_shown;
    WindowFiles& m_files;
    RecentFiles& m_recent;
    WindowParts m_parts;
    QMainWindow& m_window;
    bool m_remembers;
    SessionKeeper* m_keeper;
    QAction* m_fullScreen = nullptr;        ///< the actions are owned by their menus
    Presentation* m_presentation = nullptr; ///< child of the window
    QAction* m_settings = nullptr;
    QAction* m_right = nullptr;
    bool m_narrow = false;  ///< the window is narrow
    bool m_gaveWay = false; ///< the settings are hidden for lack of room
    QAction* m_runs = nullptr;
    QAction* m_gradients = nullptr;
    QAction* m_previous = nullptr;
    HelpDialog* m_help = nullptr;     ///< child of the window; null until it is asked for
    GridDialog* m_map = nullptr;      ///< likewise
    LessonColumn* m_lesson = nullptr; ///< child of the window
};

} // namespace halfscope
