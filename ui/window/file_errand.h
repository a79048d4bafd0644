// Work on files that a window waits for. It is drawn meanwhile, and its user can stop waiting.
#pragma once

#include "engine/core/message.h"
#include "ui/session/left_threads.h"

#include <QCoreApplication>
#include <QString>

#include <chrono>
#include <functional>

class QWidget;

namespace halfscope {

/// What is shown while work is done, and when the window stops waiting for the work.
struct FileErrand {
    Q_DECLARE_TR_FUNCTIONS(FileErrand)
public:
    /// Runs `work` on a thread of its own, because long tables take their time. The work must own
    /// all that it uses: a dead network is not waited for when the window has closed or the user
    /// stops waiting. Throws RunError "PATH: ..." then.
    void run(QWidget& window, const std::function<void()>& work) const;

    QString title;
    QString text; ///< with %1 for the path
    QString path;
    /// What to say of a path that did not answer.
    Phrase late = phrase("Files", "%1: did not answer in time; what was being saved there may "
                                  "be incomplete");
    /// What to say when the user closes the dialog before that is known.
    Phrase stopped = phrase("Files", "%1: saving was stopped; what was being saved there may "
                                     "be incomplete");
    std::chrono::milliseconds afterClosing = kForFiles; ///< how long to wait for the work once the
                                                        ///< window has closed
};

} // namespace halfscope
