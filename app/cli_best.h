// The weights of each lane after its best validation, which a run keeps in its folder.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/lane_totals.h"
#include "engine/runs/run_writer.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace halfscope::cli {

class BestFiles {
public:
    /// `writer` writes into `folder`; both outlive this.
    BestFiles(RunWriter& writer, std::string folder)
        : m_writer(writer), m_folder(std::move(folder)) {}

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

private:
    void write(const std::string& lane, const std::string& content);

    RunWriter& m_writer;
    std::string m_folder;
    std::map<std::string, LaneTotals::Best> m_best; ///< of the files, by lane
};

} // namespace halfscope::cli
