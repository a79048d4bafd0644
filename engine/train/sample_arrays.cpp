// Copies the values row by row.
#include "engine/train/sample_arrays.h"

#include "engine/step/pytorch_samples.h"

#include <utility>

namespace halfscope {

namespace {

/// Returns the bytes that the values of a sample take in the file.
int64_t fileBytes(const TensorSpec& spec) {
    return spec.shape.elements() *
           static_cast<int64_t>(spec.dtype == DType::F32 ? sizeof(float) : sizeof(int64_t));
}

void appendBytes(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
}

} // namespace

SampleArrays::SampleArrays(std::span<const TensorSpec> specs) {
    for (size_t i = 0; i < kArrays; ++i) {
        m_values[i].sample = specs[i].shape;
        m_values[i].numbers = specs[i].dtype == DType::F32;
    }
}

int64_t SampleArrays::bytesOfOne(std::span<const TensorSpec> specs) {
    return fileBytes(specs[kX]) + fileBytes(specs[kTarget]);
}

void SampleArrays::reserve(int64_t samples) {
    for (Values& each : m_values)
        each.bytes.reserve(static_cast<size_t>(samples * each.sample.elements()) *
                           (each.numbers ? sizeof(float) : sizeof(int64_t)));
}

void SampleArrays::add(const Batch& batch, std::span<const Unread> without) {
    const auto rows = static_cast<size_t>(batch.rows());
    std::vector<bool> left(rows);
    for (const Unread& each : without)
        left[each.row] = true;
    for (size_t i = 0; i < kArrays; ++i) {
        Values& values = m_values[i];
        const auto count = static_cast<size_t>(values.sample.elements());
        for (size_t row = 0; row < rows; ++row) {
            if (left[row]) continue;
            if (values.numbers) {
                appendBytes(values.bytes,
                            std::as_bytes(batch.floats(i).subspan(row * count, count)));
                continue;
            }
            for (const int64_t label : batch.labels(i).subspan(row * count, count))
                appendBytes(values.bytes, std::as_bytes(std::span(&label, 1)));
        }
    }
    m_samples += batch.rows() - static_cast<int64_t>(without.size());
}

std::vector<ArrayView> SampleArrays::views(const std::string& prefix) const {
    std::vector<ArrayView> views;
    for (size_t i = 0; i < kArrays; ++i) {
        const Values& values = m_values[i];
        std::vector<int64_t> shape{m_samples};
        shape.insert(shape.end(), values.sample.begin(), values.sample.end());
        views.push_back({prefix + (i == kX ? step_samples::kX : step_samples::kTarget),
                         values.numbers ? ElementType::F32 : ElementType::I64, std::move(shape),
                         values.bytes});
    }
    return views;
}

} // namespace halfscope
