// The window opens what it can without being held up, and closes within a second whatever it is
// reading, decoding or building.
#include "engine/core/error.h"
#include "tests/support/hold.h"
#include "tests/support/picture_files.h"
#include "tests/support/saved_run_parts.h"
#include "tests/support/served_events.h"
#include "tests/support/under_sanitizer.h"

#include <QElapsedTimer>
#include <QLabel>
#include <QProgressDialog>
#include <QTimer>

#include <array>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tst_closing {

using namespace halfscope;

namespace {

constexpr qint64 kLongestClosing = 1000;                           // ms
constexpr qint64 kLongestHold = test::kUnderSanitizer ? 300 : 100; // ms; sanitizers take their time

/// A machine may be slow, or stall: a window that waits for what it reads holds its user up in
/// every try, for seconds or for ever. Each number is how many times as long a try may take.
constexpr int kTries[] = {1, 1, 1, 2, 4};

} // namespace

class TestClosing : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void holdsNothing_data();
    void holdsNothing();
    void anotherFileEndsReading();
    void plotsAreSavedAside_data();
    void plotsAreSavedAside();

private:
    QTemporaryDir m_folder;
    QString m_results;
};

void TestClosing::initTestCase() {
    m_results = m_folder.filePath(QStringLiteral("results"));
    trainInto(m_results.toStdString(), tinyConfig(20), 0);
    // as much work as a file of its size can cause: a second or two
    constexpr int kSide = 1600;
    const std::vector<uint8_t> grey(size_t{kSide} * kSide * 3, 128);
    write(m_folder, QStringLiteral("scans.jpg"),
          encodeJpeg({.manyScans = true}, kSide, kSide, grey));
    QCOMPARE(mkfifo(qPrintable(m_folder.filePath(QStringLiteral("pipe.png"))), 0600), 0);
    QCOMPARE(mkfifo(qPrintable(m_folder.filePath(QStringLiteral("pipe.json"))), 0600), 0);
    std::string edits = "{\"version\":1,\"edits\":[0";
    while (edits.size() < 2'500'000)
        edits += ",{}";
    write(m_folder, QStringLiteral("long.json"), edits + "]}");
    std::string lanes = "{\"version\":1,\"lanes\":[{}";
    while (lanes.size() < 1'000'000)
        lanes += ",{}";
    write(m_folder, QStringLiteral("lanes.json"), lanes + "]}");
    write(m_folder, QStringLiteral("key.json"),
          "{\"version\":1,\"" + std::string(1'000'000, 'k') + "\":1}");
    RunConfig painted = tinyConfig(20);
    painted.task.kind = TaskKind::Image;
    painted.task.image = m_folder.filePath(QStringLiteral("scans.jpg")).toStdString();
    write(m_folder, QStringLiteral("painted.json"), configText(painted));
    const auto spoilt = [this](const char* name, const char* file) {
        const QString folder = copyOf(m_results, m_folder.filePath(QLatin1String(name)));
        QVERIFY(QFile::remove(QDir(folder).filePath(QLatin1String(file))));
    };
    spoilt("with a pipe", "steps.csv");
    QCOMPARE(mkfifo(qPrintable(m_folder.filePath(QStringLiteral("with a pipe/steps.csv"))), 0600),
             0);
    spoilt("with a pipe as picture", "target.png");
    QCOMPARE(
        mkfifo(qPrintable(m_folder.filePath(QStringLiteral("with a pipe as picture/target.png"))),
               0600),
        0);
    spoilt("with a pipe as output", "output_fp32.png");
    QCOMPARE(mkfifo(qPrintable(
                        m_folder.filePath(QStringLiteral("with a pipe as output/output_fp32.png"))),
                    0600),
             0);
    spoilt("with a quotation mark", "steps.csv");
    put(m_folder.filePath(QStringLiteral("with a quotation mark")), "steps.csv",
        '"' + std::string(1'000'000, '\n'));
    spoilt("with long words", "events.csv");
    const QString worded = m_folder.filePath(QStringLiteral("with long words"));
    Json summary = Json::parse(contentOf(worded, "summary.json"));
    summary["device"]["name"] = std::string(1'000'000, 'W');
    put(worded, "summary.json", summary.dump());
    put(worded, "events.csv",
        contentOf(m_results, "events.csv") + "3,amp-fp16,edit,1,1,t,\"" +
            std::string(1'000'000, 'W') + "\"\n");
    spoilt("with scans", "output_fp32.png");
    QVERIFY(QFile::copy(m_folder.filePath(QStringLiteral("scans.jpg")),
                        m_folder.filePath(QStringLiteral("with scans/output_fp32.png"))));
}

void TestClosing::holdsNothing_data() {
    QTest::addColumn<QString>("name");
    for (const char* name :
         {"scans.jpg", "pipe.png", "pipe.json", "long.json", "lanes.json", "key.json",
          "painted.json", "with a pipe", "with a pipe as picture", "with a pipe as output",
          "with a quotation mark", "with long words", "with scans", "results"})
        QTest::newRow(name) << QString::fromLatin1(name);
}

void TestClosing::holdsNothing() {
    QFETCH(QString, name);
    for (const int wait : {0, 20, 400}) {
        QStringList tries;
        for (const int slower : kTries) {
            auto window = std::make_unique<MainWindow>();
            window->show();
            test::serveEvents(50);
            test::Hold hold;
            window->tryFile(m_folder.filePath(name));
            QTest::qWait(wait);
            const qint64 longest = hold.longest();
            QElapsedTimer clock;
            clock.start();
            window->close();
            window.reset();
            const qint64 closing = clock.elapsed() - hold.ofMachine();
            if (longest < slower * kLongestHold && closing < slower * kLongestClosing) {
                tries.clear();
                break;
            }
            tries << QStringLiteral("held for %1 ms, closed in %2 ms").arg(longest).arg(closing);
        }
        QVERIFY2(tries.isEmpty(), qPrintable(tries.join(QStringLiteral("; "))));
    }
}

void TestClosing::anotherFileEndsReading() {
    MainWindow window;
    window.show();
    QVERIFY(window.tryFile(m_folder.filePath(QStringLiteral("scans.jpg"))));
    QVERIFY(window.tryFile(m_results));
    QVERIFY(showsSaved(window));
    QTest::qWait(2000); // the picture would be there by now
    QVERIFY(window.showsSaved());
    QVERIFY(window.bannerText().isEmpty());
}

void TestClosing::plotsAreSavedAside_data() {
    QTest::addColumn<bool>("byKey");
    QTest::newRow("closed") << false;
    QTest::newRow("Esc") << true;
}

namespace {

/// Reads a pipe after a minute: a window that still waits for it then waits too long, but not for
/// ever.
std::jthread lateReaderOf(const QString& pipe, std::atomic<bool>& reads) {
    return std::jthread([name = pipe.toLocal8Bit(), &reads](const std::stop_token& stop) {
        constexpr int kTurns = 6000;
        for (int turn = 0; turn < kTurns && !stop.stop_requested(); ++turn)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (stop.stop_requested()) return;
        reads = true;
        const int file = open(name.constData(), O_RDONLY | O_NONBLOCK);
        std::array<char, 65536> bytes{};
        while (!stop.stop_requested())
            if (read(file, bytes.data(), bytes.size()) <= 0)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
        close(file);
    });
}

} // namespace

/// Saves into a pipe that nobody reads, which behaves like a disk on a dead network. The dialog has
/// no button yet when it is closed.
void TestClosing::plotsAreSavedAside() {
    QFETCH(bool, byKey);
    const QString pipe = m_folder.filePath(QStringLiteral("<i>plots<i>.svg"));
    QFile::remove(pipe);
    QCOMPARE(mkfifo(qPrintable(pipe), 0600), 0);
    MainWindow window;
    window.show();
    test::serveEvents(50);
    test::Hold hold;
    bool asked = false;
    QString label;
    QTimer::singleShot(1000, &window, [&] {
        auto* dialog = window.findChild<QProgressDialog*>();
        asked = dialog && dialog->isVisible();
        for (const auto* each : dialog ? dialog->findChildren<QLabel*>() : QList<QLabel*>())
            if (each->textFormat() == Qt::PlainText) label += each->text();
        if (dialog && byKey)
            QTest::keyClick(dialog, Qt::Key_Escape);
        else if (dialog)
            dialog->close();
    });
    QString told;
    std::atomic<bool> reads{false};
    std::jthread late = lateReaderOf(pipe, reads);
    try {
        window.savePlots(pipe);
    } catch (const RunError& error) {
        told = QString::fromUtf8(error.what());
    }
    const qint64 longest = hold.longest();
    late = {};
    QVERIFY(!reads);                             // nobody had to read it for the window to go on
    constexpr qint64 kMost = 100 * kLongestHold; // of a slow machine; the pipe holds for a minute
    QVERIFY2(longest < kMost, QByteArray::number(longest));
    QVERIFY(asked);
    QCOMPARE(label, QStringLiteral("Saving the plots in %1…").arg(pipe)); // a name is no markup
    QCOMPARE(told, pipe + QStringLiteral(": saving was stopped; what was being saved there may be "
                                         "incomplete"));
    QFile reader(pipe); // frees the thread that was left to itself
    QVERIFY(reader.open(QIODevice::ReadWrite));
    QTest::qWait(100);
}

} // namespace tst_closing

QTEST_MAIN(tst_closing::TestClosing)
#include "tst_closing.moc"
