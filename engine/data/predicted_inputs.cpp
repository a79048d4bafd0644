// Passes everything but the samples to judge on to the training data.
#include "engine/data/predicted_inputs.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/array_notes.h"
#include "engine/data/array_parts.h"
#include "engine/data/array_places.h"
#include "engine/data/held_back.h"
#include "engine/data/stored_data.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

constexpr int kAxesOfPicture = 3; // channels, height, width

/// Whether samples of the shape `each` are stored as those of the shape `sample` are: with the same
/// axes, whatever axes of extent 1 are left out or added, or as a row of as many values.
bool isStoredAs(const Shape& each, const Shape& sample) {
    const auto axesOf = [](const Shape& shape) {
        std::vector<int64_t> axes(shape.begin(), shape.end());
        std::erase(axes, 1);
        return axes;
    };
    const bool row = each.rank() == 1 && each[0] == sample.elements();
    return row || axesOf(each) == axesOf(sample);
}

void checkFitsNetwork(const ArrayPlace& place, const ArrayInfo& info, const TensorSpec& x) {
    if (!isStoredAs(sampleShape(place, info), x.shape)) {
        ArrayInfo wanted;
        wanted.shape.assign(x.shape.begin(), x.shape.end());
        throw InputError(phrase("Data", "%1: the shape %2 does not fit the network: axis 0 counts "
                                        "samples, and each of them must have the shape %3"),
                         place.shown(), info.shapeText(), wanted.shapeText());
    }
    checkSampleCount(place.shown(), info.shape[0]);
}

/// Throws InputError for an index that the network does not know.
void checkKnown(const ArrayPlace& place, const Array& x, int64_t indices) {
    const int64_t each = x.info.elements() / x.info.shape[0];
    for (int64_t i = 0; i < x.info.elements(); ++i) {
        if (i % each == 0) checkCancelled();
        const double index = x.at(i);
        if (index >= 0 && index < static_cast<double>(indices) && index == std::trunc(index))
            continue;
        throw InputError(phrase("Data", "%1: sample %2 has the index %3: whole numbers from 0 to "
                                        "%4 are allowed"),
                         place.shown(), i / each, index, indices - 1);
    }
}

/// Tells of pixels that were not divided by 255, for example.
std::optional<Message> pixelNote(const ArrayPlace& place, const Array& x) {
    float largest = extremesOf(x).largest; // which passes over bytes
    for (int64_t i = 0; bytesOf(x.info.type) == 1 && i < x.info.elements(); ++i)
        largest = std::max(largest, static_cast<float>(x.at(i)));
    if (largest <= 1) return std::nullopt;
    return Message(phrase("Data",
                          "%1: values reach %2, and the pixels that the network was trained "
                          "on lie between 0 and 1, before data.mean and data.std are "
                          "applied. Bytes must be divided by 255."),
                   place.shown(), largest);
}

class PredictedInputs final : public Dataset {
public:
    PredictedInputs(std::unique_ptr<Dataset> trained, const TaskConfig& task)
        : m_trained(std::move(trained)), m_scales(m_trained->channelScales()),
          m_notes(m_trained->notes()) {
        const ArrayPlace place = placeOfPredicted(task);
        m_x = readAt(place, infoAt(place));
        const TensorSpec& x = tensors()[kX];
        checkFitsNetwork(place, m_x.info, x);
        if (x.dtype == DType::I32)
            checkKnown(place, m_x, x.classes);
        else if (x.shape.rank() == kAxesOfPicture)
            if (auto note = pixelNote(place, m_x)) m_notes.push_back(*std::move(note));
    }

    std::span<const TensorSpec> tensors() const override { return m_trained->tensors(); }
    int64_t samples(Split split) const override {
        return split == Split::Train ? m_trained->samples(split) : m_x.info.shape[0];
    }
    std::vector<Unread> read(Pass pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        if (pass.split == Split::Train) return m_trained->read(pass, samples, out);
        if (tensors()[kTarget].dtype == DType::I32) // any values will do
            std::ranges::fill(out.labels(kTarget), 0);
        else
            std::ranges::fill(out.floats(kTarget), 0.0f);
        for (size_t row = 0; row < samples.size(); ++row)
            readInputs(samples[row], {out, row});
        return {};
    }
    int64_t number(Split split, int64_t sample) const override {
        return split == Split::Train ? m_trained->number(split, sample) : sample;
    }
    bool varies() const override { return m_trained->varies(); }
    bool usesSeed() const override { return m_trained->usesSeed(); }
    std::vector<Message> notes() const override { return m_notes; }
    std::vector<ChannelScale> channelScales() const override { return m_scales; }
    std::vector<std::string> files() const override { return m_trained->files(); }
    std::string textOf(std::span<const int32_t> x) const override { return m_trained->textOf(x); }
    std::vector<int64_t> classCounts() const override { return m_trained->classCounts(); }
    std::vector<Message> lostClasses(const std::atomic<bool>& stop) const override {
        return m_trained->lostClasses(stop);
    }
    const Standardiser& inputScale() const override { return m_trained->inputScale(); }
    const Standardiser& targetScale() const override { return m_trained->targetScale(); }
    std::vector<std::string> inputNames() const override { return m_trained->inputNames(); }
    bool targetsAreSides() const override { return m_trained->targetsAreSides(); }
    TaskView view() const override { return m_trained->view(); }

private:
    void readInputs(int64_t sample, const SamplePlace& place) const {
        const int64_t each = tensors()[kX].shape.elements();
        if (tensors()[kX].dtype == DType::I32) {
            int64_t element = sample * each;
            for (int32_t& to : place.rows.labels(kX).subspan(place.row * static_cast<size_t>(each),
                                                             static_cast<size_t>(each)))
                to = static_cast<int32_t>(m_x.at(element++));
            return;
        }
        const std::span<float> to = place.floats(kX);
        if (inputScale().active()) { // before the values are rounded to float32
            std::vector<double> values(to.size());
            m_x.toDoubles(sample * each, values);
            inputScale().standardise(values, to);
            return;
        }
        m_x.toFloats(sample * each, to);
        const size_t plane = m_scales.empty() ? 0 : to.size() / m_scales.size();
        for (size_t i = 0; plane > 0 && i < to.size(); ++i)
            to[i] = (to[i] - m_scales[i / plane].mean) / m_scales[i / plane].deviation;
    }

    const std::unique_ptr<const Dataset> m_trained;
    const std::vector<ChannelScale> m_scales;
    std::vector<Message> m_notes;
    Array m_x;
};

} // namespace

bool predictsInputs(const TaskConfig& task) {
    return task.kind != TaskKind::Arrays && isArrayName(task.predictFile);
}

bool predictsArray(const TaskConfig& task) {
    return task.kind == TaskKind::Arrays || predictsInputs(task);
}

TaskConfig trainedOnly(const TaskConfig& task) {
    TaskConfig trained = task;
    trained.predictFile.clear();
    return trained;
}

DataFacts predictedInputFacts(const TaskConfig& task) {
    DataFacts facts = factsOf(trainedOnly(task));
    const ArrayPlace place = placeOfPredicted(task);
    const ArrayInfo info = infoAt(place);
    checkFitsNetwork(place, info, facts.tensors[kX]);
    facts.validation = info.shape[0];
    facts.test = 0;
    return facts;
}

std::unique_ptr<Dataset> withPredictedInputs(std::unique_ptr<Dataset> trained,
                                             const TaskConfig& task) {
    return std::make_unique<PredictedInputs>(std::move(trained), task);
}

} // namespace halfscope
