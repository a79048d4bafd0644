// Each run is named in the colour of its curves.
#include "ui/plots/run_legend.h"

#include <QCoreApplication>
#include <QFontMetrics>

#include <algorithm>

namespace halfscope {

namespace {
constexpr int kSpacesBetween = 4; // spaces

/// Returns the run's text, at most so many pixels wide. Only its name is cut, in the middle: saved
/// runs of one experiment often begin alike.
QString cutText(Overlay run, const QFontMetrics& metrics, int width) {
    const QString whole = legendTextOf(run);
    const int name = metrics.horizontalAdvance(run.name);
    const int room = width - (metrics.horizontalAdvance(whole) - name);
    run.name = metrics.elidedText(run.name, Qt::ElideMiddle, std::max(0, room));
    return legendTextOf(run);
}
} // namespace

QString legendTextOf(const Overlay& run) {
    const QString tag = run.tag.trimmed();
    bool listed = false; // else it is the run that key B brings back
    tag.toInt(&listed);
    const QString text = listed ? QCoreApplication::translate("PlotStack", "run %1").arg(tag)
                                : QCoreApplication::translate("PlotStack", "previous run");
    return run.name.isEmpty()
               ? text
               : QCoreApplication::translate("PlotStack", "%1: %2").arg(text, run.name);
}

RunLegend::RunLegend(QWidget* parent) : QLabel(parent) {
    setObjectName(QStringLiteral("runLegend"));
    setAlignment(Qt::AlignCenter);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    hide();
}

void RunLegend::setRuns(const std::vector<Overlay>& runs) { m_runs = runs; }

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
    for (const Overlay& run : m_runs)
        texts << QStringLiteral("<span style='color:%1'>%2</span>")
                     .arg(m_colors.asText(m_colors.run(run.color)).name(),
                          cutText(run, metrics, m_each).toHtmlEscaped());
    setTextFormat(Qt::RichText); // safe: names are escaped; make() has set plain text
    setText(texts.join(QStringLiteral("&nbsp;").repeated(kSpacesBetween)));
}

} // namespace halfscope
