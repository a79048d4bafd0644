// What people call the lanes of an experiment: by what sets lanes of one precision apart. Columns
// of tables and names of files keep laneNames().
#pragma once

#include "engine/settings/fields.h"
#include "engine/settings/run_config.h"

#include <string>
#include <vector>

namespace halfscope {

/// A setting in the fewest words: "lr 0.001", "init_scale 2^24", "scaler apex"; a path's or text's
/// own words; empty where the value is no more than "default".
std::string settingWords(const Field&, const FieldValue&);

/// A lane's precision, and what sets it apart from others that have the same one.
struct LaneTitle {
    std::string name; ///< "amp-fp16"; "amp-fp16-2" where nothing sets lanes apart
    std::vector<std::string>
        words;         ///< "init_scale 2^24", "scaler apex"; the first one matters most
    bool more = false; ///< there are more differences than words
};

/// By lane; no two have the same text.
std::vector<LaneTitle> laneTitleParts(const RunConfig&);
/// The differences alone: "init_scale 2^24, growth_interval 20, ..."; empty without any.
std::string differencesText(const LaneTitle&);
/// "fp32", "amp-fp16, init_scale 2^24".
std::string titleText(const LaneTitle&);

} // namespace halfscope
