// The manifest as JSON.
#include "engine/runs/run_manifest.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/input_file.h"
#include "engine/io/json_text.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

#include <sys/random.h>
#include <unistd.h>

namespace halfscope {
namespace {

constexpr int kVersion = 1;
constexpr size_t kIdDigits = 32;
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr const char* kWhole = "whole";
constexpr const char* kUnfinished = "unfinished";

[[noreturn]] void refuse(const std::string& key, const Json& value, const Message& allowed) {
    throw InputError(phrase("Files", "%1: %2 is not allowed: %3"), key, shown(value), allowed);
}

bool isId(const Json& value) {
    if (!value.is_string()) return false;
    const auto& text = value.get_ref<const std::string&>();
    return text.size() == kIdDigits && text.find_first_not_of(kDigits) == std::string::npos;
}

bool isSize(const Json& value) {
    return value.is_number_unsigned() && value.get<uint64_t>() <= uint64_t{INT64_MAX};
}

} // namespace

std::string newRunId() {
    std::array<unsigned char, kIdDigits / 2> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        static std::atomic<uint64_t> s_number{0};
        const auto now = std::chrono::system_clock::now().time_since_epoch().count();
        uint64_t parts[2] = {static_cast<uint64_t>(now),
                             (static_cast<uint64_t>(::getpid()) << 32) + s_number++};
        for (size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<unsigned char>(parts[i / 8] >> (8 * (i % 8)));
    }
    std::string id;
    for (const unsigned char byte : bytes) {
        id += kDigits[byte >> 4];
        id += kDigits[byte & 15];
    }
    return id;
}

std::string manifestText(const RunManifest& manifest) {
    JsonText json;
    json["version"] = kVersion;
    json["run"] = manifest.run;
    json["state"] = manifest.whole ? kWhole : kUnfinished;
    if (manifest.after > 0) json["after"] = manifest.after;
    if (manifest.whole) {
        JsonText& files = json["files"] = JsonText::object();
        for (const auto& [name, bytes] : manifest.files)
            files[name] = static_cast<uint64_t>(bytes);
    }
    return json.text();
}

RunManifest manifestOf(std::string_view text) {
    const JsonTree tree = parseStrictJson(text, {.bytes = kMostManifestBytes});
    const Json& root = tree.root();
    if (!root.is_object())
        throw InputError(phrase("Files", "%1 is not a manifest: it must be an object"),
                         shown(root));
    static const Json none;
    const auto valueOf = [&root](const char* key) -> const Json& {
        const auto found = root.find(key);
        return found == root.end() ? none : *found;
    };
    if (valueOf("version") != kVersion)
        refuse("version", valueOf("version"),
               {phrase("Files", "%1, the version that this program reads"), kVersion});
    if (!isId(valueOf("run")))
        refuse("run", valueOf("run"), phrase("Files", "32 hexadecimal digits"));
    const Json& state = valueOf("state");
    const bool whole = isText(state, kWhole);
    if (!whole && !isText(state, kUnfinished))
        refuse("state", state, {phrase("Files", "%1 or %2"), kWhole, kUnfinished});
    RunManifest manifest{valueOf("run").get<std::string>(), whole, {}};
    if (const Json& after = valueOf("after"); !after.is_null()) {
        constexpr uint64_t kMostSteps = 1000000000;
        if (!isSize(after) || after.get<uint64_t>() > kMostSteps)
            refuse("after", after, {phrase("Files", "a whole number from 0 to %1"), kMostSteps});
        manifest.after = after.get<int64_t>();
    }
    static const Json noFiles = Json::object();
    const auto found = root.find("files");
    const Json& files = found == root.end() ? noFiles : *found;
    if (!files.is_object()) refuse("files", files, phrase("Files", "an object of sizes by name"));
    for (const auto& [name, bytes] : files.items()) {
        if (!isSize(bytes))
            refuse("files." + name, bytes, phrase("Files", "a whole number of bytes from 0"));
        manifest.files[name] = bytes.get<int64_t>();
    }
    return manifest;
}

RunManifest readManifest(const std::string& path) {
    const std::string text = readFile(path, kMostManifestBytes);
    try {
        return manifestOf(text);
    } catch (const InputError& error) {
        throw InputError(within(pathText(path), error.message()));
    }
}

} // namespace halfscope
