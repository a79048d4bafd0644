// Writes the parts of a checkpoint, and checks them when they are read.
#include "engine/train/checkpoint.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/sha256.h"
#include "engine/core/text.h"
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/io/json_text.h"
#include "engine/io/torch_file.h"
#include "engine/runs/overwriting.h"
#include "engine/runs/run_folder.h"
#include "engine/settings/fields.h"
#include "engine/train/data_record.h"
#include "engine/train/typed_arrays.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <system_error>

namespace halfscope {

namespace {

constexpr const char* kVersion = "1";
constexpr const char* kSums = "state.sha256";
/// LaneState::prediction among a lane's arrays. No state has this name: all but the scaler's have
/// a dot.
constexpr const char* kPrediction = "prediction";
/// Takes the place of the header's checksum while that checksum is computed.
const std::string kNoChecksum(64, '0');
constexpr int64_t kMostSteps = 1000000000;
constexpr double kFloatMax = std::numeric_limits<float>::max();
constexpr double kDoubleMax = std::numeric_limits<double>::max();
/// Of more damaged samples, events tell again after a break: a header has a limit.
constexpr size_t kMostDamaged = 100000;

[[noreturn]] void refuse(const std::string& path, const Message& what) {
    throw InputError(phrase("Files", "%1: not a checkpoint that can be read: %2"), pathText(path),
                     what);
}

std::string_view textOf(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string arrayName(size_t lane, const std::string& state) {
    return std::to_string(lane) + "/" + state;
}

JsonText laneText(const LaneState& lane) {
    JsonText json;
    json["skipped"] = lane.skipped;
    json["loss_was_bad"] = lane.lossWasBad;
    if (lane.tookOverflow) json["took_overflow"] = true;
    json["culprit"] = lane.culprit.tensor.english();
    json["culprit_inf"] = lane.culprit.reachedInf;
    json["seen"] = lane.seen.all;
    json["right"] = lane.seen.right;
    if (lane.atFloor) {
        json["floor_step"] = lane.atFloor->step;
        json["floor_scale"] = double{lane.atFloor->scale};
    }
    if (lane.vanished > 0) json["vanished_step"] = lane.vanished;
    if (lane.faultScale > 0) json["fault_scale"] = double{lane.faultScale};
    if (lane.sinceBest.best) {
        json["best"] = lane.sinceBest.best->value;
        json["best_step"] = lane.sinceBest.best->step;
    }
    if (lane.sinceBest.without > 0) json["without_best"] = lane.sinceBest.without;
    if (lane.plateau == Plateau{}) return json;
    if (std::isfinite(lane.plateau.best)) json["plateau_best"] = lane.plateau.best;
    json["plateau_without"] = lane.plateau.without;
    json["plateau_cooldown"] = lane.plateau.cooldown;
    json["plateau_rate"] = lane.plateau.rate;
    return json;
}

std::string damagedText(const std::set<std::string>& keys) {
    std::string text;
    for (const std::string& key : keys)
        if (text.size() < kMostDamaged * kDamagedKey) text += key;
    return text;
}

std::string stateText(const ExperimentState& state, std::span<const ArrayView> arrays) {
    JsonText json;
    json["step"] = state.step;
    json["seconds"] = std::isfinite(state.wallSeconds) ? state.wallSeconds : 0.0;
    json["samples"] = state.epochs.samples;
    json["batch"] = state.epochs.batch;
    json["device"] = state.device;
    json["run"] = state.run;
    if (!state.data.empty()) json["data"] = state.data;
    if (!state.classes.empty()) json["classes"] = namesText(state.classes);
    if (!state.damaged.empty()) json["damaged"] = damagedText(state.damaged);
    if (state.keepsBest) json["keeps_best"] = true;
    if (state.countGradients > 0) json["count_gradients"] = state.countGradients;
    if (state.checkpointEvery > 0) json["checkpoint_every"] = state.checkpointEvery;
    JsonText lanes = JsonText::list();
    for (const LaneState& lane : state.lanes)
        lanes.push_back(laneText(lane));
    json["lanes"] = std::move(lanes);
    JsonText& sums = json["sha256"] = JsonText::object();
    for (const ArrayView& each : arrays)
        sums.add(each.name,
                 sha256({reinterpret_cast<const char*>(each.bytes.data()), each.bytes.size()}));
    return json.text();
}

/// Reads the values of one object.
class Reader {
public:
    Reader(const Json& json, const std::string& path, std::string place)
        : m_json(json), m_path(path), m_place(std::move(place)) {
        if (!json.is_object()) refuse(path, {phrase("Files", "%1 must be an object"), m_place});
    }
    bool has(const char* key) const { return m_json.contains(key); }
    const Json& at(const char* key) const {
        const auto found = m_json.find(key);
        if (found == m_json.end())
            refuse(m_path, {phrase("Files", "%1.%2 is missing"), m_place, key});
        return *found;
    }
    int64_t whole(const char* key, int64_t least, int64_t most) const {
        const Json& value = at(key);
        const bool fits = value.is_number_integer() &&
                          !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) &&
                          value.get<int64_t>() >= least && value.get<int64_t>() <= most;
        if (!fits) no(key, value, {phrase("Files", "a whole number from %1 to %2"), least, most});
        return value.get<int64_t>();
    }
    double real(const char* key) const {
        const Json& value = at(key);
        if (!value.is_number()) no(key, value, phrase("Files", "a number"));
        return value.get<double>();
    }
    double realFrom(const char* key, double least, double most) const {
        const double value = real(key);
        if (!(value >= least && value <= most))
            no(key, at(key), {phrase("Files", "a number from %1 to %2"), least, most});
        return value;
    }
    bool truth(const char* key) const {
        const Json& value = at(key);
        if (!value.is_boolean()) no(key, value, phrase("Files", "true or false"));
        return value.get<bool>();
    }
    const std::string& text(const char* key) const {
        const Json& value = at(key);
        if (!value.is_string()) no(key, value, phrase("Files", "a text"));
        return value.get_ref<const std::string&>();
    }

private:
    [[noreturn]] void no(const char* key, const Json& value, const Message& allowed) const {
        refuse(m_path, {phrase("Files", "%1.%2: %3 is not allowed: %4"), m_place, key, shown(value),
                        allowed});
    }
    const Json& m_json;
    const std::string& m_path;
    std::string m_place;
};

JsonTree stateTree(const std::string& text, const std::string& path) {
    try {
        return parseStrictJson(text, kJsonOfArrays);
    } catch (const InputError& error) {
        refuse(path, {phrase("Files", "state, %1"), error.message()});
    }
}

LaneState laneOf(const Json& json, const std::string& path, const std::string& place,
                 int64_t step) {
    const Reader reader(json, path, place);
    LaneState lane;
    lane.step = step;
    lane.skipped = reader.whole("skipped", 0, step);
    lane.lossWasBad = reader.truth("loss_was_bad");
    lane.tookOverflow = reader.has("took_overflow") && reader.truth("took_overflow");
    lane.culprit.tensor = Message::data(reader.text("culprit"));
    lane.culprit.reachedInf = reader.truth("culprit_inf");
    if (reader.has("seen")) { // checkpoints of earlier versions have none
        lane.seen.all = reader.whole("seen", 0, INT64_MAX);
        lane.seen.right = reader.whole("right", 0, lane.seen.all);
    }
    if (reader.has("floor_step"))
        lane.atFloor = {reader.whole("floor_step", 1, step),
                        static_cast<float>(reader.realFrom("floor_scale", 0, kFloatMax))};
    if (reader.has("vanished_step")) lane.vanished = reader.whole("vanished_step", 1, step);
    if (reader.has("fault_scale"))
        lane.faultScale = static_cast<float>(reader.realFrom("fault_scale", 0, kFloatMax));
    if (reader.has("best")) // checkpoints of earlier versions count from where they go on
        lane.sinceBest.best = {reader.real("best"), reader.whole("best_step", 1, step)};
    if (reader.has("without_best")) lane.sinceBest.without = reader.whole("without_best", 1, step);
    if (!reader.has("plateau_without")) return lane;
    if (reader.has("plateau_best")) lane.plateau.best = reader.real("plateau_best");
    lane.plateau.without = reader.whole("plateau_without", 0, step);
    lane.plateau.cooldown = reader.whole("plateau_cooldown", 0, 1'000'000);
    lane.plateau.rate = reader.realFrom("plateau_rate", 0, kFloatMax);
    return lane;
}

const std::string& metadataAt(const SafetensorsInfo& file, const char* key,
                              const std::string& path) {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end())
        refuse(path, {phrase("Files", "it has no %1 in its metadata"), key});
    return found->second;
}

void checkKind(const SafetensorsInfo& file, const std::string& path) {
    const auto format = file.metadata.find("format");
    if (format == file.metadata.end() || format->second != kCheckpointFormat)
        refuse(path, phrase("Files", "it is a safetensors file of something else; weights are "
                                     "the setting model.weights, or --weights FILE on the command "
                                     "line"));
    if (const std::string& version = metadataAt(file, "version", path); version != kVersion)
        refuse(path, {phrase("Files", "its version %1 is not the one that this program reads, %2"),
                      quotedText(version), kVersion});
}

/// Checks the header as it was written, with the placeholder in place of its own checksum.
void checkHeader(const SafetensorsInfo& file, const std::string& path) {
    const std::string& sum = metadataAt(file, "checksum", path);
    int64_t end = 0; // where the header ends
    InputFile input(path);
    uint64_t length = 0;
    if (input.read({reinterpret_cast<char*>(&length), sizeof length}) != sizeof length ||
        static_cast<int64_t>(length) > input.size())
        refuse(path, phrase("Files", "it was cut off"));
    end = static_cast<int64_t>(length + sizeof length);
    std::string header(static_cast<size_t>(end), '\0');
    input.skipTo(0);
    for (size_t at = 0; at < header.size();) {
        const size_t count = input.read(std::span(header).subspan(at));
        if (count == 0) refuse(path, phrase("Files", "it was cut off"));
        at += count;
    }
    const size_t at = header.find(sum);
    if (sum.size() == kNoChecksum.size() && at != std::string::npos) {
        header.replace(at, sum.size(), kNoChecksum);
        if (sha256(header) == sum) return;
    }
    refuse(path, {phrase("Files", "it is damaged: its header, bytes 0 to %1, has changed since it "
                                  "was written"),
                  end});
}

/// Splits "1/0.weight" into lane 1 and the state's name.
std::pair<size_t, std::string> placeOf(const std::string& name, size_t lanes,
                                       const std::string& path) {
    size_t lane = 0;
    const char* const last = name.data() + name.size();
    const auto [end, code] = std::from_chars(name.data(), last, lane);
    if (code != std::errc{} || end == last || *end != '/' || lane >= lanes)
        refuse(path, {phrase("Files", "its array %1 belongs to no lane"), pathText(name)});
    return {lane, std::string(end + 1, last)};
}

/// Returns the checksums by the names of their arrays.
std::map<std::string, std::string> sumsOf(const Json& json, const std::string& path) {
    if (!json.is_object()) refuse(path, {phrase("Files", "%1 must be an object"), kSums});
    std::map<std::string, std::string> sums;
    for (const auto& [name, sum] : json.items()) {
        if (!sum.is_string())
            refuse(path, {phrase("Files", "%1.%2: %3 is not allowed: %4"), kSums, pathText(name),
                          shown(sum), phrase("Files", "a text")});
        sums[name] = sum.get_ref<const std::string&>();
    }
    return sums;
}

TypedBytes stateOf(const std::string& path, const ArrayInfo& info, const std::string& sum) {
    Array array = readSafetensor(path, info);
    if (sha256(textOf(array.bytes)) != sum)
        refuse(path, {phrase("Files", "it is damaged: the values of %1, bytes %2 to %3, have "
                                      "changed since they were written"),
                      pathText(info.name), info.offset,
                      info.offset + static_cast<int64_t>(array.bytes.size())});
    auto values = typedBytesOf(std::move(array));
    if (!values)
        refuse(path,
               {phrase("Files", "its array %1, %2 of the shape %3, is not a state of the step"),
                pathText(info.name), nameOf(info.type), info.shapeText()});
    return *std::move(values);
}

ExperimentState readWhole(const std::string& path) {
    if (beginsAsTorchFile(path)) throw InputError(torchFileRefusal(path));
    const SafetensorsInfo file = safetensorsInfo(path);
    checkKind(file, path);
    checkHeader(file, path);
    ExperimentState state;
    state.recorded = parseConfig(metadataAt(file, "experiment", path), path);
    const JsonTree tree = stateTree(metadataAt(file, "state", path), path);
    const Reader reader(tree.root(), path, "state");
    state.step = reader.whole("step", 0, kMostSteps);
    state.wallSeconds = reader.realFrom("seconds", 0, kDoubleMax);
    state.epochs.samples = reader.whole("samples", 1, INT64_MAX);
    state.epochs.batch = reader.whole("batch", 1, INT64_MAX);
    state.device = reader.text("device");
    state.run = reader.text("run");
    if (reader.has("data")) state.data = reader.text("data"); // not in those of earlier versions
    if (reader.has("classes")) state.classes = namesFromText(reader.text("classes"));
    if (reader.has("damaged"))
        for (std::string_view keys = reader.text("damaged"); !keys.empty();
             keys.remove_prefix(std::min(keys.size(), kDamagedKey)))
            state.damaged.emplace(keys.substr(0, kDamagedKey));
    state.keepsBest = reader.has("keeps_best") && reader.truth("keeps_best");
    if (reader.has("count_gradients"))
        state.countGradients = reader.whole("count_gradients", 1, kMostSteps);
    if (reader.has("checkpoint_every"))
        state.checkpointEvery = reader.whole("checkpoint_every", 1, kMostSteps);
    const Json& lanes = reader.at("lanes");
    if (!lanes.is_array() || lanes.empty() || lanes.size() > kMaxLanes)
        refuse(path, {phrase("Files", "state.lanes must be a list of 1 to %1 lanes"), kMaxLanes});
    for (const Json& each : lanes)
        state.lanes.push_back(
            laneOf(each, path, "state.lanes." + std::to_string(state.lanes.size()), state.step));
    const std::map<std::string, std::string> sums = sumsOf(reader.at("sha256"), path);
    for (const ArrayInfo& info : file.arrays) {
        const auto [lane, name] = placeOf(info.name, state.lanes.size(), path);
        const auto sum = sums.find(info.name);
        if (sum == sums.end())
            refuse(path, {phrase("Files", "%1.%2 is missing"), kSums, pathText(info.name)});
        TypedBytes values = stateOf(path, info, sum->second);
        LaneState& of = state.lanes[lane];
        (name == kPrediction ? of.prediction.emplace() : of.states[name]) = std::move(values);
    }
    return state;
}

/// Returns the path of the checkpoint that the run wrote before this one; empty when there is none.
std::string earlierOf(const std::string& path) {
    const std::filesystem::path file(path);
    if (file.filename() != run_file::kCheckpoint) return {};
    std::error_code ignored;
    const std::filesystem::path earlier = file.parent_path() / run_file::kEarlierCheckpoint;
    return std::filesystem::exists(earlier, ignored) ? earlier.string() : std::string();
}

/// Gives bytes in memory a path, for functions that read files, without using disk space.
class MemoryFile {
public:
    explicit MemoryFile(std::string_view bytes) : m_file(memfd_create("checkpoint", MFD_CLOEXEC)) {
        const auto fail = [](int reason) {
            throw RunError(phrase("Files", "a checkpoint in memory cannot be read: %1"),
                           std::generic_category().message(reason));
        };
        if (m_file < 0) fail(errno);
        constexpr size_t kMost = size_t{16} << 20; // so that writing gigabytes can be cancelled in
                                                   // between
        while (!bytes.empty()) {
            if (isCancelled()) {
                close(m_file);
                throw Cancelled();
            }
            const ssize_t count = ::write(m_file, bytes.data(), std::min(bytes.size(), kMost));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) {
                const int reason = errno; // before close() changes it
                close(m_file);
                fail(reason);
            }
            bytes.remove_prefix(static_cast<size_t>(count));
        }
    }
    ~MemoryFile() { close(m_file); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    std::string path() const { return "/proc/self/fd/" + std::to_string(m_file); }

private:
    int m_file;
};

} // namespace

CheckpointText::CheckpointText(const ExperimentState& state, const std::string& program) {
    for (size_t lane = 0; lane < state.lanes.size(); ++lane) {
        for (const auto& [name, values] : state.lanes[lane].states)
            m_arrays.push_back(arrayViewOf(arrayName(lane, name), values));
        if (const auto& made = state.lanes[lane].prediction)
            m_arrays.push_back(arrayViewOf(arrayName(lane, kPrediction), *made));
    }
    m_header =
        safetensorsHeader(m_arrays, {{"checksum", kNoChecksum},
                                     {"experiment", configText(portableConfig(state.recorded))},
                                     {"format", kCheckpointFormat},
                                     {"program", "halfscope " + program},
                                     {"state", stateText(state, m_arrays)},
                                     {"version", kVersion}});
    // The metadata come first, in the order of their keys.
    m_header.replace(m_header.find(kNoChecksum), kNoChecksum.size(), sha256(m_header));
}

std::string checkpointBytes(const ExperimentState& state, const std::string& program) {
    const CheckpointText text(state, program);
    std::string bytes;
    for (const std::string_view part : text.parts())
        bytes += part;
    return bytes;
}

void writeCheckpoint(const std::string& path, const ExperimentState& state,
                     const std::string& program) {
    const CheckpointText text(state, program);
    writeFileAtomically(path, text.parts());
}

bool isCheckpoint(const std::string& path) {
    try {
        const SafetensorsMetadata metadata = safetensorsMetadata(path); // one cut off is one, too
        const auto format = metadata.find("format");
        return format != metadata.end() && format->second == kCheckpointFormat;
    } catch (const InputError&) {
        return false;
    }
}

std::string checkpointAt(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) return path;
    const std::filesystem::path file = std::filesystem::path(path) / run_file::kCheckpoint;
    const auto lacks = [&](const std::filesystem::path& each) {
        return std::filesystem::symlink_status(each, ignored).type() ==
               std::filesystem::file_type::not_found;
    };
    if (!lacks(file)) return file.string();
    const std::filesystem::path earlier =
        std::filesystem::path(path) / run_file::kEarlierCheckpoint;
    if (!lacks(earlier)) return earlier.string();
    if (isRecorded(path))
        throw InputError(phrase("Files", "%1: this training was recorded in PyTorch: it cannot go "
                                         "on here"),
                         pathText(path));
    throw InputError(phrase("Files", "%1: there is no checkpoint in the folder; halfscope-cli "
                                     "run --out writes one at its end"),
                     pathText(path));
}

int64_t checkpointStep(const std::string& path) {
    const SafetensorsInfo file = safetensorsInfo(path);
    checkKind(file, path);
    const JsonTree tree = stateTree(metadataAt(file, "state", path), path);
    return Reader(tree.root(), path, "state").whole("step", 0, kMostSteps);
}

ExperimentState readCheckpoint(const std::string& path) {
    try {
        return readWhole(path);
    } catch (const InputError& error) {
        const std::string earlier = earlierOf(path);
        if (earlier.empty()) throw;
        int64_t step = 0;
        try {
            step = readWhole(earlier).step;
        } catch (const InputError& other) {
            throw InputError(phrase("Files", "%1; nor can the one before it be read: %2"),
                             error.message(), other.message());
        }
        throw DamagedCheckpoint({phrase("Files", "%1. The one before it is whole: %2, after step "
                                                 "%3"),
                                 error.message(), pathText(earlier), step},
                                {earlier, step});
    }
}

std::shared_ptr<const RunCheckpoint> checkpointInFile(const std::string& path, int64_t step) {
    const std::string sum = metadataAt(safetensorsInfo(path), "checksum", path);
    const auto read = [path, sum] {
        std::string bytes = readFile(path, std::numeric_limits<int64_t>::max());
        // The checksum stands near the beginning, see CheckpointText.
        constexpr size_t kBeginning = 4096;
        if (std::string_view(bytes).substr(0, kBeginning).find(sum) == std::string_view::npos)
            throw RunError(phrase("Files", "%1: another checkpoint has been written there since "
                                           "this run was opened"),
                           pathText(path));
        return bytes;
    };
    return std::make_shared<const RunCheckpoint>(step, read, RunCheckpoint::Lies::InFile);
}

std::shared_ptr<const RunCheckpoint> keptCheckpoint(ExperimentState state,
                                                    const std::string& program) {
    const int64_t step = state.step;
    auto shared = std::make_shared<const ExperimentState>(std::move(state));
    return std::make_shared<const RunCheckpoint>(
        step, [shared, program] { return checkpointBytes(*shared, program); });
}

ExperimentState readKept(const RunCheckpoint& kept, const std::string& name) {
    const MemoryFile file(kept.bytes());
    try {
        return readWhole(file.path());
    } catch (const InputError&) {
        throw InputError(phrase("Files", "%1: its checkpoint after step %2 is damaged"), name,
                         kept.step());
    }
}

} // namespace halfscope
