// The box that names the experiment. Its list is a menu in groups: the examples first, the other
// groups in submenus.
#pragma once

#include <QComboBox>

class QActionGroup;
class QMenu;

namespace halfscope {

class PresetBox : public QComboBox {
    Q_OBJECT
public:
    explicit PresetBox(QWidget* parent = nullptr);

    /// Selects a preset by name; for anything else the title is shown as an entry of its own.
    void showExperiment(const QString& preset, const QString& title);
    /// Returns the same menu for a menu bar; chosen() is emitted for both.
    QMenu* menu() const { return m_menu; }

    void showPopup() override;

signals:
    /// Emitted for a choice by mouse or keys, not by showExperiment().
    void chosen(const QString& preset);

protected:
    bool eventFilter(QObject*, QEvent*) override;
    void paintEvent(QPaintEvent*) override;
    void wheelEvent(QWheelEvent*) override;

private:
    void buildMenu();
    void tellPresets();
    void addTo(QMenu&, int index);

    QMenu* m_menu = nullptr;           ///< child
    QActionGroup* m_actions = nullptr; ///< child; an action for each preset, in order
    QActionGroup* m_groups = nullptr;  ///< child; an action for each submenu
};

} // namespace halfscope
