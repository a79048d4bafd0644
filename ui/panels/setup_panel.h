// The left column: every setting of the experiment in foldable groups, one group for each lane, and
// the note that some changes wait for a restart. Shows the ConfigModel, holds nothing itself.
#pragma once

#include "ui/models/config_model.h"

#include <QWidget>
#include <map>
#include <vector>

class QFrame;
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
    QSize sizeHint() const override;

signals:
    void restartRequested();

protected:
    void changeEvent(QEvent*) override;

private:
    void buildRestartNote();
    void rebuild();
    void refresh();
    void addRunGroups(QWidget* content);
    void addLaneGroups(QWidget* content);
    void addLaneButton(QWidget* content);
    Section* newSection(const QString& id, const QString& title, QWidget* content);
    void applyColors();

    ConfigModel& m_model;
    QFrame* m_restart = nullptr;      ///< child
    QScrollArea* m_scroll = nullptr;  ///< child
    QToolButton* m_addLane = nullptr; ///< child of the scroll area's content
    struct Group {
        Section* section = nullptr; ///< child of the scroll area's content
        int lane = -1;
        std::vector<FieldEditor*> editors; ///< children of the section
        QToolButton* remove = nullptr;     ///< child of the section; a lane's only
    };
    std::vector<Group> m_groups;
    std::map<QString, bool> m_open; ///< what the user folded, by group; survives rebuilding
};

} // namespace halfscope
