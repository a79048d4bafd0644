// The table of data sets, and the memory of what their files say. Each row is in the file of its
// class.
#include "engine/data/dataset.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/targets.h"

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace halfscope {

extern const DataSetInfo kCheckerboardData, kImageData, kRegressionData, kMnistData, kArrayData,
    kCsvData, kCurveData, kLineData, kMoonData, kSpiralData, kCircleData, kPictureData;

std::span<const DataSetInfo> dataSets() {
    static const std::array rows{kCheckerboardData, kImageData,  kRegressionData,
                                 kMnistData,        kArrayData,  kCsvData,
                                 kCurveData,        kLineData,   kMoonData,
                                 kSpiralData,       kCircleData, kPictureData}; // by TaskKind
    return rows;
}

const DataSetInfo& infoOf(TaskKind kind) { return dataSets()[static_cast<size_t>(kind)]; }

const char* nameOf(TaskKind kind) {
    const auto at = static_cast<size_t>(kind);
    return at < dataSets().size() ? dataSets()[at].name : "";
}

namespace {

/// Facts by the settings that decide them.
class KnownFacts {
public:
    std::optional<DataFacts> find(const TaskConfig& task) const {
        const std::lock_guard lock(m_mutex);
        const auto found = m_facts.find(keyOf(task));
        return found == m_facts.end() ? std::nullopt : std::optional(found->second);
    }
    void put(const TaskConfig& task, DataFacts facts) {
        constexpr size_t kMost = 256; // of settings that were typed
        const std::lock_guard lock(m_mutex);
        if (m_facts.size() >= kMost) m_facts.clear();
        m_facts[keyOf(task)] = std::move(facts);
    }

private:
    using Key = std::array<std::string, 10>;
    static Key keyOf(const TaskConfig& task) {
        return {nameOf(task.kind),
                task.path,
                task.x,
                task.y,
                task.target,
                numberText(task.validation),
                nameOf(task.loss.kind),
                task.standardise ? "standardised" : "",
                numberText(task.pictureSide),
                task.grey ? "grey" : ""};
    }
    mutable std::mutex m_mutex;
    std::map<Key, DataFacts> m_facts;
};

KnownFacts& knownFacts() {
    static KnownFacts facts;
    return facts;
}

} // namespace

DataFacts factsOf(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    if (!info.fromFiles) return info.facts(task);
    if (auto known = knownFacts().find(task)) return *std::move(known);
    DataFacts facts = info.facts(task);
    knownFacts().put(task, facts);
    return facts;
}

ViewKind viewKindOf(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    const bool table = info.targets == Targets::AsTheLoss && targetsAreClasses(task);
    return table ? ViewKind::Classes : info.view;
}

std::unique_ptr<Dataset> makeDataset(const TaskConfig& task, uint64_t seed) {
    const DataSetInfo& info = infoOf(task.kind);
    std::unique_ptr<Dataset> made = info.make(task, seed);
    require(made->view().kind == viewKindOf(task), "a data set is shown as its row says");
    if (info.fromFiles) {
        const auto tensors = made->tensors();
        knownFacts().put(task, {{tensors.begin(), tensors.end()},
                                made->samples(Split::Train),
                                made->samples(Split::Validation)});
    }
    return made;
}

} // namespace halfscope
