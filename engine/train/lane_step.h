// A lane's step for batches of one size: compiled, on an executor of its own, with the batches that
// were uploaded. A lane has two of them if the last batch of an epoch is smaller. The trainer knows
// which one holds the states of the lane.
#pragma once

#include "engine/data/batch.h"
#include "engine/train/gradient_range.h"
#include "engine/train/metrics_row.h"
#include "engine/train/overflow.h"
#include "engine/train/weight_watch.h"

#include <memory>
#include <span>
#include <stop_token>
#include <vector>

namespace halfscope {

/// Returns the bytes of an array, as uploads take them.
template <class T>
std::span<const std::byte> bytesOfAll(const T& values) {
    return std::as_bytes(std::span(values));
}

class LaneStep {
public:
    /// Compiles and loads the step; its batches have `rows` samples. Throws RunError when `stop`
    /// asks for it.
    LaneStep(std::unique_ptr<Executor>, const Graph& step, int64_t rows, const BatchSource&,
             const std::stop_token& stop);
    /// Loads another step over the same batches. All its states are zero.
    void load(const Graph& step);

    int64_t rows() const { return m_rows; }
    Executor& executor() const { return *m_executor; }
    const std::shared_ptr<const Program>& program() const { return m_program; }
    const Graph& graph() const { return m_program->graph; }
    const OverflowFinder& finder() const { return *m_finder; }
    const GradientSampler& gradients() const { return *m_gradients; }
    WeightWatch& weights() const { return *m_weights; }

    void upload(const char* state, std::span<const std::byte>);
    void download(const char* state, std::span<std::byte>) const;
    std::vector<float> prediction() const;
    MetricsRow metrics() const; ///< of the last step

    /// Makes sure that the batch of `step` is on the device.
    void loadBatch(int64_t step);
    /// Uploads the batch of a later step while the device still reads the present one. Where there
    /// is no room for both, loadBatch() uploads each one when it is needed.
    void stageBatch(int64_t step);
    /// Drops the staged batch; to be called before any step other than the one that was staged.
    void dropStaged();

private:
    void makeTools();

    std::unique_ptr<Executor> m_executor;
    std::shared_ptr<const Program> m_program;
    const BatchSource& m_source;
    int64_t m_rows;
    int64_t m_batch = 0;  ///< the number of the batch on the device; 0 when there is none
    int64_t m_staged = 0; ///< the number of the staged batch beside it; 0 when there is none
    bool m_hasRoomToStage = true; ///< on the device; false when it had none for an earlier batch
    std::unique_ptr<const OverflowFinder> m_finder;
    std::unique_ptr<const GradientSampler> m_gradients;
    std::unique_ptr<WeightWatch> m_weights;
};

} // namespace halfscope
