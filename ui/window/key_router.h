// Decides which widget a key goes to, and lets Enter press buttons. It also changes other events on
// their way to the widgets: tool tips are shown as plain text and wrapped, and a file that is
// dropped on an input box goes to the window.
#pragma once

#include <QObject>

class QKeyEvent;
class QWidget;

namespace halfscope {

/// An event filter of the whole application.
class KeyRouter : public QObject {
    Q_OBJECT
public:
    explicit KeyRouter(QWidget& window);
    ~KeyRouter() override;

protected:
    bool eventFilter(QObject*, QEvent*) override;

private:
    /// Tells whether a key goes to the widget itself, or past it to the shortcuts.
    enum class KeyGoes { AsUsual, ToWidget, Past };
    KeyGoes whereGoes(const QKeyEvent&, const QObject& watched) const;
    bool isBoxOfWindow(const QObject& watched) const;

    bool pressesButton(const QKeyEvent&, QObject* watched);

    QWidget& m_window;
};

} // namespace halfscope
