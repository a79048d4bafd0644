// Each run is named in the colour of its curves.
#include "ui/plots/run_legend.h"

#include <QCoreApplication>
#include <QFontMetrics>

namespace halfscope {

namespace {
constexpr int kBetween = 4; // spaces
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
    setTextFormat(Qt::RichText);
    setAlignment(Qt::AlignCenter);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    hide();
}

void RunLegend::setRuns(const std::vector<Overlay>& runs) { m_runs = runs; }

void RunLegend::setColors(const Colors& colors) {
    m_colors = colors;
    write();
}

int RunLegend::place(const QSize& plots, bool wanted) {
    constexpr int kLeastLines = 18;   // of the plots, of which the legend takes one
    constexpr int kLeastLetters = 12; // of each run, or its text would tell nothing
    const QFontMetrics metrics(font());
    const auto count = static_cast<int>(m_runs.size());
    const int gap = metrics.horizontalAdvance(QString(kBetween, u' '));
    m_each = count > 0 ? plots.width() / count - gap : 0;
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
                          metrics.elidedText(legendTextOf(run), Qt::ElideRight, m_each)
                              .toHtmlEscaped());
    setText(texts.join(QStringLiteral("&nbsp;").repeated(kBetween)));
}

} // namespace halfscope
