// The list of runs in an order that the user chooses: as they were opened, the best first, or by
// name. Numbers, names and colours of the runs stay what they are.
#pragma once

#include "ui/models/run_list_model.h"

#include <QSortFilterProxyModel>
#include <QTimer>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace halfscope {

class OrderedRuns : public QSortFilterProxyModel {
    Q_OBJECT
public:
    enum class Order : uint8_t { AsOpened, ByValidation, ByLoss, ByName };
    /// Values of runs that train change with every frame. Rows move no more often than this, or
    /// nobody could read or choose one of them.
    static constexpr int kPauseMs = 1000;

    explicit OrderedRuns(RunListModel&, QObject* parent = nullptr);

    static const std::vector<Order>& orders();
    /// Returns the word by which settings remember an order.
    static QString wordOf(Order);
    /// Returns AsOpened for a word that names none.
    static Order orderOf(const QString& word);

    Order order() const { return m_order; }
    void setOrder(Order);
    RunId idAt(int row) const;
    /// Returns the place of a row of the list that this one orders, and the other way round.
    int placeOf(int listRow) const;
    int listRowOf(int place) const;

protected:
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    void arrangeLater(int ms);
    void arrange();
    std::vector<int> listRowsInOrder() const;
    bool isArranged() const;

    RunListModel& m_runs;
    Order m_order = Order::AsOpened;
    /// The places that runs have had since arrange(); a run that came later has none, and is last.
    std::unordered_map<RunId, int> m_places;
    QTimer m_due; ///< for arrange()
};

} // namespace halfscope
