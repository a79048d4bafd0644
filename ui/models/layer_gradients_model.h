// The gradients of each layer as a table: a row for each layer and lane, with what its precision
// does to them. Knows no widgets.
#pragma once

#include "engine/runs/gradient_counts.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace halfscope {

class LayerGradientsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Layer, Lane, Type, Sizes, Zero, Small, Room, Error, Columns };

    explicit LayerGradientsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    /// Shows a count, one entry for each lane; `labels` are their letters with their names.
    void show(std::vector<GradientRange>, const QStringList& labels);
    const LayerGradients& gradients(int row) const;
    int lane(int row) const { return m_rows[static_cast<size_t>(row)].lane; }
    /// Returns how many rows in a row, from this one on, are of the same layer.
    int rowsOfLayer(int row) const;
    /// Says of each lane that does not compute in float32 where its precision acts most. Empty
    /// where there is nothing to say.
    QString summary() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

private:
    QString text(int row, int column) const;
    QString summaryOf(int lane) const;
    QString zerosText(int lane) const;

    std::vector<GradientRange> m_lanes;
    std::vector<LayerRow> m_rows;
    QStringList m_labels;
};

} // namespace halfscope
