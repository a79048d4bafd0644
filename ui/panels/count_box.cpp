// The number itself does not change while words or a refused text stand for it, so that no change
// is signalled. The cursor stays in the number: Qt also lets it stand in the unit, where digits are
// swallowed, or appended when a part of the unit is selected; after such a digit Ctrl+Z takes
// nothing back in the line, because Qt has written the text anew.
#include "ui/panels/count_box.h"

#include <QEvent>
#include <QKeyEvent>
#include <QLineEdit>

#include <algorithm>
#include <utility>

namespace halfscope {

CountBox::CountBox(QWidget* parent) : QSpinBox(parent) {
    setGroupSeparatorShown(true);
    connect(lineEdit(), &QLineEdit::textEdited, this, &CountBox::watchTyping);
    connect(lineEdit(), &QLineEdit::cursorPositionChanged, this, &CountBox::stayInNumber);
    connect(lineEdit(), &QLineEdit::selectionChanged, this, &CountBox::stayInNumber);
    lineEdit()->installEventFilter(this);
}

void CountBox::setWords(const QString& words) {
    if (words == m_words) return;
    showNumber();
    m_words = words;
    setReadOnly(!words.isEmpty());
    setSuffix(words.isEmpty() ? m_unit : QString()); // also writes the text anew
}

void CountBox::setUnit(const QString& suffix) {
    m_unit = suffix;
    if (m_words.isEmpty() && suffix != this->suffix()) setSuffix(suffix);
}

QString CountBox::textFromValue(int value) const {
    if (m_refused) return *m_refused;
    return m_words.isEmpty() ? QSpinBox::textFromValue(value) : m_words;
}

/// Returns the text without the unit.
QString CountBox::typed() const {
    QString text = lineEdit()->text();
    if (text.endsWith(suffix())) text.chop(suffix().size());
    return text.trimmed();
}

/// Lets digits, signs and points stand that Qt would not let be typed; letters are the window's
/// keys.
QValidator::State CountBox::validate(QString& text, int& position) const {
    const QString given = text;
    const int at = position;
    const QValidator::State state = QSpinBox::validate(text, position);
    if (!m_keeps || state != QValidator::Invalid) return state;
    QString number = given;
    if (number.endsWith(suffix())) number.chop(suffix().size());
    const bool mayStand = std::ranges::all_of(number.trimmed(), [](QChar each) {
        return each.isDigit() || QStringView(u"-+.,").contains(each) || each.isSpace();
    });
    if (!mayStand) return state;
    text = given;
    position = at;
    return QValidator::Intermediate;
}

/// Decides about what was typed, before Qt puts the number in the place of a text that is none.
void CountBox::judge() {
    if (!m_keeps || isReadOnly()) return;
    if (hasAcceptableInput()) return m_refused.reset();
    const QString text = typed();
    if (m_refused == text) return;
    m_refused = text;
    if (!specialValueText().isEmpty()) { // it would be shown instead
        m_special = specialValueText();
        setSpecialValueText({});
    }
    lineEdit()->setModified(false); // finished: Undo means the setting from here on, no letters
    emit refused(text);
}

void CountBox::restoreSpecial() {
    if (!m_refused && !m_special.isEmpty()) setSpecialValueText(std::exchange(m_special, {}));
}

void CountBox::showNumber() {
    if (!m_refused) return;
    m_refused.reset();
    restoreSpecial();
    setValue(value()); // writes it
}

void CountBox::finish() {
    judge();
    interpretText();
    restoreSpecial();
}

void CountBox::stepBy(int steps) {
    const bool refused = refuses();
    showNumber();
    QSpinBox::stepBy(steps);
    if (refused) emit givenUp();
}

/// The line's own undo may bring the number back.
void CountBox::watchTyping() {
    if (!m_refused || !hasAcceptableInput() || valueFromText(lineEdit()->text()) != value()) return;
    showNumber();
    emit givenUp();
}

/// Leaves the unit out of what is selected, and brings the cursor back from it.
void CountBox::stayInNumber() {
    QLineEdit* line = lineEdit();
    const QString text = line->text();
    if (suffix().isEmpty() || !text.endsWith(suffix())) return;
    const int end = static_cast<int>(text.size() - suffix().size());
    const int start = line->selectionStart();
    const bool selects = line->hasSelectedText() && start < end;
    if (selects && line->selectionEnd() > end) {
        const bool leftwards = line->cursorPosition() == start;
        line->setSelection(leftwards ? end : start, leftwards ? start - end : end - start);
    } else if (!selects && line->cursorPosition() > end) {
        line->setCursorPosition(end);
    }
}

/// Lets a double-click anywhere select the number, where a line would select a part of it or a word
/// of the unit.
bool CountBox::eventFilter(QObject* watched, QEvent* event) {
    if (watched != lineEdit() || event->type() != QEvent::MouseButtonDblClick || isReadOnly())
        return QSpinBox::eventFilter(watched, event);
    lineEdit()->event(event);
    selectAll();
    return true;
}

void CountBox::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) judge();
    QSpinBox::keyPressEvent(event);
    restoreSpecial();
}

void CountBox::focusOutEvent(QFocusEvent* event) {
    judge();
    QSpinBox::focusOutEvent(event);
    restoreSpecial();
}

} // namespace halfscope
