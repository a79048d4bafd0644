// Groups lanes first, then writes a sentence for each group.
#include "ui/models/zero_gradient_words.h"

#include "engine/runs/zero_gradients.h"
#include "ui/models/run_facts.h"
#include "ui/models/shown_numbers.h"
#include "ui/models/translated.h"

#include <algorithm>
#include <vector>

namespace halfscope {

namespace {

using Lanes = std::vector<int>;
enum class Tense { Present, Past };

/// Splits lanes into groups that are alike, in the order of their first lanes.
template <class Alike>
std::vector<Lanes> groupsOf(const Lanes& lanes, Alike alike) {
    std::vector<Lanes> groups;
    for (const int lane : lanes) {
        const auto group = std::find_if(groups.begin(), groups.end(), [&](const Lanes& each) {
            return alike(each.front(), lane);
        });
        if (group == groups.end())
            groups.push_back({lane});
        else
            group->push_back(lane);
    }
    return groups;
}

QString listedLanes(const Lanes& lanes) {
    QStringList tags;
    for (const int lane : lanes)
        tags << laneTag(lane);
    return listedTags(tags);
}

bool scalesIn(const RunModel& run, int lane) { return laneScales(run.run()->info().config, lane); }

/// Whether a lane loses gradients because it does not scale its FP8 tensors.
bool lacksFp8In(const RunModel& run, int lane) {
    const std::optional<LaneConfig>& config = run.lane(lane).config;
    return config && lacksFp8Scaling(*config);
}

/// Returns what lanes that scale too little should do, after a space; empty where the cause says
/// it.
QString adviceFor(const RunModel& run, const Lanes& lanes) {
    const int first = lanes.front();
    const std::optional<LaneConfig>& config = run.lane(first).config;
    if (!config || run.lane(first).blamesFaults()) return {};
    if (scalesIn(run, first) && !lacksFp8In(run, first)) return {};
    return u' ' + translated(scalingAdvice(*config, lanes.size()));
}

/// Whether the same cause and the same advice are told of both lanes.
bool shareCause(const RunModel& run, int a, int b) {
    return run.lane(a).blamesFaults() == run.lane(b).blamesFaults() &&
           lacksFp8In(run, a) == lacksFp8In(run, b) && scalesIn(run, a) == scalesIn(run, b) &&
           adviceFor(run, {a}) == adviceFor(run, {b});
}

/// Returns why the lanes of a group lose gradients.
QString causeOf(const RunModel& run, const Lanes& lanes, Tense tense) {
    const bool one = lanes.size() == 1;
    if (run.lane(lanes.front()).blamesFaults())
        return one ? RunModel::tr("steps that overflow at any loss scale have brought its loss "
                                  "scale down")
                   : RunModel::tr("steps that overflow at any loss scale have brought their loss "
                                  "scales down");
    if (lacksFp8In(run, lanes.front()))
        return one ? RunModel::tr("its FP8 scaling is none")
                   : RunModel::tr("their FP8 scaling is none");
    if (!scalesIn(run, lanes.front()))
        return one ? RunModel::tr("it does not scale its loss")
                   : RunModel::tr("they do not scale their losses");
    if (tense == Tense::Past)
        return one ? RunModel::tr("its loss scale was too small")
                   : RunModel::tr("their loss scales were too small");
    return one ? RunModel::tr("its loss scale is too small")
               : RunModel::tr("their loss scales are too small");
}

/// Returns a share as a text in which no line ends.
QString unbrokenShare(double share) { return percentText(share).replace(u' ', QChar::Nbsp); }

QString lostShare(const RunModel& run, int lane) {
    return unbrokenShare(run.lane(lane).lost->share);
}

/// Says that the gradients of some lanes all rounded to zero at times.
QString underflowSentence(const RunModel& run, const Lanes& lanes, bool sameFigures) {
    const QString cause = causeOf(run, lanes, Tense::Past), tags = listedLanes(lanes);
    if (!sameFigures)
        return RunModel::tr("All gradients of %1 rounded to zero at times: %2.").arg(tags, cause);
    const LaneStatus& status = run.lane(lanes.front());
    const QString step = countText(status.underflowStep);
    if (status.zeroUpdates < 2)
        return RunModel::tr("At step %1 all gradients of %2 rounded to zero: %3.")
            .arg(step, tags, cause);
    return RunModel::tr("In %1 of %2 updates, first at step %3, all gradients of %4 rounded to "
                        "zero: %5.")
        .arg(countText(status.zeroUpdates), countText(status.allUpdates), step, tags, cause);
}

QStringList underflowSentences(const RunModel& run, const Lanes& lanes, Detail detail) {
    const auto sameFigures = [&run](int a, int b) {
        const LaneStatus &one = run.lane(a), &other = run.lane(b);
        return one.underflowStep == other.underflowStep && one.zeroUpdates == other.zeroUpdates &&
               one.allUpdates == other.allUpdates;
    };
    const auto alike = [&](int a, int b) {
        return shareCause(run, a, b) && (detail == Detail::Brief || sameFigures(a, b));
    };
    QStringList sentences;
    for (const Lanes& group : groupsOf(lanes, alike)) {
        const bool same = std::all_of(group.begin(), group.end(),
                                      [&](int lane) { return sameFigures(group.front(), lane); });
        sentences << underflowSentence(run, group, same) + adviceFor(run, group);
    }
    return sentences;
}

/// Says which share of the gradients of some lanes is zero. They all lost nearly all, or they are
/// compared with the same lane.
QString lossSentence(const RunModel& run, const Lanes& lanes) {
    const QString cause = causeOf(run, lanes, Tense::Present);
    const LostGradients& lost = *run.lane(lanes.front()).lost;
    const QString first = lostShare(run, lanes.front());
    const bool same = std::all_of(lanes.begin(), lanes.end(),
                                  [&](int lane) { return lostShare(run, lane) == first; });
    if (lost.beside < 0)
        return RunModel::tr("%1 of the gradients of %2 are zero: %3.")
            .arg(same ? first : RunModel::tr("Nearly all"), listedLanes(lanes), cause);
    QStringList parts;
    if (same) parts << RunModel::tr("%1 of the gradients of %2").arg(first, listedLanes(lanes));
    for (size_t i = 0; i < lanes.size() && !same; ++i)
        parts << (i == 0 ? RunModel::tr("%1 of the gradients of %2")
                         : RunModel::tr("%1 of those of %2"))
                     .arg(lostShare(run, lanes[i]), laneTag(lanes[i]));
    return RunModel::tr("%1 are zero (%2: %3): %4.")
        .arg(listedTags(parts), laneTag(lost.beside), unbrokenShare(lost.kept), cause);
}

QStringList lossSentences(const RunModel& run, const Lanes& lanes) {
    const auto alike = [&run](int a, int b) {
        return shareCause(run, a, b) && run.lane(a).lost->beside == run.lane(b).lost->beside;
    };
    QStringList sentences;
    for (const Lanes& group : groupsOf(lanes, alike))
        sentences << lossSentence(run, group) + adviceFor(run, group);
    return sentences;
}

/// Says "Nearly all gradients of B, C and D are zero.", without figures and causes.
QStringList briefLossSentences(const RunModel& run, const Lanes& lanes) {
    const auto losesAll = [&run](int lane) { return run.lane(lane).lost->beside < 0; };
    const auto alike = [&](int a, int b) { return losesAll(a) == losesAll(b); };
    QStringList sentences;
    for (const Lanes& group : groupsOf(lanes, alike)) {
        const QString form = losesAll(group.front())
                                 ? RunModel::tr("Nearly all gradients of %1 are zero.")
                                 : RunModel::tr("Many gradients of %1 round to zero.");
        sentences << form.arg(listedLanes(group));
    }
    return sentences;
}

} // namespace

QString zeroGradientsText(const RunModel& run, Detail detail) {
    Lanes underflow, lost;
    for (int i = 0; i < run.lanes(); ++i) {
        if (run.lane(i).underflowStep > 0)
            underflow.push_back(i);
        else if (run.lane(i).lost)
            lost.push_back(i);
    }
    QStringList sentences = underflowSentences(run, underflow, detail);
    sentences += detail == Detail::Brief ? briefLossSentences(run, lost) : lossSentences(run, lost);
    QString text;
    for (const QString& sentence : sentences)
        text += u' ' + sentence;
    return text;
}

QStringList lostGradientsTexts(const RunModel& run) {
    Lanes lanes;
    for (int i = 0; i < run.lanes(); ++i)
        if (run.lane(i).lost) lanes.push_back(i);
    if (lanes.empty()) return {};
    return {lossSentences(run, lanes).join(u' '), briefLossSentences(run, lanes).join(u' ')};
}

} // namespace halfscope
