// The engine's texts in the language of the window. What the window says by itself goes through
// tr(), or QCoreApplication::translate() outside of classes.
#pragma once

#include "engine/core/error.h"

#include <QLocale>
#include <QStringList>

namespace halfscope {

/// The English text where no translation is loaded or has it. From any thread.
QString translated(const Phrase&);
/// Arguments are put in place as they are, translated where they are messages themselves; those
/// that are whole numbers are written as groupedNumbers() does.
QString translated(const Message&);
/// A sentence with its whole numbers in the digits of the user's locale: "step 2,005". Files keep
/// them plain. Numbers that belong to a name, a path or a fraction stay as they are.
QString groupedNumbers(const QString& text);
/// Of an error without a message, its words.
QString translated(const std::exception&);

/// Folders that may hold translations, of a program in this folder: beside it in the build, and in
/// share/halfscope where it is installed.
QStringList translationFolders(const QString& programFolder);
/// Loads halfscope_LANGUAGE.qm of the language that a locale prefers, from the first folder that
/// has it, and Qt's own texts with it. False where there is none: the texts stay English.
bool loadTranslation(const QLocale&, const QStringList& folders);

} // namespace halfscope
