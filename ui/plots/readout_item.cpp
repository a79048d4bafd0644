// Lays the header out from left to right, with full labels where they fit and letters where not.
#include "ui/plots/readout_item.h"

#include <algorithm>

namespace halfscope {

namespace {
constexpr int kGap = 5;

enum class Form { Full, Letters, Shortest };

int sampleWidth(Form form) { return form == Form::Shortest ? 12 : 22; }
int spacing(Form form) { return form == Form::Shortest ? 9 : 16; }

QString labelled(const ReadoutEntry& entry, Form form) {
    const QString label = form == Form::Full ? entry.label : entry.label.left(1);
    const QString value = form == Form::Shortest ? entry.shortValue : entry.value;
    return value.isEmpty() ? label : label + u' ' + u' ' + value;
}

int widthOf(const QVector<ReadoutEntry>& entries, Form form, const QFontMetrics& metrics) {
    int width = 0;
    for (const auto& entry : entries)
        width += sampleWidth(form) + kGap + metrics.horizontalAdvance(labelled(entry, form)) +
                 spacing(form);
    return width - spacing(form);
}
} // namespace

ReadoutItem::ReadoutItem(QCustomPlot& plot, QCPAxisRect& rect)
    : QCPAbstractItem(&plot), m_rect(rect) {
    setClipToAxisRect(false);
    setSelectable(false);
}

void ReadoutItem::setTitle(const QString& title, const QColor& color) {
    m_title = title;
    m_titleColor = color;
}

void ReadoutItem::setEntries(QVector<ReadoutEntry> entries) { m_entries = std::move(entries); }

int ReadoutItem::heightFor(const QFont& font) { return QFontMetrics(font).height() + 4; }

void ReadoutItem::draw(QCPPainter* painter) {
    const QRect inner = m_rect.rect();
    QFont bold = mParentPlot->font();
    const QFontMetrics plain(bold);
    bold.setBold(true);
    const int height = heightFor(mParentPlot->font());
    QRect line(inner.left(), inner.top() - height, inner.width(), height);
    painter->save();
    painter->setClipRect(line);
    painter->setFont(bold);
    painter->setPen(m_titleColor);
    painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, m_title);
    line.setLeft(line.left() + painter->fontMetrics().horizontalAdvance(m_title) +
                 spacing(Form::Full));
    painter->setFont(mParentPlot->font());
    Form form = Form::Full;
    for (const Form shorter : {Form::Letters, Form::Shortest})
        if (widthOf(m_entries, form, plain) > line.width()) form = shorter;
    int x = line.left();
    for (const auto& entry : m_entries) {
        QPen pen = entry.pen;
        pen.setWidthF(2); // a short sample, drawn once a frame: may be thick
        painter->setPen(pen);
        const double middle = line.center().y() + 1;
        painter->drawLine(QLineF(x, middle, x + sampleWidth(form), middle));
        x += sampleWidth(form) + kGap;
        const QString text = labelled(entry, form);
        painter->setPen(entry.textColor);
        painter->drawText(QRect(x, line.top(), std::max(0, line.right() - x), line.height()),
                          Qt::AlignLeft | Qt::AlignVCenter, text);
        x += plain.horizontalAdvance(text) + spacing(form);
    }
    painter->restore();
}

} // namespace halfscope
