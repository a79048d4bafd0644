// The table of data sets. Each row is in the file of its class.
#include "engine/data/dataset.h"

#include "engine/core/error.h"
#include "engine/data/known_facts.h"
#include "engine/data/losses.h"
#include "engine/data/other_files.h"
#include "engine/data/own_files.h"
#include "engine/data/predicted_inputs.h"
#include "engine/data/targets.h"
#include "engine/data/test_split.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

namespace halfscope {

extern const DataSetInfo kCheckerboardData, kImageData, kRegressionData, kMnistData, kArrayData,
    kCsvData, kCurveData, kLineData, kMoonData, kSpiralData, kCircleData, kPictureData, kShardData,
    kGenerateData, kTextData, kTextClassData, kCifarData, kRecordedData;

std::span<const DataSetInfo> dataSets() {
    static const std::array rows{kCheckerboardData, kImageData,    kRegressionData, kMnistData,
                                 kArrayData,        kCsvData,      kCurveData,      kLineData,
                                 kMoonData,         kSpiralData,   kCircleData,     kPictureData,
                                 kShardData,        kGenerateData, kTextData,       kTextClassData,
                                 kCifarData,        kRecordedData}; // by TaskKind
    return rows;
}

const DataSetInfo& infoOf(TaskKind kind) { return dataSets()[static_cast<size_t>(kind)]; }

std::string_view validationSetting(TaskKind kind) {
    constexpr std::string_view kDrawn = "task.validation_samples";
    return infoOf(kind).has(kDrawn) ? kDrawn : "data.validation";
}

bool canValidate(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    return info.validates && (!info.has("task.validation_samples") || task.validationSamples > 0);
}

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

const char* nameOf(Held held) {
    switch (held) {
    case Held::Random: return "random";
    case Held::Last: return "last";
    }
    return "";
}

const char* nameOf(Predicted predicted) {
    switch (predicted) {
    case Predicted::Last: return "last";
    case Predicted::Every: return "every";
    }
    return "";
}

const char* nameOf(Tokens tokens) {
    switch (tokens) {
    case Tokens::Words: return "words";
    case Tokens::Characters: return "characters";
    }
    return "";
}

bool canStandardiseTarget(const TaskConfig& task) {
    return takesAnyNumbers(infoOf(task.loss.kind)) &&
           infoOf(task.kind).has("data.standardise_target");
}

bool standardisesTarget(const TaskConfig& task) {
    return task.standardiseTarget && canStandardiseTarget(task);
}

bool canStratify(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    const bool byChance = !info.has("data.held_back") || task.held == Held::Random;
    return info.has("data.stratify") && targetsAreClasses(task) && task.validation > 0 &&
           byChance && !validatesOwn(task);
}

bool stratifies(const TaskConfig& task) { return task.stratify && canStratify(task); }

const Standardiser& Dataset::inputScale() const {
    static const Standardiser asTheyAre;
    return asTheyAre;
}

const Standardiser& Dataset::targetScale() const { return Dataset::inputScale(); }

std::vector<int64_t> Dataset::classCounts() const {
    constexpr int64_t kRead = 256; // samples at a time
    std::vector<int64_t> counts(static_cast<size_t>(tensors()[kTarget].classes));
    const int64_t all = samples(Split::Train);
    for (int64_t first = 0; first < all; first += kRead) {
        std::vector<int64_t> wanted(static_cast<size_t>(std::min(kRead, all - first)));
        std::iota(wanted.begin(), wanted.end(), first);
        Batch batch = Batch::of(tensors(), static_cast<int64_t>(wanted.size()));
        std::vector<bool> skipped(wanted.size());
        for (const Unread& each : read(Split::Train, wanted, batch))
            skipped[each.row] = true;
        const std::span<const int32_t> labels = batch.labels(kTarget);
        const size_t positions = labels.size() / wanted.size();
        for (size_t i = 0; i < labels.size(); ++i)
            if (!skipped[i / positions]) ++counts[static_cast<size_t>(labels[i])];
    }
    return counts;
}

DataFacts Dataset::facts() const {
    const auto specs = tensors();
    return {{specs.begin(), specs.end()},
            samples(Split::Train),
            samples(Split::Validation),
            notes(),
            targetScale(),
            inputScale(),
            inputNames(),
            test() ? test()->samples(Split::Validation) : ownTest(),
            targetsAreSides()};
}

static DataFacts lookedUpFacts(const TaskConfig& task) {
    return predictsInputs(task) ? predictedInputFacts(task) : infoOf(task.kind).facts(task);
}

/// Returns the facts without a test; see factsOf().
static DataFacts wholeFactsOf(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    if (!info.fromFiles) return lookedUpFacts(task);
    auto known = knownFacts().find(task);
    const bool good = known && known->facts;
    if (good && !FactsAnew::looksAt(task)) return *std::move(known->facts);
    if (!good && namesFiles(task) && FactsElsewhere::ask(task)) {
        if (known) throw InputError(known->error); // it asks again, because the files may be mended
        throw FactsPending(task);
    }
    const size_t files = filesOf(task); // without a lock: a folder on a network may take long
    if (known && known->files == files) {
        if (good) return *std::move(known->facts);
        throw InputError(known->error);
    }
    try {
        refuseOtherFiles(task);
        DataFacts facts = lookedUpFacts(task);
        knownFacts().put(task, {facts, {}, files});
        return facts;
    } catch (const InputError& error) {
        knownFacts().put(task, {std::nullopt, error.message(), files});
        throw;
    }
}

DataFacts factsOf(const TaskConfig& task) { return testedFacts(wholeFactsOf(task), task); }

ViewKind viewKindOf(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    const bool table = info.targets == Targets::AsTheLoss && targetsAreClasses(task);
    return table ? ViewKind::Classes : info.view;
}

ViewKind viewKindOf(const TaskConfig& task, const Picture& picture) {
    const ViewKind kind = viewKindOf(task);
    const bool mayBeSides = kind == ViewKind::Scatter && infoOf(task.loss.kind).ofShares;
    return mayBeSides && picture.width == 2 && picture.height == 2 ? ViewKind::Classes : kind;
}

std::unique_ptr<Dataset> makeDataset(const TaskConfig& task, uint64_t seed) {
    const DataSetInfo& info = infoOf(task.kind);
    const size_t files = info.fromFiles ? filesOf(task) : 0; // before they are read
    std::unique_ptr<Dataset> made;
    try {
        refuseOtherFiles(task);
        made = predictsInputs(task)
                   ? withPredictedInputs(makeDataset(trainedOnly(task), seed), task)
                   : info.make(task, seed);
    } catch (const InputError& error) { // files that were good before may be gone
        if (info.fromFiles) knownFacts().put(task, {std::nullopt, error.message(), files});
        throw;
    }
    const ViewKind kind = made->view().kind, usual = viewKindOf(task);
    const bool sides = made->targetsAreSides() && usual == ViewKind::Scatter;
    require(kind == (sides ? ViewKind::Classes : usual), "a data set is shown as its row says");
    if (info.fromFiles) knownFacts().put(task, {made->facts(), {}, files});
    return withTest(std::move(made), task);
}

} // namespace halfscope
