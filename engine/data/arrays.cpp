// Reads two arrays from .npy, .npz or .safetensors files: the inputs x and the targets y. Each row
// is one sample.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/array_notes.h"
#include "engine/data/array_parts.h"
#include "engine/data/array_places.h"
#include "engine/data/array_python.h"
#include "engine/data/class_sides.h"
#include "engine/data/input_scale.h"
#include "engine/data/losses.h"
#include "engine/data/own_files.h"
#include "engine/data/stored_data.h"
#include "engine/data/target_scale.h"
#include "engine/data/targets.h"
#include "engine/data/window_overlap.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace halfscope {

namespace {

constexpr int64_t kMostClasses = 100'000;

void checkBoth(const TaskConfig& task, const ArrayInfo& x, const ArrayInfo& y) {
    sampleShape(placeOfX(task), x);
    sampleShape(placeOfY(task), y);
    checkSampleCount(placeOfX(task).shown(), x.shape[0]);
    if (x.shape[0] != y.shape[0])
        throw InputError(phrase("Data", "%1: %2 samples do not fit the %3 of data.x"),
                         placeOfY(task).shown(), y.shape[0], x.shape[0]);
}

/// Returns the class numbers, which may be stored as floats; the highest one plus one is the number
/// of classes.
std::vector<int32_t> labelsOf(const ArrayPlace& place, const Array& y) {
    if (y.info.elements() != y.info.shape[0])
        throw InputError(phrase("Data", "%1: %2 of the shape %3 are not classes: one whole number "
                                        "for each sample is allowed, not one for each pixel or "
                                        "position; as numbers, with a loss such as mse, they are"),
                         place.shown(), nameOf(y.info.type), y.info.shapeText());
    std::vector<int32_t> labels;
    labels.reserve(static_cast<size_t>(y.info.shape[0]));
    for (int64_t i = 0; i < y.info.shape[0]; ++i) {
        const double label = y.at(i);
        if (!std::isfinite(label))
            throw InputError(phrase("Data", "%1: sample %2 has the label %3, but classes are whole "
                                            "numbers from 0; save the arrays without such samples"),
                             place.shown(), i, label);
        if (label != std::trunc(label))
            throw InputError(phrase("Data", "%1: sample %2 has the label %3, but classes are whole "
                                            "numbers from 0: y.astype('int64') makes them whole; "
                                            "numbers to predict need a loss such as mse"),
                             place.shown(), i, label);
        if (label < 0 || label >= double{kMostClasses})
            throw InputError(phrase("Data", "%1: sample %2 has the label %3: 0 to %4 are allowed"),
                             place.shown(), i, label, kMostClasses - 1);
        labels.push_back(static_cast<int32_t>(label));
    }
    return labels;
}

TensorSpec inputSpec(const TaskConfig& task, const ArrayInfo& x) {
    TensorSpec spec{"x", sampleShape(placeOfX(task), x)};
    if (!holdsIndices(task, x)) return spec;
    if (task.standardiseX)
        throw InputError(phrase("Data", "data.standardise_x: true is not allowed where x holds "
                                        "indices: false"));
    spec.dtype = DType::I32;
    spec.classes = task.indices;
    spec.apart = true;
    return spec;
}

/// Throws InputError for targets that a loss for shares does not take. Returns whether targets are
/// sides, see Dataset::targetsAreSides().
bool checkShares(const TaskConfig& task, const ArrayPlace& place, const Array& y) {
    const LossInfo& loss = infoOf(task.loss.kind);
    if (!loss.ofShares) return false;
    const int64_t each = y.info.elements() / y.info.shape[0];
    bool sides = each == 1;
    for (int64_t i = 0; i < y.info.elements(); ++i) {
        const double target = y.at(i);
        if (target < 0 || target > 1)
            throw InputError(phrase("Data", "%1: sample %2 has the target %3: 0 to 1 are allowed, "
                                            "as the loss %4 takes"),
                             place.shown(), i / each, target, loss.name);
        sides = sides && (target == 0 || target == 1);
    }
    return sides;
}

/// Throws InputError for an index that the network does not know.
void checkIndices(const TaskConfig& task, const ArrayPlace& place, const Array& x) {
    if (!holdsIndices(task, x.info))
        throw InputError(phrase("Data", "%1: %2 are not indices, as those of data.x are: whole "
                                        "numbers from 0 to %3 are allowed"),
                         place.shown(), nameOf(x.info.type), task.indices - 1);
    const int64_t samples = x.info.shape[0], each = x.info.elements() / samples;
    for (int64_t sample = 0; sample < samples; ++sample) {
        checkCancelled();
        for (int64_t i = sample * each; i < (sample + 1) * each; ++i) {
            const double index = x.at(i);
            if (index >= 0 && index < static_cast<double>(task.indices)) continue;
            throw InputError(phrase("Data", "%1: sample %2 has the index %3: 0 to %4 are allowed, "
                                            "because the network has num_embeddings=%5"),
                             place.shown(), sample, index, task.indices - 1, task.indices);
        }
    }
}

TensorSpec targetSpec(const TaskConfig& task, const ArrayInfo& y,
                      const std::vector<int32_t>& labels) {
    if (labels.empty()) return {"target", sampleShape(placeOfY(task), y)};
    const int64_t classes = *std::max_element(labels.begin(), labels.end()) + int64_t{1};
    return {"target", {}, DType::I32, classes, true};
}

/// Throws InputError when the samples to predict do not have the shape of those in data.x.
void checkPredicted(const TaskConfig& task, const ArrayInfo& x, const ArrayInfo& info) {
    const ArrayPlace place = placeOfPredicted(task);
    if (std::equal(info.shape.begin(), info.shape.end(), x.shape.begin() + 1, x.shape.end()))
        throw InputError(phrase("Data",
                                "%1: the shape %2 is that of one sample; the first axis must "
                                "count samples, as in data.x, %3: numpy.expand_dims(x, 0)"),
                         place.shown(), info.shapeText(), x.shapeText());
    if (sampleShape(place, info) != sampleShape(placeOfX(task), x))
        throw InputError(phrase("Data", "%1: the shape %2 does not fit the samples of data.x, %3"),
                         place.shown(), info.shapeText(), x.shapeText());
    checkSampleCount(place.shown(), x.shape[0] + info.shape[0]);
}
ArrayInfo predictedInfo(const TaskConfig& task, const ArrayInfo& x) {
    ArrayInfo info = infoAt(placeOfPredicted(task));
    checkPredicted(task, x, info);
    return info;
}

/// Returns the number; inf with its sign where float32 does not reach, as it is without a scale.
double withinFloat(double number) {
    return std::abs(number) >= kFloatEnds ? std::copysign(INFINITY, number) : number;
}

Standardiser scaleOf(const Array& array, const Shape& sample, std::span<const int32_t> train) {
    return Standardiser::of(sample, train, [&array](int32_t stored, std::span<double> values) {
        array.toDoubles(int64_t{stored} * static_cast<int64_t>(values.size()), values);
        std::ranges::transform(values, values.begin(), withinFloat);
    });
}

/// Whether float32 holds all numbers of the type.
bool fitsFloat(ElementType type) { return bytesOf(type) < 4 || type == ElementType::F32; }

/// Returns the arrays to validate on, where the settings ask for them. Throws InputError when they
/// are missing or do not fit the others.
std::optional<TestPart> testOf(const TaskConfig& task, const ArrayInfo& x, const ArrayInfo& y) {
    if (!validatesTestArrays(task)) return std::nullopt;
    std::optional<TestPart> test = testPartOf(task);
    if (!test)
        throw InputError(phrase("Data", "data.test: true needs arrays x_test and y_test beside "
                                        "those to train on; %1 lacks them"),
                         pathText(task.x));
    const auto check = [](const ArrayPlace& place, const ArrayInfo& all, const ArrayInfo& part) {
        const bool samples = !part.shape.empty() && part.elements() > 0;
        if (!samples || sampleShape(place, all) != sampleShape(place, part))
            throw InputError(phrase("Data", "%1: the shape %2 of %3 does not fit the samples to "
                                            "train on, %4"),
                             place.shown(), part.shapeText(), part.name, all.shapeText());
    };
    check(placeOfX(task), x, test->x);
    check(placeOfY(task), y, test->y);
    if (test->x.shape[0] != test->y.shape[0])
        throw InputError(phrase("Data", "%1: %2 has %3 samples and %4 has %5"),
                         placeOfY(task).shown(), test->x.name, test->x.shape[0], test->y.name,
                         test->y.shape[0]);
    checkSampleCount(placeOfX(task).shown(), x.shape[0] + test->x.shape[0]);
    return test;
}

/// Throws InputError when the file has changed since its header was read.
void checkSame(const ArrayPlace& place, const Array& values, const ArrayInfo& info) {
    if (values.info.shape != info.shape)
        throw InputError(phrase("Data", "%1: the file changed while it was read"), place.shown());
}

/// Returns the class numbers of all samples, those of the test part last; empty where targets are
/// numbers.
std::vector<int32_t> labelsOf(const TaskConfig& task, const Array& y,
                              const std::optional<TestPart>& test) {
    if (!wantsClasses(task)) return {};
    const ArrayPlace place = placeOfY(task);
    std::vector<int32_t> labels = labelsOf(place, y);
    if (!test) return labels;
    const Array targets = readAt(place, test->y);
    checkSame(place, targets, test->y);
    const std::vector<int32_t> more = labelsOf(place, targets);
    labels.insert(labels.end(), more.begin(), more.end());
    return labels;
}

/// Returns the class numbers of samples that are not trained on, which must be among the `classes`.
std::vector<int32_t> labelsOf(const ArrayPlace& place, const Array& y, int64_t classes) {
    std::vector<int32_t> labels = labelsOf(place, y);
    const auto other = std::ranges::find_if(labels, [=](int32_t each) { return each >= classes; });
    if (other != labels.end())
        throw InputError(phrase("Data", "%1: sample %2 has the label %3, which is not among those "
                                        "to train on: 0 to %4 are allowed"),
                         place.shown(), other - labels.begin(), *other, classes - 1);
    return labels;
}

/// Splits the samples to train on; none of them are held back where others are validated on.
HeldBack splitOf(const TaskConfig& task, const ArrayInfo& x, std::span<const int32_t> labels = {}) {
    return validatesOwn(task) ? HeldBack(x.shape[0], 0) : HeldBack(x.shape[0], task, labels);
}

DataFacts arrayFacts(const TaskConfig& task) {
    const ArrayInfo x = infoAt(placeOfX(task)), y = infoAt(placeOfY(task));
    checkBoth(task, x, y);
    const std::optional<TestPart> test = testOf(task, x, y);
    std::vector<int32_t> labels;
    if (wantsClasses(task)) labels = labelsOf(task, readAt(placeOfY(task), y), test);
    const bool shares = infoOf(task.loss.kind).ofShares;
    bool sides = shares && checkShares(task, placeOfY(task), readAt(placeOfY(task), y));
    if (shares && test) sides &= checkShares(task, placeOfY(task), readAt(placeOfY(task), test->y));
    DataFacts facts{{inputSpec(task, x), targetSpec(task, y, labels)},
                    validatesOwn(task) ? x.shape[0] : HeldBack::trained(x.shape[0], task)};
    if (!task.predictFile.empty()) {
        facts.validation = predictedInfo(task, x).shape[0];
    } else {
        facts.validation = test                 ? test->x.shape[0]
                           : validatesOwn(task) ? 0
                                                : HeldBack::count(x.shape[0], task.validation);
        for (const ArrayPart& part : ownPartsOf(task, x, y)) {
            if (wantsClasses(task))
                labelsOf(part.yPlace, readAt(part.yPlace, part.y), facts.tensors[kTarget].classes);
            if (shares) sides &= checkShares(task, part.yPlace, readAt(part.yPlace, part.y));
            facts.validation += part.x.shape[0];
            if (part.of == OwnPart::Test) facts.test = part.x.shape[0];
        }
    }
    facts.sides = sides;
    if (!standardisesTarget(task)) return facts;
    const Array values = readAt(placeOfY(task), y);
    checkSame(placeOfY(task), values, y);
    facts.targetScale = scaleOf(values, facts.tensors[kTarget].shape, splitOf(task, x).train);
    return facts;
}

/// Holds the values as they were in the files; samples are standardised when they are read.
class ArrayData final : public StoredData {
public:
    explicit ArrayData(const TaskConfig& task) {
        const ArrayInfo x = infoAt(placeOfX(task)), y = infoAt(placeOfY(task));
        checkBoth(task, x, y);
        m_x = readAt(placeOfX(task), x);
        m_y = readAt(placeOfY(task), y);
        checkBoth(task, m_x.info, m_y.info); // a file may have changed since
        const std::optional<TestPart> test = testOf(task, m_x.info, m_y.info);
        m_labels = labelsOf(task, m_y, test);
        m_sides = checkShares(task, placeOfY(task), m_y);
        m_tensors = {inputSpec(task, m_x.info), targetSpec(task, m_y.info, m_labels)};
        m_splits = splitOf(task, m_x.info, m_labels);
        if (areIndices())
            checkIndices(task, placeOfX(task), m_x);
        else
            noteInputs(task);
        if (m_labels.empty()) noteNotFinite(extremesOf(m_y), "y");
        if (takesAnyNumbers(infoOf(task.loss.kind))) {
            if (auto note = otherClassesNote(m_y)) m_notes.push_back(*std::move(note));
            scaleTarget(task);
        }
        noteTest(task, test);
        if (task.predictFile.empty())
            std::ranges::move(unpairedNotes(task), std::back_inserter(m_notes));
        if (!validatesOwn(task)) noteHeldBack(task);
        if (!task.predictFile.empty())
            addPredicted(task);
        else if (test)
            addTest(task, *test);
        else
            for (const ArrayPart& part : ownPartsOf(task, m_x.info, m_y.info))
                addOwn(task, part);
        if (task.predictFile.empty()) noteSides(task); // else others are judged
        setView();                                     // now that all targets were seen
    }

    bool usesSeed() const override { return false; }
    std::vector<Message> notes() const override { return m_notes; }
    int64_t ownTest() const override { return m_tested; }

    /// Returns the indices as numbers: which words they stand for is not in the file.
    std::string textOf(std::span<const int32_t> x) const override {
        std::string text;
        for (const int32_t index : x)
            text += (text.empty() ? "" : " ") + std::to_string(index);
        return text;
    }

private:
    bool areIndices() const { return m_tensors[kX].dtype == DType::I32; }
    /// Looks at inputs that are numbers, and standardises them if the settings say so.
    void noteInputs(const TaskConfig& task) {
        const Extremes inputs = extremesOf(m_x);
        noteNotFinite(inputs, "x");
        if (task.standardiseX) m_inputScale = scaleOf(m_x, m_tensors[kX].shape, m_splits.train);
        if (auto note = beyondHalfNote("x", inputs.largest, task))
            m_notes.push_back(*std::move(note));
        if (!task.standardiseX && !fitsFloat(m_x.info.type)) noteRounded();
        if (!task.standardiseX)
            if (auto note = bytesNote(m_x)) m_notes.push_back(*std::move(note));
        noteChannels();
        noteTokens();
    }
    /// Appends the samples of task.predictFile, whose targets are unknown.
    void addPredicted(const TaskConfig& task) {
        Array x = readAt(placeOfPredicted(task), predictedInfo(task, m_x.info));
        checkPredicted(task, m_x.info, x.info); // the file may have changed since
        if (areIndices())
            checkIndices(task, placeOfPredicted(task), x);
        else
            notePredicted(task, extremesOf(x));
        append(std::move(x), {});
        judgeFrom(m_x.info.shape[0]);
    }
    void addTest(const TaskConfig& task, const TestPart& test) {
        addKnown(task, placeOfX(task), test.x, placeOfY(task), test.y);
        judgeFrom(m_x.info.shape[0]);
    }
    /// Appends samples that have arrays of their own.
    void addOwn(const TaskConfig& task, const ArrayPart& part) {
        addKnown(task, part.xPlace, part.x, part.yPlace, part.y);
        const Array& y = m_more.back().y;
        if (!m_labels.empty())
            std::ranges::copy(labelsOf(part.yPlace, y, m_tensors[kTarget].classes),
                              std::back_inserter(m_labels));
        const int64_t samples = part.x.shape[0];
        const bool tested = part.of == OwnPart::Test;
        if (tested) m_tested = samples;
        const std::string file = pathText(part.xPlace.path);
        const Message place = part.x.name.empty()
                                  ? Message::data(file)
                                  : Message(phrase("Data", "%1 in %2"), part.x.name, file);
        m_notes.push_back(tested ? ownTestNote(samples, place) : ownValidationNote(samples, place));
    }
    /// Appends samples whose targets are known.
    void addKnown(const TaskConfig& task, const ArrayPlace& xPlace, const ArrayInfo& xInfo,
                  const ArrayPlace& yPlace, const ArrayInfo& yInfo) {
        Array x = readAt(xPlace, xInfo), y = readAt(yPlace, yInfo);
        checkSame(xPlace, x, xInfo);
        checkSame(yPlace, y, yInfo);
        m_sides &= checkShares(task, yPlace, y);
        const auto nameOf = [](const ArrayPlace& place, const ArrayInfo& info) {
            return info.name.empty() ? pathText(place.path) : info.name; // of an .npy file
        };
        if (areIndices())
            checkIndices(task, xPlace, x);
        else
            noteNotFinite(extremesOf(x), nameOf(xPlace, xInfo));
        if (m_labels.empty()) noteNotFinite(extremesOf(y), nameOf(yPlace, yInfo));
        append(std::move(x), std::move(y));
    }
    /// Numbers samples behind all others; they are judged.
    void append(Array x, Array y) {
        if (m_numbers.empty()) {
            m_numbers.resize(static_cast<size_t>(m_x.info.shape[0]));
            std::iota(m_numbers.begin(), m_numbers.end(), int64_t{0});
        }
        const auto first = static_cast<int64_t>(m_numbers.size());
        for (int64_t i = 0; i < x.info.shape[0]; ++i) {
            m_numbers.push_back(i);
            m_splits.validation.push_back(static_cast<int32_t>(first + i));
        }
        m_more.push_back({std::move(x), std::move(y), first});
    }

    /// Samples that are not trained on; without targets where these are to be predicted.
    struct Block {
        Array x, y;
        int64_t first = 0; ///< the number of the first one among all that are stored
    };
    /// Returns null for a sample of those to train on.
    const Block* blockOf(int64_t stored) const {
        const Block* found = nullptr;
        for (const Block& block : m_more)
            if (stored >= block.first) found = &block;
        return found;
    }

    void readStored(int32_t stored, int64_t, const SamplePlace& place) const override {
        const Block* const more = blockOf(stored);
        const int64_t at = more ? stored - more->first : stored;
        const bool known = !more || !more->y.bytes.empty();
        readInputs(more ? more->x : m_x, at, place);
        if (!m_labels.empty()) {
            place.label() = known ? m_labels[static_cast<size_t>(stored)] : 0;
        } else if (known) {
            copy(more ? more->y : m_y, at, m_targetScale, place.floats(kTarget));
        } else {
            std::ranges::fill(place.floats(kTarget), 0.0f); // any value will do
        }
    }
    void readInputs(const Array& from, int64_t at, const SamplePlace& place) const {
        if (!areIndices()) {
            copy(from, at, m_inputScale, place.floats(kX));
            return;
        }
        const auto each = static_cast<size_t>(m_tensors[kX].shape.elements());
        int64_t element = at * static_cast<int64_t>(each);
        for (int32_t& to : place.rows.labels(kX).subspan(place.row * each, each))
            to = static_cast<int32_t>(from.at(element++));
    }
    /// Standardises the values before they are rounded to float32.
    static void copy(const Array& from, int64_t stored, const Standardiser& scale,
                     std::span<float> to) {
        const int64_t first = stored * static_cast<int64_t>(to.size());
        if (!scale.active()) {
            from.toFloats(first, to);
            return;
        }
        std::vector<double> values(to.size());
        from.toDoubles(first, values);
        for (size_t i = 0; i < to.size(); ++i)
            to[i] = static_cast<float>(scale.standardised(i, withinFloat(values[i])));
    }
    void scaleTarget(const TaskConfig& task) {
        const Standardiser scale = scaleOf(m_y, m_tensors[kTarget].shape, m_splits.train);
        if (auto note = targetScaleNote(scale, task)) m_notes.push_back(*std::move(note));
        if (standardisesTarget(task)) m_targetScale = scale;
    }
    /// Notes values that no training survives, with the first sample that has one.
    void noteNotFinite(const Extremes& values, const std::string& name) {
        if (values.notFinite > 0)
            m_notes.push_back({kNotFiniteValues, name, values.notFinite, values.firstSample});
    }
    /// Does the same for samples that nothing is trained on.
    void notePredicted(const TaskConfig& task, const Extremes& values) {
        if (values.notFinite > 0)
            m_notes.push_back({phrase("Data", "%1: inputs that are inf or nan as float32: %2, the "
                                              "first in sample %3 (counted from 0). What is "
                                              "predicted of such samples is rarely a number."),
                               pathText(task.predictFile), values.notFinite, values.firstSample});
    }
    void noteHeldBack(const TaskConfig& task) {
        const int64_t samples = m_x.info.shape[0];
        if (auto note = heldBackNote(samples, task)) m_notes.push_back(*std::move(note));
        const Shape& sample = m_tensors[kX].shape;
        const bool pictures = sample.rank() > 2;
        if (task.held != Held::Random || m_splits.validation.empty() || pictures) return;
        const int64_t overlap =
            overlapOf(samples, sample.elements(), [this](int64_t row, std::span<float> values) {
                copy(m_x, row, Standardiser(), values);
            });
        if (overlap > 0) m_notes.push_back(overlapNote(overlap));
    }
    void noteSides(const TaskConfig& task) {
        if (m_labels.empty() && !m_sides) return;
        HeldBack splits = m_splits; // a test's own samples are the last ones
        splits.validation.resize(splits.validation.size() - static_cast<size_t>(m_tested));
        const auto classes = m_sides ? 2 : static_cast<size_t>(m_tensors[kTarget].classes);
        const ClassSides sides(splits, m_sides ? sideOfEach() : m_labels, classes);
        const std::vector<std::string> zeroAndOne{"0", "1"};
        std::ranges::move(m_sides ? notesOn(sides, zeroAndOne, task) : notesOnNumbered(sides, task),
                          std::back_inserter(m_notes));
    }
    std::vector<int32_t> sideOfEach() const {
        std::vector<int32_t> all;
        const auto add = [&all](const Array& y) {
            for (int64_t i = 0; i < y.info.elements(); ++i)
                all.push_back(y.at(i) > 0);
        };
        add(m_y);
        for (const Block& each : m_more)
            add(each.y);
        return all;
    }
    /// Tells what becomes of the test part, if there is one.
    void noteTest(const TaskConfig& task, const std::optional<TestPart>& test) {
        if (test)
            m_notes.push_back(
                {phrase("Data", "The samples of %1 and %2, %3, are validated on. To hold "
                                "back a part of the others instead, %4."),
                 test->x.name, test->y.name, test->x.shape[0], Message(kSetToFalse, "data.test")});
        if (test || validatesOwn(task) || testsOwn(task)) return;
        if (const auto unused = testPartOf(task); unused && !unused->x.shape.empty())
            m_notes.push_back(
                {phrase("Data", "The samples of %1 and %2, %3, are not used. To validate on "
                                "them, %4."),
                 unused->x.name, unused->y.name, unused->x.shape[0],
                 Message(kSetToTrue, "data.test")});
    }
    /// Notes inputs of which float32 rounds too much away.
    void noteRounded() {
        const Standardiser scale = scaleOf(m_x, m_tensors[kX].shape, m_splits.train);
        std::vector<std::string> names{"x"};
        if (scale.spreads().size() > 1) names.clear();
        for (size_t i = 0; names.size() < scale.spreads().size(); ++i)
            names.push_back("x[:, " + std::to_string(i) + "]");
        if (auto note = roundedInputsNote(scale, names, "data.standardise_x"))
            m_notes.push_back(*std::move(note));
    }
    /// Notes lists of whole numbers that may well be indices of tokens.
    void noteTokens() {
        constexpr int64_t kLeastLength = 4;
        constexpr double kLeast = 16, kMost = 1 << 24; // of the highest number
        const ElementType type = m_x.info.type;
        const bool lists = m_tensors[kX].shape.rank() == 1;
        if (!isWhole(type) || bytesOf(type) == 1 || !lists || m_tensors[kX].shape[0] < kLeastLength)
            return;
        double highest = 0;
        for (int64_t i = 0; i < m_x.info.elements(); ++i) {
            if (m_x.at(i) < 0 || m_x.at(i) >= kMost) return;
            highest = std::max(highest, m_x.at(i));
        }
        if (highest < kLeast) return;
        m_notes.push_back({phrase("Data", "x holds whole numbers from 0 on, which are taken as "
                                          "numbers. If they stand for words or other tokens, a "
                                          "network that begins with nn.Embedding(%1, ...) takes "
                                          "them as such."),
                           static_cast<int64_t>(highest) + 1});
    }
    /// Notes pictures whose last axis seems to be that of the channels.
    void noteChannels() {
        constexpr int64_t kMostChannels = 4;
        const Shape& sample = m_tensors[kX].shape;
        if (sample.rank() != 3 || sample[2] > kMostChannels || sample[2] == 2 ||
            sample[0] <= kMostChannels)
            return;
        m_notes.push_back({phrase("Data", "Samples of x are read as %1 channels of %2 x %3 pixels. "
                                          "If the channels are the last axis, "
                                          "numpy.moveaxis(x, -1, 1) puts them first."),
                           sample[0], sample[1], sample[2]});
    }
    void setView() {
        if (!m_labels.empty() || m_sides) {
            m_view = classesView(m_sides ? 2 : m_tensors[kTarget].classes);
            return;
        }
        double least = std::numeric_limits<double>::infinity(), most = -least;
        for (int64_t i = 0; i < m_y.info.elements(); ++i) {
            const double value =
                m_targetScale.standardised(static_cast<size_t>(i), withinFloat(m_y.at(i)));
            if (!std::isfinite(value)) continue;
            least = std::min(least, value);
            most = std::max(most, value);
        }
        m_view = least <= most ? scatterView(least, most, m_targetScale) : scatterView(0, 0);
    }

    Array m_x, m_y;
    std::vector<Block> m_more;
    int64_t m_tested = 0;          ///< samples of the test's own arrays, the last ones
    std::vector<int32_t> m_labels; ///< where targets are classes
    std::vector<Message> m_notes;
};

} // namespace

extern const DataSetInfo kArrayData;
const DataSetInfo kArrayData{
    .name = "arrays",
    .title = phrase("Settings", "Arrays"),
    .about = phrase("Settings", "inputs x and targets y from .npy, .npz or .safetensors files"),
    .settings = {"data.x", "data.y", "data.standardise_x", "data.standardise_target", "data.test",
                 "data.x_val", "data.y_val", "data.x_test", "data.y_test", "data.validation",
                 "data.held_back", "data.gap", "data.stratify"},
    .targets = Targets::AsTheLoss,
    .validates = true,
    .fromFiles = true,
    .opens = opensArrays,
    .facts = arrayFacts,
    .make = [](const TaskConfig& task, uint64_t) -> std::unique_ptr<Dataset> {
        return std::make_unique<ArrayData>(task);
    },
    .python = arrayPython};

} // namespace halfscope
