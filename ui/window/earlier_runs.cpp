// The runs that the window has but does not show: they are kept when another one replaces them,
// come back from the list, and are drawn behind the one that is shown.
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "engine/settings/resumed_settings.h"
#include "engine/settings/run_length.h"
#include "engine/train/checkpoint.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_list_model.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/guarded.h"
#include "ui/window/shown_run.h"

#include <QLocale>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace halfscope {

namespace {

enum class Sources : uint8_t {
    Kept,
    Moved, ///< networks could not be built from where they were
};

/// Takes over what a run that had networks may change when it goes on. A file of weights, or a
/// picture, would be another one than it began with: that waits for a restart.
bool takeOnGoingOn(RunConfig& recorded, RunConfig settings, Sources sources = Sources::Kept) {
    if (sources == Sources::Kept) {
        settings.model.weights = recorded.model.weights;
        settings.task.image = recorded.task.image;
    }
    return takeOnResume(recorded, settings);
}

/// Reads what a run goes on from. Of another run it takes a copy up to there, as of `whole` where
/// that has been told more than the checkpoint knows: the steps to come would tell it again.
Beginning readBeginning(const RunSnapshot& of, const std::string& name, const RunConfig* settings,
                        std::shared_ptr<Run> whole, Sources sources = Sources::Kept) {
    const RunCheckpoint& kept = *of.checkpoint();
    ExperimentState state = readKept(kept, name);
    if (settings) takeOnGoingOn(state.recorded, *settings, sources);
    Beginning from{std::make_shared<const ExperimentState>(std::move(state)), std::move(whole)};
    const std::vector<Event> known = eventsUpTo(of, from.state->recorded, from.state->step);
    if (from.run && known.size() == of.events().size()) return from;
    from.run = Run::goingOn(from.state->recorded, of, from.state->step);
    RunBatch first;
    // kept until there is a newer one; a copy of its own, as both runs are kept on disk
    first.checkpoint = std::make_shared<const RunCheckpoint>(kept);
    from.run->append(std::move(first));
    return from;
}

} // namespace

/// A slower step is not waited for: the last networks that were kept stay then.
void ShownRun::takeLastSteps() {
    constexpr std::chrono::milliseconds kFinishingStep{100};
    try {
        m_controller.rest(kFinishingStep);
        frame();
    } catch (const std::bad_alloc&) { // what the window has is kept
    }
}

bool ShownRun::reset() {
    const bool trains = m_controller.running();
    const bool goesOn = trains && m_controller.willTrain(); // not when it is about to pause
    if (trains) takeLastSteps();
    // keep() tells the way back: until the next run is there, the shown one stays
    m_resets = restart();
    if (goesOn && !m_resets) m_controller.play(); // it was refused
    return m_resets;
}

/// Keeps the run that is shown, before another one replaces it, and tells the way back to it.
void ShownRun::keep() {
    const bool resets = std::exchange(m_resets, false);
    if (!m_shown.run || m_shown.run->step() < 1) return;
    QStringList news(std::exchange(m_news, {}));
    // a run that was to continue from a checkpoint but has not: its rows are a saved run's
    if (m_shown.id == RunId::None && !hasUnsavedRows() && !showsSaved()) return;
    enlist(); // its last rows may have come just now
    const bool worth = hasUnsavedRows() && trainedSeconds() >= m_worthSeconds;
    const auto step = static_cast<qlonglong>(m_shown.run->step());
    m_before = m_shown.id;
    m_others[m_before] = std::move(m_shown);
    m_shown = {};
    emit canBringBackChanged(true);
    if (resets)
        news.prepend(tr("Reset. Shift+R brings back the run that trained to step %1.")
                         .arg(QLocale().toString(step)));
    else if (worth)
        news << tr(
            "The previous run is kept. Edit > Restore the previous run (Shift+R) shows it again.");
    else
        return;
    emit told(news.join(u' ').trimmed());
}

RunId ShownRun::adopt(const RunPtr& run, const QString& title, int64_t savedRows) {
    Shown other;
    other.run = run;
    other.preset = QString::fromStdString(run->info().preset);
    other.title = title;
    other.savedRows = savedRows;
    other.listed = !run->info().folder.empty(); // those of another session are in no folder
    other.id = m_models.store.add(run, title.toStdString());
    m_models.store.setVisible(other.id, false); // is drawn behind another run only when asked for
    m_before = other.id;
    m_others[m_before] = std::move(other);
    emit canBringBackChanged(true);
    emit stirred(); // a frame lists all that have come since the last one
    return m_before;
}

QString ShownRun::givenName() const {
    const RunStore::Entry* entry = m_models.store.find(m_shown.id);
    if (!entry) return {};
    QString name = safeText(entry->name);
    if (entry->named) return name;
    // the list may have added a number
    if (const QString own = safeText(m_shown.title.toStdString());
        name.startsWith(own + QStringLiteral(" (")))
        name = own;
    // a run of another session, or a later one of its experiment, may have been named there
    const RunConfig& config = m_shown.run->info().recorded;
    QStringList titles{safeText(config.title), experimentTitle(titleOfData(config.task))};
    for (const Preset& each : presets())
        if (each.isCalled(config.title)) titles << translated(each.titleHere());
    const bool plain = std::ranges::any_of(titles, [&name](const QString& title) {
        return name == title || name.startsWith(title + QStringLiteral(" ("));
    });
    return plain || config.title.empty() ? QString() : name;
}

bool ShownRun::isRestored(const Run& run) const {
    std::shared_ptr<const Run> before; // keeps what `each` points to
    for (const Run* each = &run; each; each = before.get()) {
        if (each->info().restored) return true;
        const auto isIt = [each](const auto& other) { return other.second.run.get() == each; };
        const auto found = std::find_if(m_others.begin(), m_others.end(), isIt);
        if (m_shown.run.get() == each)
            before = m_shown.before.lock();
        else
            before = found == m_others.end() ? nullptr : found->second.before.lock();
    }
    return false;
}

void ShownRun::bringBack(RunId id) {
    const auto found = m_others.find(id);
    if (found == m_others.end()) return;
    guarded(*m_parts.banner, [&] {
        // a live edit may have left a setting that is not allowed
        checkConfig(found->second.run->info().recorded);
        buildAgain(found->second); // stays in the list when memory is short
        Shown back = std::move(found->second);
        m_others.erase(found);
        if (m_before == id) m_before = RunId::None;
        emit canBringBackChanged(canBringBack());
        emit told({}); // the sentence in the status bar may be about it
        m_stays = true;
        back.back = true;
        back.experiment = m_experiment;
        show(std::move(back));
        showState();
    });
}

void ShownRun::buildAgain(const Shown& back) {
    const RunSnapshot now = back.run->snapshot();
    prepare(now.info().recorded, back.preset, back.title, back.about);
    if (now.checkpoint() && now.checkpoint()->step() == now.step()) m_next.before = back.run;
    if (now.checkpoint())
        m_next.from = [now, name = back.title.toStdString()] {
            return readBeginning(now, name, nullptr, nullptr);
        };
    restart();
}

bool ShownRun::hasItsLanes() const {
    // an experiment that was opened since may have been refused
    if (!m_current || m_builds != m_experiment) return false;
    for (int lane = 0; lane < m_current->now().laneCount(); ++lane)
        if (m_models.config.editedLane(lane) != lane) return false; // removed: it would still train
    return true;
}

int64_t ShownRun::keptStep() const {
    const bool failed = m_controller.state() == SessionState::Failed;
    // what was to be trained last is this run
    const bool its = m_controller.info() || m_tried.goesOn();
    if (!failed || !its || !hasItsLanes()) return 0;
    const auto& kept = m_current->now().checkpoint();
    return kept ? kept->step() : m_opened.step;
}

int64_t ShownRun::plannedSteps() const {
    const RunConfig& left = m_models.config.config();
    RunConfig planned = m_current->info().config;
    // those of an epoch were counted when the run was built: its data may be gone by now
    if (left.epochs > 0 && planned.epochs > 0)
        return left.epochs * (planned.steps / planned.epochs);
    takeOnGoingOn(planned, left);
    planned.steps = left.steps;
    planned.epochs = left.epochs;
    return stepsOf(planned);
}

bool ShownRun::movesOn() const {
    const SessionInfoPtr& built = m_controller.info();
    if (m_controller.state() != SessionState::Ready || !built || !built->goesOnAfter) return false;
    const auto& kept = m_current->now().checkpoint();
    const bool there = kept ? kept->step() == m_current->step() : m_opened.from != nullptr;
    RunConfig recorded = built->recorded;
    return there && hasItsLanes() && takeOnGoingOn(recorded, m_models.config.config());
}

bool ShownRun::isMoved() const {
    if (!isUnbuilt() || !m_blamed || !m_tried.from || !m_tried.recorded) return false;
    RunConfig moved = *m_blamed;
    return takeOnResume(moved, m_models.config.config()) && m_models.config.isStill(moved);
}

/// Builds networks again after an error. With settings that failed, it is the same start once more:
/// files may have been mended.
bool ShownRun::tryAgain() {
    frame(); // what is kept may have come just now
    if (keptStep() > 0 || movesOn())
        planToGoOn();
    else if (cannotStart())
        m_next = std::move(m_tried);
    else if (isMoved())
        planWhereMoved();
    else
        m_raisedStop = {}; // the settings on the left stay as they are
    return restart();
}

/// All its rows are kept where nothing was trained since: then it stays the same run.
void ShownRun::planToGoOn() {
    const RunSnapshot now = m_current->snapshot();
    const auto& settings = m_models.config.config();
    const Sources sources = isUnbuilt() ? Sources::Moved : Sources::Kept;
    m_next = {};
    if (!now.checkpoint()) {
        const RunPtr run = now.step() == m_opened.step ? m_current : nullptr;
        m_next.before = run;
        m_next.from = [from = m_opened.from, settings, run, sources] {
            Beginning opened = from();
            ExperimentState state = *opened.state;
            takeOnGoingOn(state.recorded, settings, sources);
            return Beginning{std::make_shared<const ExperimentState>(std::move(state)), run};
        };
        return;
    }
    const RunPtr whole = now.checkpoint()->step() == now.step() ? m_current : nullptr;
    m_next.before = whole; // also where it must be a copy
    m_next.from = [now, name = m_title.toStdString(), settings, whole, sources] {
        return readBeginning(now, name, &settings, whole, sources);
    };
}

void ShownRun::planWhereMoved() {
    const auto& settings = m_models.config.config();
    m_next = std::move(m_tried);
    m_next.from = [from = m_next.from, settings] {
        Beginning moved = from();
        ExperimentState state = *moved.state;
        takeOnResume(state.recorded, settings);
        moved.state = std::make_shared<const ExperimentState>(std::move(state));
        return moved;
    };
}

void ShownRun::repeat(RunId id) {
    const auto found = m_others.find(id);
    const bool shown = id != RunId::None && id == m_shown.id;
    if (!shown && found == m_others.end()) return;
    const Shown& from = shown ? m_shown : found->second;
    guarded(*m_parts.banner, [&] {
        const RunConfig config = from.run->info().recorded;
        RunWords::refuseRecorded(config);
        checkConfig(config);
        load(config, QString(from.preset), QString(from.title), QString(from.about));
        m_controller.play();
    });
}

void ShownRun::remove(RunId id) {
    if (m_others.erase(id) == 0) return;
    m_models.store.remove(id);
    if (m_before == id) m_before = RunId::None;
    emit canBringBackChanged(canBringBack());
    m_models.list.refresh();
    updateOverlays();
}

bool ShownRun::comparesWith(RunId id) const {
    const auto found = m_others.find(id);
    return id == m_before && found != m_others.end() &&
           found->second.experiment == m_shown.experiment;
}

void ShownRun::explainBefore() {
    if (!m_showsBefore || comparesWith(m_before)) return;
    emit told(m_others.empty()
                  ? tr("There is no previous run yet whose curves could be drawn.")
                  : tr("No run of this experiment came before this one since Halfscope was "
                       "started. Tick a run in the list of runs (F8) to compare with it."));
}

void ShownRun::updateOverlays() {
    const auto named = [this](const RunStore::Entry& entry, const QString& tag) {
        QString differs = m_models.list.differencesOf(m_models.list.rowOf(entry.id));
        differs.replace(QChar(QChar::Nbsp), QChar(u' '));
        return Overlay{entry.run,          tag, entry.color, safeText(entry.name), differs,
                       untoldDataOf(entry)};
    };
    std::vector<Overlay> overlays;
    Overlay shown;
    for (const RunStore::Entry& entry : m_models.store.entries()) {
        if (entry.id == m_shown.id) shown = named(entry, RunListModel::tagOf(entry.id));
        const auto found = m_others.find(entry.id);
        if (found == m_others.end()) continue;
        const bool before = m_showsBefore && comparesWith(entry.id);
        if (before || entry.visible)
            overlays.push_back(
                named(entry, before ? tr("before ") : RunListModel::tagOf(entry.id)));
    }
    shown.run.reset(); // it is told apart, not drawn
    m_parts.plots->setOverlays(std::move(overlays), std::move(shown));
}

} // namespace halfscope
