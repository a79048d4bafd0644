// The window as an audience sees it: pictures, plots and the news, as large as there is room for,
// and figures in dialogs, and nothing that only the operator needs. It ends where it began: the
// parts go back to what the entries of the View menu say.
#pragma once

#include "ui/window/window_parts.h"

#include <QByteArray>
#include <QElapsedTimer>
#include <QList>
#include <QObject>
#include <QPointer>
#include <QTimer>
#include <QWidget>

class QAction;
class QDockWidget;
class QLabel;
class QMainWindow;
class QShortcut;

namespace halfscope {

class ExperimentController;
class FigureDialog;

/// The entries of the View menu that show and hide parts. Their state outlasts a presentation.
struct ViewActions {
    QAction* settings = nullptr;
    QAction* right = nullptr;
    QAction* runs = nullptr;
    QAction* gradients = nullptr; ///< the only part that may be shown to an audience, too
    QAction* fullScreen = nullptr;
};

class Presentation : public QObject {
    Q_OBJECT
public:
    Presentation(const WindowParts&, const ViewActions&, ExperimentController&, QMainWindow&);

    bool isOn() const { return m_on; }
    void set(bool on);
    /// Shows a dialog in front. In a presentation, the audience can read its figure as well.
    void open(FigureDialog&);

signals:
    void changed(bool on);

protected:
    bool eventFilter(QObject*, QEvent*) override;

private:
    void begin();
    void end();
    void showParts();
    /// Puts the heading above all columns, or back above the pictures.
    void placeHeading();
    void enlarge(double factor);
    void enlargeDialogs();
    void buildMessage();
    /// Shows what the status bar would, in place of the sentence above the pictures.
    void showMessage();
    /// Ends the message, which covers the sentence that tells of an event.
    void endMessage();
    /// Likewise, but not before it could be read.
    void endReadMessage();
    double factorNow() const;

    WindowParts m_parts;
    ViewActions m_actions;
    QMainWindow& m_window;
    QShortcut* m_escape = nullptr; ///< child of the window, as is the next one
    QLabel* m_message = nullptr;   ///< shown while there is one, in a presentation
    QTimer m_ends;                 ///< runs when an event waits for its sentence
    QElapsedTimer m_told;          ///< since the message came
    bool m_on = false;
    double m_factor = 1;                           ///< the letters' size relative to the usual one
    Qt::WindowStates m_states = Qt::WindowNoState; ///< before, as are all below
    QByteArray m_columns, m_centre, m_right;
    QList<QPointer<QDockWidget>> m_docks; ///< which are hidden meanwhile
    QPointer<QWidget> m_focus;
};

} // namespace halfscope
