// Pictures and their classes in tar archives, as WebDataset lays them out: the files of one sample
// have the same name up to the first dot, such as 000001.png and 000001.cls. The archives are
// scanned once; then each sample is read from its place, as in any other data set.
#include "engine/data/shards.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/class_sides.h"
#include "engine/data/part_names.h"
#include "engine/data/picture_samples.h"
#include "engine/data/shard_index.h"
#include "engine/data/targets.h"
#include "engine/data/test_split.h"
#include "engine/data/undecoded.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

namespace {

namespace fs = std::filesystem;

constexpr Phrase kJudgedShards =
    phrase("Data", "Samples to validate on: %1, those of %2. None of the others are held back.");

IndexPtr indexOf(const TaskConfig& task) {
    if (task.path.empty())
        throw InputError(
            phrase("Data", "data.path: missing; it must be a .tar file or a folder of them"));
    IndexPtr index = indexAt(task.path);
    if (index->samples.empty() && !index->cut.empty()) throw InputError(index->cut);
    if (task.damaged == Damaged::Refuse && !index->cut.empty())
        throw InputError(withSkipHint(index->cut));
    if (index->trained == 0)
        throw InputError(
            phrase("Data", "data.path: %1 has no samples: pictures with their classes in "
                           ".tar files, such as 000001.png and 000001.cls%2"),
            pathText(task.path),
            index->other.empty()
                ? Message()
                : Message(phrase("Data", "; it has others, such as %1"), pathText(index->other)));
    const auto samples = static_cast<int64_t>(index->samples.size());
    checkSampleCount(pathText(task.path), samples);
    checkSampleCount("data.shard_readers",
                     static_cast<int64_t>(index->trained) * task.shardReaders);
    return index;
}

std::vector<int32_t> labelsOf(const ShardIndex& index) {
    std::vector<int32_t> labels;
    for (const ShardSample& each : index.samples)
        labels.push_back(each.label);
    return labels;
}

/// Numbers samples that have shards of their own: these are judged.
void judgeOwn(HeldBack& splits, const ShardIndex& index, const TaskConfig& task, size_t first,
              size_t count) {
    for (size_t i = first; i < first + count; ++i) {
        splits.validation.push_back(static_cast<int32_t>(i));
        if (stratifies(task)) splits.heldLabels.push_back(index.samples[i].label);
    }
}

/// Splits the samples to train on where none have shards of their own to validate on.
HeldBack splitOf(const ShardIndex& index, const TaskConfig& task) {
    const auto trained = static_cast<int64_t>(index.trained);
    const std::vector<int32_t> labels = labelsOf(index);
    if (index.judged == 0) return HeldBack(trained, task, labels);
    HeldBack splits(trained, 0);
    judgeOwn(splits, index, task, index.trained, index.judged);
    return splits;
}

/// Whether the shards for a test are used: their classes must be known, a share of the samples to
/// validate on takes their place, and nothing is tested where new pictures are predicted.
bool usesTest(const ShardIndex& index, const TaskConfig& task) {
    return index.tested() > 0 && index.untested.empty() && !tests(task) && task.predictFile.empty();
}

/// Tells which shards are judged, and what becomes of those for a test.
void noteParts(const ShardIndex& index, const TaskConfig& task, std::vector<Message>& notes) {
    if (index.judged > 0)
        notes.push_back({kJudgedShards, index.judged, fileNames(index.judgedShards())});
    if (index.tested() == 0) return;
    if (!index.untested.empty())
        notes.push_back(index.untested);
    else if (usesTest(index, task))
        notes.push_back({phrase("Data", "Samples for the test at the end: %1, those of %2. "
                                        "Validation does not see them."),
                         index.tested(), fileNames(index.testShards())});
    else
        notes.push_back({kTestUnused, fileNames(index.testShards())});
}

Picture squareIn(const ShardIndex& index, size_t stored, int side) {
    const ShardSample& sample = index.samples[stored];
    const std::string& shard = index.shards[sample.shard];
    return readSquare(shard + ": " + sample.picture.name, readTarEntry(shard, sample.picture),
                      side);
}

/// Tells of the pictures that cannot be decoded.
std::optional<Message> undecodedIn(const ShardIndex& index, const TaskConfig& task) {
    const auto side = static_cast<int>(task.pictureSide);
    std::vector<std::string> stamps; // of the shards
    for (const std::string& shard : index.shards)
        stamps.push_back(shard + '\0' + fileStamp(shard));
    return undecodedNote(
        {index.samples.size(),
         [&](size_t at) { return static_cast<size_t>(index.samples[at].picture.bytes); },
         [&](size_t at) {
             const ShardSample& sample = index.samples[at];
             return stamps[sample.shard] + '\0' + sample.picture.name + '\0' + std::to_string(side);
         },
         [&](size_t at) { (void)squareIn(index, at, side); }},
        task.damaged);
}

/// `splits` has each sample once.
std::vector<Message> notesOn(const TaskConfig& task, const ShardIndex& index,
                             const HeldBack& splits) {
    std::vector<Message> notes;
    if (task.predictFile.empty()) { // else others are judged
        TaskConfig split = task;
        if (index.judged > 0) split.validation = 0; // those have shards of their own
        notes = notesOnNumbered(
            ClassSides(splits, labelsOf(index), static_cast<size_t>(index.classes)), split);
        noteParts(index, task, notes);
    }
    const auto once = static_cast<int64_t>(splits.train.size());
    if (task.shardReaders > 1)
        notes.push_back({phrase("Data", "%1 readers each read every shard, so an epoch has %2 "
                                        "samples: each of the %3 samples %1 times."),
                         task.shardReaders, once * task.shardReaders, once});
    notes.insert(notes.end(), index.notes.begin(), index.notes.end());
    if (task.predictFile.empty())
        if (auto note = undecodedIn(index, task)) notes.push_back(*std::move(note));
    return notes;
}

class ShardData final : public PictureSamples {
public:
    ShardData(const TaskConfig& task, uint64_t seed)
        : PictureSamples(task, seed), m_index(indexOf(task)) {
        m_tensors = pictureTensors(task, m_index->classes);
        m_view = classesView(m_index->classes);
        m_splits = splitOf(*m_index, task);
        m_notes = notesOn(task, *m_index, m_splits);
        m_tested = usesTest(*m_index, task) ? m_index->tested() : 0;
        judgeOwn(m_splits, *m_index, task, m_index->trained + m_index->judged, m_tested);
        measureAndPredict(m_index->samples.size());
        const std::vector<int32_t> once = m_splits.train;
        for (int64_t reader = 1; reader < task.shardReaders; ++reader)
            m_splits.train.insert(m_splits.train.end(), once.begin(), once.end());
    }

    std::vector<Message> notes() const override { return m_notes; }
    /// Without those of the test: what a training depends on.
    std::vector<std::string> files() const override {
        const auto used = m_index->shards.end() - std::ssize(m_index->testShards());
        return {m_index->shards.begin(), used};
    }
    int64_t ownTest() const override { return static_cast<int64_t>(m_tested); }

private:
    Picture squareOf(size_t stored, int side) const override {
        return squareIn(*m_index, stored, side);
    }
    int32_t labelOf(size_t stored) const override { return m_index->samples[stored].label; }
    const std::string& fileOf(size_t stored) const override {
        return m_index->shards[m_index->samples[stored].shard];
    }

    const IndexPtr m_index;
    std::vector<Message> m_notes;
    size_t m_tested = 0; ///< samples of the test, the last ones
};

DataFacts shardFacts(const TaskConfig& task) {
    const IndexPtr index = indexOf(task);
    const auto trained = static_cast<int64_t>(index->trained);
    const auto judged = static_cast<int64_t>(index->judged);
    const int64_t held = judged > 0 ? 0 : HeldBack::count(trained, task.validation);
    const int64_t tested = usesTest(*index, task) ? static_cast<int64_t>(index->tested()) : 0;
    DataFacts facts{pictureTensors(task, index->classes), (trained - held) * task.shardReaders,
                    predictedOr(task, judged > 0 ? judged + tested : held),
                    notesOn(task, *index, splitOf(*index, task))};
    facts.test = tested;
    return facts;
}

constexpr std::string_view kPythonDecode =
    R"(                    sample["x"] = picture(shard.extractfile(entry)))";
constexpr std::string_view kPythonSkipping = R"(                    try:
                        sample["x"] = picture(shard.extractfile(entry))
                    except (OSError, SyntaxError, ValueError) as error:  # as Pillow reports damage
                        print(f"{path}, {entry.name} is left out: {error}"))";
constexpr std::string_view kPythonWhole =
    R"(        found = {name: s for name, s in found.items() if {"x", "target"} <= s.keys()}
)";
constexpr std::string_view kPythonToTheEnd = "with tarfile.open(path, \"r:\") as shard:";
constexpr std::string_view kPythonToTheCut =
    R"(# the files before the place where a shard ends early
        with contextlib.suppress(tarfile.ReadError), tarfile.open(path, "r:") as shard:)";

constexpr std::string_view kPythonPaths =
    R"(    paths = sorted(path for path in SHARDS.glob("*.tar") if not path.name.startswith("."))
)";
constexpr std::string_view kPythonParts =
    R"(    parts = {"tra": [], "val": [], "tes": []}  # by the names of the shards
    for path in paths:
        found = PART.search(path.name)
        parts[found[1].lower()[:3] if found else "tra"].append(path)
    x, target = read(parts["tra"])
)";

/// Returns samples() where shards have samples to validate on, and perhaps to test on.
std::string partsPython(const TaskConfig& task, const ShardIndex& index) {
    const bool tested = usesTest(index, task), norm = normalises(task);
    const auto pair = [norm](const char* x, const char* y) {
        return std::string("(") + (norm ? "normalised(x, " : "") + x + (norm ? ")" : "") + ", " +
               y + ")";
    };
    const std::string readers = numberText(task.shardReaders);
    return std::string(kPythonPaths) + std::string(kPythonParts) + "    y, labels = read(parts[" +
           (index.judgesTests ? "\"tes\"" : "\"val\"") + "])\n" +
           (tested ? "    z, tested = read(parts[\"tes\"])\n" : "") +
           (task.shardReaders > 1
                ? "    x, target = x.repeat(" + readers + ", 1, 1, 1), target.repeat(" + readers +
                      ")  # each of the readers reads every shard\n"
                : std::string()) +
           "    return " + pair("x", "target") + ", " + pair("y", "labels") +
           (tested ? ", " + pair("z", "tested") : std::string()) + "\n";
}

/// Returns samples() where a share of them is held back.
std::string sharePython(const TaskConfig& task) {
    return std::string(kPythonPaths) +
           "    x, target = read(paths if SHARDS.is_dir() else [SHARDS])\n" + heldBackPython(task) +
           (normalises(task) ? "    x = normalised(x[train], x)\n" : std::string()) +
           (task.shardReaders > 1 ? "    train = train.repeat(" + numberText(task.shardReaders) +
                                        ")  # each of the readers reads every shard\n"
                                  : std::string()) +
           "    return (x[train], target[train]), (x[held], target[held])\n";
}

/// Returns an empty index where there are no such files, as in a run that comes from elsewhere.
IndexPtr knownIndexOf(const TaskConfig& task) {
    try {
        return indexOf(task);
    } catch (const InputError&) {
        return std::make_shared<const ShardIndex>();
    }
}

PythonData shardPython(const TaskConfig& task, int64_t) {
    const IndexPtr index = knownIndexOf(task);
    const PythonData parts = pictureParts(task);
    const bool skips = task.damaged == Damaged::Skip, own = index->judged > 0;
    PythonData python{
        (skips ? "import contextlib\n" : "") + std::string("import pathlib\n") +
            (own ? "import re\n" : "") + "import tarfile\n" + parts.imports,
        lang::filled(
            R"(SHARDS = pathlib.Path({SHARDS})
{PART}{PICTURE}

def read(paths):
    """Pictures and classes of one name up to the first dot, as WebDataset has them."""
    x, target = [], []
    for path in paths:
        found = {}
        {OPEN}
            for entry in shard:
                folder, _, name = entry.name.rpartition("/")
                name, _, kind = name.partition(".")
                if not entry.isfile() or kind.lower() not in ("png", "jpg", "jpeg", "cls"):
                    continue
                sample = found.setdefault((folder, name), {})
                if kind.lower() == "cls":
                    sample["target"] = int(shard.extractfile(entry).read())
                else:
{DECODE}
{WHOLE}        x += [sample["x"] for sample in found.values()]
        target += [sample["target"] for sample in found.values()]
    return torch.stack(x), torch.tensor(target)


def samples():
{SAMPLES})",
            {{"SHARDS", lang::pythonText(task.path)},
             {"PART", own ? "PART = re.compile(r\"" + std::string(kPythonPart) + "\", re.I)\n"
                          : std::string()},
             {"PICTURE", parts.code},
             {"OPEN", std::string(skips ? kPythonToTheCut : kPythonToTheEnd)},
             {"DECODE", std::string(skips ? kPythonSkipping : kPythonDecode)},
             {"WHOLE", std::string(skips ? kPythonWhole : "")},
             {"SAMPLES", own ? partsPython(task, *index) : sharePython(task)}}),
        parts.varied};
    python.tests = usesTest(*index, task);
    return python;
}

/// Refuses what WebDataset takes for many shards: "train-{000000..000146}.tar".
void checkIsNoPattern(const std::string& path) {
    std::error_code ignored;
    if (!isShard(path) || path.find_first_of("{*?[") == path.npos || fs::exists(path, ignored))
        return;
    throw InputError(phrase("Data", "%1: there is no such file; to train on several shards, name "
                                    "the folder of the shards"),
                     pathText(path));
}

} // namespace

bool tellsJudgedShards(const Message& note) { return note.format() == kJudgedShards; }

extern const DataSetInfo kShardData;
const DataSetInfo kShardData{
    .name = "shards",
    .title = phrase("Settings", "Shards"),
    .about = phrase("Settings", "pictures and their classes in .tar files, as WebDataset has them"),
    .settings = {"data.path", "data.side", "data.grey", "data.flip", "data.crop", "data.mean",
                 "data.std", "data.damaged", "data.shard_readers", "data.validation",
                 "data.stratify"},
    .targets = Targets::Classes,
    .validates = true,
    .fromFiles = true,
    .view = ViewKind::Classes,
    .opens =
        [](const std::string& path, TaskConfig& task) {
            std::error_code ignored;
            task.path = path;
            const bool folder = fs::is_directory(path, ignored);
            checkIsNoPattern(path);
            return folder ? !pathsIn(path, Entries::NotFolders, isShard).empty() : isShard(path);
        },
    .facts = shardFacts,
    .make = [](const TaskConfig& task, uint64_t seed) -> std::unique_ptr<Dataset> {
        return std::make_unique<ShardData>(task, seed);
    },
    .python = shardPython};

} // namespace halfscope
