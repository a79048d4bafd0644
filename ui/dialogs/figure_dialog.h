// A dialog around a figure that an audience reads, too: a presentation enlarges the figure's
// letters, but not those of the operator's controls.
#pragma once

#include <QDialog>
#include <QList>
#include <QSize>

namespace halfscope {

class FigureDialog : public QDialog {
    Q_OBJECT
public:
    using QDialog::QDialog;

    /// Returns the figure and what explains it.
    virtual QList<QWidget*> figure() const = 0;
    /// Shows the figure with the letters of a presentation, in a dialog of at least this size.
    void present(const QFont&, const QSize& least);
    /// Gives back the usual letters and the size from before.
    void endPresenting();

protected:
    /// Called when the figure's letters have another size.
    virtual void fitFigure() {}

private:
    void setLetters(const QFont&);
    QSize m_before; ///< of the dialog; invalid unless it is presented
};

} // namespace halfscope
