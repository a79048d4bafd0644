// Notes are chosen first, beside labels that are as brief as they can be; the labels take the room
// that is left.
#include "ui/images/pane_titles.h"

#include "ui/models/lane_titles.h"

#include <algorithm>

namespace halfscope {
namespace {

/// Whether all panes have room; a pane without a note only where `always` is set.
bool fitTogether(const QStringList& titles, const QStringList& notes, bool always,
                 const PaneFits& fits, TitleSize size = TitleSize::Usual) {
    for (int pane = 0; pane < titles.size(); ++pane) {
        const QString note = notes.value(pane);
        if ((always || !note.isEmpty()) && !fits(pane, titles[pane], note, size)) return false;
    }
    return true;
}

} // namespace

PaneTitles titlesTogether(const QStringList& labels, const QStringList& last,
                          const std::vector<QStringList>& notes, const PaneFits& fits) {
    const std::vector<QStringList> forms = formsTogether(labels);
    PaneTitles chosen;
    // where whole names have no room, notes stand beside what sets lanes apart
    for (size_t names = kBriefestNames; names <= kBriefestValues; ++names) {
        const QStringList briefest = QStringList(forms[names]) << last.back();
        const auto fitting = std::find_if(notes.begin(), notes.end(), [&](const QStringList& form) {
            return fitTogether(briefest, form, false, fits);
        });
        if (fitting == notes.end()) continue;
        chosen.notes = *fitting;
        break;
    }
    const auto letters = forms.end() - 1;
    auto named = letters;
    for (const TitleSize size : {TitleSize::Usual, TitleSize::Small}) {
        named = std::find_if(forms.begin(), letters, [&](const QStringList& form) {
            return fitTogether(form, chosen.notes, true, fits, size);
        });
        chosen.size = named == letters ? TitleSize::Usual : size;
        if (named != letters) break;
    }
    chosen.titles = *named;
    // the last title is no lane's, and is cut where even its shortest form has no room
    const auto pane = static_cast<int>(labels.size());
    const auto fitting = std::find_if(last.begin(), last.end() - 1, [&](const QString& title) {
        return fits(pane, title, chosen.notes.value(pane), chosen.size);
    });
    chosen.titles << *fitting;
    return chosen;
}

} // namespace halfscope
