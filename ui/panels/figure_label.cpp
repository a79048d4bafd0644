// Text and accessible name change together.
#include "ui/panels/figure_label.h"

namespace halfscope {

FigureLabel::FigureLabel(const QString& name, QWidget* parent) : QLabel(parent), m_name(name) {
    setAccessibleName(name);
}

void FigureLabel::showFigure(const QString& figure) {
    if (figure == text()) return; // a new layout costs more than the comparison
    setText(figure);
    setAccessibleName(figure.isEmpty() ? m_name : tr("%1: %2").arg(m_name, figure));
}

} // namespace halfscope
