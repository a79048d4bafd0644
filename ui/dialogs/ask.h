// Asks a question whose words may come from files, for which QMessageBox::question() would show
// markup, and asks where to save.
#pragma once

#include <QString>

class QWidget;

namespace halfscope {

/// Shows Yes and No as QMessageBox does and waits for the answer; returns whether it is Yes.
bool askYesNo(QWidget* parent, const QString& title, const QString& question);

/// Asks where to save. A name typed without an ending gets that of `name`, before the dialog asks
/// about overwriting. Returns an empty text when the user thought better of it.
QString chooseTarget(QWidget* parent, const QString& title, const QString& name,
                     const QString& filter);

} // namespace halfscope
