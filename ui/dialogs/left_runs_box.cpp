// The question, and which keys answer it.
#include "ui/dialogs/left_runs_box.h"

#include <QAbstractButton>
#include <QKeyEvent>

namespace halfscope {
namespace {

QString sentence(LeftRunsBox::Why why, int runs, const QString& begun) {
    const bool one = runs == 1;
    switch (why) {
    case LeftRunsBox::Why::Kept:
        if (!begun.isEmpty())
            return one ? LeftRunsBox::tr("In the session %1, you kept this run when you closed "
                                         "Halfscope:")
                             .arg(begun)
                       : LeftRunsBox::tr("In the session %1, you kept these %n runs when you "
                                         "closed Halfscope:",
                                         nullptr, runs)
                             .arg(begun);
        return one ? LeftRunsBox::tr("You kept this run when you closed Halfscope:")
                   : LeftRunsBox::tr("You kept these %n runs when you closed Halfscope:", nullptr,
                                     runs);
    case LeftRunsBox::Why::ToldToEnd:
        if (!begun.isEmpty())
            return one ? LeftRunsBox::tr("In the session %1, Halfscope was told to close before "
                                         "this run was saved:")
                             .arg(begun)
                       : LeftRunsBox::tr("In the session %1, Halfscope was told to close before "
                                         "these %n runs were saved:",
                                         nullptr, runs)
                             .arg(begun);
        return one ? LeftRunsBox::tr("Halfscope was told to close before this run was saved:")
                   : LeftRunsBox::tr("Halfscope was told to close before these %n runs were saved:",
                                     nullptr, runs);
    case LeftRunsBox::Why::Various:
        return LeftRunsBox::tr("These %n runs of earlier windows were not saved:", nullptr, runs);
    case LeftRunsBox::Why::Crashed: break;
    }
    if (!begun.isEmpty())
        return one ? LeftRunsBox::tr("Halfscope ended unexpectedly in the session %1. This run was "
                                     "not saved:")
                         .arg(begun)
                   : LeftRunsBox::tr("Halfscope ended unexpectedly in the session %1. These %n "
                                     "runs were not saved:",
                                     nullptr, runs)
                         .arg(begun);
    return one ? LeftRunsBox::tr("Halfscope ended unexpectedly. This run was not saved:")
               : LeftRunsBox::tr(
                     "Halfscope ended unexpectedly. These %n runs were not saved:", nullptr, runs);
}

} // namespace

LeftRunsBox::LeftRunsBox(const QStringList& runs, Why why, QWidget* parent, const QString& begun)
    : QMessageBox(QMessageBox::Question, tr("Halfscope"),
                  sentence(why, static_cast<int>(runs.size()), begun),
                  QMessageBox::Open | QMessageBox::Discard | QMessageBox::Cancel, parent) {
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("leftRuns"));
    setTextFormat(Qt::PlainText);
    constexpr qsizetype kMost = 6;
    QStringList lines = runs;
    if (const qsizetype more = lines.size() - kMost; more > 0)
        lines = lines.mid(0, kMost) << tr("and %n more", nullptr, static_cast<int>(more));
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
