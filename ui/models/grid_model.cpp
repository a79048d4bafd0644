// Texts of the map's cells, and where their values lie between the worst and the best.
#include "ui/models/grid_model.h"

#include "engine/settings/lane_titles.h"
#include "ui/models/run_model.h"
#include "ui/models/shown_numbers.h"
#include "ui/models/translated.h"

#include <QStringList>

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

constexpr double kManyTimes = 100; // from there on, values differ by their powers of ten
constexpr char16_t kStar = 0x2605;

QString valueIn(const SettingGrid& grid, size_t cell, size_t sweep) {
    return QString::fromStdString(grid.text(cell, sweep));
}

QString nameOfSetting(const SettingGrid& grid, size_t sweep) {
    return translated(grid.sweeps()[sweep].field->label);
}

QString settingIn(const SettingGrid& grid, size_t cell, size_t sweep) {
    return GridModel::tr("%1 %2", "a setting and its value")
        .arg(nameOfSetting(grid, sweep), valueIn(grid, cell, sweep));
}

QString bestBy(Criterion criterion) {
    switch (criterion) {
    case Criterion::Accuracy: return GridModel::tr("best accuracy");
    case Criterion::ValidationLoss: return GridModel::tr("best validation loss");
    case Criterion::Loss: return GridModel::tr("best loss");
    case Criterion::Skipped: break;
    }
    return GridModel::tr("fewest skipped steps");
}

} // namespace

void GridModel::begin(SettingGrid grid) {
    beginResetModel();
    m_cells.assign(grid.cells(), {});
    m_grid.emplace(std::move(grid));
    m_best.reset();
    m_win = {};
    findRange();
    endResetModel();
}

void GridModel::set(size_t cell, const GridCell& result) {
    m_cells.at(cell) = result;
    m_best = bestCell(m_cells);
    m_win = m_best ? winOf(m_cells) : Win();
    announce();
}

void GridModel::show(Measure measure) {
    m_shown = measure;
    announce();
}

/// Every colour may change with one cell, because the range does.
void GridModel::announce() {
    findRange();
    if (m_cells.empty()) return;
    emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    if (m_grid->sweeps().size() == 1) emit headerDataChanged(Qt::Horizontal, 0, 0);
}

QList<GridModel::Measure> GridModel::measures() const {
    const auto any = [this](auto&& has) {
        return std::any_of(m_cells.begin(), m_cells.end(),
                           [&](const auto& cell) { return cell && has(*cell); });
    };
    QList<Measure> all{Measure::Loss};
    if (any([](const GridCell& cell) { return cell.score.validationLoss.has_value(); }))
        all << Measure::ValidationLoss;
    if (any([](const GridCell& cell) { return cell.score.accuracy.has_value(); }))
        all << Measure::Accuracy;
    all << Measure::Skipped << Measure::Scale;
    if (any([](const GridCell& cell) { return cell.zeroGradients.has_value(); }))
        all << Measure::ZeroGradients;
    if (any([](const GridCell& cell) { return cell.gradientError.has_value(); }))
        all << Measure::GradientError;
    return all;
}

QString GridModel::nameOf(Measure measure) {
    switch (measure) {
    case Measure::Loss: return tr("Loss");
    case Measure::ValidationLoss: return tr("Validation loss");
    case Measure::Accuracy: return tr("Accuracy");
    case Measure::Skipped: return tr("Skipped steps");
    case Measure::Scale: return tr("Last loss scale");
    case Measure::ZeroGradients: return tr("Zero gradients");
    case Measure::GradientError: return tr("Gradient error");
    }
    return {};
}

size_t GridModel::cellAt(const QModelIndex& index) const {
    return static_cast<size_t>(index.row()) * m_grid->columns() +
           static_cast<size_t>(index.column());
}

size_t GridModel::trained() const {
    return static_cast<size_t>(
        std::count_if(m_cells.begin(), m_cells.end(), [](const auto& cell) { return bool(cell); }));
}

std::optional<double> GridModel::valueOf(size_t number, Measure measure) const {
    const std::optional<GridCell>& cell = m_cells[number];
    if (!cell || cell->outcome == CellOutcome::Failed) return {};
    switch (measure) {
    case Measure::Loss: return cell->score.loss;
    case Measure::ValidationLoss: return cell->score.validationLoss;
    case Measure::Accuracy: return cell->score.accuracy;
    case Measure::Skipped: return static_cast<double>(cell->score.skipped);
    case Measure::Scale:
        return cell->scale ? std::optional(static_cast<double>(*cell->scale)) : std::nullopt;
    case Measure::ZeroGradients: return cell->zeroGradients;
    case Measure::GradientError: return cell->gradientError;
    }
    return {};
}

QString GridModel::textOf(size_t number, Measure measure) const {
    const std::optional<GridCell>& cell = m_cells[number];
    if (!cell) return {};
    if (cell->outcome == CellOutcome::Failed) return tr("failed");
    const std::optional<double> value = valueOf(number, measure);
    if (!value) return QStringLiteral("–");
    switch (measure) {
    case Measure::Accuracy: return shownAccuracy(*value, cell->score.validationLoss);
    case Measure::ZeroGradients: return percentText(*value);
    case Measure::Skipped: return countText(cell->score.skipped);
    case Measure::Scale: return QString::fromStdString(briefValue(*value));
    default: return shownNumber(*value);
    }
}

void GridModel::findRange() {
    std::vector<double> values;
    for (size_t cell = 0; cell < m_cells.size(); ++cell)
        if (const auto value = valueOf(cell, m_shown); value && std::isfinite(*value))
            values.push_back(*value);
    m_hasRange = !values.empty();
    if (!m_hasRange) return;
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    m_least = *least;
    m_most = *most;
    m_byPowers = m_least > 0 && m_most > kManyTimes * m_least;
}

std::optional<double> GridModel::goodness(size_t cell) const {
    const std::optional<double> value = valueOf(cell, m_shown);
    if (!value || !m_hasRange) return {};
    const bool moreIsBetter = m_shown == Measure::Accuracy || m_shown == Measure::Scale;
    if (!std::isfinite(*value)) return m_shown == Measure::Scale && *value > 0 ? 1.0 : 0.0;
    if (m_most == m_least) return 1;
    const auto place = [this](double x) { return m_byPowers ? std::log(x) : x; };
    const double share = (place(*value) - place(m_least)) / (place(m_most) - place(m_least));
    return moreIsBetter ? share : 1 - share;
}

GridModel::Range GridModel::range() const {
    if (!m_hasRange) return {};
    const auto text = [this](double value) {
        switch (m_shown) {
        case Measure::Accuracy: return finePercentText(value);
        case Measure::ZeroGradients: return percentText(value);
        case Measure::Scale: return QString::fromStdString(briefValue(value));
        default: return shownNumber(value);
        }
    };
    const bool moreIsBetter = m_shown == Measure::Accuracy || m_shown == Measure::Scale;
    return moreIsBetter ? Range{text(m_least), text(m_most)} : Range{text(m_most), text(m_least)};
}

/// Follows bestCell().
QString GridModel::starRule() const {
    QStringList best;
    if (measures().contains(Measure::Accuracy)) best << tr("the highest accuracy");
    if (measures().contains(Measure::ValidationLoss)) best << tr("the lowest validation loss");
    best << tr("the lowest loss") << tr("the fewest skipped steps");
    return tr("The star marks the cell with %1. Of equal cells it is the one with %2, then the "
              "first one, row by row. Cells that stopped early, failed or have a loss that is not "
              "finite do not get it.")
        .arg(best.front(), best.mid(1).join(tr(", then ")));
}

GridModel::Measure GridModel::deciding() const {
    const auto measureOf = [](Criterion criterion) {
        switch (criterion) {
        case Criterion::Accuracy: return Measure::Accuracy;
        case Criterion::ValidationLoss: return Measure::ValidationLoss;
        case Criterion::Loss: break;
        case Criterion::Skipped: return Measure::Skipped;
        }
        return Measure::Loss;
    };
    if (m_win.by) return measureOf(*m_win.by);
    return m_win.equal.empty() ? Measure::Loss : measureOf(m_win.equal.front());
}

QString GridModel::starReason() const {
    if (!m_best) return {};
    const QString contenders = countText(static_cast<int64_t>(m_win.contenders.size()));
    QStringList equal;
    for (const Criterion each : m_win.equal)
        equal << (each == Criterion::Accuracy         ? tr("accuracy")
                  : each == Criterion::ValidationLoss ? tr("validation loss")
                  : each == Criterion::Loss           ? tr("loss")
                                                      : tr("skipped steps"));
    if (!m_win.by) // of what is equal, the first set these cells apart from all others
        return tr("%1; the first of %2 cells with equal %3")
            .arg(bestBy(m_win.equal.front()), contenders, listedTags(equal));
    QString reason = bestBy(*m_win.by);
    if (!equal.isEmpty())
        reason = tr("%1 of %2 cells with equal %3").arg(reason, contenders, listedTags(equal));
    const QString own = textOf(*m_best, deciding());
    const auto alike =
        std::count_if(m_win.contenders.begin(), m_win.contenders.end(), [&](size_t cell) {
            return cell != *m_best && textOf(cell, deciding()) == own;
        });
    if (alike == 0) return reason;
    return alike == 1 ? tr("%1; 1 other cell shows the same digits").arg(reason)
                      : tr("%1; %2 other cells show the same digits").arg(reason, countText(alike));
}

QString GridModel::doubt() const {
    if (!m_grid) return {};
    QStringList sentences;
    for (const Message& words : {zerosOfBest(*m_grid, m_cells), chanceOfBest(m_cells)})
        if (!words.empty()) sentences << tr("%1.").arg(translated(words));
    return sentences.join(u' ');
}

QString GridModel::axes() const {
    if (!m_grid) return {};
    const QString rows = nameOfSetting(*m_grid, 0);
    if (m_grid->sweeps().size() == 1) return tr("Rows: %1").arg(rows);
    return tr("Rows: %1. Columns: %2").arg(rows, nameOfSetting(*m_grid, 1));
}

QString GridModel::sharedSettings(size_t cell) const {
    QStringList shared;
    for (size_t sweep = 0; sweep < m_grid->sweeps().size(); ++sweep)
        if (m_grid->sweeps()[sweep].field->scope != FieldScope::Lane)
            shared << settingIn(*m_grid, cell, sweep);
    return shared.join(QStringLiteral(", "));
}

/// "First scale 2^10, Growth interval 20".
QString GridModel::nameOf(size_t cell) const {
    QStringList parts;
    for (size_t sweep = 0; sweep < m_grid->sweeps().size(); ++sweep)
        parts << settingIn(*m_grid, cell, sweep);
    return parts.join(QStringLiteral(", "));
}

QString GridModel::about(size_t number) const {
    const std::optional<GridCell>& cell = m_cells[number];
    QStringList lines{nameOf(number)};
    if (!cell) return tr("%1: not trained").arg(lines.front());
    if (cell->outcome == CellOutcome::Failed)
        return tr("%1: failed. %2").arg(lines.front(), translated(cell->reason));
    if (m_best == number) lines.front() = tr("%1: ★ %2").arg(lines.front(), starReason());
    const int64_t last = std::min<int64_t>(cell->steps, LatestLosses::kMost);
    lines << (last == 1 ? tr("Loss: %1").arg(shownNumber(cell->score.loss))
                        : tr("Loss: %1 (median of the last %2 steps), %3 in the last step")
                              .arg(shownNumber(cell->score.loss), countText(last),
                                   shownNumber(cell->lastLoss)));
    if (cell->score.accuracy)
        lines << tr("Accuracy: %1")
                     .arg(shownAccuracy(*cell->score.accuracy, cell->score.validationLoss));
    if (cell->score.validationLoss)
        lines << tr("Validation loss: %1").arg(shownNumber(*cell->score.validationLoss));
    lines << tr("Skipped steps: %1 of %2")
                 .arg(countText(cell->score.skipped), countText(cell->steps));
    if (cell->scale)
        lines << tr("Last loss scale: %1").arg(scaleText(static_cast<double>(*cell->scale)));
    if (cell->zeroGradients)
        lines << tr("Zero gradients: %1").arg(percentText(*cell->zeroGradients));
    if (cell->gradientError)
        lines << tr("Gradient error: %1").arg(shownNumber(*cell->gradientError));
    if (cell->outcome == CellOutcome::Stopped)
        lines << tr("Stopped early. %1").arg(translated(cell->reason));
    else if (!cell->reason.empty())
        lines << translated(cell->reason);
    return lines.join(u'\n');
}

QString GridModel::text() const {
    if (!m_grid) return {};
    QStringList lines, heads{nameOfSetting(*m_grid, 0)};
    for (int column = 0; column < columnCount(); ++column)
        heads << headerData(column, Qt::Horizontal).toString();
    lines << heads.join(u'\t');
    for (int row = 0; row < rowCount(); ++row) {
        QStringList cells{headerData(row, Qt::Vertical).toString()};
        for (int column = 0; column < columnCount(); ++column)
            cells << textOf(cellAt(index(row, column)), m_shown);
        lines << cells.join(u'\t');
    }
    return lines.join(u'\n') + u'\n';
}

int GridModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_grid ? 0 : static_cast<int>(m_grid->rows());
}

int GridModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || !m_grid ? 0 : static_cast<int>(m_grid->columns());
}

QVariant GridModel::data(const QModelIndex& index, int role) const {
    // a table asks this way for what Ctrl+C copies while no cell is chosen
    if (!index.isValid() || !checkIndex(index)) return {};
    const size_t cell = cellAt(index);
    switch (role) {
    case Qt::DisplayRole: {
        QString text = textOf(cell, m_shown);
        if (m_cells[cell] && m_cells[cell]->outcome == CellOutcome::Stopped) text += u'*';
        return m_best == cell ? QString(QChar(kStar)) + u' ' + text : text;
    }
    case Qt::EditRole: return textOf(cell, m_shown);
    case Qt::ToolTipRole:
    case Qt::AccessibleDescriptionRole: return about(cell);
    case Qt::AccessibleTextRole: {
        const QString text = m_cells[cell] ? textOf(cell, m_shown) : tr("not trained");
        const QString name = tr("%1: %2", "a cell and its value").arg(nameOf(cell), text);
        return m_best == cell ? tr("%1, %2").arg(name, starReason()) : name;
    }
    case Qt::TextAlignmentRole: return QVariant(Qt::AlignCenter);
    case GoodnessRole: {
        const std::optional<double> value = goodness(cell);
        return value ? QVariant(*value) : QVariant();
    }
    case BestRole: return m_best == cell;
    case FailedRole: return m_cells[cell] && m_cells[cell]->outcome == CellOutcome::Failed;
    default: return {};
    }
}

QVariant GridModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (!m_grid || section < 0) return {};
    const bool rows = orientation == Qt::Vertical;
    if (section >= (rows ? rowCount() : columnCount())) return {};
    const size_t sweep = rows ? 0 : 1;
    if (sweep >= m_grid->sweeps().size())
        return role == Qt::DisplayRole ? QVariant(nameOf(m_shown)) : QVariant();
    const QString text = QString::fromStdString(m_grid->texts(sweep)[static_cast<size_t>(section)]);
    if (role == Qt::DisplayRole) return text;
    if (role == Qt::AccessibleTextRole || role == Qt::ToolTipRole)
        return tr("%1 %2", "a setting and its value").arg(nameOfSetting(*m_grid, sweep), text);
    return {};
}

} // namespace halfscope
