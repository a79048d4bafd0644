// What is allowed is said by the field table, as below the setting itself.
#include "ui/panels/stop_box.h"

#include "engine/settings/fields.h"
#include "ui/look/alert.h"
#include "ui/look/style.h"
#include "ui/look/text_fit.h"
#include "ui/models/typed_number.h"

#include <QKeyEvent>
#include <QSignalBlocker>
#include <QToolTip>

#include <algorithm>
#include <utility>

namespace halfscope {

StopBox::StopBox(QWidget* parent) : CountBox(parent) {
    setRange(1, 1000000000);
    setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    setKeyboardTracking(false);
    setAccessibleName(tr("Stop after step"));
    keepRefused();
    tell({});
    connect(this, &CountBox::valueChanged, this, [this](int step) {
        forget();
        emit chosen(step);
    });
    connect(this, &CountBox::refused, this,
            [this](const QString& typed) { tell(allowedWords(*findField("run.steps"), typed)); });
    connect(this, &CountBox::givenUp, this, [this] { tell({}); });
    connect(this, &CountBox::editingFinished, this, &StopBox::forget);
}

void StopBox::showStep(qint64 step) {
    const auto shown = static_cast<int>(std::min<qint64>(step, maximum()));
    if (shown == value()) return;
    const QSignalBlocker quiet(this);
    showNumber();
    setValue(shown);
    tell({});
}

void StopBox::settle() {
    finish();
    forget();
    if (!isVisible()) giveUp();
}

void StopBox::showWords(const QString& words) {
    setWords(words);
    forget();
}

void StopBox::giveUp() {
    showNumber();
    setValue(value()); // writes it in place of what was not finished, too
    tell({});
}

void StopBox::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && refuses()) return giveUp();
    CountBox::keyPressEvent(event);
}

/// Forgets why an earlier text was refused, once the box has a step or words again.
void StopBox::forget() {
    if (!refuses() && !m_refusal.isEmpty()) tell({});
}

void StopBox::tell(const QString& refusal) {
    const QString before = std::exchange(m_refusal, refusal);
    const QString usual = tr("The run ends after this step. You can change this during the run.");
    setToolTip(refusal.isEmpty() ? usual : refusal);
    setAccessibleDescription(refusal.isEmpty() ? usual : tr("Not accepted. %1").arg(refusal));
    OutlinedStyle::frameAsWrong(*this, !refusal.isEmpty());
    if (refusal.isEmpty()) {
        if (!before.isEmpty()) emit corrected();
        return;
    }
    alertAbout(*this);
    if (isVisible())
        QToolTip::showText(mapToGlobal(QPoint(0, height())), wrappedTip(refusal), this);
}

} // namespace halfscope
