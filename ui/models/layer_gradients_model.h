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
    enum Column { Layer, Lane, Type, Error, Zero, Small, Room, Sizes, Columns };

    explicit LayerGradientsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    /// Shows a count, one entry for each lane; `labels` are their letters with their names.
    void show(std::vector<GradientRange>, const QStringList& labels);
    const LayerGradients& gradients(int row) const;
    int lane(int row) const { return m_rows[static_cast<size_t>(row)].lane; }
    /// Whether a row is the first of its layer.
    bool beginsLayer(int row) const;
    /// Whether other lanes have more counts of the layer's outputs or weights: some are not stored
    /// in this lane.
    bool lacks(int row, MagnitudeCounts LayerGradients::*counts) const;
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
    static QString notFiniteText(const std::vector<LayerGradients>&);
    QString zerosText(int lane) const;

    std::vector<GradientRange> m_lanes;
    std::vector<LayerRow> m_rows;
    QStringList m_labels;
};

} // namespace halfscope
