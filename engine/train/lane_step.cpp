// Loads a step and moves its batches.
#include "engine/train/lane_step.h"

#include "engine/core/error.h"
#include "engine/train/step_runner.h"

#include <utility>

namespace halfscope {

namespace {

constexpr const char* kFirstBatch = "the first batch of a data set is always new";

} // namespace

int64_t batchOf(const Dataset& dataset, int64_t step, std::span<float> x, std::span<float> target) {
    while (!dataset.batch(step, x, target))
        require(--step >= 1, kFirstBatch);
    return step;
}

LaneStep::LaneStep(std::unique_ptr<Executor> executor, const Graph& step, int64_t rows,
                   const Dataset& dataset, const std::stop_token& stop)
    : m_executor(std::move(executor)), m_dataset(dataset), m_rows(rows) {
    m_program = std::make_shared<const Program>(compile(step, m_executor->compileOptions()));
    if (stop.stop_requested()) throw RunError("stopped before the networks were built");
    // a GPU compares ways to run the step
    const std::stop_callback onStop(stop, [this] { m_executor->requestStop(); });
    m_executor->load(m_program);
    makeTools();
}

void LaneStep::load(const Graph& step) {
    auto program = std::make_shared<const Program>(compile(step, m_executor->compileOptions()));
    m_executor->load(program);
    m_program = std::move(program);
    m_batchStep = m_stagedStep = 0;
    makeTools();
}

void LaneStep::makeTools() {
    m_finder = std::make_unique<const OverflowFinder>(graph());
    m_gradients = std::make_unique<const GradientSampler>(graph());
    m_x.resize(static_cast<size_t>(graph()[graph().input("x")].elements()));
    m_target.resize(static_cast<size_t>(graph()[graph().input("target")].elements()));
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

void LaneStep::readMetrics(std::span<std::byte> row) const {
    m_executor->download(graph().output("metrics"), row);
}

void LaneStep::stageBatch(int64_t step) {
    if (m_stagedStep == step || !m_dataset.batch(step, m_x, m_target)) return;
    stageFloats(*m_executor, graph(), graph().input("x"), m_x);
    stageFloats(*m_executor, graph(), graph().input("target"), m_target);
    m_stagedStep = step;
}

void LaneStep::dropStaged() {
    if (m_stagedStep == 0) return;
    m_executor->takeStaged();
    m_batchStep = std::exchange(m_stagedStep, 0);
}

void LaneStep::loadBatch(int64_t step) {
    if (m_batchStep == step) return;
    if (m_stagedStep == step) return dropStaged();
    int64_t from = step;
    // An unchanged batch is the one of an earlier step: go back to where it was made, unless that
    // one is on the device.
    while (from != m_batchStep && !m_dataset.batch(from, m_x, m_target))
        require(--from >= 1, kFirstBatch);
    if (from != m_batchStep) {
        uploadFloats(*m_executor, graph(), graph().input("x"), m_x);
        uploadFloats(*m_executor, graph(), graph().input("target"), m_target);
    }
    m_batchStep = step;
}

} // namespace halfscope
