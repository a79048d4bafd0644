// The list of the session's runs: which of them have their curves drawn, and buttons that act on
// them. It only emits signals; the window decides.
#pragma once

#include "ui/models/ordered_runs.h"

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QTableView;
class QVBoxLayout;

namespace halfscope {

class OrderButton;

class RunsPanel : public QWidget {
    Q_OBJECT
public:
    explicit RunsPanel(RunListModel&, QWidget* parent = nullptr);

    QTableView* table() const { return m_table; }
    /// Returns the chosen run; RunId::None when none is chosen.
    RunId chosen() const;
    OrderedRuns::Order order() const { return m_ordered->order(); }
    void setOrder(OrderedRuns::Order);
    /// Gives the list the keyboard if it can be seen, with the run that is shown as the chosen one
    /// when there is none, or else the first.
    void takeKeyboard();
    /// Returns the height in which so many of the runs can be seen at once, if they have no more
    /// than three lines each; without the details.
    int heightForRows(int count) const;
    /// Returns the height for all runs and usual details, but no more than that of the window.
    int usefulHeight() const;
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
    void showEvent(QShowEvent*) override;

private:
    QPushButton* newButton(const QString& name, const QString& text, const QString& tip);
    void buildHeading(QVBoxLayout&);
    void buildTable();
    void connectTable();
    void connectKeys();
    QString explanation() const;
    void showDetails();
    QModelIndex placeOfShown() const;
    bool isAtAnother(RunId than) const;
    void followShown();
    void fitDetails();
    int tableHeight(int count, int most) const;
    int leastTableHeight() const;
    int fewRowsHeight(int count) const;
    int heightAround() const;
    void askToDelete();

    RunListModel& m_model;
    OrderedRuns* m_ordered = nullptr; ///< child: m_model as the table shows it
    RunId m_shown = RunId::None;      ///< the one that is shown, as of followShown()
    QTableView* m_table = nullptr;    ///< child, as all below
    QHBoxLayout* m_headingRow = nullptr;
    OrderButton* m_order = nullptr;
    QLabel* m_details = nullptr;
    QPushButton* m_bringBack = nullptr;
    QPushButton* m_repeat = nullptr;
    QPushButton* m_rename = nullptr;
    QPushButton* m_delete = nullptr;
};

} // namespace halfscope
