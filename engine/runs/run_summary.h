// summary.json: the figures of a run, and the machine that trained it.
#pragma once

#include "engine/io/picture_error.h"
#include "engine/runs/run.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Returns how far each lane's picture is from the target; empty when the pictures show something
/// else than the target itself, and when files have cut them off at black and white.
std::vector<PictureError> pictureErrors(const RunInfo&, const LanePictures&, const Picture& target);

/// Returns the text of the file. For each lane it has what its rows add up to, the median time of a
/// step on its device and, if known, how far its last picture is from the target.
std::string summaryText(const RunInfo&, std::span<const LaneInfo>, std::span<const LaneTotals>,
                        std::span<const double> medianDeviceSeconds,
                        std::span<const PictureError> = {}, const LostSamples& = {});

/// The largest file that is read; that of six lanes takes 10,000.
inline constexpr size_t kMostSummaryBytes = size_t{1} << 20;

struct TrainedOn {
    DeviceInfo device;
    std::vector<MemoryUse> memory;     ///< by lane; causes are 0 when the file does not tell them
    std::optional<RunOutcome> outcome; ///< nothing, like the versions, when the file has none
    std::string program, compiler;     ///< versions
};

/// Where a saved run has its number of steps, %1.
inline constexpr Phrase kCountedInTable = phrase("Files", "%1, as in steps.csv");

/// Reads the summary of a run of `steps` steps whose lanes have these names, see laneNames().
/// `path` names the file in errors: InputError "PATH: device.kind: "tpu" is not allowed: cpu or
/// cuda" is thrown for whatever no run writes, and for the summary of another run. `counted` says
/// where the number of steps, its %1, comes from.
TrainedOn trainedOnOf(std::string_view text, const std::string& path,
                      std::span<const std::string> lanes, int64_t steps,
                      Phrase counted = kCountedInTable);

} // namespace halfscope
