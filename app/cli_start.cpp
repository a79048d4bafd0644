// Tells the places of files from edits, and looks for the rows that a run has so far.
#include "app/cli_start.h"

#include "app/cli_checkpoints.h"
#include "app/cli_closing.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/data/known_facts.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_manifest.h"
#include "engine/settings/resumed_settings.h"
#include "engine/settings/run_task.h"
#include "engine/step/model_shapes.h"
#include "engine/train/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace halfscope::cli {

namespace {

Start resumedStart(const RunOptions& options) {
    Start start;
    std::vector<Assignment> given = options.experiment.resumedSettings();
    start.checkpoint = checkpointAt(options.resume);
    start.state = readCheckpoint(start.checkpoint);
    const std::filesystem::path file(start.checkpoint);
    if (file.filename() == run_file::kEarlierCheckpoint && start.checkpoint != options.resume)
        start.note = pathText(options.resume) + " lacks " + run_file::kCheckpoint +
                     "; the one before it, after step " + std::to_string(start.state->step) +
                     ", is taken\n";
    for (Assignment& each : given) {
        if (!changesOnResume(*each.field, each.value)) {
            start.edits.push_back(std::move(each));
            continue;
        }
        RunConfig& recorded = start.state->recorded;
        const FieldValue before = each.field->get(recorded, each.lane);
        setField(recorded, each.lane, each.field->key, each.value);
        start.moved = start.moved || each.field->get(recorded, each.lane) != before;
    }
    if (options.out.empty()) return start;
    std::string folder = std::filesystem::path(start.checkpoint).parent_path().string();
    if (folder.empty()) folder = ".";
    try {
        start.past = readPast(folder, start.state->run, start.state->step, start.state->recorded);
    } catch (const InputError&) {
        std::error_code ignored; // an existing run must not be replaced by a part of it
        const bool here = std::filesystem::equivalent(folder, options.out, ignored);
        if (here && holdsPast(folder, start.state->run, start.state->step)) throw;
        const std::string id = start.state->run.empty() ? newRunId() : start.state->run;
        start.past = RunPast{id, folder, start.state->step, start.state->recorded, nullptr};
    }
    return start;
}

/// Tells how many samples the user's own data have, and what they are like.
std::string samplesText(const DataFacts& facts) {
    const TensorSpec &x = facts.tensors[kX], &target = facts.tensors[kTarget];
    std::string text = "Data: " + std::to_string(facts.train) +
                       (facts.train == 1 ? " sample to train on" : " samples to train on");
    if (facts.validation > 0) text += ", " + std::to_string(facts.validation) + " to validate on";
    if (facts.test > 0) text += ", " + std::to_string(facts.test) + " for the test at the end";
    text += ". Shape of an input: " + x.shape.text();
    if (target.classes == 0) return text + ", of a target: " + target.shape.text() + "\n";
    return text + "; " + std::to_string(target.classes) +
           (target.classes == 1 ? " class\n" : " classes\n");
}

/// Refuses an end before the step of the checkpoint: the run would count as finished, and the next
/// one in its folder would replace it.
void checkEnd(const Experiment& experiment, const std::vector<Assignment>& edits) {
    const bool given = std::ranges::any_of(edits, [](const Assignment& each) {
        return each.field->key == "run.steps" || each.field->key == "run.epochs";
    });
    const int64_t end = experiment.config().steps;
    if (!given || end >= experiment.step()) return;
    throw InputError(
        Message::data("--steps or --epochs: the run would end after step " + std::to_string(end) +
                      ", but its checkpoint is after step " + std::to_string(experiment.step()) +
                      ": at least that is allowed, counted from the beginning of the run"));
}

} // namespace

bool Start::goesOnIn(const std::string& out) const {
    std::error_code ignored;
    return past && std::filesystem::equivalent(past->folder, out, ignored);
}

Start startOf(const RunOptions& options) {
    if (options.checkpointEvery > 0 && options.out.empty())
        throw InputError(Message::data(
            "--checkpoint-every: --out is missing, the folder that checkpoints are written into"));
    Start start;
    if (!options.resume.empty()) {
        start = resumedStart(options);
        if (!start.goesOnIn(options.out)) keepCheckpoint(options, start.state->recorded);
        return start;
    }
    start.config = options.experiment.config(&start.note);
    keepCheckpoint(options, *start.config);
    start.note += leftCheckpoint(options);
    return start;
}

std::unique_ptr<Experiment> experimentOf(const Start& start) {
    if (start.config) return std::make_unique<Experiment>(*start.config);
    try {
        auto experiment = std::make_unique<Experiment>(start.state->recorded);
        experiment->resume(*start.state);
        return experiment;
    } catch (const InputError& error) {
        throw InputError(within(pathText(start.checkpoint), error.message()));
    }
}

std::vector<Event> edit(Experiment& experiment, const std::vector<Assignment>& edits) {
    std::vector<Event> events;
    for (const Assignment& each : edits) {
        if (each.lane >= experiment.lanes())
            throw InputError(Message::data(
                "lanes." + std::to_string(each.lane) +
                (experiment.lanes() == 1
                     ? ": there is only lane 0"
                     : ": there are " + std::to_string(experiment.lanes()) + " lanes, from 0")));
        const FieldValue value = valueFor(*each.field, each.value);
        const auto has = [&](int lane) {
            return each.field->get(experiment.config(), lane) == value;
        };
        bool same = has(std::max(each.lane, 0));
        if (each.lane < 0 && each.field->scope == FieldScope::Lane)
            for (int lane = 1; lane < experiment.lanes(); ++lane)
                same = same && has(lane);
        if (!same) experiment.setLive(each.lane, each.field->key, value, events);
    }
    checkEnd(experiment, edits);
    return events;
}

std::string startText(const Experiment& experiment) {
    const RunConfig& config = experiment.config();
    std::string text = config.title.empty() ? "Experiment" : config.title;
    text += ": " + std::to_string(config.steps) + (config.steps == 1 ? " step" : " steps");
    if (experiment.epochs().hasBatches())
        text += " in epochs of " + std::to_string(experiment.stepsPerEpoch()) +
                (experiment.stepsPerEpoch() == 1 ? " batch" : " batches");
    text += " on " + experiment.device().name;
    if (experiment.step() > 0 && !experiment.finished())
        text += ", from step " + std::to_string(experiment.step() + 1);
    text += "\n";
    const DataFacts facts = factsOf(taskOf(config));
    if (namesFiles(config.task)) text += samplesText(facts);
    for (const Message& note : facts.notes)
        text += "Data: " + note.english() + "\n";
    if (!experiment.dataChange().empty())
        text += "Data: " + experiment.dataChange().english() + ".\n";
    if (!experiment.weightsNote().empty() && experiment.step() == 0)
        text += "Weights: " + experiment.weightsNote().english() + "\n";
    if (const Message warning = modelWarning(config); !warning.empty())
        text += "Warning: " + warning.english() + "\n";
    if (!experiment.cudaReason().empty())
        text += "No GPU: " + experiment.cudaReason().english() + "\n";
    return text;
}

} // namespace halfscope::cli
