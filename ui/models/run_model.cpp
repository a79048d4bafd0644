// The newest values of each lane as table rows and as plain values.
#include "ui/models/run_model.h"

#include "engine/data/class_sides.h"
#include "engine/data/held_fault.h"
#include "engine/data/known_facts.h"
#include "engine/runs/best_value.h"
#include "engine/runs/run_score.h"
#include "engine/settings/fields.h"
#include "engine/settings/precision.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "ui/models/event_model.h"
#include "ui/models/lane_difference.h"
#include "ui/models/lane_titles.h"
#include "ui/models/loss_words.h"
#include "ui/models/run_facts.h"
#include "ui/models/skip_words.h"
#include "ui/models/translated.h"
#include "ui/models/zero_gradient_words.h"

#include <QLocale>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace halfscope {

bool movesTheStop(std::string_view key) {
    return key == "run.steps" || key == "run.epochs" || key == "run.patience";
}

bool movesTheStop(const Event& event) {
    return event.kind == EventKind::Edit && movesTheStop(event.tensor);
}

namespace {

/// Returns the fork that made a lane; null for a lane that began with the run.
const LaneFork* forkOf(const RunConfig& recorded, int lane) {
    const auto i = static_cast<size_t>(lane) - recorded.lanes.size();
    return i < recorded.forks.size() ? &recorded.forks[i] : nullptr;
}

/// Whether the lane that a fork continues has a loss scale to pass on.
bool handsScaleOn(const RunConfig& recorded, const LaneFork& fork) {
    const LaneFork* parent = forkOf(recorded, fork.parent);
    return scalesLoss(parent ? parent->lane : recorded.lanes[static_cast<size_t>(fork.parent)]);
}

/// Returns what the loss scale of a lane was set to after `step`, by the user or by a fork that
/// could not take over its parent's; nothing when it is what the step left.
std::optional<float> scaleSetAfter(int64_t step, const RunConfig& recorded, int lane) {
    for (size_t i = recorded.edits.size(); i-- > 0;) {
        const LiveEdit& edit = recorded.edits[i];
        if (edit.step <= step) break;
        const LaneFork* fork = forkOf(recorded, lane);
        for (; fork && static_cast<int64_t>(i) < fork->afterEdits; fork = forkOf(recorded, lane)) {
            if (!handsScaleOn(recorded, *fork)) break;
            lane = fork->parent;
        }
        if (fork && static_cast<int64_t>(i) < fork->afterEdits) break;
        const double* scale = std::get_if<double>(&edit.value);
        if (scale && edit.key == kLiveScale && (edit.lane < 0 || edit.lane == lane))
            return static_cast<float>(*scale);
    }
    const LaneFork* fork = forkOf(recorded, lane);
    if (fork && fork->step > step && !handsScaleOn(recorded, *fork))
        return static_cast<float>(fork->lane.scaler.initScale);
    return std::nullopt;
}

/// Returns the text with spaces at which no line ends.
QString unbroken(QString text) { return text.replace(u' ', QChar::Nbsp); }

/// Returns the warning that an accuracy tells nothing, after a space.
QString oneClassText(const RunConfig& config) {
    if (!namesFiles(config.task)) return {};
    const std::optional<DataFacts> facts = knownFactsOf(config);
    const bool one = facts && facts->tensors[kTarget].classes == 1;
    return one ? u' ' + translated(Message(kOneClass)) : QString();
}

/// Returns "3 of 3", the samples that a lane has right, where so few are judged that each counts
/// for much; empty for others.
QString rightText(const RunConfig& config, double accuracy) {
    constexpr int64_t kFew = 30;
    const std::optional<DataFacts> facts = knownFactsOf(config);
    const int64_t judged = facts ? facts->validation : 0;
    if (judged == 0 || judged >= kFew) return {};
    if (facts->tensors[kTarget].shape.elements() != 1) return {}; // every token is judged
    const double right = accuracy * static_cast<double>(judged);
    constexpr double kRounding = 1e-3; // samples may have been left out, or judged before
    if (std::abs(right - std::round(right)) > kRounding) return {};
    return RunModel::tr("%1 of %2").arg(countText(std::llround(right)), countText(judged));
}

} // namespace

QString laneTag(int lane) { return QString(QChar(static_cast<char16_t>(u'A' + lane))); }

bool LaneStatus::scaleMoved() const {
    constexpr double kNear = 4;
    if (!zeros || !knowsScale) return false;
    const auto moved = static_cast<double>(scale() / zeros->scale);
    return moved > kNear || moved < 1 / kNear;
}

bool LaneStatus::outputIsNan() const { return halfscope::outputIsNan(accuracy, validationLoss); }

QString LaneStatus::lossText() const {
    const bool lacks = last.step > 0 && !last.measured(metric::Loss);
    return lacks ? QStringLiteral("–") : shownNumber(static_cast<double>(last.loss()));
}

QString LaneStatus::accuracyText() const {
    return accuracy ? shownAccuracy(*accuracy, validationLoss) : QString();
}

QStringList LaneStatus::judgedForms() const {
    const auto shown = [](const std::optional<double>& share, const std::optional<double>& error,
                          const std::optional<double>& loss) {
        if (share) return finePercentText(*share);
        return error ? shownNumber(*error) : loss ? shownNumber(*loss) : QString();
    };
    const QString judged =
        accuracy ? accuracyText() : shown(std::nullopt, validationError, validationLoss);
    if (judged.isEmpty()) return {};
    QStringList forms{judged};
    // a mean absolute error is shown in place of the loss, of which the best is kept
    const QString first = best && !validationError ? bestValue() : judged;
    if (first != judged) forms.prepend(RunModel::tr("%1, best %2").arg(judged, first));
    if (!test || outputIsNan()) return forms;
    const QString tested = shown(test->accuracy, test->error, test->loss);
    QStringList all;
    for (const QString& form : std::as_const(forms))
        all << RunModel::tr("%1, test %2").arg(form, tested);
    return all << judged;
}

QString LaneStatus::bestValue() const {
    return accuracy ? finePercentText(best->value) : shownNumber(best->value);
}

QString LaneStatus::bestText() const {
    if (!best) return {};
    return RunModel::tr("Best: %1 after step %2").arg(bestValue(), countText(best->step));
}

bool LaneStatus::tellsValidationLoss() const {
    return validationLoss && !std::isnan(*validationLoss);
}

void RunModel::setRun(std::shared_ptr<const Run> run, RunStart start) {
    beginResetModel();
    m_run = std::move(run);
    m_start = std::move(start);
    m_lanes.clear();
    m_told = 0;
    m_seen = 0;
    if (m_run) m_lanes.resize(m_run->lanes().size());
    endResetModel();
    refresh();
}

bool RunModel::refresh() {
    if (!m_run || m_seen == m_run->version() + 1) return false;
    m_seen = m_run->version() + 1; // so that 0 means that the run was not looked at
    if (m_run->lanes().size() != m_lanes.size()) {
        setRun(m_run, m_start); // a lane was forked
        return true;
    }
    const QStringList titles = laneTitlesOf(m_run->now());
    for (int i = 0; i < lanes(); ++i) {
        m_lanes[static_cast<size_t>(i)].status.title = titles[i];
        update(i, m_lanes[static_cast<size_t>(i)]);
    }
    const auto& events = m_run->events();
    for (; m_told < events.size(); ++m_told)
        for (int i = 0; i < lanes(); ++i)
            if (events[m_told].lane == i || events[m_told].lane < 0)
                remember(m_lanes[static_cast<size_t>(i)].status, events[m_told]);
    if (!m_lanes.empty()) emit dataChanged(index(0, 0), index(lanes() - 1, Columns - 1));
    return true;
}

void RunModel::update(int index, Lane& lane) {
    const RunSnapshot& run = m_run->now();
    const LaneTotals& totals = run.totals(index);
    LaneStatus& status = lane.status;
    status.name = QString::fromStdString(run.lanes()[static_cast<size_t>(index)].name);
    status.last = totals.last();
    status.skips = totals.skips();
    status.diverged = divergedLane(run, index);
    const LaneConfig* own = laneConfigOf(run.info().config, index);
    status.config = own ? std::optional(*own) : std::nullopt;
    const bool starts =
        status.last.step == 0 && static_cast<size_t>(index) < m_start.scalers.size();
    status.start = starts ? m_start.scalers[static_cast<size_t>(index)] : ScalerFigures();
    status.startStep = starts ? m_start.step : 0;
    const int64_t done = starts ? m_start.step : status.last.step;
    status.knowsScale = done > 0;
    status.scaleAfter = starts ? status.start.scale : totals.scaleAfter();
    if (laneScales(run.info().config, index))
        status.scaleAfter =
            scaleSetAfter(done, run.info().recorded, index).value_or(status.scaleAfter);
    status.accuracy = totals.accuracy();
    status.validationLoss = totals.validationLoss();
    status.validationError = totals.validationError();
    status.best = totals.best();
    status.fellFromItsBest = totals.fellFromItsBest();
    status.overfits = totals.overfits();
    status.test = totals.test();
    status.unchangedWeights = totals.unchangedWeights();
    status.unchangedCopies = totals.unchangedCopies();
    status.underflowStep = totals.underflowStep();
    status.underflowOfFault = totals.faultsExplainUnderflow();
    status.zeroUpdates = totals.zeroUpdates();
    status.allUpdates = totals.updates();
    status.zeros = zeroGradientsOf(run.newestGradients(), index);
    status.lost.reset();
    if (!status.scaleMoved()) status.lost = lostGradientsOf(run.newestGradients(), index);
    status.growthInterval = growthIntervalOf(run.info().config, index);
    status.exact = growsExactly(run.info().config, index);
    constexpr int64_t kEnough = 4096; // steps: the rate uses no more than the last 255
    const int64_t from = std::max(lane.timed + 1, status.last.step - kEnough);
    const halfscope::Column& wall = run.column(index, metric::WallSeconds);
    run.column(index, metric::DeviceSeconds)
        .values(from, status.last.step, [&](int64_t step, double seconds) {
            lane.rate.add(wall.at(step).value_or(0), seconds);
        });
    lane.timed = status.last.step;
    measureSpeed(index, lane);
}

void RunModel::measureSpeed(int index, Lane& lane) const {
    const double whole =
        m_over ? wholeRateOf(m_run->now().column(index, metric::DeviceSeconds)) : 0;
    lane.status.stepsPerSecond = whole > 0 ? whole : lane.rate.perSecond();
}

bool RunModel::setOver(bool over) {
    if (std::exchange(m_over, over) == over) return false;
    for (int i = 0; i < lanes(); ++i)
        measureSpeed(i, m_lanes[static_cast<size_t>(i)]);
    if (m_lanes.empty()) return false;
    emit dataChanged(index(0, SpeedColumn), index(lanes() - 1, SpeedColumn));
    return true;
}

void RunModel::remember(LaneStatus& status, const Event& event) {
    // An overflow and the backoff that follows from it are one incident; the overflow tells all of
    // it.
    const bool sameStory = event.kind == EventKind::Backoff && status.lastEventStep == event.step;
    // an edit is told before the steps that it waits for: it stays the last event of the lane
    if (sameStory || movesTheStop(event) || event.step < status.lastEventStep) return;
    status.lastEvent = EventModel::sentenceOf(event);
    status.lastBrief = EventModel::briefSentenceOf(event);
    status.lastEventStep = event.step;
}

int64_t RunModel::step() const {
    if (m_lanes.empty()) return 0;
    int64_t step = m_lanes.front().status.last.step;
    for (const Lane& lane : m_lanes)
        step = std::min(step, lane.status.last.step);
    return step;
}

QString RunModel::epochText() const {
    return m_run ? halfscope::epochText(m_run->now()) : QString();
}

bool RunModel::knowsScales() const {
    return std::any_of(m_lanes.begin(), m_lanes.end(),
                       [](const Lane& each) { return each.status.knowsScale; });
}

int64_t RunModel::smallBatch() const {
    if (!m_run || step() == 0) return 0;
    const EpochPlan plan = epochPlanOf(m_run->info().config);
    const int64_t samples = plan.hasBatches() ? plan.rowsOf(step()) : plan.batch;
    return samples < plan.batch ? samples : 0;
}

int64_t RunModel::nextValidation() const {
    if (!m_run || !hasSamplesToValidateOn(m_run->info().config)) return 0;
    const RunConfig& config = m_run->info().config;
    const int64_t end = stepsOf(config);
    const int64_t next = halfscope::nextValidation(config.validation, epochPlanOf(config), step());
    if (step() >= end) return 0;
    return next > 0 ? std::min(next, end) : end; // the end of the run has one
}

QString RunModel::longestEpochText() const {
    return m_run ? halfscope::longestEpochText(m_run->now()) : QString();
}

bool RunModel::skips() const {
    return std::any_of(m_lanes.begin(), m_lanes.end(),
                       [](const Lane& each) { return each.status.last.skippedSoFar() > 0; });
}

/// Whether all lanes have the steps for a median of their last losses.
bool RunModel::hasMedians() const {
    for (int i = 0; i < lanes(); ++i)
        if (m_run->column(i, metric::Loss).size() < kTrailingSteps) return false;
    return true;
}

std::optional<double> RunModel::medianLoss(int i) const {
    if (m_run->column(i, metric::Loss).size() < kTrailingSteps) return std::nullopt;
    const double median = trailingLoss(m_run->now(), i);
    return std::isfinite(median) ? std::optional(median) : std::nullopt;
}

/// Whether all lanes predict classes and were judged after step(). An older accuracy is not of the
/// step that is named, and hides what a lane has lost since.
bool RunModel::hasAccuracies() const {
    for (int i = 0; i < lanes(); ++i)
        if (!lane(i).accuracy || lane(i).skips.lossLostAt() > 0 ||
            m_run->column(i, metric::Accuracy).lastStep() != step())
            return false;
    return true;
}

/// Returns a lane's last loss or, where that is asked for, its accuracy or the median of the last
/// losses, and what else is worth telling about the lane. A value stays on the line of its name.
QString RunModel::lossText(int i, Words words, Figure figure) const {
    constexpr int kNamed = 3; // lanes whose names fit
    const LaneStatus& status = lane(i);
    const bool full = words == Words::Reasons || words == Words::All;
    const bool named = full && lanes() <= kNamed;
    QString label = named ? briefLabel(laneTag(i) + u' ' + status.title) : laneTag(i);
    const int64_t lost = status.skips.lossLostAt();
    const bool gone = full && lost > 0;
    // a setting's value stands before the loss, or words that are not about it
    const bool said = !gone && figure == Figure::Accuracy && status.outputIsNan();
    if (said || label.count(u' ') > 1 || label.count(QChar::Nbsp) > 1) label += u':';
    // where the loss was just lost, most of the last ones are finite: their median would hide that
    const bool steady = figure == Figure::Median && lost == 0;
    const double trailing = steady ? trailingLoss(m_run->now(), i) : NAN;
    const QString value =
        gone ? tr("not finite since step %1").arg(QLocale().toString(static_cast<qlonglong>(lost)))
        : figure == Figure::Accuracy ? status.accuracyText()
        : std::isfinite(trailing)    ? shownNumber(trailing)
                                     : status.lossText();
    const QString text = label + QChar(QChar::Nbsp) + unbroken(value);
    const QString right =
        figure == Figure::Accuracy && !said && m_run->now().lostSamples().sentence().empty()
            ? unbroken(rightText(m_run->info().config, *status.accuracy))
            : QString();
    if (words == Words::Fewest)
        return right.isEmpty() ? text : text + QStringLiteral(" (%1)").arg(right);
    const int64_t skipped = status.last.skippedSoFar();
    QStringList notes;
    if (!right.isEmpty()) notes << right;
    if (full) notes << notesBeside(figure, i);
    if (skipped > 0 && !status.skips.areOfParent()) // which has told them
        notes << tr("%1 skipped").arg(QLocale().toString(static_cast<qlonglong>(skipped)));
    if (notes.isEmpty()) return text;
    for (QString& note : notes)
        note = unbroken(note);
    return text + QStringLiteral(" (%1)").arg(notes.join(QStringLiteral(", ")));
}

/// Returns what else is worth telling of how well a lane did. The best validation stands behind the
/// last one.
QStringList RunModel::notesBeside(Figure figure, int i) const {
    const LaneStatus& status = lane(i);
    // one spike at the last step must not decide a comparison; it is the median of the losses, not
    // of what follows
    const std::optional<double> trailing = medianLoss(i);
    const QString median = trailing ? shownNumber(*trailing) : QString();
    QStringList best, judged;
    if (status.fellFromItsBest) {
        // an error has another unit than the loss, of which the best is kept
        const bool ofError = status.validationError && !status.accuracy;
        const QString step = countText(status.best->step);
        best << (ofError ? tr("best after step %1").arg(step)
                         : tr("best %1 after step %2").arg(status.bestValue(), step));
    }
    if (figure == Figure::Accuracy) {
        if (status.tellsValidationLoss()) // of the same samples
            return best << tr("validation loss %1").arg(shownNumber(*status.validationLoss));
        return best << (median.isEmpty() ? tr("training loss %1").arg(status.lossText())
                                         : tr("median training loss %1").arg(median));
    }
    if (!median.isEmpty() && figure == Figure::Loss) judged << tr("median %1").arg(median);
    // the loss is that of a batch to train on: what was judged apart is named so
    if (status.accuracy)
        judged << (status.outputIsNan() ? status.accuracyText()
                                        : tr("validation accuracy %1").arg(status.accuracyText()));
    else if (status.validationError)
        judged << tr("validation error %1").arg(shownNumber(*status.validationError));
    else if (status.validationLoss)
        judged << tr("validation loss %1").arg(shownNumber(*status.validationLoss));
    return judged << best;
}

/// Says which lanes overfit, after a space; empty where none does.
QString RunModel::overfittingText() const {
    QStringList tags;
    JudgedBy by = JudgedBy::Loss; // the same for all lanes, which have the same data
    for (int i = 0; i < lanes(); ++i) {
        if (!lane(i).overfits) continue;
        tags << laneTag(i);
        if (lane(i).accuracy) by = JudgedBy::Accuracy;
    }
    if (tags.isEmpty()) return {};
    const Message names = Message::data(listedTags(tags).toStdString());
    return u' ' +
           translated(halfscope::overfittingText(names, static_cast<size_t>(tags.size()), by));
}

/// Returns a sentence, after a space, about the first sample with inf or nan. What such samples do
/// to a lane looks like the lane's own fault.
QString RunModel::dataText() const {
    SkipTally::DataFault first;
    for (int i = 0; i < lanes(); ++i)
        if (SkipTally::DataFault fault = lane(i).skips.dataFault();
            fault.step > 0 && (first.step == 0 || fault.step < first.step))
            first = std::move(fault);
    if (first.step == 0) return {};
    return tr(" The data hold inf or nan: %1 in step %2.")
        .arg(translated(dataMessage(first.tensor)),
             QLocale().toString(static_cast<qlonglong>(first.step)));
}

/// Returns such a sentence about samples that no step sees, where they make a validation loss nan.
QString RunModel::heldFaultText() const {
    const auto isLost = [](const Lane& lane) {
        const auto loss = lane.status.validationLoss;
        return loss && !std::isfinite(*loss);
    };
    if (std::none_of(m_lanes.begin(), m_lanes.end(), isLost)) return {};
    const Message fault = knownHeldFault(taskOf(m_run->info().config));
    return fault.empty() ? QString() : u' ' + translated(fault);
}

/// Returns the sentence with the figures of all lanes.
QString RunModel::figureText(Words words, Figure figure, const QString& all) const {
    const RunConfig& config = m_run->info().config;
    const bool brief = words == Words::Fewest;
    const SentenceLength length = brief ? SentenceLength::Brief : SentenceLength::Whole;
    if (figure == Figure::Accuracy)
        return (brief ? tr("Validation accuracy after step %1: %2.")
                      : tr("After step %1 the validation accuracy is: %2."))
            .arg(countText(step()), all);
    if (figure == Figure::Median) return medianSentence(config, length, step(), all);
    return lossSentence(config, length, step(), all, smallBatch());
}

QString RunModel::summaryIn(Words words) const {
    QStringList losses;
    const bool brief = words == Words::Few || words == Words::Fewest;
    // one spike at the last step must not decide a comparison: short words have no other figure,
    // and a small batch often has one
    const bool steady = (brief || smallBatch() > 0) && hasMedians();
    const Figure figure = hasAccuracies() ? Figure::Accuracy
                          : steady        ? Figure::Median
                                          : Figure::Loss;
    bool normal = false; // a lane skipped as it should
    for (int i = 0; i < lanes(); ++i) {
        losses << lossText(i, words, figure);
        normal = normal || lane(i).skipVerdict() == SkipVerdict::Normal;
    }
    const QString all = losses.join(QStringLiteral(", "));
    const ReasonLength length = words == Words::Reasons  ? ReasonLength::Whole
                                : words == Words::Fewest ? ReasonLength::None
                                                         : ReasonLength::Brief;
    const QString taken = words == Words::Fewest ? QString() : takenStepsText(*this);
    const QString skipped = dataText() + taken + heldFaultText() + skippedStepsText(*this, length),
                  lost = zeroGradientsText(*this,
                                           words == Words::Fewest ? Detail::Brief : Detail::Full);
    if (words == Words::Fewest)
        return skipped.isEmpty() && lost.isEmpty() ? figureText(words, figure, all)
                                                   : (skipped + lost).mid(1);
    QString text = figureText(words, figure, all);
    const QString oneClass = oneClassText(m_run->info().config);
    if (words == Words::Reasons && oneClass.isEmpty()) text += differenceText(*this);
    if (figure == Figure::Accuracy) text += oneClass;
    if (const Message gone = m_run->now().lostSamples().sentence(); !gone.empty())
        text += u' ' + translated(gone); // the figures are those of the others
    if (words == Words::Reasons) text += overfittingText();
    if (!skipped.isEmpty() || !normal) return text + skipped + lost;
    return text + normalText(words) + lost;
}

/// Says that the skips of all lanes are normal and, where there is room, what would save many of
/// them, after a space. It names the lanes: others may stand between their figures and it.
QString RunModel::normalText(Words words) const {
    QStringList tags;
    int64_t skips = 0; // of all lanes, each once
    for (int i = 0; i < lanes(); ++i) {
        const int64_t skipped = lane(i).last.skippedSoFar();
        if (skipped == 0 || lane(i).skips.areOfParent()) continue;
        tags << laneTag(i);
        skips += skipped;
    }
    if (skips == 1) return tr(" %1's skip is normal.").arg(tags.front());
    const QString text =
        (tags.size() == 1 ? tr(" %1's skips are normal.") : tr(" The skips of %1 are normal."))
            .arg(listedTags(tags));
    for (int i = 0; i < lanes() && words != Words::Few; ++i)
        if (const Message advice = lane(i).skips.startAdvice(); !advice.empty())
            return text + u' ' + translated(advice);
    return text;
}

QString RunModel::summary() const { return summaryIn(Words::Reasons); }

QStringList RunModel::summaries() const {
    QStringList texts{summaryIn(Words::Reasons), summaryIn(Words::All), summaryIn(Words::Few),
                      summaryIn(Words::Fewest)};
    if (texts[0] == texts[1]) texts.removeFirst();
    return texts;
}

QString RunModel::medianNote() const {
    for (int i = 0; i < lanes(); ++i)
        if (!(hasAccuracies() && lane(i).tellsValidationLoss()) && medianLoss(i))
            return tr("The median is that of the last losses of a lane, up to %1: a single "
                      "outlier hardly changes it.")
                .arg(kTrailingSteps);
    return {};
}

double RunModel::secondsPerStep() const {
    double seconds = 0;
    for (int i = 0; i < lanes(); ++i)
        seconds +=
            1 / lane(i).stepsPerSecond; // infinite while the rate is 0, because it is unknown
    return seconds;
}

bool RunModel::stepsAreReadable() const {
    constexpr double kReadable = 20; // steps a second; figures flicker at more
    return (m_pace > 0 && m_pace <= kReadable) || kReadable * secondsPerStep() >= 1;
}

double RunModel::speedRatio(int of, int over) const {
    if (lanes() <= std::max(of, over) || lane(over).stepsPerSecond <= 0) return 0.0;
    return lane(of).stepsPerSecond / lane(over).stepsPerSecond;
}

int RunModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : lanes(); }
int RunModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : Columns;
}

QVariant RunModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || role != Qt::DisplayRole) return {};
    const LaneStatus& status = lane(index.row());
    switch (index.column()) {
    case LaneColumn: return laneTag(index.row()) + u' ' + status.title;
    case StepColumn: return countText(status.doneSteps());
    case LossColumn: return status.lossText();
    case ScaleColumn: return scaleText(static_cast<double>(status.scale()));
    case TrackerColumn:
        return status.growthInterval > 0
                   ? tr("%1 of %2")
                         .arg(countText(status.cleanSteps()), countText(status.growthInterval))
                   : QString();
    case SkippedColumn: return countText(status.skippedSteps());
    case RateColumn: return finePercentText(status.skippedShare());
    case SpeedColumn: return shownNumber(status.stepsPerSecond, 3);
    case EventColumn: return status.lastEvent;
    default: return {};
    }
}

QVariant RunModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    switch (section) {
    case LaneColumn: return tr("Lane");
    case StepColumn: return tr("Step");
    case LossColumn: return m_run ? lossName(m_run->info().config) : tr("Loss");
    case ScaleColumn: return tr("Next loss scale");
    case TrackerColumn: return tr("Clean steps");
    case SkippedColumn: return tr("Skipped");
    case RateColumn: return tr("Skipped share");
    case SpeedColumn: return tr("Steps per second");
    case EventColumn: return tr("Last event");
    default: return {};
    }
}

} // namespace halfscope
