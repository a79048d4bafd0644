// The sentence above the pictures: what to do, what happens, or how the run ended. It has room for
// two lines; a sentence that needs more is replaced by a shorter one, and the tool tip has all of
// it.
#pragma once

#include <QLabel>
#include <QStringList>

namespace halfscope {

class Headline : public QLabel {
    Q_OBJECT
public:
    explicit Headline(QWidget* parent = nullptr);

    /// Shows the first of the texts that fits. The texts say the same in ever fewer words; only the
    /// last one may be cut. `size` is relative to the window's font; a text that fits only at size
    /// 1 is shown at that. The tool tip adds the note, which explains words of the texts.
    void say(const QStringList& texts, double size = 1, const QString& note = {});
    /// Returns the first text, whichever is shown.
    QString said() const { return m_texts.value(0); }

protected:
    void resizeEvent(QResizeEvent*) override;
    bool eventFilter(QObject*, QEvent*) override;

private:
    void fitHeight();
    void sayAgain();

    QStringList m_texts;
    double m_size = 1;
    QString m_note;
};

} // namespace halfscope
