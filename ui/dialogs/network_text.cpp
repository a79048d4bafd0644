// A cursor that was moved, or a selection, tells where the paste is meant to go.
#include "ui/dialogs/network_text.h"

#include <QFile>
#include <QMimeData>
#include <QUrl>

namespace halfscope {

void NetworkText::insertFromMimeData(const QMimeData* source) {
    if (!source || source->formats().isEmpty()) return; // Qt reads text of an empty clipboard
    if (source->hasUrls()) return replaceBy(source->urls());
    const QTextCursor at = textCursor();
    if (!document()->isModified() && at.position() == 0 && !at.hasSelection()) selectAll();
    QPlainTextEdit::insertFromMimeData(source);
}

void NetworkText::replaceBy(const QList<QUrl>& urls) {
    constexpr qint64 kMostBytes = qint64{1} << 20; // far above any program's
    QFile file(urls.size() == 1 ? urls.front().toLocalFile() : QString());
    if (!file.open(QIODevice::ReadOnly) || file.isSequential() || file.size() > kMostBytes) return;
    selectAll();
    insertPlainText(QString::fromUtf8(file.readAll()));
}

} // namespace halfscope
