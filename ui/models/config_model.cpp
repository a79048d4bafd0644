// The edited experiment compared with its preset and with the run. Values and their checks come
// from the field table alone.
#include "ui/models/config_model.h"

#include "engine/core/error.h"
#include "engine/data/known_facts.h"
#include "engine/settings/lane_titles.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"
#include "ui/models/translated.h"
#include "ui/models/typed_number.h"

#include <QScopeGuard>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace halfscope {
namespace {
constexpr int kNotRunning = -1;
constexpr const char* kStepsKey = "run.steps";
constexpr const char* kPaceKey = "run.pace";
constexpr const char* kOfScaler = "scaler.";

/// Returns a value as its box shows it: loss scales and their limits are powers of two, as in plots
/// and events.
std::string shownValue(const Field& field, const FieldValue& value) {
    const bool scale = field.logarithmic && field.key.starts_with(kOfScaler);
    return scale ? briefValue(value) : valueText(value);
}

/// Whether a run with these settings, of which one was edited, would take the edit.
bool isTaken(const RunConfig& config, const Field& edited) {
    try {
        checkEdited(config, edited);
        return true;
    } catch (const ReportedError&) {
        return false;
    }
}
} // namespace

ConfigModel::ConfigModel(QObject* parent) : QAbstractListModel(parent) {
    rebuildRows();
    startBuilding();
}

void ConfigModel::rebuildRows() {
    m_rows.clear();
    for (const Field& field : fieldTable())
        if (field.scope == FieldScope::Run) m_rows.push_back({&field, -1});
    for (int lane = 0; lane < static_cast<int>(m_config.lanes.size()); ++lane)
        for (const Field& field : fieldTable())
            if (field.scope == FieldScope::Lane) m_rows.push_back({&field, lane});
    m_errors.assign(m_rows.size(), {});
}

int ConfigModel::rowOf(std::string_view key, int lane) const {
    for (size_t i = 0; i < m_rows.size(); ++i)
        if (m_rows[i].field->key == key && m_rows[i].lane == lane) return static_cast<int>(i);
    return -1;
}

QString ConfigModel::text(int i) const {
    const Row& r = row(i);
    if (r.field->key == kStepsKey && builtEpoch(m_config))
        return QString::number(
            std::clamp<int64_t>(steps(), 1, static_cast<int64_t>(r.field->maximum)));
    return QString::fromStdString(shownValue(*r.field, r.field->get(m_config, r.lane)));
}

QString ConfigModel::presetText(int i) const {
    const Row& r = row(i);
    if (resetsEpochs(r)) return QString::number(std::max<int64_t>(1, lengthOf(m_preset)));
    const std::string value = shownValue(*r.field, r.field->get(presetFor(r.lane), r.lane));
    const Phrase title = titleOfChoice(*r.field, value);
    return title.empty() ? QString::fromStdString(value) : translated(title);
}

/// Whether the row is the length in steps of a preset that counts epochs.
bool ConfigModel::resetsEpochs(const Row& r) const {
    return r.field->key == kStepsKey && m_preset.epochs > 0;
}

RunConfig ConfigModel::presetFor(int lane) const {
    RunConfig preset = m_preset;
    // A lane that the preset does not have is compared with a lane of default settings.
    while (static_cast<int>(preset.lanes.size()) <= lane)
        preset.lanes.push_back(defaultLane(m_config.lanes[preset.lanes.size()].precision));
    return preset;
}

bool ConfigModel::applies(const Row& r) const {
    return !r.field->applies || r.field->applies(m_config, r.lane);
}

bool ConfigModel::differs(const Row& r, const RunConfig& other) const {
    if (r.lane >= static_cast<int>(other.lanes.size())) return true;
    return r.field->get(m_config, r.lane) != r.field->get(other, r.lane);
}

void ConfigModel::load(const RunConfig& config) {
    beginResetModel();
    m_config = config;
    m_config.forks.clear(); // a restart uses only the settings that are visible
    m_config.edits.clear();
    m_preset = m_config;
    startBuilding();
    rebuildRows();
    endResetModel();
    emit loaded();
    emit edited();
}

const RunConfig& ConfigModel::settle() {
    emit settling();
    bool forgets = false;
    for (size_t i = 0; i < m_rows.size(); ++i) {
        if (m_errors[i].isEmpty() || applies(m_rows[i])) continue;
        m_errors[i].clear();
        forgets = true;
    }
    if (forgets) announce();
    return m_config;
}

void ConfigModel::startBuilding() {
    ++m_builds;
    m_forking.reset();
    m_running.reset(); // what is edited from here on is sent once the new run is there
    m_holds = false;
    m_runsAs.resize(m_config.lanes.size());
    std::iota(m_runsAs.begin(), m_runsAs.end(), 0);
    emit building();
}

std::optional<int> ConfigModel::runsAs(int edited) const {
    const int lane = m_runsAs[static_cast<size_t>(edited)];
    const bool runs =
        lane != kNotRunning && m_running && lane < static_cast<int>(m_running->lanes.size());
    return runs ? std::optional(lane) : std::nullopt;
}

bool ConfigModel::canFork(int lane) const {
    return m_running && m_running->lanes.size() < kMaxLanes && !runsAs(lane);
}

std::optional<int> ConfigModel::runningLane(const Row& r) const {
    return r.lane < 0 ? r.lane : runsAs(r.lane);
}

void ConfigModel::follow(RunConfig now) {
    if (!m_running) return;
    now.pace = m_running->pace; // the run does not know the pace
    for (const Row& r : m_rows) {
        const std::optional<int> lane = runningLane(r);
        if (!lane || differsFromRunning(r)) continue;               // the user's own edit stays
        if (r.field->key == kStepsKey && now.epochs != 0) continue; // the steps follow the epochs
        if (const FieldValue value = r.field->get(now, *lane);
            value != r.field->get(*m_running, *lane)) {
            r.field->set(m_config, r.lane, value);
            m_errors[static_cast<size_t>(&r - m_rows.data())].clear();
        }
    }
    const size_t before = m_running->lanes.size();
    m_running = std::move(now);
    if (before == m_running->lanes.size()) return announce();
    beginResetModel();
    for (size_t lane = before; lane < m_running->lanes.size(); ++lane) {
        if (!m_forking || *m_forking >= static_cast<int>(m_runsAs.size()) ||
            m_runsAs[static_cast<size_t>(*m_forking)] != kNotRunning) {
            m_forking = static_cast<int>(m_runsAs.size());
            m_config.lanes.push_back(m_running->lanes[lane]);
            m_runsAs.push_back(kNotRunning);
        }
        m_runsAs[static_cast<size_t>(*m_forking)] = static_cast<int>(lane);
        m_forking.reset();
    }
    rebuildRows();
    endResetModel();
    emit edited();
}

std::optional<int> ConfigModel::editedLane(int runLane) const {
    const auto found = std::find(m_runsAs.begin(), m_runsAs.end(), runLane);
    if (found == m_runsAs.end()) return std::nullopt;
    return static_cast<int>(found - m_runsAs.begin());
}

bool ConfigModel::differsFromRunning(const Row& r) const {
    const std::optional<int> lane = runningLane(r);
    return !lane || r.field->get(m_config, r.lane) != r.field->get(*m_running, *lane);
}

/// Whether a row means nothing to the lane of the run, or to the run: the lane has no loss scaler,
/// for example, and none waits for it.
bool ConfigModel::isIdleInRun(const Row& r) const {
    const std::optional<int> lane = runningLane(r);
    if (!lane || !r.field->applies) return false;
    if (!m_holds) return !r.field->applies(*m_running, *lane);
    RunConfig next = *m_running;
    for (const Row& held : m_rows)
        if (held.lane == r.lane && held.field->effect == FieldEffect::Live)
            held.field->set(next, *lane, held.field->get(m_config, held.lane));
    return !r.field->applies(next, *lane);
}

/// Sends a live field to the current run, if the field applies there and its value differs.
bool ConfigModel::sendLive(const Row& r, Sent which) {
    if (!m_running || m_holds) return false;
    if (r.field->effect != FieldEffect::Live || !differsFromRunning(r)) return false;
    // when epochs decide, the steps follow: they are no edit of their own
    if (r.field->key == kStepsKey && m_config.epochs != 0) return false;
    const std::optional<int> lane = runningLane(r);
    if (!lane) return false;
    // such as the learning rate of a run whose schedule sets it: it waits with the schedule
    if (isIdleInRun(r)) return false;
    const FieldValue value = r.field->get(m_config, r.lane);
    // A preset of the scaler brings a first scale, too, and that one takes effect at a restart.
    RunConfig next = *m_running;
    r.field->set(next, *lane, value);
    for (const Row& other : m_rows)
        if (other.lane == r.lane && other.field->effect == FieldEffect::Restart)
            if (const FieldValue kept = other.field->get(*m_running, *lane);
                other.field->get(next, *lane) != kept)
                other.field->set(next, *lane, kept);
    const bool changes = std::any_of(m_rows.begin(), m_rows.end(), [&](const Row& other) {
        return other.lane == r.lane &&
               other.field->get(next, *lane) != other.field->get(*m_running, *lane);
    });
    if (!changes || (which == Sent::Allowed && !isTaken(next, *r.field))) return false;
    m_running = std::move(next);
    emit liveEdited(*lane, r.field->key, value);
    return true;
}

/// The run checks each edit by itself, against the settings that it has by then. One that needs
/// another one is sent after it: a ceiling below the earlier floor, for example, or the rules of a
/// scaler that is switched on. What the run refuses in any order comes last, so that it says why.
void ConfigModel::sendAll(std::optional<int> lane) {
    const auto send = [&](Sent which) {
        bool any = false;
        for (const Row& r : m_rows)
            if (!lane || r.lane == *lane) any = sendLive(r, which) || any;
        return any;
    };
    for (const Sent which : {Sent::Allowed, Sent::All})
        for (size_t round = 0; round < m_rows.size() && send(which);) // each settles a row or more
            ++round;
}

void ConfigModel::setRunning(const RunConfig& config) {
    m_running = m_counted = config;
    sendAll();
    announce();
}

void ConfigModel::countAs(const Run& run) {
    const std::optional<int64_t> epoch = epochLengthOf(run.now());
    if (!epoch) return;
    const bool unknown = !stepsUnknown().isEmpty();
    m_counted = run.info().config;
    m_counted->epochs = 1; // they may have been ended since
    m_counted->steps = *epoch;
    if (unknown) announce();
}

void ConfigModel::clearRunning() {
    m_running.reset();
    announce();
}

void ConfigModel::hold(bool holds) {
    if (std::exchange(m_holds, holds) == holds || holds) return;
    sendAll();
    announce();
}

bool ConfigModel::holdsLength() const {
    if (!m_holds || !m_running) return false;
    const int64_t epochs = m_config.epochs;
    return epochs != m_running->epochs || (epochs == 0 && m_config.steps != m_running->steps);
}

bool ConfigModel::goesOn(int64_t trained, int64_t waited) const {
    if (!m_holds || !m_running) return false;
    const bool patient = waited == 0 || m_config.patience == 0 || m_config.patience > waited;
    const bool early = waited > 0 && trained < lengthOf(*m_running);
    return patient && (holdsLength() ? steps() > trained : early);
}

void ConfigModel::setUntrained(bool untrained) {
    if (std::exchange(m_untrained, untrained) != untrained) announce();
}

bool ConfigModel::isStill(const RunConfig& config) const {
    if (m_config.lanes.size() != config.lanes.size()) return false;
    return std::none_of(m_rows.begin(), m_rows.end(), [&](const Row& r) {
        return r.field->key != kPaceKey && differs(r, config);
    });
}

int64_t ConfigModel::nextStop(int64_t trained, bool endedEarly) const {
    const bool edited = holdsLength();
    const int64_t planned = edited ? steps() : m_running ? lengthOf(*m_running) : 0;
    if ((edited || endedEarly) && trained < planned) return planned;
    return std::max(trained, planned) + std::max<int64_t>(1, lengthOf(m_preset));
}

/// Returns false for a lane that was added: it begins with its settings, at a restart or when it
/// continues another lane.
bool ConfigModel::waitsForRestart(const Row& r) const {
    const bool begins = r.lane >= 0 && canFork(r.lane);
    if (begins || !differsFromRunning(r)) return false;
    if (r.field->effect == FieldEffect::Restart) return true;
    // a rule of the loss scaler of a lane that gets one with its next precision
    return r.lane >= 0 && isIdleInRun(r) && r.field->applies(m_config, r.lane);
}

ConfigModel::Waiting ConfigModel::waiting() const {
    if (!m_running) return Waiting::Nothing;
    if (runsRemovedLane()) return Waiting::Edits;
    for (const Row& r : m_rows)
        if (waitsForRestart(r)) return Waiting::Edits;
    return lanesThatRun() < m_config.lanes.size() ? Waiting::NewLanes : Waiting::Nothing;
}

/// Returns how many edited lanes stand for one of the run.
size_t ConfigModel::lanesThatRun() const {
    size_t present = 0;
    for (int lane = 0; lane < static_cast<int>(m_config.lanes.size()); ++lane)
        if (runsAs(lane)) ++present;
    return present;
}

QStringList ConfigModel::waitingNames() const {
    if (!m_running || runsRemovedLane()) return {};
    QStringList names;
    for (const Row& r : m_rows)
        if (waitsForRestart(r) && applies(r)) names << translated(r.field->label);
    names.removeDuplicates();
    return names;
}

/// Whether a setting of the run, other than its length and its pace, waits for Continue.
bool ConfigModel::isHeld(const Row& r) const {
    constexpr std::array<std::string_view, 4> kOther{kStepsKey, "run.epochs", "run.patience",
                                                     kPaceKey};
    if (!m_holds || !m_running || r.field->effect != FieldEffect::Live) return false;
    if (std::ranges::find(kOther, std::string_view(r.field->key)) != kOther.end()) return false;
    return runningLane(r) && differsFromRunning(r) && applies(r) && !waitsForRestart(r);
}

QStringList ConfigModel::heldNames() const {
    QStringList names;
    for (const Row& r : m_rows)
        if (isHeld(r) && r.field->key != "scaler.preset") // which is named by what it sets
            names << translated(r.field->label);
    names.removeDuplicates();
    return names;
}

int ConfigModel::refusedRow() const {
    for (size_t i = 0; i < m_rows.size(); ++i)
        if (!m_errors[i].isEmpty() && applies(m_rows[i])) return static_cast<int>(i);
    return -1;
}

QString ConfigModel::refusedName() const {
    const int refused = refusedRow();
    if (refused < 0) return {};
    const Row& r = row(refused);
    const QString name = translated(r.field->label);
    return r.lane >= 0 && m_config.lanes.size() > 1
               ? tr("%1 of lane %2", "a setting").arg(name, laneTag(r.lane))
               : name;
}

QString ConfigModel::cannotTrain() const {
    if (m_config.task.kind != TaskKind::Recorded) return {};
    return tr("This run was recorded in PyTorch. Its network and data are not here, so nothing "
              "can be trained.");
}

QString ConfigModel::laneObstacle() const {
    const bool full = m_config.lanes.size() >= kMostLanes;
    if (QString never = cannotTrain(); !full || !never.isEmpty()) return never;
    return tr("A run has at most %1 lanes.").arg(kMostLanes);
}

QString ConfigModel::settingsObstacle() const {
    try {
        checkConfig(m_config);
    } catch (const ReportedError& error) {
        return translated(error);
    }
    return {};
}

QString ConfigModel::trainingObstacle() const {
    if (QString settings = settingsObstacle(); !settings.isEmpty()) return settings;
    const std::optional<Message> data = factsProblem(taskOf(m_config));
    return data ? translated(*data) : QString();
}

bool ConfigModel::addLane() {
    if (!laneObstacle().isEmpty()) return false;
    beginResetModel();
    // a copy of the last lane, so that one setting can be tried against another
    m_config.lanes.push_back(m_config.lanes.back());
    m_runsAs.push_back(kNotRunning);
    rebuildRows();
    endResetModel();
    emit edited();
    return true;
}

void ConfigModel::sweep(const Sweep& sweep) {
    RunConfig now = m_config;
    const std::vector<size_t> from = applySweeps(now, {&sweep, 1});
    takeLanes(std::move(now), from, LaneEdit::Values);
}

void ConfigModel::takeCells(const SettingGrid& grid, std::span<const size_t> cells) {
    RunConfig now = m_config;
    const std::vector<size_t> from = applyCells(now, grid, cells);
    for (size_t lane = 0; lane < now.lanes.size(); ++lane)
        checkLane(now.lanes[lane], lane);
    takeLanes(std::move(now), from, LaneEdit::Cells);
}

void ConfigModel::takeLanes(RunConfig now, const std::vector<size_t>& from, LaneEdit edit) {
    std::vector<int> runsAs;
    std::vector<LaneConfig> presets;
    for (size_t lane = 0; lane < from.size(); ++lane) {
        const bool same = sameSettings(now, lane, m_config, from[lane]);
        runsAs.push_back(same ? m_runsAs[from[lane]] : kNotRunning);
        presets.push_back(presetFor(static_cast<int>(from[lane])).lanes[from[lane]]);
    }
    beginResetModel();
    m_config = std::move(now);
    m_preset.lanes = std::move(presets);
    m_runsAs = std::move(runsAs);
    m_forking.reset();
    rebuildRows();
    endResetModel();
    m_laneEdit = edit;
    const auto done = qScopeGuard([this] { m_laneEdit = LaneEdit::One; });
    emit edited();
}

bool ConfigModel::removeLane(int lane) {
    if (m_config.lanes.size() < 2 || lane < 0 || lane >= static_cast<int>(m_config.lanes.size()))
        return false;
    beginResetModel();
    m_config.lanes.erase(m_config.lanes.begin() + lane);
    m_runsAs.erase(m_runsAs.begin() + lane);
    m_forking.reset();
    // the lanes behind it are still compared with their own presets
    if (lane < static_cast<int>(m_preset.lanes.size()))
        m_preset.lanes.erase(m_preset.lanes.begin() + lane);
    rebuildRows();
    endResetModel();
    emit edited();
    return true;
}

void ConfigModel::resetToPreset(int i) {
    if (resetsEpochs(row(i))) { // steps would end the counting of epochs
        m_errors[static_cast<size_t>(i)].clear();
        i = rowOf("run.epochs");
    }
    const Row& r = row(i);
    apply(i, r.field->get(presetFor(r.lane), r.lane));
}

void ConfigModel::restore(const Edits& to) {
    const bool sameLanes = to.config.lanes.size() == m_config.lanes.size();
    const bool sameRun = to.builds == m_builds;
    if (!sameLanes) beginResetModel();
    m_config = to.config;
    m_preset = to.preset;
    if (sameRun)
        m_runsAs = to.runsAs;
    else if (!sameLanes) // lanes of an earlier run: it is not known which of them run now
        m_runsAs.assign(m_config.lanes.size(), kNotRunning);
    m_errors.assign(m_errors.size(), {});
    if (!sameLanes) {
        rebuildRows();
        endResetModel();
    }
    sendAll();
    announce();
}

bool ConfigModel::apply(int i, const FieldValue& value) {
    const Row r = row(i);
    m_errors[static_cast<size_t>(i)].clear();
    const bool same = r.field->get(m_config, r.lane) == value;
    if (!same) r.field->set(m_config, r.lane, value);
    // a scaler that is switched on takes what was edited while it was off
    if (sendLive(r, Sent::All) && r.lane >= 0) sendAll(r.lane);
    announce();
    return true;
}

void ConfigModel::announce() {
    // one edit can change which other fields apply: all rows are announced, they are few
    if (!m_rows.empty()) emit dataChanged(index(0), index(static_cast<int>(m_rows.size()) - 1));
    emit edited();
}

int ConfigModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

QVariant ConfigModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Row& r = row(index.row());
    switch (role) {
    case Qt::DisplayRole: return translated(r.field->label);
    case Qt::EditRole: return text(index.row());
    case Qt::ToolTipRole:
        if (!r.field->meanings.empty()) return translated(r.field->help); // the choices have theirs
        return tr("%1\nAllowed: %2")
            .arg(translated(r.field->help), translated(allowedText(*r.field)));
    case KeyRole: return QString::fromStdString(r.field->key);
    case LaneRole: return r.lane;
    case GroupRole: return translated(r.field->group);
    case UnitRole: return translated(r.field->unit);
    case LiveRole: return r.field->effect == FieldEffect::Live;
    case AppliesRole: return applies(r);
    case ChangedRole: return differs(r, presetFor(r.lane));
    case WaitingRole: return m_running && waitsForRestart(r);
    case ErrorRole: return m_errors[static_cast<size_t>(index.row())];
    case UnknownRole: return r.field->key == kStepsKey ? stepsUnknown() : QString();
    default: return {};
    }
}

/// Returns the steps of an epoch of the last networks or run, where the settings have the same
/// data; nothing where that is not known. The data may be gone since.
std::optional<int64_t> ConfigModel::builtEpoch(const RunConfig& config) const {
    if (!m_counted || m_counted->epochs == 0) return std::nullopt;
    const bool same = std::ranges::all_of(fieldTable(), [&](const Field& field) {
        const bool ofData = field.key.starts_with("data.") || field.key.starts_with("task.");
        return !ofData || field.get(config, -1) == field.get(*m_counted, -1);
    });
    return same ? std::optional(m_counted->steps / m_counted->epochs) : std::nullopt;
}

int64_t ConfigModel::lengthOf(const RunConfig& config) const {
    if (config.epochs == 0 || knownFactsOf(config)) return stepsOf(config);
    const std::optional<int64_t> epoch = builtEpoch(config);
    return epoch ? config.epochs * *epoch : stepsOf(config);
}

QString ConfigModel::stepsUnknown() const {
    if (m_config.epochs == 0 || knownFactsOf(m_config) || builtEpoch(m_config)) return {};
    return factsPending(taskOf(m_config)) ? tr("reading…") : tr("unknown");
}

bool ConfigModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || role != Qt::EditRole) return false;
    const Field& field = *row(index.row()).field;
    const bool number = field.kind == FieldKind::Integer || field.kind == FieldKind::Real;
    const QString text = number ? withoutGroups(value.toString()) : value.toString();
    try {
        return apply(index.row(), parseValue(field, text.trimmed().toStdString()));
    } catch (const InputError& error) {
        QString& problem = m_errors[static_cast<size_t>(index.row())];
        problem = field.check ? translated(error) // a sentence about what was entered
                              : allowedWords(field, value.toString());
        emit dataChanged(index, index);
        return false;
    }
}

Qt::ItemFlags ConfigModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags inherited = QAbstractListModel::flags(index);
    return index.isValid() ? inherited | Qt::ItemIsEditable : inherited;
}

} // namespace halfscope
