// Lays the header out from left to right, with full labels where they fit and letters where not.
#include "ui/plots/readout_item.h"

#include "ui/models/lane_titles.h"

#include <algorithm>
#include <vector>

namespace halfscope {

namespace {
constexpr int kBehindSample = 5;
constexpr int kBehindTitle = 16;
constexpr char16_t kMore = u'…';

/// Returns a pen for a sample, which is short and drawn once a frame, so it may be thick. Its
/// dashes are as long as those of the curve, and half of one comes first: the shortest sample has a
/// gap.
QPen samplePen(QPen pen) {
    const double width = pen.widthF(), thick = std::max(2.0, width);
    QVector<qreal> dashes = pen.style() == Qt::SolidLine ? QVector<qreal>() : pen.dashPattern();
    for (qreal& each : dashes)
        each *= width / thick;
    pen.setWidthF(thick);
    if (!dashes.isEmpty()) {
        pen.setDashPattern(dashes);
        pen.setDashOffset(dashes.front() / 2);
    }
    return pen;
}

} // namespace

ReadoutItem::ReadoutItem(QCustomPlot& plot, QCPAxisRect& rect)
    : QCPAbstractItem(&plot), m_rect(rect) {
    setClipToAxisRect(false);
    setSelectable(false);
}

void ReadoutItem::setTitle(const QString& title, const QString& plain, const QString& shortTitle,
                           const QColor& color) {
    m_title = title;
    m_plainTitle = plain;
    m_shortTitle = shortTitle;
    m_titleColor = color;
}

void ReadoutItem::setEntries(QVector<ReadoutEntry> entries) { m_entries = std::move(entries); }

int ReadoutItem::heightFor(const QFont& font) { return QFontMetrics(font).height() + 4; }

/// The last form has no samples: it tells lanes by letter and colour alone. Dashes are as long as
/// the line is thick, so a thick line needs a longer sample.
int ReadoutItem::sampleWidth(Form form) const {
    constexpr double kUsual = 1.6; // pixels
    const double width = m_entries.isEmpty() ? 1 : m_entries.front().pen.widthF();
    const int sample = isShort(form) ? 12 : 22;
    if (form == Form::NoSamples) return 0;
    return static_cast<int>(sample * std::max(1.0, width / kUsual)) + kBehindSample;
}
int ReadoutItem::spacing(Form form) const {
    return form >= Form::Tight ? 7 : isShort(form) ? 9 : 16;
}

bool ReadoutItem::isShort(Form form) const {
    return form >= (m_printed ? Form::ShortTitle : Form::Compared);
}

const QString& ReadoutItem::valueIn(const ReadoutEntry& entry, Form form) const {
    if (form == Form::Whole && !entry.wholeValue.isEmpty()) return entry.wholeValue;
    if (!isShort(form)) return entry.value;
    const bool compared = form <= Form::Compared && !entry.comparedValue.isEmpty();
    return compared ? entry.comparedValue : entry.shortValue;
}

const QString& ReadoutItem::titleIn(Form form) const {
    if (m_printed) return form >= Form::Shortest ? m_plainTitle : m_title;
    return form >= Form::ShortTitle ? m_shortTitle : m_title;
}

QString ReadoutItem::labelled(const ReadoutEntry& entry, Form form) const {
    const QString label = form <= Form::Full    ? entry.label
                          : form == Form::Brief ? briefLabel(entry.label)
                                                : entry.label.left(1);
    const QString& value = valueIn(entry, form);
    QString gap(form >= Form::Tight ? 1 : 2, u' ');
    if (label.size() > 1) gap = QStringLiteral(": "); // names may end in a number, too
    return value.isEmpty() ? label : label + gap + value;
}

int ReadoutItem::entryWidth(const ReadoutEntry& entry, Form form,
                            const QFontMetrics& metrics) const {
    return sampleWidth(form) + metrics.horizontalAdvance(labelled(entry, form));
}

int ReadoutItem::titleWidth(Form form) const {
    QFont bold = mParentPlot->font();
    bold.setBold(true);
    return QFontMetrics(bold).horizontalAdvance(titleIn(form)) + kBehindTitle;
}

ReadoutItem::Form ReadoutItem::formFor(int width, Form richest) const {
    for (const Form form : {Form::Whole, Form::Full, Form::Brief, Form::Letters, Form::ShortTitle,
                            Form::Compared, Form::Shortest, Form::Tight})
        if (form >= richest && fitting(width, form) == m_entries.size()) return form;
    return Form::NoSamples;
}

void ReadoutItem::nameLanesAlike(QCustomPlot& plot) {
    std::vector<ReadoutItem*> headers;
    for (int i = 0; i < plot.itemCount(); ++i)
        if (auto* header = qobject_cast<ReadoutItem*>(plot.item(i)); header && header->isShown())
            headers.push_back(header);
    Form richest = Form::Whole;
    for (const ReadoutItem* header : headers)
        if (!header->m_givesWay)
            richest = std::max(richest, header->formFor(header->room(), Form::Whole));
    // from there on, forms name lanes alike, and differ in title and value
    richest = std::min(richest, Form::Letters);
    for (ReadoutItem* header : headers)
        header->m_richest = richest;
}

bool ReadoutItem::namesInFull() const { return m_givesWay || form() <= Form::Full; }

bool ReadoutItem::isShown() const { return visible() && m_rect.margins().top() > 0; }

/// Returns how many entries there is room for.
qsizetype ReadoutItem::fitting(int width, Form form) const {
    const QFontMetrics metrics(mParentPlot->font());
    const int more = spacing(form) + metrics.horizontalAdvance(QChar(kMore));
    int room = width - titleWidth(form);
    for (qsizetype i = 0; i < m_entries.size(); ++i) {
        const int needed = entryWidth(m_entries[i], form, metrics);
        const bool last = i + 1 == m_entries.size();
        if (needed + (last ? 0 : more) > room) return i;
        room -= needed + spacing(form);
    }
    return m_entries.size();
}

int ReadoutItem::room() const { return m_rect.rect().width() - (m_printed ? 0 : m_covered); }

bool ReadoutItem::fits() const { return fitting(room(), form()) == m_entries.size(); }

QStringList ReadoutItem::textsIn(int width, Form form) const {
    const qsizetype count = fitting(width, form);
    QStringList texts{titleIn(form)};
    for (qsizetype i = 0; i < count; ++i)
        texts << labelled(m_entries[i], form);
    if (count < m_entries.size()) texts << QString(QChar(kMore));
    return texts;
}

void ReadoutItem::draw(QCPPainter* painter) {
    if (!isShown()) return;
    constexpr auto kWhere = Qt::AlignLeft | Qt::AlignVCenter;
    const QRect inner(m_rect.rect().topLeft(), QSize(room(), m_rect.rect().height()));
    const Form form = this->form();
    const QStringList texts = textsIn(inner.width(), form);
    const int height = heightFor(mParentPlot->font());
    QRect line(inner.left(), inner.top() - height, inner.width(), height);
    painter->save();
    painter->setClipRect(line);
    QFont bold = mParentPlot->font();
    bold.setBold(true);
    painter->setFont(bold);
    painter->setPen(m_titleColor);
    painter->drawText(line, kWhere, texts.front());
    line.setLeft(line.left() + titleWidth(form));
    painter->setFont(mParentPlot->font());
    const QFontMetrics metrics(mParentPlot->font());
    for (qsizetype i = 0; i + 1 < texts.size(); ++i) {
        if (texts[i + 1] == QChar(kMore)) {
            painter->setPen(m_titleColor);
            painter->drawText(line, kWhere, texts[i + 1]);
            break;
        }
        const ReadoutEntry& entry = m_entries[i];
        painter->setPen(samplePen(entry.pen));
        const double middle = line.center().y() + 1;
        if (const int sample = sampleWidth(form) - kBehindSample; sample > 0)
            painter->drawLine(QLineF(line.left(), middle, line.left() + sample, middle));
        painter->setPen(entry.textColor);
        painter->drawText(line.adjusted(sampleWidth(form), 0, 0, 0), kWhere, texts[i + 1]);
        line.setLeft(line.left() + entryWidth(entry, form, metrics) + spacing(form));
    }
    painter->restore();
}

} // namespace halfscope
