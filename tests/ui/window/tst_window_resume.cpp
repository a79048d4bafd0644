// Checkpoints and weights in the window: saved from the menu, opened and dropped, with the rows
// before them when these lie beside them; what cannot be read is refused, and nothing is lost.
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/npy.h"
#include "engine/io/safetensors.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_writer.h"
#include "engine/settings/fields.h"
#include "engine/train/checkpoint.h"
#include "engine/train/run_info.h"
#include "engine/train/state_dict.h"
#include "tests/support/file_menu.h"
#include "tests/support/opened_window.h"
#include "tests/support/part_of_weights.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"
#include "ui/panels/setup_panel.h"
#include "ui/window/headline.h"
#include "ui/window/window_files.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QStatusBar>

#include <cmath>

namespace tst_window_resume {

using namespace halfscope;

namespace {

/// Returns a training with skips and growth.
RunConfig config(int64_t steps = 40) {
    RunConfig config = tinyConfig(steps);
    config.lanes[1].scaler.initScale = 1e30;
    config.lanes[1].scaler.rules.growthInterval = 5;
    return config;
}

/// Trains so many steps into a folder and leaves a checkpoint there, as the command line does.
void trainPart(const QString& folder, const RunConfig& config, int64_t steps) {
    Experiment experiment(config);
    const RunInfo info = runInfo(experiment, "test");
    RunWriter files(folder.toStdString(), info, lanesOf(config), experiment.target(),
                    extraMetrics(experiment));
    while (experiment.step() < steps) {
        RunBatch batch;
        std::vector<StepRecord> records;
        experiment.advance(records, batch.events);
        for (const StepRecord& record : records)
            batch.rows.push_back(rowOf(record));
        files.append(batch);
    }
    ExperimentState state = experiment.state();
    state.run = files.id();
    const CheckpointText text(state, "test");
    QVERIFY(files.place(run_file::kCheckpoint, text.parts(), run_file::kEarlierCheckpoint).empty());
    files.finish(info, experiment.snapshot());
}

/// Returns loss and scale of all rows from a step on.
std::vector<double> valuesFrom(MainWindow& window, int64_t first) {
    std::vector<double> values;
    const RunSnapshot& run = window.shown().run()->now();
    for (int lane = 0; lane < run.laneCount(); ++lane)
        for (int64_t step = first; step <= run.lastStep(); ++step) {
            const StepRow row = run.row(lane, step);
            values.push_back(double{row.loss()});
            values.push_back(double{row.scale()});
        }
    return values;
}

/// Returns the button of the banner.
QPushButton& offerIn(MainWindow& window) {
    return *window.findChild<Banner*>()->findChild<QPushButton*>(QStringLiteral("offer"));
}

/// Writes the weights of a network of another seed, and a part of them beside it with one that no
/// network has. Returns the name of the array that is missing there.
QString writeWeights(const QString& whole, const QString& part) {
    RunConfig from = config();
    from.seed = 77;
    Experiment other(from);
    writeFileAtomically(whole.toStdString(), stateDictBytes(other.lane(0), "", "1"));
    const std::string last = safetensorsInfo(whole.toStdString()).arrays.back().name;
    test::partOfWeights(whole.toStdString(), part.toStdString(), {last}, {"fc.weight"});
    return QString::fromStdString(last);
}

QString stateOf(MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("state"))->text();
}

} // namespace

class TestWindowResume : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void savesAndGoesOn();
    void savesWhileItTrains();
    void forksComeAlong();
    void rowsBesideTheCheckpoint();
    void folderGoesOn();
    void finishedRunContinues();
    void theEndWithoutCurves();
    void damagedIsRefused();
    void cannotBeWritten();
    void menuAsksForAName();
    void savesWhatLanesHaveBecome();
    void predictionsNeedSamples();
    void savesForTensorBoard();
    void weightsStartTheLanes();
    void otherWeightsAreRefused();
    void aPartOfWeightsIsOffered();
    void theOfferGoesWithItsText();
    void aGivenStopKeepsTheCheckpoint();
    void dataThatChangedAreTold();

private:
    QString path(const char* name) const { return m_folder.filePath(QString::fromUtf8(name)); }
    QTemporaryDir m_folder;
};

void TestWindowResume::savesAndGoesOn() {
    Opened whole(config());
    QVERIFY(reaches(whole.window, SessionState::Ready));
    QVERIFY(stepsTo(whole.window, 13));
    QSignalSpy saved(&whole.window.controller(), &ExperimentController::saved);
    whole.window.controller().saveCheckpoint(path("c.safetensors"), QStringLiteral("1"));
    QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, kPatience);
    QCOMPARE(saved[0][1].toLongLong(), 13);
    QTRY_VERIFY(whole.window.statusBar()->currentMessage().contains("Checkpoint after step 13"));
    QVERIFY(trainsTo(whole.window, 40));

    Opened other(config(5));
    QVERIFY(other.window.tryFile(path("c.safetensors")));
    QVERIFY(reaches(other.window, SessionState::Ready));
    QVERIFY(!other.window.showsSaved());
    const auto* counter = other.window.findChild<QLabel*>(QStringLiteral("counter"));
    QTRY_COMPARE(counter->text(), QStringLiteral("step 13"));
    QVERIFY(trainsTo(other.window, 40));
    QCOMPARE(valuesFrom(other.window, 14), valuesFrom(whole.window, 14));
    QVERIFY(!other.window.shown().run()->now().column(0, metric::Loss).at(13));
    // Reset trains from the start again
    other.window.restart();
    QVERIFY(reaches(other.window, SessionState::Ready));
    QTRY_COMPARE(counter->text(), QStringLiteral("step 0"));
    QVERIFY(trainsTo(other.window, 40));
    QCOMPARE(valuesFrom(other.window, 1), valuesFrom(whole.window, 1));
}

void TestWindowResume::savesWhileItTrains() {
    Opened opened(config(1000000));
    opened.window.play();
    QVERIFY(reaches(opened.window, SessionState::Running));
    QSignalSpy saved(&opened.window.controller(), &ExperimentController::saved);
    for (int i = 0; i < 3; ++i)
        opened.window.controller().saveCheckpoint(path("while.safetensors"), QStringLiteral("1"));
    QTRY_VERIFY_WITH_TIMEOUT(!saved.isEmpty(), kPatience);
    QCOMPARE(opened.window.controller().state(), SessionState::Running);
    QVERIFY(readCheckpoint(path("while.safetensors").toStdString()).step > 0);
}

void TestWindowResume::forksComeAlong() {
    RunConfig forked = config(20);
    LaneConfig lane = forked.lanes[1];
    lane.scaler.initScale = 8;
    forked.forks = {{6, 1, 0, lane}};
    forked.edits = {{4, -1, "optimizer.lr", 0.001}};
    Experiment experiment(forked);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (experiment.step() < 9)
        experiment.advance(records, events);
    writeCheckpoint(path("forked.safetensors").toStdString(), experiment.state(), "1");
    Opened opened(config(5));
    QVERIFY(opened.window.tryFile(path("forked.safetensors")));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(trainsTo(opened.window, 20));
    QCOMPARE(opened.window.shown().run()->now().laneCount(), 3);
    QCOMPARE(opened.window.shown().run()->lanes()[2].parent, 1);
    QCOMPARE(opened.window.config().config().lanes.size(), size_t{3});
    QCOMPARE(opened.window.config().config().optimizer.lr, 0.001);
    while (!experiment.finished())
        experiment.advance(records, events);
    const StepRow last = opened.window.shown().run()->now().row(2, 20);
    QCOMPARE(last.loss(), records.back().loss);
}

void TestWindowResume::rowsBesideTheCheckpoint() {
    trainPart(path("part"), config(), 17);
    Opened whole(config()), opened(config(5));
    QVERIFY(trainsTo(whole.window, 40));
    QVERIFY(opened.window.tryFile(path("part/checkpoint.safetensors")));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QTRY_COMPARE_WITH_TIMEOUT(opened.window.run().step(), int64_t{17}, kPatience);
    QVERIFY(!opened.window.shown().hasUnsavedRows());
    QVERIFY(trainsTo(opened.window, 40));
    QVERIFY(opened.window.shown().hasUnsavedRows());
    QCOMPARE(valuesFrom(opened.window, 1), valuesFrom(whole.window, 1));
    QCOMPARE(opened.window.events().rowCount(), whole.window.events().rowCount());
    // and what is saved of it is the whole run
    opened.window.saveResults(path("a"));
    whole.window.saveResults(path("b"));
    for (const char* name : {"/steps.csv", "/events.csv", "/experiment.json"}) {
        QFile a(path("a") + name), b(path("b") + name);
        QVERIFY(a.open(QIODevice::ReadOnly) && b.open(QIODevice::ReadOnly));
        QVERIFY2(a.readAll() == b.readAll(), name);
    }
}

/// The run that is saved there is shown; Play continues from its checkpoint.
void TestWindowResume::folderGoesOn() {
    trainPart(path("folder"), config(), 17);
    Opened opened(config(5));
    QVERIFY(opened.window.tryFile(path("folder")));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.showsSaved(), kPatience);
    QCOMPARE(opened.window.run().step(), int64_t{17});
    QVERIFY(!opened.window.canBringBack());
    QTRY_VERIFY(stateOf(opened.window).contains("continue after step 17"));
    QVERIFY(trainsTo(opened.window, 40));
    Opened whole(config());
    QVERIFY(trainsTo(whole.window, 40));
    QCOMPARE(valuesFrom(opened.window, 1), valuesFrom(whole.window, 1));
}

void TestWindowResume::finishedRunContinues() {
    trainPart(path("finished"), config(12), 12);
    Opened opened(config(5));
    QVERIFY(opened.window.tryFile(path("finished")));
    QVERIFY(reaches(opened.window, SessionState::Finished));
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.showsSaved(), kPatience);
    QVERIFY(trainsTo(opened.window, 24));
    QVERIFY(opened.window.shown().run()->now().column(1, metric::Loss).at(1));
}

/// A checkpoint that was taken out of its folder after the last step.
void TestWindowResume::theEndWithoutCurves() {
    trainPart(path("over"), config(12), 12);
    QVERIFY(QFile::copy(path("over/checkpoint.safetensors"), path("bare.safetensors")));
    Opened opened(config(5));
    QVERIFY(opened.window.tryFile(path("bare.safetensors")));
    QVERIFY(reaches(opened.window, SessionState::Finished));
    const QString ended =
        "This run ended after step 12; its curves were not found beside the checkpoint.";
    QTRY_COMPARE(stateOf(opened.window),
                 ended + " Continue trains on to step 24; Reset starts over.");
    const QString said = opened.window.findChild<Headline*>()->said();
    QVERIFY2(said.startsWith(ended), qPrintable(said));
    QVERIFY(trainsTo(opened.window, 24));
    QTRY_COMPARE(stateOf(opened.window),
                 "Finished. Continue trains on to step 36; Reset starts over.");
}

void TestWindowResume::damagedIsRefused() {
    trainPart(path("damaged"), config(), 10);
    QFile file(path("damaged/checkpoint.safetensors"));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(file.size() - 100) && file.write("x") == 1);
    file.close();
    Opened opened(config(5));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(!opened.window.tryFile(file.fileName()));
    QVERIFY2(opened.window.bannerText().contains("it is damaged: the values of 1/"),
             qPrintable(opened.window.bannerText()));
    QCOMPARE(opened.window.config().config().steps, int64_t{5});
    // its folder holds the saved run, and the window says why that does not continue
    QVERIFY(opened.window.tryFile(path("damaged")));
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.showsSaved(), kPatience);
    QVERIFY(opened.window.bannerText().contains("it is damaged: the values of 1/"));
    QVERIFY(trainsTo(opened.window, 40));
    // one that was cut off is no file of weights, whatever it is called
    const QString cut = path("cut.safetensors");
    QVERIFY(file.copy(cut) && QFile::resize(cut, file.size() - 1000));
    QVERIFY(!opened.window.tryFile(cut));
    QVERIFY2(opened.window.bannerText().startsWith(cut), qPrintable(opened.window.bannerText()));
}

void TestWindowResume::cannotBeWritten() {
    Opened opened(config());
    QVERIFY(reaches(opened.window, SessionState::Ready));
    opened.window.controller().saveCheckpoint(path("no/such/folder/c.safetensors"),
                                              QStringLiteral("1"));
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.bannerText().contains("cannot write"), kPatience);
    QVERIFY(trainsTo(opened.window, 40));
}

void TestWindowResume::menuAsksForAName() {
    Opened opened(config());
    QAction* save = nullptr;
    for (QAction* menu : opened.window.menuBar()->actions())
        for (QAction* each : menu->menu()->actions())
            if (each->text() == QStringLiteral("Save &checkpoint…")) save = each;
    QVERIFY(save);
    QVERIFY(!save->shortcut().isEmpty());
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(stepsTo(opened.window, 3));
    QTimer::singleShot(0, this, [this] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog);
        dialog->selectFile(path("menu"));
        QMetaObject::invokeMethod(dialog, "accept");
    });
    QSignalSpy saved(&opened.window.controller(), &ExperimentController::saved);
    save->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(saved.size(), 1, kPatience);
    QCOMPARE(readCheckpoint(path("menu.safetensors").toStdString()).step, int64_t{3});
}

/// Each file is saved by a menu that lists the lanes: weights, ONNX, predictions.
void TestWindowResume::savesWhatLanesHaveBecome() {
    RunConfig learns = presetNamed("mnist-mlp").config;
    learns.model.layers = "nn.Sequential(nn.Flatten(), nn.Linear(784, 10))";
    learns.steps = 5;
    learns.epochs = 0;
    learns.device = "cpu";
    Opened opened(learns);
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(stepsTo(opened.window, 2));
    QSignalSpy saved(&opened.window.controller(), &ExperimentController::laneSaved);
    const std::pair<const char*, const char*> items[] = {{"Save &weights", "w.safetensors"},
                                                         {"Save as O&NNX", "n.onnx"},
                                                         {"Save pre&dictions", "p.npy"}};
    for (const auto& [item, name] : items) {
        QAction* menu = fileAction(opened.window, item);
        QVERIFY2(menu && menu->menu(), item);
        emit menu->menu()->aboutToShow();
        const QList<QAction*> lanes = menu->menu()->actions();
        QCOMPARE(lanes.size(), 2);
        QVERIFY2(lanes[1]->text().startsWith("B amp-fp16"), qPrintable(lanes[1]->text()));
        const qsizetype before = saved.size();
        answerWith(path(name));
        lanes[1]->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(saved.size(), before + 1, kPatience);
        QCOMPARE(saved.last()[1].toLongLong(), 2);
        QTRY_VERIFY(opened.window.statusBar()->currentMessage().endsWith("after step 2"));
    }
    const SafetensorsInfo weights = safetensorsInfo(path("w.safetensors").toStdString());
    QCOMPARE(weights.metadata.at("lane"), std::string("amp-fp16"));
    QCOMPARE(weights.metadata.at("step"), std::string("2"));
    QFile onnx(path("n.onnx"));
    QVERIFY(onnx.open(QIODevice::ReadOnly) && onnx.readAll().contains("1.weight"));
    const Array predictions = readNpy(path("p.npy").toStdString());
    QCOMPARE(predictions.info.shape, (std::vector<int64_t>{500, 10}));
}

/// A checkerboard uses all its pixels in the training.
void TestWindowResume::predictionsNeedSamples() {
    Opened opened(config());
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QSignalSpy notSaved(&opened.window.controller(), &ExperimentController::notSaved);
    opened.window.controller().saveLane(LaneFile::Predictions, 0, path("none.npy"), "1");
    QTRY_COMPARE_WITH_TIMEOUT(notSaved.size(), 1, kPatience);
    QVERIFY(!QFileInfo::exists(path("none.npy")));
    QVERIFY(stepsTo(opened.window, 1)); // it continues
    opened.window.controller().saveLane(LaneFile::StateDict, 0, path("no/such/w"), "1");
    QTRY_COMPARE_WITH_TIMEOUT(notSaved.size(), 2, kPatience);
    QVERIFY(stepsTo(opened.window, 2));
}

void TestWindowResume::savesForTensorBoard() {
    Opened opened(config(3));
    QVERIFY(trainsTo(opened.window, 3));
    QVERIFY(QDir().mkpath(path("board")));
    QAction* save = fileAction(opened.window, QStringLiteral("Save for &TensorBoard…"));
    QVERIFY(save);
    answerWith(path("board"));
    save->trigger();
    for (const char* lane : {"fp32", "amp-fp16"})
        QCOMPARE(QDir(path("board/") + lane).entryList({"*tfevents*"}).size(), 1);
    QVERIFY(opened.window.statusBar()->currentMessage().contains("tensorboard --logdir"));
}

void TestWindowResume::weightsStartTheLanes() {
    Experiment trained(config(6));
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!trained.finished())
        trained.advance(records, events);
    const QString file = path("weights.safetensors");
    writeFileAtomically(file.toStdString(), stateDictBytes(trained.lane(0), "", "1"));
    RunConfig with = config(1);
    with.model.weights = file.toStdString();
    Experiment expected(with);
    records.clear();
    expected.advance(records, events);

    Opened opened(config(1));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(opened.window.tryFile(file));
    QCOMPARE(opened.window.config().config().model.weights, file.toStdString());
    QCOMPARE(opened.window.statusBar()->currentMessage(),
             QStringLiteral("All lanes start from the weights in ") + file);
    QVERIFY(trainsTo(opened.window, 1));
    QCOMPARE(opened.window.shown().run()->now().row(0, 1).loss(), records[0].loss);
    QVERIFY(QFile::exists(file));
    opened.window.saveExperiment(path("weights.json"));
    QCOMPARE(readConfig(path("weights.json").toStdString()).model.weights, file.toStdString());

    RunConfig edited = config(1);
    edited.edits.push_back({1, 1, kLiveScale, 64.0}); // the start from weights drops it
    Opened other(edited);
    QVERIFY(reaches(other.window, SessionState::Ready));
    QVERIFY(other.window.tryFile(file));
    QCOMPARE(other.window.statusBar()->currentMessage(),
             QStringLiteral("Loss scales that were set by hand are gone; the settings stay as they "
                            "are. All lanes start from the weights in ") +
                 file);
}

void TestWindowResume::otherWeightsAreRefused() {
    RunConfig wide = config();
    wide.model.width *= 2;
    Experiment other(wide);
    const QString file = path("wide.safetensors"), pickle = path("model.pt");
    writeFileAtomically(file.toStdString(), stateDictBytes(other.lane(0), "", "1"));
    writeFileAtomically(pickle.toStdString(), std::string_view("PK\x03\x04 data.pkl", 13));
    Opened opened(config());
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QVERIFY(!opened.window.tryFile(pickle));
    QVERIFY2(opened.window.bannerText().contains("Copy the command that converts it"),
             qPrintable(opened.window.bannerText()));
    QVERIFY(opened.window.config().config().model.weights.empty());
    QVERIFY(!opened.window.tryFile(file));
    QVERIFY2(opened.window.bannerText().contains("has the shape"),
             qPrintable(opened.window.bannerText()));
    QVERIFY2(opened.window.bannerText().startsWith("These are weights of another network"),
             qPrintable(opened.window.bannerText()));
    QVERIFY(opened.window.config().config().model.weights.empty());
    QVERIFY(trainsTo(opened.window, 40)); // the earlier run continues
}

/// One click takes it, as one edit that can be undone.
void TestWindowResume::aPartOfWeightsIsOffered() {
    const QString file = path("part.safetensors");
    const QString missing = writeWeights(path("whole.safetensors"), file);
    RunConfig with = config(1);
    with.model.weights = file.toStdString();
    with.model.partialWeights = true;
    Experiment expected(with);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    expected.advance(records, events);
    const StateDictFit fit = stateDictFit(file.toStdString(), config(1));
    const QString counts = QStringLiteral("%1 of %2 tensors").arg(fit.wanted - 1).arg(fit.wanted);

    Opened opened(config(1));
    MainWindow& window = opened.window;
    const ModelConfig& model = window.config().config().model;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(!window.tryFile(file));
    QCOMPARE(window.bannerText(), "These weights fit only a part of the network: " + counts +
                                      ". The others would keep their initial values. Differences "
                                      "from the network: missing: " +
                                      missing + "; unexpected: fc.weight.");
    QVERIFY(model.weights.empty() && !model.partialWeights);
    QPushButton& offer = offerIn(window);
    QVERIFY(!offer.isHidden());
    QCOMPARE(offer.text(), QStringLiteral("Take what fits"));
    QTest::mouseClick(&offer, Qt::LeftButton);
    QCOMPARE(window.bannerText(), QString());
    QCOMPARE(model.weights, file.toStdString());
    QVERIFY(model.partialWeights);
    QCOMPARE(window.statusBar()->currentMessage(), "All lanes start from the weights in " + file +
                                                       ": " + counts +
                                                       "; the others keep their initial values");
    QVERIFY(trainsTo(window, 1));
    QCOMPARE(window.shown().run()->now().row(0, 1).loss(), records[0].loss);
    window.saveExperiment(path("part.json"));
    QVERIFY(readConfig(path("part.json").toStdString()).model.partialWeights);
    actionFor(window, QKeySequence::Undo)->trigger();
    QVERIFY(model.weights.empty() && !model.partialWeights);
}

void TestWindowResume::theOfferGoesWithItsText() {
    const QString whole = path("whole2.safetensors"), part = path("part2.safetensors");
    writeWeights(whole, part);
    const QString pickle = path("pickle.safetensors");
    writeFileAtomically(pickle.toStdString(), std::string_view("PK\x03\x04 data.pkl", 13));
    Opened opened(config(1));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(!window.tryFile(part));
    QVERIFY(!offerIn(window).isHidden());
    QVERIFY(!window.tryFile(pickle)); // nothing of it can be taken
    QVERIFY(!window.bannerText().isEmpty() && offerIn(window).isHidden());
    QVERIFY(!window.tryFile(part));
    QTest::mouseClick(&offerIn(window), Qt::LeftButton);
    QVERIFY(window.config().config().model.partialWeights);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(window.tryFile(whole)); // and a file that fits is taken as a whole again
    QCOMPARE(window.config().config().model.weights, whole.toStdString());
    QVERIFY(!window.config().config().model.partialWeights);
}

/// As `halfscope --steps 30 checkpoint.safetensors` starts.
void TestWindowResume::aGivenStopKeepsTheCheckpoint() {
    const QTemporaryDir folder;
    trainPart(folder.path(), config(), 20);
    MainWindow window;
    window.openWithStop(30);
    window.openFile(folder.filePath(QLatin1String(run_file::kCheckpoint)));
    window.openWithStop({});
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(window.controller().info()->goesOnAfter, std::optional<int64_t>(20));
    QTRY_COMPARE(window.config().config().steps, int64_t{30});
    QVERIFY(trainsTo(window, 30));
    QCOMPARE(window.run().step(), int64_t{30});
}

/// The list has no room for a path, and the sentence tells what the change means.
void TestWindowResume::dataThatChangedAreTold() {
    const QTemporaryDir folder;
    const auto table = [](int factor) {
        std::string text = "a,b,y\n";
        for (int i = 0; i < 80; ++i)
            text += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," +
                    std::to_string(factor * (i % 7) + i % 5) + "\n";
        return text;
    };
    const QString path = write(folder, "table.csv", table(1));
    RunConfig config = tinyConfig(20);
    config.task = {};
    config.task.kind = TaskKind::Csv;
    config.task.path = path.toStdString();
    config.task.batch = 8;
    const QString run = folder.filePath("run");
    trainPart(run, config, 10);
    write(folder, "table.csv", table(2));
    MainWindow window;
    window.openFile(run);
    QVERIFY(reaches(window, SessionState::Ready));
    // before Continue is pressed, the run's own place says so
    const QString changed =
        QDir(folder.path()).canonicalPath() +
        QStringLiteral(
            "/table.csv holds other data than the training began with; these are used now.");
    auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QTRY_VERIFY2_WITH_TIMEOUT(headline->accessibleName().startsWith(QStringLiteral("Saved run")) &&
                                  headline->accessibleName().endsWith(changed),
                              qPrintable(headline->accessibleName()), kPatience);
    MainWindow alone; // the checkpoint without the run's folder
    const QString copy = folder.filePath("alone.safetensors");
    QVERIFY(QFile::copy(run + QStringLiteral("/checkpoint.safetensors"), copy));
    alone.openFile(copy);
    QVERIFY(reaches(alone, SessionState::Ready));
    QTRY_COMPARE_WITH_TIMEOUT(
        alone.findChild<QLabel*>(QStringLiteral("headline"))->accessibleName(),
        QStringLiteral(
            "This run continues after step 10; its earlier curves were not found beside the "
            "checkpoint. %1 Press Play.")
            .arg(changed),
        kPatience);
    QVERIFY(trainsTo(window, 20));
    QTRY_VERIFY(!headline->accessibleName().contains(changed));
    const EventModel& events = window.events();
    int told = -1;
    for (int row = 0; row < events.rowCount(); ++row) {
        const QString what = events.index(row, EventModel::KindColumn).data().toString();
        if (what == "The data have changed") told = row;
    }
    QVERIFY(told >= 0);
    const QString sentence = events.index(told, EventModel::TextColumn).data().toString();
    QVERIFY2(sentence.startsWith("From step 11: ") &&
                 sentence.contains("table.csv holds other data "),
             qPrintable(sentence));
    QVERIFY(EventModel::whyText(events.eventAt(told)).contains("belong to other data"));
    // one whose training is over says so, too
    const QString over = folder.filePath("over");
    write(folder, "table.csv", table(1));
    trainPart(over, config, 20);
    write(folder, "table.csv", table(2));
    const QString end = folder.filePath("end.safetensors");
    QVERIFY(QFile::copy(over + QStringLiteral("/checkpoint.safetensors"), end));
    MainWindow ended;
    ended.openFile(end);
    QVERIFY(reaches(ended, SessionState::Finished));
    auto* said = ended.findChild<Headline*>();
    QTRY_VERIFY2_WITH_TIMEOUT(said->said().startsWith(QStringLiteral("This run ended after step "
                                                                     "20;")) &&
                                  said->said().contains(changed),
                              qPrintable(said->said()), kPatience);
}

} // namespace tst_window_resume

QTEST_MAIN(tst_window_resume::TestWindowResume)
#include "tst_window_resume.moc"
