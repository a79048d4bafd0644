// The weights of each lane after its best validation, which a run keeps in its folder.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/lane_totals.h"
#include "engine/runs/run_writer.h"
#include "engine/train/experiment.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace halfscope::cli {

/// Weights that cannot be written, on a full disk for example, do not end the training: the next
/// ones may be. The first of them are told at once.
class BestFiles {
public:
    /// `writer` writes into `folder` and outlives this. `beforeNote` is called before a line is
    /// printed while the run goes on.
    BestFiles(RunWriter& writer, std::string folder, std::function<void()> beforeNote)
        : m_writer(writer), m_folder(std::move(folder)), m_beforeNote(std::move(beforeNote)) {}

    /// Whether a folder has weights after the best validation of a lane.
    static bool has(const std::string& folder, const std::string& lane);
    /// Begins with the weights that a lane has in `from`, the folder of the run that goes on, where
    /// they are those after the best of its validations so far. Those of another step are not of
    /// this run: they are removed from the run's own folder. Returns a sentence where the best
    /// weights are missing.
    Message goOn(const std::string& from, const std::string& lane, const LaneTotals& soFar);
    /// Lets a fork begin with the weights of its parent.
    void fork(const std::string& parent, const std::string& lane);
    /// Writes the weights of a lane if its row has a validation that is better than all before.
    void add(const std::string& lane, const StepRow&, const std::function<std::string()>& weights);

    /// Whether the best weights of a lane are not there.
    bool lacksAny() const { return !m_unsaved.empty(); }
    /// Returns a line for each such lane: what it has instead, and why.
    std::string unsavedText() const;

private:
    /// A best and by what it is one: earlier versions judged some data by their loss that have an
    /// accuracy now.
    struct Kept {
        LaneTotals::Best best;
        JudgedBy by = JudgedBy::Loss;
    };
    [[nodiscard]] Message write(const std::string& lane, const std::string& content);
    void keep(const std::string& lane, const Kept&, const std::string& content);

    RunWriter& m_writer;
    std::string m_folder;
    std::function<void()> m_beforeNote;
    std::map<std::string, Kept> m_best;       ///< by lane
    std::map<std::string, Message> m_unsaved; ///< why the file of a lane is not of its best
};

/// Throws InputError where no weights can be the best, or `out` is empty.
void checkKeepsBest(const std::string& out, const Experiment&);

} // namespace halfscope::cli
