// The engine's texts in the language of the window. The window's own texts go through tr(), or
// through QCoreApplication::translate() outside of classes.
#pragma once

#include "engine/core/error.h"

#include <QLocale>
#include <QStringList>

namespace halfscope {

struct Field;

/// Returns the English text when no translation is loaded or none has it. Any thread may call.
QString translated(const Phrase&);
/// Returns the message in the user's language and the words of the window: settings have the names
/// that they have there, not their keys, and check boxes are switched on or off. Errors of a file
/// of settings keep the keys that stand in it. Arguments that are messages themselves are
/// translated, numbers are written as in the user's locale ("2,005"), and data stay as they are.
QString translated(const Message&);
/// Returns a title: one that is data, the name of a file, stays as it is even where it reads like a
/// setting's key.
QString experimentTitle(const Message&);
/// Returns a sentence of a saved run, which is whole, with its whole numbers written as in the
/// user's locale: "step 2,005". Numbers that belong to a name, a path or a fraction stay as they
/// are.
QString groupedNumbers(const QString& text);
/// Returns the name of a setting in quotation marks, as sentences in the window have it.
QString labelInWindow(const Field&);
/// Returns the same name as one word, for titles and other short texts that have its value behind
/// it.
std::string nameInTitles(const Field&);
/// Of an error without a message, its words.
QString translated(const std::exception&);

/// Returns the folders that may hold translations for a program in `programFolder`: beside it in
/// the build, and in share/halfscope when it is installed.
QStringList translationFolders(const QString& programFolder);
/// Loads halfscope_LANGUAGE.qm of the language that a locale prefers, from the first folder that
/// has it, and Qt's own texts with it. Returns false when there is none: the texts stay English.
bool loadTranslation(const QLocale&, const QStringList& folders);

} // namespace halfscope
