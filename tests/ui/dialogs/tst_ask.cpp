// Dialogs for files begin where the last file of their kind was chosen, whether it was typed or
// clicked.
#include "ui/dialogs/ask.h"
#include "ui/dialogs/kept_files.h"
#include "ui/look/owned.h"
#include "ui/models/config_model.h"
#include "ui/panels/field_editor.h"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QLineEdit>
#include <QMainWindow>
#include <QMessageBox>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>

#include <functional>

namespace tst_ask {

using namespace halfscope;

class TestAsk : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QVERIFY(m_place.isValid()); }
    void beginsAtTheLastOfItsKind();
    void cancellingForgetsNothing();
    void besideAnotherFile();
    void pathsThatWereTypedCount();
    void browsingFindsFilesOfItsKind();
    void whatIsReadIsKept();
    void onlyTheOwnSentenceGoes();

private:
    QString in(const char* name) const { return m_place.filePath(QString::fromLatin1(name)); }
    /// Types a path in the dialog that `ask` opens, or cancels it when there is none; returns the
    /// folder where the dialog began.
    static QString begins(const std::function<QString()>& ask, const QString& typed);

    QTemporaryDir m_place;
};

QString TestAsk::begins(const std::function<QString()>& ask, const QString& typed) {
    QString begin;
    QTimer::singleShot(0, qApp, [&] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog) return;
        begin = dialog->directory().absolutePath();
        if (!typed.isEmpty()) {
            auto* name = dialog->findChild<QLineEdit*>();
            name->setText(typed);
            QTest::keyClick(name, Qt::Key_Return);
        }
        if (dialog->isVisible()) dialog->reject();
    });
    return ask() == typed ? begin : QStringLiteral("something else was chosen");
}

namespace {
QString openRun() { return chooseSource(nullptr, FilesOf::Runs, {}, {}); }
QString openData() { return chooseSource(nullptr, FilesOf::Data, {}, {}); }
QString openFolder() { return chooseSourceFolder(nullptr, FilesOf::Runs, {}); }
QString save() { return chooseTarget(nullptr, {}, QStringLiteral("x.json"), {}); }
QString saveBeside(const QString& folder) {
    return chooseTarget(nullptr, {}, QStringLiteral("x.csv"), {}, {}, folder);
}
QString saveFolder() { return chooseTargetFolder(nullptr, {}, QStringLiteral("new")); }
} // namespace

/// What is made of a file is saved beside it, and the next results where they were before.
void TestAsk::besideAnotherFile() {
    for (const char* folder : {"kept", "samples"})
        QVERIFY(QDir().mkpath(in(folder)));
    begins(save, in("kept/a.json"));
    const auto beside = [this] { return saveBeside(in("samples")); };
    QCOMPARE(begins(beside, in("samples/b.csv")), in("samples"));
    QCOMPARE(begins(save, {}), in("kept"));
}

/// Beside a folder that was chosen, the next one is offered, too.
void TestAsk::beginsAtTheLastOfItsKind() {
    for (const char* folder : {"runs", "data", "results", "results/one"})
        QVERIFY(QDir().mkpath(in(folder)));
    for (const char* name : {"runs/a.json", "data/b.csv"})
        QVERIFY(QFile(in(name)).open(QIODevice::WriteOnly));
    begins(openRun, in("runs/a.json"));
    QCOMPARE(begins(openData, in("data/b.csv")), in("runs")); // the only folder that is known
    QCOMPARE(begins(openData, {}), in("data"));
    QCOMPARE(begins(save, in("results/c.json")), in("runs"));
    QCOMPARE(begins(openRun, in("runs/a.json")), in("results"));
    QCOMPARE(begins(openFolder, in("results/one")), in("runs"));
    QCOMPARE(begins(saveFolder, in("runs/new")), in("results"));
    QCOMPARE(begins(saveFolder, {}), in("runs"));
    QCOMPARE(begins(openData, {}), in("data"));
}

void TestAsk::cancellingForgetsNothing() {
    begins(save, in("data/d.json"));
    begins(save, {});
    QCOMPARE(begins(save, {}), in("data"));
    const auto at = [this] {
        return chooseSource(nullptr, FilesOf::Data, {}, {}, in("results/one/e.csv"));
    };
    QCOMPARE(begins(at, {}), in("results/one")); // what the caller names comes first
}

/// In the settings, and those of files that were dropped.
void TestAsk::pathsThatWereTypedCount() {
    QVERIFY(QDir().mkpath(in("typed")));
    ConfigModel model;
    FieldEditor editor(model, model.rowOf("model.weights"));
    auto* line = qobject_cast<QLineEdit*>(editor.control());
    QTest::keyClicks(line, in("typed/w.safetensors"));
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(begins(openData, {}), in("typed"));
    QVERIFY(QDir().mkpath(in("dropped")));
    rememberFolder(FilesOf::Runs, in("dropped/run"));
    QCOMPARE(begins(openRun, {}), in("dropped"));
    QCOMPARE(begins(openData, {}), in("typed"));
}

void TestAsk::browsingFindsFilesOfItsKind() {
    ConfigModel model;
    FieldEditor editor(model, model.rowOf("model.weights"));
    QString title;
    QStringList filters;
    QTimer::singleShot(0, qApp, [&] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog) return;
        title = dialog->windowTitle();
        filters = dialog->nameFilters();
        dialog->reject();
    });
    editor.findChild<QToolButton*>(QStringLiteral("browse"))->click();
    QCOMPARE(title, QStringLiteral("Choose a file with weights"));
    QCOMPARE(filters.value(0), QStringLiteral("Weights (*.safetensors)"));
}

/// The main window is told of what was chosen in it; over another window there is a box.
void TestAsk::whatIsReadIsKept() {
    QMainWindow window;
    QDialog dialog(&window);
    const QString mine = in("mine.csv"), other = in("other.csv"), free = in("free.csv");
    for (const QString& name : {mine, other, free})
        QVERIFY(QFile(name).open(QIODevice::WriteOnly));
    QVERIFY(KeptFiles::allow(&window, mine)); // nobody reads it yet
    QString told;
    make<KeptFiles>(
        [&] {
            return std::vector{ReadPath{"task.image", mine.toStdString()}};
        },
        [&told](const QString& text) { told = text; }, window);
    QVERIFY(KeptFiles::allow(&window, free));
    QVERIFY(KeptFiles::allow(&dialog, other));
    QCOMPARE(told, QString());
    QVERIFY(!KeptFiles::allow(window.statusBar(), mine));
    QVERIFY2(told.contains(QStringLiteral("would be overwritten")), qPrintable(told));
    told.clear();
    const ReadPath samples{"the samples", other.toStdString()};
    QVERIFY(!KeptFiles::allow(&dialog, other, {&samples, 1}));
    QCOMPARE(told, QString());
    const auto* box = dialog.findChild<QMessageBox*>();
    QVERIFY(box);
    QVERIFY2(box->text().contains(QStringLiteral("is the file of the samples and would be ")),
             qPrintable(box->text()));
}

/// What somebody else has said meanwhile stays.
void TestAsk::onlyTheOwnSentenceGoes() {
    QMainWindow window;
    const QString own = QStringLiteral("Reading…"), other = QStringLiteral("Saved");
    tellBelow(window, other);
    untellBelow(window, own);
    QCOMPARE(window.statusBar()->currentMessage(), other);
    tellBelow(window, own);
    untellBelow(window, own);
    QCOMPARE(window.statusBar()->currentMessage(), QString());
    const QString more = QStringLiteral("Reading… 2 of 3");
    retellBelow(window, own, own); // there is room again
    QCOMPARE(window.statusBar()->currentMessage(), own);
    retellBelow(window, own, more);
    QCOMPARE(window.statusBar()->currentMessage(), more);
    tellBelow(window, other);
    retellBelow(window, more, own);
    QCOMPARE(window.statusBar()->currentMessage(), other);
}

} // namespace tst_ask

QTEST_MAIN(tst_ask::TestAsk)
#include "tst_ask.moc"
