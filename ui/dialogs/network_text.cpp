// A cursor that was moved, or a selection, tells where the paste is meant to go.
#include "ui/dialogs/network_text.h"

#include <QMimeData>

namespace halfscope {

void NetworkText::insertFromMimeData(const QMimeData* source) {
    if (!source || source->formats().isEmpty()) return; // Qt reads text of an empty clipboard
    const QTextCursor at = textCursor();
    if (!document()->isModified() && at.position() == 0 && !at.hasSelection()) selectAll();
    QPlainTextEdit::insertFromMimeData(source);
}

} // namespace halfscope
