// A message box of plain text, and dialogs that take names of files and folders that are not there
// yet.
#include "ui/dialogs/ask.h"

#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>

namespace halfscope {
namespace {

/// Qt's own dialog refuses a folder that is not there. Has no Q_OBJECT: a dialog of the desktop may
/// take its place.
class FolderDialog : public QFileDialog {
public:
    FolderDialog(QWidget* parent, const QString& title, const QString& name)
        : QFileDialog(parent, title) {
        setFileMode(QFileDialog::Directory);
        setOption(QFileDialog::ShowDirsOnly);
        setLabelText(QFileDialog::Accept, QCoreApplication::translate("FolderDialog", "Save"));
        const auto* line = findChild<QLineEdit*>();
        if (!line) return; // the desktop's dialog
        connect(line, &QLineEdit::textChanged, this, [this] { allowNew(); });
        selectFile(name);
    }

    void accept() override { isNew() ? QDialog::accept() : QFileDialog::accept(); }

private:
    /// Whether the folder that is named could be created.
    bool isNew() const {
        const QFileInfo folder(selectedFiles().value(0));
        return !folder.fileName().isEmpty() && !folder.exists() && folder.dir().exists();
    }
    void allowNew() {
        const auto* buttons = findChild<QDialogButtonBox*>();
        QPushButton* save = buttons ? buttons->button(QDialogButtonBox::Open) : nullptr;
        if (save && isNew()) save->setEnabled(true);
    }
};

/// Returns "png" for "PNG (*.png)".
QString endingOf(const QString& filter) {
    return filter.section(QStringLiteral("*."), 1, 1).section(u')', 0, 0).section(u' ', 0, 0);
}

} // namespace

bool askYesNo(QWidget* parent, const QString& title, const QString& question) {
    QMessageBox box(QMessageBox::Question, title, question, QMessageBox::Yes | QMessageBox::No,
                    parent);
    box.setTextFormat(Qt::PlainText);
    return box.exec() == QMessageBox::Yes;
}

QString chooseTarget(QWidget* parent, const QString& title, const QString& name,
                     const QString& filter) {
    QFileDialog dialog(parent, title, {}, filter);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(QFileInfo(name).suffix());
    dialog.selectFile(name);
    QObject::connect(&dialog, &QFileDialog::filterSelected, &dialog, [&](const QString& type) {
        const QFileInfo named(dialog.selectedFiles().value(0));
        dialog.setDefaultSuffix(endingOf(type));
        dialog.selectFile(named.completeBaseName() + u'.' + endingOf(type));
    });
    return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles().value(0) : QString();
}

QString chooseTargetFolder(QWidget* parent, const QString& title, const QString& name) {
    FolderDialog dialog(parent, title, name);
    return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles().value(0) : QString();
}

} // namespace halfscope
