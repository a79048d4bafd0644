// Turns numbers within a split into stored samples.
#include "engine/data/stored_data.h"

#include "engine/core/error.h"
#include "engine/data/undecoded.h"

#include <numeric>

namespace halfscope {

std::span<float> SamplePlace::floats(size_t tensor) const {
    const std::span<float> all = rows.floats(tensor);
    const size_t values = all.size() / rows.count();
    return all.subspan(row * values, values);
}

int32_t& SamplePlace::label() const { return rows.labels(kTarget)[row]; }

std::vector<Unread> StoredData::read(Pass pass, std::span<const int64_t> samples,
                                     const BatchRows& out) const {
    const int64_t epoch = pass.split == Split::Train ? pass.epoch : 0;
    std::vector<Unread> unread;
    for (size_t row = 0; row < samples.size(); ++row) {
        const int32_t stored = m_splits.of(pass.split)[static_cast<size_t>(samples[row])];
        try {
            readStored(stored, epoch, {out, row});
        } catch (const InputError& error) {
            checkIsThere(stored);
            if (m_damaged == Damaged::Refuse) throw InputError(withSkipHint(error.message()));
            unread.push_back({row, error.message()});
        }
    }
    return unread;
}

void StoredData::judgeFrom(int64_t first) {
    m_splits.heldLabels.clear();
    m_splits.validation.resize(m_numbers.size() - static_cast<size_t>(first));
    std::iota(m_splits.validation.begin(), m_splits.validation.end(), static_cast<int32_t>(first));
}

} // namespace halfscope
