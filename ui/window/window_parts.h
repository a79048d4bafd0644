// The widgets of the main window, for the objects that do its work. The main window lays them out
// and owns them.
#pragma once

class QLabel;
class QSplitter;
class QToolButton;
class QWidget;

namespace halfscope {

class Banner;
class CompareView;
class EventPanel;
class FigureStrip;
class GradientView;
class Headline;
class PlotStack;
class RunsPanel;
class ScalerPanel;
class SetupPanel;
class TransportBar;
class WindowBorders;

/// Never null once the window is built.
struct WindowParts {
    QWidget* page = nullptr; ///< holds the parts from the transport bar to the columns
    TransportBar* transport = nullptr;
    Banner* banner = nullptr;
    SetupPanel* setup = nullptr;
    QWidget* heading = nullptr;   ///< holds the next two, above the pictures
    FigureStrip* strip = nullptr; ///< hidden but in a presentation
    Headline* headline = nullptr;
    CompareView* pictures = nullptr;
    PlotStack* plots = nullptr;
    ScalerPanel* scaler = nullptr;
    GradientView* gradients = nullptr;
    EventPanel* events = nullptr;
    RunsPanel* runs = nullptr;
    QSplitter* columns = nullptr; ///< settings, middle, right
    QSplitter* centre = nullptr;  ///< pictures above plots
    QSplitter* right = nullptr;   ///< counters above events
    WindowBorders* borders = nullptr;
    QLabel* state = nullptr; ///< in the status bar, as are the next ones
    QToolButton* stopReading = nullptr;
    QToolButton* stopRestoring = nullptr;
    QLabel* rate = nullptr;
    QLabel* device = nullptr;
};

} // namespace halfscope
