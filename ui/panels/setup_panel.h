// The left column: every setting of the experiment in foldable groups, one group for each lane, a
// strip of buttons that lead to them, and the note that some changes wait for a restart. Shows the
// ConfigModel, holds nothing itself.
#pragma once

#include "ui/models/config_model.h"

#include <QWidget>
#include <functional>
#include <map>
#include <optional>
#include <vector>

class QFrame;
class QHBoxLayout;
class QMenu;
class QScrollArea;
class QToolButton;

namespace halfscope {

class FieldEditor;
class Section;

class SetupPanel : public QWidget {
    Q_OBJECT
public:
    explicit SetupPanel(ConfigModel&, QWidget* parent = nullptr);

    FieldEditor* editor(std::string_view key, int lane = -1) const;
    bool restartShown() const;
    /// Unfolds a lane's settings and brings them into view; -1: those of the whole run.
    void goTo(int lane);
    /// One more lane, like the last one; its settings come into view. Nothing beyond six.
    void addLane();
    /// The loss scale that a lane of the run has now, for the lanes that may continue it; nothing
    /// where it is not known.
    using ScaleOfLane = std::function<std::optional<double>(int lane)>;
    void setScaleOfLane(ScaleOfLane scaleOf) { m_scaleOf = std::move(scaleOf); }
    QSize sizeHint() const override;

signals:
    void restartRequested();
    /// A lane that does not run yet is to go on from one of the run's lanes.
    void forkRequested(int lane, int parent);

protected:
    void changeEvent(QEvent*) override;

private:
    void buildRestartNote();
    void rebuild();
    void refresh();
    void reload();
    void addRunGroups(QWidget* content);
    void addLaneGroups(QWidget* content);
    void addLaneButton(QWidget* content);
    QToolButton* newForkButton(int lane, Section*);
    void fillForks(QMenu&, int lane);
    /// Of the menu: which lane is continued, and the loss scale that the new one begins with.
    QString forkText(int lane, int parent, const QString& label) const;
    void orderTabs();
    void rebuildStrip();
    void refreshStrip();
    Section* newSection(const QString& id, const QString& title, QWidget* content);
    void applyColors();

    ConfigModel& m_model;
    ScaleOfLane m_scaleOf;
    QFrame* m_restart = nullptr;       ///< child
    QScrollArea* m_scroll = nullptr;   ///< child
    QHBoxLayout* m_strip = nullptr;    ///< owned by this widget's layout
    std::vector<QToolButton*> m_jumps; ///< children; of the run, then of each lane
    QToolButton* m_addLane = nullptr;  ///< child of the scroll area's content
    struct Group {
        Section* section = nullptr; ///< child of the scroll area's content
        int lane = -1;
        std::vector<FieldEditor*> editors; ///< children of the section
        QToolButton* remove = nullptr;     ///< child of the section; a lane's only
        QToolButton* fork = nullptr;       ///< as above
    };
    std::vector<Group> m_groups;
    std::map<QString, bool> m_open; ///< what the user folded, by group; survives rebuilding
};

} // namespace halfscope
