// The question, and which keys answer it.
#include "ui/dialogs/left_runs_box.h"

#include <QAbstractButton>
#include <QKeyEvent>

namespace halfscope {

LeftRunsBox::LeftRunsBox(const QStringList& runs, QWidget* parent)
    : QMessageBox(QMessageBox::Question, tr("Halfscope"),
                  runs.size() == 1
                      ? tr("Halfscope ended unexpectedly. This run was not saved:")
                      : tr("Halfscope ended unexpectedly. These %n runs were not saved:", nullptr,
                           static_cast<int>(runs.size())),
                  QMessageBox::Open | QMessageBox::Discard | QMessageBox::Cancel, parent) {
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("leftRuns"));
    setTextFormat(Qt::PlainText);
    constexpr qsizetype kMost = 6;
    QStringList lines = runs;
    if (lines.size() > kMost) lines = lines.mid(0, kMost) << tr("and more");
    setInformativeText(lines.join(u'\n'));
    button(Open)->setText(tr("&Restore"));
    button(Discard)->setText(runs.size() == 1
                                 ? tr("&Delete it")
                                 : tr("&Delete them", nullptr, static_cast<int>(runs.size())));
    button(Cancel)->setText(tr("Ask &next time"));
    setDefaultButton(Open);
    for (QAbstractButton* each : buttons())
        each->installEventFilter(this);
}

void LeftRunsBox::showEvent(QShowEvent* event) {
    QMessageBox::showEvent(event);
    button(Open)->setFocus();
    m_shown.start();
}

/// A message box of Qt's takes a letter alone for its button's shortcut: D would delete the runs.
/// Alt+D still does.
void LeftRunsBox::keyPressEvent(QKeyEvent* event) {
    const bool typed =
        !(event->modifiers() & (Qt::AltModifier | Qt::ControlModifier | Qt::MetaModifier));
    if (typed && !event->text().isEmpty() && event->text().front().isLetterOrNumber())
        return event->accept();
    QMessageBox::keyPressEvent(event);
}

bool LeftRunsBox::eventFilter(QObject* watched, QEvent* event) {
    const bool key = event->type() == QEvent::KeyPress || event->type() == QEvent::KeyRelease ||
                     event->type() == QEvent::ShortcutOverride;
    if (key && m_shown.isValid() && m_shown.elapsed() < kUnreadMs) {
        event->accept(); // of a shortcut, too: an ignored one would act
        return true;
    }
    return QMessageBox::eventFilter(watched, event);
}

} // namespace halfscope
