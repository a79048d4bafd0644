// The table of data sets, and the memory of what their files say. Each row is in the file of its
// class.
#include "engine/data/dataset.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/targets.h"
#include "engine/io/open_folder.h"

#include <array>
#include <filesystem>
#include <functional>
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

/// Differs when a file was changed, or one of the first files of a folder: those directly in it.
std::string stampOf(const std::filesystem::path& path) {
    constexpr size_t kMost = 10'000; // a wrong path may name a folder of millions
    std::string stamp = fileStamp(path.string());
    for (const std::string& name : namesIn(path.string(), Entries::All, nullptr, kMost))
        stamp += "\n" + name + fileStamp((path / name).string());
    return stamp;
}

/// Of all that the facts are read from. In a hash, because many are kept.
size_t filesOf(const TaskConfig& task) {
    std::string stamps = stampOf(task.path) + "\n" + stampOf(task.x) + "\n" + stampOf(task.y);
    for (const DataSetInfo& info : dataSets()) // of every kind: generate reads the files of mnist
        for (const std::string_view folder : info.folders)
            stamps += "\n" + stampOf(std::filesystem::path(task.path) / folder);
    return std::hash<std::string>()(stamps);
}

/// Facts, or why there are none.
struct Answer {
    std::optional<DataFacts> facts;
    Message error;
    size_t files = 0; ///< of an error, as they were when they were read: it may be mended there
};

/// Answers by the settings that decide them. Facts stay when files change or go: a run that goes on
/// knows its epochs.
class KnownFacts {
public:
    std::optional<Answer> find(const TaskConfig& task) const {
        const std::lock_guard lock(m_mutex);
        const auto found = m_answers.find(keyOf(task));
        return found == m_answers.end() ? std::nullopt : std::optional(found->second);
    }
    void put(const TaskConfig& task, Answer answer) {
        constexpr size_t kMost = 256; // of settings that were typed
        const std::lock_guard lock(m_mutex);
        if (m_answers.size() >= kMost) m_answers.clear();
        m_answers[keyOf(task)] = std::move(answer);
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
    auto known = knownFacts().find(task);
    if (known && known->facts) return *std::move(known->facts);
    const size_t files = filesOf(task); // without a lock: a folder on a network may take long
    if (known && known->files == files) throw InputError(known->error);
    try {
        DataFacts facts = info.facts(task);
        knownFacts().put(task, {facts, {}});
        return facts;
    } catch (const InputError& error) {
        knownFacts().put(task, {std::nullopt, error.message(), files});
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
        knownFacts().put(task, {DataFacts{{tensors.begin(), tensors.end()},
                                          made->samples(Split::Train),
                                          made->samples(Split::Validation),
                                          made->notes()},
                                {}});
    }
    return made;
}

} // namespace halfscope
