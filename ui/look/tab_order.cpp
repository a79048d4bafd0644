// Follows the layouts, which know places before anything is shown.
#include "ui/look/tab_order.h"

#include <QGridLayout>
#include <QSplitter>
#include <QWidget>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace halfscope {
namespace {

/// Returns the items of a layout by rows. Those of a grid are in the order in which they were
/// added.
std::vector<QLayoutItem*> itemsOf(const QLayout& layout) {
    std::vector<std::pair<std::pair<int, int>, QLayoutItem*>> placed;
    const auto* grid = qobject_cast<const QGridLayout*>(&layout);
    for (int i = 0; i < layout.count(); ++i) {
        int row = i, column = 0, rows = 1, columns = 1;
        if (grid) grid->getItemPosition(i, &row, &column, &rows, &columns);
        placed.push_back({{row, column}, layout.itemAt(i)});
    }
    std::ranges::stable_sort(placed, {}, [](const auto& each) { return each.first; });
    std::vector<QLayoutItem*> items;
    for (const auto& each : placed)
        items.push_back(each.second);
    return items;
}

class Reader {
public:
    void read(QWidget* widget) {
        if (!m_seen.insert(widget).second) return;
        m_read.push_back(widget); // before what it holds: F6 leads to it, and Tab goes on inside
        if (const QLayout* const layout = widget->layout()) readLayout(*layout);
        if (const auto* splitter = qobject_cast<QSplitter*>(widget))
            for (int i = 0; i < splitter->count(); ++i)
                read(splitter->widget(i));
        for (QObject* child : widget->children()) // without a layout, or beside it
            if (auto* inside = qobject_cast<QWidget*>(child); inside && !inside->isWindow())
                read(inside);
    }

    const std::vector<QWidget*>& found() const { return m_read; }

private:
    void readLayout(const QLayout& layout) {
        for (QLayoutItem* item : itemsOf(layout)) {
            if (QWidget* widget = item->widget()) read(widget);
            if (const QLayout* inside = item->layout()) readLayout(*inside);
        }
    }

    std::set<QWidget*> m_seen;
    std::vector<QWidget*> m_read;
};

} // namespace

void orderTabs(QWidget& part, QWidget* after) {
    Reader reader;
    reader.read(&part);
    QWidget* last = after;
    for (QWidget* next : reader.found()) {
        // those that only a click reaches, too: they may be `after` later
        if (next == last || next->focusPolicy() == Qt::NoFocus || next->focusProxy()) continue;
        if (last) QWidget::setTabOrder(last, next);
        last = next;
    }
}

} // namespace halfscope
