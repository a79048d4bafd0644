// What the folder of a saved run tells besides its curves: the machine that trained it, and that
// saving it again loses and invents nothing.
#include "engine/io/strict_json.h"
#include "tests/support/saved_run_parts.h"

#include <QAbstractButton>
#include <QToolButton>

using namespace halfscope;

namespace {

constexpr int64_t kTrained = 30;
constexpr const char* kHere = "Test device"; // a FakeRun's

RunConfig skippingConfig() {
    RunConfig config = tinyConfig(kTrained);
    config.title = "Kept";
    config.lanes[1].scaler.initScale = 1e30; // overflows
    return config;
}

QString deviceOf(MainWindow& window) {
    return window.findChild<QToolButton*>(QStringLiteral("device"))->text();
}

QString statusDeviceOf(MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("statusDevice"))->text();
}

/// By lane, as the cards have it.
QStringList memoriesOf(MainWindow& window) {
    QStringList memories;
    for (const LaneCard* card : window.findChildren<LaneCard*>())
        for (const QLabel* name : card->findChildren<QLabel*>())
            if (const auto* figure = qobject_cast<const QLabel*>(name->buddy());
                figure && name->text() == QLatin1String("Memory"))
                memories << figure->text();
    return memories;
}

/// All that is written on the window and in its tips.
QString wordsOf(MainWindow& window) {
    QStringList words;
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        words << widget->toolTip() << widget->accessibleName() << widget->accessibleDescription();
        if (const auto* label = qobject_cast<const QLabel*>(widget)) words << label->text();
        if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
            words << button->text();
    }
    return words.join(u'\n');
}

} // namespace

class TestSavedResults : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void tellsWhatTrainedIt();
    void withoutSummary();
    void anotherSummaryIsRefused();

private:
    QString copyOfResults();
    QTemporaryDir m_folder;
    QString m_results; ///< as trained by the command line on another machine, gradients counted
    int m_copies = 0;
};

void TestSavedResults::initTestCase() {
    QLocale::setDefault(QLocale::c());
    m_results = m_folder.filePath(QStringLiteral("results"));
    trainInto(m_results, skippingConfig(), 4);
    Json summary = Json::parse(contentOf(m_results, "summary.json"));
    summary["device"] = {{"name", "NVIDIA H200"},
                         {"kind", "cuda"},
                         {"libraries", "cuDNN 9.7"},
                         {"memory_bytes", 150754820096}};
    summary["lanes"][0]["peak_bytes"] = 5 << 20;
    summary["lanes"][1]["peak_bytes"] = 7 << 20;
    put(m_results, "summary.json", summary.dump(2));
}

QString TestSavedResults::copyOfResults() {
    const QString copy = m_folder.filePath(QStringLiteral("copy%1").arg(++m_copies));
    QDir().mkpath(copy);
    for (const QString& name : QDir(m_results).entryList(QDir::Files))
        QFile::copy(QDir(m_results).filePath(name), QDir(copy).filePath(name));
    return copy;
}

/// And not the machine that shows it, until that trains.
void TestSavedResults::tellsWhatTrainedIt() {
    FakeScript script;
    WindowOptions options;
    options.factory = fakeFactory(script);
    Opened opened(tinyConfig(7), options);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(memoriesOf(window), QStringList(2, QStringLiteral("1.5 MiB")));
    window.openFile(m_results);
    QVERIFY(showsSaved(window));
    QCOMPARE(stateOf(window), QStringLiteral("Saved run of 30 steps, trained on NVIDIA H200. Play "
                                             "(Space) trains it anew."));
    QTRY_VERIFY_WITH_TIMEOUT(
        window.findChild<QLabel*>(QStringLiteral("headline"))
            ->toolTip()
            .startsWith(QStringLiteral("Saved run of 30 steps, trained on NVIDIA H200. After ")),
        kPatience);
    QCOMPARE(deviceOf(window), QStringLiteral("GPU: NVIDIA H200"));
    QCOMPARE(statusDeviceOf(window), QStringLiteral("NVIDIA H200"));
    QCOMPARE(memoriesOf(window), (QStringList{QStringLiteral("5 MiB"), QStringLiteral("7 MiB")}));
    QString words = wordsOf(window);
    QVERIFY(words.contains(QStringLiteral("This run was trained on NVIDIA H200\nWith cuDNN 9.7")));
    words.remove(QStringLiteral("Play trains on Test device"));
    QVERIFY2(!words.contains(QLatin1String(kHere)), qPrintable(words));

    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(!window.showsSaved() && window.run().step() == kTrained, kPatience);
    QCOMPARE(statusDeviceOf(window), QLatin1String(kHere));
    QCOMPARE(deviceOf(window), QStringLiteral("CPU"));
    QCOMPARE(memoriesOf(window), QStringList(2, QStringLiteral("1.5 MiB")));
    QVERIFY(!wordsOf(window).contains(QStringLiteral("H200")));

    window.bringBack(); // with its own figures
    QTRY_COMPARE_WITH_TIMEOUT(statusDeviceOf(window), QStringLiteral("NVIDIA H200"), kPatience);
    QCOMPARE(memoriesOf(window), (QStringList{QStringLiteral("5 MiB"), QStringLiteral("7 MiB")}));
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_VERIFY_WITH_TIMEOUT(window.showsSaved() && window.run().step() == kTrained, kPatience);
    window.bringBack(); // what was trained here
    QTRY_COMPARE_WITH_TIMEOUT(statusDeviceOf(window), QLatin1String(kHere), kPatience);
    QVERIFY(window.showsSaved());
    QCOMPARE(memoriesOf(window), QStringList(2, QStringLiteral("1.5 MiB")));
}

/// As of a run that the window saved: nobody knows, and no machine is named in its place.
void TestSavedResults::withoutSummary() {
    const QString folder = copyOfResults();
    QVERIFY(QFile::remove(QDir(folder).filePath(QStringLiteral("summary.json"))));
    FakeScript script;
    WindowOptions options;
    options.factory = fakeFactory(script);
    Opened opened(tinyConfig(7), options);
    MainWindow& window = opened.window;
    window.openFile(folder);
    QVERIFY(showsSaved(window));
    QCOMPARE(stateOf(window),
             QStringLiteral("Saved run of 30 steps. Play (Space) trains it anew."));
    QCOMPARE(deviceOf(window), QStringLiteral("Device not saved"));
    QCOMPARE(statusDeviceOf(window), QStringLiteral("Device not saved"));
    QCOMPARE(memoriesOf(window), QStringList());
    QString words = wordsOf(window);
    words.remove(QStringLiteral("Play trains on Test device"));
    QVERIFY2(!words.contains(QLatin1String(kHere)), qPrintable(words));
}

void TestSavedResults::anotherSummaryIsRefused() {
    const QString folder = copyOfResults();
    Json summary = Json::parse(contentOf(folder, "summary.json"));
    summary["device"]["kind"] = "tpu";
    put(folder, "summary.json", summary.dump());
    Opened opened(tinyConfig(7));
    MainWindow& window = opened.window;
    window.openFile(folder);
    QTRY_COMPARE_WITH_TIMEOUT(
        window.bannerText(),
        QDir(folder).filePath(QStringLiteral("summary.json")) +
            QStringLiteral(": device.kind: \"tpu\" is not allowed: cpu or cuda. The settings are "
                           "open, without the curves of the run."),
        kPatience);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(!window.showsSaved());
    QVERIFY(!deviceOf(window).contains(QStringLiteral("H200")));
}

QTEST_MAIN(TestSavedResults)
#include "tst_saved_results.moc"
