// The table of data sets, and the memory of what their files say. Each row is in the file of its
// class.
#include "engine/data/dataset.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/targets.h"
#include "engine/io/open_folder.h"

#include <array>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace halfscope {

extern const DataSetInfo kCheckerboardData, kImageData, kRegressionData, kMnistData, kArrayData,
    kCsvData, kCurveData, kLineData, kMoonData, kSpiralData, kCircleData, kPictureData, kShardData,
    kGenerateData, kTextData;

std::span<const DataSetInfo> dataSets() {
    static const std::array rows{kCheckerboardData, kImageData,    kRegressionData, kMnistData,
                                 kArrayData,        kCsvData,      kCurveData,      kLineData,
                                 kMoonData,         kSpiralData,   kCircleData,     kPictureData,
                                 kShardData,        kGenerateData, kTextData}; // by TaskKind
    return rows;
}

const DataSetInfo& infoOf(TaskKind kind) { return dataSets()[static_cast<size_t>(kind)]; }

const char* nameOf(TaskKind kind) {
    const auto at = static_cast<size_t>(kind);
    return at < dataSets().size() ? dataSets()[at].name : "";
}

const char* nameOf(Missing missing) {
    switch (missing) {
    case Missing::Refuse: return "refuse";
    case Missing::Drop: return "drop";
    case Missing::Mean: return "mean";
    }
    return "";
}

const char* nameOf(Damaged damaged) {
    switch (damaged) {
    case Damaged::Refuse: return "refuse";
    case Damaged::Skip: return "skip";
    }
    return "";
}

namespace {

/// Changes where a file does, or one of the first files of a folder: those directly in it.
std::string stampOf(const std::string& path) {
    constexpr size_t kMost = 10'000; // a wrong path may name a folder of millions
    std::string stamp = fileStamp(path);
    for (const std::string& name : namesIn(path, Entries::All, nullptr, kMost))
        stamp += "\n" + name + fileStamp((std::filesystem::path(path) / name).string());
    return stamp;
}

/// Facts, or why there are none.
struct Answer {
    std::optional<DataFacts> facts;
    Message error;
    std::array<std::string, 3> stamps{}; ///< of the files of an error: it may be mended there
};

/// Answers by the settings that decide them. Facts stay when files change or go: a run that goes on
/// knows its epochs.
class KnownFacts {
public:
    std::optional<Answer> find(const TaskConfig& task) const {
        const std::lock_guard lock(m_mutex);
        const auto found = m_answers.find(keyOf(task));
        if (found == m_answers.end()) return std::nullopt;
        const bool holds = found->second.facts || found->second.stamps == stampsOf(task);
        return holds ? std::optional(found->second) : std::nullopt;
    }
    void put(const TaskConfig& task, DataFacts facts) { put(task, Answer{std::move(facts), {}}); }
    using Stamps = std::array<std::string, 3>;
    /// The stamps are those from before the files were read.
    void put(const TaskConfig& task, const Message& error, Stamps stamps) {
        put(task, Answer{std::nullopt, error, std::move(stamps)});
    }
    static Stamps stampsOf(const TaskConfig& task) {
        return {stampOf(task.path), stampOf(task.x), stampOf(task.y)};
    }

private:
    using Key = std::array<std::string, 18>;
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
                task.grey ? "grey" : "",
                nameOf(task.missing),
                numberText(task.shardReaders),
                numberText(task.samples),
                numberText(task.latent),
                numberText(task.context),
                task.mean,
                task.deviation,
                numberText(task.crop)};
    }
    void put(const TaskConfig& task, Answer answer) {
        constexpr size_t kMost = 256; // of settings that were typed
        const std::lock_guard lock(m_mutex);
        if (m_answers.size() >= kMost) m_answers.clear();
        m_answers[keyOf(task)] = std::move(answer);
    }

    mutable std::mutex m_mutex;
    std::map<Key, Answer> m_answers;
};

KnownFacts& knownFacts() {
    static KnownFacts facts;
    return facts;
}

} // namespace

DataFacts factsOf(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    if (!info.fromFiles) return info.facts(task);
    if (auto known = knownFacts().find(task)) {
        if (known->facts) return *std::move(known->facts);
        throw InputError(known->error);
    }
    auto stamps = KnownFacts::stampsOf(task);
    try {
        DataFacts facts = info.facts(task);
        knownFacts().put(task, facts);
        return facts;
    } catch (const InputError& error) {
        knownFacts().put(task, error.message(), std::move(stamps));
        throw;
    }
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
        knownFacts().put(task, DataFacts{{tensors.begin(), tensors.end()},
                                         made->samples(Split::Train),
                                         made->samples(Split::Validation),
                                         made->notes()});
    }
    return made;
}

} // namespace halfscope
