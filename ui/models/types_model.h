// What each function of the network computes in, as a table: a row for each function, a column for
// each lane. Tells in words why, and what is cast. Knows no widgets.
#pragma once

#include "engine/step/function_types.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <optional>
#include <vector>

namespace halfscope {

/// Returns "float16".
QString nameOfType(DType);

class TypesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    /// The columns before those of the lanes.
    enum Column { LayerColumn, FunctionColumn, FirstLane };
    /// BytesRole: how many bytes a number has that the function computes, 4 or 2, or that its
    /// product takes in FP8, 1; none where the lane has no such function.
    enum Role { BytesRole = Qt::UserRole + 1 };

    explicit TypesModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    /// Shows other lanes; `labels` are their letters with their names, "B amp-fp16".
    void show(std::vector<LaneTypes>, const QStringList& labels);
    /// Returns the lane of a cell; nothing for the columns before them.
    static std::optional<int> laneAt(const QModelIndex&);
    /// Returns the layer of a row as settings name it, "layer 1".
    QString layerAt(int row) const;
    /// Returns how many rows in a row, from this one on, are of the same layer.
    int rowsOfLayer(int row) const;
    /// Tells of a cell what it computes in and why, and what is cast before it.
    QString about(const QModelIndex&) const;
    /// Tells how much each lane casts on the way through the network.
    QString totals() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

private:
    const FunctionTypes* typesAt(const QModelIndex&) const;
    QString why(const FunctionTypes&, int lane) const;

    std::vector<LaneTypes> m_lanes;
    std::vector<TypesRow> m_rows; ///< point into m_lanes
    QStringList m_labels;
};

} // namespace halfscope
