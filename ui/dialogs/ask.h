// Asks a question whose words may come from files, for which QMessageBox::question() would show
// markup, and asks which file to open and where to save. Dialogs begin in the folder where the last
// file of the same kind was chosen, typed or dropped; Qt's own forget it when a path was typed.
#pragma once

#include "engine/runs/overwriting.h"

#include <QString>

#include <span>

class QWidget;

namespace halfscope {

/// Asks before something is lost for good: shows Yes and No, and waits for the answer. Enter and
/// Esc are No; returns whether it is Yes.
bool askYesNo(QWidget* parent, const QString& title, const QString& question);
/// What is lost when files are replaced.
enum class Replacing {
    LosesLittle, ///< what is written again: Enter replaces it
    LosesMore,   ///< Enter replaces nothing
};
/// Shows Replace and Cancel; returns whether the files are to be replaced.
bool askReplace(QWidget* parent, const QString& title, const QString& question, Replacing);
/// Asks before what the user has written is lost. Enter and Esc keep it; returns whether it is to
/// be discarded.
bool askDiscard(QWidget* parent, const QString& title, const QString& question);

/// Warns in a box that waits for nobody. The words may come from a file's name, so they are shown
/// as they are.
void warn(QWidget* parent, const QString& title, const QString& text);

/// The kinds of files: experiments, runs and what is made of them, or the data they train on.
enum class FilesOf { Runs, Data };

/// Lets the next dialog for such files begin in the folder of a path that no dialog asked for.
void rememberFolder(FilesOf, const QString& path);

/// Ask for a file or a folder to open; the dialog begins at `now` when that is not empty. Return an
/// empty text when the user thought better of it.
QString chooseSource(QWidget* parent, FilesOf, const QString& title, const QString& filter,
                     const QString& now = {});
QString chooseSourceFolder(QWidget* parent, FilesOf, const QString& title, const QString& now = {});

/// Asks where to save what is made of runs. A name typed without an ending gets that of `name` or
/// of the type of file that was chosen since, before the dialog asks about overwriting. Returns an
/// empty text when the user thought better of it, or when KeptFiles does not allow the file: it has
/// told why. `reads` is what else must not be overwritten. With `folder`, the dialog begins there:
/// what is made of a file belongs beside it, and later dialogs begin where they would have.
QString chooseTarget(QWidget* parent, const QString& title, const QString& name,
                     const QString& filter, std::span<const ReadPath> reads = {},
                     const QString& folder = {});

/// Returns a path from the root without detours, by its name alone: asking a dead network for the
/// file would halt the window.
QString wholePath(const QString& path);

/// Returns the name of a folder for the results of a run with this title.
QString folderNameFor(const QString& title);

/// Asks for a folder to save in: one that exists, or a new one, whose name may be typed. Proposes
/// `name`: that of a new one, or the whole path of one that may exist. Returns an empty text when
/// the user thought better of it. The folder is not created.
QString chooseTargetFolder(QWidget* parent, const QString& title, const QString& name);

/// Tells for some seconds at the lower edge of the main window to which a widget belongs, or a
/// dialog of which it is a part; screen readers tell it, too. Empty: nothing more.
void tellBelow(QWidget& widget, const QString& text);
/// Takes a sentence away from there, unless another one has taken its place.
void untellBelow(QWidget& widget, const QString& text);
/// Replaces a sentence, unless another one than `before` stands there now.
void retellBelow(QWidget& widget, const QString& before, const QString& text);

} // namespace halfscope
