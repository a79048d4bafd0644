// Filters of keys, tool tips and drags.
#include "ui/window/key_router.h"

#include "ui/images/compare_view.h"
#include "ui/look/text_fit.h"
#include "ui/plots/plot_stack.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QDragEnterEvent>
#include <QHeaderView>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QToolTip>

namespace halfscope {

namespace {

/// Returns the tip that Qt would show at a point of a widget: a list's entry and a menu's action
/// have tips of their own.
QString tipAt(const QWidget& widget, const QPoint& at) {
    if (const auto* menu = qobject_cast<const QMenu*>(&widget)) {
        const QAction* action = menu->toolTipsVisible() ? menu->actionAt(at) : nullptr;
        return action ? action->toolTip() : QString();
    }
    const auto* view = qobject_cast<const QAbstractItemView*>(widget.parent());
    if (!view || view->viewport() != &widget || !view->model()) return widget.toolTip();
    if (const auto* header = qobject_cast<const QHeaderView*>(view)) {
        const int section = header->logicalIndexAt(at);
        if (section < 0) return {};
        return view->model()
            ->headerData(section, header->orientation(), Qt::ToolTipRole)
            .toString();
    }
    const QString tip = view->indexAt(at).data(Qt::ToolTipRole).toString();
    return tip.isEmpty() ? view->toolTip() : tip;
}

/// Whether a key types a letter, a digit, a sign or a space.
bool types(const QKeyEvent& key) {
    constexpr auto kCommands = Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier;
    return !(key.modifiers() & kCommands) && !key.text().isEmpty() && key.text().front().isPrint();
}

bool zooms(const QKeyEvent& key) {
    const bool plus = key.key() == Qt::Key_Plus || key.key() == Qt::Key_Equal;
    return (plus || key.key() == Qt::Key_Minus) && // + may need Shift
           !(key.modifiers() & ~(Qt::KeypadModifier | Qt::ShiftModifier));
}

bool drawsFigures(const QObject& watched) {
    return qobject_cast<const PlotStack*>(&watched) || qobject_cast<const CompareView*>(&watched);
}

} // namespace

KeyRouter::KeyRouter(QWidget& window) : m_window(window) { qApp->installEventFilter(this); }

KeyRouter::~KeyRouter() { qApp->removeEventFilter(this); }

bool KeyRouter::isBoxOfWindow(const QObject& watched) const {
    const auto* box = qobject_cast<const QComboBox*>(&watched);
    return box && box->window() == &m_window;
}

KeyRouter::KeyGoes KeyRouter::whereGoes(const QKeyEvent& key, const QObject& watched) const {
    const auto* spin = qobject_cast<const QAbstractSpinBox*>(&watched);
    const auto* line =
        spin ? spin->findChild<QLineEdit*>() : qobject_cast<const QLineEdit*>(&watched);
    // what was typed and confirmed is not undone letter by letter: the setting is undone
    if (key.matches(QKeySequence::Undo) || key.matches(QKeySequence::Redo))
        return line && !line->isModified() ? KeyGoes::Past : KeyGoes::AsUsual;
    if (zooms(key) && drawsFigures(watched))
        return KeyGoes::ToWidget; // elsewhere they set the pace
    if ((key.modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier) return KeyGoes::AsUsual;
    const bool space = key.key() == Qt::Key_Space;
    // Letters and Space are the window's keys where they type nothing: a box has arrows, and
    // Alt+Down or F4 opens it.
    if (isBoxOfWindow(watched) && types(key)) return KeyGoes::Past;
    // A focused button, box or list keeps the plain keys that it answers itself. Play leaves Space
    // to the window, which knows when one has come too late to pause.
    const bool presses =
        qobject_cast<const QAbstractButton*>(&watched) && !watched.property("leavesSpace").toBool();
    if (presses && space) return KeyGoes::ToWidget;
    // a list with check boxes answers Space itself
    if (space && watched.property("keepsSpace").toBool()) return KeyGoes::ToWidget;
    const bool function = key.key() >= Qt::Key_F1 && key.key() <= Qt::Key_F35;
    if (qobject_cast<const QComboBox*>(&watched) && !function) return KeyGoes::ToWidget;
    // a number has neither spaces nor letters: Space plays there, too, and R resets
    const bool number = spin || qobject_cast<const QAbstractSpinBox*>(watched.parent());
    const bool letter = types(key) && key.text().front().isLetter();
    return number && (space || letter) ? KeyGoes::Past : KeyGoes::AsUsual;
}

/// Lets Enter press the button that has the keyboard, as Space does: Qt does so in dialogs only,
/// and there only where a button may become the default one.
bool KeyRouter::pressesButton(const QKeyEvent& key, QObject* watched) {
    auto* button = qobject_cast<QAbstractButton*>(watched);
    const bool enter = key.key() == Qt::Key_Return || key.key() == Qt::Key_Enter;
    if (!button || !enter) return false;
    const auto* push = qobject_cast<const QPushButton*>(button);
    const bool ofWindow = button->window() == &m_window;
    const bool ofDialog = qobject_cast<const QDialog*>(button->window()) && push &&
                          !push->autoDefault() && !push->isDefault();
    if (!ofDialog && !(ofWindow && (push || button->inherits("QToolButton")))) return false;
    if (!key.isAutoRepeat()) button->click();
    return true;
}

bool KeyRouter::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* widget = qobject_cast<QWidget*>(watched);
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString plain = widget ? tipAt(*widget, help->pos()) : QString();
        const QString tip = wrappedTip(plain);
        if (!tip.isEmpty() && tip != plain) {
            QToolTip::showText(help->globalPos(), tip, widget);
            return true;
        }
    }
    // a text box would insert the address of a dropped file as text
    if (event->type() == QEvent::DragEnter && qobject_cast<QLineEdit*>(watched) &&
        m_window.isAncestorOf(static_cast<QWidget*>(watched)) &&
        static_cast<QDragEnterEvent*>(event)->mimeData()->hasUrls()) {
        event->ignore(); // the window gets it then
        return true;
    }
    // a box would choose the entry that begins with a letter which is no shortcut
    if (event->type() == QEvent::KeyPress && isBoxOfWindow(*watched) &&
        types(*static_cast<QKeyEvent*>(event)))
        return true;
    if (event->type() == QEvent::KeyPress &&
        pressesButton(*static_cast<QKeyEvent*>(event), watched))
        return true;
    if (event->type() == QEvent::ShortcutOverride) {
        const KeyGoes goes = whereGoes(*static_cast<QKeyEvent*>(event), *watched);
        if (goes != KeyGoes::AsUsual) {
            event->setAccepted(goes == KeyGoes::ToWidget);
            return true;
        }
    }
    return QObject::eventFilter(watched, event);
}

} // namespace halfscope
