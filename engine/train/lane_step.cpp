// Loads a step and moves its batches.
#include "engine/train/lane_step.h"

#include "engine/core/error.h"
#include "engine/train/step_runner.h"

#include <utility>

namespace halfscope {

LaneStep::LaneStep(std::unique_ptr<Executor> executor, const Graph& step, int64_t rows,
                   const BatchSource& source, const std::stop_token& stop)
    : m_executor(std::move(executor)), m_source(source), m_rows(rows) {
    m_program = std::make_shared<const Program>(compile(step, m_executor->compileOptions()));
    if (stop.stop_requested())
        throw RunError(phrase("Training", "stopped before the networks were built"));
    // On a GPU, loading compares ways to run the step, which takes time.
    const std::stop_callback onStop(stop, [this] { m_executor->requestStop(); });
    m_executor->load(m_program);
    makeTools();
}

void LaneStep::load(const Graph& step) {
    auto program = std::make_shared<const Program>(compile(step, m_executor->compileOptions()));
    m_executor->load(program);
    m_program = std::move(program);
    m_batch = m_staged = 0;
    m_hasRoomToStage = true;
    makeTools();
}

void LaneStep::makeTools() {
    m_finder = std::make_unique<const OverflowFinder>(graph());
    m_gradients = std::make_unique<const GradientSampler>(graph());
    m_weights = std::make_unique<WeightWatch>(graph());
}

void LaneStep::upload(const char* state, std::span<const std::byte> bytes) {
    m_executor->upload(graph().state(state), bytes);
}

void LaneStep::download(const char* state, std::span<std::byte> bytes) const {
    m_executor->download(graph().state(state), bytes);
}

std::vector<float> LaneStep::prediction() const {
    return downloadFloats(*m_executor, graph(), graph().output("prediction"));
}

MetricsRow LaneStep::metrics() const { return readMetrics(*m_executor, graph()); }

void LaneStep::stageBatch(int64_t step) {
    const int64_t number = m_source.batchNumber(step);
    if (!m_hasRoomToStage || m_staged == number || m_batch == number) return;
    std::shared_ptr<const Batch> batch;
    try {
        batch = m_source.load(step);
    } catch (const InputError&) {
        return; // the step that needs it reports that: the one before must come to its end
    }
    m_hasRoomToStage =
        stageTensor(*m_executor, graph(), graph().input("x"), batch->tensors[kX]) &&
        stageTensor(*m_executor, graph(), graph().input("target"), batch->tensors[kTarget]);
    m_staged = m_hasRoomToStage ? number : 0;
}

void LaneStep::dropStaged() {
    if (m_staged == 0) return;
    m_executor->takeStaged();
    m_batch = std::exchange(m_staged, 0);
}

void LaneStep::loadBatch(int64_t step) {
    const int64_t number = m_source.batchNumber(step);
    if (m_batch == number) return;
    if (m_staged == number) return dropStaged();
    const std::shared_ptr<const Batch> batch = m_source.load(step, m_executor->pool());
    lendTensor(*m_executor, graph(), graph().input("x"), batch, kX);
    uploadTensor(*m_executor, graph(), graph().input("target"), batch->tensors[kTarget]);
    m_batch = number;
}

} // namespace halfscope
