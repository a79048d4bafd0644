// The download of data in the window: the choice and the question, a failure in one sentence,
// another try that ends well, an end in the middle; the button beside the setting.
#include "engine/core/error.h"
#include "engine/settings/fields.h"
#include "tests/support/shown_window.h"
#include "tests/support/stand_in_data.h"
#include "ui/dialogs/get_data_dialog.h"
#include "ui/models/config_model.h"
#include "ui/panels/field_editor.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <unistd.h>

namespace tst_get_data {

using namespace halfscope;

namespace {

/// Returns the texts of all visible labels.
QString textOf(const QDialog& dialog) {
    QStringList texts;
    for (const QLabel* label : dialog.findChildren<QLabel*>())
        if (label->isVisible()) texts << label->text();
    return texts.join(u'\n');
}

} // namespace

class TestGetData : public QObject {
    Q_OBJECT
    QTemporaryDir m_home;

private slots:
    void initTestCase() { // numbers get separators
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        qputenv("XDG_DATA_HOME", m_home.path().toUtf8()); // nothing goes into the user's
    }
    void asksTriesAgainAndEnds();
    void choosesAmongSets();
    void asksForAFolder();
    void endsInTheMiddle();
    void button();
    void proposesWhatThePresetIsAbout();
    void notes();
};

void TestGetData::asksTriesAgainAndEnds() {
    const QTemporaryDir folder;
    const std::string content(200'000, 'm');
    HttpServer server;
    const PublicData data = standIn("mnist", content, server);
    serve(server, data, {content, 200, 150'000});
    GetDataDialog dialog(std::vector{data});
    auto* line = dialog.findChild<QLineEdit*>();
    QCOMPARE(line->text(), QString::fromStdString(usualFolder(data)));
    line->setText(folder.filePath("mnist"));
    dialog.show();
    QVERIFY2(textOf(dialog).contains("800.0 kB in four files will be downloaded from 127.0.0.1"),
             qPrintable(textOf(dialog)));
    QVERIFY(server.asked().empty()); // nothing before the answer
    auto* start = dialog.findChild<QPushButton*>("download");
    start->click();
    QTRY_VERIFY(textOf(dialog).contains("the connection broke after 150,000 of 200,000 bytes"));
    QVERIFY(start->isEnabled() && dialog.isVisible());
    QCOMPARE(start->text(), QString("Try again"));
    serve(server, data, {content});
    QSignalSpy accepted(&dialog, &QDialog::accepted);
    start->click();
    QVERIFY(!textOf(dialog).contains("broke"));
    QTRY_COMPARE(accepted.count(), 1);
    QCOMPARE(dialog.folder(), folder.filePath("mnist"));
    for (const RemoteFile& file : data.files)
        QCOMPARE(QFile(folder.filePath("mnist/" + QString::fromStdString(file.name))).size(),
                 200'000);
    QCOMPARE(server.asked()[1], size_t{150'000}); // the second attempt continued there
}

/// By keys: each set proposes a folder of its own, unless the user has named one, and comes from
/// its own server.
void TestGetData::choosesAmongSets() {
    const QTemporaryDir folder;
    HttpServer none, server;
    const std::vector sets{standIn("mnist", "digits", none),
                           standIn("fashion-mnist", "clothes", server)};
    serve(server, sets[1], {"clothes", 200, std::string::npos, true});
    GetDataDialog dialog(sets);
    dialog.show();
    QVERIFY(test::isActive(&dialog));
    auto* digits = dialog.findChild<QRadioButton*>("mnist");
    auto* clothes = dialog.findChild<QRadioButton*>("fashion-mnist");
    auto* line = dialog.findChild<QLineEdit*>();
    auto* start = dialog.findChild<QPushButton*>("download");
    QVERIFY(digits->isChecked());
    QCOMPARE(digits->text(), QString("MNIST: 70,000 handwritten digits"));
    QCOMPARE(clothes->text(), QString("Fashion-MNIST: 70,000 pictures of clothes, shoes and bags"));
    QVERIFY(!dialog.findChild<QGroupBox*>()->title().isEmpty()); // screen readers say it first
    start->click();
    QTRY_COMPARE(start->text(), QString("Try again"));
    QVERIFY(textOf(dialog).contains("error 404"));
    digits->setFocus();
    QTest::keyClick(digits, Qt::Key_Down);
    QVERIFY(clothes->isChecked() && !digits->isChecked());
    QCOMPARE(line->text(), QString::fromStdString(usualFolder(sets[1])));
    QCOMPARE(start->text(), QString("Download")); // the failure was of the other set
    QVERIFY2(!textOf(dialog).contains("404") && textOf(dialog).contains("28 bytes in four files"),
             qPrintable(textOf(dialog)));
    line->setText(folder.filePath("mine"));
    QTest::keyClick(clothes, Qt::Key_Up);
    QTest::keyClick(digits, Qt::Key_Down);
    QCOMPARE(line->text(), folder.filePath("mine"));
    const size_t before = none.asked().size();
    QSignalSpy accepted(&dialog, &QDialog::accepted);
    start->click();
    QVERIFY(!digits->isEnabled() && !clothes->isEnabled()); // while it is downloaded
    QTRY_COMPARE(accepted.count(), 1);
    QCOMPARE(server.asked().size(), size_t{4});
    QCOMPARE(none.asked().size(), before);
    QCOMPARE(QDir(folder.filePath("mine")).entryList(QDir::Files).size(), 4);
}

/// An account without a home folder has no usual folder.
void TestGetData::asksForAFolder() {
    constexpr uid_t kNobodyKnown = 54321;
    if (geteuid() != 0) QSKIP("only root can be an account that is not known");
    const QByteArray home = qgetenv("HOME"), data = qgetenv("XDG_DATA_HOME");
    qunsetenv("HOME");
    qunsetenv("XDG_DATA_HOME");
    QVERIFY(seteuid(kNobodyKnown) == 0);
    GetDataDialog dialog;
    QVERIFY(seteuid(0) == 0);
    qputenv("HOME", home);
    if (!data.isNull()) qputenv("XDG_DATA_HOME", data);
    QCOMPARE(dialog.folder(), QString());
    const auto* start = dialog.findChild<QPushButton*>("download");
    QVERIFY(!start->isEnabled());
    dialog.findChild<QLineEdit*>()->setText("somewhere");
    QVERIFY(start->isEnabled());
}

void TestGetData::endsInTheMiddle() {
    const QTemporaryDir folder;
    HttpServer server;
    const PublicData data = standIn("mnist", "content", server);
    const std::vector<RemoteFile>& files = data.files;
    server.put(files.front().name, {"content", 200, 3, true, true});
    constexpr qint64 kLongest = 20'000; // ms; below the 30 s that a server may be silent
    QElapsedTimer time;
    {
        GetDataDialog dialog(std::vector{data});
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
            fetchFile(files.front(), data.addresses, folder.path().toStdString(), {});
            return true;
        } catch (const RunError&) { // another program is downloading this file
            return false;
        }
    };
    QTRY_VERIFY_WITH_TIMEOUT(fetched(), static_cast<int>(kLongest));
    QVERIFY(QFile::exists(folder.filePath(QString::fromStdString(files.front().name))));
}

/// The button is shown while the data have no folder.
void TestGetData::button() {
    ConfigModel model;
    model.load(presetNamed("mnist-mlp").config);
    const int row = model.rowOf("data.path");
    FieldEditor editor(model, row);
    editor.show();
    auto* get = editor.findChild<QToolButton*>("getData");
    QVERIFY(get && get->isVisible());
    get->click();
    auto* dialog = editor.findChild<GetDataDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    dialog->reject();
    const QTemporaryDir folder;
    model.setData(model.index(row), folder.path());
    editor.refresh();
    QVERIFY(!get->isVisible());
}

/// Where a preset lacks its data, these are chosen.
void TestGetData::proposesWhatThePresetIsAbout() {
    for (const PublicData& data : publicData()) {
        RunConfig config = presetNamed(data.preset).config;
        config.task.path.clear(); // as where they were not fetched
        ConfigModel model;
        model.load(config);
        FieldEditor editor(model, model.rowOf("data.path"));
        editor.show();
        editor.findChild<QToolButton*>("getData")->click();
        auto* dialog = editor.findChild<GetDataDialog*>();
        for (const PublicData& other : publicData())
            QCOMPARE(
                dialog->findChild<QRadioButton*>(QString::fromStdString(other.name))->isChecked(),
                other.name == data.name);
    }
}

/// Samples that are left out of a table are mentioned beside the setting that decides it.
void TestGetData::notes() {
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
                                   "• 1 of 4 lines lacks a value and is left out. To keep it, "
                                   "set “Missing values” to mean."));
    QVERIFY(model.setData(model.index(row), "mean"));
    editor.refresh();
    QVERIFY2(!note->text().contains("left out"), qPrintable(note->text()));
}

} // namespace tst_get_data

QTEST_MAIN(tst_get_data::TestGetData)
#include "tst_get_data.moc"
