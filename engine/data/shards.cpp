// Pictures and their classes in tar archives, as WebDataset lays them out: the files of one sample
// have the same name up to the first dot, such as 000001.png and 000001.cls. The archives are
// scanned once; then each sample is read from its place, as in any other data set.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/class_sides.h"
#include "engine/data/picture_samples.h"
#include "engine/data/undecoded.h"
#include "engine/io/tar.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

namespace halfscope {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLabelBytes = 64;

struct ShardSample {
    size_t shard = 0;
    TarEntry picture;
    int32_t label = -1;
};

struct ShardIndex {
    std::vector<std::string> shards; ///< their paths
    std::vector<ShardSample> samples;
    int32_t classes = 0;        ///< one more than the highest class
    std::vector<Message> notes; ///< on shards that end early, which data.damaged may skip
    Message cut;                ///< why the first of these is refused otherwise
};

bool isShard(const std::string& path) { return fs::path(path).extension() == ".tar"; }

/// Returns the file, or the shards in the folder in the order of their names; `error` is that of
/// pathsIn().
std::vector<std::string> shardsAt(const std::string& path, int& error) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return pathsIn(path, Entries::NotFolders, isShard, &error);
    error = 0;
    return {path};
}

/// Splits a name: "a/0001.seg.PNG" is the file "seg.png" of the sample "a/0001".
struct ShardName {
    std::string sample, kind;
    explicit ShardName(const std::string& name) {
        const size_t slash = name.rfind('/'), from = slash == name.npos ? 0 : slash + 1;
        const size_t dot = std::min(name.find('.', from), name.size());
        sample = name.substr(0, dot);
        kind = lowerCase(name.substr(std::min(dot + 1, name.size())));
    }
    bool isPicture() const { return isPictureEnding(kind); }
    bool isLabel() const { return kind == "cls"; }
};

/// Scans one shard.
class ShardReader {
public:
    ShardReader(ShardIndex& index, size_t shard)
        : m_index(index), m_shard(shard), m_first(index.samples.size()),
          m_path(index.shards[shard]), m_reader(m_path, CutTar::TakeWholeFiles) {}

    void read() {
        TarEntry entry;
        while (m_reader.next(entry)) {
            const ShardName name(entry.name);
            if (!name.isPicture() && !name.isLabel()) continue;
            ShardSample& sample = sampleOf(name.sample);
            if (name.isPicture() ? !sample.picture.name.empty() : sample.label >= 0)
                throw InputError(phrase("Data", "%1: %2 is a second %3 of its sample"),
                                 pathText(m_path), pathText(entry.name),
                                 name.isPicture() ? phrase("Data", "picture")
                                                  : phrase("Data", "class"));
            if (name.isPicture())
                sample.picture = entry;
            else
                sample.label = labelIn(entry);
        }
        if (!m_reader.cut().empty()) return takeCut();
        for (const auto& [name, at] : m_places)
            checkWhole(name, m_index.samples[at]);
    }

private:
    /// Drops the samples that lack a part, which the end of the shard may have cut off, and tells
    /// of it. These are many where all pictures come before all classes, and any where the files
    /// come in no order. A shard that lacks no more than its end mark is as good as whole.
    void takeCut() {
        std::vector<ShardSample>& all = m_index.samples;
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(m_first);
        const auto whole = std::remove_if(first, all.end(), [](const ShardSample& each) {
            return each.label < 0 || each.picture.name.empty();
        });
        const bool part = whole != all.end();
        const int64_t left = whole - first;
        all.erase(whole, all.end());
        if (m_reader.lacksOnlyEnd() && !part && left > 0) {
            m_index.notes.push_back({phrase("Data", "%1 has no end marker, so it may have been cut "
                                                    "off; its %2 samples are used."),
                                     pathText(m_path), left});
            return;
        }
        m_index.notes.push_back(cutShardNote(m_path, m_reader.bytes(), left));
        if (m_index.cut.empty()) m_index.cut = withSkipHint(m_reader.cut());
    }

    ShardSample& sampleOf(const std::string& name) {
        const auto [at, added] = m_places.try_emplace(name, m_index.samples.size());
        if (added) m_index.samples.push_back({m_shard, {}, -1});
        return m_index.samples[at->second];
    }

    int32_t labelIn(const TarEntry& entry) {
        const std::string content = m_reader.content(entry, kMostLabelBytes);
        std::string_view text = content;
        while (text.ends_with('\n') || text.ends_with('\r'))
            text.remove_suffix(1);
        text = trimmed(text);
        int32_t label = -1;
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), label);
        const bool whole = code == std::errc{} && end == text.data() + text.size();
        if (!whole || label < 0 || label >= kMostPictureClasses)
            throw InputError(
                phrase("Data", "%1: %2 has the class %3: a whole number from 0 to %4 is "
                               "allowed"),
                pathText(m_path), pathText(entry.name), quotedText(text), kMostPictureClasses - 1);
        return label;
    }

    void checkWhole(const std::string& name, const ShardSample& sample) const {
        if (sample.label < 0)
            throw InputError(phrase("Data",
                                    "%1: the sample %2 has a picture but no class: %2.cls is "
                                    "missing"),
                             pathText(m_path), pathText(name));
        if (sample.picture.name.empty())
            throw InputError(phrase("Data",
                                    "%1: the sample %2 has a class but no picture: %2.png or "
                                    "%2.jpg is missing"),
                             pathText(m_path), pathText(name));
    }

    ShardIndex& m_index;
    size_t m_shard, m_first; ///< m_first: the place of its first sample in the index
    const std::string& m_path;
    TarReader m_reader;
    std::map<std::string, size_t> m_places; ///< places of samples in the index, by name
};

using IndexPtr = std::shared_ptr<const ShardIndex>;

IndexPtr readIndex(std::vector<std::string> shards) {
    ShardIndex index;
    index.shards = std::move(shards);
    for (size_t shard = 0; shard < index.shards.size(); ++shard)
        ShardReader(index, shard).read();
    for (const ShardSample& sample : index.samples)
        index.classes = std::max(index.classes, sample.label + 1);
    return std::make_shared<const ShardIndex>(std::move(index));
}

struct LastIndex {
    std::mutex mutex;
    std::string stamp; ///< of the shards when they were scanned
    IndexPtr index;
};

/// Returns the index, and keeps the last one while its shards stay as they are: settings ask for
/// the facts again and again, and large shards take long to scan.
IndexPtr indexAt(const std::string& path) {
    // never destroyed: a thread that hangs on a dead network may return while the program ends
    static LastIndex& last = *std::make_unique<LastIndex>().release();
    int error = 0;
    std::vector<std::string> shards = shardsAt(path, error);
    if (error != 0) refuseUnread(path, error);
    std::string stamp = path;
    for (const std::string& shard : shards)
        stamp += '\0' + shard + '\0' + fileStamp(shard);
    {
        const std::lock_guard lock(last.mutex);
        if (last.index && last.stamp == stamp) return last.index;
    }
    IndexPtr index = readIndex(std::move(shards));
    const std::lock_guard lock(last.mutex);
    last.stamp = std::move(stamp);
    return last.index = std::move(index);
}

IndexPtr indexOf(const TaskConfig& task) {
    if (task.path.empty())
        throw InputError(
            phrase("Data", "data.path: missing; it must be a .tar file or a folder of them"));
    IndexPtr index = indexAt(task.path);
    if (task.damaged == Damaged::Refuse && !index->cut.empty()) throw InputError(index->cut);
    if (index->samples.empty())
        throw InputError(phrase("Data",
                                "data.path: %1 has no samples: pictures with their classes in "
                                ".tar files, such as 000001.png and 000001.cls"),
                         pathText(task.path));
    const auto samples = static_cast<int64_t>(index->samples.size());
    checkSampleCount(pathText(task.path), samples);
    checkSampleCount("data.shard_readers", samples * task.shardReaders);
    return index;
}

std::vector<int32_t> labelsOf(const ShardIndex& index) {
    std::vector<int32_t> labels;
    for (const ShardSample& each : index.samples)
        labels.push_back(each.label);
    return labels;
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
    if (task.predictFile.empty()) // else others are judged
        notes = notesOnNumbered(
            ClassSides(splits, labelsOf(index), static_cast<size_t>(index.classes)), task);
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
        const std::vector<int32_t> labels = labelsOf(*m_index);
        m_splits = HeldBack(static_cast<int64_t>(labels.size()), task, labels);
        m_notes = notesOn(task, *m_index, m_splits);
        measureAndPredict(m_index->samples.size());
        const std::vector<int32_t> once = m_splits.train;
        for (int64_t reader = 1; reader < task.shardReaders; ++reader)
            m_splits.train.insert(m_splits.train.end(), once.begin(), once.end());
    }

    std::vector<Message> notes() const override { return m_notes; }
    std::vector<std::string> files() const override { return m_index->shards; }

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
};

DataFacts shardFacts(const TaskConfig& task) {
    const IndexPtr index = indexOf(task);
    const auto samples = static_cast<int64_t>(index->samples.size());
    const int64_t held = HeldBack::count(samples, task.validation);
    return {pictureTensors(task, index->classes), (samples - held) * task.shardReaders,
            predictedOr(task, held),
            notesOn(task, *index, HeldBack(samples, task, labelsOf(*index)))};
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

PythonData shardPython(const TaskConfig& task, int64_t) {
    const PythonData parts = pictureParts(task);
    const std::string readers = numberText(task.shardReaders);
    const bool skips = task.damaged == Damaged::Skip;
    return {
        (skips ? "import contextlib\n" : "") + std::string("import pathlib\nimport tarfile\n") +
            parts.imports,
        lang::filled(
            R"(SHARDS = pathlib.Path({SHARDS})
{PICTURE}

def samples():
    """Pictures and classes of one name up to the first dot, as WebDataset has them."""
    x, target = [], []
    paths = sorted(path for path in SHARDS.glob("*.tar") if not path.name.startswith("."))
    for path in paths if SHARDS.is_dir() else [SHARDS]:
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
    x, target = torch.stack(x), torch.tensor(target)
{HELD}{NORMALISED}{READERS}    return (x[train], target[train]), (x[held], target[held])
)",
            {{"SHARDS", lang::pythonText(task.path)},
             {"PICTURE", parts.code},
             {"OPEN", std::string(skips ? kPythonToTheCut : kPythonToTheEnd)},
             {"DECODE", std::string(skips ? kPythonSkipping : kPythonDecode)},
             {"WHOLE", std::string(skips ? kPythonWhole : "")},
             {"HELD", heldBackPython(task)},
             {"NORMALISED", normalises(task) ? "    x = normalised(x[train], x)\n" : std::string()},
             {"READERS", task.shardReaders > 1 ? "    train = train.repeat(" + readers +
                                                     ")  # each of the readers reads every shard\n"
                                               : std::string()}}),
        parts.varied};
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
