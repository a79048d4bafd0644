// Asks a question whose words may come from files: QMessageBox::question() would show markup.
#pragma once

#include <QString>

class QWidget;

namespace halfscope {

/// Shows Yes and No as QMessageBox does and waits for the answer; returns whether it is Yes.
bool askYesNo(QWidget* parent, const QString& title, const QString& question);

} // namespace halfscope
