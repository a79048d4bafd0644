// The list of runs of the session: which of them have their curves drawn, and buttons that act on
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
    /// The chosen run; RunId::None: none is.
    RunId chosen() const;
    QSize sizeHint() const override { return {280, 220}; }

signals:
    /// To be seen again, with its settings.
    void bringBackAsked(halfscope::RunId id);
    /// To be trained again with its settings.
    void repeatAsked(halfscope::RunId id);
    /// After a question.
    void deleteAsked(halfscope::RunId id);

protected:
    void changeEvent(QEvent*) override;
    void resizeEvent(QResizeEvent*) override;

private:
    QPushButton* newButton(const QString& name, const QString& text, const QString& tip);
    void buildTable();
    void showDetails();
    void fitDetails();
    void askToDelete();

    RunListModel& m_model;
    QTableView* m_table = nullptr; ///< child, as all below
    QLabel* m_heading = nullptr;
    QLabel* m_details = nullptr;
    QPushButton* m_bringBack = nullptr;
    QPushButton* m_repeat = nullptr;
    QPushButton* m_rename = nullptr;
    QPushButton* m_delete = nullptr;
};

} // namespace halfscope
