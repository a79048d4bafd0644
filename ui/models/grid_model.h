// A map of settings as a table: a cell for each combination, with one of its measures as text and
// as a share of the range that all cells have. Tells the rest of a cell in words. Knows no widgets.
#pragma once

#include "engine/train/setting_grid.h"

#include <QAbstractTableModel>
#include <QString>
#include <optional>

namespace halfscope {

class GridModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum class Measure {
        Loss,
        ValidationLoss,
        Accuracy,
        Skipped,
        Scale,
        ZeroGradients,
        GradientError
    };
    /// GoodnessRole: where a cell lies between the worst, 0, and the best, 1, of the measure that
    /// is shown, and for loss scales between the least and the largest; none for cells without a
    /// value. BestRole: whether it is the best of all cells, see rankedCells(). FailedRole: whether
    /// its training failed. Qt::EditRole has a cell's text without star and asterisk.
    enum Role { GoodnessRole = Qt::UserRole + 1, BestRole, FailedRole };

    explicit GridModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    /// Shows an empty map.
    void begin(SettingGrid);
    void set(size_t cell, const GridCell&);
    void show(Measure);
    Measure shown() const { return m_shown; }
    /// Returns the measures that the cells have, or may have before there are any.
    QList<Measure> measures() const;
    static QString nameOf(Measure);

    /// Nothing before there is a map.
    const std::optional<SettingGrid>& grid() const { return m_grid; }
    const GridCells& cells() const { return m_cells; }
    size_t cellAt(const QModelIndex&) const;
    size_t trained() const; ///< how many cells are

    /// The values at the two ends of the colours; empty texts without any.
    struct Range {
        QString worst, best; ///< of loss scales, the least and the largest
    };
    Range range() const;
    /// Says which cell has the star, and how one of several equal cells gets it.
    QString starRule() const;
    /// Says why the best cell has the star: "best accuracy", or what decided between cells that
    /// are equal in that; empty without a best cell.
    QString starReason() const;
    /// Returns the measure that decided which cell is the best.
    Measure deciding() const;
    /// Returns sentences that set the best cell in doubt, see zerosOfBest() and chanceOfBest();
    /// usually empty.
    QString doubt() const;
    /// Says which setting has the rows and which one the columns.
    QString axes() const;
    /// Returns the cell's settings that no lane has for itself, "Learning rate 0.01"; empty when
    /// there are none.
    QString sharedSettings(size_t cell) const;
    /// Returns all that is known of a cell, one line for each figure; what is to be told of a cell
    /// that is not trained is short.
    QString about(size_t cell) const;
    /// Returns the table with its headings, separated by tabs.
    QString text() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

private:
    std::optional<double> valueOf(size_t cell, Measure) const;
    QString textOf(size_t cell, Measure) const;
    QString nameOf(size_t cell) const;
    std::optional<double> goodness(size_t cell) const;
    void findRange();
    void announce();

    std::optional<SettingGrid> m_grid;
    GridCells m_cells;
    Measure m_shown = Measure::Loss;
    std::optional<size_t> m_best;
    Win m_win;                      ///< of m_best, if there is one
    double m_least = 0, m_most = 0; ///< finite values of the measure that is shown
    bool m_hasRange = false;        ///< there is at least one
    bool m_byPowers = false;        ///< colours follow the logarithm
};

} // namespace halfscope
