// The memory of batches, and their shapes.
#include "engine/data/batch.h"

#include "engine/core/error.h"

#include <algorithm>
#include <cstring>

namespace halfscope {

namespace {

Shape withRows(int64_t rows, const Shape& sample) {
    Shape shape{rows};
    for (const int64_t extent : sample)
        shape.push(extent);
    return shape;
}

template <class T, class Bytes>
auto valuesOf(Bytes& tensor, DType dtype) {
    require(tensor.dtype == dtype, "a batch's tensor is asked for as what it is");
    using Value = std::conditional_t<std::is_const_v<Bytes>, const T, T>;
    return std::span<Value>(reinterpret_cast<Value*>(tensor.bytes.data()),
                            tensor.bytes.size() / sizeof(T));
}

template <class T>
std::span<T> rowsOf(std::span<T> all, const Batch& batch, size_t first, size_t count) {
    if (count == 0) return all.first(0);
    const size_t values = all.size() / static_cast<size_t>(batch.rows());
    return all.subspan(first * values, count * values);
}

} // namespace

Batch Batch::of(std::span<const TensorSpec> specs, int64_t rows) {
    Batch batch;
    for (const TensorSpec& spec : specs) {
        TypedBytes& tensor = batch.tensors.emplace_back();
        tensor.dtype = spec.dtype;
        tensor.shape = withRows(rows, spec.shape);
        tensor.bytes.resize(static_cast<size_t>(tensor.shape.elements()) * bytesOf(spec.dtype));
    }
    return batch;
}

std::span<float> Batch::floats(size_t tensor) {
    return valuesOf<float>(tensors.at(tensor), DType::F32);
}
std::span<const float> Batch::floats(size_t tensor) const {
    return valuesOf<float>(tensors.at(tensor), DType::F32);
}
std::span<int32_t> Batch::labels(size_t tensor) {
    return valuesOf<int32_t>(tensors.at(tensor), DType::I32);
}
std::span<const int32_t> Batch::labels(size_t tensor) const {
    return valuesOf<int32_t>(tensors.at(tensor), DType::I32);
}

std::span<float> BatchRows::floats(size_t tensor) const {
    return rowsOf(m_batch->floats(tensor), *m_batch, m_first, m_count);
}
std::span<int32_t> BatchRows::labels(size_t tensor) const {
    return rowsOf(m_batch->labels(tensor), *m_batch, m_first, m_count);
}

void Batch::setRow(size_t row, const Batch& from, size_t fromRow) {
    for (size_t tensor = 0; tensor < tensors.size(); ++tensor) {
        const auto& bytes = from.tensors[tensor].bytes;
        const size_t size = bytes.size() / static_cast<size_t>(from.rows());
        std::memcpy(tensors[tensor].bytes.data() + row * size, bytes.data() + fromRow * size, size);
    }
}

Shape BatchShape::x() const { return withRows(rows, sample.empty() ? Shape{inputs} : sample); }
Shape BatchShape::target() const {
    if (!labels) return targetSample.empty() ? Shape{rows, outputs} : withRows(rows, targetSample);
    return positions > 0 ? Shape{rows, positions} : Shape{rows};
}
Shape BatchShape::prediction() const {
    return positions > 0 ? Shape{rows, positions, outputs} : Shape{rows, outputs};
}

bool BatchShape::fits(const Shape& made) const {
    return made == prediction() || (!targetSample.empty() && made == target());
}

BatchShape batchShape(std::span<const TensorSpec> tensors, int64_t rows) {
    const TensorSpec& x = tensors[kX];
    const TensorSpec& target = tensors[kTarget];
    BatchShape shape{rows, x.shape.elements(), target.shape.elements()};
    if (x.shape.rank() > 1) shape.sample = x.shape;
    if (x.dtype == DType::I32) shape.indices = x.classes;
    shape.labels = target.dtype == DType::I32;
    if (!shape.labels) {
        if (target.shape.rank() > 1) shape.targetSample = target.shape;
        return shape;
    }
    shape.outputs = target.classes;
    if (target.shape.rank() == 1) shape.positions = target.shape[0];
    return shape;
}

BatchShape BatchSource::shape(int64_t rows) const { return batchShape(tensors(), rows); }

bool BatchSource::batch(int64_t step, std::span<float> x, std::span<float> target) const {
    if (batchNumber(step) != step) return false;
    const std::shared_ptr<const Batch> batch = load(step);
    const auto copy = [&](size_t tensor, std::span<float> to) {
        const std::span<const float> from = batch->floats(tensor);
        require(to.size() == from.size(), "room for a whole batch");
        std::copy(from.begin(), from.end(), to.begin());
    };
    copy(kX, x);
    copy(kTarget, target);
    return true;
}

} // namespace halfscope
