// A path of data that is typed into the settings is read on another thread: the window continues,
// says that it is reading, and shows what follows from the data when that is known.
#include "engine/data/known_facts.h"
#include "engine/settings/fields.h"
#include "engine/step/pytorch_script.h"
#include "tests/support/array_files.h"
#include "tests/support/large_table.h"
#include "tests/support/opened_window.h"
#include "ui/dialogs/model_dialog.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/setup_panel.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QLocale>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTimer>
#include <QToolButton>

#include <memory>
#include <vector>

#include <sys/stat.h>

namespace tst_data_paths {

using namespace halfscope;

namespace {

constexpr const char* kPath = "data.path";

void type(MainWindow& window, const char* key, const QString& text) {
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf(key)), text));
}

QString noteOf(MainWindow& window, const char* key = kPath) {
    return window.setup().editor(key)->findChild<QLabel*>(QStringLiteral("note"))->text();
}

/// Whether the table was read: what it predicts is told.
bool tellsOfTable(MainWindow& window) {
    return noteOf(window).remove(u'\u200b').contains(QStringLiteral("The column "));
}

/// Returns the error beside the path, without the places where it may break.
QString errorOf(MainWindow& window) {
    return window.setup().editor(kPath)->errorText().remove(u'\u200b');
}

QString stepsOf(MainWindow& window) {
    return window.config().text(window.config().rowOf("run.steps"));
}

/// Whether both boxes show this as the last step; only a number, whose digits are grouped, can be
/// changed.
bool saysOfSteps(MainWindow& window, const QString& expected) {
    const auto* setting = qobject_cast<QSpinBox*>(window.setup().editor("run.steps")->control());
    const auto* bar = window.findChild<QSpinBox*>(QStringLiteral("stopAt"));
    for (const QSpinBox* box : {setting, bar}) {
        const QString unit = box == setting ? QStringLiteral(" steps") : QString();
        bool number = false;
        const int steps = expected.toInt(&number);
        const QString text = number ? box->locale().toString(steps) + unit : expected;
        if (box->text() == text && box->isReadOnly() != number) continue;
        qWarning() << box->text() << box->isReadOnly();
        return false;
    }
    return true;
}

/// Returns a training on tables for three epochs, when it is restarted with one.
RunConfig ofTables() {
    RunConfig config = tinyConfig(5);
    config.task.batch = 100;
    config.epochs = 3;
    return config;
}

} // namespace

class TestDataPaths : public QObject {
    Q_OBJECT
private slots:
    void theWindowGoesOn();
    void wrongPathsAreToldBesideThem();
    void closesMeanwhile();
    void aBuiltRunKnowsItsLength();
    void aSavedRunKnowsItsLength();
    void otherTables();
    void offersToOpenWhatIsChosen();
    void refusesAtTheRestart();
    void theNetworkWaitsForItsShape();
    void theNetworkWaitsForItsTokens();
    void copiesTheProgramLater();
    void tellsOfArraysThatFp16CannotHold();

private:
    /// Writes a csv table of so many lines under a name of its own: what is known of a path stays
    /// known.
    QString table(int lines);
    void choose(MainWindow& window, const QString& path) const {
        type(window, "data.kind", QStringLiteral("csv"));
        type(window, kPath, path);
    }

    QTemporaryDir m_folder;
    int m_tables = 0;
};

QString TestDataPaths::table(int lines) {
    const QString path = m_folder.filePath(QStringLiteral("%1.csv").arg(++m_tables));
    return test::writeTable(path, lines) ? path : QString();
}

void TestDataPaths::theWindowGoesOn() {
    Opened opened(ofTables());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString path = table(1'000'000);
    int turns = 0;
    QTimer timer;
    connect(&timer, &QTimer::timeout, this, [&turns] { ++turns; });
    choose(window, path);
    // nobody has read it by now, and this thread least of all
    QVERIFY(!knownFacts().find(window.config().config().task));
    QCOMPARE(noteOf(window), QStringLiteral("Reading the data…"));
    QVERIFY(saysOfSteps(window, QStringLiteral("reading…"))); // one batch would be a wrong number
    timer.start(1);
    QVERIFY(QTest::qWaitFor([&] { return tellsOfTable(window); }, kPatience));
    QVERIFY2(turns > 10, qPrintable(QString::number(turns)));
    QCOMPARE(stepsOf(window), QString::number(3 * 900'000 / 100));
    QVERIFY(saysOfSteps(window, QString::number(3 * 900'000 / 100)));
    QVERIFY(window.bannerText().isEmpty());
}

/// A wrong path is reported before a run needs it, until the path is another one.
void TestDataPaths::wrongPathsAreToldBesideThem() {
    Opened opened(ofTables());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const auto* stopAt = window.findChild<QSpinBox*>(QStringLiteral("stopAt"));
    constexpr int kPlanned = 3 * 900 / 100;
    choose(window, table(1000));
    QTRY_COMPARE_WITH_TIMEOUT(stopAt->value(), kPlanned, kPatience);
    const QString missing = m_folder.filePath(QStringLiteral("missing.csv"));
    type(window, kPath, missing);
    const QString expected = missing + QStringLiteral(": cannot read: No such file or directory");
    QTRY_COMPARE_WITH_TIMEOUT(errorOf(window), expected, kPatience);
    QVERIFY(noteOf(window).isEmpty());
    QCOMPARE(stopAt->value(), kPlanned); // the length of an epoch is not known
    QVERIFY(saysOfSteps(window, QStringLiteral("unknown")));
    const FieldEditor* editor = window.setup().editor(kPath);
    QVERIFY(editor->control()->accessibleDescription().startsWith(expected));
    QVERIFY(window.bannerText().isEmpty());
    type(window, kPath, table(1000));
    QVERIFY2(errorOf(window).isEmpty(), qPrintable(errorOf(window)));
    QVERIFY(QTest::qWaitFor([&] { return tellsOfTable(window); }, kPatience));
    QVERIFY2(errorOf(window).isEmpty(), qPrintable(errorOf(window)));
}

/// Its networks were built when the table was there.
void TestDataPaths::aBuiltRunKnowsItsLength() {
    Opened opened(ofTables());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    constexpr int kEpoch = 900 / 100;
    const QString path = table(1000);
    choose(window, path);
    QVERIFY(QTest::qWaitFor([&] { return tellsOfTable(window); }, kPatience));
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(saysOfSteps(window, QString::number(3 * kEpoch)));
    QVERIFY(QFile::rename(path, path + QStringLiteral(".away")));
    window.restart(); // finds that it is gone
    QVERIFY(reaches(window, SessionState::Failed));
    type(window, "run.epochs", QStringLiteral("4"));
    QTRY_VERIFY_WITH_TIMEOUT(!errorOf(window).isEmpty(), kPatience);
    QVERIFY(saysOfSteps(window, QString::number(4 * kEpoch)));
    type(window, "task.batch", QStringLiteral("50")); // another number of steps an epoch
    QVERIFY(saysOfSteps(window, QStringLiteral("unknown")));
}

/// Its rows say how long an epoch was.
void TestDataPaths::aSavedRunKnowsItsLength() {
    constexpr int kEpoch = 900 / 100;
    const QString path = table(1000);
    const QString folder = m_folder.filePath(QStringLiteral("saved"));
    {
        Opened opened(ofTables());
        MainWindow& window = opened.window;
        QVERIFY(reaches(window, SessionState::Ready));
        choose(window, path);
        QVERIFY(QTest::qWaitFor([&] { return tellsOfTable(window); }, kPatience));
        window.restart();
        QVERIFY(reaches(window, SessionState::Ready));
        QVERIFY(trainsTo(window, 3 * kEpoch));
        window.saveResults(folder);
    }
    QVERIFY(QFile::rename(path, path + QStringLiteral(".away")));
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(window.tryFile(folder));
    QVERIFY(reaches(window, SessionState::Failed));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t{3 * kEpoch}, kPatience);
    QVERIFY(saysOfSteps(window, QString::number(3 * kEpoch)));
}

/// A table to validate on has a row of its own, where it is told when it is the wrong one; a share
/// has none beside it.
void TestDataPaths::otherTables() {
    constexpr const char *kOther = "data.validation_path", *kShare = "data.validation";
    Opened opened(ofTables());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString path = table(1000);
    choose(window, path);
    QVERIFY(QTest::qWaitFor([&] { return tellsOfTable(window); }, kPatience));
    const FieldEditor* editor = window.setup().editor(kOther);
    QVERIFY(editor->applies());
    QVERIFY(window.setup().editor("data.test_path")->applies());
    QVERIFY(window.setup().editor(kShare)->applies());
    QCOMPARE(editor->control()->accessibleName(), QStringLiteral("Validation data"));
    const auto error = [&] { return editor->errorText().remove(u'\u200b'); };
    type(window, kOther, path);
    const QString refused = path + QStringLiteral(" is not allowed: it is the file of ");
    QVERIFY2(QTest::qWaitFor([&] { return error().startsWith(refused); }, kPatience),
             qPrintable(error()));
    QVERIFY2(errorOf(window).isEmpty(), qPrintable(errorOf(window))); // told where it was typed
    type(window, kOther, table(2000));
    const auto tells = [&] {
        return noteOf(window).contains(QStringLiteral(", 2,000, are valid"));
    };
    QVERIFY2(QTest::qWaitFor(tells, kPatience), qPrintable(noteOf(window)));
    QVERIFY2(error().isEmpty(), qPrintable(error()));
    QVERIFY(!window.setup().editor(kShare)->applies());
    type(window, "data.kind", QStringLiteral("moons"));
    QVERIFY(!editor->applies());
}

/// Neither another path nor the end of the window waits for the first path.
void TestDataPaths::closesMeanwhile() {
    // a machine may stall the window, and not the reader, until a table has been read
    bool closed = false;
    for (int tries = 0; tries < 5 && !closed; ++tries) {
        const QString large = table(2'000'000), larger = table(3'000'000);
        TaskConfig task;
        {
            Opened opened(ofTables());
            MainWindow& window = opened.window;
            QVERIFY(reaches(window, SessionState::Ready));
            choose(window, large);
            task = window.config().config().task;
            QTest::qWait(20);
            choose(window, larger);
            QVERIFY(opened.window.close());
        }
        const bool knowsFirst = knownFacts().find(task).has_value();
        task.path = larger.toStdString();
        closed = !knowsFirst && !knownFacts().find(task);
        QVERIFY(QFile::remove(large) && QFile::remove(larger));
    }
    QVERIFY(closed);
}

/// The settings stay until the offer is taken, which chooses them as File > Open does.
void TestDataPaths::offersToOpenWhatIsChosen() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    std::string lines = "size,tame,kind\n";
    for (int i = 0; i < 20; ++i)
        lines += std::to_string(i) + (i % 2 == 0 ? ",yes,cat\n" : ",no,dog\n");
    const QString path = write(opened.folder, QStringLiteral("pets.csv"), lines);
    type(window, "data.kind", QStringLiteral("csv"));
    const auto choose = [&] {
        QTimer::singleShot(0, &window, [&path] {
            auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (!dialog) return;
            dialog->setDirectory(QFileInfo(path).path());
            dialog->selectFile(path);
            QMetaObject::invokeMethod(dialog, "accept");
        });
        window.setup()
            .editor(kPath)
            ->findChild<QToolButton*>(QStringLiteral("browse"))
            ->click(); // the dialog runs in here
    };
    choose();
    QCOMPARE(QString::fromStdString(window.config().config().task.path), path);
    QVERIFY(window.config().config().task.loss.kind == LossKind::Mse);
    const QString offer = QStringLiteral("The other settings stay as they were.");
    QVERIFY2(window.bannerText().startsWith(offer), qPrintable(window.bannerText()));
    type(window, kPath, QString());
    QCOMPARE(window.bannerText(), QString()); // they are other data
    choose();
    auto* banner = window.findChild<Banner*>();
    for (QPushButton* button : banner->findChildren<QPushButton*>())
        if (button->text() == QLatin1String("Open")) button->click();
    QTRY_COMPARE_WITH_TIMEOUT(window.windowTitle(), QStringLiteral("pets – Halfscope"), kPatience);
    QVERIFY(window.config().config().task.loss.kind == LossKind::CrossEntropy);
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    QVERIFY(trainsTo(window, 1));
}

/// A pipe that nobody writes to, and a table with fewer samples than a batch.
void TestDataPaths::refusesAtTheRestart() {
    Opened opened(ofTables());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString pipe = m_folder.filePath(QStringLiteral("pipe.csv"));
    QCOMPARE(::mkfifo(pipe.toUtf8().constData(), 0600), 0);
    choose(window, pipe);
    window.restart(); // at once, before anything is known
    QVERIFY(QTest::qWaitFor([&] { return !window.bannerText().isEmpty(); }, kPatience));
    QVERIFY2(window.bannerText().contains(QStringLiteral("pipe.csv: cannot read: ")),
             qPrintable(window.bannerText()));
    choose(window, table(1000));
    type(window, "task.batch", QStringLiteral("5000"));
    window.restart();
    const QString refused =
        labelInWindow(*findField("task.batch")) + QStringLiteral(": ") + QLocale().toString(5000);
    QVERIFY2(QTest::qWaitFor([&] { return window.bannerText().contains(refused); }, kPatience),
             qPrintable(window.bannerText()));
}

void TestDataPaths::theNetworkWaitsForItsShape() {
    Opened opened(ofTables());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    choose(window, table(1'000'000));
    ModelDialog dialog(window.config().config());
    connect(&window.config(), &ConfigModel::edited, &dialog, &ModelDialog::lookForData);
    QVERIFY2(dialog.errorText().endsWith(QStringLiteral("the data are still being read")),
             qPrintable(dialog.errorText()));
    QVERIFY(QTest::qWaitFor([&] { return dialog.errorText().isEmpty(); }, kPatience));
    QVERIFY2(dialog.editor()->toPlainText().contains(QStringLiteral("Linear(4, 8)")),
             qPrintable(dialog.editor()->toPlainText()));
    QVERIFY(dialog.text().isEmpty()); // the template's
}

/// A text that begins with an Embedding asks for other facts than the settings before it: nothing
/// but their arrival lets the editor read it again.
void TestDataPaths::theNetworkWaitsForItsTokens() {
    std::string x, y;
    for (int i = 0; i < 40; ++i) {
        for (int at = 0; at < 8; ++at)
            x += bytesOfValues<int32_t>({(7 * i + 3 * at) % 50});
        y += bytesOfValues<int64_t>({i % 2});
    }
    const std::string archive =
        zipBytes({{"x.npy", npy("<i4", "(40, 8)", x)}, {"y.npy", npy("<i8", "(40,)", y)}});
    Opened opened(ofTables());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(window.tryFile(write(m_folder, QStringLiteral("tokens.npz"), archive)));
    QTRY_COMPARE(window.windowTitle(), QStringLiteral("tokens – Halfscope"));
    QVERIFY(reaches(window, SessionState::Ready));
    ModelDialog dialog(window.config().config());
    connect(&window.config(), &ConfigModel::edited, &dialog, &ModelDialog::lookForData);
    dialog.editor()->setPlainText(
        QStringLiteral("nn.Sequential(nn.Embedding(50, 4), nn.Flatten(), nn.Linear(32, 2))"));
    const auto* use = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
    QTRY_VERIFY2_WITH_TIMEOUT(use->isEnabled(), qPrintable(dialog.errorText()), kPatience);
    QVERIFY(dialog.errorText().isEmpty());
}

void TestDataPaths::copiesTheProgramLater() {
    Opened opened(ofTables());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    choose(window, table(1'000'000));
    QGuiApplication::clipboard()->clear();
    QAction* copy = nullptr;
    for (QAction* action : window.findChildren<QAction*>())
        if (action->shortcut() == QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C)) copy = action;
    QVERIFY(copy);
    copy->trigger();
    QVERIFY(QGuiApplication::clipboard()->text().isEmpty()); // not yet
    QVERIFY(
        QTest::qWaitFor([] { return !QGuiApplication::clipboard()->text().isEmpty(); }, kPatience));
    QCOMPARE(QGuiApplication::clipboard()->text(),
             QString::fromStdString(pytorchScript(window.config().config())));
}

/// What only their values tell is known from the training on.
void TestDataPaths::tellsOfArraysThatFp16CannotHold() {
    Opened opened(ofTables());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    constexpr int kSamples = 200;
    const std::vector<float> values(kSamples, 1e5f);
    const std::string array =
        npy("<f4", "(200, 1)",
            {reinterpret_cast<const char*>(values.data()), sizeof(float) * kSamples});
    type(window, "data.kind", QStringLiteral("arrays"));
    for (const char* key : {"data.x", "data.y"}) {
        const QString path = m_folder.filePath(QLatin1String(key) + QStringLiteral(".npy"));
        writeBytes(path.toStdString(), array);
        type(window, key, path);
    }
    QVERIFY(noteOf(window, "data.x").isEmpty() ||
            noteOf(window, "data.x") == QStringLiteral("Reading the data…"));
    window.restart();
    const auto told = [&] {
        return noteOf(window, "data.x")
            .remove(u'\u200b')
            .contains(QStringLiteral("fp16 ends at 65,504"));
    };
    QVERIFY2(QTest::qWaitFor(told, kPatience), qPrintable(noteOf(window, "data.x")));
}

} // namespace tst_data_paths

QTEST_MAIN(tst_data_paths::TestDataPaths)
#include "tst_data_paths.moc"
