// Batches of the validation split, one after the other, and what they add up to.
#include "engine/train/evaluator.h"

#include "engine/data/loader.h"
#include "engine/passes/compile.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"

#include <algorithm>
#include <numeric>

namespace halfscope {

namespace {

/// Enough for matrix products at full speed, and little memory beside a training step's.
constexpr int64_t kRows = 500;

} // namespace

Evaluator::Evaluator(const RunConfig& config, const PrecisionPlan& plan, const Dataset& data,
                     const std::function<std::unique_ptr<Executor>()>& makeExecutor)
    : m_data(data), m_samples(data.samples(Split::Validation)) {
    const int64_t rows = std::min(kRows, m_samples);
    addSize(config, plan, rows, makeExecutor());
    if (m_samples % rows != 0) addSize(config, plan, m_samples % rows, makeExecutor());
}

void Evaluator::addSize(const RunConfig& config, const PrecisionPlan& plan, int64_t rows,
                        std::unique_ptr<Executor> executor) {
    const Graph graph = buildEvaluation(config, plan, batchShape(m_data.tensors(), rows));
    Size size{rows, std::move(executor), nullptr};
    size.program = std::make_shared<const Program>(compile(graph, size.executor->compileOptions()));
    size.executor->load(size.program);
    m_sizes.push_back(std::move(size));
}

MemoryUse Evaluator::memory() const {
    MemoryUse sum;
    for (const Size& size : m_sizes) {
        const MemoryUse use = memoryUse(*size.executor, *size.program);
        sum.bytes += use.bytes;
        sum.peakBytes += use.peakBytes;
        for (size_t i = 0; i < sum.peakByCause.size(); ++i)
            sum.peakByCause[i] += use.peakByCause[i];
    }
    return sum;
}

void Evaluator::requestStop() {
    for (const Size& size : m_sizes)
        size.executor->requestStop();
}

/// False when it was stopped.
bool Evaluator::runBatch(const Size& size, int64_t first, const Seen& seen) {
    std::vector<int64_t> samples(static_cast<size_t>(size.rows));
    std::iota(samples.begin(), samples.end(), first);
    Batch batch = Batch::of(m_data.tensors(), size.rows);
    const int64_t end = first + size.rows;
    readWhole(
        m_data, Split::Validation, samples, [&](int64_t next) { return (end + next) % m_samples; },
        m_samples, batch);
    m_skipped.insert(m_skipped.end(), batch.skipped.begin(), batch.skipped.end());
    const Graph& graph = size.program->graph;
    uploadTensor(*size.executor, graph, graph.input("x"), batch.tensors[kX]);
    uploadTensor(*size.executor, graph, graph.input("target"), batch.tensors[kTarget]);
    if (size.executor->run(RunMode::Captured) == RunResult::Stopped) return false;
    const float loss = downloadFloats(*size.executor, graph, graph.output("loss")).front();
    m_loss += double{loss} * static_cast<double>(size.rows);
    const bool classes = batch.tensors[kTarget].dtype == DType::I32;
    if (!classes && !seen) return true;
    const std::vector<float> prediction =
        downloadFloats(*size.executor, graph, graph.output("prediction"));
    if (classes)
        m_running.add(batch.labels(kTarget), highestClasses(prediction, m_running.classes()));
    if (seen) seen(size.rows, prediction);
    return true;
}

std::optional<Validation> Evaluator::run(const Weights& weights, const std::atomic<bool>& stop,
                                         const Seen& seen) {
    m_loss = 0;
    m_running = ClassCounts(static_cast<size_t>(m_data.tensors()[kTarget].classes));
    m_skipped.clear();
    for (const Size& size : m_sizes)
        weights(*size.executor, size.program->graph);
    for (int64_t first = 0; first < m_samples;) {
        const int64_t left = m_samples - first;
        const Size& size = left >= m_sizes.front().rows ? m_sizes.front() : m_sizes.back();
        if (stop || !runBatch(size, first, seen)) return std::nullopt;
        first += size.rows;
    }
    const auto samples = static_cast<double>(m_samples);
    Validation result{m_loss / samples, {}};
    if (m_data.tensors()[kTarget].dtype == DType::I32) {
        m_counts = m_running;
        result.accuracy = static_cast<double>(m_counts.correct()) / samples;
    }
    return result;
}

} // namespace halfscope
