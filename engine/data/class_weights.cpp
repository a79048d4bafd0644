// Reads the weights of classes, and balances them by how often the classes occur.
#include "engine/data/class_weights.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/data/losses.h"

#include <charconv>
#include <numeric>

namespace halfscope {

namespace {

std::vector<float> balanced(const std::vector<int64_t>& counts) {
    const auto samples = static_cast<double>(std::reduce(counts.begin(), counts.end()));
    const auto classes = static_cast<double>(counts.size());
    std::vector<float> weights;
    for (const int64_t count : counts)
        weights.push_back(
            count > 0 ? static_cast<float>(samples / (classes * static_cast<double>(count))) : 1);
    return weights;
}

} // namespace

ClassWeights classWeightsOf(std::string_view text) {
    constexpr double kLeast = 1e-6, kMost = 1e6;
    ClassWeights weights;
    const std::string_view words = trimmed(text);
    weights.balanced = words == "balanced";
    if (words.empty() || weights.balanced) return weights;
    for (const std::string_view part : partsOf(words, ',')) {
        const std::string_view number = trimmed(part);
        const char* const last = number.data() + number.size();
        double value = 0;
        const auto [end, code] = std::from_chars(number.data(), last, value);
        if (code != std::errc{} || end != last || !(value >= kLeast && value <= kMost))
            throw InputError(phrase("Data", "task.class_weights: %1 is not allowed: a number from "
                                            "0.000001 to 1000000 for each class, separated by "
                                            "commas, balanced, or nothing"),
                             quotedText(text));
        weights.numbers.push_back(value);
    }
    return weights;
}

bool weighsClasses(const LossSpec& loss) {
    return infoOf(loss.kind).hasWeights && !trimmed(loss.classWeights).empty();
}

void checkClassWeights(const LossSpec& loss, int64_t classes) {
    if (!weighsClasses(loss)) return;
    const ClassWeights weights = classWeightsOf(loss.classWeights);
    if (!weights.balanced && static_cast<int64_t>(weights.numbers.size()) != classes)
        throw InputError(phrase("Data", "task.class_weights: %1 is not allowed: one number for "
                                        "each of the %2 classes, separated by commas, balanced, "
                                        "or nothing"),
                         quotedText(loss.classWeights), classes);
}

std::vector<float> weightsFor(const LossSpec& loss, const Dataset& data) {
    if (!weighsClasses(loss)) return {};
    const int64_t classes = data.tensors()[kTarget].classes;
    checkClassWeights(loss, classes);
    if (classWeightsOf(loss.classWeights).balanced) return balanced(data.classCounts());
    return weightsOf(loss, classes);
}

std::vector<float> weightsOf(const LossSpec& loss, int64_t classes) {
    if (!loss.weights.empty()) return loss.weights;
    const std::vector<double> numbers = classWeightsOf(loss.classWeights).numbers;
    if (numbers.empty()) return std::vector<float>(static_cast<size_t>(classes), 1);
    std::vector<float> weights;
    for (const double number : numbers)
        weights.push_back(static_cast<float>(number));
    return weights;
}

} // namespace halfscope
