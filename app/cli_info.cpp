// Implements the commands that only tell.
#include "app/cli_info.h"

#include "app/cli_output.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/exec/device_list.h"
#include "engine/graph/inspect.h"
#include "engine/train/dataset.h"
#include "engine/train/trainer.h"

#include <algorithm>

namespace halfscope::cli {

namespace {

size_t laneIndex(const RunConfig& config, const std::string& wanted) {
    const std::vector<std::string> names = laneNames(config);
    if (wanted.empty()) {
        const auto low =
            std::find_if(config.lanes.begin(), config.lanes.end(),
                         [](const auto& lane) { return lane.precision != Precision::Fp32; });
        return low == config.lanes.end() ? 0 : static_cast<size_t>(low - config.lanes.begin());
    }
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found == names.end()) {
        throw InputError("--lane: " + quotedText(wanted) + " is not a lane of this experiment" +
                         nearestHint(wanted, names));
    }
    return static_cast<size_t>(found - names.begin());
}

} // namespace

void tellPresets(PresetForm form) {
    const bool table = form == PresetForm::Markdown;
    if (table) print("| preset | what it shows |\n| --- | --- |\n");
    size_t width = 0;
    for (const Preset& preset : presets())
        width = std::max(width, preset.name.size());
    std::string group;
    for (const Preset& preset : presets()) {
        if (preset.group != group) {
            const char* gap = group.empty() ? "" : "\n";
            print(table ? "| **" + preset.group + "** | |\n" : gap + preset.group + "\n");
        }
        group = preset.group;
        print(table ? "| `" + preset.name + "` | " + preset.about + " |\n"
                    : "  " + padded(preset.name, width) + "  " + preset.about + "\n");
    }
}

void tellDevices() {
    const DeviceList list = listDevices();
    size_t width = 0;
    for (const DeviceEntry& device : list.devices)
        width = std::max(width, device.id.size());
    for (const DeviceEntry& device : list.devices) {
        print(padded(device.id, width) + "  " + device.info.name + ", " +
              bytesText(device.info.memoryBytes) + ", " + device.info.libraries + "\n");
    }
    if (!list.cudaUnavailable.empty()) print("No CUDA: " + list.cudaUnavailable + "\n");
}

void describe(const DescribeOptions& options) {
    const RunConfig config = options.experiment.config();
    const LaneConfig& lane = config.lanes[laneIndex(config, options.lane)];
    const Graph graph = buildStep(config, lane, makeDataset(config)->shape());
    switch (options.form) {
    case DescribeForm::Text: print(graphText(graph)); break;
    case DescribeForm::Dot: print(graphDot(graph)); break;
    case DescribeForm::Json: print(graphJson(graph)); break;
    }
}

void tellSettings() { print(fieldReference()); }

} // namespace halfscope::cli
