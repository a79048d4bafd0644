// Asks a question whose words may come from files: QMessageBox::question() would show markup.
#pragma once

#include <QString>

class QWidget;

namespace halfscope {

/// Yes or No, both as in QMessageBox; waits for the answer. Whether it is Yes.
bool askYesNo(QWidget* parent, const QString& title, const QString& question);

} // namespace halfscope
