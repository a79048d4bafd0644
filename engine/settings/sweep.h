// Tries many settings in one run: the values of a sweep become lanes. These share weights, data and
// batches, so that they differ in nothing but the swept settings.
#pragma once

#include "engine/settings/fields.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// A lane's setting and the values to try.
struct Sweep {
    const Field* field = nullptr;
    std::vector<FieldValue> values; ///< checked; no two are equal
    /// Settings that were given beside it. A value that sets others, too, which a preset of the
    /// scaler does, leaves these as they were given.
    std::vector<Assignment> given{};

    /// Gives the setting a value in a lane, which was made from the lane `from` of the experiment.
    void set(RunConfig&, size_t lane, const FieldValue&, size_t from) const;
};

/// What trains the values of a sweep, which decides what can be swept.
enum class SweptBy : uint8_t {
    Lanes,    ///< lanes of one run: settings of a lane, but its precision
    Trainings ///< a training for each value, on the same data: also precisions, settings of
              ///< network, optimizer, schedule and gradients, and the seed
};

/// Reads a sweep, "scaler.init_scale=2^10,2^16". Throws InputError when the text is not a list of
/// values of a setting that can be swept (texts and paths cannot), and when a value is given twice.
Sweep parseSweep(std::string_view text, SweptBy = SweptBy::Lanes);

/// Returns the settings that can be swept and mean something in a lane of the experiment. The seed
/// is left out: it is no setting that does better or worse.
std::vector<const Field*> sweptFields(const RunConfig&, SweptBy = SweptBy::Lanes);

/// Replaces every lane in which a swept setting means something by one lane for each of its values;
/// with several sweeps, by one for each combination, presets of the scaler first. Of lanes that
/// would become the same ones, only the first is repeated. Other lanes stay as they are. Removes
/// forks and edits of lanes, because the lanes are different ones. Returns for each lane the number
/// of the one that it was made from. Throws InputError for more than 6 lanes, for a setting that
/// means nothing in any lane, and for one that is swept twice.
std::vector<size_t> applySweeps(RunConfig&, std::span<const Sweep>);

/// Whether a sweep makes the same lanes of two lanes: it means something in both, and they differ
/// at most in what it sets, such as the values of an earlier sweep. `origins` are the lanes of the
/// experiment that those of these settings were made from.
bool makesTheSame(const Sweep&, RunConfig, std::span<const size_t> origins, size_t a, size_t b);

/// Returns the swept settings of a lane: "growth_interval 100, init_scale 2^16"; empty when they
/// mean nothing there.
std::string sweptText(const RunConfig&, size_t lane, std::span<const Sweep>);

/// Whether two lanes, perhaps of two experiments, have the same settings.
bool sameSettings(const RunConfig&, size_t lane, const RunConfig& other, size_t otherLane);

/// Removes what is recorded of lanes that others replace: forks and edits of lanes.
void forgetLanes(RunConfig&);

} // namespace halfscope
