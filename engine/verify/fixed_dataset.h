// Batches of given numbers: one that never changes, or several in turn, of which the last one may
// be smaller.
#pragma once

#include "engine/data/batch.h"

#include <algorithm>
#include <array>

namespace halfscope::recorded {

class FixedDataset final : public BatchSource {
public:
    struct Batch {
        std::vector<float> x, target;
        std::vector<int32_t> labels{}; ///< in place of the target
    };
    FixedDataset(const BatchShape& shape, const std::vector<Batch>& batches)
        : m_rows(shape.rows), m_tensors{TensorSpec{"x", {shape.inputs}},
                                        TensorSpec{"target", {shape.outputs}}} {
        if (shape.labels) m_tensors[kTarget] = {"target", {}, DType::I32, shape.outputs};
        for (const Batch& given : batches) {
            const auto rows = static_cast<int64_t>(given.x.size()) / shape.inputs;
            halfscope::Batch batch = halfscope::Batch::of(m_tensors, rows);
            std::copy(given.x.begin(), given.x.end(), batch.floats(kX).begin());
            if (shape.labels)
                std::copy(given.labels.begin(), given.labels.end(), batch.labels(kTarget).begin());
            else
                std::copy(given.target.begin(), given.target.end(), batch.floats(kTarget).begin());
            m_batches.push_back(std::make_shared<const halfscope::Batch>(std::move(batch)));
        }
    }

    using BatchSource::rows;
    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t rows() const override { return m_rows; }
    int64_t stepsPerEpoch() const override { return static_cast<int64_t>(m_batches.size()); }
    int64_t rows(int64_t step) const override { return load(step)->rows(); }
    int64_t batchNumber(int64_t step) const override { return m_batches.size() == 1 ? 1 : step; }
    std::shared_ptr<const halfscope::Batch> load(int64_t step,
                                                 ThreadPool* = nullptr) const override {
        return m_batches[static_cast<size_t>(step - 1) % m_batches.size()];
    }

private:
    int64_t m_rows;
    std::array<TensorSpec, 2> m_tensors;
    std::vector<std::shared_ptr<const halfscope::Batch>> m_batches;
};

} // namespace halfscope::recorded
