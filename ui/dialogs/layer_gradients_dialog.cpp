// Looks at the run ten times a second: a person reads no faster, and a count takes longer.
#include "ui/dialogs/layer_gradients_dialog.h"

#include "ui/dialogs/figure_menu.h"
#include "ui/dialogs/help.h"
#include "ui/dialogs/layer_gradients_view.h"
#include "ui/look/owned.h"
#include "ui/look/theme.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"

#include <QDialogButtonBox>
#include <QEvent>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QScreen>
#include <QShortcut>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace halfscope {
namespace {

constexpr int kPeriodMs = 100;

} // namespace

LayerGradientsDialog::LayerGradientsDialog(Source source, QWidget* parent)
    : FigureDialog(parent), m_source(std::move(source)) {
    setWindowTitle(tr("Gradients by layer"));
    auto* column = make<QVBoxLayout>(this);
    m_heading = make<QLabel>(this);
    m_heading->setWordWrap(true);
    column->addWidget(m_heading);
    m_table = make<LayerGradientsView>(m_model, this);
    column->addWidget(m_table, 1);
    m_legend = make<QLabel>(
        tr("The stronger the colour, the larger the share. Upper half: gradients of the layer's "
           "outputs; lower half: gradients of its weights. Dotted lines mark the limits of fp16: "
           "it rounds numbers below 2^-25 to zero, keeps fewer digits of those below 2^-14, and "
           "overflows to inf from 2^16 on. These ranges are shaded where a lane stores fp16. "
           "Hatched: not counted, because the device does not store these gradients."),
        this);
    m_legend->setWordWrap(true);
    column->addWidget(m_legend);
    m_summary = make<QLabel>(this);
    m_summary->setWordWrap(true);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_summary);
    make<FigureMenu>(*m_table, FigureMenu::Figure{QStringLiteral("gradients-by-layer"),
                                                  [this] { return heading(); },
                                                  {m_legend, m_summary}});
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Close, this);
    QPushButton* types =
        buttons->addButton(tr("&Number types by layer"), QDialogButtonBox::ActionRole);
    types->setToolTip(tr("Shows what each layer computes in and why, and gives layers a type of "
                         "their own."));
    for (QAbstractButton* each : buttons->buttons())
        static_cast<QPushButton*>(each)->setAutoDefault(false);
    connect(types, &QPushButton::clicked, this, &LayerGradientsDialog::typesAsked);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    connect(&m_model, &QAbstractItemModel::modelReset, this, [this] {
        m_table->arrange();
        if (m_model.rowCount() > m_fitted) fit(); // later it is as large as the user wants
        m_fitted = std::max(m_fitted, m_model.rowCount());
    });
    connect(&m_model, &QAbstractItemModel::dataChanged, m_table, &LayerGradientsView::widen);
    const auto key = [this](Qt::Key pressed, auto asked) {
        auto* shortcut = make<QShortcut>(pressed, this);
        shortcut->setAutoRepeat(false);
        connect(shortcut, &QShortcut::activated, this, asked);
    };
    key(Qt::Key_F1, [this] { emit pageAsked(QLatin1String(kHelpLayers)); });
    key(Qt::Key_Space, &LayerGradientsDialog::playAsked);
    key(Qt::Key_Period, &LayerGradientsDialog::stepAsked);
    key(Qt::Key_R, &LayerGradientsDialog::resetAsked);
    connect(&m_clock, &QTimer::timeout, this, &LayerGradientsDialog::refresh);
    m_clock.setInterval(kPeriodMs);
    fit();
    refresh();
    m_table->setFocus();
}

/// Gives the dialog room for all columns and a few layers, if the screen has it.
void LayerGradientsDialog::fit() {
    constexpr int kWidth = 100, kLeastRows = 6, kMostRows = 24, kRest = 14; // characters, lines
    const QSize room = 9 * screen()->availableSize() / 10;
    const QMargins margins = layout()->contentsMargins();
    const int line = fontMetrics().lineSpacing();
    const int rows = std::clamp(m_model.rowCount(), kLeastRows, kMostRows);
    const int wanted = std::max(m_table->wantedWidth() + margins.left() + margins.right(),
                                kWidth * fontMetrics().averageCharWidth());
    resize(std::min(room.width(), std::max(width(), wanted)),
           std::min(room.height(), std::max(height(), (rows * 3 / 2 + kRest) * line)));
}

QString LayerGradientsDialog::heading() const { return m_heading->text(); }
QString LayerGradientsDialog::summary() const { return m_summary->text(); }

QList<QWidget*> LayerGradientsDialog::figure() const {
    return {m_heading, m_table, m_legend, m_summary};
}

void LayerGradientsDialog::refresh() {
    const std::shared_ptr<const Run> run = m_source.run();
    if (run != m_run) m_seen = 0;
    m_run = run;
    const uint64_t version = m_run ? m_run->version() + 1 : 0;
    if (!m_run) m_model.show({}, {});
    if (m_run && version != m_seen) {
        const std::span<const GradientRange> ranges = m_run->now().newestGradients();
        m_model.show({ranges.begin(), ranges.end()}, laneLabels(laneTitlesOf(m_run->now())));
    }
    if (version != m_seen) m_summary->setText(m_model.summary());
    m_seen = version;
    if (m_model.rowCount() == 0) return m_heading->setText(m_source.note(true));
    const std::span<const GradientRange> ranges = m_run->now().newestGradients();
    const int64_t trained = std::max<int64_t>(0, ranges.front().step - 1);
    QStringList scales;
    const RunConfig& config = m_run->now().info().config;
    for (int lane = 0; lane < static_cast<int>(ranges.size()); ++lane) {
        const float scale = ranges[static_cast<size_t>(lane)].scale;
        if (scale != 1 || laneScales(config, lane))
            scales << tr("%1: %2").arg(laneLetter(lane), scaleText(static_cast<double>(scale)));
    }
    const QString step = QLocale().toString(static_cast<qlonglong>(trained));
    const QString heading = scales.isEmpty()
                                ? tr("Gradients after step %1; no lane scales its loss.").arg(step)
                                : tr("Gradients after step %1, times the loss scale (%2).")
                                      .arg(step, scales.join(QStringLiteral(", ")));
    QStringList sentences{heading};
    if (m_source.anew())
        sentences << tr("These are the gradients of new networks with their initial weights, not "
                        "of the run that is shown.");
    if (const QString note = m_source.note(false); !note.isEmpty()) sentences << note;
    m_heading->setText(sentences.join(u' '));
}

void LayerGradientsDialog::showEvent(QShowEvent* event) {
    QDialog::showEvent(event);
    emit watched(true);
    m_clock.start();
}

void LayerGradientsDialog::hideEvent(QHideEvent* event) {
    QDialog::hideEvent(event);
    m_clock.stop();
    m_run.reset(); // a run that was replaced is not kept for it
    m_seen = 0;
    emit watched(false);
}

void LayerGradientsDialog::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && m_table) m_table->viewport()->update();
    QDialog::changeEvent(event);
}

} // namespace halfscope
