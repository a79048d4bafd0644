// The list of the session's runs: which of them have their curves drawn, and buttons that act on
// them. It only emits signals; the window decides.
#pragma once

#include "ui/models/run_list_model.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QTableView;

namespace halfscope {

class RunsPanel : public QWidget {
    Q_OBJECT
public:
    explicit RunsPanel(RunListModel&, QWidget* parent = nullptr);

    QTableView* table() const { return m_table; }
    /// Returns the chosen run; RunId::None when none is chosen.
    RunId chosen() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// Asks to show the run again, with its settings.
    void bringBackAsked(halfscope::RunId id);
    /// Asks to train again with the run's settings.
    void repeatAsked(halfscope::RunId id);
    /// Asks to delete the run, after the user has confirmed it.
    void deleteAsked(halfscope::RunId id);

protected:
    void changeEvent(QEvent*) override;
    void resizeEvent(QResizeEvent*) override;

private:
    QPushButton* newButton(const QString& name, const QString& text, const QString& tip);
    void buildTable();
    void showDetails();
    void scrollToShown();
    void fitDetails();
    int tableHeight(int count, int most) const;
    int leastTableHeight() const;
    int heightAround() const;
    void askToDelete();

    RunListModel& m_model;
    RunId m_shown = RunId::None;   ///< what was scrolled to
    QTableView* m_table = nullptr; ///< child, as all below
    QLabel* m_heading = nullptr;
    QLabel* m_details = nullptr;
    QPushButton* m_bringBack = nullptr;
    QPushButton* m_repeat = nullptr;
    QPushButton* m_rename = nullptr;
    QPushButton* m_delete = nullptr;
};

} // namespace halfscope
