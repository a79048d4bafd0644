// Pictures that stand side by side as one image for a file or the clipboard. It has a layout of its
// own, whatever the window looks like: no gaps between the pictures, whole titles above them, since
// nobody can point at a letter there, room for the shares in tables, and a caption below.
#pragma once

#include <QColor>
#include <QImage>
#include <QString>
#include <QStringList>

#include <vector>

namespace halfscope {

class ImageView;
struct Colors;

struct SheetPane {
    const ImageView* view = nullptr;
    QColor color;      ///< of the title
    QStringList notes; ///< to the right of it: forms, the longest first; may be empty
};

/// Draws what the panes show, in these colours and the program's usual letters, as finely as
/// pictures of the plots unless they are too many. A title that is wider than its picture is
/// continued on further lines. All notes have the longest form that fits beside the titles; where
/// none does, they have a line of their own. Returns a null image when there is no memory for it.
QImage paneSheet(const std::vector<SheetPane>& panes, const QString& caption, const Colors&);

} // namespace halfscope
