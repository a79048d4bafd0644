// The words follow the decisions of the engine one by one.
#include "ui/models/types_model.h"

#include "ui/models/safe_text.h"
#include "ui/models/shown_numbers.h"

#include <algorithm>

namespace halfscope {

QString nameOfType(DType type) {
    const std::string_view name = nameOf(type);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

void TypesModel::show(std::vector<LaneTypes> lanes, const QStringList& labels) {
    beginResetModel();
    m_lanes = std::move(lanes);
    m_rows = typesRows(m_lanes);
    m_labels = labels;
    endResetModel();
}

std::optional<int> TypesModel::laneAt(const QModelIndex& index) {
    if (!index.isValid() || index.column() < FirstLane) return {};
    return index.column() - FirstLane;
}

QString TypesModel::layerAt(int row) const {
    return QString::fromStdString(m_rows[static_cast<size_t>(row)].label);
}

int TypesModel::rowsOfLayer(int row) const {
    int end = row + 1;
    while (end < rowCount() && layerAt(end) == layerAt(row))
        ++end;
    return end - row;
}

const FunctionTypes* TypesModel::typesAt(const QModelIndex& index) const {
    const std::optional<int> lane = laneAt(index);
    if (!lane) return nullptr;
    return m_rows[static_cast<size_t>(index.row())].lanes[static_cast<size_t>(*lane)];
}

QString TypesModel::why(const FunctionTypes& types, int lane) const {
    const std::string& policy = m_lanes[static_cast<size_t>(lane)].policy;
    const QString list = safeText(policy);
    switch (types.source) {
    case TypeSource::NoAutocast:
        return tr("No autocast acts here: the function computes in the types of its inputs.");
    case TypeSource::Layer:
        return tr("The lane's settings or its policy give this layer a type of its own.");
    case TypeSource::EveryLayer: return tr("This precision casts every layer alike.");
    case TypeSource::Loss: return tr("This precision takes losses in float32.");
    case TypeSource::Outputs:
        return tr("This precision casts the outputs of the network to float32.");
    case TypeSource::Rule: break;
    }
    switch (types.rule) {
    case CastRule::Lower:
        return tr("Autocast (%1) lists this function for 16 bits: its inputs are cast.").arg(list);
    case CastRule::Full:
        return tr("Autocast (%1) lists this function for float32: its 16-bit inputs are cast.")
            .arg(list);
    case CastRule::FullBySet:
        return tr("Autocast (%1) lists this function for float32, and its result stays in float32.")
            .arg(list);
    case CastRule::Widest:
        return tr("Autocast (%1) casts the inputs of this function to the widest type among them.")
            .arg(list);
    case CastRule::Follow:
        return tr("No list of autocast (%1) has this function: it follows the types of its inputs.")
            .arg(list);
    case CastRule::Banned: break; // refused before anything is shown
    }
    return {};
}

QString TypesModel::about(const QModelIndex& index) const {
    const FunctionTypes* types = typesAt(index);
    if (!types) return {};
    const int lane = *laneAt(index);
    QStringList lines{tr("%1 in %2, lane %3: %4")
                          .arg(safeText(types->function), safeText(types->label),
                               m_labels.value(lane), index.data().toString())};
    lines << why(*types, lane);
    if (types->fp8)
        lines << tr("The inputs of the product are rounded to E4M3 before it, and the gradient of "
                    "its result to E5M2.");
    if (types->tf32) lines << tr("The inputs of the product are rounded to TF32.");
    if (types->product && types->type != DType::F32 && !types->insideF32)
        lines << tr("The products are added up in float32, and the sum is rounded to %1 once.")
                     .arg(nameOfType(types->type));
    if (types->insideF32)
        lines << tr("Sums inside it are in float32, and the result is rounded to %1 once.")
                     .arg(nameOfType(types->type));
    for (const InputCast& cast : types->casts)
        lines << (cast.weight ? tr("Cast: parameter %1, %2 → %3 (numbers: %4)")
                              : tr("Cast: %1, %2 → %3 (numbers: %4)"))
                     .arg(safeText(cast.of), nameOfType(cast.from), nameOfType(cast.to),
                          countText(cast.elements));
    const bool weights = std::any_of(types->casts.begin(), types->casts.end(),
                                     [](const InputCast& cast) { return cast.weight; });
    if (weights)
        lines << tr("Backward, each cast is undone: the gradient of a parameter has the type of "
                    "the parameter.");
    return lines.join(u'\n');
}

QString TypesModel::totals() const {
    QStringList lanes;
    for (size_t lane = 0; lane < m_lanes.size(); ++lane) {
        int casts = 0;
        int64_t numbers = 0;
        for (const FunctionTypes& each : m_lanes[lane].functions) {
            for (const InputCast& cast : each.casts) {
                ++casts;
                numbers += cast.elements;
            }
        }
        const QString label = m_labels.value(static_cast<qsizetype>(lane));
        //: %1 is a lane, %2 how many casts it makes, %3 how many numbers they convert
        lanes
            << (casts == 0
                    ? tr("%1: none").arg(label)
                    : tr("%1: %2 (numbers: %3)").arg(label, countText(casts), countText(numbers)));
    }
    return tr("Casts in the forward pass. %1").arg(lanes.join(QStringLiteral("; ")));
}

int TypesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int TypesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : FirstLane + static_cast<int>(m_lanes.size());
}

QVariant TypesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const TypesRow& row = m_rows[static_cast<size_t>(index.row())];
    if (index.column() < FirstLane) {
        if (role != Qt::DisplayRole) return {};
        return safeText(index.column() == LayerColumn ? row.label : row.function);
    }
    const FunctionTypes* types = typesAt(index);
    if (role == Qt::AccessibleTextRole || role == Qt::ToolTipRole) return about(index);
    if (!types) return role == Qt::DisplayRole ? QVariant(tr("–")) : QVariant();
    if (role == BytesRole) return types->fp8 ? 1 : static_cast<int>(bytesOf(types->type));
    if (role != Qt::DisplayRole) return {};
    const QString name = nameOfType(types->type);
    const QString text = types->fp8         ? tr("%1, FP8 inputs").arg(name)
                         : types->tf32      ? tr("%1, TF32 inputs").arg(name)
                         : types->insideF32 ? tr("%1, float32 inside").arg(name)
                                            : name;
    const int casts = static_cast<int>(types->casts.size());
    if (casts == 0) return text;
    return casts == 1 ? tr("%1, 1 cast").arg(text) : tr("%1, %n casts", nullptr, casts).arg(text);
}

QVariant TypesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    const QString lane = m_labels.value(section - FirstLane);
    if (role == Qt::ToolTipRole && section >= FirstLane) return lane;
    if (role != Qt::DisplayRole) return {};
    if (section == LayerColumn) return tr("Layer");
    return section == FunctionColumn ? tr("Function") : lane;
}

} // namespace halfscope
