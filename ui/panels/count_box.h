// A spin box whose number may not be known yet: it shows words instead until it is.
#pragma once

#include <QSpinBox>
#include <QString>

namespace halfscope {

class CountBox : public QSpinBox {
    Q_OBJECT
public:
    using QSpinBox::QSpinBox;

    /// Sets the words shown instead of the number, which cannot be changed meanwhile; empty: shows
    /// the number again.
    void setWords(const QString& words);
    /// Sets the text after the number: " steps".
    void setUnit(const QString& suffix);

protected:
    QString textFromValue(int value) const override;

private:
    QString m_words, m_unit;
};

} // namespace halfscope
