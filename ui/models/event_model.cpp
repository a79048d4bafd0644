// Rows run from the latest step to the first; storage runs the other way, so appending is cheap.
#include "ui/models/event_model.h"

#include "engine/data/target_scale.h"
#include "engine/runs/edit_events.h"
#include "engine/runs/edit_words.h"
#include "engine/train/overflow.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"
#include "ui/models/skip_words.h"
#include "ui/models/translated.h"

#include <QLocale>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {
namespace {

constexpr std::string_view kDataEdit = "data"; // other files than those that a run began with
// as in the text of a saved run
const QLatin1String kInLane(" in lane "), kAtScaleOf(", at the loss scale of ");

QString changeText(const Event& event) {
    if (event.scaleAfter == event.scaleBefore) {
        if (event.scaleAfter == 0) return EventModel::tr("scale stays 0");
        if (std::isinf(event.scaleAfter)) return EventModel::tr("scale stays inf");
        return EventModel::tr("scale stays");
    }
    const double factor =
        static_cast<double>(event.scaleAfter) / static_cast<double>(event.scaleBefore);
    if (factor == 2) return EventModel::tr("scale doubled");
    if (factor == 0.5) return EventModel::tr("scale halved");
    return EventModel::tr("scale × %1").arg(shownNumber(factor, 3));
}

QString ofLostClassText() {
    return EventModel::tr("Why: none of its files could be read as a picture, and the setting "
                          "Damaged pictures is skip. Samples of other classes take their place.") +
           u'\n' + EventModel::tr("What to do: mend the files, or remove the class.");
}

QString ofDataText() {
    return EventModel::tr("Why: the inf or nan is in the data, so it reaches every lane, and no "
                          "loss scale would have helped. Correct such values, or leave the samples "
                          "out.");
}

QString largestHalf() { return QLocale().toString(qlonglong{65504}); }

QString ofLargeInputText(const Event& event) {
    const Message remedy(kSetToTrue, settingOfLargeInput(event.tensor));
    return EventModel::tr("Why: this lane takes the input in fp16, where values beyond %1 become "
                          "inf. The loss is scaled only after that, so no loss scale would have "
                          "helped.")
               .arg(largestHalf()) +
           u'\n' + EventModel::tr("What to do: %1.").arg(translated(remedy));
}

/// Says what to do about an overflow; `reason` tells why its lane has too many.
QString adviceText(const Event& event, const QString& reason) {
    if (event.scaleBefore <= 1)
        return EventModel::tr(
            "What to do: no usual loss scale fits, because the gradient overflows even unscaled. "
            "Divide the targets and the inputs by their standard deviation, or use bf16; if it "
            "went well at first, lower the learning rate.");
    if (event.scaleAfter == event.scaleBefore)
        return EventModel::tr("What to do: set a smaller loss scale. This one stays, so the next "
                              "step may overflow as well.");
    if (!reason.isEmpty()) return reason;
    return EventModel::tr("What to do: nothing, if it happens now and then. If many steps are "
                          "skipped at the start: a smaller first scale. If many growths are "
                          "followed by a skip: a longer growth interval.");
}

/// Says why a loss that is not finite is so; `reason` tells why its lane has lost it.
QString ofLossText(const Event& event, const QString& reason) {
    if (!reason.isEmpty())
        return EventModel::tr("Why: the output of the network is inf or nan even before the loss "
                              "is scaled.") +
               u'\n' + reason;
    if (event.step == 1) // the learning rate has had no effect yet
        return EventModel::tr("Why: the output of the network is inf or nan even before the loss "
                              "is scaled, so no loss scale can fix that. Look for inf, nan and "
                              "large values in the data; smaller inputs may help and, in 16 bits "
                              "or fewer, a wider type.");
    return EventModel::tr("Why: the output of the network is inf or nan even before the loss is "
                          "scaled; a lower learning rate may help and, in 16 bits or fewer, a "
                          "wider type. If the step before overflowed and was taken all the same: "
                          "a scaler that skips such steps.");
}

QString ofUnderflowText(const Event& event) {
    const QString why = EventModel::tr(
        "Why: fp16 rounds 2^-25, about 3e-8, and what is smaller to zero. Every "
        "gradient of this step was that small, even when multiplied by the loss "
        "scale, and became zero (underflow). The same step was run again at a larger loss "
        "scale, where they are not zero.");
    if (isUnderflowOfFault(event))
        return why + u'\n' +
               EventModel::tr(
                   "What to do: see the events of the overflows that brought the loss scale "
                   "down, and correct what they name. A larger scale would fall again.");
    return why + u'\n' +
           EventModel::tr("What to do: set a larger loss scale. A dynamic scaler also raises "
                          "it by itself, but only after enough clean steps. Where the loss is not "
                          "scaled, switch the scaler on; the precision fp16 has none, amp-fp16 has "
                          "one.");
}

/// Returns "Growth interval: 50 steps": shorter than a sentence, because the list of events is
/// narrow.
QString briefEdit(const Message& change) {
    const Phrase format = change.format();
    const std::vector<Message> parts = change.arguments();
    if (format == kLengthChange || format == kLengthBeyondSchedule)
        return EventModel::tr("Ends after %1").arg(translated(parts[0]));
    if (format == kScaleSet) return EventModel::tr("Loss scale: %1").arg(translated(parts[0]));
    if (format == kSwitchedOn) return EventModel::tr("%1: on").arg(translated(parts[0]));
    if (format == kSwitchedOff) return EventModel::tr("%1: off").arg(translated(parts[0]));
    if (format == kSettingChange)
        return EventModel::tr("%1: %2").arg(translated(parts[0]), translated(parts[1]));
    return translated(change);
}

bool isLiveScale(const Event& event) {
    return event.kind == EventKind::Edit && event.tensor == kLiveScale;
}

/// Whether two events set the loss scale for the same step: the later one alone has a row.
bool replaces(const Event& by, const Event& event) {
    return isLiveScale(by) && isLiveScale(event) && by.step == event.step && by.lane == event.lane;
}

QString sentence(QString text) {
    text[0] = text[0].toUpper();
    return text;
}

/// Shortens the text of a saved run's event likewise; it is English.
QString savedEditText(const Event& event) {
    QString text = groupedNumbers(translated(event.text));
    const QString lead = QStringLiteral(": ");
    if (text.startsWith(QLatin1String("From step "))) text = text.mid(text.indexOf(lead) + 2);
    for (const QLatin1String tail : {QLatin1String(" (before: "), kInLane, kAtScaleOf})
        if (const auto end = text.indexOf(tail); end > 0) text.truncate(end);
    if (text.endsWith(u'.')) text.chop(1);
    if (text.isEmpty()) return EventModel::tr("Edit");
    // as in briefEdit()
    const std::pair<QLatin1String, QLatin1String> forms[] = {
        {QLatin1String("the run ends after "), QLatin1String("ends after ")},
        {QLatin1String(" set to "), QLatin1String(": ")},
        {QLatin1String(" switched on"), QLatin1String(": on")},
        {QLatin1String(" switched off"), QLatin1String(": off")}};
    for (const auto& [whole, brief] : forms)
        text.replace(whole, brief);
    return sentence(std::move(text));
}

/// Returns what changed, without when and without the earlier value: "Growth interval: 50 steps".
QString editText(const Event& event) {
    // a path or a device's reason would leave no room for what happened
    if (event.tensor == kDataEdit) return EventModel::tr("The data have changed");
    if (event.tensor == kGradientsEdit) return EventModel::tr("Gradients are not counted");
    if (event.parent >= 0) return EventModel::tr("Continues lane %1").arg(laneTag(event.parent));
    const Phrase format = event.text.format();
    const std::vector<Message> parts = event.text.arguments();
    if (!(format == kEditOfAll || format == kEditOfLane)) return savedEditText(event);
    return briefEdit(parts[1]);
}

/// Aligns a column and its heading: numbers at the right, letters in the middle, words at the left.
QVariant eventAlignment(int column) {
    switch (column) {
    case EventModel::StepColumn: return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case EventModel::LaneColumn: return QVariant(Qt::Alignment(Qt::AlignCenter));
    default: return QVariant(Qt::AlignLeft | Qt::AlignVCenter);
    }
}

/// Returns 0 for events that need no explanation.
int gravity(EventKind kind) {
    switch (kind) {
    case EventKind::Edit:
    case EventKind::RateFall:
    case EventKind::Other: break;
    case EventKind::Growth:
    case EventKind::Damaged: return 1;
    case EventKind::Backoff: return 2;
    case EventKind::Overflow: return 3;
    case EventKind::Underflow: return 4; // an overflow is answered, this is not
    case EventKind::LossNotFinite: return 5;
    }
    return 0;
}

/// Whether what is told of an underflow or an overflow is over: another loss scale was set in that
/// lane, or gradients overflow that had rounded to zero.
bool ends(const Event& event, const Event& grave) {
    if (event.lane != grave.lane) return false;
    if (grave.kind == EventKind::Overflow) return isLiveScale(event);
    return grave.kind == EventKind::Underflow &&
           (event.kind == EventKind::Overflow || isLiveScale(event));
}

} // namespace

bool isEcho(const GrowingList<Event>::View& events, size_t i) {
    if (i == 0 || events[i].kind != EventKind::Backoff) return false;
    const Event& cause = events[i - 1];
    return cause.kind == EventKind::Overflow && events[i].step == cause.step &&
           events[i].lane == cause.lane;
}

void EventModel::setRun(std::shared_ptr<const Run> run) {
    beginResetModel();
    m_run = std::move(run);
    m_rows.clear();
    m_taken = 0;
    m_gravest.reset();
    endResetModel();
    refresh();
}

bool EventModel::refresh() {
    if (!m_run || m_taken == m_run->events().size()) return false;
    const auto& events = m_run->events();
    std::vector<uint32_t> rows;
    for (; m_taken < events.size(); ++m_taken) {
        if (isEcho(events, m_taken)) continue;
        const Event& event = events[m_taken];
        if (isLiveScale(event)) dropReplaced(event, rows);
        rows.push_back(static_cast<uint32_t>(m_taken));
        if (m_gravest && ends(event, *m_gravest)) m_gravest.reset();
        const int own = gravity(event.kind);
        if (own > 0 && own >= (m_gravest ? gravity(m_gravest->kind) : 0)) m_gravest = event;
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [this](uint32_t a, uint32_t b) { return isBefore(a, b); });
    auto next = rows.begin();
    for (; next != rows.end() && !m_rows.empty() && isBefore(*next, m_rows.back()); ++next)
        insert(*next);
    if (next == rows.end()) return true;
    beginInsertRows({}, 0, static_cast<int>(rows.end() - next) - 1);
    m_rows.insert(m_rows.end(), next, rows.end());
    endInsertRows();
    return true;
}

bool EventModel::isBefore(uint32_t a, uint32_t b) const {
    const Event &left = m_run->events()[a], &right = m_run->events()[b];
    if (isToldBefore(left, right)) return true;
    return a < b && !isToldBefore(right, left);
}

/// Takes away the rows of loss scales that were set for the same step before this one, also by
/// undoing: no step was trained with them. `coming` are rows that are not in the list yet.
void EventModel::dropReplaced(const Event& by, std::vector<uint32_t>& coming) {
    const auto replaced = [&](uint32_t index) { return replaces(by, m_run->events()[index]); };
    std::erase_if(coming, replaced);
    for (size_t i = m_rows.size(); i-- > 0 && m_run->events()[m_rows[i]].step >= by.step;) {
        if (!replaced(m_rows[i])) continue;
        const int row = static_cast<int>(m_rows.size() - 1 - i);
        beginRemoveRows({}, row, row);
        m_rows.erase(m_rows.begin() + static_cast<std::ptrdiff_t>(i));
        endRemoveRows();
    }
}

/// Inserts the row of an event whose step is not the latest.
void EventModel::insert(uint32_t index) {
    const auto place = std::upper_bound(m_rows.begin(), m_rows.end(), index,
                                        [this](uint32_t a, uint32_t b) { return isBefore(a, b); });
    const int row = static_cast<int>(m_rows.end() - place);
    beginInsertRows({}, row, row);
    m_rows.insert(place, index);
    endInsertRows();
}

int EventModel::rowOf(size_t index) const {
    if (!m_run || index >= m_taken) return -1;
    const auto found = std::lower_bound(m_rows.begin(), m_rows.end(), static_cast<uint32_t>(index),
                                        [this](uint32_t a, uint32_t b) { return isBefore(a, b); });
    const auto rowAt = [this](auto at) { return static_cast<int>(m_rows.end() - at) - 1; };
    if (found != m_rows.end() && *found == index) return rowAt(found);
    const auto instead = std::find_if(m_rows.begin(), m_rows.end(), [&](uint32_t each) {
        return replaces(m_run->events()[each], m_run->events()[index]);
    });
    return instead == m_rows.end() ? -1 : rowAt(instead);
}

int EventModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int EventModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : Columns;
}

QString EventModel::whatText(const Event& event) {
    switch (event.kind) {
    case EventKind::Overflow:
        if (isOfData(event.tensor)) return tr("Bad data, %1").arg(changeText(event));
        // "Overflow, scale halved" would look like the scaler's usual work, which this is not
        if (isHelpless(event) && !isOfTakenStep(event)) return tr("Not finite at any scale");
        return tr("Overflow, %1").arg(changeText(event));
    case EventKind::Growth:
    case EventKind::Backoff: return sentence(changeText(event));
    case EventKind::LossNotFinite: return tr("Loss not finite");
    case EventKind::Edit: return powersAlone(editText(event));
    case EventKind::Damaged:
        return event.text.format() == kLostClass ? tr("Class without samples")
                                                 : tr("Damaged sample");
    case EventKind::Underflow: return tr("All gradients zero");
    case EventKind::RateFall: return tr("Learning rate fell");
    case EventKind::Other: return QString::fromStdString(event.otherKind);
    }
    return {};
}

QString EventModel::sentenceOf(const Event& event) {
    if (event.text.format() == kEditOfLane || event.text.format() == kEditOfAll) {
        const std::vector<Message> parts = event.text.arguments();
        if (event.text.format() == kEditOfAll) return translated(event.text);
        return translated({kEditOfLane, parts[0], parts[1], laneTag(event.lane).toStdString()});
    }
    if (tellsFork(event.text) && event.parent >= 0) {
        const std::vector<Message> parts = event.text.arguments();
        return translated({event.text.format(), parts[0], laneTag(event.lane).toStdString(),
                           laneTag(event.parent).toStdString(),
                           parts.size() > 3 ? parts[3] : Message()});
    }
    QString text = translated(event.text);
    const bool saved = event.text.format().empty();
    // the words about a damaged sample are mostly its path, whose numbers stay plain
    if (saved && event.kind != EventKind::Damaged) text = groupedNumbers(text);
    const auto lane = saved ? text.lastIndexOf(kInLane) : -1;
    if (event.kind == EventKind::Edit && event.lane >= 0 && lane > 0)
        text = text.left(lane) + kInLane + laneTag(event.lane) + u'.';
    return text.isEmpty() ? whatText(event) : text;
}

QString EventModel::powersAlone(QString sentence) {
    static const QRegularExpression kBoth(QStringLiteral("\\S+ \\((2\\^-?\\d+)\\)"));
    return sentence.replace(kBoth, QStringLiteral("\\1"));
}

QString EventModel::briefSentenceOf(const Event& event) {
    QString what = whatText(event);
    const QString lead = QStringLiteral(": "); // one colon is enough
    if (const auto at = what.indexOf(lead); event.kind == EventKind::Edit && at > 0)
        what.replace(at, lead.size(), QStringLiteral(" "));
    return tr("Step %1: %2").arg(QLocale().toString(static_cast<qlonglong>(event.step)), what);
}

QString EventModel::skipReason(const Event& event) const {
    const bool lost = event.kind == EventKind::LossNotFinite;
    if (!m_run || !(lost || event.kind == EventKind::Overflow)) return {};
    if (static_cast<size_t>(event.lane) >= m_run->lanes().size()) return {};
    const RunConfig& config = m_run->info().config;
    const LaneConfig* own = laneConfigOf(config, event.lane);
    const bool dynamic = growthIntervalOf(config, event.lane) > 0;
    const SkipTally& skips = m_run->now().totals(event.lane).skips();
    const Message diverged = divergedLane(m_run->now(), event.lane);
    if (lost && event.step < skips.lossLostAt()) return {}; // the loss came back in between
    if (lost && skips.skipped() == 0)
        return skips.lossLostAt() > 0 ? sentence(translated(skips.sentence(dynamic, own, diverged)))
                                      : QString();
    const Message why = skips.badReason(dynamic, own, diverged);
    if (why.empty()) return {};
    return tr("%1 skips more steps than is normal: %2").arg(laneTag(event.lane), translated(why));
}

QString EventModel::whyText(const Event& event, const QString& reason) {
    const bool byEpsilon = !optimizerOfZeroEpsilon(event.tensor).empty();
    const bool isLarge = !settingOfLargeInput(event.tensor).empty();
    switch (event.kind) {
    case EventKind::Overflow:
        if (isOfData(event.tensor)) return ofDataText();
        if (isLarge) return ofLargeInputText(event);
        if (byEpsilon) return tr("What to do: set Epsilon to 1e-4 and press Reset, or use AMP.");
        if (overflowedBeforeScaling(event))
            return tr("Why: a value of the forward pass turned into inf or nan (fp16 holds up to "
                      "%1). The loss is scaled only after that, so no other loss scale would "
                      "have helped.")
                       .arg(largestHalf()) +
                   u'\n' +
                   (reason.isEmpty() ? tr("What may help: smaller weights or inputs; a wider type.")
                                     : reason);
        return tr("Why: a gradient, multiplied by the loss scale, became too large for its type "
                  "(fp16 holds up to %1).")
                   .arg(largestHalf()) +
               (isGradientOfPredictions(event.tensor)
                    ? tr(" The predictions are what the last layer gives to the loss. Their "
                         "gradient is the first one, so no layer overflowed before it.")
                    : QString()) +
               u'\n' + adviceText(event, reason);
    case EventKind::Growth:
        return tr(
            "Why: there were enough clean steps in a row. A larger scale keeps more small "
            "gradients from rounding to zero. If it is too large, the next overflow undoes it.");
    case EventKind::Backoff: return tr("Why: after an overflow, a smaller scale is tried.");
    case EventKind::Other:
        return tr("Another version of Halfscope recorded this kind of event. It is kept when the "
                  "run is saved.");
    case EventKind::LossNotFinite:
        if (isOfData(event.tensor)) return ofDataText();
        if (isLarge) return ofLargeInputText(event);
        if (byEpsilon) return {}; // its sentence says why
        return ofLossText(event, reason);
    case EventKind::Damaged:
        if (event.text.format() == kLostClass) return ofLostClassText();
        if (event.text.format() == kNoTest || event.text.format() == kNoValidation)
            return {}; // its sentence says why
        // what became of the sample is told by the sentence: it depends on what it was for
        return tr("Why: its file could not be read as a picture, and the setting Damaged pictures "
                  "is skip.");
    case EventKind::Underflow: return ofUnderflowText(event);
    case EventKind::RateFall: break; // its sentence says why
    case EventKind::Edit:
        if (event.tensor != kDataEdit) break;
        return tr("What it means: the curves before this step belong to other data than those "
                  "after it. To train on the present data from the start, press Reset.");
    }
    return {};
}

bool EventModel::lanesScale() const { return !m_run || someLaneScales(m_run->now()); }

QVariant EventModel::data(const QModelIndex& index, int role) const {
    // a table asks this way for what Ctrl+C copies while no row is chosen
    if (!index.isValid() || !checkIndex(index)) return {};
    const Event& row = eventAt(index.row());
    switch (role) {
    case StepRole: return static_cast<qlonglong>(row.step);
    case LaneRole: return row.lane;
    case KindRole: return static_cast<int>(row.kind);
    case Qt::ToolTipRole: return sentenceOf(row);
    case Qt::TextAlignmentRole: return eventAlignment(index.column());
    case Qt::DisplayRole: break;
    default: return {};
    }
    switch (index.column()) {
    case StepColumn: return QLocale().toString(static_cast<qlonglong>(row.step));
    case LaneColumn: return row.lane < 0 ? tr("all") : laneTag(row.lane);
    case KindColumn: return whatText(row);
    case TextColumn: return sentenceOf(row);
    default: return {};
    }
}

QVariant EventModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) return eventAlignment(section);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
    case StepColumn: return tr("Step");
    case LaneColumn: return tr("Lane");
    case KindColumn: return tr("What");
    case TextColumn: return tr("In words");
    default: return {};
    }
}

} // namespace halfscope
