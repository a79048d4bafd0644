// Asks before the window closes, when closing would lose much training.
#pragma once

#include <QCoreApplication>

#include <memory>
#include <vector>

class QWidget;

namespace halfscope {

class Run;
class RunStore;
class SessionKeeper;
class ShownRun;
class WindowFiles;

class CloseGuard {
    Q_DECLARE_TR_FUNCTIONS(CloseGuard)
public:
    enum class Answer {
        Stay,  ///< the window must stay open
        Close, ///< nothing need be kept
        Keep,  ///< the next start is to offer the runs that are not saved
    };

    /// Asks when the unsaved runs of the session have trained for at least `askAfterSeconds` in
    /// all, and always when one of them was restored, was given a name, or learnt from the user's
    /// own files. `keeper` is null when nothing is kept on disk.
    CloseGuard(const RunStore&, ShownRun&, WindowFiles&, SessionKeeper* keeper, QWidget& window,
               double askAfterSeconds);

    /// Asks when runs would be lost. Saves the run that is shown when that is the answer, and asks
    /// again about the others. What could not be saved is told in the window, which stays open.
    Answer ask();
    /// Asks when the runs can be kept, but without the networks of the training, which rests.
    /// Returns false when the window must stay open.
    bool mayLoseNetworks();

private:
    using Runs = std::vector<std::shared_ptr<Run>>;
    bool isPrecious(const Run&) const;
    QString question(const Runs& unsaved) const;
    QString leftOutWords(const Run&) const;
    /// Returns what becomes of them; `keeps`: they can be kept for the next start.
    QString consequence(const Runs& unsaved, bool keeps) const;
    int askAbout(const Runs& unsaved); ///< returns the button that was chosen

    const RunStore& m_store;
    ShownRun& m_shown;
    WindowFiles& m_files;
    SessionKeeper* m_keeper;
    QWidget& m_window;
    double m_askAfterSeconds;
};

} // namespace halfscope
