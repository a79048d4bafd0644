// The runs are compared only in arrange(); in between, the proxy knows places. So a change of a
// row costs nothing, and thousands of runs that arrive at once come in one piece.
#include "ui/models/ordered_runs.h"

#include "ui/models/safe_text.h"

#include <QCollator>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace halfscope {

OrderedRuns::OrderedRuns(RunListModel& runs, QObject* parent)
    : QSortFilterProxyModel(parent), m_runs(runs) {
    m_due.setSingleShot(true);
    connect(&m_due, &QTimer::timeout, this, &OrderedRuns::arrange);
    setSourceModel(&runs);
    connect(&runs, &QAbstractItemModel::rowsInserted, this, [this] { arrangeLater(0); });
    connect(&runs, &QAbstractItemModel::dataChanged, this,
            [this] { arrangeLater(m_order == Order::ByName ? 0 : kPauseMs); });
}

const std::vector<OrderedRuns::Order>& OrderedRuns::orders() {
    static const std::vector<Order> all{Order::AsOpened, Order::ByValidation, Order::ByLoss,
                                        Order::ByName};
    return all;
}

QString OrderedRuns::wordOf(Order order) {
    switch (order) {
    case Order::ByValidation: return QStringLiteral("validation");
    case Order::ByLoss: return QStringLiteral("loss");
    case Order::ByName: return QStringLiteral("name");
    case Order::AsOpened: break;
    }
    return QStringLiteral("opened");
}

OrderedRuns::Order OrderedRuns::orderOf(const QString& word) {
    for (const Order order : orders())
        if (wordOf(order) == word) return order;
    return Order::AsOpened;
}

void OrderedRuns::setOrder(Order order) {
    if (std::exchange(m_order, order) == order) return;
    if (order == Order::AsOpened) {
        m_due.stop();
        m_places.clear();
        sort(-1);
        return;
    }
    arrange();
    sort(RunListModel::NameColumn); // does nothing when another order was chosen before
}

RunId OrderedRuns::idAt(int row) const { return m_runs.idAt(listRowOf(row)); }

int OrderedRuns::placeOf(int listRow) const {
    return mapFromSource(m_runs.index(listRow, 0)).row();
}

int OrderedRuns::listRowOf(int place) const { return mapToSource(index(place, 0)).row(); }

bool OrderedRuns::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const auto placed = [this](const QModelIndex& index) {
        const auto found = m_places.find(m_runs.idAt(index.row()));
        const int place = found == m_places.end() ? std::numeric_limits<int>::max() : found->second;
        return std::pair(place, index.row());
    };
    return placed(left) < placed(right);
}

void OrderedRuns::arrangeLater(int ms) {
    if (m_order == Order::AsOpened) return;
    if (!m_due.isActive() || m_due.remainingTime() > ms) m_due.start(ms);
}

/// Gives the runs their places, and moves the rows if that changes the order.
void OrderedRuns::arrange() {
    m_due.stop();
    m_places.clear();
    int place = 0;
    for (const int row : listRowsInOrder())
        m_places[m_runs.idAt(row)] = place++;
    if (!isArranged()) invalidate();
}

/// Returns the rows of the list that this one orders; runs that are equal stay as they were opened.
std::vector<int> OrderedRuns::listRowsInOrder() const {
    std::vector<int> rows(static_cast<size_t>(m_runs.rowCount()));
    std::iota(rows.begin(), rows.end(), 0);
    if (m_order == Order::ByName) {
        QCollator collator;
        collator.setNumericMode(true); // "Run (2)" comes before "Run (10)"
        collator.setCaseSensitivity(Qt::CaseInsensitive);
        QStringList names;
        for (const int row : rows)
            names << safeText(m_runs.nameAt(row));
        std::stable_sort(rows.begin(), rows.end(),
                         [&](int a, int b) { return collator.compare(names[a], names[b]) < 0; });
        return rows;
    }
    const auto better = m_order == Order::ByLoss ? losesLess : validatesBetter;
    std::stable_sort(rows.begin(), rows.end(),
                     [&](int a, int b) { return better(m_runs.scoreAt(a), m_runs.scoreAt(b)); });
    return rows;
}

bool OrderedRuns::isArranged() const {
    for (int row = 1; row < rowCount(); ++row)
        if (lessThan(mapToSource(index(row, 0)), mapToSource(index(row - 1, 0)))) return false;
    return true;
}

} // namespace halfscope
