// Whole sentences, so that each language can order its words.
#include "ui/window/run_words.h"

#include "engine/core/error.h"
#include "engine/data/class_sides.h"
#include "engine/data/csv_columns.h"
#include "engine/data/csv_samples.h"
#include "engine/data/known_facts.h"
#include "engine/settings/run_length.h"
#include "ui/models/duration_text.h"
#include "ui/models/run_model.h"
#include "ui/models/safe_text.h"
#include "ui/models/shown_numbers.h"
#include "ui/models/translated.h"

#include <QFileInfo>
#include <QLocale>
#include <QStringList>

#include <algorithm>

namespace halfscope {

namespace {

/// Says that a run had ended when its checkpoint was written, and that its curves are not there;
/// empty otherwise.
QString endedBefore(const RunWords::State& state) {
    if (state.session != SessionState::Finished || !state.goesOnAfter || state.step > 0) return {};
    return RunWords::tr(
               "This run ended after step %1; its curves were not found beside the checkpoint.")
        .arg(QLocale().toString(static_cast<qlonglong>(*state.goesOnAfter)));
}

/// Whether a setting was changed that acts on the lanes.
bool hasLiveChanges(const RunConfig& recorded) {
    return std::ranges::any_of(recorded.edits,
                               [](const LiveEdit& each) { return !movesTheStop(each.key); });
}

/// Adds what a program leaves out of the run, and which file it needs that does not come from the
/// user.
QString withNeeds(const QString& program, const RunConfig& config) {
    const QString said =
        RunWords::isChanged(config)
            ? RunWords::tr("%1 Its first lines name what it leaves out of the run.").arg(program)
            : program;
    if (!infoOf(config.task.kind).fromFiles || namesFiles(config.task)) return said;
    if (config.task.kind == TaskKind::TextClasses)
        return RunWords::tr("%1 It needs the file words.csv of Halfscope's source, too.").arg(said);
    return config.task.kind == TaskKind::Text
               ? RunWords::tr("%1 It needs the file gpl-3.0.txt, too.").arg(said)
               : RunWords::tr("%1 It needs the files of MNIST, too; torchvision can download them.")
                     .arg(said);
}

/// Returns the sentence for the status bar when run.patience has ended the run.
QString impatient(const RunWords::State& state, const QString& saved) {
    const QString ended = endedBefore(state), lead = ended.isEmpty() ? saved : ended;
    const QString why = RunWords::tr("Ended: validation no longer got better (run.patience).");
    return RunWords::tr("%1 Continue trains on, at most to step %2; Reset starts over.")
        .arg(lead.isEmpty() ? why : RunWords::tr("%1 %2").arg(lead, why),
             QLocale().toString(static_cast<qlonglong>(state.nextStop)));
}

} // namespace

bool RunWords::isRecorded(const RunConfig& config) {
    return config.task.kind == TaskKind::Recorded;
}

QString RunWords::savedRun(const Run& run, bool back) {
    const RunInfo& info = run.info();
    const QString steps =
        run.step() == 1
            ? tr("1 step")
            : tr("%1 steps").arg(QLocale().toString(static_cast<qlonglong>(run.step())));
    if (back || info.folder.empty()) return tr("Restored: a run of %1.").arg(steps);
    QStringList lacking;
    for (const MissingPart& each : info.missing)
        lacking << translated(each.text());
    const QString missing = lacking.join(QStringLiteral(", "));
    if (isRecorded(info.config))
        return lacking.isEmpty() ? tr("Recorded in PyTorch: %1.").arg(steps)
                                 : tr("Recorded in PyTorch: %1; missing: %2.").arg(steps, missing);
    if (info.device) {
        const QString device = safeText(info.device->name);
        return lacking.isEmpty()
                   ? tr("Saved run of %1, trained on %2.").arg(steps, device)
                   : tr("Saved run of %1, trained on %2; missing: %3.").arg(steps, device, missing);
    }
    return lacking.isEmpty() ? tr("Saved run of %1.").arg(steps)
                             : tr("Saved run of %1; missing: %2.").arg(steps, missing);
}

QString RunWords::openedRuns(size_t count, const std::vector<Message>& lost,
                             const Message& problem) {
    constexpr size_t kMost = 3;
    QString opened = tr("Saved runs opened: %1. F8 shows the list of runs.")
                         .arg(countText(static_cast<int64_t>(count)));
    for (size_t i = 0; i < std::min(lost.size(), kMost); ++i)
        opened = tr("%1 A checkpoint cannot be used: %2.").arg(opened, translated(lost[i]));
    if (lost.size() > kMost)
        opened = tr("%1 So it is with %n more.", nullptr, static_cast<int>(lost.size() - kMost))
                     .arg(opened);
    return problem.empty() ? opened
                           : tr("%1 Not all could be read: %2").arg(opened, translated(problem));
}

QStringList RunWords::reading(const State& state) {
    if (state.reading.isEmpty()) return {};
    const QString reads = tr("Reading %1…").arg(state.reading);
    if (state.session != SessionState::Building) return {reads}; // what trains goes on meanwhile
    const QString play = state.playWaits ? tr("%1 Training starts when it is read.")
                                         : tr("%1 Press Play to train as soon as it is read.");
    return {play.arg(reads), reads};
}

QString RunWords::training(const State& state) {
    constexpr double kWorthTelling = 20, kEndless = 1e8; // seconds
    if (state.firstStepLasts)
        return state.onCpu ? tr("Training. The first step is still running: a step of this network "
                                "takes long on a CPU.")
                           : tr("Training. The first step is still running.");
    if (state.secondsLeft < kWorthTelling || !(state.secondsLeft < kEndless))
        return tr("Training.");
    return tr("Training. About %1 left.").arg(durationText(state.secondsLeft));
}

QString RunWords::over(const State& state) {
    if (state.step < 1) return {};
    if (state.session == SessionState::Finished)
        return state.outOfPatience ? tr("Ended: validation no longer got better.")
                                   : tr("Finished.");
    return state.session == SessionState::Failed ? tr("Ended by an error.") : QString();
}

QString RunWords::state(const State& state, const QString& saved) {
    switch (state.session) {
    case SessionState::Building:
        if (const QStringList texts = reading(state); !texts.isEmpty()) return texts.first();
        return state.playWaits ? tr("Building the networks… Training starts when they are "
                                    "ready, unless you press Space.")
                               : tr("Building the networks…");
    case SessionState::Ready:
        if (state.goesOnAfter) {
            const auto step = static_cast<qlonglong>(*state.goesOnAfter);
            const QString goesOn =
                tr("Press Play (Space) to continue after step %1.").arg(QLocale().toString(step));
            return saved.isEmpty() ? goesOn : tr("%1 %2").arg(saved, goesOn);
        }
        if (state.begins == Begins::FromCheckpoint) { // it is read once more
            const QString goesOn = tr("Press Play (Space) to continue from the checkpoint.");
            return saved.isEmpty() ? goesOn : tr("%1 %2").arg(saved, goesOn);
        }
        if (state.startsOver) return tr("Press Play (Space) to start over at step 1.");
        return saved.isEmpty() ? tr("Ready. Press Play (Space).")
                               : tr("%1 Press Play (Space) to train it from the start.").arg(saved);
    case SessionState::Running: return training(state);
    case SessionState::Paused: return tr("Paused. Press Space to continue.");
    case SessionState::Finished:
        if (state.outOfPatience) return impatient(state, saved);
        if (const QString ended = endedBefore(state); !ended.isEmpty())
            return tr("%1 Continue trains on to step %2; Reset starts over.")
                .arg(ended, QLocale().toString(static_cast<qlonglong>(state.nextStop)));
        return saved.isEmpty()
                   ? tr("Finished. Continue trains on to step %1; Reset starts over.")
                         .arg(QLocale().toString(static_cast<qlonglong>(state.nextStop)))
                   : tr("%1 Continue trains on to step %2; Reset starts over.")
                         .arg(saved, QLocale().toString(static_cast<qlonglong>(state.nextStop)));
    case SessionState::Failed: break;
    }
    if (state.recorded) return saved.isEmpty() ? recorded() : tr("%1 %2").arg(saved, recorded());
    if (state.built && state.allTrained)
        return tr("An error ended the run after step %1, its last one. Continue finishes it and "
                  "trains nothing more; Reset starts over.")
            .arg(QLocale().toString(static_cast<qlonglong>(state.keptStep)));
    if (state.built && state.keptStep > 0)
        return tr("An error ended the run. Continue goes on after step %1; Reset starts over.")
            .arg(QLocale().toString(static_cast<qlonglong>(state.keptStep)));
    if (state.built)
        return tr("An error ended the run. Play starts over with the settings on the left.");
    if (state.keptStep > 0) {
        const QString goesOn = tr("The networks could not be built again. Continue goes on after "
                                  "step %1; Reset starts over.")
                                   .arg(QLocale().toString(static_cast<qlonglong>(state.keptStep)));
        return saved.isEmpty() ? goesOn : tr("%1 %2").arg(saved, goesOn);
    }
    const QString failed =
        state.failedOfInput ? tr("Training could not start. Correct the setting or file that was "
                                 "named, then press Play (Space). If the message is gone, Play "
                                 "shows it again.")
                            : tr("Training could not start. Press Play (Space) to try again.");
    return saved.isEmpty() ? failed : tr("%1 %2").arg(saved, failed);
}

QString RunWords::scaleObstacle(const State& state, bool saved, bool known) {
    const bool failed = state.session == SessionState::Failed ||
                        (state.session == SessionState::Ready && !state.built);
    if (!saved && failed) return tr("An error ended this run: no loss scale can be set.");
    if (!saved) return known && state.built ? QString() : tr("Train a step first (Play)");
    if (state.recorded) return tr("This training was recorded elsewhere and cannot go on here");
    if (state.session == SessionState::Finished) return tr("This run has ended: continue it first");
    return state.goesOnAfter ? tr("Continue this run first (Play)")
                             : tr("Train this run again first (Play)");
}

QString RunWords::briefState(SessionState state, double pace, bool waits) {
    const QString figure = QLocale().toString(pace, 'g', 4);
    const bool known = waits || state != SessionState::Running;
    const QString speed = pace <= 0 ? tr("full speed")
                          : known   ? tr("%1 steps/s").arg(figure)
                                    : tr("at most %1 steps/s").arg(figure);
    const auto with = [&](const QString& word) {
        return pace <= 0 ? word : tr("%1, %2").arg(word, speed);
    };
    switch (state) {
    case SessionState::Building: return tr("building…");
    case SessionState::Ready: return with(tr("ready"));
    case SessionState::Running: return speed;
    case SessionState::Paused: return with(tr("paused"));
    case SessionState::Finished: return tr("finished");
    case SessionState::Failed: break;
    }
    return tr("failed");
}

QString RunWords::device(const std::optional<DeviceInfo>& device, bool isSaved,
                         const SessionInfo* built) {
    const QString name = device ? safeText(device->name) : tr("Device not recorded");
    QStringList lines;
    if (!isSaved)
        lines << tr("Trains on %1").arg(name);
    else if (device)
        lines << tr("This run was trained on %1").arg(name);
    else
        lines << tr("The device that trained this run was not recorded.");
    if (device && !device->libraries.empty())
        lines << tr("With %1").arg(safeText(device->libraries));
    if (isSaved && built)
        lines << tr("Press Play to train on %1").arg(safeText(built->device.name));
    if (built && !built->cudaReason.empty())
        lines << tr("Why not the GPU: %1").arg(translated(built->cudaReason));
    return lines.join(u'\n');
}

QString RunWords::invitation(const State& state, qsizetype lanes, const QString& about) {
    switch (state.begins) {
    case Begins::FromCheckpoint: {
        if (!state.goesOnAfter) return tr("This run continues from its checkpoint.");
        const QString ended = endedBefore(state);
        const QString step = QLocale().toString(static_cast<qlonglong>(*state.goesOnAfter));
        const QString goesOn =
            !ended.isEmpty() ? ended
            : state.step > *state.goesOnAfter
                ? tr("This run goes on after step %1, from its last "
                     "checkpoint. The curves and figures reach step %2; the "
                     "steps after %1 are trained again.")
                      .arg(step, QLocale().toString(static_cast<qlonglong>(state.step)))
            : state.step > 0 || *state.goesOnAfter == 0
                ? tr("This run continues after step %1.").arg(step)
                : tr("This run continues after step %1; its earlier curves were "
                     "not found beside the checkpoint.")
                      .arg(step);
        const QString changed = changedData(state);
        return changed.isEmpty() ? goesOn : tr("%1 %2").arg(goesOn, changed);
    }
    case Begins::CheckpointLost:
        return tr("The checkpoint cannot be read, so this run starts over from step 0.");
    case Begins::Anew: break;
    }
    if (!about.isEmpty()) return about;
    if (lanes < 2) return tr("Train a network; add a lane to compare.");
    if (lanes == 2) return tr("Train the same network twice, side by side.");
    return tr("Train the same network %n times, side by side.", nullptr, static_cast<int>(lanes));
}

QString RunWords::changedData(const State& state) {
    return state.dataChange.empty() ? QString() : tr("%1.").arg(translated(state.dataChange));
}

QString RunWords::weights(const RunConfig& config) {
    const std::string& path = config.model.weights;
    if (path.empty()) return {};
    const QString name = safeText(QFileInfo(QString::fromStdString(path)).fileName().toStdString());
    return config.model.partialWeights
               ? tr("All lanes start from the weights in %1 that fit.").arg(name)
               : tr("All lanes start from the weights in %1.").arg(name);
}

bool RunWords::hasOneSample(const RunConfig& config) {
    const std::optional<DataFacts> facts =
        namesFiles(config.task) ? knownFactsOf(config) : std::nullopt;
    return facts && facts->train == 1;
}

/// Names columns that nothing is learnt from, two at most.
QString RunWords::leftOut(const TaskConfig& task) {
    if (!infoOf(task.kind).has("data.drop")) return {};
    const std::vector<std::string> names = droppedColumns(task.drop);
    if (names.empty()) return {};
    constexpr size_t kMostBytes = 40; // of each name
    const QString first = safeText(names[0], kMostBytes);
    if (names.size() == 1) return tr("Left out: %1.").arg(first);
    const QString second = safeText(names[1], kMostBytes);
    if (names.size() == 2) return tr("Left out: %1 and %2.").arg(first, second);
    return tr("Left out: %1, %2 and %3 more.")
        .arg(first, second, countText(static_cast<int64_t>(names.size()) - 2));
}

QString RunWords::data(const RunConfig& config) {
    if (!namesFiles(config.task)) return {};
    const std::optional<DataFacts> known = knownFactsOf(config);
    if (!known) return {};
    const DataFacts& facts = *known;
    const DataSetInfo& info = infoOf(config.task.kind);
    // the first note of a table names the column that is predicted, that of a text its characters
    const bool told = (info.has("data.target") || info.has("data.context")) && !facts.notes.empty();
    const int64_t classes = facts.tensors[kTarget].classes;
    QString what = told           ? translated(facts.notes.front())
                   : classes == 1 ? translated(Message(kOneClass))
                   : classes > 1  ? tr("There are %1 classes.").arg(countText(classes))
                                  : QString();
    if (const QString columns = leftOut(config.task); !columns.isEmpty())
        what = what.isEmpty() ? columns : tr("%1 %2").arg(what, columns);
    for (const Message& note : facts.notes) // what is not there is easily missed in the settings
        if (isDroppedNote(note))
            what = what.isEmpty() ? translated(note) : tr("%1 %2").arg(what, translated(note));
    const QString samples =
        facts.test > 0
            ? tr("The networks train on %1 and are validated on %2; %3 are kept for the test at "
                 "the end.")
                  .arg(samplesText(facts.train), countText(facts.validation), countText(facts.test))
        : facts.validation > 0 ? tr("The networks train on %1 and are validated on %2.")
                                     .arg(samplesText(facts.train), countText(facts.validation))
        : facts.train == 1 ? tr("There is only one sample to train on, which the networks can only "
                                "learn by heart: training needs at least two.")
                           : tr("The networks train on %1.").arg(samplesText(facts.train));
    return what.isEmpty() ? samples : tr("%1 %2").arg(what, samples);
}

QString RunWords::noGradients(const State& state, bool midway, int64_t next) {
    if (!state.built && state.recorded)
        return tr(
            "Where gradients were recorded, the plot Gradients over time shows them by step.");
    if (!state.built) return tr("The gradients are counted once the networks are built.");
    if (state.session == SessionState::Failed) return tr("The run failed, so it has no gradients.");
    const bool running = state.session == SessionState::Running;
    if (midway && !running)
        return tr("Paused in the middle of step %1. Press Step (.) to complete it and to count its "
                  "gradients.")
            .arg(QLocale().toString(static_cast<qlonglong>(next)));
    if (!state.noGradients.empty())
        return tr("The gradients cannot be counted: %1").arg(translated(state.noGradients));
    return running ? tr("The gradients are counted after this step.")
                   : tr("Counting the gradients…");
}

QString RunWords::gradientsOfTheEnd() {
    return tr("At the loss scale of the run's end. The one that you set counts after Continue.");
}

QString RunWords::recordedLayers() {
    return tr("A recording has no gradients by layer. Where gradients were recorded, the plot "
              "Gradients over time (key G) shows them by step.");
}

QString RunWords::copiedProgram(const RunConfig& config) {
    return withNeeds(tr("Copied: paste it into a file and run it with Python and PyTorch."),
                     config);
}

QString RunWords::savedProgram(const QString& path, const RunConfig& config) {
    return withNeeds(
        tr("Saved as %1: run it with Python and PyTorch.").arg(safeText(path.toStdString())),
        config);
}

bool RunWords::isChanged(const RunConfig& recorded) {
    return !recorded.forks.empty() || hasLiveChanges(recorded);
}

QString RunWords::savedExperiment(const QString& path, const RunConfig& recorded) {
    const bool live = hasLiveChanges(recorded);
    const QString said = live && !recorded.forks.empty()
                             ? tr("Saved as %1, with the forks and live changes of the run")
                         : live ? tr("Saved as %1, with the live changes of the run")
                         : !recorded.forks.empty()
                             ? tr("Saved as %1, with the forks of the run")
                             : tr("Saved as %1, with the changed end of the run");
    return said.arg(safeText(path.toStdString()));
}

QString RunWords::savedWithoutChanges(const RunConfig& recorded) {
    const QString lacks =
        recorded.forks.empty()
            ? tr("The live changes of the run are left out: File > Save results saves them.")
        : hasLiveChanges(recorded)
            ? tr("The forks and live changes of the run are left out: File > Save results saves "
                 "them.")
            : tr("The forks of the run are left out: File > Save results saves them.");
    return tr("The settings are no longer those of the run, so they were written as they are now. "
              "%1")
        .arg(lacks);
}

void RunWords::refuseRecorded(const RunConfig& config) {
    if (isRecorded(config)) throw InputError(Message::data(recorded().toStdString()));
}

QString RunWords::recorded() {
    return tr("Its network and data are not here: it can be looked at, not trained.");
}

QString RunWords::failedStart(bool showsOther) {
    const QString failed = tr("Training cannot start with these settings.");
    return showsOther ? tr("%1 The previous run is still shown.").arg(failed) : failed;
}

} // namespace halfscope
