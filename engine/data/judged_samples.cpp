// Keeps the first mistakes and numbers, and draws the numbers as a batch.
#include "engine/data/judged_samples.h"

#include <algorithm>
#include <cstring>

namespace halfscope {

namespace {

Batch singleRow(const Batch& batch, size_t row) {
    Batch one{std::vector<TypedBytes>(batch.tensors.size())};
    for (size_t i = 0; i < one.tensors.size(); ++i) {
        one.tensors[i] = {batch.tensors[i].dtype, batch.tensors[i].shape, {}};
        one.tensors[i].shape[0] = 1;
        const size_t bytes =
            batch.tensors[i].bytes.size() / static_cast<size_t>(batch.tensors[i].shape[0]);
        one.tensors[i].bytes.resize(bytes);
    }
    one.setRow(0, batch, row);
    return one;
}

} // namespace

void JudgedSamples::addClasses(std::span<const int64_t> samples, std::span<const int32_t> labels,
                               std::span<const int32_t> taken) {
    counts.add(labels, taken);
    if (samples.size() != labels.size()) return; // each position of a sample has a class
    for (size_t i = 0; i < samples.size() && mistakes.size() < kMostMistakes; ++i)
        if (taken[i] != labels[i]) mistakes.push_back({samples[i], taken[i]});
}

void JudgedSamples::addClasses(const Batch& batch, std::span<const int64_t> samples,
                               std::span<const int32_t> taken, size_t most) {
    const size_t before = mistakes.size();
    addClasses(samples, trueClasses(batch), taken);
    size_t row = 0;
    for (size_t i = before; i < std::min(most, mistakes.size()); ++i) {
        while (samples[row] != mistakes[i].sample)
            ++row;
        mistakes[i].values = std::make_shared<const Batch>(singleRow(batch, row));
    }
}

void JudgedSamples::addNumbers(std::span<const float> target, std::span<const float> prediction) {
    const size_t room = kMostNumbers - predictions.size();
    const auto count =
        static_cast<std::ptrdiff_t>(std::min({room, target.size(), prediction.size()}));
    targets.insert(targets.end(), target.begin(), target.begin() + count);
    predictions.insert(predictions.end(), prediction.begin(), prediction.begin() + count);
}

std::optional<Picture> pictureOf(const TaskView& view, const JudgedSamples& judged) {
    if (view.kind == ViewKind::Classes && judged.counts.classes() > 0)
        return classTable(judged.counts);
    if (view.kind != ViewKind::Scatter || judged.predictions.empty()) return std::nullopt;
    Batch batch{std::vector<TypedBytes>(kTarget + 1)};
    TypedBytes& target = batch.tensors[kTarget];
    target.shape = Shape{static_cast<int64_t>(judged.targets.size())};
    target.bytes.resize(judged.targets.size() * sizeof(float));
    std::memcpy(target.bytes.data(), judged.targets.data(), target.bytes.size());
    return pictureOf(view, batch, judged.predictions);
}

} // namespace halfscope
