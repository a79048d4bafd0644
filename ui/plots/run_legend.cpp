// Each run is named in the colour of its curves, and the one that is shown in that of the text.
#include "ui/plots/run_legend.h"

#include <QCoreApplication>
#include <QFontMetrics>

#include <algorithm>

namespace halfscope {

namespace {
constexpr int kSpacesBetween = 4; // spaces

constexpr int kShown = -1; // the colour of the run that is shown, whose lanes have their own
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

void RunLegend::setRuns(const std::vector<Overlay>& others, const Overlay& shown) {
    m_runs = others;
    if (others.empty() || shown.tag.isEmpty()) return;
    m_runs.insert(m_runs.begin(), shown);
    m_runs.front().color = kShown;
}

void RunLegend::setColors(const Colors& colors) {
    m_colors = colors;
    write();
}

/// Returns how wide the text of a run may be so that those of all runs are no wider than a line.
/// Short texts leave their room to long ones.
int RunLegend::widthOfEach(int line) const {
    const QFontMetrics metrics(font());
    std::vector<int> widths;
    for (const Overlay& run : m_runs)
        widths.push_back(metrics.horizontalAdvance(legendTextOf(run)));
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
    const QFontMetrics metrics(font());
    const auto count = static_cast<int>(m_runs.size());
    m_each = widthOfEach(plots.width());
    const bool room = plots.height() >= kLeastLines * metrics.lineSpacing() &&
                      m_each >= kLeastLetters * metrics.averageCharWidth();
    setVisible(wanted && count > 0 && room);
    if (isHidden()) return 0;
    write();
    return sizeHint().height();
}

void RunLegend::write() {
    const QFontMetrics metrics(font());
    QStringList texts;
    for (const Overlay& run : m_runs) {
        const QColor color =
            run.color == kShown ? m_colors.text : m_colors.asText(m_colors.run(run.color));
        texts << QStringLiteral("<span style='color:%1'>%2</span>")
                     .arg(color.name(), legendTextIn(run, metrics, m_each).toHtmlEscaped());
    }
    setTextFormat(Qt::RichText); // safe: names are escaped; make() has set plain text
    setText(texts.join(QStringLiteral("&nbsp;").repeated(kSpacesBetween)));
}

} // namespace halfscope
