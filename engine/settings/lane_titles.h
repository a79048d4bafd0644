// How people see the lanes of an experiment named: by what tells lanes of one precision apart.
// Columns of tables and names of files use laneNames().
#pragma once

#include "engine/settings/fields.h"
#include "engine/settings/run_config.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Returns a value as people write it by hand: scales are powers of two, "2^24".
std::string briefValue(const FieldValue&);
/// Returns the values of one setting likewise, all in the same form: "2^4", "2^16" or "1e-04",
/// "1e-03".
std::vector<std::string> axisTexts(std::span<const FieldValue>);
/// What is written before a setting's value.
using SettingName = std::function<std::string(const Field&)>;
/// Returns the telling part of its key: "lr", "init_scale", "scaler".
std::string shortKey(const Field&);
/// Returns a setting in the fewest words: "lr 0.001", "init_scale 2^24", "scaler apex"; the value
/// of a path or text without its name, "layer 0=bf16" of layers; of a list of a table's columns as
/// many as `named`, "drop acid and 6 more"; empty when the value is just
/// "default". Where settings have the window's names, check boxes are on or off: "Shuffle off",
/// "schedule waits at a skip". As keys, they have the values that a command takes: "shuffle false".
std::string settingWords(const Field&, const FieldValue&, const SettingName& = shortKey,
                         size_t named = 1);

/// A lane's precision, and what tells it apart from other lanes that have the same one.
struct LaneTitle {
    std::string name; ///< "amp-fp16"; "amp-fp16-2" when nothing else tells lanes apart
    std::vector<std::string>
        words;         ///< "init_scale 2^24", "scaler apex"; the first one matters most
    bool more = false; ///< there are more differences than words
    int parent = -1;   ///< its entry in the parents, where other lanes have the same precision
};

/// What stands for the parent of a lane that a run does not have yet and whose beginning is open.
inline constexpr int kNewLane = -2;
/// Returns the titles by lane; no two have the same text and the same parent. `parents` has the
/// lanes that forked lanes continue, kNewLane, and -1 for others, as for lanes behind its end. A
/// forked lane began at its parent's loss scale, if the parent has one; then its title does not
/// name a first scale.
std::vector<LaneTitle> laneTitleParts(const RunConfig&, std::span<const int> parents = {},
                                      const SettingName& = shortKey);
/// Returns only the differences: "init_scale 2^24, growth_interval 20, ..."; empty when there are
/// none.
std::string differencesText(const LaneTitle&);
/// Returns the whole title: "fp32", "amp-fp16, init_scale 2^24".
std::string titleText(const LaneTitle&);

} // namespace halfscope
