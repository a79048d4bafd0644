// Writes classes by their names, and numbers with the digits that are known.
#include "engine/train/samples_table.h"

#include "engine/data/class_counts.h"
#include "engine/runs/run_tables.h"

namespace halfscope {

namespace {

constexpr int64_t kMostOutputs = 16; // the most numbers of a sample that fit into a table

/// Returns what each lane computes for the samples: numbers, or the number of a class for each
/// sample.
std::vector<std::vector<double>> predictedValues(std::span<const LanePredictions> lanes,
                                                 bool classes) {
    std::vector<std::vector<double>> made;
    for (const LanePredictions& each : lanes) {
        std::vector<double>& values = made.emplace_back();
        if (classes) {
            const auto taken =
                highestClasses(each.all.values, static_cast<size_t>(each.all.outputs));
            values.assign(taken.begin(), taken.end());
            continue;
        }
        for (size_t i = 0; i < each.all.values.size(); ++i)
            values.push_back(each.all.value(i));
    }
    return made;
}

/// Returns the name of a class; nothing for what is none.
std::string classField(double number, const Predictions& all,
                       const std::vector<std::string>& classes) {
    if (!(number >= 0 && number < static_cast<double>(all.outputs))) return {};
    const auto index = static_cast<size_t>(number);
    return csvField(index < classes.size() ? classes[index] : std::to_string(index));
}

} // namespace

bool fitsSamplesTable(int64_t outputs, TargetsAre targets) {
    return targets == TargetsAre::Classes || outputs <= kMostOutputs;
}

std::string samplesCsv(std::span<const LanePredictions> lanes,
                       const std::vector<std::string>* classes, std::span<const std::string> texts,
                       WithTargets targets) {
    const Predictions& all = lanes.front().all;
    const bool fits = fitsSamplesTable(all.outputs, TargetsAre::Numbers);
    const size_t columns = classes ? 1 : fits ? static_cast<size_t>(all.outputs) : 0;
    const auto heading = [&](const std::string& word) {
        std::string text;
        for (size_t i = 0; i < columns; ++i)
            text += "," + csvField(columns == 1 ? word : word + "_" + std::to_string(i));
        return text;
    };
    const bool judged = targets == WithTargets::Yes;
    const bool everywhere = all.positions > 0;
    std::string text = everywhere ? "sample,position" : "sample";
    if (!texts.empty()) text += ",text";
    if (judged) text += heading("target");
    for (const LanePredictions& each : lanes)
        text += heading(each.lane);
    text += "\n";
    const std::vector<std::vector<double>> made = predictedValues(lanes, classes);
    const auto fieldOf = [&](double value) {
        return classes ? classField(value, all, *classes) : predictedText(all, value);
    };
    const size_t each = everywhere ? static_cast<size_t>(all.positions) : 1; // lines per sample
    for (size_t row = 0; row < static_cast<size_t>(all.samples) * each; ++row) {
        text += std::to_string(all.numbers[row / each]);
        if (everywhere) text += "," + std::to_string(row % each);
        if (!texts.empty()) text += "," + csvField(texts[row / each]);
        for (size_t i = 0; judged && i < columns; ++i)
            text += "," + fieldOf(all.target(row * columns + i));
        for (const std::vector<double>& values : made)
            for (size_t i = 0; i < columns; ++i)
                text += "," + fieldOf(values[row * columns + i]);
        text += "\n";
    }
    return text;
}

} // namespace halfscope
