// What the window saves of a run is what the command line writes of it: every event, every live
// edit at its step, and the figures, into a folder that did not exist.
#include "tests/support/saved_run_parts.h"

#include <QProcess>

namespace tst_saved_whole {

using namespace halfscope;

namespace {

/// The scale grows at every clean step, so that about every second step overflows.
RunConfig nervousConfig(int64_t steps) {
    RunConfig config = tinyConfig(steps);
    config.title = "Nervous";
    config.lanes[1].scaler.initScale = std::ldexp(1.0, 24);
    config.lanes[1].scaler.rules.growthInterval = 1;
    return config;
}

bool edit(MainWindow& window, const char* key, int lane, const char* text) {
    ConfigModel& model = window.config();
    return model.setData(model.index(model.rowOf(key, lane)), QString::fromLatin1(text));
}

bool waitForStep(MainWindow& window, int64_t step) {
    return QTest::qWaitFor([&] { return window.run().step() >= step; }, kPatience);
}

/// Removes what the clock decides, and the version, which a test does not have.
Json timeless(const std::string& summary) {
    Json json = Json::parse(summary);
    for (const char* key : {"wall_seconds", "steps_per_second"})
        json.erase(key);
    json["versions"].erase("halfscope");
    for (Json& lane : json["lanes"])
        lane.erase("median_device_seconds");
    return json;
}

QStringList filesIn(const QString& folder) {
    return QDir(folder).entryList(QDir::Files | QDir::Hidden, QDir::Name);
}

} // namespace

class TestSavedWhole : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void asTheCommandLineWrites();
};

void TestSavedWhole::asTheCommandLineWrites() {
    constexpr int64_t kSteps = 20000, kMore = 20050;
    Opened opened(nervousConfig(kSteps));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(edit(window, "optimizer.lr", -1, "0.002")); // before the first step
    window.play();
    QVERIFY(waitForStep(window, 50));
    QVERIFY(edit(window, "scaler.backoff_factor", 1, "0.25")); // while it runs
    window.shown().setScale(1, QStringLiteral("2^30"));
    QVERIFY(waitForStep(window, 300));
    window.shown().playOrPause();
    QVERIFY(reaches(window, SessionState::Paused));
    QVERIFY(edit(window, "scaler.growth_factor", 1, "4")); // while it is paused, two at one step
    QVERIFY(edit(window, "optimizer.lr", -1, "0.001"));
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    window.setStopStep(kMore); // it continues after its end
    window.play();
    QVERIFY(waitForStep(window, kMore));
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), kMore, kPatience);
    QVERIFY(window.shown().run()->events().size() > 20000);

    const QString saved = opened.folder.filePath(QStringLiteral("not/there/yet"));
    window.saveResults(saved);
    const RunConfig settings =
        readConfig(QDir(saved).filePath(QStringLiteral("experiment.json")).toStdString());
    QCOMPARE(settings.edits.size(), size_t{5});
    QCOMPARE(settings.edits[0].key, std::string("scaler.backoff_factor"));
    QCOMPARE(settings.edits[1].key, std::string(kLiveScale));
    QCOMPARE(settings.edits[4].step, kSteps + 1);
    QCOMPARE(settings.optimizer.lr, 0.002); // as at its beginning

    const QString again = opened.folder.filePath(QStringLiteral("again"));
    const int code = QProcess::execute(QStringLiteral(HALFSCOPE_BINARY_DIR "/halfscope-cli"),
                                       {QStringLiteral("run"),
                                        QDir(saved).filePath(QStringLiteral("experiment.json")),
                                        QStringLiteral("--quiet"), QStringLiteral("--out"), again});
    QCOMPARE(code, 0);
    QStringList names = filesIn(saved);
    QVERIFY(names.removeOne(QStringLiteral("plots.svg")));
    QStringList theirs = filesIn(again);
    for (QStringList* const all : {&names, &theirs}) // they have the id of the run
        QVERIFY(all->removeOne(QStringLiteral("checkpoint.safetensors")));
    QCOMPARE(theirs.removeIf([](const QString& name) { return name.startsWith("weights_"); }),
             qsizetype{2});
    QCOMPARE(names, theirs);
    for (const QString& name : names) {
        const QByteArray each = name.toLatin1();
        const std::string a = contentOf(saved, each.constData());
        const std::string b = contentOf(again, each.constData());
        if (name == QLatin1String("summary.json"))
            QCOMPARE(timeless(a).dump(1), timeless(b).dump(1));
        else if (name != QLatin1String("timing.csv") && // the clock, and the run's id
                 name != QLatin1String("manifest.json"))
            QVERIFY2(a == b, each.constData());
    }
}

} // namespace tst_saved_whole

QTEST_MAIN(tst_saved_whole::TestSavedWhole)
#include "tst_saved_whole.moc"
