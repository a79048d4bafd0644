// A map of settings as a table of coloured numbers, and below it the bar that explains the colours,
// with what there is to know of the best cell.
#pragma once

#include "ui/models/grid_model.h"

#include <QTableView>

class QLabel;

namespace halfscope {

/// The colours are those of pictures with one channel; brighter is better. The number in each cell
/// is black or white, whichever reads better, in both themes.
class GridView : public QTableView {
    Q_OBJECT
public:
    explicit GridView(GridModel&, QWidget* parent = nullptr);

    /// Returns the numbers of the selected cells, row by row.
    std::vector<size_t> selected() const;
    /// A few rows: the others can be scrolled to, and what stands below stays in sight.
    QSize sizeHint() const override;

signals:
    /// The current cell or the selection is another one.
    void chosen();
    void copyAsked();

protected:
    void changeEvent(QEvent*) override;
    void keyPressEvent(QKeyEvent*) override;
    void selectionChanged(const QItemSelection&, const QItemSelection&) override;
    void currentChanged(const QModelIndex&, const QModelIndex&) override;

private:
    void fitLetters();
    void renewTip();

    GridModel& m_model;
};

class GridLegend : public QWidget {
    Q_OBJECT
public:
    explicit GridLegend(const GridModel&, QWidget* parent = nullptr);

    /// Takes over what the model shows now.
    void refresh();

protected:
    void changeEvent(QEvent*) override;

private:
    void fitLetters();

    const GridModel& m_model;
    QLabel* m_low = nullptr; ///< children
    QWidget* m_bar = nullptr;
    QLabel* m_high = nullptr;
    QLabel* m_marks = nullptr;
    QLabel* m_doubt = nullptr; ///< shown when there is one
};

} // namespace halfscope
