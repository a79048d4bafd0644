// Keeps the first mistakes and numbers, and draws the numbers as a batch.
#include "engine/data/judged_samples.h"

#include <algorithm>
#include <cstring>

namespace halfscope {

void JudgedSamples::addClasses(std::span<const int64_t> samples, std::span<const int32_t> labels,
                               std::span<const int32_t> taken) {
    counts.add(labels, taken);
    if (samples.size() != labels.size()) return; // each position of a sample has a class
    for (size_t i = 0; i < samples.size() && mistakes.size() < kMostMistakes; ++i)
        if (taken[i] != labels[i]) mistakes.push_back({samples[i], taken[i]});
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
