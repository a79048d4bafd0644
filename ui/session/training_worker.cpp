// The training loop: commands, then one step of all lanes, then the rows into the channel.
#include "ui/session/training_worker.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/atomic_file.h"
#include "engine/train/checkpoint.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <new>
#include <thread>

namespace halfscope {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Pictures take a hundredth of the time, but there are at most 10 a second and at least one. Slow
// pictures come less often: they take at most a fifth of the time.
constexpr std::chrono::nanoseconds kPictureInterval = 100ms, kSlowestPictures = 1s;
constexpr int kPictureShare = 99, kSlowPictureShare = 4;
constexpr double kSlowPictureSeconds = 0.05;
// The largest checkpoint that is kept with the run: larger ones would keep the disk busy.
constexpr size_t kMostStateBytes = size_t{256} << 20;
// The largest state that a pause has time to copy before it answers: 16 ms at 1 GB/s.
constexpr size_t kQuickStateBytes = size_t{16} << 20;
// Reserved for the words about an error, for when all other memory is used up.
constexpr size_t kTrainingReserve = size_t{1} << 20;
constexpr std::chrono::milliseconds kAfterFailure = 20ms;

/// Marks that a file is being written: a closing window waits longer for the thread then.
class Saving {
public:
    explicit Saving(SessionChannel& channel) : m_channel(channel) { m_channel.setSaves(true); }
    ~Saving() { m_channel.setSaves(false); }
    Saving(const Saving&) = delete;
    Saving& operator=(const Saving&) = delete;

private:
    SessionChannel& m_channel;
};

double secondsOf(Clock::time_point time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
}

} // namespace

TrainingWorker::TrainingWorker(std::shared_ptr<SessionChannel> channel, RunFactory factory)
    : m_channel(std::move(channel)), m_factory(std::move(factory)),
      m_outOfMemory(phrase("Training",
                           "The memory of this machine is used up. The run has ended; what was "
                           "trained is kept. A smaller network, picture or batch needs less.")),
      m_reserve(new char[kTrainingReserve]) {}

TrainingWorker::~TrainingWorker() = default;

void TrainingWorker::run() {
    while (!m_channel->quits()) {
        try {
            if (m_failure) tellFailure();
            turn();
        } catch (const std::exception&) {
            fail(); // the window continues
            std::this_thread::sleep_for(kAfterFailure);
        }
    }
    destroyRun();
}

void TrainingWorker::turn() {
    const bool delivered = m_channel->publish(m_number, m_records, m_events);
    // Rows that found no room wait here, and training with them: none is ever dropped.
    for (Command& command : m_channel->waitForCommands(patience(delivered)))
        obey(command);
    m_channel->setRestsMidway(m_midway && !busy());
    if (m_channel->quits()) return;
    if (m_fork && canTrain() && !m_midway) fork();
    if (!m_saves.empty() && !m_midway) save();
    if (m_keeps && !m_midway) keep();
    if (delivered && busy() && wait() <= 0) advance();
    if (m_looks) look();
}

std::chrono::milliseconds TrainingWorker::patience(bool delivered) const {
    if (!delivered) return 1ms;
    const bool owes = m_failure || m_keeps || !m_saves.empty();
    if (!busy()) return owes ? kAfterFailure : 1000ms;
    // no longer than a new pace may take to act
    constexpr double kLongest = 0.05;
    return std::chrono::milliseconds(std::lround(std::ceil(1e3 * std::min(wait(), kLongest))));
}

double TrainingWorker::wait() const {
    // an interrupted step goes on, and a single step that was asked for comes at once
    if (m_midway || m_state != SessionState::Running) return 0;
    return m_steps.wait(m_channel->pace(), secondsOf(Clock::now()));
}

void TrainingWorker::obey(Command& command) {
    std::visit(Overloaded{[this](PlayCommand) {
                              m_steps.rests(); // until now
                              if (canTrain() && !m_run->finished()) setState(SessionState::Running);
                          },
                          [this](PauseCommand) {
                              m_stepsAsked = 0;
                              pause();
                          },
                          [this](StepCommand) { askForStep(); },
                          [this](const ResetCommand& reset) { build(reset); },
                          [this](const EditCommand& change) { edit(change); },
                          [this](ForkCommand& fork) { m_fork = std::move(fork); },
                          [this](SaveCommand& save) { m_saves.push_back(std::move(save)); },
                          [this](const KeepCommand& keep) { m_keeps = keep.number; },
                          [this](LookCommand) {
                              m_counted = false; // a glance may have been all that was made of it
                              look();
                          }},
               command);
}

void TrainingWorker::pause() {
    try {
        // what is shown must belong to the step that the counter shows
        const bool shows = m_state == SessionState::Running && !m_midway;
        const bool slow = m_pictureSeconds > kSlowPictureSeconds;
        if (m_state == SessionState::Running) m_state = SessionState::Paused;
        if (shows && !slow) showPicture();
        if (shows && m_run->stateBytes() <= kQuickStateBytes) keepState();
        // answered in every state, because the window waits for it
        tell(StateNotice{m_state, m_outOfPatience});
        if (shows && slow) showPicture();
        if (shows) keepState();
    } catch (const std::exception&) {
        return fail();
    }
    look();
}

void TrainingWorker::build(const ResetCommand& reset) {
    saveBeforeItIsGone();
    destroyRun();
    m_records.clear();
    m_events.clear();
    m_keeps.reset(); // the next run has no step yet that could be kept
    m_number = reset.run;
    m_counts = {};
    m_counted = m_hasErrors = false;
    m_noGradients = {};
    m_steps = {};
    m_checkpoints = CheckpointPace(secondsOf(Clock::now()));
    m_keptStep = m_resumedStep = -1;
    setState(SessionState::Building);
    try {
        const std::stop_token stop = m_channel->newRun();
        const Beginning from = read(reset, stop);
        m_run = m_factory(from.state ? from.state->recorded : reset.config, stop);
        m_channel->setTarget(m_run.get());
        if (from.state) m_run->resume(*from.state);
        auto info = std::make_shared<SessionInfo>();
        info->run = m_number;
        m_keepsBest = from.state && from.state->keepsBest;
        m_countGradients = from.state ? from.state->countGradients : 0;
        m_checkpointEvery = from.state ? from.state->checkpointEvery : 0;
        if (from.state) {
            info->goesOnAfter = m_resumedStep = from.state->step;
            for (const LaneState& lane : from.state->lanes)
                info->scalers.push_back(scalerFiguresOf(lane));
        }
        info->ended = from.state && m_run->step() > 0 && m_run->finished();
        info->begun = from.run;
        info->config = m_run->config();
        info->recorded = m_run->recorded();
        m_changes = m_run->changes();
        info->laneNames = m_run->laneNames();
        info->memory = m_run->memory();
        info->device = m_run->device();
        info->cudaReason = m_run->cudaReason();
        info->dataChange = m_run->dataChange();
        info->weightsNote = m_run->weightsNote();
        info->target = m_run->target();
        tell(BuiltNotice{std::move(info)});
        showPicture();
        setState(SessionState::Ready);
        checkFinished();
        look();
    } catch (const std::exception&) {
        fail();
    }
}

Beginning TrainingWorker::read(const ResetCommand& reset, const std::stop_token& stop) {
    if (!reset.from) return {};
    const Cancellable scope(stop);
    try {
        return reset.from();
    } catch (const ReportedError& error) { // untrained networks are better than none
        tell(RefusedNotice{error.message()});
        return {};
    }
}

void TrainingWorker::edit(const EditCommand& change) {
    if (!canTrain()) return;
    try {
        m_run->setLive(change.lane, change.key, change.value, m_events);
        m_counted = false;
        publishChange();
        checkFinished();
        keepChange();
        look(); // the gradients of the next step have another scale
    } catch (const InputError& error) {
        tell(RefusedNotice{error.message()});
    } catch (const std::exception&) {
        fail();
    }
}

void TrainingWorker::fork() {
    const ForkCommand asked = *std::exchange(m_fork, std::nullopt);
    try {
        m_run->fork(asked.parent, asked.lane, m_events);
        m_counted = false;
        publishChange();
        showPicture();
        keepChange();
        look();
    } catch (const InputError& error) {
        tell(RefusedNotice{error.message()});
    } catch (const EngineError& error) { // the lane does not fit into memory: the others continue
        tell(RefusedNotice{error.message()});
    } catch (const std::exception&) {
        fail();
    }
}

void TrainingWorker::save() {
    const SaveCommand asked = std::move(m_saves.front());
    m_saves.pop_front();
    if (!m_run)
        return tell(NotSavedNotice{
            {phrase("Training", "%1: not written, because the networks are gone since an error "
                                "ended the run. File > Save results saves what was kept of it."),
             pathText(asked.path)}});
    const Saving saving(*m_channel);
    try {
        if (asked.file) return saveLane(asked);
        const ExperimentState state = stateOfRun();
        writeCheckpoint(asked.path, state, asked.program);
        tell(SavedNotice{asked.path, state.step});
    } catch (const ReportedError& error) { // a full disk, say: the training continues
        tell(NotSavedNotice{error.message()});
    } catch (const std::exception&) {
        fail();
    }
}

/// Writes the files that the run still owes, unless it stands in the middle of a step.
void TrainingWorker::saveBeforeItIsGone() {
    for (size_t waiting = m_saves.size(); waiting > 0 && m_run && !m_midway; --waiting)
        save();
    for (const SaveCommand& lost : m_saves)
        tell(NotSavedNotice{{phrase("Training", "%1: not written, because the run was reset before "
                                                "it could be saved"),
                             pathText(lost.path)}});
    m_saves.clear();
}

void TrainingWorker::saveLane(const SaveCommand& asked) {
    const auto file = m_run->laneFile(*asked.file, asked.lane, asked.program, asked.samples);
    if (!file) { // a command came in between and is obeyed first
        m_saves.push_front(asked);
        return;
    }
    writeFileAtomically(asked.path, file->bytes);
    tell(SavedNotice{asked.path, m_run->step(), true, file->note});
}

/// Answers also when there is no run any more. When the run fails here, the next turn answers: a
/// window that closes waits for that.
void TrainingWorker::keep() {
    try {
        keepState();
        tell(KeptNotice{*m_keeps});
        m_keeps.reset();
    } catch (const std::exception&) {
        fail();
    }
}

void TrainingWorker::publishChange() {
    if (m_changes == m_run->changes()) return;
    m_changes = m_run->changes();
    m_channel->publish(m_number,
                       SessionChange{m_run->config(), m_run->recorded(), m_run->memory()});
}

/// Lets steps that are asked for while one is trained wait, but not so many that the training would
/// go on for long after the last click.
void TrainingWorker::askForStep() {
    constexpr double kMostSeconds = 2, kLeast = 2, kMost = 1000; // of steps that wait
    if (!canTrain() || m_run->finished()) return;
    const double most = m_stepSeconds > 0 ? kMostSeconds / m_stepSeconds : kLeast;
    m_stepsAsked = std::min(m_stepsAsked + 1, static_cast<int>(std::clamp(most, kLeast, kMost)));
}

/// Checks the end again, because the stop step may have moved.
void TrainingWorker::checkFinished() {
    const bool done = m_run->finished();
    if (done && m_run->step() > 0) {
        m_stepsAsked = 0;
        setState(SessionState::Finished);
    } else if (!done && m_state == SessionState::Finished) {
        setState(SessionState::Paused);
    }
}

void TrainingWorker::destroyRun() {
    m_channel->setTarget(nullptr);
    m_run.reset();
    m_stepsAsked = 0;
    m_midway = false;
    m_fork.reset();
}

void TrainingWorker::advance() {
    try {
        m_counted = false;
        if (!m_midway) {
            if (m_state != SessionState::Running) m_steps.rests();
            m_run->waited(m_steps.begins(m_channel->pace(), secondsOf(Clock::now())));
        }
        const auto start = Clock::now();
        m_midway = !m_run->advance(m_records, m_events);
        m_stepSeconds = secondsOf(Clock::now()) - secondsOf(start);
        publishChange();      // also when a recorded run is repeated
        if (m_midway) return; // interrupted: a command is waiting
        m_steps.ends(secondsOf(Clock::now()));
        m_channel->publish(m_number, m_records, m_events);
        const bool done = m_run->finished();
        const bool single = m_stepsAsked > 0 && m_state != SessionState::Running;
        m_stepsAsked = single && !done ? m_stepsAsked - 1 : 0;
        const bool lastAsked = single && m_stepsAsked == 0;
        // when there is time before the next step, each step's picture is shown
        const bool time = wait() > m_pictureSeconds || Clock::now() >= m_nextPicture;
        if (done || lastAsked || (time && m_channel->pictureWanted())) showPicture();
        if (gradientsDue()) showGradients();
        if (done || lastAsked || m_checkpoints.due(secondsOf(Clock::now()))) keepState();
        if (done && !m_run->dataFault().empty()) throw InputError(m_run->dataFault());
        if (done)
            setState(SessionState::Finished);
        else if (single)
            setState(SessionState::Paused);
        if (done || lastAsked) look();
    } catch (const std::exception&) {
        failBetweenSteps();
    }
}

/// Keeps the last step of a run that cannot go on. If that is not possible, the one kept before it
/// stays.
void TrainingWorker::keepLast() {
    try {
        keepState();
    } catch (const std::exception&) {
        m_keptStep = -1;
    }
}

void TrainingWorker::showPicture() {
    const auto start = Clock::now();
    Snapshot snapshot = m_run->snapshot();
    // a request to stop the training may have stopped it although no command waits any more
    for (size_t i = 0; i < kMaxLanes && snapshot.outputs.empty() && !m_channel->commandWaits(); ++i)
        snapshot = m_run->snapshot();
    if (!snapshot.outputs.empty()) m_channel->publish(m_number, std::move(snapshot));
    const auto end = Clock::now();
    m_pictureSeconds = secondsOf(end) - secondsOf(start);
    const auto slowest =
        std::max<std::chrono::nanoseconds>(kSlowestPictures, kSlowPictureShare * (end - start));
    m_nextPicture = end + std::clamp<std::chrono::nanoseconds>(kPictureShare * (end - start),
                                                               kPictureInterval, slowest);
}

/// An edit or a fork changes the checkpoint even at the same step. One of this step must not lack
/// it, also while training goes on: after an error, the run that goes on from there would be told
/// of it once more.
void TrainingWorker::keepChange() {
    const int64_t kept = std::exchange(m_keptStep, -1), step = m_run->step();
    if (kept == step || m_resumedStep == step || (kept >= 0 && !busy())) keepState();
}

/// The run does not know that its best weights are kept, its gradients counted, and checkpoints
/// written: only the command line does that, and goes on with it from this program's checkpoints.
ExperimentState TrainingWorker::stateOfRun() {
    ExperimentState state = m_run->state();
    state.keepsBest = m_keepsBest;
    state.countGradients = m_countGradients;
    state.checkpointEvery = m_checkpointEvery;
    return state;
}

void TrainingWorker::keepState() {
    if (!canTrain() || m_midway || m_run->step() == m_keptStep) return;
    const double start = secondsOf(Clock::now());
    m_checkpoints.made(0, start, start);
    const size_t bytes = m_run->stateBytes();
    if (bytes > kMostStateBytes) return tellTooLarge(bytes);
    if (bytes == 0) return;
    ExperimentState state;
    try {
        state = stateOfRun();
    } catch (const std::bad_alloc&) { // the training continues without a checkpoint
        return;
    }
    m_keptStep = state.step;
    m_channel->publish(
        m_number,
        keptCheckpoint(std::move(state), QCoreApplication::applicationVersion().toStdString()));
    m_checkpoints.made(bytes, start, secondsOf(Clock::now()));
}

/// Tells, once for networks of one size, that they are not kept: the user may want to save them.
void TrainingWorker::tellTooLarge(size_t bytes) {
    if (std::exchange(m_toldBytes, bytes) == bytes) return;
    const auto mebibytes = [](size_t size) {
        constexpr size_t kMebibyte = size_t{1} << 20;
        return static_cast<int64_t>((size + kMebibyte - 1) / kMebibyte);
    };
    tell(NotSavedNotice{
        {phrase("Training", "These networks are too large to be kept with their run (%1 MiB with "
                            "the optimizer's state; the limit is %2 MiB). A reset or a crash loses "
                            "them, unless File > Save checkpoint… has saved them."),
         mebibytes(bytes), mebibytes(kMostStateBytes)}});
}

bool TrainingWorker::glances() const {
    return m_channel->gradientsGlancedAt() && m_run->device().kind == "cpu";
}

void TrainingWorker::endErrors() {
    if (!m_channel->layersWatched() && std::exchange(m_hasErrors, false)) m_run->releaseErrors();
}

bool TrainingWorker::gradientsDue() {
    endErrors();
    if (!m_channel->hasRoomForGradients()) return false;
    const double now = secondsOf(Clock::now());
    if (m_channel->gradientsWatched()) return m_counts.due(m_run->step() + 1, now);
    return glances() && m_counts.dueForGlance(now, m_stepSeconds);
}

bool TrainingWorker::showGradients() {
    const auto start = Clock::now();
    const bool errors = m_channel->layersWatched();
    m_hasErrors |= errors;
    bool done = true;
    try {
        std::vector<GradientRange> ranges = m_run->gradientRanges(errors);
        const Message why = m_run->whyNoGradients();
        if (why != m_noGradients) {
            tell(NoGradientsNotice{why});
            m_noGradients = why;
        }
        done = !ranges.empty() || !why.empty();
        if (!ranges.empty()) m_channel->publish(m_number, std::move(ranges));
    } catch (const InputError&) { // a sample of the next step: that step reports it, if it comes
    }
    m_counted = done;
    const auto end = Clock::now();
    // while nothing trains, counting costs the training no time
    m_counts.counted(m_run->step() + 1, secondsOf(busy() ? start : end), secondsOf(end));
    return done;
}

void TrainingWorker::look() {
    m_looks = false;
    if (!canTrain() || busy() || m_midway) return;
    endErrors();
    if (m_counted) return;
    const bool trained = m_run->step() > 0; // cards show nothing before
    if (!m_channel->gradientsWatched() && !(trained && glances())) return;
    try {
        // requests to stop the training may be left over, one for each lane
        for (size_t i = 0; i <= kMaxLanes && !m_channel->commandWaits(); ++i)
            if (showGradients()) return;
        m_looks = m_channel->commandWaits(); // once that is obeyed
    } catch (const std::exception&) {
        failBetweenSteps();
    }
}

/// Frees the run's memory first: where there was too little, the report would find none either.
void TrainingWorker::fail() {
    m_reserve.reset();
    destroyRun();
    m_failure = std::current_exception();
    tellFailure();
}

void TrainingWorker::failBetweenSteps() {
    if (m_midway || m_run->step() < 1) return fail();
    try {
        throw;
    } catch (const EngineError&) {
        return fail();
    } catch (const ReportedError&) { // samples that cannot be read, or a scale at its floor
        m_failure = std::current_exception();
    } catch (const std::exception&) {
        return fail();
    }
    keepLast();
    m_stepsAsked = 0;
    m_fork.reset();
    tellFailure();
}

void TrainingWorker::tellFailure() {
    try {
        Message reason = m_outOfMemory;
        bool ofInput = false;
        try {
            std::rethrow_exception(m_failure);
        } catch (const std::bad_alloc&) { // its sentence is ready
        } catch (const InputError& error) {
            reason = error.message();
            ofInput = true;
        } catch (const std::exception& error) {
            reason = messageOf(error);
        }
        setState(SessionState::Failed);
        tell(FailedNotice{reason, m_run != nullptr, ofInput});
        m_failure = nullptr;
        m_reserve.reset(new (std::nothrow) char[kTrainingReserve]);
    } catch (const std::bad_alloc&) { // the next turn tries again
    }
}

void TrainingWorker::setState(SessionState state) {
    const int64_t waited = state == SessionState::Finished && m_run ? m_run->outOfPatience() : 0;
    const bool same = state == m_state && waited == m_outOfPatience;
    if (same && state != SessionState::Building) return;
    m_state = state;
    m_outOfPatience = waited;
    tell(StateNotice{state, waited});
}

} // namespace halfscope
