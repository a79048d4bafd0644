// Runs the batches of the validation split and sums up the results.
#include "engine/train/evaluator.h"

#include "engine/core/error.h"
#include "engine/data/class_weights.h"
#include "engine/data/gallery.h"
#include "engine/data/held_fault.h"
#include "engine/data/targets.h"
#include "engine/passes/compile.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace halfscope {

namespace {

/// Enough rows for matrix products at full speed, with little memory compared with a training
/// step's.
constexpr int64_t kRows = 500;
/// The same for samples with a target at each position: 128 rows of 64 positions.
constexpr int64_t kPositions = 8192;

bool judgesByBatch(const RunConfig& config, const Dataset& data) {
    const BatchShape shape = batchShape(data.tensors(), 1);
    return usesBatch(modelOf(config.model, shape.inputs, shape.outputs));
}

int64_t rowsFor(const Dataset& data) {
    const int64_t positions = batchShape(data.tensors(), 1).positions;
    const int64_t most = positions > 0 ? std::max<int64_t>(kPositions / positions, 1) : kRows;
    return std::min({kRows, most, data.samples(Split::Validation)});
}

/// Returns the numbers or, as numbers, the classes.
std::vector<float> targetsOf(const Batch& batch) {
    if (batch.tensors[kTarget].dtype == DType::I32)
        return {batch.labels(kTarget).begin(), batch.labels(kTarget).end()};
    return {batch.floats(kTarget).begin(), batch.floats(kTarget).end()};
}

/// Returns how many classes are told apart; 0 where targets are no classes.
size_t classesOf(const Dataset& data) {
    return data.targetsAreSides() ? 2 : static_cast<size_t>(data.tensors()[kTarget].classes);
}

/// Returns the mean absolute error in the units of the data, of predictions and targets that are
/// standardised: once they are restored, float32 rounds small differences between large numbers
/// away.
double meanError(std::span<const float> predictions, std::span<const float> targets,
                 const Standardiser& scale) {
    double sum = 0;
    for (size_t i = 0; i < targets.size(); ++i)
        sum += scale.spreadAt(i).deviation * std::abs(double{predictions[i]} - double{targets[i]});
    return sum / static_cast<double>(targets.size());
}

int64_t rowsNotFinite(std::span<const float> prediction, int64_t rows) {
    const size_t each = prediction.size() / static_cast<size_t>(rows);
    int64_t count = 0;
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row)
        count += !std::ranges::all_of(prediction.subspan(row * each, each),
                                      [](float x) { return std::isfinite(x); });
    return count;
}

} // namespace

Evaluator::Evaluator(const RunConfig& config, const PrecisionPlan& plan, const Dataset& data,
                     std::function<std::unique_ptr<Executor>()> makeExecutor)
    : m_config(config), m_plan(plan), m_data(data), m_makeExecutor(std::move(makeExecutor)),
      m_usesBatch(judgesByBatch(config, data)),
      m_rows(m_usesBatch ? config.task.batch : rowsFor(data)),
      m_samples(data.samples(Split::Validation)),
      m_scatters(data.view().kind == ViewKind::Scatter) {
    if (weighsClasses(config.task.loss))
        m_classWeights = weightsOf(config.task.loss, data.tensors()[kTarget].classes);
    addSizes(data);
    if (const Dataset* test = data.test()) addSizes(*test);
    m_usualSizes = m_sizes.size();
}

/// A sample alone is judged like others, unless the training had batches of more.
LoneSample Evaluator::lone() const {
    return m_usesBatch && m_rows > 1 ? LoneSample::Joined : LoneSample::Alone;
}

void Evaluator::addSizes(const Dataset& judges) {
    for (const int64_t rows : HeldBatches::sizes(judges.samples(Split::Validation), m_rows, lone()))
        if (!find(rows)) addSize(rows, judges);
}

/// Returns the compiled size, or nullptr.
const Evaluator::Size* Evaluator::find(int64_t rows) const {
    const auto has = [rows](const Size& size) { return size.rows == rows; };
    const auto found = std::ranges::find_if(m_sizes, has);
    return found == m_sizes.end() ? nullptr : &*found;
}

/// Adds the size; when it is that of a sample alone, says what that sample is for.
void Evaluator::addSize(int64_t rows, const Dataset& judges) {
    try {
        addSize(rows);
    } catch (const InputError& error) {
        if (rows > 1 || !m_usesBatch) throw;
        const Phrase alone = !m_config.task.predictFile.empty()
                                 ? phrase("Training", "one sample is not enough to predict: %1")
                             : &judges == &m_data
                                 ? phrase("Training", "one sample is not enough to validate on: %1")
                                 : phrase("Training", "one sample is not enough for a test: %1");
        throw InputError(alone, error.message());
    }
}

void Evaluator::addSize(int64_t rows) {
    const Graph graph =
        buildLoss(m_config, m_plan, batchShape(m_data.tensors(), rows), ModelMode::Evaluate);
    Size size{rows, m_makeExecutor(), nullptr};
    size.program = std::make_shared<const Program>(compile(graph, size.executor->compileOptions()));
    size.executor->load(size.program);
    uploadClassWeights(*size.executor, size.program->graph, m_config.task.loss);
    const std::lock_guard lock(m_mutex);
    m_sizes.push_back(std::move(size));
}

MemoryUse Evaluator::memory() const {
    std::vector<MemoryUse> uses;
    for (const Size& size : m_sizes)
        uses.push_back(memoryUse(*size.executor, *size.program));
    return sumOf(uses);
}

MemoryUse sumOf(std::span<const MemoryUse> uses) {
    MemoryUse sum;
    for (const MemoryUse& use : uses) {
        sum.bytes += use.bytes;
        sum.bytesToFill += use.bytesToFill;
        sum.peakBytes += use.peakBytes;
        for (size_t i = 0; i < sum.peakByCause.size(); ++i)
            sum.peakByCause[i] += use.peakByCause[i];
    }
    return sum;
}

void Evaluator::requestStop() {
    const std::lock_guard lock(m_mutex);
    for (const Size& size : m_sizes)
        size.executor->requestStop();
}

/// Returns the compiled size for `rows`. Sizes other than those of the constructor are needed only
/// when samples are left out, and one of them at most is kept: files of a network drive may fail
/// now and then.
const Evaluator::Size& Evaluator::sizeFor(int64_t rows, const Weights& weights) {
    if (const Size* known = find(rows)) return *known;
    if (m_sizes.size() > m_usualSizes) {
        const std::lock_guard lock(m_mutex);
        m_sizes.pop_back();
    }
    addSize(rows, *m_judges);
    weights(*m_sizes.back().executor, m_sizes.back().program->graph);
    return m_sizes.back();
}

/// Puts each row in the place of its sample, in the units of the data.
void Evaluator::keep(std::span<const int64_t> numbers, std::span<const float> targets,
                     std::span<const float> prediction, Predictions& all) const {
    const auto samples = static_cast<size_t>(m_samples);
    const Standardiser& scale = m_data.targetScale();
    const bool exact = !scale.roundedOff().empty();
    const auto place = [&](std::span<const float> rows, std::vector<float>& into,
                           std::vector<double>& exactly) {
        const size_t each = rows.size() / numbers.size();
        if (into.empty()) into.assign(samples * each, std::numeric_limits<float>::quiet_NaN());
        if (exact && exactly.empty())
            exactly.assign(samples * each, std::numeric_limits<double>::quiet_NaN());
        for (size_t i = 0; i < rows.size(); ++i) {
            const size_t at = static_cast<size_t>(numbers[i / each]) * each + i % each;
            const double value = scale.restored(i, double{rows[i]});
            into[at] = static_cast<float>(value);
            if (exact) exactly[at] = value;
        }
    };
    if (all.values.empty()) {
        all.samples = m_samples;
        const BatchShape shape = batchShape(m_data.tensors(), static_cast<int64_t>(numbers.size()));
        all.positions = shape.positions;
        all.outputs = shape.outputs;
        all.axes.assign(shape.targetSample.begin(), shape.targetSample.end());
        for (int64_t sample = 0; sample < m_samples; ++sample)
            all.numbers.push_back(m_judges->number(Split::Validation, sample));
    }
    place(prediction, all.values, all.exactValues);
    place(targets, all.targets, all.exactTargets);
}

/// Returns how much the loss of a batch, a mean, counts in the mean over all samples.
double Evaluator::weightOf(const Batch& batch) const {
    if (m_classWeights.empty()) return static_cast<double>(batch.rows());
    double sum = 0;
    for (const int32_t label : batch.labels(kTarget))
        sum += double{m_classWeights[static_cast<size_t>(label)]};
    return sum;
}

/// Returns false when it was stopped.
bool Evaluator::runBatch(const Size& size, const HeldBatch& held, Predictions* predictions) {
    const Batch& batch = held.batch;
    const Graph& graph = size.program->graph;
    uploadTensor(*size.executor, graph, graph.input("x"), batch.tensors[kX]);
    uploadTensor(*size.executor, graph, graph.input("target"), batch.tensors[kTarget]);
    if (size.executor->run(RunMode::Captured) == RunResult::Stopped) return false;
    const float loss = downloadFloats(*size.executor, graph, graph.output("loss")).front();
    const double weight = weightOf(batch);
    m_loss += double{loss} * weight;
    m_weight += weight;
    m_read += size.rows;
    const Standardiser& scale = m_data.targetScale();
    // some losses stay finite beside an infinite prediction, so the loss does not tell
    std::vector<float> prediction =
        downloadFloats(*size.executor, graph, graph.output("prediction"));
    std::vector<float> targets = targetsOf(batch);
    if (const size_t classes = m_running.counts.classes(); classes > 0)
        m_running.addClasses(batch, held.samples, takenClasses(batch, prediction, classes),
                             m_judges == &m_data ? mistakesShown(m_data) : 0);
    m_running.notFinite += rowsNotFinite(prediction, size.rows);
    if (m_scatters) m_running.addNumbers(targets, prediction);
    if (scale.active())
        m_error += meanError(prediction, targets, scale) * static_cast<double>(size.rows);
    if (predictions) keep(held.samples, targets, prediction, *predictions);
    return true;
}

/// New samples are what the user has just named; others were read before.
void Evaluator::refuseAll() const {
    const Message why =
        m_skipped.size() == 1
            ? m_skipped.front()
            : Message{phrase("Data", "%1 (and no other sample can be read)"), m_skipped.front()};
    if (!m_config.task.predictFile.empty()) throw InputError(why);
    throw NoSampleLeft(why);
}

std::optional<Validation> Evaluator::run(const Weights& weights, const std::atomic<bool>& stop,
                                         Predictions* predictions, const Dataset* test) {
    m_judges = test ? test : &m_data;
    m_samples = m_judges->samples(Split::Validation);
    m_loss = m_weight = m_error = 0;
    m_read = 0;
    m_running = {ClassCounts(classesOf(m_data))};
    m_skipped.clear();
    for (const Size& size : m_sizes)
        weights(*size.executor, size.program->graph);
    HeldBatches batches(*m_judges, m_rows, lone(), m_sizes.front().executor->pool());
    while (const std::optional<HeldBatch> held = batches.next())
        if (stop || !runBatch(sizeFor(held->batch.rows(), weights), *held, predictions))
            return std::nullopt;
    m_skipped = batches.skipped();
    if (m_read == 0) refuseAll();
    Validation result{m_loss / m_weight};
    if (measuresPerplexity(m_config.task)) result.perplexity = std::exp(result.loss);
    if (m_data.targetScale().active()) result.error = m_error / static_cast<double>(m_read);
    // explain() of LaneJudge does this for validations; a test is judged only once
    if (test && !std::isfinite(result.loss)) (void)findTestFault(taskOf(m_config), *test, stop);
    m_judged = std::exchange(m_running, {});
    const ClassCounts& counts = m_judged.counts;
    if (counts.classes() > 0)
        result.accuracy =
            static_cast<double>(counts.correct()) / static_cast<double>(counts.samples());
    return result;
}

} // namespace halfscope
