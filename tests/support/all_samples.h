// All samples of a split in one batch, for tests of data sets.
#pragma once

#include "engine/core/error.h"
#include "engine/data/dataset.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace halfscope {

/// Returns the samples in the order of the data. Each one must be readable. What the data set does
/// not write is NaN, or -1.
inline Batch allOf(const Dataset& data, Split split = Split::Train) {
    std::vector<int64_t> all(static_cast<size_t>(data.samples(split)));
    std::iota(all.begin(), all.end(), 0);
    Batch batch = Batch::of(data.tensors(), data.samples(split));
    for (TypedBytes& tensor : batch.tensors)
        std::fill(tensor.bytes.begin(), tensor.bytes.end(), std::byte{0xFF});
    require(data.read(split, all, batch).empty(), "every sample can be read");
    return batch;
}

} // namespace halfscope
