// Asks a question whose words may come from files, for which QMessageBox::question() would show
// markup, and asks where to save.
#pragma once

#include <QString>

class QWidget;

namespace halfscope {

/// Shows Yes and No as QMessageBox does and waits for the answer; returns whether it is Yes.
bool askYesNo(QWidget* parent, const QString& title, const QString& question);

/// Asks where to save. A name typed without an ending gets that of `name` or of the type of file
/// that was chosen since, before the dialog asks about overwriting. Returns an empty text when the
/// user thought better of it.
QString chooseTarget(QWidget* parent, const QString& title, const QString& name,
                     const QString& filter);

/// Asks for a folder to save in: one that exists, or a new one, whose name may be typed. The name
/// of a new one, `name`, is proposed. Returns an empty text when the user thought better of it. The
/// folder is not created.
QString chooseTargetFolder(QWidget* parent, const QString& title, const QString& name);

} // namespace halfscope
