// Chooses settings from nothing but the facts of the data.
#include "engine/settings/data_experiment.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/core/shape.h"
#include "engine/core/text.h"
#include "engine/data/array_places.h"
#include "engine/data/csv_columns.h"
#include "engine/data/csv_fields.h"
#include "engine/data/csv_target.h"
#include "engine/data/data_around.h"
#include "engine/data/dataset.h"
#include "engine/data/held_back.h"
#include "engine/data/known_facts.h"
#include "engine/data/other_files.h"
#include "engine/data/own_files.h"
#include "engine/data/picture_samples.h"
#include "engine/data/picture_side.h"
#include "engine/data/pictures.h"
#include "engine/data/target_scale.h"
#include "engine/data/targets.h"
#include "engine/data/text_table.h"
#include "engine/data/undecoded.h"
#include "engine/data/window_overlap.h"
#include "engine/io/input_file.h"
#include "engine/io/open_folder.h"
#include "engine/io/safetensors.h"
#include "engine/io/torch_file.h"
#include "engine/settings/run_length.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

namespace halfscope {

namespace {

constexpr int64_t kBatch = 64;
constexpr int64_t kWantedSteps = 1000, kLeastEpochs = 2, kMostEpochs = 200;
constexpr size_t kMostTitle = 60; // bytes

/// Returns the facts with this loss, or nothing when the targets do not fit it.
std::optional<DataFacts> factsWith(TaskConfig task, LossKind loss) {
    task.loss.kind = loss;
    try {
        return factsOf(task);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

/// Whether targets are looked for as numbers first, as a large table takes long to read: the first
/// lines of one tell that they are no classes.
bool numbersFirst(const TaskConfig& task) {
    return infoOf(task.kind).has("data.drop") && beginsWithNumbers(task);
}

/// Returns the facts with a loss that the targets fit, or nothing.
std::optional<DataFacts> factsWithAny(const TaskConfig& task) {
    const LossKind first = numbersFirst(task) ? LossKind::Mse : LossKind::CrossEntropy;
    if (auto facts = factsWith(task, first)) return facts;
    return factsWith(task, first == LossKind::Mse ? LossKind::CrossEntropy : LossKind::Mse);
}

bool areFewClasses(const DataFacts& facts) {
    return mayBeClasses(facts.tensors[kTarget].classes, facts.train + facts.validation);
}

/// Throws InputError when the classes are numbers that are read as words, or that float32 does not
/// hold: each "1.234,56" would silently be a class of its own, and so would all beside a 1e300.
void checkClassesAreWords(TaskConfig task) {
    task.loss.kind = LossKind::CrossEntropy;
    const TaskView view = makeDataset(task, 0)->view();
    const bool commas = readsCommas(task);
    const auto isOdd = [commas](const std::string& name) {
        return isUnreadNumber(name, commas) || isBeyondFloat(name, true);
    };
    const bool numbers = std::ranges::all_of(view.classes, [&](const std::string& name) {
        return isOdd(name) || !std::isnan(numberOf(name, true));
    });
    if (!numbers || std::ranges::none_of(view.classes, isOdd)) return;
    task.loss.kind = LossKind::Mse;
    factsOf(task); // names the first of them
}

/// Targets that could be either are taken for classes when they are words or few whole numbers.
LossKind lossFor(const TaskConfig& task) {
    const Targets targets = infoOf(task.kind).targets;
    if (targets != Targets::AsTheLoss)
        return targets == Targets::Numbers ? LossKind::Mse : LossKind::CrossEntropy;
    if (numbersFirst(task) && factsWith(task, LossKind::Mse)) return LossKind::Mse;
    const auto classes = factsWith(task, LossKind::CrossEntropy);
    const bool few = classes && areFewClasses(*classes);
    // before numbers are looked for, which would read a large table once more
    if (few && classes->tensors[kTarget].wholeClasses) return LossKind::CrossEntropy;
    const auto numbers = factsWith(task, LossKind::Mse);
    // of a table that neither fits, the columns of inputs are what to tell about, not its target
    const bool table = infoOf(task.kind).has("data.target");
    if (!classes) return numbers || !table ? LossKind::Mse : LossKind::CrossEntropy;
    if (numbers) return LossKind::Mse;
    if (table && !few) checkClassesAreWords(task);
    return LossKind::CrossEntropy;
}

/// Returns the column to predict, see likelyTarget(). Of a table that cannot be read, whoever reads
/// it tells why.
std::string targetFor(const TaskConfig& task) {
    try {
        return likelyTarget(task);
    } catch (const InputError&) {
        return {};
    }
}

/// Returns data.drop. Leaves out columns that have too many words to be inputs, or no value, when
/// the table cannot be used otherwise; DataFacts::notes names them.
std::string dropFor(const TaskConfig& task) {
    if (!infoOf(task.kind).has("data.drop")) return task.drop;
    return factsWithAny(task) ? task.drop : dropWithUnusable(task);
}

/// Whether the inputs of a table are its columns as they are: of a column of words, such as dates,
/// each word is an input. Reads its first line only.
bool inputsAreColumns(const TaskConfig& task, const DataFacts& facts) {
    CsvFile file = tableOf(task);
    return csvLayout(task, file).inputNames() == facts.inputNames;
}

/// Leaves out columns of dates, too, of a usable table: only where nobody has seen the columns yet,
/// so that a user can take one back.
std::string firstDropFor(TaskConfig task) {
    task.drop = dropFor(task);
    if (!infoOf(task.kind).has("data.drop")) return task.drop;
    const auto facts = factsWithAny(task);
    return facts && inputsAreColumns(task, *facts) ? task.drop : dropWithDates(task);
}

/// Lines that lack a value are dropped only where the table cannot be used otherwise, or where many
/// different targets are then all numbers. Where that would leave out more than half of them, means
/// fill the gaps. Then columns may have no value left, which `drops` allows to leave out.
/// DataFacts::notes tells how many lines or values that concerns.
Missing missingFor(const TaskConfig& task, bool drops) {
    if (!infoOf(task.kind).has("data.missing")) return Missing::Refuse;
    if (numbersFirst(task) && factsWith(task, LossKind::Mse)) return Missing::Refuse;
    const auto classes = factsWith(task, LossKind::CrossEntropy);
    if ((classes && areFewClasses(*classes)) || factsWith(task, LossKind::Mse))
        return Missing::Refuse;
    const auto samplesWith = [&](Missing missing) {
        TaskConfig with = task;
        with.missing = missing;
        if (drops) with.drop = dropFor(with);
        auto facts = factsWith(with, LossKind::Mse);
        if (!facts && !classes) facts = factsWith(with, LossKind::CrossEntropy);
        return facts ? facts->train + facts->validation : 0;
    };
    const int64_t dropped = samplesWith(Missing::Drop), filled = samplesWith(Missing::Mean);
    if (dropped == 0 && filled == 0) return Missing::Refuse;
    return 2 * dropped < filled ? Missing::Mean : Missing::Drop;
}

/// Returns how many samples the data have under either loss; 0 where they cannot be used.
int64_t samplesOf(const TaskConfig& task) {
    auto facts = factsWith(task, LossKind::Mse);
    if (!facts) facts = factsWith(task, LossKind::CrossEntropy);
    return facts ? facts->train + facts->validation : 0;
}

/// Sets data.missing, and data.drop where `drops`. A column may have to be left out only for what
/// stands in lines that are left out, too: it comes back where that costs no sample.
void handleGaps(TaskConfig& task, bool drops) {
    TaskConfig all = task;
    if (drops) task.drop = dropFor(task);
    task.missing = missingFor(task, drops);
    if (!drops || task.missing == Missing::Refuse) return;
    task.drop = dropFor(task);
    all.missing = task.missing;
    all.drop = dropFor(all);
    if (all.drop != task.drop && samplesOf(all) >= std::max<int64_t>(samplesOf(task), 1))
        task.drop = all.drop;
}

/// Returns the column that was predicted so far; empty where the setting names none of the table's.
std::string targetBefore(const TaskConfig& task) {
    try {
        return targetColumn(task);
    } catch (const InputError&) {
        return {};
    }
}

/// Samples that are overlapping windows of a series are judged on the last ones, behind a gap in
/// which none overlaps with them, as forecasts are; DataFacts::notes tells so.
void splitByTime(TaskConfig& task) {
    // the facts of a table have seen its samples, those of arrays have not
    if (infoOf(task.kind).has("data.target") &&
        std::ranges::none_of(factsOf(task).notes, tellsOverlap))
        return;
    TaskConfig all = task;
    all.validation = 0;   // in their order
    all.testPath.clear(); // it needs samples to validate on
    all.xTest.clear();
    all.standardise = all.standardiseX = all.standardiseTarget = false;
    const std::unique_ptr<Dataset> data = makeDataset(all, 0);
    const auto tensors = data->tensors();
    const Shape& sample = tensors[kX].shape;
    const int64_t samples = data->samples(Split::Train);
    if (sample.rank() > 2) return; // pictures
    const int64_t overlap =
        overlapOf(samples, sample.elements(), [&](int64_t row, std::span<float> values) {
            Batch batch = Batch::of(tensors, 1);
            data->read(Split::Train, {&row, 1}, batch);
            std::ranges::copy(batch.floats(kX), values.begin());
        });
    if (overlap == 0 || overlap >= HeldBack::trained(samples, task)) return;
    task.held = Held::Last;
    task.gap = overlap;
}

/// Of classes, the same share of each is held back where chance chooses among the samples.
bool stratifiesFor(TaskConfig task) {
    if (!canStratify(task)) return false;
    const DataSetInfo& info = infoOf(task.kind);
    if (info.has("data.validation_path") || info.has("data.x_val")) return true; // it has looked
    task.validation = 0;
    task.testPath.clear(); // it needs samples to validate on
    task.xTest.clear();
    return factsOf(task).validation == 0; // else some come with the data
}

/// The test part of arrays is validated on where it fits those to train on; where it does not,
/// DataFacts::notes tells that it is not used.
bool testsFor(TaskConfig task) {
    task.test = testPartOf(task).has_value();
    return task.test && (factsWith(task, LossKind::CrossEntropy) || factsWith(task, LossKind::Mse));
}

/// The settings of files beside those to train on.
class OtherFiles {
public:
    /// Takes them out of the settings: what the training data alone say is decided first.
    explicit OtherFiles(TaskConfig& task) : m_task(task) {
        for (const auto& part : {kValidation, kTest})
            for (std::string TaskConfig::*each : part)
                (task.*each).clear();
    }
    /// Puts them back. What was found in a folder and does not fit is left out where it is the
    /// test, such as one whose targets are to be found out. Lines that lack a value are dropped
    /// where only the samples to validate or test on have them.
    void putBackInto(TaskConfig& task, bool testIsGiven, bool missingIsGiven) const {
        putBack(task, kValidation);
        if (!missingIsGiven) dropWhereThatHelps(task);
        putBack(task, kTest);
        if (testIsGiven) return;
        if (!missingIsGiven) dropWhereThatHelps(task);
        if (fits(task)) return;
        for (std::string TaskConfig::*each : kTest)
            (task.*each).clear();
    }

private:
    using Part = std::array<std::string TaskConfig::*, 3>;
    static constexpr Part kValidation{&TaskConfig::validationPath, &TaskConfig::xVal,
                                      &TaskConfig::yVal};
    static constexpr Part kTest{&TaskConfig::testPath, &TaskConfig::xTest, &TaskConfig::yTest};

    static void dropWhereThatHelps(TaskConfig& task) {
        if (task.missing != Missing::Refuse || fits(task)) return;
        task.missing = Missing::Drop;
        if (!fits(task)) task.missing = Missing::Refuse;
    }
    void putBack(TaskConfig& task, const Part& part) const {
        for (std::string TaskConfig::*each : part)
            task.*each = m_task.*each;
    }
    static bool fits(const TaskConfig& task) { return factsWith(task, task.loss.kind).has_value(); }

    TaskConfig m_task; ///< as it was
};

/// Pictures that cannot be decoded, and what shards lack that end early, are left out where there
/// are some; DataFacts::notes tells of them. Of many pictures only the first ones are looked at.
Damaged damagedFor(TaskConfig task) {
    if (!infoOf(task.kind).has("data.damaged")) return task.damaged;
    task.damaged = Damaged::Skip;
    const DataFacts facts = factsOf(task);
    return std::ranges::any_of(facts.notes, tellsDamage) ? Damaged::Skip : Damaged::Refuse;
}

/// Targets of very large or small numbers are standardised, because a network does not reach them
/// in a thousand steps; DataFacts::notes tells how to undo it.
bool standardisesFor(TaskConfig task) {
    if (!canStandardiseTarget(task)) return false;
    const bool table = infoOf(task.kind).has("data.target"); // its facts have seen the targets
    task.standardiseTarget = !table;
    const DataFacts facts = factsOf(task);
    return table ? std::ranges::any_of(facts.notes, tellsFarOff) : facts.targetScale.isFarOff();
}

/// Returns two convolutions, each followed by pooling, and two layers on what is left.
std::string convolutions(const Shape& picture, int64_t classes) {
    const auto number = [](int64_t x) { return std::to_string(x); };
    const int64_t left = 32 * (picture[1] / 2 / 2) * (picture[2] / 2 / 2);
    return "nn.Sequential(\n    nn.Conv2d(" + number(picture[0]) +
           ", 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),\n"
           "    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),\n"
           "    nn.Flatten(),\n    nn.Linear(" +
           number(left) + ", 64), nn.ReLU(),\n    nn.Linear(64, " + number(classes) + "))";
}

/// Returns an encoder for characters; convolutions for pictures or, when so many grey pictures
/// would take long, one wide layer; and two narrow layers for columns. Of colour pictures, a wide
/// layer would have nearly half the products of the convolutions and learn much less.
ModelConfig modelFor(const DataFacts& facts) {
    constexpr int64_t kMany = 20'000, kLeastSide = 8;
    const Shape& sample = facts.tensors[kX].shape;
    const bool picture = sample.rank() == 3;
    ModelConfig model;
    if (facts.tensors[kX].dtype == DType::I32) {
        model.layers = encoderLayers(facts);
        return model;
    }
    model.width = picture ? 256 : 64;
    model.depth = picture ? 0 : 1;
    model.norm = Norm::None;
    const bool large = picture && std::min(sample[1], sample[2]) >= kLeastSide;
    const int64_t classes = facts.tensors[kTarget].classes;
    const bool quick = facts.train < kMany || sample[0] == 3;
    if (large && classes > 0 && quick) model.layers = convolutions(sample, classes);
    return model;
}

/// Returns the name of the file or folder.
std::string titleOf(const std::string& path) {
    std::filesystem::path given = std::filesystem::path(path).lexically_normal();
    if (given.filename().empty()) given = given.parent_path(); // the path ended with "/"
    const std::string name = given.filename().string();
    if (namesTable(name)) given = unpackedName(name);
    const std::string stem = given.stem().string();
    const std::string title(trimmed(stem));
    const bool shown = title.size() <= kMostTitle && escapedText(title) == title;
    return shown ? title : std::string();
}

std::string endingOf(const std::filesystem::path& path) {
    return lowerCase(path.extension().string());
}

/// Keeps the name that comes first in the alphabet: a folder's files are in no order.
void keepFirst(const std::string& name, std::string& first) {
    if (first.empty() || name < first) first = name;
}

/// Whether arrays have the names of a state dict, such as "0.weight".
bool looksLikeWeights(const SafetensorsInfo& file) {
    return std::ranges::any_of(file.arrays, [](const ArrayInfo& array) {
        return array.name == "weight" || array.name.ends_with(".weight") ||
               array.name.ends_with(".bias");
    });
}

/// Refuses a file of named arrays, none of which are samples, with what it is good for.
[[noreturn]] void refuseSafetensors(const std::string& path) {
    const SafetensorsInfo file = safetensorsInfo(path);
    const auto format = file.metadata.find("format");
    if (format != file.metadata.end() && format->second == kCheckpointFormat)
        throw InputError(phrase("Files", "%1: this is a checkpoint of a run, not data to train on; "
                                         "halfscope-cli run --resume FILE goes on from it"),
                         pathText(path));
    if (looksLikeWeights(file))
        throw InputError(phrase("Files", "%1: these are weights of a network, not data to train "
                                         "on; it has %2; open the data, and set model.weights to "
                                         "this file (halfscope-cli run DATA --weights FILE) to "
                                         "start every lane from them"),
                         pathText(path), listedArrays(path));
    throw InputError(phrase("Files", "%1: there are no arrays x and y (or X and Y, or x_train "
                                     "and y_train) in it to train on; it has %2"),
                     pathText(path), listedArrays(path));
}

} // namespace

std::string encoderLayers(const DataFacts& facts) {
    const auto number = [](int64_t x) { return std::to_string(x); };
    constexpr int64_t kWidth = 64;
    const int64_t length = facts.tensors[kX].shape.elements();
    const std::string width = number(kWidth), known = number(facts.tensors[kX].classes);
    const bool every = facts.tensors[kTarget].shape.rank() > 0;
    if (facts.tensors[kX].padded)
        return "PaddedSequential(\n    nn.Embedding(" + known + ", " + width +
               ", padding_idx=0), PositionalEmbedding(" + number(length) + ", " + width +
               "),\n    nn.TransformerEncoderLayer(" + width +
               ", 4, dim_feedforward=" + number(2 * kWidth) +
               ", dropout=0.1, batch_first=True, norm_first=True),\n"
               "    MaskedMean(), nn.Linear(" +
               width + ", " + number(facts.tensors[kTarget].classes) + "))";
    const std::string layer = std::string(every ? "    CausalTransformerEncoderLayer("
                                                : "    nn.TransformerEncoderLayer(") +
                              width + ", 4, dim_feedforward=" + number(4 * kWidth) +
                              ", dropout=0.0, batch_first=True, norm_first=True),\n";
    return "nn.Sequential(\n    nn.Embedding(" + known + ", " + width + "), PositionalEmbedding(" +
           number(length) + ", " + width + "),\n" + layer + layer + "    nn.LayerNorm(" + width +
           (every ? ")" : "), nn.Flatten()") + ",\n    nn.Linear(" +
           number(every ? kWidth : length * kWidth) + ", " +
           number(facts.tensors[kTarget].classes) + "))";
}

std::optional<RunConfig> experimentOn(const std::string& path, std::span<const Assignment> given) {
    const auto isGiven = [given](std::string_view key) {
        return std::any_of(given.begin(), given.end(),
                           [key](const Assignment& each) { return each.field->key == key; });
    };
    std::error_code ignored;
    std::filesystem::path whole = std::filesystem::absolute(path, ignored);
    if (ignored) whole = path;
    const FactsAnew anew; // the files may have been opened before, and changed since
    RunConfig config = defaultConfig();
    for (const Assignment& each : given) // a row may look for the one array beside the other
        if (each.field->key == "data.x" || each.field->key == "data.y")
            setField(config, each.lane, each.field->key, each.value);
    const auto rows = dataSets();
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const DataSetInfo& info) {
        TaskConfig task = config.task; // unchanged by rows that refuse the path
        if (!info.opens || !info.opens(whole.string(), task)) return false;
        config.task = task;
        return true;
    });
    if (row == rows.end()) return std::nullopt;
    config.task.kind = static_cast<TaskKind>(row - rows.begin());
    for (const Assignment& each : given)
        if (const std::string_view key = each.field->key;
            key.starts_with("data.") || key.starts_with("task."))
            setField(config, each.lane, key, each.value);
    const DataSetInfo& info = infoOf(config.task.kind); // another row where data.kind is given
    if (!isGiven("data.damaged") && info.has("data.damaged"))
        config.task.damaged = Damaged::Skip; // until damagedFor() has looked
    if (!isGiven("data.side") && info.has("data.side"))
        config.task.pictureSide = sideOfPictures(config.task);
    if (!isGiven("data.test") && canValidateTestArrays(config.task))
        config.task.test = testsFor(config.task);
    if (!isGiven("data.target") && config.task.target.empty() && info.has("data.target"))
        config.task.target = targetFor(config.task);
    const OtherFiles others(config.task);
    if (!isGiven("data.context") && info.has("data.tokens"))
        config.task.context = contextFor(config.task);
    if (!isGiven("data.missing")) handleGaps(config.task, !isGiven("data.drop"));
    if (!isGiven("data.drop")) config.task.drop = firstDropFor(config.task);
    if (!isGiven("task.loss")) config.task.loss.kind = lossFor(config.task);
    if (!isGiven("data.standardise_target"))
        config.task.standardiseTarget = standardisesFor(config.task);
    others.putBackInto(config.task, isGiven("data.test_path") || isGiven("data.x_test"),
                       isGiven("data.missing"));
    const bool chooses = info.has("data.held_back") && !validatesOwn(config.task) &&
                         !isGiven("data.held_back") && !isGiven("data.gap");
    if (chooses) splitByTime(config.task);
    if (!isGiven("data.stratify")) config.task.stratify = stratifiesFor(config.task);
    if (!isGiven("data.damaged")) config.task.damaged = damagedFor(config.task);
    const DataFacts facts = factsOf(config.task);
    if (!isGiven("task.batch")) config.task.batch = std::min(kBatch, facts.train);
    config.model = modelFor(facts);
    const int64_t perEpoch = (facts.train + config.task.batch - 1) / config.task.batch;
    config.epochs = std::clamp((kWantedSteps + perEpoch - 1) / perEpoch, kLeastEpochs, kMostEpochs);
    config.title = titleOf(path);
    return config;
}

RunConfig predicting(RunConfig config, const std::string& column) {
    TaskConfig& task = config.task;
    const bool hadClasses = targetsAreClasses(task);
    const bool drops = infoOf(task.kind).has("data.drop");
    const std::string before = drops ? targetBefore(task) : std::string();
    task.target = column;
    if (task.textColumn == column) task.textColumn.clear(); // the longest of the others
    task.drop = dropWithout(task, column);
    if (drops) task.drop = dropIfDates(task, before);
    if (task.missing == Missing::Refuse) handleGaps(task, true);
    task.drop = dropFor(task);
    task.loss.kind = lossFor(task);
    task.standardiseTarget = standardisesFor(task);
    if (!hadClasses) task.stratify = stratifiesFor(task);
    task.batch = std::min(task.batch, factsOf(task).train);
    return config;
}

void checkCanBeExperiment(const std::string& path) {
    const std::string ending = endingOf(path);
    InputFile file(path); // first: a file that is not there has no format
    char first = 0;
    const bool empty = file.read({&first, 1}) == 0;
    if (ending == ".json" && first != '[') return; // a list may be a table, but no experiment
    if (ending == ".npz")
        throw InputError(phrase("Files", "%1: there are no arrays x and y (or X and Y, or x_train "
                                         "and y_train) in it to train on; it has %2; "
                                         "numpy.savez('data.npz', x=x, y=y) names them"),
                         pathText(path), listedArrays(path));
    if (ending == ".safetensors") refuseSafetensors(path);
    if (isFileOfMnist(path))
        throw InputError(phrase("Files", "%1: one of the four files of MNIST; open the folder that "
                                         "holds them"),
                         pathText(path));
    if (isFileOfCifar(path))
        throw InputError(phrase("Files", "%1: one of the files of CIFAR; open the folder "
                                         "that holds them"),
                         pathText(path));
    if (isOtherPictureName(path))
        throw InputError(phrase("Files", "%1: pictures are read as PNG and JPEG; save it as one of "
                                         "them"),
                         pathText(path));
    if (isTorchFile(path)) throw InputError(torchFileRefusal(path));
    if (const Message refusal = otherFileRefusal(path); !refusal.empty()) throw InputError(refusal);
    constexpr std::string_view kStartsJson = "{ \t\r\n\xEF"; // \xEF begins a byte order mark
    if (empty || kStartsJson.find(first) != kStartsJson.npos) return;
    throw InputError(
        phrase("Files", "%1: neither an experiment (JSON) nor data that can be "
                        "opened: .csv, .tsv, .data, .npy, .npz, .safetensors, .png, .jpg, .tar, "
                        ".txt or a folder"),
        pathText(path));
}

InputError nothingInFolder(const std::string& path) {
    if (const Message pictures = unusualPictures(path); !pictures.empty())
        return InputError(pictures);
    constexpr int kMostEntries = 10'000; // a longer look would be noticed
    constexpr size_t kMostNamed = 3;
    constexpr std::array<std::string_view, 5> kOpened{".npy", ".npz", ".safetensors", ".txt",
                                                      ".json"};
    const auto opens = [&kOpened](const std::filesystem::path& file) {
        return namesPicture(file.string()) || namesTable(file.string()) ||
               std::find(kOpened.begin(), kOpened.end(), endingOf(file)) != kOpened.end();
    };
    std::set<std::string> names;
    std::string packed, picture; // the first of the files that only another program opens
    TaskConfig digits;           // where there are some of their files
    std::error_code error;
    auto each = std::filesystem::directory_iterator(path, error);
    for (int n = 0; !error && n < kMostEntries && each != end(each); each.increment(error), ++n) {
        std::error_code ignored;
        const std::filesystem::path& file = each->path();
        if (!each->is_regular_file(ignored)) continue;
        if (opens(file)) names.insert(file.filename().string());
        if (isFileOfMnist(file.string())) digits.path = path;
        if (isPackedFile(file.string())) keepFirst(file.string(), packed);
        if (isOtherPictureName(file.string())) keepFirst(file.string(), picture);
        if (names.size() > kMostNamed) names.erase(std::prev(names.end()));
    }
    if (error)
        return InputError(phrase("Data", "%1 cannot be read: %2"), pathText(path),
                          reasonOf(error.value()));
    if (!digits.path.empty()) infoOf(TaskKind::Mnist).facts(digits); // names what is missing
    constexpr Phrase kLacks =
        phrase("Files",
               "%1: the folder holds no saved run (experiment.json), no files of MNIST "
               "or CIFAR, no pair of arrays (x.npy and y.npy), no shards (.tar) and no folders of "
               "pictures");
    if (names.empty() && !packed.empty()) return InputError(otherFileRefusal(packed));
    if (names.empty() && !picture.empty()) return InputError(otherFormats(path, picture));
    if (names.empty()) return InputError(kLacks, pathText(path));
    std::string listed;
    for (const std::string& name : names)
        listed += (listed.empty() ? "" : ", ") + name;
    return InputError(phrase("Files", "%1; open one of the files in it, such as %2"),
                      Message(kLacks, pathText(path)), listed);
}

bool namesPicture(const std::string& path) {
    const std::string ending = endingOf(path);
    return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

RunConfig painting(RunConfig config, const std::string& picture) {
    // loss and network of other data do not fit, and their settings teach no picture
    if (viewKindOf(config.task) != ViewKind::Painted) config = presetNamed("picture").config;
    if (config.task.kind != TaskKind::Image) config.model.weights.clear(); // of other outputs
    std::error_code ignored;
    const std::filesystem::path whole = std::filesystem::absolute(picture, ignored);
    config.task.kind = TaskKind::Image;
    config.task.image = ignored ? picture : whole.string();
    config.title = titleOf(picture);
    return config;
}

Message titleOfData(const TaskConfig& task) {
    const std::string& file = task.kind == TaskKind::Image ? task.image
                              : !task.path.empty()         ? task.path
                                                           : task.x;
    if (!file.empty() && namesFiles(task)) return Message::data(titleOf(file));
    // the title alone may be that of a preset, which has other settings
    return {phrase("Presets", "%1, own settings"), infoOf(task.kind).title};
}

} // namespace halfscope
