// Reads the manifest, the settings, and the end of the table of steps.
#include "engine/runs/held_run.h"

#include "engine/core/error.h"
#include "engine/io/input_file.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_manifest.h"
#include "engine/settings/fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <span>
#include <string_view>

namespace halfscope {
namespace {

std::string pathIn(const std::string& folder, const char* name) {
    return (std::filesystem::path(folder) / name).string();
}

/// Returns the id in the manifest, or an empty text.
std::string idIn(const std::string& folder) {
    try {
        return readManifest(pathIn(folder, run_file::kManifest)).run;
    } catch (const InputError&) {
        return {};
    }
}

/// Returns the title in the settings; nothing when they cannot be read.
std::optional<std::string> titleIn(const std::string& folder) {
    try {
        return readConfig(pathIn(folder, run_file::kExperiment)).title;
    } catch (const InputError&) {
        return std::nullopt;
    }
}

/// Returns the step that begins the last whole line of a text; 0 for whatever is no row.
int64_t lastStepIn(std::string_view text) {
    const size_t end = text.rfind('\n');
    if (end == std::string_view::npos) return 0;
    text = text.substr(0, end);
    text.remove_prefix(text.rfind('\n') + 1); // npos + 1 is 0
    int64_t step = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), step);
    const bool isRow = error == std::errc() && rest != text.data() + text.size() && *rest == ',';
    return isRow ? std::max<int64_t>(step, 0) : 0;
}

/// Returns the last step in the table of steps; nothing when there is no such file.
std::optional<int64_t> stepsIn(const std::string& folder) {
    try {
        InputFile file(pathIn(folder, run_file::kSteps));
        std::array<char, 4096> end{}; // many rows
        file.skipTo(std::max<int64_t>(0, file.size() - static_cast<int64_t>(end.size())));
        size_t count = 0;
        while (count < end.size()) {
            const size_t more = file.read(std::span(end).subspan(count));
            if (more == 0) break;
            count += more;
        }
        return lastStepIn({end.data(), count});
    } catch (const InputError&) {
        return std::nullopt;
    }
}

} // namespace

std::optional<HeldRun> heldRun(const std::string& folder) {
    const std::string id = idIn(folder);
    const auto title = titleIn(folder);
    const auto steps = stepsIn(folder);
    if (id.empty() && !(title && steps)) return std::nullopt;
    return HeldRun{id, title.value_or(std::string()), steps.value_or(0)};
}

} // namespace halfscope
