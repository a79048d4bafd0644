// A cursor that was moved, or a selection, tells where the paste is meant to go.
#include "ui/dialogs/network_text.h"

namespace halfscope {

void NetworkText::insertFromMimeData(const QMimeData* source) {
    const QTextCursor at = textCursor();
    if (!document()->isModified() && at.position() == 0 && !at.hasSelection()) selectAll();
    QPlainTextEdit::insertFromMimeData(source);
}

} // namespace halfscope
