// One line to type in, and room below it for why it was refused.
#include "ui/dialogs/scale_dialog.h"

#include "engine/core/error.h"
#include "ui/look/alert.h"
#include "ui/look/owned.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/run_model.h"
#include "ui/models/typed_number.h"

#include <QDialogButtonBox>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QTimer>
#include <QVBoxLayout>

namespace halfscope {
namespace {

/// Returns a scale as people type it, and as the lane's card has it where it is a power of two:
/// "2^-14" rather than "6.10351563e-05".
QString typedScale(double scale) {
    const QString power = scaleText(scale).section(QStringLiteral(" = "), -1);
    return power.startsWith(QLatin1String("2^")) ? power : QString::number(scale, 'g', 9);
}

} // namespace

ScaleDialog::ScaleDialog(const QString& lane, double scale, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Loss scale of lane %1").arg(lane));
    auto* label =
        make<QLabel>(tr("&Loss scale from the next step on (such as 1024 or 2^10):"), this);
    m_line = make<QLineEdit>(typedScale(scale), this);
    m_line->setAccessibleName(windowTitle());
    m_line->selectAll();
    label->setBuddy(m_line);
    m_error = make<QLabel>(this);
    m_error->setTextFormat(Qt::PlainText);
    m_error->setWordWrap(true);
    m_error->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    setOwnColor(*m_error, QPalette::WindowText, colorsFor(QGuiApplication::palette()).error);
    auto* hint = make<QLabel>(
        tr("The view of the gradients (key G) shows at once what the new scale does, or "
           "after Continue if the training has ended. Ctrl+Z restores the current "
           "one. If the training is paused when some lanes have taken a "
           "step and others have not, Step (.) completes it first."),
        this);
    hint->setWordWrap(true);
    setOwnColor(*hint, QPalette::WindowText, colorsFor(QGuiApplication::palette()).muted);
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    connect(buttons, &QDialogButtonBox::accepted, this, &ScaleDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* pause = make<QTimer>(this); // half a number, such as 2^, is no mistake yet
    pause->setSingleShot(true);
    constexpr int kPauseMs = 400;
    pause->setInterval(kPauseMs);
    connect(m_line, &QLineEdit::textEdited, m_error, &QLabel::clear);
    connect(m_line, &QLineEdit::textEdited, pause, qOverload<>(&QTimer::start));
    connect(pause, &QTimer::timeout, this, [this] {
        if (!m_line->text().isEmpty()) judge();
    });
    auto* column = make<QVBoxLayout>(this);
    for (QWidget* each :
         {static_cast<QWidget*>(label), static_cast<QWidget*>(m_line), static_cast<QWidget*>(hint),
          static_cast<QWidget*>(m_error), static_cast<QWidget*>(buttons)})
        column->addWidget(each);
    // room from the start: the buttons must not move under the pointer
    setMinimumWidth(sizeHint().width());
    const QMargins margins = column->contentsMargins();
    const QString longest = allowedScale(QStringLiteral(",")); // with the line about commas
    m_error->setMinimumHeight(
        heightOf(longest, m_error->font(), minimumWidth() - margins.left() - margins.right()));
    m_line->setFocus();
}

bool ScaleDialog::judge() {
    try {
        parseScale(m_line->text());
        return true;
    } catch (const InputError&) {
        m_error->setText(allowedScale(m_line->text()));
        m_line->setAccessibleDescription(m_error->text());
        alertAbout(*m_line);
        return false;
    }
}

void ScaleDialog::accept() {
    if (!judge()) {
        m_line->setFocus();
        m_line->selectAll();
        return;
    }
    emit chosen(m_line->text());
    QDialog::accept();
}

QString ScaleDialog::errorText() const { return m_error->text(); }

} // namespace halfscope
