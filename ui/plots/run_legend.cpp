// Each run has the lines of its lanes before its name.
#include "ui/plots/run_legend.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QFontMetrics>
#include <QPainter>
#include <QPixmap>

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {
constexpr int kSpacesBetween = 4; // spaces

constexpr int kShown = -1; // the colour of the run that is shown, whose lanes have their own
constexpr double kSampleLength = 1.6; // of the height of the letters: two dashes can be seen
const QString kBetweenDifferences = QStringLiteral(", ");
const QString kMoreDifferences(QChar(0x2026));
} // namespace

QString legendTextOf(const Overlay& run) {
    const QString tag = run.tag.trimmed();
    bool listed = false; // else it is the run that key B brings back
    tag.toInt(&listed);
    const QString text = listed ? QCoreApplication::translate("PlotStack", "run %1").arg(tag)
                                : QCoreApplication::translate("PlotStack", "previous run");
    QStringList parts{run.name, run.data, run.differs};
    parts.removeAll(QString());
    return parts.isEmpty() ? text
                           : QCoreApplication::translate("PlotStack", "%1: %2")
                                 .arg(text, parts.join(QStringLiteral(", ")));
}

namespace {

/// Returns as many differences as fit. Of several, the first tells most; of one, its value does, as
/// other runs have the same setting: "Learning r… 0.01".
QString differencesIn(const QString& differs, const QFontMetrics& metrics, int room) {
    QStringList parts = differs.split(kBetweenDifferences);
    const auto shown = [&, all = parts.size()] {
        return parts.join(kBetweenDifferences) +
               (parts.size() < all ? kBetweenDifferences + kMoreDifferences : QString());
    };
    while (parts.size() > 1 && metrics.horizontalAdvance(shown()) > room)
        parts.removeLast();
    if (metrics.horizontalAdvance(shown()) <= room) return shown();
    const QString value = parts.front().mid(parts.front().lastIndexOf(u' '));
    const QString setting = parts.front().chopped(value.size());
    const int left = room - metrics.horizontalAdvance(value);
    return left > metrics.horizontalAdvance(kMoreDifferences) && !setting.isEmpty()
               ? metrics.elidedText(setting, Qt::ElideRight, left) + value
               : metrics.elidedText(differs, Qt::ElideRight, room);
}

} // namespace

/// Saved runs of one experiment often begin alike, so a name is cut in its middle.
QString legendTextIn(Overlay run, const QFontMetrics& metrics, int width) {
    constexpr int kLeastLetters = 6; // of a name, or it would tell nothing
    const auto lacking = [&] { return metrics.horizontalAdvance(legendTextOf(run)) - width; };
    const auto roomFor = [&](const QString& part) {
        return std::max(0, metrics.horizontalAdvance(part) - lacking());
    };
    if (lacking() > 0) {
        const int least = run.differs.isEmpty() ? 0 : kLeastLetters * metrics.averageCharWidth();
        const int room = roomFor(run.name);
        run.name = room < least ? QString() : metrics.elidedText(run.name, Qt::ElideMiddle, room);
    }
    if (lacking() > 0 && !run.differs.isEmpty()) run.data.clear();
    if (lacking() > 0 && !run.data.isEmpty())
        run.data = metrics.elidedText(run.data, Qt::ElideMiddle, roomFor(run.data));
    if (lacking() > 0) run.differs = differencesIn(run.differs, metrics, roomFor(run.differs));
    return legendTextOf(run);
}

RunLegend::RunLegend(QWidget* parent) : QLabel(parent) {
    setObjectName(QStringLiteral("runLegend"));
    setAlignment(Qt::AlignCenter);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    hide();
}

void RunLegend::setRuns(const std::vector<Overlay>& others, const Overlay& shown, int lanes) {
    m_shownLanes = lanes;
    m_runs = others;
    if (others.empty() || shown.tag.isEmpty()) return;
    m_runs.insert(m_runs.begin(), shown);
    m_runs.front().color = kShown;
}

void RunLegend::setColors(const Colors& colors) {
    m_colors = colors;
    write();
}

int RunLegend::laneCountOf(const Overlay& run) const {
    return run.color == kShown ? m_shownLanes : run.run->now().laneCount();
}

/// Returns the lines of a run's lanes, as they are drawn: in its own colour only where it is not
/// the one that is shown.
std::vector<QPen> RunLegend::pensOf(const Overlay& run) const {
    std::vector<QPen> pens;
    for (int lane = 0; lane < laneCountOf(run); ++lane)
        pens.push_back(run.color == kShown ? m_colors.lanePen(lane)
                                           : m_colors.runPen(run.color, lane));
    return pens;
}

int RunLegend::sampleLength() const {
    return static_cast<int>(kSampleLength * QFontMetrics(font()).ascent());
}

/// Returns the width of a run's samples, each with a gap behind it.
int RunLegend::widthOfSamples(const Overlay& run) const {
    if (!m_samples) return 0;
    const int gap = QFontMetrics(font()).horizontalAdvance(QChar(QChar::Nbsp));
    return laneCountOf(run) * (sampleLength() + gap);
}

/// Returns a line as an image in a text.
QString RunLegend::sampleOf(QPen pen) const {
    const QSize size(sampleLength(), QFontMetrics(font()).ascent());
    const double ratio = devicePixelRatioF(),
                 thick = std::max(2.0, std::round(size.height() / 7.0));
    constexpr double kShorter = 1.5; // dashes count in widths, and a thick sample is short
    QVector<qreal> dashes = pen.style() == Qt::SolidLine ? QVector<qreal>() : pen.dashPattern();
    for (qreal& each : dashes)
        each = std::max(1.0, each / kShorter);
    pen.setWidthF(thick);
    if (!dashes.isEmpty()) pen.setDashPattern(dashes);
    QPixmap image(size * ratio);
    image.setDevicePixelRatio(ratio);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    painter.setPen(pen);
    const double middle = size.height() * 0.62; // of the small letters
    painter.drawLine(QLineF(0, middle, size.width(), middle));
    painter.end();
    QByteArray png;
    QBuffer buffer(&png);
    image.save(&buffer, "PNG");
    return QStringLiteral("<img width='%1' height='%2' src='data:image/png;base64,%3'>&nbsp;")
        .arg(size.width())
        .arg(size.height())
        .arg(QString::fromLatin1(png.toBase64()));
}

/// Returns how wide the text of a run may be so that those of all runs are no wider than a line.
/// Short texts leave their room to long ones.
int RunLegend::widthOfEach(int line) const {
    const QFontMetrics metrics(font());
    std::vector<int> widths;
    for (const Overlay& run : m_runs) {
        widths.push_back(metrics.horizontalAdvance(legendTextOf(run)));
        line -= widthOfSamples(run);
    }
    std::sort(widths.begin(), widths.end());
    const auto count = static_cast<int>(widths.size());
    int room = line - (count - 1) * metrics.horizontalAdvance(QString(kSpacesBetween, QChar::Nbsp));
    for (int i = 0; i < count; ++i) {
        const int share = room / (count - i);
        if (widths[static_cast<size_t>(i)] > share) return share;
        room -= widths[static_cast<size_t>(i)];
    }
    return line; // nothing is cut
}

int RunLegend::place(const QSize& plots, bool wanted) {
    constexpr int kLeastLines = 12;   // of the plots, of which the legend takes one
    constexpr int kLeastLetters = 12; // of each run, or its text would tell nothing
    constexpr int kLeastBeside = 8;   // its samples, which tell more
    const QFontMetrics metrics(font());
    const auto count = static_cast<int>(m_runs.size());
    const auto fits = [&](bool samples, int letters) {
        m_samples = samples;
        m_each = widthOfEach(plots.width());
        return m_each >= letters * metrics.averageCharWidth();
    };
    const bool room = plots.height() >= kLeastLines * metrics.lineSpacing() &&
                      (fits(true, kLeastBeside) || fits(false, kLeastLetters));
    setVisible(wanted && count > 0 && room);
    if (isHidden()) return 0;
    write();
    return sizeHint().height();
}

void RunLegend::write() {
    const QFontMetrics metrics(font());
    QStringList texts, spoken;
    for (const Overlay& run : m_runs) {
        spoken << legendTextOf(run);
        QString samples;
        for (const QPen& pen : m_samples ? pensOf(run) : std::vector<QPen>())
            samples += sampleOf(pen);
        const bool plain = m_samples || run.color == kShown; // samples have the colours
        const QColor color = plain ? m_colors.text : m_colors.asText(m_colors.run(run.color));
        texts << samples +
                     QStringLiteral("<span style='color:%1'>%2</span>")
                         .arg(color.name(), legendTextIn(run, metrics, m_each).toHtmlEscaped());
    }
    setAccessibleName(spoken.join(QStringLiteral("; "))); // without images
    setTextFormat(Qt::RichText); // safe: names are escaped; make() has set plain text
    setText(texts.join(QStringLiteral("&nbsp;").repeated(kSpacesBetween)));
}

} // namespace halfscope
