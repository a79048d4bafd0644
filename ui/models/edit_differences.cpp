// Replays the edits of a run to see which of them changed anything.
#include "ui/models/edit_differences.h"

#include "engine/settings/fields.h"
#include "engine/settings/lane_titles.h"
#include "ui/models/run_model.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <utility>

namespace halfscope {
namespace {

QString editInWords(const LiveEdit& edit, const Field* field, size_t lanes) {
    const QString name =
        field ? translated(field->label)
              : QCoreApplication::translate("EditDifferences", "Loss scale", "what was edited");
    const QString step = QLocale().toString(static_cast<qlonglong>(edit.step));
    QString text;
    if (const bool* on = std::get_if<bool>(&edit.value))
        text = (*on ? QCoreApplication::translate("EditDifferences", "%1 switched on at step %2")
                    : QCoreApplication::translate("EditDifferences", "%1 switched off at step %2"))
                   .arg(name, step);
    else
        text = QCoreApplication::translate("EditDifferences", "%1 set to %2 at step %3")
                   .arg(name, safeText(briefValue(edit.value)), step);
    if (edit.lane < 0 || lanes < 2) return text;
    return QCoreApplication::translate("EditDifferences", "%1: %2", "a lane and what was edited")
        .arg(laneTag(edit.lane), text);
}

/// Whether lanes go on otherwise after such an edit. Another length of the run alone is among its
/// settings; a schedule keeps the length that it began with.
bool changesLanes(const Field& field, const RunConfig& config) {
    switch (field.apply) {
    case FieldApply::Nothing:
    case FieldApply::Pace:
    case FieldApply::Patience: return false;
    case FieldApply::Length: return config.schedule.kind != ScheduleKind::Constant;
    default: return true;
    }
}

bool isReplaced(std::span<const LiveEdit> later, const LiveEdit& edit) {
    return std::any_of(later.begin(), later.end(), [&edit](const LiveEdit& other) {
        return other.step == edit.step && other.lane == edit.lane && other.key == edit.key;
    });
}

/// Whether an edit has been made: between two steps, that of the next step has.
bool isMade(const LiveEdit& edit, int64_t step) { return edit.step <= step + 1; }

QStringList editsOf(const EditedRun& run) {
    std::vector<LiveEdit> edits = run.info->recorded.edits;
    std::erase_if(edits, [&run](const LiveEdit& edit) { return !isMade(edit, run.step); });
    if (edits.empty()) return {};
    RunConfig config = run.info->recorded;
    config.edits.clear();
    config = settingsAtEnd(std::move(config)); // with the lanes that forks will make
    const auto lanes = static_cast<int>(config.lanes.size());
    const auto valuesOf = [&](const Field& field, const LiveEdit& edit) {
        std::vector<std::string> values;
        const bool all = field.scope == FieldScope::Lane && edit.lane < 0;
        for (int lane = all ? 0 : edit.lane; lane < (all ? lanes : edit.lane + 1); ++lane)
            values.push_back(valueText(field.get(config, lane)));
        return values;
    };
    QStringList words;
    for (size_t i = 0; i < edits.size(); ++i) {
        const LiveEdit& edit = edits[i];
        const Field* field = edit.key == kLiveScale ? nullptr : findField(edit.key);
        const bool known = field || edit.key == kLiveScale;
        if (!known || edit.lane >= lanes || isReplaced(std::span(edits).subspan(i + 1), edit))
            continue;
        if (field) {
            const std::vector<std::string> before = valuesOf(*field, edit);
            setField(config, edit.lane, edit.key, edit.value);
            if (valuesOf(*field, edit) == before || !changesLanes(*field, config)) continue;
        }
        words << editInWords(edit, field, static_cast<size_t>(lanes));
    }
    return words;
}

} // namespace

size_t editsMade(const EditedRun& run) {
    const auto made = [&run](const LiveEdit& edit) { return isMade(edit, run.step); };
    return static_cast<size_t>(std::ranges::count_if(run.info->recorded.edits, made));
}

std::vector<QStringList> editDifferences(std::span<const EditedRun> runs) {
    std::vector<QStringList> all;
    for (const EditedRun& run : runs)
        all.push_back(editsOf(run));
    const auto shared = [](const std::vector<QStringList>& lists, const QString& words) {
        return std::all_of(lists.begin(), lists.end(),
                           [&](const QStringList& each) { return each.contains(words); });
    };
    const std::vector<QStringList> told = all;
    for (QStringList& each : all)
        each.removeIf([&](const QString& words) { return shared(told, words); });
    return all;
}

} // namespace halfscope
