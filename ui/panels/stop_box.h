// The box of the step after which the run ends. What is no such step stays to be corrected, as in
// the settings: its frame, its tool tip and, for a moment, a tip below it say what is allowed.
#pragma once

#include "ui/panels/count_box.h"

namespace halfscope {

class StopBox : public CountBox {
    Q_OBJECT
public:
    explicit StopBox(QWidget* parent = nullptr);

    /// Shows a step that was chosen elsewhere. A step that is shown already leaves alone what is
    /// typed.
    void showStep(qint64 step);
    /// Shows words while the step is not known, see setWords().
    void showWords(const QString& words);
    /// Takes over what is being typed. A hidden box cannot be corrected: it forgets what it
    /// refused.
    void settle();
    /// Says what is allowed while another text stands in the box; else empty.
    QString refusal() const { return m_refusal; }
    /// Shows the step in force again in place of what is typed or refused.
    void giveUp();

signals:
    void chosen(int step);
    /// It has a step again.
    void corrected();

protected:
    void keyPressEvent(QKeyEvent*) override;

private:
    void forget();
    void tell(const QString& refusal);

    QString m_refusal;
};

} // namespace halfscope
