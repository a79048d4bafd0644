// The lanes that the values make are named while they are typed.
#include "ui/dialogs/sweep_dialog.h"

#include "engine/core/error.h"
#include "ui/look/owned.h"
#include "ui/look/theme.h"
#include "ui/models/lane_titles.h"
#include "ui/models/run_model.h"
#include "ui/models/suggested_values.h"
#include "ui/models/translated.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <numeric>
#include <utility>

namespace halfscope {

SweepDialog::SweepDialog(const RunConfig& config, QWidget* parent, PresentScale scaleOf)
    : QDialog(parent), m_config(config), m_scaleOf(std::move(scaleOf)) {
    setWindowTitle(tr("Try several values"));
    auto* about = make<QLabel>(tr("Each value becomes a lane. All lanes start over with the same "
                                  "weights and data, so that only this setting sets them apart."),
                               this);
    about->setWordWrap(true);
    m_field = make<QComboBox>(this);
    for (const Field* field : sweptFields(config))
        m_field->addItem(translated(field->label), QString::fromStdString(field->key));
    m_field->setCurrentIndex(std::max(0, m_field->findData(QStringLiteral("scaler.init_scale"))));
    m_field->setAccessibleName(tr("Setting"));
    m_values = make<QLineEdit>(this);
    m_values->setAccessibleName(tr("Values, separated by commas"));
    m_result = make<QLabel>(this);
    m_result->setObjectName(QStringLiteral("sweepResult"));
    m_result->setTextFormat(Qt::PlainText);
    m_result->setWordWrap(true);
    // room from the start: the buttons must not move under the pointer
    m_result->setMinimumHeight((static_cast<int>(kMaxLanes) + 2) * fontMetrics().lineSpacing());
    m_result->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_make = buttons->button(QDialogButtonBox::Ok);
    m_make->setText(tr("Make lanes"));
    connect(buttons, &QDialogButtonBox::accepted, this, &SweepDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_field, &QComboBox::currentIndexChanged, this, &SweepDialog::suggest);
    connect(m_values, &QLineEdit::textChanged, this, &SweepDialog::preview);
    auto* form = make<QFormLayout>();
    form->addRow(tr("&Setting:"), m_field);
    form->addRow(tr("&Values, separated by commas:"), m_values);
    form->setRowWrapPolicy(QFormLayout::WrapAllRows);
    auto* column = make<QVBoxLayout>(this);
    constexpr int kWidth = 50; // characters: a lane's name fits one line
    setMinimumWidth(kWidth * fontMetrics().averageCharWidth());
    column->addWidget(about);
    column->addLayout(form);
    column->addWidget(m_result, 1);
    column->addWidget(buttons);
    suggest();
    m_values->setFocus();
}

QStringList SweepDialog::suggested(const Field& field) const {
    const int lane = firstLaneOf(field, m_config);
    const std::optional<double> scale = m_scaleOf ? m_scaleOf(lane) : std::nullopt;
    for (size_t most = kMaxLanes; most > 0; --most) {
        const QStringList values = suggestedValues(field, m_config, lane, most, 1, scale);
        if (values.isEmpty()) break; // the present one is not allowed, nor those around it
        const Sweep sweep =
            parseSweep(field.key + '=' + values.join(QStringLiteral(",")).toStdString());
        try {
            RunConfig swept = m_config;
            applySweeps(swept, {&sweep, 1});
            return values;
        } catch (const InputError&) {
            continue; // they make too many lanes
        }
    }
    return {};
}

void SweepDialog::suggest() {
    const Field& field = *findField(m_field->currentData().toString().toStdString());
    m_values->setText(suggested(field).join(QStringLiteral(", ")));
    m_values->selectAll();
    preview(); // the text may be the same
}

QString SweepDialog::merged(const Sweep& sweep, const std::vector<size_t>& from) const {
    QStringList sentences;
    std::vector<bool> told(m_config.lanes.size());
    std::vector<size_t> origins(told.size()); // each lane is one of the experiment
    std::iota(origins.begin(), origins.end(), size_t{0});
    for (size_t first = 0; first < told.size(); ++first) {
        QStringList same{laneLetter(static_cast<int>(first))};
        for (size_t lane = first + 1; lane < told.size(); ++lane) {
            if (told[lane] || std::find(from.begin(), from.end(), lane) != from.end()) continue;
            if (!makesTheSame(sweep, m_config, origins, first, lane)) continue;
            same << laneLetter(static_cast<int>(lane));
            told[lane] = true;
        }
        if (same.size() > 1)
            sentences << tr("%1 become one lane for each value.").arg(listedTags(same));
    }
    return sentences.join(u' ');
}

Sweep SweepDialog::sweep() const {
    return parseSweep((m_field->currentData().toString() + '=' + m_values->text()).toStdString());
}

void SweepDialog::preview() {
    const Colors colors = colorsFor(QGuiApplication::palette());
    QStringList lines;
    QColor color = colors.text;
    bool possible = true;
    try {
        RunConfig swept = m_config;
        const Sweep values = sweep();
        const std::vector<size_t> from = applySweeps(swept, {&values, 1});
        const QStringList titles = laneTitles(swept);
        for (int lane = 0; lane < titles.size(); ++lane)
            lines << laneLabel(lane, titles[lane]);
        if (const QString same = merged(values, from); !same.isEmpty()) lines << same;
    } catch (const InputError& error) {
        lines << tr("%1.").arg(translated(error));
        color = colors.error;
        possible = false;
    }
    m_make->setEnabled(possible);
    m_result->setText(lines.join('\n'));
    m_values->setAccessibleDescription(m_result->text());
    setOwnColor(*m_result, QPalette::WindowText, color);
}

void SweepDialog::accept() {
    try {
        emit chosen(sweep());
    } catch (const InputError& error) {
        m_result->setText(tr("%1.").arg(translated(error)));
        m_values->setFocus();
        m_values->selectAll();
        return;
    }
    QDialog::accept();
}

} // namespace halfscope
