// Which run a folder holds, as far as that can be told without reading all of it: for questions
// before it is replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace halfscope {

struct HeldRun {
    std::string id;    ///< see run_manifest.h; empty when no manifest tells it
    std::string title; ///< of its experiment; may be empty
    int64_t steps = 0; ///< the last step in its table; 0 when that is not known
};

/// Returns the run in a folder that has a manifest, or settings and rows. Returns nothing where
/// there is none, or where its files cannot be read: nobody can say whose they are.
std::optional<HeldRun> heldRun(const std::string& folder);

} // namespace halfscope
