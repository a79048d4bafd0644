// Says what a run's folder lacks.
#pragma once

#include "engine/runs/run.h"

#include <string>
#include <vector>

namespace halfscope::test {

inline std::vector<std::string> missingTexts(const RunInfo& info) {
    std::vector<std::string> texts;
    for (const MissingPart& part : info.missing)
        texts.push_back(part.text().english());
    return texts;
}

} // namespace halfscope::test
