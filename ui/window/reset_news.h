// What a reset changes besides the steps. It is told once, because the window then shows the next
// run, and nothing of the one that had it.
#pragma once

#include "ui/window/run_models.h"

#include <QCoreApplication>
#include <QStringList>

#include <cstdint>
#include <span>

namespace halfscope {

class ResetNews {
    Q_DECLARE_TR_FUNCTIONS(ResetNews)
public:
    /// Nothing to tell.
    ResetNews() = default;
    /// Looks at the run that is replaced, and at the edits with which it began: those of an opened
    /// experiment, or of the run that it went on from. To be made before the next one is built:
    /// afterwards nobody knows which of its lanes an edited one was.
    ResetNews(const RunModels&, const Run& replaced, std::span<const LiveEdit> begunWith);

    /// Adds that Continue had raised the run's last step, and that it is that of the settings
    /// again.
    void stopsAgainAt(const ConfigModel&);
    /// Returns sentences; empty when there is nothing to tell.
    QString text() const { return m_sentences.join(u' '); }

private:
    void addForks(const ConfigModel&, const Run&);

    QStringList m_sentences;
};

} // namespace halfscope
