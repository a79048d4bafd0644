// Pictures that stand side by side as one image for a file or the clipboard, where nobody can point
// at a letter to read what it stands for: their whole titles are above them.
#pragma once

#include <QImage>

#include <vector>

class QWidget;

namespace halfscope {

class ImageView;

/// Draws panes in their places on a canvas, as finely as pictures of the plots. A title that is
/// wider than its pane is continued on further lines, for which its row is moved down. Changes the
/// words that the panes have for their titles.
QImage paneSheet(const QWidget& canvas, const std::vector<ImageView*>& panes);

} // namespace halfscope
