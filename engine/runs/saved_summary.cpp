// Takes from summary.json what its tables do not have, value by value.
#include "engine/runs/saved_summary.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/strict_json.h"

#include <cstdint>
#include <limits>

namespace halfscope {
namespace {

constexpr int64_t kVersion = 1;
constexpr size_t kMostTextBytes = 200;
constexpr size_t kMostBytes = size_t{1} << 20; // six lanes have 10,000; values take far more memory

[[noreturn]] void refuse(const std::string& key, const Json& value, const std::string& allowed) {
    throw InputError(key + ": " + shown(value) + " is not allowed: " + allowed);
}

/// A value by its key, never null; `path` is where the object stands, with a point at its end.
const Json* valueOf(const Json& object, const std::string& path, const std::string& key,
                    const std::string& allowed) {
    const auto found = object.find(key);
    if (found == object.end()) throw InputError(path + key + ": missing; allowed is " + allowed);
    return &*found;
}

const Json* objectOf(const Json& object, const std::string& key, const std::string& allowed) {
    const Json& value = *valueOf(object, {}, key, allowed);
    if (!value.is_object()) refuse(key, value, allowed);
    return &value;
}

std::string textOf(const Json& object, const std::string& path, const std::string& key,
                   size_t least) {
    const std::string allowed = "one line of text, " + std::to_string(least) + " to " +
                                std::to_string(kMostTextBytes) + " bytes";
    const Json& value = *valueOf(object, path, key, allowed);
    if (!value.is_string()) refuse(path + key, value, allowed);
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() < least || text.size() > kMostTextBytes || !isPlainText(text))
        refuse(path + key, value, allowed);
    return text;
}

/// A word of which all are known.
void checkWord(const Json& object, const std::string& path, const std::string& key,
               const std::string& wanted, const std::string& why) {
    const Json& value = *valueOf(object, path, key, wanted + why);
    if (value != wanted) refuse(path + key, value, wanted + why);
}

int64_t wholeOf(const Json& object, const std::string& path, const std::string& key, int64_t least,
                int64_t most, const std::string& allowed) {
    const Json& value = *valueOf(object, path, key, allowed);
    const bool fits = value.is_number_integer() &&
                      !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX});
    if (!fits || value.get<int64_t>() < least || value.get<int64_t>() > most)
        refuse(path + key, value, allowed);
    return value.get<int64_t>();
}

size_t bytesOf(const Json& object, const std::string& path, const std::string& key) {
    return static_cast<size_t>(wholeOf(object, path, key, 0, std::numeric_limits<int64_t>::max(),
                                       "a whole number of bytes from 0"));
}

DeviceInfo deviceOf(const Json& root) {
    const std::string path = "device.";
    const Json& json =
        *objectOf(root, "device", "an object with name, kind, libraries and memory_bytes");
    DeviceInfo device;
    device.name = textOf(json, path, "name", 1);
    device.kind = textOf(json, path, "kind", 1);
    if (device.kind != "cpu" && device.kind != "cuda")
        refuse(path + "kind", json["kind"], "cpu or cuda");
    device.libraries = textOf(json, path, "libraries", 0);
    device.memoryBytes = bytesOf(json, path, "memory_bytes");
    return device;
}

std::vector<size_t> laneBytesOf(const Json& root, std::span<const std::string> lanes) {
    const std::string wanted =
        "a list of as many lanes as experiment.json has, " + std::to_string(lanes.size());
    const Json& list = *valueOf(root, {}, "lanes", wanted);
    if (!list.is_array()) refuse("lanes", list, wanted);
    if (list.size() != lanes.size())
        throw InputError("lanes: " + std::to_string(list.size()) +
                         " lanes are not allowed: " + wanted);
    std::vector<size_t> bytes;
    for (size_t i = 0; i < lanes.size(); ++i) {
        const std::string path = "lanes." + std::to_string(i);
        if (!list[i].is_object()) refuse(path, list[i], "an object with name and peak_bytes");
        checkWord(list[i], path + ".", "name", lanes[i], ", as in experiment.json");
        bytes.push_back(bytesOf(list[i], path + ".", "peak_bytes"));
    }
    return bytes;
}

TrainedOn readRoot(const Json& root, std::span<const std::string> lanes, int64_t steps) {
    if (!root.is_object())
        throw InputError(shown(root) +
                         " is no summary: an object with version, steps, device and lanes");
    wholeOf(root, {}, "version", kVersion, kVersion,
            std::to_string(kVersion) + ", the version that this program reads");
    wholeOf(root, {}, "steps", steps, steps, std::to_string(steps) + ", as in steps.csv");
    return {deviceOf(root), laneBytesOf(root, lanes)};
}

} // namespace

TrainedOn trainedOnOf(std::string_view text, const std::string& path,
                      std::span<const std::string> lanes, int64_t steps) {
    try {
        if (text.size() > kMostBytes)
            throw InputError(std::to_string(text.size()) + " bytes are not allowed: at most " +
                             std::to_string(kMostBytes));
        return readRoot(parseStrictJson(text), lanes, steps);
    } catch (const InputError& error) {
        throw InputError(path + ": " + error.what());
    }
}

} // namespace halfscope
