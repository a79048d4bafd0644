// Reads the targets as texts, by the place of their sample, and compares them lane by lane.
#include "engine/train/known_targets.h"

#include "engine/core/percent.h"
#include "engine/core/text.h"
#include "engine/data/array_places.h"
#include "engine/data/csv_classes.h"
#include "engine/data/csv_fields.h"
#include "engine/data/losses.h"
#include "engine/data/new_pictures.h"
#include "engine/data/predicted_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace halfscope {

namespace {

/// Targets by the place of the sample.
struct SampleTargets {
    std::string name{};
    std::string file{};               ///< see KnownTargets
    std::vector<std::string> texts{}; ///< of classes, or of numbers in a table; empty: not known
    bool commas = false;              ///< a number may have a decimal comma
    std::vector<double> numbers{};    ///< (samples, outputs); nan: not known

    /// Whether all known numbers are 0 or 1.
    bool areSides() const {
        return std::ranges::all_of(numbers,
                                   [](double x) { return std::isnan(x) || x == 0 || x == 1; });
    }
};

/// Returns the number in a field of the target; where a target may be a truth, also that.
double targetOf(const std::string& text, bool commas, bool truths) {
    const std::optional<float> truth = truths ? truthOf(text) : std::nullopt;
    return truth ? double{*truth} : numberOf(text, commas);
}

/// Returns the column of the target; its numbers are read unless targets are classes.
std::optional<SampleTargets> columnOf(const TaskConfig& task, bool classes) {
    SampleTargets targets{.name = targetName(task)};
    CsvFile file = predictedTableOf(task);
    const std::vector<std::string> names = file.readHeader();
    const auto found = std::ranges::find(names, targets.name);
    if (found == names.end()) return std::nullopt;
    const auto column = static_cast<size_t>(found - names.begin());
    takeCommasOfTrained(task, file);
    targets.commas = file.commas();
    while (file.next()) {
        // a class may be named as a gap is, such as NA
        const bool lacks = !classes && file.lacks(column);
        targets.texts.emplace_back(lacks ? std::string_view() : file.text(column));
        if (!classes)
            targets.numbers.push_back(
                targetOf(targets.texts.back(), targets.commas, infoOf(task.loss.kind).ofShares));
    }
    return targets;
}

/// Returns the first folders in which the pictures lie, where these are classes.
SampleTargets foldersOf(const TaskConfig& task, const std::vector<std::string>& classes) {
    SampleTargets targets;
    for (const std::string& name : newPicturesAt(task.predictFile).names) {
        const std::string folder = name.substr(0, name.find('/'));
        const bool known = folder != name && std::ranges::find(classes, folder) != classes.end();
        targets.texts.push_back(known ? folder : std::string());
    }
    return targets;
}

/// Says why an array does not hold the targets of so many samples.
Message unfit(const ArrayInfo& y, const std::string& name, int64_t samples) {
    if (!y.shape.empty() && y.shape[0] != samples)
        return {
            phrase("Training",
                   "There are no scores: the length of %1 is %2, and that of the inputs is %3."),
            name, y.shape[0], samples};
    return {phrase("Training", "There are no scores: %1 has the shape %2, which does not fit the "
                               "predictions."),
            name, y.shapeText()};
}

/// Whether an array has the numbers of classes, counted from 0, in place of these names.
bool countsClasses(const std::vector<std::string>& names) {
    return std::ranges::none_of(
        names, [](const std::string& name) { return std::isfinite(numberOf(name, false)); });
}

bool isIndexOf(const std::vector<std::string>& names, double number) {
    return number >= 0 && number < static_cast<double>(names.size()) &&
           number == std::trunc(number);
}

/// Returns the array of targets, if it has one for each output, or one for each class; otherwise
/// says why not.
std::optional<SampleTargets> arrayOf(const TaskConfig& task, const Predictions& all,
                                     const std::vector<std::string>* classes, Message& reason) {
    const std::optional<PredictedTargets> found = predictedTargets(task);
    const int64_t elements = all.samples * (classes ? 1 : all.outputs);
    if (!found || all.positions > 0) return std::nullopt;
    const Array& y = found->y;
    if (y.info.elements() != elements) {
        reason =
            unfit(y.info, found->file.empty() ? y.info.name : pathText(found->file), all.samples);
        return std::nullopt;
    }
    SampleTargets targets{.name = found->file.empty() ? y.info.name : "y", .file = found->file};
    const bool counted = classes && countsClasses(*classes);
    for (int64_t i = 0; i < elements; ++i)
        if (!classes)
            targets.numbers.push_back(y.at(i));
        else if (counted && isIndexOf(*classes, y.at(i)))
            targets.texts.push_back((*classes)[static_cast<size_t>(y.at(i))]);
        else
            targets.texts.push_back(numberText(y.at(i)));
    return targets;
}

/// Tells which classes a network with so many outputs knows. Each text is looked for once.
class KnownClasses {
public:
    KnownClasses(const std::vector<std::string>& classes, int64_t outputs, bool commas)
        : m_names(classes), m_commas(commas) {
        for (auto next = static_cast<int64_t>(classes.size()); next < outputs; ++next)
            m_names.push_back(std::to_string(next)); // as it is predicted
    }

    bool has(const std::string& text) {
        const auto [at, isNew] = m_known.try_emplace(text, false);
        if (isNew)
            at->second = std::ranges::any_of(m_names, [&](const std::string& name) {
                return isSameClass(text, name, m_commas);
            });
        return at->second;
    }

private:
    std::vector<std::string> m_names;
    bool m_commas;
    std::unordered_map<std::string, bool> m_known{};
};

void addUnknown(const std::string& name, KnownTargets& found) {
    ++found.unknown;
    if (found.unknownNames.size() <= KnownTargets::kMostNamed &&
        std::ranges::find(found.unknownNames, name) == found.unknownNames.end())
        found.unknownNames.push_back(name);
}

void compareClasses(const SampleTargets& targets, const Predictions& all,
                    const std::vector<std::string>& classes, KnownTargets& found) {
    const std::vector<PredictedClass> predicted = predictedClasses(all, classes);
    const bool first = found.right.empty();
    KnownClasses known(classes, all.outputs, targets.commas);
    int64_t samples = 0, right = 0;
    for (size_t i = 0; i < predicted.size(); ++i) {
        const std::string& text = targets.texts.at(static_cast<size_t>(all.numbers[i]));
        const bool lacks = text.empty() || (isGapWord(text) && !known.has(text));
        if (lacks || !wasRead(all, i)) continue;
        ++samples;
        right += !predicted[i].name.empty() && isSameClass(text, predicted[i].name, targets.commas);
        if (first && !known.has(text)) addUnknown(text, found);
    }
    if (first) found.samples = samples;
    found.right.push_back(right);
}

/// Sums over the known targets of one output.
struct Errors {
    int64_t count = 0;
    double absolute = 0, squared = 0, mean = 0, spread = 0;

    /// Adds one, by Welford's method.
    void add(double target, double value) {
        ++count;
        absolute += std::abs(value - target);
        squared += (value - target) * (value - target);
        const double before = target - mean;
        mean += before / static_cast<double>(count);
        spread += before * (target - mean);
    }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Logits are compared as the shares that they stand for.
void compareNumbers(const SampleTargets& targets, const Predictions& all, KnownTargets& found) {
    const auto outputs = static_cast<size_t>(all.outputs);
    std::vector<Errors> each(outputs);
    int64_t samples = 0, finiteSamples = 0, values = 0, right = 0;
    for (size_t sample = 0; sample < static_cast<size_t>(all.samples); ++sample) {
        if (!wasRead(all, sample)) continue;
        const bool finite = isFinitelyPredicted(all, sample);
        const auto row = static_cast<size_t>(all.numbers[sample]);
        bool known = false;
        for (size_t output = 0; output < outputs; ++output) {
            const double target = targets.numbers.at(row * outputs + output);
            const double value = all.value(sample * outputs + output);
            if (!std::isfinite(target)) continue;
            known = true;
            ++values;
            if (finite) each[output].add(target, found.logits ? sigmoid(value) : value);
            right += std::isfinite(value) && (value > 0) == (target == 1);
        }
        samples += known;
        finiteSamples += known && finite;
    }
    Errors sum;
    for (const Errors& one : each) {
        sum.count += one.count;
        sum.absolute += one.absolute;
        sum.squared += one.squared;
        sum.spread += one.spread;
    }
    found.values = values;
    found.samples = samples;
    found.finite.push_back(finiteSamples);
    found.error.push_back(sum.absolute / static_cast<double>(sum.count));
    found.determination.push_back(sum.spread > 0 ? 1 - sum.squared / sum.spread
                                                 : std::numeric_limits<double>::quiet_NaN());
    if (found.logits && targets.areSides()) found.right.push_back(right);
}

/// Returns the number with four digits, for people: the window groups them as it does on a lane's
/// card.
Message rounded(double x) {
    if (x == 0 || !std::isfinite(x)) return Message::number(numberText(x));
    const double step = std::pow(10, std::floor(std::log10(std::abs(x))) - 3);
    return Message::number(numberText(static_cast<float>(std::round(x / step) * step)));
}

/// Returns a share in percent, for people.
Message percentOf(int64_t right, int64_t all) {
    constexpr int kDecimals = 2; // of the four digits of rounded()
    const double share = static_cast<double>(right) / static_cast<double>(all);
    if (const auto least = nearlyAllPercent(share, kDecimals))
        return {phrase("Training", ">%1"), rounded(*least)};
    return rounded(100 * share);
}

} // namespace

Message KnownTargets::classesSentence(size_t index) const {
    const Message percent = percentOf(right[index], samples);
    if (name.empty())
        return {phrase("Training", "Predicted right: %1 of %2 pictures in folders of classes, an "
                                   "accuracy of %3 %."),
                right[index], samples, percent};
    return {phrase("Training", "Predicted right: %1 of %2 samples whose %4 is known, an accuracy "
                               "of %3 %."),
            right[index], samples, percent, pathText(name)};
}

Message KnownTargets::logitsSentence(size_t index) const {
    const Message mean = rounded(error[index]);
    if (finite[index] == 0) return numbersSentence(index);
    if (index >= right.size())
        return {phrase("Training",
                       "The predictions are logits. Mean absolute error of their sigmoid "
                       "over the samples whose %1 is known (%2): %3."),
                pathText(name), countOf(index), mean};
    return {phrase("Training",
                   "The predictions are logits, right where they are above 0 for 1 and not "
                   "above 0 for 0: %1 of %2 values of %3 that are known, an accuracy "
                   "of %4 %. Mean absolute error of their sigmoid over the samples "
                   "whose %3 is known (%5): %6."),
            right[index],
            values,
            pathText(name),
            percentOf(right[index], values),
            countOf(index),
            mean};
}

Message KnownTargets::countOf(size_t index) const {
    if (finite[index] == samples) return Message::number(samples);
    return {phrase("Training", "%1 of %2; inf or nan is predicted for the others"), finite[index],
            samples};
}

Message KnownTargets::numbersSentence(size_t index) const {
    if (finite[index] == 0)
        return {phrase("Training", "There is no score: inf or nan is predicted for each sample "
                                   "whose %1 is known."),
                pathText(name)};
    if (std::isnan(determination[index]))
        return {phrase("Training", "Mean absolute error over the samples whose %1 is known (%2): "
                                   "%3."),
                pathText(name), countOf(index), rounded(error[index])};
    return {phrase("Training", "Mean absolute error over the samples whose %1 is known (%2): "
                               "%3; R\u00b2 %4."),
            pathText(name), countOf(index), rounded(error[index]), rounded(determination[index])};
}

std::optional<Message> KnownTargets::unknownSentence() const {
    if (unknown == 0) return std::nullopt;
    std::vector<Message> names;
    for (size_t i = 0; i < std::min(kMostNamed, unknownNames.size()); ++i)
        names.push_back(Message::data(pathText(unknownNames[i])));
    if (unknownNames.size() > kMostNamed) names.push_back(Message::data("\u2026"));
    if (unknown == 1)
        return Message(phrase("Training", "1 sample has a class that the network was not trained "
                                          "on: %1."),
                       listed(names));
    return Message(phrase("Training", "%1 samples have a class that the network was not trained "
                                      "on: %2."),
                   unknown, listed(names));
}

Message KnownTargets::sentence(size_t index, const std::string& lane) const {
    const Message text = classes  ? classesSentence(index)
                         : logits ? logitsSentence(index)
                                  : numbersSentence(index);
    return lane.empty() ? text : Message(phrase("Training", "%1: %2"), lane, text);
}

TargetScores knownTargets(const TaskConfig& task, std::span<const LanePredictions> lanes,
                          const std::vector<std::string>* classes) {
    TargetScores scores{.logits = infoOf(task.loss.kind).ofShares};
    const std::optional<SampleTargets> targets =
        predictsArray(task)           ? arrayOf(task, lanes.front().all, classes, scores.reason)
        : predictsPictures(task.kind) ? foldersOf(task, *classes)
                                      : columnOf(task, classes != nullptr);
    if (!targets) return scores;
    KnownTargets found{.name = targets->name,
                       .file = targets->file,
                       .classes = classes != nullptr,
                       .logits = scores.logits};
    for (const LanePredictions& lane : lanes)
        if (classes)
            compareClasses(*targets, lane.all, *classes, found);
        else
            compareNumbers(*targets, lane.all, found);
    if (found.samples > 0) scores.known = std::move(found);
    return scores;
}

std::vector<Message> predictionNotes(std::span<const LanePredictions> lanes,
                                     const TargetScores& scores, LaneNamed named) {
    std::vector<Message> notes;
    for (const LanePredictions& lane : lanes)
        if (auto note = notFiniteNote(lane)) notes.push_back(*std::move(note));
    if (!scores.reason.empty()) notes.push_back(scores.reason);
    if (!scores.known && scores.logits)
        notes.emplace_back(phrase("Training", "The predictions are logits: their sigmoid, "
                                              "1 / (1 + exp(\u2212x)), is the share that is "
                                              "predicted, and values above 0 stand for 1."));
    if (!scores.known) return notes;
    if (const std::string& file = scores.known->file; !file.empty())
        notes.emplace_back(phrase("Training", "The targets are from %1."), pathText(file));
    for (size_t i = 0; i < lanes.size(); ++i)
        notes.push_back(scores.known->sentence(i, named == LaneNamed::Yes ? lanes[i].lane : ""));
    if (auto unknown = scores.known->unknownSentence()) notes.push_back(*std::move(unknown));
    return notes;
}

} // namespace halfscope
