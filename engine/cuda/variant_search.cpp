// Tries variants: one step from numbers that give every kernel something to do, its results
// compared with those of the first variant, then some launches of its graph timed by the device's
// clock.
#include "engine/cuda/variant_search.h"

#include "engine/core/error.h"
#include "engine/cuda/debug_folder.h"

#include <algorithm>
#include <chrono>

namespace halfscope::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTrialSeconds = 0.03; ///< for the launches of one variant
/// For the first variant's launches before they count: an idle device has a lower clock than a busy
/// one, which would favour whatever comes later.
constexpr double kWarmSeconds = 0.1;
constexpr double kTooLong = 1; ///< seconds of a step that is run no more often than needed
/// What a variant must gain on the ones before it: ways that are equally fast must not take turns,
/// because their sums have other orders, and so other bits.
constexpr double kLeastGain = 0.97;
constexpr int kMostLaunches = 100, kLeastLaunches = 3, kMostWarmLaunches = 2000;

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

bool sameWork(const WrittenStep& a, const WrittenStep& b) {
    const auto &x = a.source.launches, &y = b.source.launches;
    return a.source.text == b.source.text &&
           std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Launch& p, const Launch& q) {
               return p.kind == q.kind && p.node == q.node;
           });
}

} // namespace

VariantSearch::VariantSearch(Device& device, const FileCache& cache, const StepWriter& writer,
                             WriteVariant write, const MetricsRing* ring,
                             std::function<bool()> isStopped)
    : m_device(device), m_cache(cache), m_writer(writer), m_write(std::move(write)), m_ring(ring),
      m_isStopped(std::move(isStopped)), m_records(device, cache) {}

std::unique_ptr<StepVersion> VariantSearch::make(WrittenVariant variant,
                                                 const std::vector<std::string>& code) const {
    if (debugging())
        for (const std::string& part : variant.written.parts())
            noteForDebugging("ways.txt", debugNameOf(part) + "  " + variant.variant.name);
    return std::make_unique<StepVersion>(m_device, m_cache, m_writer, std::move(variant.written),
                                         code, m_ring);
}

/// Returns each different way once.
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
    m_times.clear();
    if (different.size() == 1) {
        const std::vector<std::string> code =
            compileParts(m_device, m_cache, different[0].written.parts());
        return make(std::move(different[0]), code);
    }
    readRecords(different);
    std::unique_ptr<StepVersion> version = kept(different);
    if (!version) {
        m_records.restart();
        tryAll(std::move(different));
        m_times = m_records.times();
        m_cut || m_short ? m_records.giveUp() : m_records.finish();
        return std::move(m_best);
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
    m_records.read(key + "\n" + variants.front().written.text(), names);
}

/// Returns the choice of an earlier search, if there is one and it works.
std::unique_ptr<StepVersion>
VariantSearch::kept(const std::vector<WrittenVariant>& variants) const {
    const size_t chosen = m_records.chosen();
    if (chosen >= variants.size()) return nullptr;
    const auto load = [&](WrittenVariant variant) {
        const std::vector<std::string> code =
            compileParts(m_device, m_cache, variant.written.parts());
        return make(std::move(variant), code);
    };
    try {
        try {
            return load(variants[chosen]);
        } catch (const NodesRefused& reason) {
            return load(without(reason, variants[chosen].variant));
        }
    } catch (const EngineError&) { // also when there is less memory than there was
        m_device.activate();       // throws when the device is lost
        return nullptr;
    }
}

/// Returns the variant with the program's own kernels for the nodes that the libraries refuse.
WrittenVariant VariantSearch::without(const NodesRefused& reason, Variant variant) const {
    noteForDebugging("no_algorithm.txt", reason.what());
    variant.options.refused.insert(reason.nodes().begin(), reason.nodes().end());
    WrittenStep written = m_write(variant.options);
    return {std::move(variant), std::move(written)};
}

/// Tries a variant and, when the libraries refuse nodes of it, once more without these. What they
/// refuse of the first variant is the caller's to know, because it concerns all of them.
void VariantSearch::tryOne(size_t i, WrittenVariant variant, const std::vector<std::string>& code) {
    const Variant how = variant.variant;
    try {
        trial(std::move(variant), code, m_records[i]);
    } catch (const NodesRefused& reason) {
        if (i == 0) throw;
        WrittenVariant rest = without(reason, how);
        const std::vector<std::string> restCode =
            compileParts(m_device, m_cache, rest.written.parts());
        trial(std::move(rest), restCode, m_records[i]);
    }
}

void VariantSearch::tryAll(std::vector<WrittenVariant> variants) {
    const auto bytes = [](const WrittenVariant& variant) {
        return variant.written.source.program.memory.arenaBytes;
    };
    const size_t least = bytes(*std::min_element(
        variants.begin(), variants.end(),
        [&](const WrittenVariant& a, const WrittenVariant& b) { return bytes(a) < bytes(b); }));
    const bool isLeast = bytes(variants.front()) == least;
    // throws for what is too large before all of it is compiled
    (void)m_device.allocate(least, phrase("Devices", "arena"));
    std::vector<std::vector<std::string>> texts;
    std::vector<bool> lastResort;
    for (const WrittenVariant& variant : variants) {
        lastResort.push_back(variant.variant.lastResort);
        texts.push_back(variant.written.parts());
    }
    auto start = Clock::now();
    const double most = debugging() ? 1e9 : variants.front().variant.options.searchSeconds;
    const auto enough = [&]() -> Message {
        if (stopped()) return phrase("Devices", "the search was stopped");
        if (secondsSince(start) <= most) return {};
        return phrase("Devices", "the search has taken long enough");
    };
    const std::vector<Compiled> compiled =
        compileTexts(m_device, m_cache, texts, [&](size_t text) -> Message {
            if (!lastResort[text]) return enough();
            return phrase("Devices", "only where no other way works");
        });
    std::exception_ptr first; // why the first one cannot be used
    start = Clock::now();
    const auto attempt = [&](size_t i, const Compiled& code) {
        try {
            if (!code.error.empty()) throw EngineError(code.error);
            if (const Message why = enough(); m_best && !why.empty())
                throw EngineError(phrase("Devices", "not tried: %1"), why);
            tryOne(i, std::move(variants[i]), code.parts);
        } catch (const EngineError& error) {
            if (i == 0) first = std::current_exception();
            leaveOut(m_records[i], error);
            const bool noRoom = dynamic_cast<const OutOfMemory*>(&error) != nullptr;
            const bool impossible =
                dynamic_cast<const NoAlgorithm*>(&error) != nullptr || (noRoom && isLeast);
            if (i == 0 && impossible) throw;
            m_short = m_short || (i == 0 && noRoom);
        }
    };
    for (size_t i = 0; i < variants.size(); ++i)
        attempt(i, compiled[i]);
    // When none of those works that there was time for, there is time for the others.
    for (size_t i = 1; i < variants.size() && !m_best; ++i)
        if (compiled[i].isLeftOut) {
            m_records[i].time.note.clear();
            attempt(i, compileTexts(m_device, m_cache, {texts[i]}, [](size_t) {
                           return Message();
                       }).front());
        }
    if (!m_best && m_records.allEndedBadly()) throw EngineError(noneWorks());
    if (!m_best) std::rethrow_exception(first);
}

/// Notes why a variant is left out. A lost device ends the search, and the next start leaves the
/// variant out.
void VariantSearch::leaveOut(VariantRecord& record, const EngineError& error) const {
    record.time.note = error.what();
    if (m_device.isLost())
        throw EngineError(
            phrase("Devices",
                   "%1 The next start leaves out the way to run the step that was tried (%2)."),
            record.time.note, record.time.name);
    m_device.activate();
}

Message VariantSearch::noneWorks() const {
    const std::string list = m_records.file();
    if (list.empty())
        return {phrase("Devices",
                       "%1 (%2): each way to run this step ended the program or the device when it "
                       "was tried. A new run on the device cpu goes on without the GPU."),
                m_device.id(), m_device.info().name};
    return {phrase("Devices", "%1 (%2): each way to run this step ended the program or the device "
                              "when it was tried; to have them tried again, remove %3. A new run "
                              "on the device cpu goes on without the GPU."),
            m_device.id(), m_device.info().name, list};
}

bool VariantSearch::stopped() {
    if (m_isStopped()) m_cut = true;
    return m_cut;
}

/// Runs what the program or the device may not survive, and keeps a note of it on disk meanwhile.
template <class Attempt>
void VariantSearch::survive(VariantRecord& record, const Attempt& attempt) {
    if (record.endedBadly())
        throw EngineError(phrase("Devices", "not tried: the program ended in earlier trials"));
    ++record.unfinished;
    m_records.write(); // a program that ends now leaves this record
    try {
        attempt();
    } catch (...) {
        // what was enqueued uses the memory that is released now; a lost device answers at once
        (void)m_device.driver().cuStreamSynchronize(m_device.stream());
        record.unfinished =
            m_device.isLost() ? VariantRecord::kMostUnfinished : record.unfinished - 1;
        m_records.write();
        throw;
    }
    --record.unfinished;
}

void VariantSearch::trial(WrittenVariant variant, const std::vector<std::string>& code,
                          VariantRecord& record) {
    std::unique_ptr<StepVersion> version;
    survive(record, [&] {
        version = make(std::move(variant), code);
        fillForTrial(m_device, *version);
        version->enqueueAll(m_device.stream());
        std::vector<StepResult> results = resultsOfTrial(m_device, *version);
        if (m_truth.empty())
            m_truth = std::move(results);
        else if (const std::string wrong =
                     stepDistance(version->program().graph, m_truth, results).fault;
                 !wrong.empty())
            throw EngineError(phrase("Devices", "other results than the first way: %1"), wrong);
        record.time.seconds = secondsOf(*version);
    });
    if (m_best && record.time.seconds >= kLeastGain * m_bestSeconds) return;
    m_records.choose(record);
    m_best = std::move(version);
    m_bestSeconds = record.time.seconds;
}

// ---- times -------------------------------------------------------------------------------------

template <class Enqueue>
double VariantSearch::timed(const Enqueue& enqueue) const {
    const EventHandle begin = m_device.makeEvent(0), end = m_device.makeEvent(0);
    const DriverApi& driver = m_device.driver();
    m_device.check(driver.cuEventRecord(begin.get(), m_device.stream()),
                   phrase("Devices", "start of a trial"));
    enqueue();
    m_device.check(driver.cuEventRecord(end.get(), m_device.stream()),
                   phrase("Devices", "end of a trial"));
    return static_cast<double>(m_device.millisecondsBetween(begin, end)) * 1e-3;
}

/// Returns the seconds of a step, whose graph is captured if that is worth it.
double VariantSearch::secondsOf(StepVersion& version) {
    const double once = timed([&] { version.enqueueAll(m_device.stream()); });
    if (once > kTooLong || debugging()) return once;
    version.capture();
    double warm = m_best ? kWarmSeconds : 0;
    for (int i = 0; i < kMostWarmLaunches && warm < kWarmSeconds && !stopped(); ++i)
        warm += timed([&] { version.enqueueGraph(m_device.stream()); });
    return secondsOfGraph(version);
}

/// Returns the seconds of the fastest of some launches.
double VariantSearch::secondsOfGraph(const StepVersion& version) {
    double best = 0, spent = 0;
    for (int i = 0; i < kLeastLaunches || (i < kMostLaunches && spent < kTrialSeconds); ++i) {
        if (i > 0 && stopped()) break;
        const double time = timed([&] { version.enqueueGraph(m_device.stream()); });
        best = i == 0 ? time : std::min(best, time);
        spent += time;
    }
    return best;
}

} // namespace halfscope::cuda
