// The sentences follow each key. They scroll where the screen is low.
#include "ui/dialogs/number_dialog.h"

#include "engine/core/error.h"
#include "ui/look/owned.h"
#include "ui/look/theme.h"
#include "ui/models/number_words.h"
#include "ui/models/typed_number.h"

#include <QDialogButtonBox>
#include <QFontDatabase>
#include <QFormLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include <algorithm>

namespace halfscope {

NumberDialog::NumberDialog(QWidget* parent) : FigureDialog(parent) {
    setWindowTitle(tr("A number in 16 or 8 bits"));
    auto* column = make<QVBoxLayout>(this);
    m_fields = make<QWidget>(this);
    auto* form = make<QFormLayout>(m_fields);
    form->setContentsMargins({});
    // A gradient that fp16 loses and a loss scale saves.
    m_number = addField(*form, tr("&Number (such as 0.1 or 2^-20):"), QStringLiteral("1e-8"));
    m_scale = addField(*form, tr("&Loss scale:"), QStringLiteral("2^16"));
    // beside which it is an update that only float32 keeps
    m_weight = addField(*form, tr("&Weight:"), QStringLiteral("0.1"));
    column->addWidget(m_fields);
    m_error = make<QLabel>(this);
    m_error->setWordWrap(true);
    column->addWidget(m_error);
    QScrollArea* results = makeResults();
    column->addWidget(results, 1);
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    // Enter after a number must not close what it asked for
    for (QAbstractButton* each : buttons->buttons())
        static_cast<QPushButton*>(each)->setAutoDefault(false);
    m_number->setFocus();
    m_number->selectAll();
    applyColors();
    compute();
    fitFigure();
    fitTexts(*results);
}

/// Makes the window so high that nothing has to be scrolled at first, if the screen has the room.
void NumberDialog::fitTexts(const QScrollArea& results) {
    constexpr int kWidth = 78; // characters: most sentences fit into a line
    const QSize room = 9 * screen()->availableSize() / 10;
    const int width = std::min(room.width(), kWidth * fontMetrics().averageCharWidth());
    const QMargins margins = layout()->contentsMargins();
    const int around = layout()->sizeHint().height() - results.sizeHint().height();
    const QLayout& texts = *results.widget()->layout();
    // at least: the column grows with what cannot be narrower
    const int frame = 2 * results.frameWidth(),
              bar = results.verticalScrollBar()->sizeHint().width();
    const int inner = std::max(width - margins.left() - margins.right() - frame - bar,
                               results.minimumWidth() - frame - bar);
    const int wanted = around + frame + texts.heightForWidth(inner) + fontMetrics().lineSpacing();
    resize(width, std::min(room.height(), wanted));
}

QList<QWidget*> NumberDialog::figure() const { return {m_fields, m_error, m_results}; }

/// The error has room from the start: the texts must not move under the pointer.
void NumberDialog::fitFigure() { m_error->setMinimumHeight(m_error->fontMetrics().lineSpacing()); }

void NumberDialog::applyColors() {
    const Colors colors = colorsFor(QGuiApplication::palette());
    setOwnColor(*m_error, QPalette::WindowText, colors.error);
    setOwnColor(*m_why, QPalette::WindowText, colors.muted);
}

void NumberDialog::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && m_why) applyColors();
    QDialog::changeEvent(event);
}

QLineEdit* NumberDialog::addField(QFormLayout& form, const QString& label, const QString& value) {
    auto* field = make<QLineEdit>(value, this);
    connect(field, &QLineEdit::textEdited, this, &NumberDialog::compute);
    form.addRow(label, field); // the label is its buddy, and so its name
    return field;
}

QScrollArea* NumberDialog::makeResults() {
    auto* content = make<QWidget>();
    m_results = content;
    auto* column = make<QVBoxLayout>(content);
    column->setContentsMargins({});
    const int gap = column->spacing();
    column->setSpacing(0); // a value is closer to its bits than to the next format
    QFont fixed; // of which nothing but the family: the letters are as large as the others
    fixed.setFamilies(QFontDatabase::systemFont(QFontDatabase::FixedFont).families());
    fixed.setStyleHint(QFont::Monospace);
    addHeading(*column, tr("Stored: sign, exponent, fraction"));
    for (const FormatWords& each : storedWords(0)) {
        column->addSpacing(gap);
        Row row{addText(*column, tr("Bits of %1").arg(each.format)),
                addText(*column, tr("Value in %1").arg(each.format))};
        row.bits->setFont(fixed);
        m_formats.append(row);
    }
    addHeading(*column, tr("As a gradient, with the loss scale"));
    column->addSpacing(gap);
    m_gradient = addText(*column, tr("Gradient"));
    addHeading(*column, tr("Added to the weight"));
    column->addSpacing(gap);
    m_sum = addText(*column, tr("Weight after the update"));
    column->addSpacing(gap);
    m_why = addText(*column, tr("Why weights stay in float32"));
    column->addStretch(1);
    auto* area = make<QScrollArea>(this);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus); // the texts scroll into view as Tab reaches them
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setAccessibleName(tr("What becomes of the number"));
    area->setWidget(content);
    constexpr int kLeast = 40; // characters: the bits of float32 fit in any case
    const QFontMetrics metrics = fontMetrics();
    area->setMinimumWidth(kLeast * metrics.averageCharWidth() * 5 / 4 +
                          area->verticalScrollBar()->sizeHint().width());
    return area;
}

void NumberDialog::addHeading(QVBoxLayout& column, const QString& text) {
    auto* heading = make<QLabel>(text, this);
    QFont bold = heading->font();
    bold.setBold(true);
    heading->setFont(bold);
    if (column.count() > 0) column.addSpacing(fontMetrics().lineSpacing());
    column.addWidget(heading);
}

QLabel* NumberDialog::addText(QVBoxLayout& column, const QString& name) {
    auto* label = make<QLabel>(this);
    label->setWordWrap(true);
    label->setAccessibleName(name);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setFocusPolicy(Qt::StrongFocus); // Tab brings it into view
    column.addWidget(label);
    return label;
}

void NumberDialog::compute() {
    QLineEdit* read = m_number;
    try {
        const double number = parseNumber(read->text());
        read = m_scale;
        const double scale = std::get<double>(parseScale(read->text()));
        read = m_weight;
        const double weight = parseNumber(read->text());
        refuse(nullptr, {});
        const QList<FormatWords> all = storedWords(number);
        for (qsizetype i = 0; i < all.size(); ++i) {
            constexpr int kWidth = 10; // characters: the bits stand below each other
            m_formats[i].bits->setText(all[i].format.leftJustified(kWidth) + all[i].bits);
            m_formats[i].what->setText(all[i].what);
        }
        m_gradient->setText(gradientWords(number, scale).join(u'\n'));
        m_sum->setText(weightWords(number, weight).join(u'\n'));
        m_why->setText(conclusion(number, weight));
    } catch (const InputError&) {
        const QString typed = read->text();
        refuse(read, read == m_scale    ? tr("Loss scale. %1").arg(allowedScale(typed))
                     : read == m_weight ? tr("Weight. %1").arg(allowedNumber(typed))
                                        : tr("Number. %1").arg(allowedNumber(typed)));
    }
}

void NumberDialog::refuse(QLineEdit* field, const QString& error) {
    m_error->setText(error);
    for (QLineEdit* each : {m_number, m_scale, m_weight})
        each->setAccessibleDescription(each == field ? error : QString());
    m_results->setVisible(!field); // its headings alone would say nothing
    if (!field) return;
    for (QLabel* each : shown())
        each->clear();
}

QList<QLabel*> NumberDialog::shown() const {
    QList<QLabel*> all;
    for (const Row& row : m_formats)
        all << row.bits << row.what;
    return all << m_gradient << m_sum << m_why;
}

QString NumberDialog::text() const {
    QStringList lines;
    for (const QLabel* each : shown())
        lines << each->text();
    return lines.join(u'\n');
}

QString NumberDialog::errorText() const { return m_error->text(); }

} // namespace halfscope
