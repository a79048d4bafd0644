// Letters and sizes.
#include "ui/dialogs/figure_dialog.h"

#include <QFont>
#include <QLayout>

#include <utility>

namespace halfscope {

void FigureDialog::present(const QFont& font, const QSize& least) {
    const bool begins = !m_before.isValid(); // later it is as large as the user wants
    if (begins) m_before = size();
    setLetters(font);
    if (begins) resize(m_before.expandedTo(least));
}

void FigureDialog::endPresenting() {
    if (!m_before.isValid()) return;
    setLetters(QFont()); // a font without any property is the parent's again
    resize(std::exchange(m_before, QSize()));
}

void FigureDialog::setLetters(const QFont& font) {
    for (QWidget* part : figure())
        part->setFont(font);
    fitFigure();
    // at once: until then the dialog may not be smaller than its earlier letters needed
    for (QWidget* part : figure())
        if (QLayout* inner = part->layout()) inner->activate();
    layout()->activate();
}

} // namespace halfscope
