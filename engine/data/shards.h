// What is said about shards of which some are judged.
#pragma once

#include "engine/core/message.h"

namespace halfscope {

/// Whether a note of a data set counts the samples of shards to validate on, which were trained on
/// in earlier versions.
bool tellsJudgedShards(const Message& note);

} // namespace halfscope
