// The colours are those of runs behind others: the lanes have their own colours, and parts are no
// lanes.
#include "ui/panels/memory_bar.h"

#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/run_model.h"

#include <QFocusEvent>
#include <QLocale>
#include <QPainter>
#include <QToolTip>

#include <array>
#include <numeric>

namespace halfscope {
namespace {

constexpr int kThickness = 5, kFrame = 2; // pixels; the frame is shown with the focus
constexpr int kParts = 6, kLegendColumns = 3;
constexpr double kLegendSize = 0.85; // of the window's font

std::array<QString, kParts> partNames() {
    return {MemoryBar::tr("parameters"), MemoryBar::tr("optimizer"), MemoryBar::tr("activations"),
            MemoryBar::tr("gradients"),  MemoryBar::tr("workspace"), MemoryBar::tr("other")};
}

size_t partOf(MemoryCause cause) {
    switch (cause) {
    case MemoryCause::Parameters: return 0;
    case MemoryCause::OptimizerState: return 1;
    case MemoryCause::Activations: return 2;
    case MemoryCause::Gradients: return 3;
    case MemoryCause::Workspace: return 4;
    case MemoryCause::OtherState:
    case MemoryCause::Inputs: break;
    }
    return 5;
}

size_t bytesOf(const std::vector<MemoryPart>& parts) {
    return std::accumulate(parts.begin(), parts.end(), size_t{0},
                           [](size_t sum, const MemoryPart& part) { return sum + part.bytes; });
}

/// Returns "activations: 12.1 MiB (72 %)", one line a part.
QString figuresOf(const std::vector<MemoryPart>& parts) {
    const auto all = static_cast<double>(bytesOf(parts));
    QStringList lines;
    for (const MemoryPart& part : parts)
        lines << MemoryBar::tr("%1: %2 (%3 %)")
                     .arg(part.name, memoryText(part.bytes),
                          QLocale().toString(100 * static_cast<double>(part.bytes) / all, 'f', 0));
    return lines.join(u'\n');
}

} // namespace

QString memoryText(size_t bytes) {
    constexpr double kKibi = 1 << 10, kMebi = 1 << 20, kGibi = 1 << 30;
    const auto size = static_cast<double>(bytes);
    const double sizes[] = {kKibi, kMebi, kGibi};
    const QString units[] = {MemoryBar::tr("%1 KiB"), MemoryBar::tr("%1 MiB"),
                             MemoryBar::tr("%1 GiB")};
    constexpr double kNext = 999.5; // more would be four digits
    size_t unit = 0;
    while (unit + 1 < std::size(sizes) && size / sizes[unit] >= kNext)
        ++unit;
    return units[unit].arg(shownNumber(size / sizes[unit], 3));
}

std::vector<MemoryPart> memoryParts(const MemoryUse& memory) {
    std::vector<MemoryPart> parts;
    for (const QString& name : partNames())
        parts.push_back({name, 0});
    for (int i = 0; i < kMemoryCauses; ++i)
        parts[partOf(static_cast<MemoryCause>(i))].bytes +=
            memory.peakByCause[static_cast<size_t>(i)];
    if (bytesOf(parts) == 0) parts.clear();
    return parts;
}

MemoryBar::MemoryBar(const MemoryUse& memory, const QString& lane, QWidget* parent)
    : QWidget(parent), m_parts(memoryParts(memory)) {
    setFocusPolicy(Qt::TabFocus); // a click leaves Space to Play
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    const QString figures = figuresOf(m_parts);
    setToolTip(tr("Peak memory of a step of this lane, by cause:\n%1").arg(figures));
    setAccessibleName(tr("Memory of lane %1 by cause").arg(lane));
    setAccessibleDescription(figures);
}

QSize MemoryBar::minimumSizeHint() const { return {40, kThickness + 2 * kFrame}; }

void MemoryBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Colors colors = colorsFor(palette());
    const auto all = static_cast<double>(bytesOf(m_parts));
    const QRectF room = QRectF(rect()).adjusted(kFrame, kFrame, -kFrame, -kFrame);
    double from = room.left();
    for (size_t i = 0; i < m_parts.size(); ++i) {
        const double part = room.width() * static_cast<double>(m_parts[i].bytes) / all;
        constexpr double kGap = 1; // between two parts, when there is room for it
        const double seen = part > 3 * kGap ? part - kGap : part;
        painter.fillRect(QRectF(from, room.top(), seen, room.height()),
                         colors.run(static_cast<int>(i)));
        from += part;
    }
    if (!hasFocus()) return;
    painter.setPen(QPen(colors.text, 1));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

/// Shows the tip when the focus comes by keyboard: no pointer can ask for it then.
void MemoryBar::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
    const bool byKey =
        event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    if (byKey) QToolTip::showText(mapToGlobal(QPoint(0, height())), wrappedTip(toolTip()), this);
}

MemoryLegend::MemoryLegend(QWidget* parent) : QWidget(parent) {
    setFont(scaledFont(font(), kLegendSize));
    setAccessibleName(tr("Colours of the memory's causes"));
    const std::array<QString, kParts> names = partNames();
    setAccessibleDescription(QStringList(names.begin(), names.end()).join(u", "));
}

QSize MemoryLegend::minimumSizeHint() const {
    return {40, fontMetrics().lineSpacing() * (kParts / kLegendColumns)};
}

void MemoryLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Colors colors = colorsFor(palette());
    const int line = fontMetrics().lineSpacing(), square = fontMetrics().ascent() * 2 / 3;
    const int column = width() / kLegendColumns;
    const std::array<QString, kParts> names = partNames();
    for (int i = 0; i < kParts; ++i) {
        const int left = i % kLegendColumns * column, top = i / kLegendColumns * line;
        painter.fillRect(left, top + (line - square) / 2, square, square, colors.run(i));
        const QRect room(left + square + 4, top, column - square - 6, line);
        painter.setPen(colors.muted);
        painter.drawText(
            room, Qt::AlignLeft | Qt::AlignVCenter,
            fontMetrics().elidedText(names[static_cast<size_t>(i)], Qt::ElideRight, room.width()));
    }
}

} // namespace halfscope
