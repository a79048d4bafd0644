// Draws the picture in memory. The caller writes it on another thread, and knows why a disk does
// not take it.
#include "ui/plots/plot_picture.h"

#include "ui/look/theme.h"
#include "ui/models/run_facts.h"
#include "ui/plots/readout_item.h"
#include "ui/plots/run_legend.h"

#include <qcustomplot.h>

#include <QBuffer>
#include <QCoreApplication>
#include <QPageSize>
#include <QPdfWriter>
#include <QScopeGuard>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace halfscope {
namespace {

constexpr int kLegendMargin = 8, kLeastSample = 22, kSampleGap = 5,
              kBetweenEntries = 18; // pixels of a legend
constexpr int kPeriods = 2;       // of dashes in a sample: in print, nothing else tells lanes apart
constexpr double kPixelsEach = 2; // pixels of a picture for each one on screen

void writeSvg(const QSize& size, const QString& title, const DrawFigure& draw, QIODevice& to) {
    QSvgGenerator generator;
    generator.setOutputDevice(&to);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(0, 0), size));
    generator.setTitle(title);
    QCPPainter painter;
    painter.begin(&generator);
    draw(painter);
}

void writePdf(const QSize& size, const QString& title, const DrawFigure& draw, QIODevice& to) {
    constexpr double kPointsAnInch = 72;
    QPdfWriter writer(&to);
    const int dots = QImage(1, 1, QImage::Format_RGB32).logicalDpiX(); // letters keep their size
                                                                       // beside the lines
    writer.setResolution(dots);
    writer.setPageSize(QPageSize(QSizeF(size) * kPointsAnInch / dots, QPageSize::Point, QString(),
                                 QPageSize::ExactMatch));
    writer.setPageMargins({});
    writer.setTitle(title);
    QCPPainter painter;
    painter.begin(&writer);
    painter.setMode(QCPPainter::pmVectorized);
    draw(painter);
}

QVector<qreal> dashesOf(const QPen& pen) {
    return pen.style() == Qt::SolidLine ? QVector<qreal>() : pen.dashPattern();
}

/// Returns a pen for samples, which are drawn once, so that it may be thick. Its dashes are as long
/// as those of the curve.
QPen thickPen(QPen pen) {
    const double width = pen.widthF(), thick = std::max(1.5, width);
    QVector<qreal> dashes = dashesOf(pen);
    for (qreal& each : dashes)
        each *= width / thick;
    pen.setWidthF(thick);
    if (!dashes.isEmpty()) pen.setDashPattern(dashes);
    return pen;
}

/// Returns the length of all samples, in pixels.
int sampleLength(const FigureLegend& legend) {
    double longest = 0;
    for (const FigureLegend::Entry& entry : legend.entries) {
        const QVector<qreal> dashes = dashesOf(entry.pen);
        longest = std::max(longest,
                           entry.pen.widthF() * std::accumulate(dashes.begin(), dashes.end(), 0.0));
    }
    return std::max(kLeastSample, static_cast<int>(std::ceil(kPeriods * longest)));
}

/// Places entries from left to right in as many lines as they need.
class LegendLayout {
public:
    LegendLayout(const FigureLegend& legend, const QFont& font, int width)
        : m_legend(legend), m_font(font), m_line(ReadoutItem::heightFor(font)),
          m_sample(sampleLength(legend)) {
        const QFontMetrics metrics(font);
        QPoint at(kLegendMargin, 0);
        for (const FigureLegend::Entry& entry : legend.entries) {
            const QString text = entry.run
                                     ? legendTextIn(*entry.run, metrics, width - 2 * kLegendMargin)
                                     : entry.text;
            const int needed = sampleOf(entry) + metrics.horizontalAdvance(text);
            if (at.x() > kLegendMargin && (entry.run || at.x() + needed > width))
                at = {kLegendMargin, at.y() + m_line};
            m_places.push_back({at, text});
            at.rx() += needed + kBetweenEntries;
            m_height = at.y() + m_line;
        }
    }
    int height() const { return m_height; }
    void draw(QCPPainter& painter, int top) const {
        painter.setFont(m_font);
        for (size_t i = 0; i < m_places.size(); ++i) {
            const FigureLegend::Entry& entry = m_legend.entries[i];
            const QRect box(m_places[i].at + QPoint(0, top), QSize(1, m_line));
            const double middle = box.center().y() + 1;
            if (!entry.run) {
                painter.setPen(thickPen(entry.pen));
                painter.drawLine(QLineF(box.left(), middle, box.left() + m_sample, middle));
            }
            painter.setPen(QPen(entry.color));
            painter.drawText(box.adjusted(sampleOf(entry), 0, 0, 0),
                             Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip |
                                 Qt::TextSingleLine,
                             m_places[i].text);
        }
    }

private:
    struct Place {
        QPoint at;
        QString text;
    };
    /// Returns the width of an entry's sample with the gap behind it.
    int sampleOf(const FigureLegend::Entry& entry) const {
        return entry.run ? 0 : m_sample + kSampleGap;
    }

    const FigureLegend& m_legend;
    QFont m_font;
    int m_line;
    int m_sample; ///< the length of a sample
    int m_height = 0;
    std::vector<Place> m_places;
};

/// Hands `take` the size of the plot with its legend, if it needs one, and what draws them. No
/// heading is shortened meanwhile for controls that only the window has.
template <class Take>
auto drawn(QCustomPlot& plot, const FigureLegend& legend, Take take) {
    std::vector<ReadoutItem*> headers;
    for (int i = 0; i < plot.itemCount(); ++i)
        if (auto* header = qobject_cast<ReadoutItem*>(plot.item(i))) headers.push_back(header);
    const auto print = [&](bool prints) {
        for (ReadoutItem* header : headers)
            header->setPrinted(prints);
        ReadoutItem::nameLanesAlike(plot);
    };
    print(true);
    const auto before = qScopeGuard([&print] { print(false); });
    const bool needless =
        !legend.needed && std::all_of(headers.begin(), headers.end(), [](const ReadoutItem* each) {
            return !each->isShown() || each->namesInFull();
        });
    const FigureLegend none{legend.background, {}, false};
    const QSize size = plot.viewport().size();
    const LegendLayout layout(needless ? none : legend, plot.font(), size.width());
    const QSize whole(size.width(), size.height() + layout.height());
    return take(whole, [&](QCPPainter& painter) {
        painter.fillRect(QRect(QPoint(), whole), legend.background);
        plot.toPainter(&painter, size.width(), size.height());
        layout.draw(painter, size.height());
    });
}

} // namespace

FigureLegend legendOf(const Colors& colors, const QStringList& labels, const Overlay& shown,
                      const std::vector<Overlay>& others, bool needed) {
    // a name of the user's own does not tell what the curves are of
    const bool namesShown = !shown.tag.isEmpty() && (!others.empty() || !shown.data.isEmpty());
    FigureLegend legend{colors.background, {}, needed || !others.empty() || namesShown};
    const auto name = [&](const Overlay& run) {
        legend.entries.push_back({QPen(Qt::NoPen), colors.text, QString(), run});
    };
    if (namesShown) name(shown);
    for (int lane = 0; lane < labels.size(); ++lane)
        legend.entries.push_back({colors.lanePen(lane), colors.laneText(lane), labels[lane]});
    for (const Overlay& other : others) {
        name(other);
        const QStringList lanes = laneLabels(laneTitlesOf(other.run->now()));
        for (int lane = 0; lane < lanes.size(); ++lane) {
            const QPen pen = colors.runPen(other.color, lane);
            legend.entries.push_back({pen, colors.asText(pen.color()), other.tag + lanes[lane]});
        }
    }
    return legend;
}

QByteArray figureFile(const QSize& size, const QString& title, const DrawFigure& draw,
                      PlotForm form) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    switch (form) {
    case PlotForm::Svg: writeSvg(size, title, draw, buffer); break;
    case PlotForm::Pdf: writePdf(size, title, draw, buffer); break;
    case PlotForm::Png: figureImage(size, draw).save(&buffer, "PNG"); break;
    }
    return buffer.data();
}

QImage figureImage(const QSize& size, const DrawFigure& draw) {
    QImage image(size * kPixelsEach, QImage::Format_RGB32);
    image.setDevicePixelRatio(kPixelsEach);
    image.fill(Qt::white);
    QCPPainter painter;
    painter.begin(&image);
    painter.setMode(QCPPainter::pmNonCosmetic);
    draw(painter);
    painter.end();
    return image;
}

QByteArray plotFile(QCustomPlot& plot, const FigureLegend& legend, PlotForm form) {
    const QString title = QCoreApplication::translate("PlotStack", "Halfscope plots");
    return drawn(plot, legend, [&](const QSize& size, const DrawFigure& draw) {
        return figureFile(size, title, draw, form);
    });
}

QImage plotImage(QCustomPlot& plot, const FigureLegend& legend) {
    return drawn(plot, legend, figureImage);
}

} // namespace halfscope
