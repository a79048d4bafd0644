// Asks before the results in a folder are replaced, and knows whose they are: those of another run
// are lost with all that it took to train it, those of the run that is saved are written again.
#pragma once

#include "engine/runs/held_run.h"
#include "engine/runs/run.h"

#include <QCoreApplication>
#include <QStringList>

#include <map>
#include <memory>
#include <optional>
#include <string>

class QWidget;

namespace halfscope {

/// What a folder for results holds before they are saved.
struct HeldResults {
    QStringList files;            ///< those that would be replaced or removed
    std::optional<HeldRun> run{}; ///< whose they are; nothing when that cannot be told
};

class ResultsQuestion {
    Q_DECLARE_TR_FUNCTIONS(ResultsQuestion)
public:
    using ReadRun = std::shared_ptr<const Run>;

    /// Remembers under which id the results of a run were saved.
    void saved(const std::string& id, const ReadRun& run);
    /// Whether results of `run` may be saved in the folder: nothing is lost there, or the user says
    /// so. Enter replaces only results of the same run, or of one whose rows it begins with, such
    /// as `before` (null: none), and only where they have no later steps.
    bool mayReplace(QWidget* parent, const QString& folder, const HeldResults&, const ReadRun& run,
                    const ReadRun& before) const;

private:
    bool isOf(const ReadRun&, const QString& folder, const HeldRun&) const;

    struct Saved {
        std::weak_ptr<const Run> run;
        std::string earlierId; ///< that of the saved run which it was or went on from; may be empty
        bool wasRead = false;  ///< it was that saved run, so it has no rows of its own
    };
    std::map<std::string, Saved> m_saved; ///< by the id in the folder
};

} // namespace halfscope
