// Reads the samples to validate on, or those of the test, once more, and keeps what was found by
// the settings that decide which ones these are.
#include "engine/data/held_fault.h"

#include "engine/core/text.h"
#include "engine/data/array_notes.h"
#include "engine/data/known_facts.h"
#include "engine/data/own_files.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halfscope {
namespace {

/// Returns how many samples to read at a time, so that large ones do not take much memory.
int64_t samplesToRead(std::span<const TensorSpec> specs) {
    constexpr int64_t kMost = 256, kBytes = int64_t{16} << 20;
    int64_t each = 1; // bytes; never 0
    for (const TensorSpec& spec : specs)
        each += spec.shape.elements() * static_cast<int64_t>(bytesOf(spec.dtype));
    return std::clamp<int64_t>(kBytes / each, 1, kMost);
}

/// A sample that holds inf or nan.
struct Fault {
    size_t tensor = kX;
    int64_t number = 0; ///< see Dataset::number()
};

/// Returns the first one; nothing where there is none, or when `stop` came in between.
std::optional<Fault> faultIn(const Dataset& data, const std::atomic<bool>& stop) {
    const int64_t each = samplesToRead(data.tensors());
    const int64_t all = data.samples(Split::Validation);
    for (int64_t first = 0; first < all && !stop; first += each) {
        std::vector<int64_t> wanted(static_cast<size_t>(std::min(each, all - first)));
        std::iota(wanted.begin(), wanted.end(), first);
        Batch batch = Batch::of(data.tensors(), static_cast<int64_t>(wanted.size()));
        data.read(Split::Validation, wanted, batch);
        for (size_t row = 0; row < wanted.size(); ++row)
            for (const size_t tensor : {kX, kTarget}) {
                if (batch.tensors[tensor].dtype != DType::F32) continue;
                const std::span<const float> floats = std::as_const(batch).floats(tensor);
                const size_t values = floats.size() / wanted.size();
                if (std::ranges::all_of(floats.subspan(row * values, values),
                                        [](float value) { return std::isfinite(value); }))
                    continue;
                return Fault{tensor, data.number(Split::Validation, wanted[row])};
            }
    }
    return std::nullopt;
}

Message heldSentence(const Fault& fault) {
    return {fault.tensor == kX ? phrase("Data", "The validation data hold inf or nan: the input of "
                                                "sample %1 (counted from 0).")
                               : phrase("Data", "The validation data hold inf or nan: the target "
                                                "of sample %1 (counted from 0)."),
            fault.number};
}

Message testSentence(const Fault& fault, const TaskConfig& task) {
    const std::string& file = fault.tensor == kX || task.yTest.empty() ? task.xTest : task.yTest;
    if (testsOwn(task) && !file.empty())
        return {fault.tensor == kX
                    ? phrase("Data", "The test data hold inf or nan: the input of sample %1 "
                                     "(counted from 0) in %2.")
                    : phrase("Data", "The test data hold inf or nan: the target of sample %1 "
                                     "(counted from 0) in %2."),
                fault.number, pathText(file)};
    return {fault.tensor == kX ? phrase("Data", "The test data hold inf or nan: the input of "
                                                "sample %1 (counted from 0).")
                               : phrase("Data", "The test data hold inf or nan: the target of "
                                                "sample %1 (counted from 0)."),
            fault.number};
}

bool notesFaults(const Dataset& data) {
    const std::vector<Message> notes = data.notes();
    return std::ranges::any_of(
        notes, [](const Message& note) { return note.format() == kNotFiniteValues; });
}

/// Equal for two settings that validate on the same samples.
using HeldKey = std::pair<FactsKey, std::pair<std::string, bool>>;
HeldKey heldKeyOf(const TaskConfig& task) {
    return {factsKeyOf(task), {numberText(task.testShare), task.stratify}};
}

/// Knows the sentences. Any thread may call its functions.
class HeldFaults {
public:
    Message find(const HeldKey& key) const {
        const std::lock_guard lock(m_mutex);
        const auto found = m_sentences.find(key);
        return found == m_sentences.end() ? Message() : found->second;
    }
    void set(const HeldKey& key, const Message& sentence) {
        const std::lock_guard lock(m_mutex);
        if (sentence.empty())
            m_sentences.erase(key);
        else
            m_sentences.insert_or_assign(key, sentence);
    }

private:
    mutable std::mutex m_mutex;
    std::map<HeldKey, Message> m_sentences; ///< few: one for each faulty data set that was used
};

HeldFaults& heldFaults() {
    static HeldFaults faults;
    return faults;
}
HeldFaults& testFaults() {
    static HeldFaults faults;
    return faults;
}

/// Looks only where notes tell of inf and nan. Returns nothing when there is no memory: nobody
/// knows, but the training has what it needs.
std::optional<Fault> notedFault(const TaskConfig& task, const Dataset& data,
                                const std::atomic<bool>& stop) {
    try { // samples to predict are not judged
        if (task.predictFile.empty() && notesFaults(data)) return faultIn(data, stop);
    } catch (const std::bad_alloc&) {
    }
    return std::nullopt;
}

} // namespace

bool findHeldFault(const TaskConfig& task, const Dataset& data, const std::atomic<bool>& stop) {
    const std::optional<Fault> fault = notedFault(task, data, stop);
    if (stop) return false;
    setHeldFault(task, fault ? heldSentence(*fault) : Message());
    return true;
}

void setHeldFault(const TaskConfig& task, const Message& sentence) {
    heldFaults().set(heldKeyOf(task), sentence);
}

Message knownHeldFault(const TaskConfig& task) {
    const Message sentence = heldFaults().find(heldKeyOf(task));
    if (sentence.empty()) return {};
    return {phrase("Data", "%1 Such values can make the validation loss inf or nan, whatever the "
                           "precision: correct them, or leave the samples out."),
            sentence};
}

bool findTestFault(const TaskConfig& task, const Dataset& test, const std::atomic<bool>& stop) {
    const std::optional<Fault> fault = notedFault(task, test, stop);
    if (stop) return false;
    testFaults().set(heldKeyOf(task), fault ? testSentence(*fault, task) : Message());
    return true;
}

Message knownTestFault(const TaskConfig& task) { return testFaults().find(heldKeyOf(task)); }

} // namespace halfscope
