// A spin box whose number may not be known yet: it shows words in its place until it is.
#pragma once

#include <QSpinBox>
#include <QString>

namespace halfscope {

class CountBox : public QSpinBox {
    Q_OBJECT
public:
    using QSpinBox::QSpinBox;

    /// Shown instead of the number, which cannot be changed meanwhile; empty: the number again.
    void setWords(const QString& words);
    /// What follows the number: " steps".
    void setUnit(const QString& suffix);

protected:
    QString textFromValue(int value) const override;

private:
    QString m_words, m_unit;
};

} // namespace halfscope
