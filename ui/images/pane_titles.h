// The words above pictures that stand side by side: all lanes are named in the same form, and all
// errors are written in the same form, else they could not be compared.
#pragma once

#include <QStringList>

#include <cstdint>
#include <functional>
#include <vector>

namespace halfscope {

/// How large the titles are. Small ones keep names where only single letters have room otherwise.
enum class TitleSize : uint8_t {
    Usual,
    Small,
    AllSmall, ///< the notes as well
};

struct PaneTitles {
    QStringList titles, notes; ///< by pane; a note is empty where there is none
    TitleSize size = TitleSize::Usual;
};

/// Whether a title of this size and a note fit beside each other above a pane, or nobody sees that
/// pane.
using PaneFits =
    std::function<bool(int pane, const QString& title, const QString& note, TitleSize)>;

/// Chooses the richest words that fit above all panes. `labels` has the lanes' full labels, and
/// `last` the forms of the title of one more pane behind theirs, the longest first. `notes` has the
/// notes of all panes in each form, the longest first. The words of settings in the labels give way
/// to a note, precisions and what sets lanes of one apart do not: where no form of the notes fits
/// beside them everywhere, there are none.
PaneTitles titlesTogether(const QStringList& labels, const QStringList& last,
                          const std::vector<QStringList>& notes, const PaneFits&);

} // namespace halfscope
