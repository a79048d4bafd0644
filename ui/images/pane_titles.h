// The words above pictures that stand side by side: all lanes are named in the same form, and all
// errors are written in the same form, else they could not be compared.
#pragma once

#include <QStringList>

#include <functional>
#include <vector>

namespace halfscope {

struct PaneTitles {
    QStringList titles, notes; ///< by pane; a note is empty where there is none
};

/// Whether a title and a note fit beside each other above a pane, or nobody sees that pane.
using PaneFits = std::function<bool(int pane, const QString& title, const QString& note)>;

/// Chooses the richest words that fit above all panes. `labels` has the lanes' full labels, and
/// `last` is the title of one more pane behind theirs. `notes` has the notes of all panes in each
/// form, the longest first. A note goes before the name of a setting; where no form of them fits
/// everywhere, there are none.
PaneTitles titlesTogether(const QStringList& labels, const QString& last,
                          const std::vector<QStringList>& notes, const PaneFits&);

} // namespace halfscope
