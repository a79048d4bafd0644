// The menus of the plots: which of them are shown, and what else can be done with them.
#pragma once

#include <QMenu>

namespace halfscope {

class PlotStack;
struct Metric;

/// Fills the menu, each time it opens, with an entry for each plot of the run that shows or hides
/// it. The loss is always shown. The plots must outlive the menu.
void listPlots(QMenu&, PlotStack&);

/// Adds the entries that lead from one event to the next. The plots must outlive the menu.
void addEventSteps(QMenu&, PlotStack&);

/// Fills the menu, each time it opens, with an entry for each plot that saves its values. The plots
/// must outlive the menu.
void listValues(QMenu&, PlotStack&);

/// The context menu of the plots. The plots are its parent.
class PlotsMenu : public QMenu {
    Q_OBJECT
public:
    /// `pointed` is the metric of the plot under the pointer; null when there is none.
    PlotsMenu(PlotStack&, const Metric* pointed);
};

} // namespace halfscope
