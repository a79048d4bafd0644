// The targets: the bytes of a file, read as the programs read it, and what must hold of what was
// taken.
#include "tests/fuzz/targets.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/core/sha256.h"
#include "engine/core/text.h"
#include "engine/data/class_shares.h"
#include "engine/data/csv_columns.h"
#include "engine/data/csv_header.h"
#include "engine/data/dataset.h"
#include "engine/data/gallery.h"
#include "engine/data/text_table.h"
#include "engine/io/gzip.h"
#include "engine/io/idx.h"
#include "engine/io/npy.h"
#include "engine/io/npz.h"
#include "engine/io/picture.h"
#include "engine/io/safetensors.h"
#include "engine/io/tar.h"
#include "engine/lang/python.h"
#include "engine/lang/syntax.h"
#include "engine/models/model_spec.h"
#include "engine/models/program_network.h"
#include "engine/runs/gradient_file.h"
#include "engine/runs/run_manifest.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_summary.h"
#include "engine/settings/cast_policy_json.h"
#include "engine/settings/fields.h"
#include "engine/train/checkpoint.h"
#include "engine/train/network_of_weights.h"
#include "engine/verify/golden.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace halfscope::fuzz {
namespace {

/// A file in memory, under a path of its own.
class MemoryFile {
public:
    explicit MemoryFile(std::string_view bytes) : m_file(::memfd_create("fuzzed", MFD_CLOEXEC)) {
        const auto count = static_cast<ssize_t>(bytes.size());
        require(::write(m_file, bytes.data(), bytes.size()) == count, "no memory for a file");
    }
    ~MemoryFile() { ::close(m_file); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    std::string path() const { return "/proc/self/fd/" + std::to_string(m_file); }

private:
    int m_file;
};

/// A folder of this process that goes with its files, whatever is thrown meanwhile.
class PassingFolder {
public:
    PassingFolder() { std::filesystem::create_directory(m_path); }
    ~PassingFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    PassingFolder(const PassingFolder&) = delete;
    PassingFolder& operator=(const PassingFolder&) = delete;
    const std::string& path() const { return m_path; }

private:
    std::string m_path =
        std::filesystem::temp_directory_path() / ("halfscope-fuzz-" + std::to_string(::getpid()));
};

void checkSentence(std::string_view sentence) {
    require(!sentence.empty() && isPlainText(sentence), "an error that is no plain line");
    require(messageText(sentence) == sentence, "an error that is not fit to be shown");
}

void experiment(std::string_view bytes) {
    const std::string written = configText(parseConfig(bytes, "f.json"));
    require(configText(parseConfig(written, "f.json")) == written, "it reads differently");
}

void policy(std::string_view bytes) { parseCastPolicy(bytes, "p.json"); }

/// What one reader refuses, another one may take.
template <class Call>
void alone(const Call& call) {
    try {
        call();
    } catch (const InputError& error) {
        checkSentence(error.what());
    }
}

/// A network by itself, and one in a program.
void model(std::string_view bytes) {
    alone([&] { lang::textOf(lang::parse(bytes)); });
    alone([&] {
        const std::string written = textOf(readModel(bytes));
        require(textOf(readModel(written)) == written, "it reads differently");
    });
    std::string found;
    alone([&] { found = networkIn(bytes).text.text; });
    if (!found.empty() && found.size() <= lang::kMaxTextBytes) readModel(found);
}

/// The setting that names a picture, and everything else of the command line's form.
void setting(std::string_view bytes) {
    RunConfig config = defaultConfig();
    applySetting(config, std::string(bytes));
    checkConfig(config);
}

void picture(std::string_view bytes) {
    const MemoryFile file(bytes);
    const Picture square = readSquare(file.path(), 4);
    require(square.values.size() == size_t{16} * static_cast<size_t>(square.channels),
            "a square with holes");
    for (const float value : square.values)
        require(value >= 0 && value <= 1, "a value outside 0 to 1");
    auto [whole, text] = readWithShares(file.path());
    require(resized(centreSquare(whole), 4, 4).values == square.values, "another square");
    const std::vector<float> before = whole.values;
    require(takeShares(whole, text) || whole.values == before, "refused shares that were taken");
    for (size_t i = 0; i < before.size(); ++i)
        require(byteOf(whole.values[i]) == byteOf(before[i]), "shares of another picture");
}

/// The text of a table of 3 x 3 classes.
void shares(std::string_view bytes) {
    constexpr int kSide = 3;
    const auto read = sharesOf(bytes, size_t{kSide} * kSide);
    if (!read) return;
    Picture table{kSide, kSide, 1, {}};
    for (const float share : *read) {
        require(share >= 0 && share <= 1, "a share outside 0 to 1");
        table.values.push_back(static_cast<float>(byteOf(1 - share)) / 255.0f);
    }
    require(takeShares(table, bytes), "refused shares of this table");
    Picture again = table;
    const std::string written = sharesText(table);
    require(written.empty() || takeShares(again, written), "refused its own shares");
    require(again.values == table.values, "it reads differently");
}

void checkArray(const Array& array) {
    require(array.bytes.size() ==
                static_cast<size_t>(array.info.elements()) * bytesOf(array.info.type),
            "an array of another size");
    if (array.info.elements() > 0) array.at(array.info.elements() - 1);
}

/// Reads some samples, and what the data set has to tell.
Batch firstOf(const Dataset& data, Split split) {
    for (const Message& note : data.notes())
        checkSentence(note.english());
    const int64_t rows = std::min<int64_t>(4, data.samples(split));
    std::vector<int64_t> samples(static_cast<size_t>(rows));
    std::iota(samples.begin(), samples.end(), 0);
    Batch batch = Batch::of(data.tensors(), rows);
    data.read(split, samples, batch);
    return batch;
}

/// Reads a table of texts and their classes as words and as characters, and predicts its own lines
/// as those of a second table.
void texts(std::string_view bytes) {
    const MemoryFile file(bytes);
    const bool header = namesColumns(file.path());
    textColumnsOf(file.path(), header);
    for (const Tokens tokens : {Tokens::Words, Tokens::Characters}) {
        TaskConfig task;
        task.kind = TaskKind::TextClasses;
        task.loss.kind = LossKind::CrossEntropy;
        task.path = file.path();
        task.header = header;
        task.predictFile = tokens == Tokens::Words ? file.path() : "";
        task.tokens = tokens;
        task.context = contextFor(task);
        task.vocabulary = 5;
        const std::unique_ptr<Dataset> data = infoOf(task.kind).make(task, 0);
        for (const Message& note : data->notes())
            checkSentence(note.english());
        const std::vector<int64_t> samples{0, data->samples(Split::Train) - 1};
        Batch batch = Batch::of(data->tensors(), 2);
        data->read(Split::Train, samples, batch);
        for (const int32_t index : batch.labels(kX))
            require(index >= 0 && index < data->tensors()[kX].classes, "an unknown index");
        for (const int32_t label : batch.labels(kTarget))
            require(label >= 0 && label < data->tensors()[kTarget].classes, "an unknown class");
        require(galleryOf(*data) != nullptr, "texts that are not shown");
    }
}

/// Reads a table with numbers and with classes as targets, and predicts its own lines as those of a
/// second table. What follows a line "--" is data.drop.
void csv(std::string_view bytes) {
    constexpr std::string_view kEnd = "\n--\n";
    const size_t end = std::min(bytes.rfind(kEnd), bytes.size());
    const std::string_view drop = bytes.substr(end).substr(end < bytes.size() ? kEnd.size() : 0);
    const MemoryFile file(bytes.substr(0, end));
    for (const auto& [loss, missing, predicts] : {std::tuple{LossKind::Mse, Missing::Refuse, false},
                                                  {LossKind::CrossEntropy, Missing::Refuse, false},
                                                  {LossKind::BceWithLogits, Missing::Drop, true},
                                                  {LossKind::CrossEntropy, Missing::Mean, true}}) {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = file.path();
        task.missing = missing;
        task.loss.kind = loss;
        task.drop = drop;
        task.header = predicts ? namesColumns(task.path) : loss == LossKind::Mse;
        if (predicts) task.predictFile = file.path();
        std::unique_ptr<Dataset> data;
        try {
            data = infoOf(task.kind).make(task, 0);
            task.drop = dropWithUnusable(task);
        } catch (const InputError& error) {
            checkSentence(error.what());
            continue; // words are no numbers, but may be classes
        }
        const Batch batch = firstOf(*data, Split::Train);
        for (const float value : batch.floats(kX))
            require(std::isfinite(value), "an input that is no number");
    }
}

void text(std::string_view bytes) {
    const MemoryFile file(bytes);
    TaskConfig task;
    task.kind = TaskKind::Text;
    task.path = file.path();
    task.context = 5;
    const std::unique_ptr<Dataset> data = infoOf(task.kind).make(task, 0);
    const int64_t last = data->samples(Split::Train) - 1;
    Batch batch = Batch::of(data->tensors(), 2);
    data->read(Split::Train, std::array{int64_t{0}, last}, batch);
    for (const size_t tensor : {kX, kTarget})
        for (const int32_t index : batch.labels(tensor))
            require(index >= 0 && index < data->tensors()[tensor].classes, "an unknown character");
}

void gzip(std::string_view bytes) {
    constexpr int64_t kMost = int64_t{64} << 20; // time, not memory, is what a bomb takes here
    const MemoryFile file(bytes);
    UnpackedFile unpacked(file.path());
    std::array<char, 10000> block;
    int64_t all = 0;
    while (const size_t count = unpacked.read(block))
        if ((all += static_cast<int64_t>(count)) > kMost) return;
    require(all <= unpacked.mostBytes(), "more than a file of its size can hold");
}

void idx(std::string_view bytes) {
    const MemoryFile file(bytes);
    const ArrayInfo info = idxInfo(file.path());
    if (info.elements() <= int64_t{64} << 20) checkArray(readIdx(file.path()));
}

/// Reads an array, or the arrays of an archive.
void npy(std::string_view bytes) {
    const MemoryFile file(bytes);
    if (!bytes.starts_with("PK")) {
        checkArray(readNpy(file.path()));
        return;
    }
    for (const std::string& name : npzNames(file.path()))
        if (npzInfo(file.path(), name).elements() <= int64_t{64} << 20)
            checkArray(readNpz(file.path(), name));
}

/// Trains on the arrays of a file, and predicts them with a network of points.
void arrays(std::string_view bytes) {
    const PassingFolder folder;
    const char* ending = bytes.starts_with("PK")          ? ".npz"
                         : bytes.starts_with("\x93NUMPY") ? ".npy"
                                                          : ".safetensors";
    const std::string path = folder.path() + "/x" + ending;
    std::ofstream(path, std::ios::binary) << bytes;
    for (const bool predicts : {false, true})
        for (const LossKind loss : {LossKind::Mse, LossKind::CrossEntropy}) {
            TaskConfig task;
            task.kind = predicts ? TaskKind::Circles : TaskKind::Arrays;
            task.loss.kind = predicts ? LossKind::BceWithLogits : loss;
            task.x = task.y = path;
            if (ending != std::string_view(".npy")) task.y.clear();
            if (predicts) task.predictFile = path;
            alone([&] {
                const std::unique_ptr<Dataset> data = makeDataset(task, 0);
                for (const Split split : {Split::Train, Split::Validation})
                    if (data->samples(split) > 0) firstOf(*data, split);
            });
        }
}

void safetensors(std::string_view bytes) {
    const MemoryFile file(bytes);
    alone([&] { networkOfWeights(file.path(), defaultConfig()); });
    for (const ArrayInfo& each : safetensorsInfo(file.path()).arrays)
        checkArray(readSafetensor(file.path(), each));
}

/// The header with its checksum as it should be, for whoever makes a file can compute it.
std::string signedCheckpoint(std::string_view bytes) {
    std::string file(bytes);
    constexpr std::string_view kKey = "\"checksum\":\"";
    constexpr size_t kDigits = 64;
    uint64_t length = 0;
    if (file.size() < sizeof length) return file;
    std::memcpy(&length, file.data(), sizeof length);
    const size_t at = file.find(kKey), digits = at + kKey.size();
    if (at == file.npos || length > file.size() - sizeof length || digits + kDigits > length)
        return file;
    file.replace(digits, kDigits, kDigits, '0');
    file.replace(digits, kDigits, sha256(std::string_view(file).substr(0, sizeof length + length)));
    return file;
}

void checkpoint(std::string_view bytes) {
    const MemoryFile file(signedCheckpoint(bytes));
    alone([&] { checkpointStep(file.path()); });
    const ExperimentState state = readCheckpoint(file.path());
    require(!state.lanes.empty() && state.lanes.size() <= kMaxLanes, "no lanes, or too many");
    std::string written;
    const CheckpointText text(state, "fuzz");
    for (const std::string_view part : text.parts())
        written += part;
    const MemoryFile again(written);
    require(readCheckpoint(again.path()).lanes == state.lanes, "it reads differently");
}

void summary(std::string_view bytes) {
    const std::array<std::string, 2> lanes{"fp32", "amp-fp16"};
    trainedOnOf(bytes, "summary.json", lanes, 3);
}

void manifest(std::string_view bytes) {
    const std::string written = manifestText(manifestOf(bytes));
    require(manifestText(manifestOf(written)) == written, "it reads differently");
}

/// Bytes up to a line "--" are steps.csv, then timing.csv, events.csv and gradients.csv.
void tables(std::string_view bytes) {
    const PassingFolder folder;
    for (const char* name : {"/steps.csv", "/timing.csv", "/events.csv", "/gradients.csv"}) {
        constexpr std::string_view kEnd = "--\n";
        const size_t end = bytes.find(kEnd);
        if (bytes.empty()) break;
        std::ofstream(folder.path() + name, std::ios::binary) << bytes.substr(0, end);
        bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + kEnd.size());
    }
    const auto run = readRun(folder.path(), defaultConfig());
    require(run && run->now().laneCount() >= 1, "a run without lanes");
}

/// The headers with the checksums that they should have, for whoever makes a file can compute them.
std::string signedTar(std::string_view bytes) {
    constexpr size_t kBlock = 512, kMagic = 257, kSum = 148, kSumBytes = 8;
    std::string file(bytes);
    for (size_t at = 0; at + kBlock <= file.size(); at += kBlock) {
        if (file.compare(at + kMagic, 5, "ustar") != 0) continue;
        file.replace(at + kSum, kSumBytes, kSumBytes, ' ');
        unsigned sum = 0;
        for (size_t i = 0; i < kBlock; ++i)
            sum += static_cast<unsigned char>(file[at + i]);
        for (size_t digit = 6; digit-- > 0; sum /= 8)
            file[at + kSum + digit] = static_cast<char>('0' + sum % 8);
        file[at + kSum + 6] = '\0';
    }
    return file;
}

/// Its files as they are, and as the samples of a shard.
void tar(std::string_view given) {
    const std::string bytes = signedTar(given);
    const MemoryFile file(bytes);
    TarReader reader(file.path());
    TarEntry entry;
    while (reader.next(entry)) {
        const bool inside = entry.offset >= 512 && entry.bytes >= 0 &&
                            entry.offset + entry.bytes <= static_cast<int64_t>(bytes.size());
        require(inside, "a file that is not in its archive");
        const bool leadsOut = entry.name.starts_with('/') ||
                              ("/" + entry.name + "/").find("/../") != std::string::npos;
        require(!leadsOut, "a name that leads out of the archive");
        require(readTarEntry(file.path(), entry) == reader.content(entry, bytes.size()),
                "another content when it is read alone");
        require(
            reader.content(entry, bytes.size()) ==
                bytes.substr(static_cast<size_t>(entry.offset), static_cast<size_t>(entry.bytes)),
            "another content");
    }
    TaskConfig task;
    task.kind = TaskKind::Shards;
    task.path = file.path();
    task.pictureSide = 4;
    task.damaged = Damaged::Skip;
    const std::unique_ptr<Dataset> data = infoOf(task.kind).make(task, 0);
    const Batch batch = firstOf(*data, Split::Train);
    for (const int32_t label : batch.labels(kTarget))
        require(label >= 0 && label < data->tensors()[kTarget].classes, "a class that is none");
}

void walk(const recorded::Golden& value, int depth) {
    const auto tries = [](auto call) {
        try {
            call();
        } catch (const InputError&) { // it is something else
        }
    };
    tries([&] { value.number(); });
    tries([&] { value.integer(); });
    tries([&] { value.flag(); });
    tries([&] { value.text(); });
    tries([&] { value.numbers(); });
    tries([&] { value.shape(); });
    if (depth == 0) return;
    tries([&] {
        for (const recorded::Golden& item : value.items())
            walk(item, depth - 1);
    });
    tries([&] {
        for (const auto& [key, member] : value.members())
            walk(member, depth - 1);
    });
}

void golden(std::string_view bytes) {
    constexpr int kDeep = 4; // every list is walked through from above: deeper takes squares
    walk(recorded::Golden::parse("g.json", bytes), kDeep);
}

constexpr std::array<Target, 20> kTargets{{{"arrays", arrays},
                                           {"checkpoint", checkpoint},
                                           {"csv", csv},
                                           {"texts", texts},
                                           {"experiment", experiment},
                                           {"golden", golden},
                                           {"gzip", gzip},
                                           {"idx", idx},
                                           {"manifest", manifest},
                                           {"model", model},
                                           {"npy", npy},
                                           {"picture", picture},
                                           {"policy", policy},
                                           {"safetensors", safetensors},
                                           {"setting", setting},
                                           {"shares", shares},
                                           {"summary", summary},
                                           {"tables", tables},
                                           {"tar", tar},
                                           {"text", text}}};

} // namespace

std::span<const Target> targets() { return kTargets; }

void check(const Target& target, std::string_view bytes) {
    try {
        target.run(bytes);
    } catch (const InputError& error) {
        checkSentence(error.what());
    } catch (const RunError& error) {
        checkSentence(error.what());
    }
}

} // namespace halfscope::fuzz
