// A lane's step for batches of one size: compiled, on an executor of its own, with the batches that
// were uploaded. A lane has two of them if the last batch of an epoch is smaller. The trainer knows
// which one holds the states of the lane.
#pragma once

#include "engine/data/batch.h"
#include "engine/train/gradient_range.h"
#include "engine/train/overflow.h"

#include <memory>
#include <stop_token>
#include <vector>

namespace halfscope {

class LaneStep {
public:
    /// Compiles and loads the step; its batches have `rows` samples. RunError when `stop` asks for
    /// it.
    LaneStep(std::unique_ptr<Executor>, const Graph& step, int64_t rows, const BatchSource&,
             const std::stop_token& stop);
    /// Another step over the same batches. All states are zero then.
    void load(const Graph& step);

    int64_t rows() const { return m_rows; }
    Executor& executor() const { return *m_executor; }
    const std::shared_ptr<const Program>& program() const { return m_program; }
    const Graph& graph() const { return m_program->graph; }
    const OverflowFinder& finder() const { return *m_finder; }
    const GradientSampler& gradients() const { return *m_gradients; }

    void upload(const char* state, std::span<const std::byte>);
    void download(const char* state, std::span<std::byte>) const;
    std::vector<float> prediction() const;
    void readMetrics(std::span<std::byte>) const;

    /// Has the batch of `step` on the device.
    void loadBatch(int64_t step);
    /// Moves the batch of a later step while the device reads the present one.
    void stageBatch(int64_t step);
    /// Before another step than the one whose batch was staged.
    void dropStaged();

private:
    void makeTools();

    std::unique_ptr<Executor> m_executor;
    std::shared_ptr<const Program> m_program;
    const BatchSource& m_source;
    int64_t m_rows;
    int64_t m_batch = 0;  ///< the number of the batch that lies on the device; 0: none
    int64_t m_staged = 0; ///< of the one that lies there beside it; 0: none
    std::unique_ptr<const OverflowFinder> m_finder;
    std::unique_ptr<const GradientSampler> m_gradients;
};

} // namespace halfscope
