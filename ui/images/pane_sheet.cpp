// The panes are drawn by copies of the window's views, each as large as its picture needs. A copy
// writes the last line of its title itself, beside its note; the lines before are written above it.
// All panes of a row have room for as many lines.
#include "ui/images/pane_sheet.h"

#include "ui/images/image_view.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"

#include <QFontMetrics>
#include <QPainter>
#include <QWidget>

#include <algorithm>
#include <cstdint>

namespace halfscope {
namespace {

constexpr int kFine = 2; // as in pictures of the plots; 1 where it would be too much
constexpr int64_t kMostPixels = 20'000'000; // of the image, 4 bytes each
constexpr int kMostLines = 12;
constexpr int kSheetEdge = 8, kPaneGap = 12;         // pixels at the edges and between panes
constexpr double kLeastSide = 240, kUsualSide = 640; // pixels of a picture
constexpr double kMostForShares = 1600;              // of a table
constexpr int kSheetColumns = 4, kSheetWidth = 3000; // of the sheet

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

/// Returns the lines of the panes' titles, at least one for each.
std::vector<QStringList> titleLines(const std::vector<ImageView*>& panes) {
    std::vector<QStringList> lines;
    for (const ImageView* pane : panes) {
        QString title = pane->title();
        title.replace(QChar(QChar::Nbsp), QChar(u' ')); // a setting's name may have two lines here
        const int room = static_cast<int>(pane->viewport().width()); // over the picture
        title = breakable(title, QFontMetrics(boldOf(*pane)), room);
        lines.push_back(fittingLines(title, boldOf(*pane), room, kMostLines));
        if (lines.back().isEmpty()) lines.back() << QString();
    }
    return lines;
}

/// The copies, and where they are drawn.
struct Sheet {
    QWidget paper; ///< owns the panes; never shown
    std::vector<ImageView*> panes;
    std::vector<QStringList> notes; ///< forms of each, the longest first
    std::vector<QStringList> lines; ///< of the titles
    QSize cell;                     ///< of the largest pane with the lines above it
    int above = 0;                  ///< how high these lines are
    int columns = 1;

    int line() const { return QFontMetrics(boldOf(*panes.front())).lineSpacing(); }
    int rows() const { return (static_cast<int>(panes.size()) + columns - 1) / columns; }
    int width() const { return columns * (cell.width() + kPaneGap) - kPaneGap; }
    int height() const { return rows() * (cell.height() + kPaneGap) - kPaneGap; }
    /// Whether its image may have so many pixels for each of the layout's.
    bool fits(int fine) const { return int64_t{width()} * height() * fine * fine <= kMostPixels; }
    /// Returns the place of a pane; a last row with fewer panes is centred.
    QPoint placeOf(size_t pane) const {
        const int at = static_cast<int>(pane), row = at / columns;
        const int lacks = std::max(0, (row + 1) * columns - static_cast<int>(panes.size()));
        const int wide = cell.width() + kPaneGap;
        return {kSheetEdge + at % columns * wide + lacks * wide / 2,
                kSheetEdge + row * (cell.height() + kPaneGap) + above};
    }
};

/// Gives all notes the same form.
void setNotes(Sheet& sheet, qsizetype form) {
    for (size_t i = 0; i < sheet.panes.size(); ++i)
        sheet.panes[i]->setTitle(sheet.panes[i]->title(), sheet.notes[i].value(form));
}

bool notesFit(const Sheet& sheet) {
    for (size_t i = 0; i < sheet.panes.size(); ++i)
        if (const ImageView& pane = *sheet.panes[i];
            !pane.note().isEmpty() && !pane.fits(sheet.lines[i].back(), pane.note()))
            return false;
    return true;
}

/// Shortens the notes until all fit beside the last lines of the titles. Where none do, a line
/// below all titles has room for the longest ones.
void fitNotes(Sheet& sheet) {
    qsizetype forms = 1;
    for (const QStringList& each : sheet.notes)
        forms = std::max(forms, each.size());
    for (qsizetype form = 0; form < forms; ++form) {
        setNotes(sheet, form);
        if (notesFit(sheet)) return;
    }
    setNotes(sheet, 0);
    for (QStringList& each : sheet.lines)
        each << QString();
}

/// Makes the longer side of each picture this long.
void layOut(Sheet& sheet, double side) {
    sheet.cell = {};
    for (ImageView* pane : sheet.panes) {
        pane->resize(pane->sizeFor(side));
        sheet.cell = sheet.cell.expandedTo(pane->size());
    }
    sheet.lines = titleLines(sheet.panes);
    fitNotes(sheet);
    qsizetype most = 0;
    for (const QStringList& each : sheet.lines)
        most = std::max(most, each.size());
    sheet.above = static_cast<int>(most - 1) * sheet.line();
    sheet.cell.rheight() += sheet.above;
    const int count = static_cast<int>(sheet.panes.size());
    const int fitting = std::clamp(kSheetWidth / sheet.cell.width(), 1, kSheetColumns);
    const int rows = (count + fitting - 1) / fitting;
    sheet.columns = (count + rows - 1) / rows;
}

void fillSheet(Sheet& sheet, const std::vector<SheetPane>& panes, const Colors& colors) {
    sheet.paper.setPalette(figurePalette(colors));
    double side = kLeastSide, shares = 0;
    for (const SheetPane& each : panes) {
        auto* pane = make<ImageView>(*each.view, sheet.paper);
        pane->setTitleColor(each.color);
        sheet.panes.push_back(pane);
        sheet.notes.push_back(each.notes);
        side = std::max(side, std::min(each.view->side(), kUsualSide));
        shares = std::max(shares, pane->sideForShares()); // in the sheet's letters
    }
    layOut(sheet, shares > kMostForShares ? side : std::max(side, shares));
    if (!sheet.fits(1)) layOut(sheet, side);
}

void paintPane(QPainter& painter, const Sheet& sheet, size_t at) {
    ImageView& pane = *sheet.panes[at];
    const QStringList& lines = sheet.lines[at];
    const QPoint place = sheet.placeOf(at);
    const QString last = lines.back().isEmpty() ? QString(QChar::Nbsp) : lines.back();
    pane.setTitle(pane.title(), pane.note(), last);
    pane.render(&painter, place);
    painter.setPen(
        QPen(pane.palette().color(QPalette::Mid), 0)); // a white picture would have no edge
    painter.drawRect((pane.pictureRect() & pane.viewport()).translated(place));
    painter.setFont(boldOf(pane));
    painter.setPen(pane.titleColor());
    QRect room = pane.titleLine().translated(place);
    for (qsizetype above = lines.size() - 2; above >= 0; --above) {
        room.translate(0, -sheet.line());
        painter.drawText(room, Qt::AlignLeft, lines[above]);
    }
}

} // namespace

QImage paneSheet(const std::vector<SheetPane>& panes, const QString& caption,
                 const Colors& colors) {
    Sheet sheet;
    fillSheet(sheet, panes, colors);
    const QFont font = sheet.panes.front()->font();
    constexpr int kHow = Qt::AlignLeft | Qt::TextWordWrap;
    QRect below(kSheetEdge, sheet.height() + 2 * kSheetEdge, sheet.width(), 0);
    below.setHeight(QFontMetrics(font).boundingRect(below, kHow, caption).height());
    const QSize size(sheet.width() + 2 * kSheetEdge, below.bottom() + 1 + kSheetEdge);
    const int fine = sheet.fits(kFine) ? kFine : 1;
    QImage image(size * fine, QImage::Format_RGB32);
    if (image.isNull()) return image;
    image.setDevicePixelRatio(fine);
    image.fill(colors.background);
    QPainter painter(&image);
    for (size_t i = 0; i < sheet.panes.size(); ++i)
        paintPane(painter, sheet, i);
    painter.setFont(font);
    painter.setPen(colors.text);
    painter.drawText(below, kHow, caption);
    return image;
}

} // namespace halfscope
