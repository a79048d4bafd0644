// A dialog around a figure that an audience reads, too: a presentation enlarges the figure's
// letters, but not those of the operator's controls.
#pragma once

#include <QDialog>
#include <QList>

namespace halfscope {

class FigureDialog : public QDialog {
public:
    using QDialog::QDialog;

    /// Returns the figure and what explains it.
    virtual QList<QWidget*> figure() const = 0;
};

} // namespace halfscope
