// Figures and words of the table.
#include "ui/models/layer_gradients_model.h"

#include "engine/runs/tensor_words.h"
#include "ui/models/run_model.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"
#include "ui/models/types_model.h"

#include <algorithm>
#include <optional>

namespace halfscope {
namespace {

/// Breaks a heading before its last word: the numbers below it are narrow.
QString onTwoLines(QString heading) {
    const qsizetype space = heading.lastIndexOf(u' ');
    return space < 0 ? heading : heading.replace(space, 1, u'\n');
}

double shareOf(int64_t part, int64_t all) {
    return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

double zerosOf(const LayerGradients& layer) { return shareOf(layer.zeros(), layer.total()); }

/// Returns a layer's name as sentences have it: "the output layer".
QString nameOf(const LayerGradients& layer) { return translated(layerInWords(layer.layer)); }

/// Returns "0.weight, 0.bias"; empty where a layer has no parameters.
QString parametersText(const LayerGradients& layer) {
    QStringList names;
    for (const std::string& name : layer.parameters)
        names << safeText(name);
    return names.join(QStringLiteral(", "));
}

QString errorText(double error) {
    constexpr int kDigits = 3;
    return shownNumber(error, kDigits);
}

/// Whether a layer's zeros may come of rounding. Weights differ between lanes, and so do the zeros
/// of ReLU: what rounding has left is small for fp16. Where it has left nothing, gradients are
/// small in other layers of the lane, or all zero in every one; behind dead units they are neither.
bool mayUnderflow(const LayerGradients& layer, const std::vector<LayerGradients>& ofLane) {
    if (!layer.allZero()) return layer.small() > 0;
    if (layer.type != DType::F16 && !layer.fp8) return false;
    return std::ranges::any_of(ofLane, [](const auto& each) { return each.small() > 0; }) ||
           std::ranges::all_of(ofLane, [](const auto& each) { return each.allZero(); });
}

/// Returns which share of the gradients that are not zero in `exact` a lane has lost; nothing where
/// so few are zero that this may be chance, or where other gradients were counted.
std::optional<double> shareLost(const LayerGradients& own, const LayerGradients& exact) {
    constexpr double kFew = 0.02;
    const bool same = own.layer == exact.layer && own.outputs.total() == exact.outputs.total() &&
                      own.weights.total() == exact.weights.total();
    const double more = zerosOf(own) - zerosOf(exact);
    if (!same || more < kFew) return std::nullopt;
    return more / (1 - zerosOf(exact));
}

/// Names the layers whose gradients are all zero, which says enough without a lane to compare with;
/// empty where there is none.
QString allZeroText(const std::vector<LayerGradients>& layers) {
    constexpr qsizetype kNamed = 4; // as many as fit into a line
    QStringList names;
    for (const LayerGradients& layer : layers)
        if (layer.allZero()) names << nameOf(layer);
    if (names.isEmpty()) return {};
    if (names.size() == static_cast<qsizetype>(layers.size()) && names.size() > 1)
        return LayerGradientsModel::tr("all gradients zero in every layer");
    if (names.size() <= kNamed)
        return LayerGradientsModel::tr("all gradients zero in %1")
            .arg(names.join(QStringLiteral(", ")));
    return LayerGradientsModel::tr("all gradients zero in %1 and %2 more layers")
        .arg(names.first(kNamed - 1).join(QStringLiteral(", ")))
        .arg(names.size() - kNamed + 1);
}

/// Returns the layer with the largest value; null where no layer has one.
template <class Value>
const LayerGradients* most(const std::vector<LayerGradients>& layers, Value value) {
    const LayerGradients* found = nullptr;
    for (const LayerGradients& layer : layers)
        if (value(layer) && (!found || *value(layer) > *value(*found))) found = &layer;
    return found;
}

} // namespace

void LayerGradientsModel::show(std::vector<GradientRange> lanes, const QStringList& labels) {
    std::vector<LayerRow> rows = layerRows(lanes);
    const bool same = rows == m_rows && labels == m_labels; // then the cursor stays where it is
    if (!same) beginResetModel();
    m_lanes = std::move(lanes);
    m_rows = std::move(rows);
    m_labels = labels;
    if (!same) endResetModel();
    if (same && !m_rows.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, Columns - 1));
}

const LayerGradients& LayerGradientsModel::gradients(int row) const {
    const LayerRow& at = m_rows[static_cast<size_t>(row)];
    return m_lanes[static_cast<size_t>(at.lane)].layers[at.at];
}

bool LayerGradientsModel::beginsLayer(int row) const {
    const auto at = static_cast<size_t>(row);
    return row == 0 || m_rows[at].layer != m_rows[at - 1].layer;
}

bool LayerGradientsModel::lacks(int row, MagnitudeCounts LayerGradients::*counts) const {
    const LayerGradients& own = gradients(row);
    const int64_t counted = (own.*counts).total();
    return std::any_of(m_lanes.begin(), m_lanes.end(), [&](const GradientRange& range) {
        return std::any_of(range.layers.begin(), range.layers.end(),
                           [&](const LayerGradients& each) {
                               return each.layer == own.layer && (each.*counts).total() > counted;
                           });
    });
}

QString LayerGradientsModel::summary() const {
    QStringList lanes;
    for (int lane = 0; lane < static_cast<int>(m_lanes.size()); ++lane)
        if (const QString text = summaryOf(lane); !text.isEmpty()) lanes << text;
    return lanes.join(u'\n');
}

QString LayerGradientsModel::summaryOf(int lane) const {
    const GradientRange& range = m_lanes[static_cast<size_t>(lane)];
    const std::vector<LayerGradients>& layers = range.layers;
    const auto* far = most(layers, [](const LayerGradients& layer) { return layer.error; });
    QStringList parts;
    const QString bad = notFiniteText(layers);
    if (!bad.isEmpty()) {
        parts << bad;
    } else if (range.type == DType::F16) {
        const auto* tight = most(layers, [](const LayerGradients& layer) {
            const std::optional<int> room = layer.room();
            return room ? std::optional(-*room) : std::nullopt;
        });
        if (tight)
            parts << tr("least room for a larger scale in %1 (2^%2)")
                         .arg(nameOf(*tight))
                         .arg(*tight->room());
    }
    if (const QString zeros = zerosText(lane); bad.isEmpty() && !zeros.isEmpty()) parts << zeros;
    if (far) parts << tr("largest error in %1 (%2)").arg(nameOf(*far), errorText(*far->error));
    if (!range.noErrors.empty())
        parts << tr("errors are not measured: %1").arg(translated(range.noErrors));
    if (parts.isEmpty()) return {};
    return tr("%1: %2.").arg(m_labels.value(lane), parts.join(tr("; ")));
}

/// The backward pass goes from the last layer to the first, and what overflows usually stays inf or
/// becomes nan on the way.
QString LayerGradientsModel::notFiniteText(const std::vector<LayerGradients>& layers) {
    const auto isBad = [](const LayerGradients& layer) { return layer.notFinite() > 0; };
    const auto last = std::find_if(layers.rbegin(), layers.rend(), isBad);
    if (last == layers.rend()) return {};
    const QString name = nameOf(*last);
    const auto bad = std::count_if(layers.begin(), layers.end(), isBad);
    const auto before = layers.rend() - last - 1;
    if (bad == 1) return tr("inf or nan in %1").arg(name);
    return bad == before + 1 ? tr("inf or nan in %1 and all layers before it").arg(name)
                             : tr("inf or nan in %1 and in layers before it").arg(name);
}

/// Says in which layer a lane loses most of the gradients that a lane in float32 keeps; empty where
/// there is none.
QString LayerGradientsModel::zerosText(int lane) const {
    const std::vector<LayerGradients>& layers = m_lanes[static_cast<size_t>(lane)].layers;
    const auto exact = std::find_if(m_lanes.begin(), m_lanes.end(), [](const GradientRange& range) {
        return range.type == DType::F32 && notFiniteText(range.layers).isEmpty();
    });
    if (exact == m_lanes.end()) return allZeroText(layers);
    double most = 0;
    QString text;
    for (const LayerGradients& own : layers)
        for (const LayerGradients& other : exact->layers) {
            const std::optional<double> lost = shareLost(own, other);
            if (!lost || *lost <= most || !mayUnderflow(own, layers)) continue;
            most = *lost;
            text = tr("most underflow in %1 (%2 of its gradients are zero, in lane %3 %4)")
                       .arg(nameOf(own), percentText(zerosOf(own)),
                            laneTag(static_cast<int>(exact - m_lanes.begin())),
                            percentText(zerosOf(other)));
        }
    return text;
}

int LayerGradientsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int LayerGradientsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : Columns;
}

QString LayerGradientsModel::text(int row, int column) const {
    const LayerGradients& layer = gradients(row);
    switch (column) {
    case Layer: return safeText(layer.layer);
    case Lane: return m_labels.value(lane(row));
    case Type: return layer.fp8 ? tr("E5M2 (FP8)") : nameOfType(layer.type);
    case Zero: return percentText(zerosOf(layer));
    case Small: return percentText(shareOf(layer.small(), layer.total()));
    case Room:
        if (layer.notFinite() > 0)
            return tr("%1 inf or nan").arg(percentText(shareOf(layer.notFinite(), layer.total())));
        if (const auto room = layer.room()) return QStringLiteral("2^%1").arg(*room);
        return layer.total() > 0 && layer.inHalfRange() ? tr("all zero") : tr("–");
    case Error:
        if (layer.error) return errorText(*layer.error);
        return tr("–");
    }
    return {};
}

QVariant LayerGradientsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    if (role == Qt::TextAlignmentRole) {
        const bool number = index.column() > Type && index.column() < Sizes;
        return QVariant(Qt::AlignVCenter | (number ? Qt::AlignRight : Qt::AlignLeft));
    }
    const LayerGradients& layer = gradients(index.row());
    if (role == Qt::ToolTipRole && (index.column() == Layer || index.column() == Lane)) {
        const QString name = text(index.row(), index.column()); // its cell may be narrower
        const QString parameters = index.column() == Layer ? parametersText(layer) : QString();
        return parameters.isEmpty() ? name : tr("%1. In PyTorch: %2").arg(name, parameters);
    }
    if (role == Qt::ToolTipRole && index.column() == Room && !layer.inHalfRange() &&
        layer.notFinite() == 0)
        return tr("Stored in %1, which holds far larger numbers than fp16.")
            .arg(nameOfType(layer.type));
    if (role == Qt::AccessibleTextRole) {
        QStringList parts{text(index.row(), Layer), text(index.row(), Lane)};
        const QString parameters = parametersText(layer);
        if (!parameters.isEmpty()) parts[0] += QStringLiteral(" (%1)").arg(parameters);
        for (const int column : {Type, Error, Zero, Small, Room})
            parts << headerData(column, Qt::Horizontal).toString().replace(u'\n', u' ') + u' ' +
                         text(index.row(), column);
        return parts.join(QStringLiteral(", "));
    }
    return role == Qt::DisplayRole ? QVariant(text(index.row(), index.column())) : QVariant();
}

QVariant LayerGradientsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignVCenter |
                        (section > Type && section < Sizes ? Qt::AlignRight : Qt::AlignLeft));
    if (role == Qt::DisplayRole) {
        switch (section) {
        case Layer: return tr("Layer");
        case Lane: return tr("Lane");
        case Type: return onTwoLines(tr("Stored as"));
        case Sizes: return QString(); // its header has an axis
        case Zero: return tr("Zero");
        case Small: return onTwoLines(tr("Below 2^-14"));
        case Room: return onTwoLines(tr("Room in fp16"));
        case Error: return tr("Error");
        }
    }
    if (role != Qt::ToolTipRole) return {};
    switch (section) {
    case Type: return tr("The narrowest type in which any of these gradients is stored.");
    case Sizes:
        return tr("How many gradients lie between two powers of two: the "
                  "stronger the colour, the more. Upper "
                  "half: gradients of the layer's outputs. Lower half: of its weights.");
    case Zero:
        return tr("Gradients that are zero. ReLU and causal masks cause some in every precision: "
                  "compare with a lane in float32.");
    case Small:
        return tr("Gradients that are not zero, but too small for all digits of fp16. Below "
                  "2^-25, fp16 makes them zero.");
    case Room:
        return tr("How many times as large the loss scale could be before a gradient of this "
                  "layer reached inf in fp16. A dash means that its gradients are stored in a type "
                  "that holds larger numbers.");
    case Error:
        return tr(
            "How far the gradients of the layer's weights are from those that float32 "
            "computes from the same weights and the same batch, divided by the size of those: 0 "
            "is the same gradient, 1 is as wrong as a gradient of zeros.");
    default: return {};
    }
}

} // namespace halfscope
