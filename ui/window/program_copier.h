// Copies the experiment to the clipboard as a Python program for PyTorch.
#pragma once

#include "ui/session/file_job.h"
#include "ui/window/run_models.h"
#include "ui/window/window_parts.h"

#include <QObject>

#include <memory>
#include <string>

namespace halfscope {

class ShownRun;

class ProgramCopier : public QObject {
    Q_OBJECT
public:
    ProgramCopier(RunModels&, const ShownRun&, const WindowParts&);
    ~ProgramCopier() override;

    /// Writes the program on another thread: its facts about the data are read from their files.
    void copy();

signals:
    /// A sentence for the status bar.
    void told(const QString& text);

private:
    struct Program {
        RunConfig settings; ///< that it trains with: those of the window may be others by now
        QString lacks;      ///< what they lack of the run that is shown, in words; or empty
        std::string text;   ///< read only once the job is done
    };
    void conclude(const Program&);

    RunModels& m_models;
    const ShownRun& m_shown;
    WindowParts m_parts;
    std::unique_ptr<FileJob> m_job; ///< writes the program; null otherwise
};

} // namespace halfscope
