// Divides samples that are held back as HeldBack divides all samples.
#include "engine/data/test_split.h"

#include "engine/core/error.h"
#include "engine/data/held_back.h"
#include "engine/data/own_files.h"
#include "engine/data/targets.h"

#include <numeric>
#include <utility>

namespace halfscope {
namespace {

/// Returns settings that divide the samples held back: what is held back of them is the test.
TaskConfig settingsOfTest(const TaskConfig& task) {
    TaskConfig of = task;
    of.validation = task.testShare;
    if (validatesOwn(task)) { // they come with the data, in any order
        of.test = of.stratify = false;
        of.validationPath.clear();
        of.xVal.clear();
        of.held = Held::Random;
    }
    if (task.kind == TaskKind::Text) { // samples that begin one character after the other overlap
        of.kind = TaskKind::Csv;
        of.held = Held::Last;
        of.gap = predictsEvery(task) ? 0 : task.context;
    }
    return of;
}

/// Returns how many are left to validate on.
int64_t leftOf(int64_t held, const TaskConfig& task) {
    const TaskConfig of = settingsOfTest(task);
    const int64_t left = held - HeldBack::count(held, of.validation);
    const bool hasGap = infoOf(of.kind).has("data.gap") && of.held == Held::Last;
    if (hasGap && left < held && of.gap >= left)
        throw InputError(phrase("Data", "data.test_share: %1 is not allowed: of %2 samples that "
                                        "are held back, %3 would be left to validate on, which is "
                                        "not more than the %4 that lie between them and the test"),
                         task.testShare, held, left, of.gap);
    return HeldBack::trained(held, of);
}

std::optional<Message> noteOf(int64_t held, const TaskConfig& task) {
    const int64_t kept = HeldBack::count(held, task.testShare);
    if (kept == 0)
        return Message(phrase("Data", "There is no test: of the samples to validate on, %1, the "
                                      "share %2 leaves none for one."),
                       held, task.testShare);
    const int64_t between = held - kept - leftOf(held, task);
    return between == 0
               ? Message(phrase("Data",
                                "Of the %1 samples to judge by, %2 are kept for the test at "
                                "the end; validation does not see them."),
                         held, kept)
               : Message(phrase("Data", "Of the %1 samples to judge by, the last %2 are kept for "
                                        "the test at the end; validation does not see them, and "
                                        "the %3 before them are not used."),
                         held, kept, between);
}

/// A data set with some of its samples to validate on.
class PartHeld final : public Dataset {
public:
    PartHeld(std::shared_ptr<const Dataset> whole, std::vector<int32_t> held)
        : m_whole(std::move(whole)), m_held(std::move(held)) {}

    /// Makes `test` the samples that are judged at the end; `note` tells of them.
    void add(std::unique_ptr<const Dataset> test, std::optional<Message> note) {
        m_test = std::move(test);
        m_note = std::move(note);
    }

    std::span<const TensorSpec> tensors() const override { return m_whole->tensors(); }
    int64_t samples(Split split) const override {
        return split == Split::Train ? m_whole->samples(split)
                                     : static_cast<int64_t>(m_held.size());
    }
    std::vector<Unread> read(Pass pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        if (pass.split == Split::Train) return m_whole->read(pass, samples, out);
        std::vector<int64_t> places;
        for (const int64_t sample : samples)
            places.push_back(placeOf(sample));
        return m_whole->read(pass, places, out);
    }
    int64_t number(Split split, int64_t sample) const override {
        return m_whole->number(split, split == Split::Train ? sample : placeOf(sample));
    }
    bool varies() const override { return m_whole->varies(); }
    bool usesSeed() const override { return m_whole->usesSeed(); }
    std::vector<Message> notes() const override {
        std::vector<Message> notes = m_whole->notes();
        if (m_note) notes.push_back(*m_note);
        return notes;
    }
    std::vector<ChannelScale> channelScales() const override { return m_whole->channelScales(); }
    std::vector<std::string> files() const override { return m_whole->files(); }
    std::string textOf(std::span<const int32_t> x) const override { return m_whole->textOf(x); }
    std::vector<int64_t> classCounts() const override { return m_whole->classCounts(); }
    std::vector<Message> lostClasses(const std::atomic<bool>& stop) const override {
        return m_whole->lostClasses(stop);
    }
    const Standardiser& inputScale() const override { return m_whole->inputScale(); }
    const Standardiser& targetScale() const override { return m_whole->targetScale(); }
    std::vector<std::string> inputNames() const override { return m_whole->inputNames(); }
    bool targetsAreSides() const override { return m_whole->targetsAreSides(); }
    TaskView view() const override { return m_whole->view(); }
    const Dataset* test() const override { return m_test.get(); }

private:
    int64_t placeOf(int64_t sample) const { return m_held[static_cast<size_t>(sample)]; }

    std::shared_ptr<const Dataset> m_whole;
    std::vector<int32_t> m_held; ///< their numbers among all that are held back
    std::unique_ptr<const Dataset> m_test;
    std::optional<Message> m_note;
};

/// Divides the samples to validate on where the data do so: behind the first `left` is the test.
std::unique_ptr<Dataset> withOwnTest(std::unique_ptr<Dataset> whole, int64_t left) {
    std::vector<int32_t> rest(static_cast<size_t>(left));
    std::vector<int32_t> test(static_cast<size_t>(whole->ownTest()));
    std::iota(rest.begin(), rest.end(), 0);
    std::iota(test.begin(), test.end(), static_cast<int32_t>(left));
    const std::shared_ptr<const Dataset> shared = std::move(whole);
    auto judged = std::make_unique<PartHeld>(shared, std::move(rest));
    judged->add(std::make_unique<PartHeld>(shared, std::move(test)), std::nullopt);
    return judged;
}

} // namespace

bool canTest(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    const bool comes = !info.has("data.validation") || validatesOwn(task);
    return canValidate(task) && (comes || task.validation > 0) && !testsOwn(task) &&
           task.predictFile.empty();
}

bool tests(const TaskConfig& task) { return task.testShare > 0 && canTest(task); }

std::unique_ptr<Dataset> withTest(std::unique_ptr<Dataset> whole, const TaskConfig& task) {
    const int64_t held = whole->samples(Split::Validation), own = whole->ownTest();
    if (own > 0) return withOwnTest(std::move(whole), held - own);
    if (!tests(task) || held == 0) return whole;
    leftOf(held, task); // refuses what leaves nothing
    TaskConfig of = settingsOfTest(task);
    const std::vector<int32_t> labels = whole->heldLabels();
    of.stratify &= !labels.empty();
    HeldBack parts(held, of, labels);
    const std::shared_ptr<const Dataset> shared = std::move(whole);
    auto rest = std::make_unique<PartHeld>(shared, std::move(parts.train));
    auto test = parts.validation.empty()
                    ? nullptr
                    : std::make_unique<PartHeld>(shared, std::move(parts.validation));
    rest->add(std::move(test), noteOf(held, task));
    return rest;
}

DataFacts testedFacts(DataFacts facts, const TaskConfig& task) {
    facts.validation -= facts.test; // those that the data keep
    if (!tests(task) || facts.validation == 0) return facts;
    const int64_t held = facts.validation;
    facts.validation = leftOf(held, task);
    facts.test = HeldBack::count(held, task.testShare);
    if (auto note = noteOf(held, task)) facts.notes.push_back(*std::move(note));
    return facts;
}

std::string testPython(const TaskConfig& task) {
    return R"(

def with_test(x, target):
    """Keeps some of the samples to validate on for a test at the end."""
    if not len(x):
        return (x, target), (x, target)
)" + heldBackPython(settingsOfTest(task)) +
           "    return (x[train], target[train]), (x[held], target[held])\n";
}

} // namespace halfscope
