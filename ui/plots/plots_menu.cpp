// The entries and what they do.
#include "ui/plots/plots_menu.h"

#include "ui/plots/measure.h"
#include "ui/plots/plot_stack.h"

#include <string>
#include <vector>

namespace halfscope {

namespace {

/// Returns a metric's title as an entry shows it.
QString entryOf(const Metric& metric) { return titleOf(metric).replace('&', QLatin1String("&&")); }

void showPlot(PlotStack& plots, const QString& column, bool shows) {
    QStringList hidden = plots.hiddenPlots();
    hidden.removeAll(column);
    if (!shows) hidden << column;
    plots.hidePlots(hidden);
    plots.refresh();
}

void addPlots(QMenu& menu, PlotStack& plots) {
    menu.clear();
    const std::vector<Metric> all = plots.plottable();
    const QStringList hidden = plots.hiddenPlots();
    const std::string& loss = knownMetrics()[metric::Loss].column;
    for (const Metric& each : all) {
        const QString column = QString::fromStdString(each.column);
        const bool stays = each.column == loss;
        QAction* action = menu.addAction(entryOf(each));
        action->setCheckable(true);
        action->setChecked(stays || !hidden.contains(column));
        action->setEnabled(!stays);
        QObject::connect(action, &QAction::toggled, &plots,
                         [&plots, column](bool shows) { showPlot(plots, column, shows); });
    }
}

void addValues(QMenu& menu, PlotStack& plots) {
    menu.clear();
    for (const Metric& each : plots.plottable()) {
        const QString column = QString::fromStdString(each.column);
        QAction* action = menu.addAction(PlotStack::tr("%1…").arg(entryOf(each)), &plots,
                                         [&plots, column] { emit plots.valuesRequested(column); });
        action->setEnabled(plots.lastStep() > 0);
    }
}

} // namespace

void listPlots(QMenu& menu, PlotStack& plots) {
    QObject::connect(&menu, &QMenu::aboutToShow, &plots,
                     [&menu, &plots] { addPlots(menu, plots); });
}

void addEventSteps(QMenu& menu, PlotStack& plots) {
    menu.addAction(PlotStack::tr("Ne&xt event"), QKeySequence(Qt::Key_E), &plots,
                   [&plots] { plots.goToEvent(true); });
    menu.addAction(PlotStack::tr("Previous event"), QKeySequence(Qt::SHIFT | Qt::Key_E), &plots,
                   [&plots] { plots.goToEvent(false); });
}

void listValues(QMenu& menu, PlotStack& plots) {
    QObject::connect(&menu, &QMenu::aboutToShow, &plots,
                     [&menu, &plots] { addValues(menu, plots); });
}

PlotsMenu::PlotsMenu(PlotStack& plots, const Metric* pointed) : QMenu(&plots) {
    QAction* follow = addAction(PlotStack::tr("Follow the newest step"));
    follow->setCheckable(true);
    follow->setChecked(plots.following());
    connect(follow, &QAction::toggled, &plots, [&plots](bool on) {
        plots.setFollow(on);
        plots.refresh();
    });
    listPlots(*addMenu(PlotStack::tr("Plots shown")), plots);
    addSeparator();
    // through the queue: while a dialog is open or a file is written, this menu is deleted, and it
    // would still be in the middle of the key or the click that chose the entry
    addAction(PlotStack::tr("Copy picture of the plots"), &plots, &PlotStack::copyRequested,
              Qt::QueuedConnection);
    addAction(PlotStack::tr("Save picture of the plots…"), &plots, &PlotStack::saveRequested,
              Qt::QueuedConnection);
    if (!pointed) return;
    addAction(
        PlotStack::tr("Save the values of \"%1\"…").arg(entryOf(*pointed)), &plots,
        [&plots, column = QString::fromStdString(pointed->column)] {
            emit plots.valuesRequested(column);
        },
        Qt::QueuedConnection);
}

} // namespace halfscope
