// A spin box that groups the digits of its number like the texts around it, "32,000", and shows
// words while the number is not known yet. A unit behind the number is never edited.
#pragma once

#include <QSpinBox>
#include <QString>

#include <optional>

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
    /// Lets numbers beyond the range be typed. They are refused when the typing ends, and stay
    /// until they are corrected: a box that left digits out would keep quite another number.
    void keepRefused() { m_keeps = true; }
    /// Whether it shows a text that was refused instead of its number.
    bool refuses() const { return m_refused.has_value(); }
    /// Shows the number again instead of such a text.
    void showNumber();
    /// Takes or refuses what is being typed, as at the end of the typing.
    void finish();
    void stepBy(int steps) override;

signals:
    /// The typing has ended with a text that is no number of the range.
    void refused(const QString& typed);
    /// The number is shown again after the user gave up such a text.
    void givenUp();

protected:
    QString textFromValue(int value) const override;
    QValidator::State validate(QString& text, int& position) const override;
    bool eventFilter(QObject*, QEvent*) override;
    void keyPressEvent(QKeyEvent*) override;
    void focusOutEvent(QFocusEvent*) override;

private:
    QString typed() const;
    void judge();
    void restoreSpecial();
    void watchTyping();
    void stayInNumber();

    QString m_words, m_unit;
    QString m_special; ///< the special text of the smallest number, while another text is refused
    std::optional<QString> m_refused; ///< without the unit
    bool m_keeps = false;
};

} // namespace halfscope
