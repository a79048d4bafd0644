// Implements the run command: the loop over steps, its stop by a signal, and the closing table.
#include "app/cli_run.h"

#include "app/cli_best.h"
#include "app/cli_board.h"
#include "app/cli_checkpoints.h"
#include "app/cli_closing.h"
#include "app/cli_gradients.h"
#include "app/cli_onnx.h"
#include "app/cli_output.h"
#include "app/cli_overwriting.h"
#include "app/cli_progress.h"
#include "app/cli_ranking.h"
#include "app/cli_signals.h"
#include "app/cli_start.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/atomic_file.h"
#include "engine/runs/lane_ranking.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_writer.h"
#include "engine/step/model_shapes.h"
#include "engine/train/experiment.h"
#include "engine/train/onnx_file.h"
#include "engine/train/run_info.h"
#include "engine/train/state_dict.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

namespace halfscope::cli {

namespace {

constexpr double kSlowStepSeconds = 0.05; // in slower steps, reading the pictures back costs
                                          // comparatively little
constexpr int64_t kBoardPictures = 20;    // about so many, for a run that TensorBoard shows
constexpr int kFailedExit = 1;            // a file was not written

/// Returns how often the gradients of a run are counted, in steps; 0: never. A run that goes on
/// goes on with that, too.
int64_t countEveryOf(const RunOptions& options, const Start& start) {
    if (options.countGradients > 0 || !start.state) return options.countGradients;
    return start.state->countGradients;
}

RunOutcome outcomeOf(const Experiment& experiment) {
    if (experiment.outOfPatience() > 0) return RunOutcome::OutOfPatience;
    if (experiment.finished()) return RunOutcome::Finished;
    return experiment.stopReason().empty() ? RunOutcome::Interrupted : RunOutcome::Stopped;
}

/// The steps of a run, with everything that follows them.
class Loop {
public:
    /// `events` came before the first step.
    Loop(Experiment& experiment, const RunOptions& options, const Start& start,
         std::vector<Event> events)
        : m_experiment(experiment), m_infos(lanesFrom(0)),
          m_lanes(noSums(experiment, m_infos.size())), m_sweeps(options.experiment.swept()),
          m_countEvery(countEveryOf(options, start)), m_begin(experiment.step()),
          m_events(std::move(events)) {
        const RunPast* const past = start.past ? &*start.past : nullptr;
        m_goesOnHere = start.goesOnIn(options.out);
        const bool kept = start.state && start.state->keepsBest;
        const bool recounts = start.state && m_countEvery != start.state->countGradients;
        m_isChanged = start.moved || !m_events.empty() || (options.keepBest && !kept) || recounts;
        if (past) past->forEach([this](const RunBatch& batch) { add(batch); });
        if (!options.out.empty()) {
            m_files.emplace(options.out, runInfo(experiment, HALFSCOPE_VERSION), m_infos,
                            experiment.target(), extraMetrics(experiment), past);
            m_checkpoints.emplace(*m_files, options, start);
            m_isChanged = m_isChanged || m_checkpoints->isChanged();
        }
        beginBest(options, past, kept);
        if (!options.tensorboard.empty()) {
            m_board.emplace(options.tensorboard, m_infos, experiment.step(), [this] {
                if (m_progress) m_progress->endLine();
            });
            m_pictureEvery = std::max<int64_t>(1, experiment.config().steps / kBoardPictures);
            if (!options.quiet) printNote(boardNote(*m_board, lanesOf(experiment.recorded())));
        }
        if (!options.quiet) {
            m_progress.emplace(experiment.config(), experiment.epochs(), experiment.step());
        }
    }

    void go(const SignalWatch& signals) {
        if (m_goesOnHere && m_isChanged) saveChange();
        while (!m_experiment.finished() && m_experiment.stopReason().empty() &&
               m_experiment.dataFault().empty() && m_fault.empty() && !signals.interrupted()) {
            const int64_t before = m_experiment.step();
            try {
                countGradients();
                // Events of a step that was stopped midway are left out, as are its records.
                if (!advance()) continue;
                addPictures();
            } catch (const InputError& error) { // a later sample cannot be read: keep what there is
                const bool isStep = m_experiment.step() == before && m_experiment.atStepBoundary();
                if (before == 0 || !isStep) throw;
                m_failure = error.message();
                break;
            }
            if (m_checkpoints && m_checkpoints->isDue(m_experiment.step())) save();
        }
        if (m_failure.empty()) m_failure = m_experiment.dataFault();
        if (m_progress) m_progress->end();
    }

    /// Writes a checkpoint of the last step, unless there is one. A step that was interrupted is
    /// finished first, because a checkpoint needs all lanes at the same step.
    void saveAtEnd(SignalWatch& signals) {
        if (!m_checkpoints || !m_checkpoints->endsWithOne() || !m_fault.empty()) return;
        if (m_checkpoints->has(m_experiment.step())) return;
        signals.setStop({});
        m_experiment.clearStop();
        while (!m_experiment.atStepBoundary())
            advance();
        if (m_experiment.step() > 0) save(LastOutputs::Always);
    }

    void close(const RunOptions& options) {
        const RunOutcome outcome =
            failure().empty() ? outcomeOf(m_experiment) : RunOutcome::Stopped;
        const bool whole = !m_files || (m_fault.empty() && tries([&] { finishFiles(outcome); }));
        const bool onnx =
            !options.onnx.empty() && tries([&] { writeOnnx(options.onnx, options.quiet); });
        if (m_board) m_board->finish();
        if (options.quiet) return;
        const bool trained = m_experiment.step() != m_begin;
        if (m_files && whole && (trained || !m_goesOnHere))
            printNote(evaluationNote(options.out, m_goesOnHere));
        print(endText(outcome) + idleText(outcome));
        if (m_hasRows) {
            continueForks(); // those that were to go on from the last step
            print(m_sweeps.empty() ? closingTable(m_experiment, m_lanes) : ranking(outcome));
            print(learntText());
            std::vector<GradientRange> ranges;
            if (m_countEvery > 0) ranges = lastRanges(outcome);
            print((m_sweeps.empty() ? bestLine(m_experiment, m_lanes) : std::string()) +
                  testLine(m_experiment, m_lanes) + lostSamplesText() +
                  testFaultLine(m_experiment, m_lanes) + heldFaultLine(m_experiment, m_lanes) +
                  laneNotes(m_experiment, m_lanes, ranges) + gradientTables(m_experiment, ranges));
        }
        if (m_files) print("Files: " + pathText(options.out) + "\n");
        if (!m_fault.empty())
            print("Checkpoint: " + m_checkpoints->wholeText() + "\n");
        else if (lacksCheckpoint())
            print("Checkpoint: " + m_checkpoints->unsavedText() + "\n");
        if (m_best) print(m_best->unsavedText());
        if (onnx)
            for (const OnnxTarget& each : onnxTargets(options.onnx, m_experiment))
                print("ONNX: " + pathText(each.file) + "\n");
        if (lacksBoard())
            print("TensorBoard: its files end early: " + m_board->problem().english() + "\n");
        else if (m_board)
            print("TensorBoard: tensorboard --logdir " + shellText(options.tensorboard) + "\n");
    }

    /// Whether the files for TensorBoard could not be written to their end.
    bool lacksBoard() const { return m_board && !m_board->problem().empty(); }

    /// Whether the last step has no checkpoint although it was to have one.
    bool lacksCheckpoint() const { return m_checkpoints && !m_checkpoints->unsaved().empty(); }
    /// Whether that is so, or a lane has not its best weights.
    bool lacksWeights() const { return lacksCheckpoint() || (m_best && m_best->lacksAny()); }

    /// Tells which file of the end could not be written; empty if all are there.
    const Message& unwritten() const { return m_unwritten; }

    /// Tells why the data, or the disk of the run's files, let no further step be taken; empty
    /// otherwise.
    const Message& failure() const { return m_fault.empty() ? m_failure : m_fault; }

private:
    /// Tells where the run ended, unless that is its last step.
    std::string endText(RunOutcome outcome) const {
        const std::string place = " after step " + std::to_string(m_experiment.step()) + " of " +
                                  std::to_string(m_experiment.config().steps) +
                                  epochText(m_experiment);
        const bool goesOn =
            m_checkpoints && m_checkpoints->has(m_experiment.step()) && !m_experiment.finished();
        if (outcome == RunOutcome::Interrupted)
            return "Interrupted" + place +
                   (goesOn ? "; " + m_checkpoints->command() + " goes on from here\n" : "\n");
        if (!m_fault.empty()) return "Ended" + place + ": its files cannot be written further\n";
        if (!m_failure.empty())
            return "Ended" + place +
                   (m_experiment.dataFault().empty() ? ": the samples of the next step"
                                                     : ": the samples to validate on") +
                   " cannot be read" + (goesOn ? "; --resume goes on from here\n" : "\n");
        if (outcome != RunOutcome::OutOfPatience) return {};
        return "Ended" + place + ": " + patienceWords(m_experiment.outOfPatience()).english() +
               "\n";
    }

    /// Tells how many samples were lost: accuracies are those of the others.
    std::string lostSamplesText() const {
        return m_lost.all() > 0 ? "Data: " + m_lost.sentence().english() + "\n" : std::string();
    }

    /// Tells why a run that was to go on did nothing, and what lets it.
    std::string idleText(RunOutcome outcome) const {
        if (m_experiment.step() != m_begin || m_begin == 0) return {};
        if (outcome == RunOutcome::Interrupted) return {};
        std::string text = "Nothing was trained: the checkpoint is after step " +
                           std::to_string(m_experiment.step()) + ", and ";
        if (outcome == RunOutcome::OutOfPatience)
            return text +
                   "the run had ended there; --set run.patience=N lets it go on, with N "
                   "above " +
                   std::to_string(m_experiment.outOfPatience()) + ", or 0\n";
        return text + "the run ends at step " + std::to_string(m_experiment.config().steps) +
               "; --steps or --epochs sets a later end\n" +
               (m_files ? paintedNote(m_experiment, m_pictures) : std::string());
    }

    /// Returns the lanes from an index on that are there now.
    std::vector<LaneInfo> lanesFrom(size_t first) const {
        const auto count = static_cast<size_t>(m_experiment.lanes());
        if (first >= count) return {};
        std::vector<LaneInfo> lanes = lanesOf(m_experiment.recorded());
        lanes.resize(count);
        lanes.erase(lanes.begin(), lanes.begin() + static_cast<std::ptrdiff_t>(first));
        return lanes;
    }

    /// Takes one step; returns false when it was interrupted.
    bool advance() {
        std::vector<StepRecord> records;
        if (!m_experiment.advance(records, m_events)) return false;
        RunBatch batch;
        batch.lanes = lanesFrom(m_lanes.size()); // those that were forked
        for (const StepRecord& record : records)
            batch.rows.push_back(rowOf(record));
        batch.events = std::exchange(m_events, {});
        take(batch);
        if (m_progress) m_progress->show(records, batch.events);
        return true;
    }

    /// Writes what the run was told beside its checkpoint into a new one: after a kill nobody would
    /// tell it again.
    void saveChange() {
        RunBatch batch;
        batch.events = std::exchange(m_events, {}); // a checkpoint's edits are told already
        if (!batch.empty()) take(batch);
        save();
    }

    void save(LastOutputs outputs = LastOutputs::AtTheEnd) {
        ExperimentState state = m_experiment.state(outputs);
        state.keepsBest = m_best.has_value();
        state.countGradients = m_countEvery;
        if (m_board) m_board->sync();
        const bool ends = outputs == LastOutputs::Always || m_experiment.finished();
        std::string note;
        writes([&] { note = m_checkpoints->write(std::move(state), ends); });
        if (note.empty()) return;
        if (m_progress) m_progress->endLine();
        printNote(note);
    }

    /// Writes to the files of a training that ends once it cannot: see failure().
    void writes(const std::function<void()>& write) {
        if (!m_fault.empty()) return;
        try {
            write();
        } catch (const RunError& error) {
            m_fault = error.message();
        }
    }

    /// Returns false when a file of the end could not be written; the others still are.
    bool tries(const std::function<void()>& write) {
        try {
            write();
            return true;
        } catch (const RunError& error) {
            if (m_unwritten.empty()) m_unwritten = error.message();
            return false;
        }
    }

    /// Begins to keep the best weights where that is asked for, or a run goes on that did: `kept`,
    /// or by what its folder has.
    void beginBest(const RunOptions& options, const RunPast* past, bool kept) {
        if (!m_files) return;
        const std::vector<LaneInfo> all = lanesOf(m_experiment.recorded()); // with forks to come
        bool keeps = options.keepBest || kept;
        for (const LaneInfo& lane : all) // checkpoints of earlier versions do not tell
            keeps = keeps || (past && BestFiles::has(options.out, lane.name));
        if (!keeps) return;
        m_best.emplace(*m_files, options.out, [this] {
            if (m_progress) m_progress->endLine();
        });
        continueForks(); // those that begin after the step of the checkpoint
        for (size_t i = 0; past && i < all.size(); ++i) {
            const bool begun = i < m_lanes.size();
            const Message lost =
                m_best->goOn(past->folder, all[i].name, begun ? m_lanes[i].totals : LaneTotals());
            if (!lost.empty() && !options.quiet) printNote(lost.english() + "\n");
        }
    }

    /// A fork begins with what its parent has after their last common step, which may be that of
    /// the rows that come with it.
    void keepBest(const RunBatch& batch) {
        const auto fork = [this, &batch](bool fromRows) {
            for (const LaneInfo& lane : batch.lanes)
                if (lane.parent >= 0 && fromRows == (batch.rows.front().step <= lane.forkStep))
                    m_best->fork(m_infos[static_cast<size_t>(lane.parent)].name, lane.name);
        };
        if (batch.rows.empty()) return;
        fork(false);
        for (const StepRow& row : batch.rows)
            m_best->add(m_experiment.laneName(row.lane), row,
                        [this, &row] { return weightsOf(row.lane).content; });
        fork(true);
    }

    /// Passes on the rows of a step, one for each lane, and its events.
    void take(const RunBatch& batch) {
        if (!batch.lanes.empty() && m_progress) m_progress->setLanes(m_experiment.config());
        const double seconds = add(batch);
        if (!batch.rows.empty()) m_stepSeconds = seconds;
        if (m_files) writes([&] { m_files->append(batch); });
        if (m_board) m_board->append(batch);
        if (!m_files) return;
        if (m_best) writes([&] { keepBest(batch); });
        const bool free = !m_experiment.view().probe; // a probe costs a pass of its own
        if (seconds >= kSlowStepSeconds && free) m_pictures = m_experiment.snapshot();
    }

    /// Adds the pictures of the step that was just taken, when TensorBoard gets them.
    void addPictures() {
        const int64_t step = m_experiment.step();
        if (m_pictureEvery == 0 || lacksBoard()) return;
        const bool first = step == m_begin + 1;
        if (step % m_pictureEvery != 0 && !first && !m_experiment.finished()) return;
        m_pictures = m_experiment.snapshot();
        const auto& outputs = m_pictures.outputs;
        const bool drawn = std::any_of(outputs.begin(), outputs.end(),
                                       [](const Picture& each) { return each.width > 0; });
        if (!drawn && !outputs.empty()) m_pictureEvery = 0; // this task has no pictures
        RunBatch batch;
        batch.pictures = m_pictures;
        if (drawn) m_board->append(batch);
    }

    void continueForks() {
        for (size_t i = 0; i < m_infos.size(); ++i)
            if (const LaneInfo& lane = m_infos[i]; lane.parent >= 0)
                m_lanes[i].continueFrom(m_lanes[static_cast<size_t>(lane.parent)], lane.forkStep,
                                        static_cast<int32_t>(i), lane.scalesAnew);
    }

    /// Adds to what the closing table shows; returns how many seconds the devices worked on it.
    double add(const RunBatch& batch) {
        m_infos.insert(m_infos.end(), batch.lanes.begin(), batch.lanes.end());
        m_lanes.resize(m_infos.size(), noSums(m_experiment, 1).front());
        continueForks();
        double seconds = 0;
        m_hasRows = m_hasRows || !batch.rows.empty();
        for (const StepRow& row : batch.rows) {
            m_lanes[static_cast<size_t>(row.lane)].add(row);
            seconds += row.deviceSeconds();
        }
        for (const Event& event : batch.events) {
            m_lost.add(event);
            for (size_t lane = 0; lane < m_lanes.size(); ++lane)
                if (concernsLane(event, lane)) m_lanes[lane].totals.add(event);
        }
        return seconds;
    }

    MadeFile weightsOf(int lane) const {
        return {run_file::weights(m_experiment.laneName(lane)),
                stateDictBytes(m_experiment.lane(lane), modelShapes(m_experiment.config()).text,
                               HALFSCOPE_VERSION, m_experiment.dataRecord(),
                               m_experiment.batchesBefore())};
    }

    std::vector<MadeFile> weights() const {
        std::vector<MadeFile> files;
        for (int i = 0; i < m_experiment.lanes(); ++i)
            files.push_back(weightsOf(i));
        return files;
    }

    void writeOnnx(const std::string& path, bool quiet) {
        for (const OnnxTarget& each : onnxTargets(path, m_experiment))
            writeFileAtomically(
                each.file, each.critic ? criticOnnxBytes(m_experiment, each.lane, HALFSCOPE_VERSION)
                                       : onnxBytes(m_experiment, each.lane, HALFSCOPE_VERSION));
        const Message rounds = onnxRoundingNote(m_experiment.config());
        if (!quiet && !rounds.empty()) printNote(rounds.english() + "\n");
    }

    void finishFiles(RunOutcome outcome) {
        const bool kept =
            m_pictures.step == m_experiment.step() && m_pictures.outputs.size() == m_lanes.size();
        if (m_experiment.step() > 0 && !kept) m_pictures = lastPictures();
        if (mayLook(outcome)) addGalleries();
        RunInfo info = runInfo(m_experiment, HALFSCOPE_VERSION);
        info.outcome = outcome;
        m_files->finish(info, m_pictures, weights());
    }

    /// Whether there are time and samples to look at the networks once more.
    bool mayLook(RunOutcome outcome) const {
        return outcome != RunOutcome::Interrupted && failure().empty();
    }

    LanePictures lastPictures() {
        try {
            return m_experiment.snapshot();
        } catch (const InputError&) {
            if (m_failure.empty()) throw;
            return {}; // the samples that it shows are gone, too
        }
    }

    /// Adds the galleries unless the run is stopped: then the pictures that exist are written
    /// without them.
    void addGalleries() {
        LanePictures with = m_pictures;
        m_experiment.addGalleries(with);
        if (!with.outputs.empty()) m_pictures = std::move(with);
    }

    std::string ranking(RunOutcome outcome) {
        std::vector<GradientRange> ranges; // empty after an interruption, to end without delay
        if (mayLook(outcome)) ranges = m_experiment.gradientRanges();
        return rankingOf(m_experiment, m_sweeps, m_lanes, ranges);
    }

    /// The gradients with the weights at the end; those that were counted last if it was
    /// interrupted, or its data ended it.
    std::vector<GradientRange> lastRanges(RunOutcome outcome) {
        std::vector<GradientRange> ranges;
        if (mayLook(outcome))
            ranges = m_experiment.gradientRanges(m_experiment.config().gradientError > 0);
        return ranges.empty() ? m_ranges : ranges;
    }

    /// The coefficients that the lanes have learnt, where they can be told in words.
    std::string learntText() {
        if (m_experiment.view().terms.empty()) return {};
        const Snapshot now = m_experiment.snapshot();
        std::string text;
        for (size_t i = 0; i < now.outputs.size(); ++i)
            if (const std::string& caption = now.outputs[i].caption; !caption.empty())
                text += m_experiment.laneName(static_cast<int>(i)) + ": " + caption + "\n";
        return text;
    }

    /// Counts the gradients of the next step, when it is one of those to count.
    void countGradients() {
        if (m_countEvery == 0) return countForBoard();
        const int64_t step = m_experiment.step();
        if (step % m_countEvery != 0 || step == m_counted) return;
        const bool errors = m_experiment.config().gradientError > 0;
        std::vector<GradientRange> ranges = m_experiment.gradientRanges(errors);
        if (ranges.empty()) return; // in the middle of a step, or there are no gradients
        m_ranges = ranges;
        RunBatch batch;
        batch.lanes = lanesFrom(m_lanes.size());
        batch.gradients.push_back(std::move(ranges));
        take(batch);
        m_counted = step;
    }

    /// Counts them now and then for TensorBoard alone: no option asks for them. What a step takes
    /// is known after the first one. A GPU would need a second step in its memory.
    void countForBoard() {
        if (!m_board || m_experiment.step() == m_begin) return;
        if (m_experiment.device().kind != "cpu") return;
        m_board->countGradients(m_experiment.step(), m_pictureEvery, m_stepSeconds, [this] {
            std::vector<GradientRange> ranges = m_experiment.gradientRanges();
            if (ranges.size() > m_infos.size()) ranges.clear(); // the first step of a fork was
            return ranges;                                      // stopped midway
        });
    }

    Experiment& m_experiment;
    std::vector<LaneInfo> m_infos; ///< of the lanes that are there now
    std::vector<LaneSums> m_lanes;
    const std::vector<Sweep> m_sweeps;
    LostSamples m_lost;
    bool m_hasRows = false; ///< in m_lanes
    const int64_t m_countEvery;
    bool m_goesOnHere = false;           ///< in the folder of the checkpoint
    bool m_isChanged = false;            ///< the checkpoint does not have what was given beside it
    const int64_t m_begin;               ///< the step before the first one
    std::vector<Event> m_events;         // since the last step
    Message m_failure;                   // see failure()
    Message m_fault;                     // why m_files cannot be written further; empty if they can
    Message m_unwritten;                 // see unwritten()
    std::vector<GradientRange> m_ranges; // the last ones that were counted
    int64_t m_counted = -1;              // the step after which they were counted; -1: none
    std::optional<RunWriter> m_files;
    std::optional<CheckpointFiles> m_checkpoints; ///< where there are files
    std::optional<BestFiles> m_best;              ///< where the best weights are kept
    std::optional<BoardFiles> m_board;
    int64_t m_pictureEvery = 0; ///< in steps, for TensorBoard; 0: never
    double m_stepSeconds = 0;   ///< what the devices took for the last step
    /// Pictures of the last step, when steps are slow: an interrupted run must not compute another
    /// forward pass before it ends.
    LanePictures m_pictures;
    std::optional<Progress> m_progress;
};

} // namespace

int run(const RunOptions& options) {
    const Start start = startOf(options);
    const CommandFiles files =
        filesOfRun(options, start.config ? *start.config : start.state->recorded, start.checkpoint);
    SignalWatch signals; // before the engine starts threads
    const std::unique_ptr<Experiment> made = experimentOf(start);
    Experiment& experiment = *made;
    if (!options.onnx.empty()) checkOnnxTargets(options, experiment, files);
    if (options.keepBest) checkKeepsBest(options.out, experiment);
    std::vector<Event> events = edit(experiment, start.edits);
    struct Release {
        SignalWatch& signals;
        ~Release() { signals.setStop({}); } // the experiment is destroyed before the watch
    };
    if (!options.quiet) printNote(startText(experiment) + start.note);
    signals.setStop([&experiment] { experiment.requestStop(); });
    const Release release{signals};
    if (start.past && !start.past->rows && !options.quiet)
        printNote("The rows up to step " + std::to_string(start.past->step) +
                  " are not beside the checkpoint: the tables begin with the next one.\n");
    const bool isNew = !options.out.empty() && !options.quiet;
    const std::string replaced = isNew && !start.goesOnIn(options.out)
                                     ? replacedNote(options.out, experiment.recorded())
                                     : std::string();
    Loop loop(experiment, options, start, std::move(events));
    printNote(replaced);
    loop.go(signals);
    loop.saveAtEnd(signals);
    loop.close(options);
    if (!loop.unwritten().empty()) throw RunError(loop.unwritten());
    if (!loop.failure().empty()) throw RunError(loop.failure());
    if (outcomeOf(experiment) == RunOutcome::Stopped) throw RunError(experiment.stopReason());
    if (loop.lacksWeights()) return kFailedExit;
    if (!experiment.finished()) return kInterruptedExit;
    return loop.lacksBoard() ? kFailedExit : 0;
}

} // namespace halfscope::cli
