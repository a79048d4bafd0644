// A pane writes the last line of its title itself, beside its note; the lines before are written
// above it. All panes of a row have room for as many lines.
#include "ui/images/pane_sheet.h"

#include "ui/images/image_view.h"
#include "ui/look/text_fit.h"

#include <QFontMetrics>
#include <QPainter>
#include <QWidget>

#include <algorithm>
#include <map>

namespace halfscope {
namespace {

constexpr int kFine = 2; // as in pictures of the plots
constexpr int kMargin = 2;
constexpr int kMostLines = 12;

QFont boldOf(const QWidget& widget) {
    QFont bold = widget.font();
    bold.setBold(true);
    return bold;
}

/// Divides words that are wider than a line.
QString breakable(const QString& title, const QFontMetrics& metrics, int width) {
    QString text;
    for (const QString& word : title.split(u' ')) {
        if (!text.isEmpty()) text += u' ';
        int line = 0;
        for (const QChar letter : word) {
            const int advance = metrics.horizontalAdvance(letter);
            if (line > 0 && line + advance > width) {
                text += u' ';
                line = 0;
            }
            text += letter;
            line += advance;
        }
    }
    return text;
}

/// Returns the lines of the panes' titles. A note that has no room beside each last line has a line
/// of its own below all titles.
std::vector<QStringList> titleLines(const std::vector<ImageView*>& panes) {
    std::vector<QStringList> lines;
    for (const ImageView* pane : panes) {
        QString title = pane->title();
        title.replace(QChar(QChar::Nbsp), QChar(u' ')); // a setting's name may have two lines here
        title = breakable(title, QFontMetrics(boldOf(*pane)), pane->width() - 2 * kMargin);
        lines.push_back(
            fittingLines(title, boldOf(*pane), pane->width() - 2 * kMargin, kMostLines));
    }
    bool noted = true;
    for (size_t i = 0; i < panes.size(); ++i)
        noted = noted && (panes[i]->note().isEmpty() ||
                          panes[i]->fits(lines[i].value(lines[i].size() - 1), panes[i]->note()));
    for (QStringList& each : lines)
        if (!noted || each.isEmpty()) each << QString();
    return lines;
}

/// Returns how far the rows are moved down, by their tops on the canvas.
std::map<int, int> shiftsOf(const std::vector<ImageView*>& panes,
                            const std::vector<QStringList>& lines) {
    std::map<int, int> shifts;
    for (size_t i = 0; i < panes.size(); ++i) {
        const int more = static_cast<int>(lines[i].size()) - 1;
        int& shift = shifts[panes[i]->y()];
        shift = std::max(shift, more * QFontMetrics(boldOf(*panes[i])).lineSpacing());
    }
    int sum = 0;
    for (auto& [top, shift] : shifts)
        shift = sum += shift;
    return shifts;
}

} // namespace

QImage paneSheet(const QWidget& canvas, const std::vector<ImageView*>& panes) {
    const std::vector<QStringList> lines = titleLines(panes);
    const std::map<int, int> shifts = shiftsOf(panes, lines);
    const QSize size = canvas.size() + QSize(0, shifts.empty() ? 0 : shifts.rbegin()->second);
    QImage image(size * kFine, QImage::Format_RGB32);
    image.setDevicePixelRatio(kFine);
    image.fill(canvas.palette().color(QPalette::Window));
    const auto placeOf = [&](const ImageView& pane) {
        return pane.pos() + QPoint(0, shifts.at(pane.y()));
    };
    for (size_t i = 0; i < panes.size(); ++i) {
        const QString last = lines[i].back().isEmpty() ? QString(QChar::Nbsp) : lines[i].back();
        panes[i]->setTitle(panes[i]->title(), panes[i]->note(), last);
        panes[i]->render(&image, placeOf(*panes[i]));
    }
    QPainter painter(&image);
    for (size_t i = 0; i < panes.size(); ++i) {
        const QFont bold = boldOf(*panes[i]);
        const int line = QFontMetrics(bold).lineSpacing();
        painter.setFont(bold);
        painter.setPen(panes[i]->titleColor());
        QRect room(placeOf(*panes[i]), QSize(panes[i]->width(), line));
        room.adjust(kMargin, 0, -kMargin, 0);
        for (qsizetype above = lines[i].size() - 2; above >= 0; --above) {
            room.translate(0, -line);
            painter.drawText(room, Qt::AlignLeft, lines[i][above]);
        }
    }
    return image;
}

} // namespace halfscope
