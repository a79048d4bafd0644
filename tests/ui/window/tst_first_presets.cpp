// The presets that people try first, played in the window: what they are for, what their pictures
// show, and what the window says about them.
#include "engine/data/dataset.h"
#include "tests/support/opened_window.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/panels/preset_box.h"

#include <QAction>
#include <QLabel>
#include <QTest>

namespace tst_first_presets {

using namespace halfscope;

class TestFirstPresets : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void play_data();
    void play();
    void savedRunsSayTheSame();
    void otherDataHaveTheirName();
    void aGivenStopIsNoEdit();
    void itsWordsGoWithItsSettings();
};

void TestFirstPresets::play_data() {
    QTest::addColumn<QString>("said"); // below the pictures
    QTest::newRow("one-cycle") << "diagonal";
    QTest::newRow("curve-fit") << "A: y = ";
    QTest::newRow("line-fit") << "A: y = ";
    QTest::newRow("moons") << "Orange, crosses";
    QTest::newRow("spirals") << "Orange, crosses";
    QTest::newRow("mnist-mlp") << "predicted digit";
    QTest::newRow("mnist-cnn") << "predicted digit";
    const bool fashion = !presetNamed("fashion-cnn").config.task.path.empty(); // else digits
    const Preset& clothes = presetNamed("fashion-cnn");
    const std::string_view told = clothes.aboutHere().text(); // which data it has
    QCOMPARE(told.find("halfscope-cli get fashion-mnist, brings") == std::string_view::npos,
             fashion);
    QCOMPARE(clothes.titleHere().text() == std::string_view(clothes.title.text()), fashion);
    QTest::newRow("fashion-cnn") << (fashion ? "predicted class. 0 T-shirt/top, 1 Trouser"
                                             : "predicted digit");
    QTest::newRow("resnet-small") << "predicted digit";
    QTest::newRow("transformer-tiny") << "predicted next character";
    QTest::newRow("transformer-lm") << "each lane writes on";
    QTest::newRow("languages") << "each with its predicted class";
    for (const char* painter : {"siren", "fourier"})
        QTest::newRow(painter) << "Point at a picture to read its values.";
    for (const char* drawer : {"gan", "wgan-gp"})
        QTest::newRow(drawer) << "same random numbers";
}

void TestFirstPresets::play() {
    QFETCH(const QString, said);
    const QString name = QTest::currentDataTag();
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    window.openPreset(name);
    const Preset& preset = presetNamed(name.toStdString());
    auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    const QString told =
        QString::fromUtf8(preset.aboutHere().text()) + QStringLiteral(" Press Play.");
    QTRY_COMPARE_WITH_TIMEOUT(headline->text().remove(QChar(0x2060)), told, kPatience);
    QCOMPARE(window.windowTitle(),
             QString::fromUtf8(preset.titleHere().text()) + QStringLiteral(" – Halfscope"));
    QCOMPARE(window.findChild<PresetBox*>()->currentText(),
             QString::fromUtf8(preset.titleHere().text()));
    auto* pictures = window.findChild<CompareView*>();
    QTRY_VERIFY_WITH_TIMEOUT(pictures->view(1).picture().width > 0, kPatience); // before training
    const std::vector<float> before = pictures->view(1).picture().values;
    QVERIFY2(pictures->readout().contains(said), qPrintable(pictures->readout()));
    const int64_t end = name == "wgan-gp" ? 12 : 25; // its steps are the slowest by far
    window.setStopStep(end);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), end, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(pictures->view(1).picture().values != before, kPatience);
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    // beside the results it can still be read what they are of
    const QString about = QString::fromUtf8(preset.aboutHere().text());
    QTRY_VERIFY2_WITH_TIMEOUT(headline->toolTip().startsWith(QStringLiteral("Finished.")) &&
                                  headline->toolTip().contains(u'\n' + about),
                              qPrintable(headline->toolTip()), kPatience);
    for (int lane = 0; lane < 2; ++lane) {
        const Picture shown = window.shown().run()->now().pictures()->outputs.at(size_t(lane));
        QCOMPARE(shown.caption.starts_with("y = "), said.startsWith(QStringLiteral("A: y")));
    }
}

/// A preset whose data are exchanged is not that preset any more, from the next start on.
void TestFirstPresets::otherDataHaveTheirName() {
    MainWindow window;
    window.openPreset(QStringLiteral("checkerboard"));
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& settings = window.config();
    QVERIFY(settings.setData(settings.index(settings.rowOf("model.width")), 32));
    window.setStopStep(2);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QCOMPARE(window.windowTitle(), QStringLiteral("Checkerboard – Halfscope"));
    QCOMPARE(window.shown().preset(), QStringLiteral("checkerboard"));
    const QModelIndex data = settings.index(settings.rowOf("data.kind"));
    QVERIFY(settings.setData(data, QStringLiteral("regression")));
    QCOMPARE(window.windowTitle(), QStringLiteral("Checkerboard – Halfscope"));
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(window.windowTitle(), QStringLiteral("Regression, own settings – Halfscope"));
    QCOMPARE(window.findChild<PresetBox*>()->currentText(),
             QStringLiteral("Regression, own settings"));
    QVERIFY(window.shown().preset().isEmpty());
}

/// Pictures and their words survive a run's files.
void TestFirstPresets::savedRunsSayTheSame() {
    for (const char* name : {"curve-fit", "moons"}) {
        RunConfig config = presetNamed(name).config;
        config.device = "cpu";
        config.pace = 0;
        config.epochs = 0;
        config.steps = 20;
        Opened trained(config);
        trained.window.play();
        QVERIFY(reaches(trained.window, SessionState::Finished));
        auto* pictures = trained.window.findChild<CompareView*>();
        const auto& outputs = [&]() -> const std::vector<Picture>& {
            return trained.window.shown().run()->now().pictures()->outputs;
        };
        QTRY_COMPARE_WITH_TIMEOUT(trained.window.shown().run()->now().pictures()->step, int64_t(20),
                                  kPatience);
        const QString folder = trained.folder.filePath(QStringLiteral("out"));
        QVERIFY(!trained.window.saveResults(folder).isEmpty());
        MainWindow opened;
        opened.show();
        opened.openFile(folder);
        QTRY_VERIFY_WITH_TIMEOUT(
            opened.shown().run() && !opened.shown().run()->info().folder.empty(), kPatience);
        auto* again = opened.findChild<CompareView*>();
        QTRY_COMPARE_WITH_TIMEOUT(again->readout(), pictures->readout(), kPatience);
        QCOMPARE(again->view(0).picture().caption, outputs()[0].caption);
    }
}

/// As `halfscope --steps 20` starts.
void TestFirstPresets::aGivenStopIsNoEdit() {
    MainWindow window;
    window.openWithStop(20);
    window.openPreset("mnist-mlp"); // which counts epochs
    window.openWithStop({});
    ConfigModel& model = window.config();
    QCOMPARE(model.config().steps, int64_t{20});
    QCOMPARE(model.config().epochs, int64_t{0});
    const QModelIndex steps = model.index(model.rowOf("run.steps"));
    QVERIFY(!model.data(steps, ConfigModel::ChangedRole).toBool());
    bool found = false;
    for (const QAction* action : window.findChildren<QAction*>()) {
        if (action->shortcut() != QKeySequence(QKeySequence::Undo)) continue;
        found = true;
        QVERIFY2(!action->isEnabled(), qPrintable(action->text()));
    }
    QVERIFY(found);
    QVERIFY(trainsTo(window, 20));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t{20}, kPatience);
    window.openPreset("mnist-mlp");
    QCOMPARE(model.config().epochs, int64_t{2});
    // nor does a recorded change of the stop come back
    RunConfig recorded = tinyConfig(30);
    recorded.edits = {{.step = 5, .lane = -1, .key = "run.steps", .value = int64_t{12}}};
    const QTemporaryDir folder;
    window.openWithStop(20);
    window.openExperiment(write(folder, "recorded.json", configText(recorded)));
    QVERIFY(reaches(window, SessionState::Ready)); // the first run is shown until then
    QVERIFY(trainsTo(window, 20));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t{20}, kPatience);
}

/// Before the first step, and after a restart with other settings.
void TestFirstPresets::itsWordsGoWithItsSettings() {
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    window.openPreset("overflow");
    QVERIFY(reaches(window, SessionState::Ready));
    const auto* headline = window.findChild<QLabel*>("headline");
    const auto says = [headline] { return headline->toolTip().contains("A first scale of 2^24"); };
    QTRY_VERIFY2(says(), qPrintable(headline->toolTip()));
    ConfigModel& model = window.config();
    const auto set = [&model](const char* key, int lane, const QVariant& value) {
        return model.setData(model.index(model.rowOf(key, lane)), value);
    };
    QVERIFY(set("run.seed", -1, 7) && set("run.steps", -1, 12) && set("run.pace", -1, 0));
    QVERIFY2(says(), qPrintable(headline->toolTip()));
    QVERIFY(set("scaler.init_scale", 1, "2^30"));
    QVERIFY2(!says(), qPrintable(headline->toolTip()));
    QVERIFY(trainsTo(window, 12));
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_VERIFY(window.run().step() == 0);
    QVERIFY2(!says() && headline->toolTip().contains("Press Play."),
             qPrintable(headline->toolTip()));
    QVERIFY(set("scaler.init_scale", 1, "2^24"));
    QVERIFY2(says(), qPrintable(headline->toolTip()));
}

} // namespace tst_first_presets

QTEST_MAIN(tst_first_presets::TestFirstPresets)
#include "tst_first_presets.moc"
