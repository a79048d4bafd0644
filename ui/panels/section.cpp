// A heading with an arrow, a thin line, and a column of widgets below.
#include "ui/panels/section.h"

#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/lane_titles.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace halfscope {

Section::Section(const QString& title, QWidget* parent) : QWidget(parent) {
    m_heading = make<QToolButton>(this);
    m_heading->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_heading->setAutoRaise(true);
    m_heading->setArrowType(Qt::DownArrow);
    m_heading->setIconSize({10, 10});
    // a long title must not make the panel wider
    m_heading->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    QFont bold = font();
    bold.setBold(true);
    m_heading->setFont(bold);
    m_swatch = make<QWidget>(this);
    m_swatch->setFixedSize(10, 10);
    m_swatch->setAutoFillBackground(true);
    m_swatch->hide();
    m_content = make<QWidget>(this);
    m_column = make<QVBoxLayout>(m_content);
    m_column->setContentsMargins(6, 0, 0, 4);
    m_column->setSpacing(3);
    m_headingRow = make<QHBoxLayout>();
    m_headingRow->setSpacing(4);
    m_headingRow->addWidget(m_swatch);
    m_headingRow->addWidget(m_heading, 1);
    auto* all = make<QVBoxLayout>(this);
    all->setContentsMargins(0, 0, 0, 2);
    all->setSpacing(2);
    all->addLayout(m_headingRow);
    all->addWidget(m_content);
    setTitle(title);
    connect(m_heading, &QToolButton::clicked, this, [this] { setOpen(!m_open); });
}

void Section::setTitle(const QString& title) {
    m_title = title;
    m_heading->setAccessibleName(tr("%1 settings").arg(title));
    fitTitle();
}

void Section::fitTitle() {
    constexpr int kAroundText = 24; // arrow and margins
    const int room = m_heading->width() - kAroundText;
    const QString shown =
        widest(labelForms(m_title), m_heading->fontMetrics(), room, Qt::ElideRight);
    if (shown == m_heading->text()) return;
    m_heading->setText(shown);
    m_heading->setToolTip(shown == m_title ? QString() : m_title);
}

void Section::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    layout()->activate(); // else the heading still has its earlier width
    fitTitle();
}

bool Section::isOpen() const { return m_open; }

void Section::setOpen(bool open) {
    if (open == m_open) return;
    m_open = open;
    m_heading->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
    m_heading->setAccessibleDescription(open ? QString() : tr("folded"));
    m_content->setVisible(open);
    emit toggled(open);
}

void Section::takeKeyboard() { m_heading->setFocus(Qt::OtherFocusReason); }

void Section::addWidget(QWidget* widget) { m_column->addWidget(widget); }
void Section::addToHeading(QWidget* widget) { m_headingRow->addWidget(widget); }

void Section::setSwatch(const QColor& color) {
    setOwnColor(*m_swatch, QPalette::Window, color);
    m_swatch->show();
}

} // namespace halfscope
