// File > Predict new samples: from the menu to the table that is written.
#include "engine/settings/data_experiment.h"
#include "engine/train/lane_file.h"
#include "tests/support/array_files.h"
#include "tests/support/class_lines.h"
#include "tests/support/file_menu.h"
#include "tests/support/picture_folder.h"
#include "tests/support/saved_run_parts.h"
#include "ui/panels/banner.h"
#include "ui/session/training_run.h"

#include <QAbstractButton>
#include <QMessageBox>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStatusBar>

#include <atomic>
#include <chrono>
#include <thread>

namespace tst_predict_samples {

using namespace halfscope;

class TestPredictSamples : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void aTableGetsAColumn();
    void allLanesInOneTable();
    void besideTheSamples();
    void whatDoesNotFitIsToldFirst();
    void whatIsReadStays();
    void aCommandComesFirst();
    void paintedPicturesHaveNone();
    void aFolderOfPictures();
    void aSavedRunHasItsWeights();
    void aSavedRunSavesItsNetworks();
    void predictionsAreSavedAsATable();

private:
    /// Returns the entries that the submenu has when it opens.
    static QList<QAction*> entries(MainWindow& window,
                                   const QString& menu = QStringLiteral("Predict new s&amples"));
    /// Chooses an entry, and answers its dialogs with the file of the samples and the one to write.
    /// Returns the path that was proposed for the latter.
    static QString choose(QAction* entry, const QString& samples, const QString& to);
    static void showsTheAnswer(MainWindow&, QAction* entry, const QTemporaryDir& folder);
    /// Opens a table of which the kind follows from the size, and trains on it.
    static void trainOnKinds(Opened&);
    /// Trains so, saves the run, and leaves only the weights of its networks in the folder.
    static void saveWithWeights(Opened&, const QString& folder);
};

QList<QAction*> TestPredictSamples::entries(MainWindow& window, const QString& name) {
    QAction* menu = fileAction(window, name);
    if (!menu || !menu->menu()) return {};
    emit menu->menu()->aboutToShow();
    return menu->menu()->actions();
}

QString TestPredictSamples::choose(QAction* entry, const QString& samples, const QString& to) {
    QTimer answering;
    QString proposed;
    connect(&answering, &QTimer::timeout, qApp, [&] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog || !dialog->isVisible()) return;
        // answered again until it closes: its list of files may still be filled; selectFile() does
        // nothing once the line of the name has the focus
        auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        const bool saves = dialog->acceptMode() == QFileDialog::AcceptSave;
        if (saves && proposed.isEmpty()) proposed = dialog->directory().filePath(name->text());
        name->setText(saves ? to : samples);
        QMetaObject::invokeMethod(dialog, "accept");
    });
    answering.start(10);
    entry->trigger();
    return proposed;
}

void TestPredictSamples::trainOnKinds(Opened& opened) {
    std::string text = "colour,size,kind\n";
    for (int i = 0; i < 100; ++i)
        text += (i % 2 ? "red," : "blue,") + std::to_string(i) + (i < 50 ? ",small\n" : ",large\n");
    MainWindow& window = opened.window;
    QVERIFY(window.tryFile(write(opened.folder, QStringLiteral("kinds.csv"), text)));
    QTRY_COMPARE(window.windowTitle(), QStringLiteral("kinds – Halfscope"));
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
}

void TestPredictSamples::aTableGetsAColumn() {
    Opened opened(tinyConfig(5));
    trainOnKinds(opened);
    MainWindow& window = opened.window;
    const QString samples =
        write(opened.folder, QStringLiteral("new.csv"), "colour,size\nred,3\nteal,97\n");
    const QString to = opened.folder.filePath(QStringLiteral("answer.csv"));
    const QSignalSpy saved(&window.controller(), &ExperimentController::laneSaved);
    const QList<QAction*> lanes = entries(window);
    QCOMPARE(lanes.size(), 3);
    choose(lanes[2], samples, to);
    QVERIFY(QTest::qWaitFor([&] { return saved.count() > 0; }, kPatience));
    QFile file(to);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(classLinesOf(file.readAll()),
             (QStringList{"colour,size,kind_predicted", "red,3,small", "teal,97,large"}));
    // the window tells about the word that was never seen
    const QString told = window.bannerText().remove(u'\u200b');
    QVERIFY2(told.startsWith("The predictions are in " + to +
                             ". Samples with words that the training data lack: 1 of 2") &&
                 told.contains("line 3: \"teal\" in the column \"colour\""),
             qPrintable(told));
    auto* banner = window.findChild<Banner*>();
    QVERIFY(banner->grab().toImage().pixelColor(1, banner->height() / 2) !=
            colorsFor(QGuiApplication::palette()).error);
}

/// One table compares the lanes, during the run and from its weights in the folder; a sentence on
/// each lane tells how good it is.
void TestPredictSamples::allLanesInOneTable() {
    Opened opened(tinyConfig(5));
    const QString folder = opened.folder.filePath(QStringLiteral("run"));
    saveWithWeights(opened, folder);
    const QString samples =
        write(opened.folder, QStringLiteral("new.csv"), "colour,size,kind\nred,3,small\nred,97,\n");
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(folder));
    QVERIFY(showsSaved(other.window));
    QVERIFY(reaches(other.window, SessionState::Ready));
    for (MainWindow* window : {&opened.window, &other.window}) {
        const QString to = opened.folder.filePath(
            window == &opened.window ? QStringLiteral("live.csv") : QStringLiteral("saved.csv"));
        QAction* all = entries(*window).first();
        QCOMPARE(all->text(), QStringLiteral("All lanes…"));
        choose(all, samples, to);
        QTRY_VERIFY_WITH_TIMEOUT(window->bannerText().remove(u'\u200b').contains(to), kPatience);
        QCOMPARE(classLinesOf(QString::fromStdString(readFile(to.toStdString())), 2),
                 (QStringList{"colour,size,kind,kind_predicted_fp32,kind_predicted_amp-fp16",
                              "red,3,small,small,small", "red,97,,large,large"}));
        const QString told = window->bannerText();
        for (const char* lane : {"fp32: ", "amp-fp16: "})
            QVERIFY2(told.contains(QLatin1String(lane)), qPrintable(told));
    }
}

/// The file is proposed beside its samples, and named by the lane that was chosen of several. A
/// sentence tells where it is, also when there is nothing else to tell.
void TestPredictSamples::besideTheSamples() {
    Opened opened(tinyConfig(5));
    trainOnKinds(opened);
    MainWindow& window = opened.window;
    const QDir folder(opened.folder.filePath(QStringLiteral("input")));
    QVERIFY(folder.mkpath(QStringLiteral(".")));
    const std::string lines = "colour,size\nred,3\n";
    const QString samples = write(opened.folder, QStringLiteral("input/new.csv"), lines),
                  packed = write(opened.folder, QStringLiteral("input/old.csv.gz"),
                                 gzipBytes(lines)); // its predictions are plain
    const std::tuple<int, QString, QString> proposals[] = {
        {0, samples, QStringLiteral("new_predicted.csv")},
        {2, samples, QStringLiteral("new_predicted_amp-fp16.csv")},
        {1, packed, QStringLiteral("old_predicted_fp32.csv")}};
    for (const auto& [entry, from, name] : proposals) {
        const QString to = opened.folder.filePath(QStringLiteral("to%1.csv").arg(entry));
        QCOMPARE(choose(entries(window).at(entry), from, to), folder.filePath(name));
        QTRY_COMPARE_WITH_TIMEOUT(window.bannerText().remove(u'\u200b'),
                                  QStringLiteral("The predictions are in %1.").arg(to), kPatience);
    }
}

/// A table without the columns is refused before anybody chooses where to save.
void TestPredictSamples::whatDoesNotFitIsToldFirst() {
    Opened opened(tinyConfig(5));
    trainOnKinds(opened);
    MainWindow& window = opened.window;
    const QString samples =
        write(opened.folder, QStringLiteral("houses.csv"), "rooms,size\n3,80\n");
    const QString to = opened.folder.filePath(QStringLiteral("answer.csv"));
    window.statusBar()->showMessage(QStringLiteral("Saved as earlier.csv"));
    QCOMPARE(choose(entries(window).last(), samples, to), QString()); // nothing was proposed
    QCOMPARE(window.statusBar()->currentMessage(), QString());
    const QString told = window.bannerText().remove(u'\u200b');
    QVERIFY2(told.startsWith(samples +
                             ": there is no column \"colour\", which the network was trained on"),
             qPrintable(told));
    QVERIFY(!QFile::exists(to));
}

/// Neither the table to train on nor the one to predict is replaced, although the dialog has asked.
void TestPredictSamples::whatIsReadStays() {
    Opened opened(tinyConfig(5));
    trainOnKinds(opened);
    MainWindow& window = opened.window;
    const QString samples =
        write(opened.folder, QStringLiteral("new.csv"), "colour,size\nred,3\nblue,97\n");
    const QString data = opened.folder.filePath(QStringLiteral("kinds.csv"));
    const QSignalSpy saved(&window.controller(), &ExperimentController::laneSaved);
    QTimer confirming; // a timer does not fire again within the box that it has opened
    connect(&confirming, &QTimer::timeout, qApp, [] {
        if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget()))
            if (QAbstractButton* yes = box->button(QMessageBox::Yes)) yes->click();
    });
    confirming.start(10);
    for (const QString& to : {data, samples}) {
        const std::string before = readFile(to.toStdString());
        choose(entries(window).last(), samples, to);
        const QString told = window.bannerText().remove(u'\u200b');
        QVERIFY2(told.startsWith(to + QStringLiteral(" is the file of ")) &&
                     told.endsWith(QStringLiteral(
                         " and would be overwritten; choose another folder or name")),
                 qPrintable(told));
        QCOMPARE(told.contains(QStringLiteral("the samples to predict")), to == samples);
        QTest::qWait(100); // for what must not come
        QVERIFY(readFile(to.toStdString()) == before);
    }
    QCOMPARE(saved.count(), 0);
}

void TestPredictSamples::saveWithWeights(Opened& opened, const QString& folder) {
    trainOnKinds(opened);
    opened.window.saveResults(folder);
    QVERIFY(QFile::remove(folder + "/checkpoint.safetensors"));
    const QSignalSpy saved(&opened.window.controller(), &ExperimentController::laneSaved);
    for (int lane = 0; lane < 2; ++lane) {
        const std::string name =
            opened.window.shown().run()->lanes()[static_cast<size_t>(lane)].name;
        opened.window.controller().saveLane(
            LaneFile::StateDict, lane,
            folder + '/' + QString::fromStdString(nameOf(LaneFile::StateDict, name)), "1");
    }
    QVERIFY(QTest::qWaitFor([&] { return saved.count() == 2; }, kPatience));
}

/// What the window that trained would save, the one that opened the folder saves, too.
void TestPredictSamples::aSavedRunSavesItsNetworks() {
    Opened opened(tinyConfig(5));
    const QString folder = opened.folder.filePath(QStringLiteral("run"));
    saveWithWeights(opened, folder);
    Opened other(tinyConfig(5));
    QVERIFY(other.window.tryFile(folder));
    QVERIFY(showsSaved(other.window));
    QVERIFY(reaches(other.window, SessionState::Ready));
    QApplication::setApplicationVersion(QStringLiteral("1"));
    const std::pair<LaneFile, const char*> files[] = {{LaneFile::StateDict, "Save &weights"},
                                                      {LaneFile::Onnx, "Save as O&NNX"},
                                                      {LaneFile::Predictions, "Save pre&dictions"},
                                                      {LaneFile::Samples, "Save pre&dictions"}};
    for (const auto& [file, menu] : files) {
        const QString first = opened.folder.filePath(QStringLiteral("first"));
        const QString second =
            opened.folder.filePath(QString::fromStdString("second_" + nameOf(file, "b")));
        const QSignalSpy saved(&opened.window.controller(), &ExperimentController::laneSaved);
        opened.window.controller().saveLane(file, 1, first, "1");
        QVERIFY(QTest::qWaitFor([&] { return saved.count() > 0; }, kPatience));
        const QList<QAction*> lanes = entries(other.window, QLatin1String(menu));
        QCOMPARE(lanes.size(), 2);
        QCOMPARE(lanes[1]->text(), QStringLiteral("B amp-fp16…"));
        choose(lanes[1], {}, second);
        QCOMPARE(other.window.bannerText(), QString());
        QVERIFY2(readFile(first.toStdString()) == readFile(second.toStdString()), menu);
    }
    QVERIFY(QFile::remove(folder + "/weights_amp-fp16.safetensors"));
    entries(other.window, QStringLiteral("Save as O&NNX"))[1]->trigger(); // asks for no file
    QVERIFY2(other.window.bannerText().contains("so what this run learnt is gone"),
             qPrintable(other.window.bannerText()));
}

/// The ending that is chosen says what is saved, of a run that trains: a table or an array.
void TestPredictSamples::predictionsAreSavedAsATable() {
    Opened opened(tinyConfig(5));
    trainOnKinds(opened);
    MainWindow& window = opened.window;
    const QSignalSpy saved(&window.controller(), &ExperimentController::laneSaved);
    for (const char* name : {"samples.CSV", "samples.npy"}) {
        const qsizetype before = saved.count();
        const QString to = opened.folder.filePath(QLatin1String(name));
        QVERIFY(choose(entries(window, QStringLiteral("Save pre&dictions"))[1], {}, to)
                    .endsWith(QLatin1String("/predictions_amp-fp16.npy")));
        QVERIFY(QTest::qWaitFor([&] { return saved.count() > before; }, kPatience));
        const std::string bytes = readFile(to.toStdString());
        QVERIFY2(bytes.starts_with(name[8] == 'C' ? "sample,target,amp-fp16\n" : "\x93NUMPY"),
                 name);
    }
}

/// A run without a checkpoint predicts with the weights in its folder, in the window that opened
/// it; without those the banner says what is missing.
void TestPredictSamples::aSavedRunHasItsWeights() {
    Opened opened(tinyConfig(5));
    const QString folder = opened.folder.filePath(QStringLiteral("run"));
    saveWithWeights(opened, folder);
    const QString weights = folder + QStringLiteral("/weights_amp-fp16.safetensors");
    const QString samples =
        write(opened.folder, QStringLiteral("new.csv"), "colour,size\nred,3\n,4\nblue,97\n");
    const QString to = opened.folder.filePath(QStringLiteral("answer.csv"));
    Opened other(tinyConfig(5));
    MainWindow& window = other.window;
    QVERIFY(window.tryFile(folder));
    QVERIFY(showsSaved(window));
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(window.networks().size(), 2);
    QCOMPARE(entries(window).size(), 3);
    choose(entries(window).last(), samples, to);
    QFile file(to);
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(window.bannerText()));
    QCOMPARE(classLinesOf(file.readAll()),
             (QStringList{"colour,size,kind_predicted", "red,3,small", ",4,", "blue,97,large"}));
    QCOMPARE(window.bannerText().remove(u'\u200b'),
             "The predictions are in " + to + ". " + samples +
                 ": 1 of 3 lines lacks a value and is not predicted. A run with \"Missing values\" "
                 "set to mean also predicts lines that have some of the values.");
    QVERIFY(QFile::remove(weights));
    entries(window).last()->trigger(); // asks for no file
    QCOMPARE(window.bannerText().remove(u'\u200b'),
             folder + ": neither weights_amp-fp16.safetensors nor checkpoint.safetensors is there, "
                      "so what this run learnt is gone; train it again and save its results");
}

/// Reading a long table takes seconds, and a pause does not wait for them.
void TestPredictSamples::aCommandComesFirst() {
    const QTemporaryDir folder;
    std::string text = "a,b\n";
    for (int i = 0; i < 60000; ++i)
        text += std::to_string(i) + ',' + std::to_string(i % 9) + ".5\n";
    const std::string path = write(folder, QStringLiteral("long.csv"), text).toStdString();
    const std::unique_ptr<TrainingRun> run = makeExperimentRun(*experimentOn(path), {});
    std::atomic<bool> done{false}, asked{false};
    std::thread asks([&] {
        while (!done) {
            run->requestStop();
            asked = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    while (!asked) // else a busy machine might let the thread begin after the reading
        std::this_thread::yield();
    const auto stopped = run->laneFile(LaneFile::Predicted, 0, {}, path);
    done = true;
    asks.join();
    QVERIFY(!stopped);
    run->clearStop();
    const auto predicted = run->laneFile(LaneFile::Predicted, 0, {}, path);
    QVERIFY(predicted && predicted->bytes.starts_with("a,b,b_predicted\n0,0.5,"));
}

/// The answer for one picture is shown before anybody asks for a file, and can be saved as one.
void TestPredictSamples::showsTheAnswer(MainWindow& window, QAction* entry,
                                        const QTemporaryDir& folder) {
    const QString red = folder.filePath(QStringLiteral("new/a.png"));
    const QString to = folder.filePath(QStringLiteral("one.csv"));
    QCOMPARE(choose(entry, red, to), QString()); // no dialog asked where to save
    QMessageBox* box = nullptr;
    QTRY_VERIFY_WITH_TIMEOUT(
        (box = window.findChild<QMessageBox*>(QStringLiteral("answer"))) != nullptr, kPatience);
    const QStringList lines = box->text().split(u'\n');
    QCOMPARE(lines.size(), 2);
    static const QRegularExpression kFirst(QStringLiteral("^fp32: red, [0-9.]+ %$")),
        kSecond(QStringLiteral("^amp-fp16: red, [0-9.]+ %$"));
    QVERIFY2(kFirst.match(lines[0]).hasMatch() && kSecond.match(lines[1]).hasMatch(),
             qPrintable(box->text()));
    QVERIFY(!QFile::exists(to));
    QAction save;
    connect(&save, &QAction::triggered, box, [box, to] {
        box->button(QMessageBox::Save)->click();
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(to), kPatience);
    });
    QVERIFY(choose(&save, red, to).endsWith(QStringLiteral("new/a_predicted.csv")));
    QFile file(to);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().startsWith("file,class_predicted_fp32,probability_fp32,"));
}

/// Of pictures, each lane predicts a folder or one of them.
void TestPredictSamples::aFolderOfPictures() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    const auto put = [&opened](const QString& name, const Picture& picture) {
        const QString path = opened.folder.filePath(name);
        QDir().mkpath(QFileInfo(path).path());
        writePng(picture, path.toStdString());
    };
    for (int i = 0; i < 8; ++i) {
        const float shade = static_cast<float>(i) / 32;
        put(QStringLiteral("kinds/red/%1.png").arg(i), test::plain(0.5f + shade, 0, shade));
        put(QStringLiteral("kinds/blue/%1.png").arg(i), test::plain(shade, 0, 0.5f + shade));
    }
    put(QStringLiteral("new/a.png"), test::plain(0.6f, 0, 0.1f));
    put(QStringLiteral("new/b.png"), test::plain(0.1f, 0, 0.6f));
    QVERIFY(window.tryFile(opened.folder.filePath(QStringLiteral("kinds"))));
    QTRY_COMPARE(window.windowTitle(), QStringLiteral("kinds – Halfscope"));
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() >= 30, kPatience);
    window.pause();
    const QList<QAction*> lanes = entries(window);
    QCOMPARE(lanes.size(), 6);
    QCOMPARE(lanes[0]->text(), QStringLiteral("All lanes, a folder of pictures…"));
    QVERIFY(lanes[4]->text().endsWith(QStringLiteral(", a folder of pictures…")));
    QCOMPARE(lanes[5]->text(), QStringLiteral("B amp-fp16, one picture…"));
    QCOMPARE(lanes[1]->text(), QStringLiteral("All lanes, one picture…"));
    showsTheAnswer(window, lanes[1], opened.folder);
    const QString to = opened.folder.filePath(QStringLiteral("answer.csv"));
    const QString samples = opened.folder.filePath(QStringLiteral("new"));
    const QSignalSpy saved(&window.controller(), &ExperimentController::laneSaved);
    window.controller().saveLane(LaneFile::Predicted, 1, to, QStringLiteral("1"), samples);
    QVERIFY(QTest::qWaitFor([&] { return saved.count() > 0; }, kPatience));
    QFile file(to);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = file.readAll().split('\n');
    QCOMPARE(lines[0], QByteArray("file,class_predicted,probability"));
    QVERIFY2(lines[1].startsWith("a.png,red,") && lines[2].startsWith("b.png,blue,"), lines[1]);
}

void TestPredictSamples::paintedPicturesHaveNone() {
    Opened opened(tinyConfig(5));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    RunConfig painted = defaultConfig();
    painted.task.side = 8;
    opened.window.openExperiment(
        write(opened.folder, QStringLiteral("painted.json"), configText(painted)));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    const QList<QAction*> all = entries(opened.window);
    QCOMPARE(all.size(), 1);
    QVERIFY(!all[0]->isEnabled());
}

} // namespace tst_predict_samples

QTEST_MAIN(tst_predict_samples::TestPredictSamples)
#include "tst_predict_samples.moc"
