// Trials of variants: one step from numbers that make every kernel work, its results against the
// first variant's, then some launches of its graph by the device's clock.
#include "engine/cuda/variant_search.h"

#include "engine/core/dtype.h"
#include "engine/core/error.h"
#include "engine/cuda/debug_folder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace halfscope::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTrialSeconds = 0.03; ///< of one variant's launches
constexpr double kTooLong = 1;         ///< seconds of a step that is not run more than needed
/// What a variant must gain on the ones before it: ways that are alike must not take turns, since
/// their sums have other orders, and so other bits.
constexpr double kLeastGain = 0.97;
constexpr int kMostLaunches = 100, kLeastLaunches = 3;
/// Trials that the program did not survive until a variant is left alone: somebody may just have
/// ended it.
constexpr int kMostUnfinished = 2;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Numbers in (-1, 1).
std::vector<float> numbers(size_t count) {
    std::vector<float> values(count);
    uint32_t state = 2024;
    for (float& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
    }
    return values;
}

/// How far results of two variants may be apart, relative to the largest: sums in another order,
/// and with short operands the roundings that they tip, through all layers.
double tolerance(const Graph& graph) {
    for (NodeId id = 0; id < graph.size(); ++id)
        if (graph[id].dtype == DType::F16 || graph[id].dtype == DType::BF16 ||
            graph[id].math == MathMode::TF32)
            return 0x1p-4;
    return 0x1p-10;
}

constexpr const char* kMixed = "mixed tiles";

bool sameWork(const WrittenStep& a, const WrittenStep& b) {
    const auto &x = a.source.launches, &y = b.source.launches;
    return a.source.text == b.source.text &&
           std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Launch& p, const Launch& q) {
               return p.kind == q.kind && p.node == q.node;
           });
}

} // namespace

VariantSearch::VariantSearch(Device& device, const FileCache& cache, const StepWriter& writer,
                             WriteVariant write, const MetricsRing* ring)
    : m_device(device), m_cache(cache), m_writer(writer), m_write(std::move(write)), m_ring(ring),
      m_records(device, cache) {}

std::unique_ptr<StepVersion> VariantSearch::make(WrittenVariant variant,
                                                 const std::string& code) const {
    return std::make_unique<StepVersion>(m_device, m_cache, m_writer, std::move(variant.written),
                                         code, m_ring);
}

/// Each way once.
std::vector<WrittenVariant> VariantSearch::written(const std::vector<Variant>& variants) const {
    std::vector<WrittenVariant> different;
    for (const Variant& variant : variants) {
        WrittenVariant next{variant, m_write(variant.options)};
        if (std::none_of(different.begin(), different.end(), [&](const WrittenVariant& earlier) {
                return sameWork(earlier.written, next.written);
            }))
            different.push_back(std::move(next));
    }
    return different;
}

std::unique_ptr<StepVersion> VariantSearch::fastest(const std::vector<Variant>& variants) {
    std::vector<WrittenVariant> different = written(variants);
    m_usual = variants.front().options;
    m_times.clear();
    if (different.size() == 1) {
        const std::string code = compileText(m_device, m_cache, different[0].written.text());
        return make(std::move(different[0]), code);
    }
    readRecords(different);
    std::unique_ptr<StepVersion> version = kept(different);
    if (!version) {
        m_records.restart();
        tryAll(std::move(different));
        tryMixed();
        m_records.finish();
        version = std::move(m_best);
    }
    m_times = m_records.times();
    return version;
}

void VariantSearch::readRecords(const std::vector<WrittenVariant>& variants) {
    std::string key = "variants " + m_device.info().name + " " + m_device.info().libraries;
    std::vector<std::string> names;
    for (const WrittenVariant& variant : variants) {
        names.push_back(variant.variant.name);
        key += "\n" + names.back();
    }
    names.push_back(kMixed);
    m_records.read(key + "\n" + variants.front().written.text(), names);
}

/// The choice of an earlier search, where there is one and it works.
std::unique_ptr<StepVersion>
VariantSearch::kept(const std::vector<WrittenVariant>& variants) const {
    const size_t chosen = m_records.chosen();
    if (chosen > variants.size()) return nullptr;
    try {
        WrittenVariant variant = variants[chosen < variants.size() ? chosen : 0];
        if (chosen == variants.size()) { // mixed tiles
            variant.variant.options.tilesOf = tilesIn(m_records.times().back().note);
            variant.written = m_write(variant.variant.options);
        }
        const std::string code = compileText(m_device, m_cache, variant.written.text());
        return make(std::move(variant), code);
    } catch (const OutOfMemory&) {
        throw;
    } catch (const EngineError&) {
        m_device.activate(); // throws where the device is lost
        return nullptr;
    }
}

void VariantSearch::tryAll(std::vector<WrittenVariant> variants) {
    // what is too large is told before all of it is compiled
    (void)m_device.allocate(variants.front().written.source.program.memory.arenaBytes, "arena");
    std::vector<std::string> texts;
    for (const WrittenVariant& variant : variants)
        texts.push_back(variant.written.text());
    const std::vector<Compiled> compiled =
        compileTexts(m_device, m_cache, texts, debugging() ? 1e9 : m_usual.searchSeconds);
    std::exception_ptr first; // why the usual one cannot be taken
    const auto start = Clock::now();
    for (const Launch& launch : variants.front().written.source.launches)
        m_kernels.push_back(launch.kernels);
    for (size_t i = 0; i < variants.size(); ++i) {
        VariantRecord& record = m_records[i];
        try {
            if (m_best && secondsSince(start) > m_usual.searchSeconds)
                throw EngineError("not tried: the search has taken long enough");
            trial(std::move(variants[i]), compiled[i], record);
        } catch (const EngineError& error) {
            record.time.note = error.what();
            if (i == 0) first = std::current_exception();
            m_device.activate(); // throws where the device is lost
            const bool impossible = dynamic_cast<const NoAlgorithm*>(&error) != nullptr ||
                                    dynamic_cast<const OutOfMemory*>(&error) != nullptr;
            if (i == 0 && impossible) throw;
        }
    }
    if (!m_best) std::rethrow_exception(first);
}

void VariantSearch::trial(WrittenVariant variant, const Compiled& compiled, VariantRecord& record) {
    if (record.unfinished >= kMostUnfinished)
        throw EngineError("not tried: the program ended in earlier trials");
    if (!compiled.error.empty()) throw EngineError(compiled.error);
    const SourceOptions options = variant.variant.options;
    ++record.unfinished;
    m_records.write(); // a program that ends now leaves this
    std::unique_ptr<StepVersion> version;
    try {
        version = make(std::move(variant), compiled.code);
        fill(*version);
        version->enqueueAll(m_device.stream());
        const Values results = resultsOf(*version);
        if (m_truth.empty())
            m_truth = results;
        else if (const std::string wrong = difference(version->program(), results); !wrong.empty())
            throw EngineError("other results than the usual one: " + wrong);
        record.time.seconds = secondsOf(*version);
        if (isTiled(options, *version)) m_tiled.push_back({options.tiles, version->profile()});
    } catch (...) {
        // what was enqueued uses the memory that goes now; a lost device answers at once
        (void)m_device.driver().cuStreamSynchronize(m_device.stream());
        if (m_device.isLost()) record.unfinished = kMostUnfinished;
        m_records.write();
        throw;
    }
    --record.unfinished;
    if (m_best && record.time.seconds >= kLeastGain * m_bestSeconds) return;
    m_records.choose(record);
    m_best = std::move(version);
    m_bestSeconds = record.time.seconds;
}

// ---- each kernel in its own tiles --------------------------------------------------------------

/// Whether a variant has the usual one's launches, in other tiles.
bool VariantSearch::isTiled(const SourceOptions& options, const StepVersion& version) const {
    const LoadedStep& step = version.step();
    if (debugging() || options.chains != m_usual.chains ||
        options.keepOperands != m_usual.keepOperands || step.launches() != m_kernels.size())
        return false;
    for (size_t i = 0; i < m_kernels.size(); ++i)
        if (step.launch(i).kernels != m_kernels[i]) return false;
    return true;
}

/// For each launch the tiles in which it is faster than in the usual ones; nothing where no mixture
/// promises a gain on the best variant.
std::map<size_t, TileLimits> VariantSearch::bestTiles() const {
    std::map<size_t, TileLimits> best;
    double mixed = 0;
    for (size_t i = 0; i < m_kernels.size() && !m_tiled.empty(); ++i) {
        const Tiled* fastest = &m_tiled.front();
        for (const Tiled& tiled : m_tiled)
            if (tiled.launches[i].seconds < kLeastGain * fastest->launches[i].seconds)
                fastest = &tiled;
        mixed += fastest->launches[i].seconds;
        // by the first phase of a chain, which has the tiles; emplace keeps it
        for (const size_t kernel : m_kernels[i])
            best.emplace(kernel, fastest->tiles);
    }
    for (const Tiled& tiled : m_tiled) {
        double whole = 0;
        for (const LaunchTime& launch : tiled.launches)
            whole += launch.seconds;
        if (mixed >= kLeastGain * whole) return {};
    }
    return best;
}

void VariantSearch::tryMixed() {
    SourceOptions options = m_usual;
    options.tilesOf = bestTiles();
    if (options.tilesOf.empty()) return;
    VariantRecord& record = m_records.last();
    try {
        WrittenVariant variant{{kMixed, options}, m_write(options)};
        const Compiled compiled{compileText(m_device, m_cache, variant.written.text()), {}};
        trial(std::move(variant), compiled, record);
        record.time.note = tilesText(options.tilesOf);
    } catch (const EngineError& error) {
        record.time.note = error.what();
        m_device.activate(); // throws where the device is lost
    }
}

// ---- trials ------------------------------------------------------------------------------------

double VariantSearch::secondsOf(StepVersion& version) const {
    const EventHandle begin = m_device.makeEvent(0), end = m_device.makeEvent(0);
    const auto timed = [&](const auto& enqueue) {
        const DriverApi& driver = m_device.driver();
        m_device.check(driver.cuEventRecord(begin.get(), m_device.stream()), "start of a trial");
        enqueue();
        m_device.check(driver.cuEventRecord(end.get(), m_device.stream()), "end of a trial");
        return static_cast<double>(m_device.millisecondsBetween(begin, end)) * 1e-3;
    };
    double best = timed([&] { version.enqueueAll(m_device.stream()); });
    if (best > kTooLong || debugging()) return best;
    version.capture();
    double spent = 0;
    for (int i = 0; i < kLeastLaunches || (i < kMostLaunches && spent < kTrialSeconds); ++i) {
        const double time = timed([&] { version.enqueueGraph(m_device.stream()); });
        best = i == 0 ? time : std::min(best, time);
        spent += time;
    }
    return best;
}

/// Inputs and parameters get numbers, moments stay zero, what scales or counts is one, rates are a
/// half: no kernel has only zeros to work on, and nothing overflows.
void VariantSearch::fill(const StepVersion& version) const {
    const Graph& graph = version.program().graph;
    const auto upload = [&](NodeId id, const std::vector<float>& values) {
        if (!version.isStored(id) || graph[id].bytes() == 0) return;
        std::vector<std::byte> bytes(graph[id].bytes());
        storeFromFloat(graph[id].dtype, values.data(), bytes.data(), values.size());
        m_device.check(m_device.driver().cuMemcpyHtoDAsync(version.at(id), bytes.data(),
                                                           bytes.size(), m_device.stream()),
                       "numbers for a trial");
        // `bytes` must outlive the copy
        m_device.check(m_device.driver().cuStreamSynchronize(m_device.stream()),
                       "numbers for a trial");
    };
    const auto count = [&](NodeId id) { return static_cast<size_t>(graph[id].elements()); };
    for (const InputInfo& input : graph.inputs())
        if (isFloat(graph[input.node].dtype)) // labels and the like stay zero
            upload(input.node, numbers(count(input.node)));
    for (const StateInfo& state : graph.states()) {
        switch (state.role) {
        case StateRole::Parameter: upload(state.node, numbers(count(state.node))); break;
        case StateRole::Moment:
        case StateRole::Gradient: break;
        // rates: a decay of one would divide by zero
        case StateRole::Setting:
            upload(state.node, std::vector<float>(count(state.node), 0.5f));
            break;
        case StateRole::RunningStatistic:
        case StateRole::Scaler:
        case StateRole::Counter:
            upload(state.node, std::vector<float>(count(state.node), 1.0f));
            break;
        }
    }
}

VariantSearch::Values VariantSearch::resultsOf(const StepVersion& version) const {
    const Graph& graph = version.program().graph;
    Values results;
    for (const OutputInfo& output : graph.outputs()) {
        const Node& node = graph[output.node];
        if (!version.isStored(output.node) || node.bytes() == 0) continue;
        std::vector<std::byte> bytes(node.bytes());
        m_device.check(m_device.driver().cuMemcpyDtoHAsync(bytes.data(), version.at(output.node),
                                                           bytes.size(), m_device.stream()),
                       "results of a trial");
        m_device.check(m_device.driver().cuStreamSynchronize(m_device.stream()),
                       "the first run of the step");
        results.emplace_back(static_cast<size_t>(node.elements()));
        loadAsFloat(node.dtype, bytes.data(), results.back().data(), results.back().size());
    }
    return results;
}

/// The first value that is too far from the first variant's, or nothing. The elements of an output
/// are of one size, but for the metrics', which are few.
std::string VariantSearch::difference(const Program& program, const Values& results) const {
    constexpr size_t kFew = 64;
    const double bound = tolerance(program.graph);
    for (size_t at = 0; at < results.size(); ++at) {
        const std::vector<float>&wanted = m_truth[at], &got = results[at];
        double largest = 0x1p-10;
        for (const float value : wanted)
            if (std::isfinite(value) && wanted.size() > kFew)
                largest = std::max(largest, std::fabs(static_cast<double>(value)));
        for (size_t i = 0; i < wanted.size(); ++i) {
            const double want = static_cast<double>(wanted[i]), is = static_cast<double>(got[i]);
            if (!std::isfinite(want) && !std::isfinite(is)) continue;
            if (std::fabs(is - want) <= bound * std::max(largest, std::fabs(want))) continue;
            char text[128];
            std::snprintf(text, sizeof text, "element %zu of output %zu is %.6g instead of %.6g", i,
                          at, is, want);
            return text;
        }
    }
    return {};
}

} // namespace halfscope::cuda
