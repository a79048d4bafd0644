// A spin box that groups the digits of its number like the texts around it, "32,000", and shows
// words while the number is not known yet.
#pragma once

#include <QSpinBox>
#include <QString>

namespace halfscope {

class CountBox : public QSpinBox {
    Q_OBJECT
public:
    explicit CountBox(QWidget* parent = nullptr);

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
