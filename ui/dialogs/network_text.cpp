// A cursor that was moved, or a selection, tells where the paste is meant to go.
#include "ui/dialogs/network_text.h"

#include "ui/models/safe_text.h"

#include <QFile>
#include <QFileInfo>
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
    if (urls.size() != 1) return emit refused(tr("Only one file can be taken"));
    const QString path = urls.front().toLocalFile();
    const QString shown = safeText((path.isEmpty() ? urls.front().toString() : path).toStdString());
    if (!QFileInfo(path).isFile()) // a pipe would be waited for
        return emit refused(tr("%1: not a file on this computer").arg(shown));
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return emit refused(tr("%1: cannot be read: %2").arg(shown, file.errorString()));
    const QByteArray bytes = file.read(kMostBytes + 1);
    if (bytes.size() > kMostBytes)
        return emit refused(tr("%1: too large for a program, more than 1 MiB").arg(shown));
    if (bytes.contains('\0')) return emit refused(tr("%1: not a Python program").arg(shown));
    selectAll();
    insertPlainText(QString::fromUtf8(bytes));
}

} // namespace halfscope
