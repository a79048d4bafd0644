// Judges all lanes, and explains the worst one.
#include "ui/models/skip_words.h"

#include "engine/runs/divergence.h"
#include "ui/models/run_facts.h"
#include "ui/models/translated.h"

#include <QLocale>
#include <QStringList>

#include <map>

namespace halfscope {
namespace {

/// Returns the lane with most of the skips that are too many; -1 when there are none.
int worstLane(const RunModel& run) {
    int worst = -1;
    for (int i = 0; i < run.lanes(); ++i)
        if (run.lane(i).skipVerdict() == SkipVerdict::TooMany &&
            (worst < 0 || run.lane(i).last.skippedSoFar() > run.lane(worst).last.skippedSoFar()))
            worst = i;
    return worst;
}

/// Returns what matters most of the reason for a lane's skips; `named` tells whether other lanes
/// were named, too.
QString briefReason(const RunModel& run, int lane, bool named) {
    const LaneStatus& status = run.lane(lane);
    if (!status.diverged.empty())
        return RunModel::tr(" %1 diverged as well: lower the learning rate.")
            .arg(translated(status.diverged));
    if (status.skips.badReasonIsInput())
        return named ? RunModel::tr(" %1: values of the input do not fit into fp16.")
                           .arg(laneTag(lane))
                     : RunModel::tr(" Values of the input do not fit into fp16.");
    const Message layer = status.skips.badLayer();
    if (layer.empty()) return {};
    return named ? RunModel::tr(" %1: the forward pass of %2 was not finite.")
                       .arg(laneTag(lane), translated(layer))
                 : RunModel::tr(" The forward pass of %1 was not finite.").arg(translated(layer));
}

QString wholeReason(const RunModel& run, int lane, bool named) {
    // a sentence about the data has told that reason
    if (run.lane(lane).skips.badReasonIsData()) return {};
    QString reason = translated(run.lane(lane).badReason());
    if (named) return RunModel::tr(" %1: %2").arg(laneTag(lane), reason);
    reason[0] = reason[0].toUpper();
    return u' ' + reason;
}

QString idleText(const QStringList& idle, bool accumulates) {
    if (idle.isEmpty()) return {};
    if (idle.size() == 1)
        return (accumulates
                    ? RunModel::tr(" Every update of %1 was skipped, so its weights never changed.")
                    : RunModel::tr(" Every step of %1 was skipped, so its weights never changed."))
            .arg(idle.first());
    return (accumulates
                ? RunModel::tr(" Every update of %1 was skipped, so their weights never changed.")
                : RunModel::tr(" Every step of %1 was skipped, so their weights never changed."))
        .arg(listedTags(idle));
}

} // namespace

QString skippedStepsText(const RunModel& run, ReasonLength length) {
    QStringList idle, often;
    for (int i = 0; i < run.lanes(); ++i) {
        const LaneStatus& status = run.lane(i);
        const int64_t skipped = status.last.skippedSoFar();
        if (skipped > 0 && skipped == status.updates())
            idle << laneTag(i);
        else if (status.skipVerdict() == SkipVerdict::TooMany)
            often << laneTag(i);
    }
    const bool accumulates = run.run()->info().config.gradients.accumulate > 1;
    QString text = idleText(idle, accumulates);
    if (!often.isEmpty())
        text += (accumulates ? RunModel::tr(" %1 skipped more updates than is normal.")
                             : RunModel::tr(" %1 skipped more steps than is normal."))
                    .arg(listedTags(often));
    const int worst = worstLane(run);
    if (length == ReasonLength::None || worst < 0) return text;
    const bool named = idle.size() + often.size() > 1;
    return text + (length == ReasonLength::Whole ? wholeReason(run, worst, named)
                                                 : briefReason(run, worst, named));
}

QString takenStepsText(const RunModel& run) {
    std::map<int64_t, QStringList> lanesByStep;
    for (int i = 0; i < run.lanes(); ++i)
        if (const int64_t step = run.lane(i).losingStep(); step > 0)
            lanesByStep[step] << laneTag(i);
    QString text;
    for (const auto& [step, tags] : lanesByStep)
        text += RunModel::tr(" Step %1 of %2 was taken although its gradients were not finite.")
                    .arg(QLocale().toString(static_cast<qlonglong>(step)), listedTags(tags));
    return text;
}

Message divergedLane(const RunSnapshot& run, int lane) {
    const int diverged = divergedBeside(run, lane);
    return diverged < 0 ? Message() : Message::data(laneTag(diverged).toStdString());
}

} // namespace halfscope
