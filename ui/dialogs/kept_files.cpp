// The command line refuses the same files in the same words.
#include "ui/dialogs/kept_files.h"

#include "engine/core/error.h"
#include "ui/look/owned.h"
#include "ui/models/translated.h"

#include <QMessageBox>
#include <QWidget>

#include <utility>

namespace halfscope {

namespace {

/// The words may come from a file's name, so they are shown as they are.
void warn(QWidget& parent, const QString& text) {
    auto* box = make<QMessageBox>(QMessageBox::Warning, parent.windowTitle(), text,
                                  QMessageBox::Close, &parent);
    box->setTextFormat(Qt::PlainText);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

} // namespace

KeptFiles::KeptFiles(Reads reads, Tell tell, QWidget& window)
    : QObject(&window), m_reads(std::move(reads)), m_tell(std::move(tell)) {}

bool KeptFiles::allow(QWidget* parent, const QString& path, std::span<const ReadPath> also) {
    const KeptFiles* kept = nullptr;
    for (QWidget* at = parent; at && !kept; at = at->parentWidget())
        kept = at->findChild<KeptFiles*>({}, Qt::FindDirectChildrenOnly);
    if (!kept) return true; // no run reads anything
    try {
        const std::string file = path.toStdString();
        keepRead(also, file);
        keepRead(kept->m_reads(), file);
        return true;
    } catch (const InputError& error) {
        if (QWidget* window = parent->window(); window == kept->parent())
            kept->m_tell(translated(error));
        else
            warn(*window, translated(error));
        return false;
    }
}

} // namespace halfscope
