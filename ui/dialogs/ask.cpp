// A message box of plain text, and dialogs for files and folders, which may not be there yet.
#include "ui/dialogs/ask.h"

#include "ui/dialogs/kept_files.h"
#include "ui/look/owned.h"

#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QMainWindow>
#include <QMessageBox>
#include <QPushButton>
#include <QStatusBar>

#include <array>

namespace halfscope {
namespace {

/// The folder where the next dialog for such files begins; empty: where Qt begins.
QString& folderOf(FilesOf kind) {
    static std::array<QString, 2> folders; // the program has one user
    return folders[static_cast<size_t>(kind)];
}

QString chosen(FilesOf kind, const QString& path) {
    rememberFolder(kind, path);
    return path;
}

QString beginOf(FilesOf kind, const QString& now) { return now.isEmpty() ? folderOf(kind) : now; }

QString acceptedIn(const QFileDialog& dialog, int result) {
    return result == QDialog::Accepted ? dialog.selectedFiles().value(0) : QString();
}

QString chosenIn(const QFileDialog& dialog, int result) {
    return chosen(FilesOf::Runs, acceptedIn(dialog, result));
}

/// Returns the bar at the lower edge of the main window to which a widget belongs; null: none.
QStatusBar* barOf(QWidget& widget) {
    for (QWidget* at = &widget; at; at = at->parentWidget())
        if (auto* window = qobject_cast<QMainWindow*>(at)) return window->statusBar();
    return nullptr;
}

/// Qt's own dialog refuses a folder that is not there. Has no Q_OBJECT: a dialog of the desktop may
/// take its place.
class FolderDialog : public QFileDialog {
public:
    FolderDialog(QWidget* parent, const QString& title, const QString& name)
        : QFileDialog(parent, title, folderOf(FilesOf::Runs)) {
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

/// The other kind takes the folder, too, until it has one of its own.
void rememberFolder(FilesOf kind, const QString& path) {
    if (path.isEmpty()) return;
    folderOf(kind) = QFileInfo(path).absolutePath();
    for (const FilesOf each : {FilesOf::Runs, FilesOf::Data})
        if (folderOf(each).isEmpty()) folderOf(each) = folderOf(kind);
}

bool askYesNo(QWidget* parent, const QString& title, const QString& question) {
    QMessageBox box(QMessageBox::Question, title, question, QMessageBox::Yes | QMessageBox::No,
                    parent);
    box.setTextFormat(Qt::PlainText);
    box.setDefaultButton(QMessageBox::No);
    return box.exec() == QMessageBox::Yes;
}

bool askReplace(QWidget* parent, const QString& title, const QString& question,
                Replacing replacing) {
    QMessageBox box(QMessageBox::Question, title, question, QMessageBox::Yes | QMessageBox::Cancel,
                    parent);
    box.setTextFormat(Qt::PlainText);
    box.button(QMessageBox::Yes)->setText(QCoreApplication::translate("Ask", "&Replace"));
    box.setDefaultButton(replacing == Replacing::LosesLittle ? QMessageBox::Yes
                                                             : QMessageBox::Cancel);
    return box.exec() == QMessageBox::Yes;
}

bool askDiscard(QWidget* parent, const QString& title, const QString& question) {
    QMessageBox box(QMessageBox::Question, title, question,
                    QMessageBox::Discard | QMessageBox::Cancel, parent);
    box.setTextFormat(Qt::PlainText);
    box.button(QMessageBox::Discard)->setText(QCoreApplication::translate("Ask", "&Discard"));
    box.button(QMessageBox::Cancel)->setText(QCoreApplication::translate("Ask", "&Keep editing"));
    box.setDefaultButton(QMessageBox::Cancel);
    return box.exec() == QMessageBox::Discard;
}

void warn(QWidget* parent, const QString& title, const QString& text) {
    auto* box = make<QMessageBox>(QMessageBox::Warning, title, text, QMessageBox::Close, parent);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

QString chooseSource(QWidget* parent, FilesOf kind, const QString& title, const QString& filter,
                     const QString& now) {
    return chosen(kind, QFileDialog::getOpenFileName(parent, title, beginOf(kind, now), filter));
}

QString chooseSourceFolder(QWidget* parent, FilesOf kind, const QString& title,
                           const QString& now) {
    return chosen(kind, QFileDialog::getExistingDirectory(parent, title, beginOf(kind, now)));
}

QString chooseTarget(QWidget* parent, const QString& title, const QString& name,
                     const QString& filter, std::span<const ReadPath> reads,
                     const QString& folder) {
    QFileDialog dialog(parent, title, beginOf(FilesOf::Runs, folder), filter);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(QFileInfo(name).suffix());
    dialog.selectFile(name);
    QObject::connect(&dialog, &QFileDialog::filterSelected, &dialog, [&](const QString& type) {
        const QFileInfo named(dialog.selectedFiles().value(0));
        dialog.setDefaultSuffix(endingOf(type));
        dialog.selectFile(named.completeBaseName() + u'.' + endingOf(type));
    });
    const int result = dialog.exec();
    const QString path = folder.isEmpty() ? chosenIn(dialog, result) : acceptedIn(dialog, result);
    return path.isEmpty() || KeptFiles::allow(parent, path, reads) ? path : QString();
}

QString wholePath(const QString& path) {
    return QDir::cleanPath(QFileInfo(path).absoluteFilePath());
}

QString folderNameFor(const QString& title) {
    QString name = title.toLower();
    for (QChar& c : name)
        if (!c.isLetterOrNumber() && !c.isSurrogate()) c = u' ';
    name = name.simplified().replace(u' ', u'-');
    return name.isEmpty() ? QStringLiteral("results") : name;
}

QString chooseTargetFolder(QWidget* parent, const QString& title, const QString& name) {
    FolderDialog dialog(parent, title, name);
    return chosenIn(dialog, dialog.exec());
}

void tellBelow(QWidget& widget, const QString& text) {
    constexpr int kReadable = 8000; // ms
    if (QStatusBar* bar = barOf(widget))
        text.isEmpty() ? bar->clearMessage() : bar->showMessage(text, kReadable);
}

void untellBelow(QWidget& widget, const QString& text) {
    if (QStatusBar* bar = barOf(widget); bar && bar->currentMessage() == text) bar->clearMessage();
}

void retellBelow(QWidget& widget, const QString& before, const QString& text) {
    const QStatusBar* bar = barOf(widget);
    if (bar && (bar->currentMessage().isEmpty() || bar->currentMessage() == before))
        tellBelow(widget, text);
}

} // namespace halfscope
