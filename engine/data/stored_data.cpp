// From numbers within a split to stored samples.
#include "engine/data/stored_data.h"

namespace halfscope {

std::span<float> SamplePlace::floats(size_t tensor) const {
    const std::span<float> all = batch.floats(tensor);
    const size_t values = all.size() / static_cast<size_t>(batch.rows());
    return all.subspan(row * values, values);
}

int32_t& SamplePlace::label() const { return batch.labels(kTarget)[row]; }

std::vector<int64_t> StoredData::read(Split split, std::span<const int64_t> samples,
                                      Batch& out) const {
    for (size_t row = 0; row < samples.size(); ++row)
        readStored(m_splits.of(split)[static_cast<size_t>(samples[row])], {out, row});
    return {};
}

} // namespace halfscope
