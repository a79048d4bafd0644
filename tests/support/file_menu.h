// The File menu and the dialogs that it opens, as a user goes through them.
#pragma once

#include "ui/window/main_window.h"

#include <QAction>
#include <QApplication>
#include <QFileDialog>
#include <QMenu>
#include <QMenuBar>
#include <QTest>
#include <QTimer>

namespace halfscope {

/// Null where no menu has such an entry.
inline QAction* fileAction(MainWindow& window, const QString& text) {
    for (QAction* menu : window.menuBar()->actions())
        for (QAction* each : menu->menu()->actions())
            if (each->text() == text) return each;
    return nullptr;
}

/// Accepts the dialog that comes next with this name.
inline void answerWith(const QString& path) {
    QTimer::singleShot(0, qApp, [path] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog);
        if (dialog->fileMode() == QFileDialog::Directory) dialog->setDirectory(path);
        dialog->selectFile(path);
        QMetaObject::invokeMethod(dialog, "accept");
    });
}

} // namespace halfscope
