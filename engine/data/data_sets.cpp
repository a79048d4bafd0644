// The table of data sets. Each row is in the file of its class.
#include "engine/data/dataset.h"

#include <array>

namespace halfscope {

extern const DataSetInfo kCheckerboardData, kImageData, kRegressionData;

std::span<const DataSetInfo> dataSets() {
    static const std::array rows{kCheckerboardData, kImageData, kRegressionData}; // by TaskKind
    return rows;
}

const DataSetInfo& infoOf(TaskKind kind) { return dataSets()[static_cast<size_t>(kind)]; }

const char* nameOf(TaskKind kind) {
    const auto at = static_cast<size_t>(kind);
    return at < dataSets().size() ? dataSets()[at].name : "";
}

} // namespace halfscope
