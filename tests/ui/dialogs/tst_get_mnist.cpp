// The download of MNIST in the window: the question, a failure in one sentence, another try that
// ends well, an end in the middle; the button beside the setting.
#include "engine/core/error.h"
#include "engine/core/sha256.h"
#include "engine/data/get_mnist.h"
#include "engine/settings/fields.h"
#include "tests/support/http_server.h"
#include "ui/dialogs/get_mnist_dialog.h"
#include "ui/models/config_model.h"
#include "ui/panels/field_editor.h"

#include <QElapsedTimer>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <unistd.h>

namespace tst_get_mnist {

using namespace halfscope;

namespace {

std::vector<RemoteFile> filesOf(const std::string& content) {
    std::vector<RemoteFile> files;
    for (const RemoteFile& file : mnistFiles())
        files.push_back({file.name, static_cast<int64_t>(content.size()), sha256(content)});
    return files;
}

/// Returns the texts of all visible labels.
QString textOf(const QDialog& dialog) {
    QStringList texts;
    for (const QLabel* label : dialog.findChildren<QLabel*>())
        if (label->isVisible()) texts << label->text();
    return texts.join(u'\n');
}

} // namespace

class TestGetMnist : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { // numbers get separators
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    }
    void asksTriesAgainAndEnds();
    void asksForAFolder();
    void endsInTheMiddle();
    void button();
    void notes();
};

void TestGetMnist::asksTriesAgainAndEnds() {
    const QTemporaryDir folder;
    const std::string content(200'000, 'm');
    HttpServer server;
    for (const RemoteFile& file : filesOf(content))
        server.put(file.name, {content, 200, 150'000});
    GetMnistDialog dialog;
    dialog.setSource(filesOf(content), {server.address()});
    auto* line = dialog.findChild<QLineEdit*>();
    QCOMPARE(line->text(), QString::fromStdString(usualMnistFolder()));
    line->setText(folder.filePath("mnist"));
    dialog.show();
    QVERIFY2(textOf(dialog).contains("800.0 kB in four files, will be downloaded from 127.0.0.1"),
             qPrintable(textOf(dialog)));
    QVERIFY(server.asked().empty()); // nothing before the answer
    auto* start = dialog.findChild<QPushButton*>("download");
    start->click();
    QTRY_VERIFY(textOf(dialog).contains("the connection broke after 150,000 of 200,000 bytes"));
    QVERIFY(start->isEnabled() && dialog.isVisible());
    for (const RemoteFile& file : filesOf(content))
        server.put(file.name, {content});
    QSignalSpy accepted(&dialog, &QDialog::accepted);
    start->click();
    QVERIFY(!textOf(dialog).contains("broke"));
    QTRY_COMPARE(accepted.count(), 1);
    QCOMPARE(dialog.folder(), folder.filePath("mnist"));
    for (const RemoteFile& file : filesOf(content))
        QCOMPARE(QFile(folder.filePath("mnist/" + QString::fromStdString(file.name))).size(),
                 200'000);
    QCOMPARE(server.asked()[1], size_t{150'000}); // the second attempt continued there
}

/// An account without a home folder has no usual folder.
void TestGetMnist::asksForAFolder() {
    constexpr uid_t kNobodyKnown = 54321;
    if (geteuid() != 0) QSKIP("only root can be an account that is not known");
    const QByteArray home = qgetenv("HOME"), data = qgetenv("XDG_DATA_HOME");
    qunsetenv("HOME");
    qunsetenv("XDG_DATA_HOME");
    QVERIFY(seteuid(kNobodyKnown) == 0);
    GetMnistDialog dialog;
    QVERIFY(seteuid(0) == 0);
    qputenv("HOME", home);
    if (!data.isNull()) qputenv("XDG_DATA_HOME", data);
    QCOMPARE(dialog.folder(), QString());
    const auto* start = dialog.findChild<QPushButton*>("download");
    QVERIFY(!start->isEnabled());
    dialog.findChild<QLineEdit*>()->setText("somewhere");
    QVERIFY(start->isEnabled());
}

void TestGetMnist::endsInTheMiddle() {
    const QTemporaryDir folder;
    HttpServer server;
    const std::vector<RemoteFile> files = filesOf("content");
    server.put(files.front().name, {"content", 200, 3, true, true});
    constexpr qint64 kLongest = 2000; // ms; far below the time limit of a silent server
    QElapsedTimer time;
    {
        GetMnistDialog dialog;
        dialog.setSource(files, {server.address()});
        dialog.findChild<QLineEdit*>()->setText(folder.path());
        dialog.findChild<QPushButton*>("download")->click();
        QTRY_VERIFY(!server.asked().empty());
        time.start();
    }
    QVERIFY2(time.elapsed() < kLongest, "the end waits for a server that says nothing more");
    // soon the file is free for another try
    server.put(files.front().name, {"content"});
    const auto fetched = [&] {
        try {
            fetchFile(files.front(), std::vector{server.address()}, folder.path().toStdString(),
                      {});
            return true;
        } catch (const RunError&) { // another program is downloading this file
            return false;
        }
    };
    QTRY_VERIFY_WITH_TIMEOUT(fetched(), 3000);
    QVERIFY(QFile::exists(folder.filePath(QString::fromStdString(files.front().name))));
}

/// The button is shown while MNIST has no folder.
void TestGetMnist::button() {
    ConfigModel model;
    model.load(presetNamed("mnist-mlp").config);
    const int row = model.rowOf("data.path");
    FieldEditor editor(model, row);
    editor.show();
    auto* get = editor.findChild<QToolButton*>("getMnist");
    QVERIFY(get && get->isVisible());
    get->click();
    auto* dialog = editor.findChild<GetMnistDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    dialog->reject();
    const QTemporaryDir folder;
    model.setData(model.index(row), folder.path());
    editor.refresh();
    QVERIFY(!get->isVisible());
}

/// Samples that are left out of a table are mentioned beside the setting that decides it.
void TestGetMnist::notes() {
    const QTemporaryDir folder;
    QFile table(folder.filePath("t.csv"));
    QVERIFY(table.open(QIODevice::WriteOnly));
    table.write("a,y\n1,2\n,3\n3,4\n5,6\n");
    table.close();
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Csv;
    config.task.path = table.fileName().toStdString();
    config.task.batch = 1;
    ConfigModel model;
    model.load(config);
    const int row = model.rowOf("data.missing");
    FieldEditor editor(model, row);
    const auto* note = editor.findChild<QLabel*>("note");
    editor.show();
    QVERIFY(!note->isVisible());
    QVERIFY(model.setData(model.index(row), "drop"));
    editor.refresh();
    QVERIFY(note->isVisible());
    QCOMPARE(note->text(), QString("• The column y is predicted, as a number.\n"
                                   "• 1 of 4 lines lacks a value and is left out."));
}

} // namespace tst_get_mnist

QTEST_MAIN(tst_get_mnist::TestGetMnist)
#include "tst_get_mnist.moc"
