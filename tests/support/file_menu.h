// The File menu and the dialogs that it opens, used as a user would.
#pragma once

#include "ui/window/main_window.h"

#include <QAction>
#include <QApplication>
#include <QFileDialog>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMenuBar>
#include <QTest>
#include <QTimer>

namespace halfscope {

/// Returns null when no menu has such an entry.
inline QAction* fileAction(MainWindow& window, const QString& text) {
    for (QAction* menu : window.menuBar()->actions())
        for (QAction* each : menu->menu()->actions())
            if (each->text() == text) return each;
    return nullptr;
}

/// Accepts the next dialog with this file name.
inline void answerWith(const QString& path) {
    QTimer::singleShot(0, qApp, [path] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog);
        if (dialog->fileMode() == QFileDialog::Directory) {
            // who types there has the keyboard in the line, which takes the proposed one's place
            dialog->findChild<QListView*>(QStringLiteral("listView"))->clearSelection();
            dialog->findChild<QLineEdit*>()->setText(path);
        } else {
            dialog->selectFile(path);
        }
        QMetaObject::invokeMethod(dialog, "accept");
    });
}

} // namespace halfscope
