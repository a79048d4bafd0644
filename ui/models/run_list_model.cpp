// Rows of the store, and their texts.
#include "ui/models/run_list_model.h"

#include "ui/models/edit_differences.h"
#include "ui/models/lane_titles.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace halfscope {

RunListModel::RunListModel(RunStore& store, QObject* parent)
    : QAbstractTableModel(parent), m_store(store) {}

void RunListModel::refresh() {
    if (!m_taken || m_changes != m_store.changes()) takeStore();
    takeDifferences();
    int first = rowCount(), last = -1;
    for (int i = 0; i < rowCount(); ++i) {
        Row& row = m_rows[static_cast<size_t>(i)];
        const uint64_t version = row.entry.run->version() + 1; // so that 0 means that the run was
                                                               // not looked at
        if (std::exchange(row.version, version) != version) {
            row.losses = lossesOf(row.entry.run->now());
            row.validations = validationsOf(row.entry.run->now());
            row.score = scoreOf(row.entry.run->now());
            row.told = false;
        }
        if (std::exchange(row.told, true)) continue;
        row.look = ++m_looks;
        first = std::min(first, i);
        last = std::max(last, i);
    }
    // once for all of them: who listens measures the table anew
    if (last >= 0) emit dataChanged(index(first, 0), index(last, Columns - 1));
}

void RunListModel::showValidations(bool on) {
    if (std::exchange(m_validations, on) == on) return;
    for (Row& row : m_rows)
        row.told = false;
    refresh();
    emit headerDataChanged(Qt::Horizontal, LossColumn, LossColumn);
}

/// Takes the runs of the store one by one: who shows them keeps what is chosen, and its place.
void RunListModel::takeStore() {
    m_taken = true;
    m_changes = m_store.changes();
    const auto entries = m_store.entries();
    removeGone();
    std::unordered_set<RunId> known;
    for (const Row& each : m_rows)
        known.insert(each.entry.id);
    for (int row = 0; row < static_cast<int>(entries.size()); ++row) {
        const RunStore::Entry& entry = entries[static_cast<size_t>(row)];
        const auto place = m_rows.begin() + row;
        if (!known.contains(entry.id)) {
            auto last = entries.begin() + row;
            while (last != entries.end() && !known.contains(last->id))
                known.insert((last++)->id);
            insertEntries(row, {entries.begin() + row, last});
        } else if (place->entry.id != entry.id) { // further down: all before it are taken
            const auto found = std::find_if(place, m_rows.end(), [&entry](const Row& each) {
                return each.entry.id == entry.id;
            });
            const auto before = static_cast<int>(found - m_rows.begin());
            beginMoveRows({}, before, before, {}, row);
            std::rotate(place, found, found + 1);
            endMoveRows();
        }
        // only its name, its visibility or its being shown may have changed
        Row& taken = m_rows[static_cast<size_t>(row)];
        const bool current = entry.id == m_store.current();
        m_compared = m_compared && taken.entry.named == entry.named &&
                     (!entry.named || taken.entry.name == entry.name); // which is its title then
        taken.told = taken.told && taken.entry.name == entry.name &&
                     taken.entry.visible == entry.visible && taken.current == current;
        taken.current = current;
        taken.entry = entry;
    }
}

/// Removes the runs that the store no longer has; those that follow one another at once, because
/// who shows them measures them after each signal.
void RunListModel::removeGone() {
    for (int last = rowCount() - 1; last >= 0; --last) {
        int first = last + 1;
        while (first > 0 && !m_store.find(idAt(first - 1)))
            --first;
        if (first > last) continue;
        beginRemoveRows({}, first, last);
        m_rows.erase(m_rows.begin() + first, m_rows.begin() + last + 1);
        m_compared = false;
        endRemoveRows();
        last = first;
    }
}

void RunListModel::insertEntries(int row, std::span<const RunStore::Entry> entries) {
    beginInsertRows({}, row, row + static_cast<int>(entries.size()) - 1);
    const auto place = m_rows.insert(m_rows.begin() + row, entries.size(), Row());
    std::transform(entries.begin(), entries.end(), place, [](const RunStore::Entry& entry) {
        Row added;
        added.entry = entry;
        return added;
    });
    m_compared = false;
    endInsertRows();
}

/// Compares the runs anew when other runs are there, or settings of one have changed, as by a live
/// edit, or one has come to an edit that it repeats.
void RunListModel::takeDifferences() {
    bool same = std::exchange(m_compared, true);
    for (Row& row : m_rows) {
        const RunSnapshot& now = row.entry.run->now();
        const size_t made = editsMade({&now.info(), now.step()});
        same = same && row.info == now.sharedInfo() && row.editsMade == made;
        row.info = now.sharedInfo();
        row.editsMade = made;
    }
    if (same) return;
    const auto differences = m_store.differences(nameInTitles);
    std::vector<EditedRun> runs;
    for (const Row& row : m_rows)
        runs.push_back({row.info.get(), row.entry.run->step()});
    // settings that are the same now may have differed before an edit
    const std::vector<QStringList> edits = editDifferences(runs);
    bool changed = false;
    for (size_t i = 0; i < m_rows.size(); ++i) {
        QStringList shown;
        for (const std::string& each : differences[i])
            shown << safeText(QString::fromStdString(each).simplified().toStdString(),
                              kMostMessage); // a network has several lines
        shown << edits[i];
        Row& row = m_rows[i];
        QStringList labels;
        for (const QString& title : laneTitlesOf(row.entry.run->now()))
            labels << laneTag(static_cast<int>(labels.size())) + u' ' + title;
        const QString lanes = lanesApart(labels);
        if (std::exchange(row.lanes, lanes) != lanes) row.told = false;
        if (std::exchange(row.differences, shown) == shown) continue;
        row.told = false;
        changed = true;
    }
    if (changed) emit differencesChanged();
}

/// Lines end between two settings, not between a setting and its value; only longer texts, such as
/// those of networks, are broken.
QString RunListModel::differencesOf(int row) const {
    if (row < 0 || row >= rowCount()) return {};
    constexpr qsizetype kSpaces = 2; // "B: Growth interval 20", whose name is one word
    constexpr qsizetype kShort = 30; // characters, which every list has room for
    QStringList texts = m_rows[static_cast<size_t>(row)].differences;
    for (QString& each : texts)
        if (each.count(u' ') <= kSpaces && each.size() <= kShort)
            each.replace(QChar(u' '), QChar(QChar::Nbsp));
    return texts.join(QStringLiteral(", "));
}

RunId RunListModel::idAt(int row) const {
    return row < 0 || row >= rowCount() ? RunId::None : m_rows[static_cast<size_t>(row)].entry.id;
}

int RunListModel::rowOf(RunId id) const {
    for (int i = 0; i < rowCount(); ++i)
        if (idAt(i) == id) return i;
    return -1;
}

QString RunListModel::tagOf(RunId id) { return QString::number(static_cast<uint32_t>(id)); }

/// Returns "A 0.0123 (0.0119)", "B 0.0131 (0.0121)".
QStringList RunListModel::lossesOf(const RunSnapshot& run) {
    QStringList parts;
    for (int lane = 0; lane < run.laneCount(); ++lane) {
        const halfscope::Column& loss = run.column(lane, metric::Loss);
        if (loss.empty()) continue;
        const QString last = shownNumber(loss.lastValue(), 3);
        const QString median = shownNumber(trailingLoss(run, lane), 3);
        // "not a number" twice would leave the run's name no room
        parts << (std::isfinite(loss.lastValue()) || last != median
                      ? tr("%1 %2 (%3)").arg(laneTag(lane), last, median)
                      : tr("%1 %2").arg(laneTag(lane), last));
    }
    return parts;
}

/// Returns "A 97.42 %", "B 96.80 %"; without accuracies, "A 0.0123".
QStringList RunListModel::validationsOf(const RunSnapshot& run) {
    QStringList parts;
    for (int lane = 0; lane < run.laneCount(); ++lane) {
        const LaneTotals& totals = run.totals(lane);
        if (const std::optional<double>& accuracy = totals.accuracy())
            parts << tr("%1 %2").arg(laneTag(lane),
                                     shownAccuracy(*accuracy, totals.validationLoss()));
        else if (const std::optional<double>& loss = totals.validationLoss())
            parts << tr("%1 %2").arg(laneTag(lane), shownNumber(*loss, 3));
    }
    return parts;
}

QString RunListModel::detailsOf(int at) const {
    if (at < 0 || at >= rowCount()) return {};
    const Row& row = m_rows[static_cast<size_t>(at)];
    const int64_t step = row.entry.run->step();
    const QString steps = step == 1 ? tr("1 step") : tr("%1 steps").arg(countText(step));
    QStringList lines;
    lines << tr("%1: %2, %3").arg(tagOf(row.entry.id), safeText(row.entry.name), steps);
    if (const QString data = untoldDataOf(row.entry); !data.isEmpty())
        lines << tr("Data: %1").arg(data);
    if (const QString differs = differencesOf(at); !differs.isEmpty())
        lines << tr("Differs in %1").arg(differs);
    if (!row.lanes.isEmpty()) lines << tr("Lanes: %1").arg(row.lanes);
    if (!row.losses.isEmpty())
        lines << tr("Last loss (median of the last %1): %2")
                     .arg(kTrailingSteps)
                     .arg(row.losses.join(QStringLiteral(", ")));
    if (!row.validations.isEmpty())
        lines << tr("Last validation: %1").arg(row.validations.join(QStringLiteral(", ")));
    return lines.join(u'\n');
}

/// Returns a line for each lane.
QString RunListModel::resultOf(const Row& row) const {
    if (!m_validations) return row.losses.join(u'\n');
    if (row.validations.isEmpty()) return tr("No validation");
    QStringList lines;
    for (const QString& lane : row.validations)
        lines << tr("Validation: %1").arg(lane);
    return lines.join(u'\n');
}

QString RunListModel::spokenOf(const Row& row) const {
    const QString shown = row.entry.id == m_store.current() ? tr("shown")
                          : row.entry.visible               ? tr("its curves are drawn")
                                                            : tr("hidden");
    return tr("Run %1, %2, %3").arg(tagOf(row.entry.id), safeText(row.entry.name), shown);
}

int RunListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int RunListModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : Columns;
}

QVariant RunListModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Row& row = m_rows[static_cast<size_t>(index.row())];
    const bool current = row.entry.id == m_store.current();
    const bool name = index.column() == NameColumn;
    switch (role) {
    case Qt::DisplayRole:
        if (name) return tr("%1  %2").arg(tagOf(row.entry.id), safeText(row.entry.name));
        if (index.column() == LossColumn) return resultOf(row);
        return differencesOf(index.row());
    case Qt::EditRole: return name ? QVariant(safeText(row.entry.name)) : QVariant();
    case Qt::CheckStateRole:
        if (!name) return {};
        return QVariant(current || row.entry.visible ? Qt::Checked : Qt::Unchecked);
    case Qt::ToolTipRole: return detailsOf(index.row());
    case Qt::AccessibleDescriptionRole: return name ? QVariant(detailsOf(index.row())) : QVariant();
    case Qt::AccessibleTextRole: return name ? QVariant(spokenOf(row)) : QVariant();
    case ColorRole: return row.entry.color;
    case CurrentRole: return current;
    case LanesRole: return row.lanes;
    case LookRole: return row.look;
    default: return {};
    }
}

bool RunListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || index.column() != NameColumn)
        return false;
    const RunId id = idAt(index.row());
    if (role == Qt::CheckStateRole) {
        if (id == m_store.current()) return false; // the shown run is visible in any case
        m_store.setVisible(id, value.toInt() == Qt::Checked);
        refresh();
        emit visibilityChanged();
        return true;
    }
    const QString name = value.toString().simplified();
    if (role != Qt::EditRole || name.isEmpty()) return false;
    m_store.rename(id, name.toStdString());
    refresh();
    emit renamed();
    return true;
}

QVariant RunListModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::ToolTipRole && section != DiffersColumn && m_validations)
        return tr("By lane: the accuracy of the last validation, or its loss where there are no "
                  "classes");
    if (role == Qt::ToolTipRole && section != DiffersColumn)
        return tr("By lane: the last loss and, in parentheses, the median of the last %1 steps, "
                  "which a single spike does not change")
            .arg(kTrailingSteps);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
    case NameColumn: return tr("Run");
    case LossColumn: return m_validations ? tr("Last validation") : tr("Loss (median)");
    default: return tr("Differs in");
    }
}

Qt::ItemFlags RunListModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.column() == NameColumn ? flags | Qt::ItemIsEditable | Qt::ItemIsUserCheckable
                                        : flags;
}

} // namespace halfscope
