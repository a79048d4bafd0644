// The left column: every setting of the experiment in foldable groups, one group for each lane, a
// strip of buttons that lead to them, and the note that some changes wait for a restart. Shows the
// ConfigModel and holds no settings itself.
#pragma once

#include "ui/models/config_model.h"

#include <QPointer>
#include <QWidget>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

class QLabel;
class QHBoxLayout;
class QMenu;
class QScrollArea;
class QToolButton;

namespace halfscope {

class FieldEditor;
class RestartNote;
class Section;

class SetupPanel : public QWidget {
    Q_OBJECT
public:
    explicit SetupPanel(ConfigModel&, QWidget* parent = nullptr);
    ~SetupPanel() override;

    FieldEditor* editor(std::string_view key, int lane = -1) const;
    bool restartShown() const;
    /// Unfolds a lane's settings and scrolls to them; -1: those of the whole run.
    void goTo(int lane);
    /// Unfolds the settings around the one in a row of the model, scrolls to it, and gives it the
    /// keyboard.
    void goToRow(int row);
    /// Goes to Layers, and opens its editor, with this text in place of its own unless it is empty.
    void editLayers(const std::string& network);
    /// Names settings of the experiment that was opened which have no effect, as long as that is so
    /// and until another one is opened.
    void tellIdle(std::vector<std::string> keys) {
        m_idleKeys = std::move(keys);
        refreshIdle();
    }
    /// Adds a lane that is like the last one, and scrolls to its settings; the keyboard goes along
    /// where it is in this panel. Does nothing where ConfigModel::laneObstacle() has a reason.
    void addLane();
    /// Asks for several values of a lane's setting, and makes lanes of them.
    void askSweep();
    /// Makes lanes of cells of a map, and asks for a restart. Throws InputError as
    /// ConfigModel::takeCells() does.
    void takeCells(const SettingGrid&, const std::vector<size_t>& cells);
    /// Returns the present loss scale of a lane of the run, for the lanes that may continue it;
    /// nothing when it is not known.
    using ScaleOfLane = std::function<std::optional<double>(int lane)>;
    void setScaleOfLane(ScaleOfLane scaleOf) { m_scaleOf = std::move(scaleOf); }
    /// Returns the present loss scale of a lane of the settings that is one of the run's; nothing
    /// for others, and where there is none.
    std::optional<double> presentScale(int lane) const;
    /// Returns the run's settings at its start, with its forks and edits so far; null while there
    /// is no run. Its lanes have the names here that the run gives them.
    using RecordedRun = std::function<const RunConfig*()>;
    void setRecordedRun(RecordedRun recorded) { m_recorded = std::move(recorded); }
    QSize sizeHint() const override;

signals:
    /// It was hidden before.
    void shownAgain();
    void restartRequested();
    /// The user asks that a lane that does not run yet continue from one of the run's lanes.
    void forkRequested(int lane, int parent);
    /// See FieldEditor.
    void dataChosen(const QString& path);
    /// The user asks what a setting means, by the key for help.
    void explanationAsked(const QString& key);

protected:
    bool event(QEvent*) override;
    void changeEvent(QEvent*) override;

private:
    void rebuild();
    void refresh();
    void refreshSettings();
    QWidget* anchor() const;
    QRect inView(const QWidget&) const; ///< its place in the part of the settings that is seen
    void layOut();
    void settleHeights();
    void holdInPlace(const QWidget& held, int top);
    void reload();
    void addRunGroups(QWidget* content);
    void addLaneGroups(QWidget* content);
    void addLaneButtons(QWidget* content);
    void refreshLaneButtons();
    QToolButton* newForkButton(int lane, Section*);
    void leadTo(int lane, bool byKeys);
    void fillForks(QMenu&, int lane);
    /// Returns the text of the menu's entry: which lane is continued, and the loss scale that the
    /// new one begins with.
    QString forkText(int lane, int parent, const QString& label) const;
    void rebuildStrip();
    const RunConfig* recorded() const;
    QStringList laneNames() const;
    void refreshStrip();
    void keepWide();
    void refreshIdle();
    Section* newSection(const QString& id, const QString& title, QWidget* content);
    void applyColors();
    FieldEditor* withKeyboard() const; ///< null where no setting has it

    ConfigModel& m_model;
    QPointer<ConfigModel> m_told; ///< the same while it lives: a window's goes before its panels
    ScaleOfLane m_scaleOf;
    RecordedRun m_recorded;
    std::vector<std::string> m_idleKeys;
    QLabel* m_idle = nullptr;          ///< child of the scroll area's content
    RestartNote* m_restart = nullptr;  ///< child
    QScrollArea* m_scroll = nullptr;   ///< child
    QHBoxLayout* m_strip = nullptr;    ///< owned by this widget's layout
    std::vector<QToolButton*> m_jumps; ///< children; for the run, then for each lane
    QToolButton* m_addLane = nullptr;  ///< child of the scroll area's content, as is the next
    QToolButton* m_sweep = nullptr;
    struct Group {
        Section* section = nullptr; ///< child of the scroll area's content
        int lane = -1;
        std::vector<FieldEditor*> editors; ///< children of the section
        QToolButton* remove = nullptr;     ///< child of the section; lanes only
        QToolButton* fork = nullptr;       ///< child of the section; lanes only
    };
    std::vector<Group> m_groups;
    std::map<QString, bool> m_open; ///< by group, as the user folded them; survives rebuilding
};

} // namespace halfscope
