// The number itself does not change, so that no change is signalled.
#include "ui/panels/count_box.h"

namespace halfscope {

CountBox::CountBox(QWidget* parent) : QSpinBox(parent) { setGroupSeparatorShown(true); }

void CountBox::setWords(const QString& words) {
    if (words == m_words) return;
    m_words = words;
    setReadOnly(!words.isEmpty());
    setSuffix(words.isEmpty() ? m_unit : QString()); // also writes the text anew
}

void CountBox::setUnit(const QString& suffix) {
    m_unit = suffix;
    if (m_words.isEmpty() && suffix != this->suffix()) setSuffix(suffix);
}

QString CountBox::textFromValue(int value) const {
    return m_words.isEmpty() ? QSpinBox::textFromValue(value) : m_words;
}

} // namespace halfscope
