// Every preset trains in the window: a few steps, a row for each lane, and no error.
#include "tests/support/opened_window.h"

#include <QLabel>
#include <QTest>

#include <algorithm>

namespace tst_presets_train {

using namespace halfscope;

namespace {

constexpr int64_t kSteps = 3;

/// Presets whose steps take seconds on a CPU, and the settings that make them short.
struct Shortened {
    const char* preset;
    const char* key;
    int value;
};
constexpr Shortened kShortened[] = {{"checkerboard-seed", "task.side", 32},
                                    {"checkerboard-seed", "model.width", 32}};

bool shorten(MainWindow& window, const std::string& preset) {
    ConfigModel& settings = window.config();
    return std::ranges::all_of(kShortened, [&](const Shortened& each) {
        return preset != each.preset ||
               settings.setData(settings.index(settings.rowOf(each.key)), each.value);
    });
}

} // namespace

class TestPresetsTrain : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void train_data();
    void train();
    void shortenedPresetsExist();
};

void TestPresetsTrain::train_data() {
    QTest::addColumn<QString>("name");
    for (const Preset& preset : presets())
        QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
}

void TestPresetsTrain::train() {
    QFETCH(const QString, name);
    const Preset& preset = presetNamed(name.toStdString());
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    window.openPreset(name);
    QVERIFY(reaches(window, SessionState::Ready));
    // both are others where the machine lacks the preset's data
    QCOMPARE(window.windowTitle(),
             QString::fromUtf8(preset.titleHere().text()) + QStringLiteral(" – Halfscope"));
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    // the one that the program starts with greets
    const QString about = preset.name == presets()[0].name
                              ? QStringLiteral("Press Play.")
                              : QString::fromUtf8(preset.aboutHere().text());
    QTRY_VERIFY2_WITH_TIMEOUT(headline->toolTip().contains(about) ||
                                  headline->text().remove(QChar(0x2060)).contains(about),
                              qPrintable(headline->text()), kPatience);
    QVERIFY(shorten(window, preset.name));
    window.setStopStep(kSteps);
    QVERIFY(trainsTo(window, kSteps));
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    const RunSnapshot& run = window.shown().run()->now();
    QCOMPARE(run.laneCount(), static_cast<int>(preset.config.lanes.size()));
    for (int lane = 0; lane < run.laneCount(); ++lane) {
        QCOMPARE(run.totals(lane).last().step, kSteps);
        QCOMPARE(run.column(lane, metric::Loss).size(), kSteps);
    }
}

/// A preset of another name would be trained at its full size.
void TestPresetsTrain::shortenedPresetsExist() {
    for (const Shortened& each : kShortened)
        QVERIFY2(std::ranges::count(presets(), each.preset, &Preset::name) == 1, each.preset);
}

} // namespace tst_presets_train

QTEST_MAIN(tst_presets_train::TestPresetsTrain)
#include "tst_presets_train.moc"
