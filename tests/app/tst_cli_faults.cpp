// Runs of the command line whose calls to the system or for memory fail, that are killed, or that
// lose their power: the folder opens or is refused in one sentence, what was there before is whole
// or entirely gone, and nobody else's files are touched. With HALFSCOPE_TORTURE=1 each test tries
// everything instead of a part.
#include "engine/settings/fields.h"
#include "tests/support/array_files.h"
#include "tests/support/earlier_run.h"
#include "tests/support/faults.h"
#include "tests/support/missing_texts.h"
#include "tests/support/picture_folder.h"
#include "tests/support/thrown.h"

#include <QRandomGenerator>
#include <QtTest>

#include <csignal>

using namespace halfscope;
using namespace halfscope::test;

namespace {

bool canUnshare() { return QProcess::execute("unshare", {"-rpf", "--mount-proc", "true"}) == 0; }

} // namespace

class TestCliFaults : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void refusedRunChangesNothing_data();
    void refusedRunChangesNothing();
    void linksAreReplaced();
    void tablesEndTogether_data();
    void tablesEndTogether();
    void everyCallFails_data();
    void everyCallFails();
    void goesOnWithoutTensorBoard_data();
    void goesOnWithoutTensorBoard();
    void listingsThatFail();
    void pairsInPart();
    void everyAllocationFails_data();
    void everyAllocationFails();
    void verifiesWithoutMemory_data();
    void verifiesWithoutMemory();
    void killedAtEveryChange();
    void killedWhileGoingOn();
    void aLongRunReachesTheDisk();
    void killedAtRandom();

private:
    using End = EarlierRun::End;
    void fails(const QString& kind, const QString& how, int number, const QString& folder);
    QStringList run(const QString& out) const {
        // one that cannot write its checkpoint goes on, and writes the other files
        return smallRun(out, {"--seed", "9", "--set", "data.workers=2", "--gradients", "5",
                              "--quiet", "--checkpoint-every", "0"});
    }

    QTemporaryDir m_before, m_after; ///< runs of seeds 5 and 9
    EarlierRun m_runs;
    QMap<QString, int> m_calls; ///< of the second run
    bool m_came = false;        ///< the last call that was to fail was reached
};

void TestCliFaults::initTestCase() {
    QCOMPARE(call(smallRun(m_before.path(), {"--seed", "5", "--gradients", "4"})).code, 0);
    const Faults none(Faults::kNothing);
    copyFolder(m_before.path(), m_after.path());
    QCOMPARE((Faults::clash() ? call(run(m_after.path())) : none.call(run(m_after.path()))).code,
             0);
    m_calls = none.counts();
    m_runs = {filesWithin(m_before.path()), filesWithin(m_after.path())};
    QVERIFY(m_runs.before.contains("gradients.csv") && m_runs.after.contains("steps.csv"));
}

void TestCliFaults::refusedRunChangesNothing_data() {
    QTest::addColumn<QStringList>("before");
    QTest::newRow("process") << QStringList();
    QTest::newRow("process in a namespace of its own")
        << QStringList{"unshare", "-rpf", "--mount-proc"};
}

void TestCliFaults::refusedRunChangesNothing() {
    QFETCH(const QStringList, before);
    if (!before.isEmpty() && !canUnshare()) QSKIP("this system gives no process namespaces");
    QTemporaryDir folder;
    const QString out = folder.filePath("o");
    QProcess first;
    first.start(program(), smallRun(out, {"--steps", "1000000000", "--quiet"}));
    QVERIFY(
        QTest::qWaitFor([&] { return contentOf(out + "/steps.csv").count('\n') > 10; }, kPatience));
    const QStringList names = filesOf(out);
    QStringList words = before + QStringList{program()} + smallRun(out, {"--quiet"});
    QProcess second;
    const QString name = words.takeFirst();
    second.start(name, words);
    const Outcome refused = outcomeOf(second);
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.error.contains("another run is writing into this folder"), refused.error);
    QCOMPARE(filesOf(out), names);
    first.terminate();
    const Outcome outcome = outcomeOf(first);
    QVERIFY2(outcome.code == 130, outcome.error);
    QCOMPARE(filesOf(out), kRunFiles);
    QVERIFY(readRun(out.toStdString())->info().missing.empty());
}

void TestCliFaults::linksAreReplaced() {
    QTemporaryDir folder;
    const QString out = folder.filePath("o"), mine = folder.filePath("mine");
    QVERIFY(QDir().mkpath(out));
    QFile file(mine);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("mine") == 4);
    file.close();
    for (const QString& name : kRunFiles)
        QVERIFY(QFile::link(mine, out + '/' + name));
    QVERIFY(QFile::link(mine, out + "/gradients.csv"));
    QCOMPARE(call(run(out)).code, 0);
    QCOMPARE(contentOf(mine), QByteArray("mine"));
    for (const QString& name : kRunFiles)
        QVERIFY2(!QFileInfo(out + '/' + name).isSymLink(), qPrintable(name));
    QCOMPARE(contentOf(out + "/steps.csv"), m_runs.after["steps.csv"]);
}

void TestCliFaults::tablesEndTogether_data() {
    QTest::addColumn<int>("kibibytes");
    const int step = tortures() ? 4 : 36;
    for (int kib = 4; kib <= 220; kib += step)
        QTest::newRow(qPrintable(QStringLiteral("%1 KiB").arg(kib))) << kib;
}

/// A disk is full after so many bytes: whatever has no room, what is there opens.
void TestCliFaults::tablesEndTogether() {
    QFETCH(const int, kibibytes);
    if (!canUnshare()) QSKIP("this system mounts no small file system");
    QTemporaryDir folder;
    const QString out = folder.filePath("o");
    QVERIFY(QDir().mkpath(folder.filePath("disk")));
    QProcess process;
    QStringList words{"-rm",
                      "sh",
                      "-c",
                      QStringLiteral("mount -t tmpfs -o size=%1k tmpfs \"$1\" || exit 77; \"$0\" "
                                     "run --preset checkerboard --set task.side=8 --set "
                                     "model.width=8 --steps 3000 --device cpu --quiet --out "
                                     "\"$1/o\"; code=$?; cp -r \"$1/o\" \"$2\"; exit $code")
                          .arg(kibibytes),
                      program(),
                      folder.filePath("disk"),
                      out};
    process.start("unshare", words);
    const Outcome outcome = outcomeOf(process);
    if (outcome.code == 77) QSKIP("this system mounts no small file system");
    QVERIFY2(outcome.code == 1 && outcome.error.count('\n') == 1, outcome.error);
    QVERIFY2(outcome.error.contains("No space left on device"), outcome.error);
    if (!QFile::exists(out + "/steps.csv")) return; // not even the first files had room
    const auto left = readRun(out.toStdString());
    const auto rows = contentOf(out + "/steps.csv").count('\n');
    QCOMPARE(contentOf(out + "/timing.csv").count('\n'), rows);
    QCOMPARE(rows % 2, 1); // both lanes of each step
    QCOMPARE(test::missingTexts(left->info()),
             (std::vector<std::string>{"the end of the run", "summary.json"}));
    QVERIFY(kibibytes < 100 || left->step() > 20);
}

void TestCliFaults::everyCallFails_data() { Faults::addCallRows(); }

void TestCliFaults::everyCallFails() {
    QFETCH(const QString, kind);
    QFETCH(const QString, how);
    if (Faults::clash()) QSKIP(Faults::clash());
    constexpr int kParts = 3;
    QTemporaryDir folder;
    const int failed =
        Faults::failEach(m_calls[kind], kParts, qHash(kind + how, 1), [&](int number) {
            fails(kind, how, number, folder.filePath("o"));
            return m_came;
        });
    if (!QTest::currentTestFailed()) QVERIFY2(failed > 0, "no call of this kind");
}

void TestCliFaults::fails(const QString& kind, const QString& how, int number,
                          const QString& folder) {
    QDir(folder).removeRecursively();
    copyFolder(m_before.path(), folder);
    const Faults faults(QStringLiteral("%1:%2:%3").arg(kind).arg(number).arg(how));
    const Outcome outcome = faults.call(run(folder));
    const QByteArray place =
        QStringLiteral("%1 %2 %3: ").arg(kind).arg(number).arg(how).toUtf8() + outcome.error;
    m_came = faults.came();
    QVERIFY2(!outcome.crashed, place);
    QVERIFY2(m_came || outcome.code == 0, place);
    if (outcome.code == 0) { // it managed without
        QVERIFY2(contentOf(folder + "/steps.csv") == m_runs.after["steps.csv"], place);
        return;
    }
    const char* const words = kind == "alloc" ? "out of memory" : ": cannot ";
    QVERIFY2(outcome.saysOneLine() && outcome.error.contains(words), place);
    const QString flaw = m_runs.flawOf(folder, End::Failed);
    QVERIFY2(flaw.isEmpty(), place + flaw.toUtf8());
}

void TestCliFaults::goesOnWithoutTensorBoard_data() {
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<QString>("steps");
    QTest::newRow("at a checkpoint") << QStringList{"--checkpoint-every", "4"} << "12";
    QTest::newRow("between steps") << QStringList() << "20000";
    QTest::newRow("at the end") << QStringList() << "12";
}

/// Event files only watch a run: when their disk is full, the run comes to its end on another one.
void TestCliFaults::goesOnWithoutTensorBoard() {
    QFETCH(const QStringList, more);
    QFETCH(const QString, steps);
    if (Faults::clash()) QSKIP(Faults::clash());
    QTemporaryDir folder;
    const QString board = folder.filePath("board"), out = folder.filePath("o");
    const QString plain = folder.filePath("plain");
    const QStringList given = more + QStringList{"--steps", steps};
    QCOMPARE(call(smallRun(plain, given)).code, 0);
    const Faults faults("write:3:on"); // each of the two lanes has begun its file
    QProcess process;
    QProcessEnvironment environment = faults.environment();
    environment.insert("HALFSCOPE_FAULT_FOLDER", board);
    process.setProcessEnvironment(environment);
    process.start(program(), smallRun(out, given + QStringList{"--tensorboard", board}));
    const Outcome outcome = outcomeOf(process);
    QVERIFY2(outcome.code == 1, outcome.error);
    QVERIFY(faults.came());
    const QByteArray reason = "No space left on device";
    QCOMPARE(outcome.error.count(reason + "; the run goes on without TensorBoard\n"), qsizetype{1});
    QCOMPARE(filesOf(out), filesOf(plain));
    for (const char* name : {"steps.csv", "events.csv", "weights_amp-fp16.safetensors"})
        QVERIFY2(contentOf(out + '/' + name) == contentOf(plain + '/' + name), name);
    QVERIFY2(outcome.out.contains("TensorBoard: its files end early: "), outcome.out);
    QVERIFY2(!outcome.out.contains("--logdir"), outcome.out);
}

/// Listings of pictures and their classes, in their middle, too: no training uses only a part of
/// them.
void TestCliFaults::listingsThatFail() {
    if (Faults::clash()) QSKIP(Faults::clash());
    QTemporaryDir folder;
    const QString pictures = folder.filePath("pictures"), out = folder.filePath("o");
    for (int i = 0; i < 6; ++i) {
        const QString inside = pictures + QStringLiteral("/class%1").arg(i % 2);
        QVERIFY(QDir().mkpath(inside));
        writePng(plain(0.1F * static_cast<float>(i), 0.5F, 0.5F),
                 (inside + QStringLiteral("/%1.png").arg(i)).toStdString());
    }
    const QStringList arguments{"run",
                                "--set",
                                "data.kind=pictures",
                                "--set",
                                "data.path=" + pictures,
                                "--set",
                                "data.side=4",
                                "--set",
                                "task.batch=2",
                                "--set",
                                "model.norm=none",
                                "--steps",
                                "3",
                                "--quiet",
                                "--out",
                                out};
    QCOMPARE(call(arguments).code, 0);
    const QByteArray whole = contentOf(out + "/steps.csv");
    int refused = 0, number = 1;
    for (bool came = true; came; ++number) {
        const Faults faults(QStringLiteral("list:%1:once").arg(number));
        const Outcome outcome = faults.call(arguments);
        came = faults.came();
        const QByteArray place = QByteArray::number(number) + ": " + outcome.error;
        QVERIFY2(!outcome.crashed, place);
        if (outcome.code == 0) {
            QVERIFY2(contentOf(out + "/steps.csv") == whole, place);
            continue;
        }
        ++refused;
        QVERIFY2(outcome.saysOneLine() && outcome.error.contains("pictures"), place);
        QVERIFY2(outcome.error.contains("cannot be read: Input/output error"), place);
    }
    QVERIFY2(refused >= 6 + 2, QByteArray::number(refused)); // at least each name
}

/// Of two pairs of arrays in a folder one is used to train on and one to test on, and neither when
/// the listing ends at the first one.
void TestCliFaults::pairsInPart() {
    if (Faults::clash()) QSKIP(Faults::clash());
    QTemporaryDir folder;
    for (const char* name : {"x.npy", "y.npy", "x_test.npy", "y_test.npy"})
        writeBytes(folder.filePath(name).toStdString(), npy("<f4", "(4,)", std::string(16, '\0')));
    int number = 1;
    for (bool came = true; came; ++number) {
        const Faults faults(QStringLiteral("list:%1:once").arg(number));
        const Outcome outcome = faults.call({"run", folder.path(), "--steps", "1", "--quiet"});
        came = faults.came();
        if (came)
            QVERIFY2(outcome.code == 2 && outcome.saysOneLine(), outcome.error);
        else
            QVERIFY2(outcome.code == 0, outcome.error);
    }
    QVERIFY(number > 4);
}

void TestCliFaults::everyAllocationFails_data() {
    QTest::addColumn<QString>("how");
    QTest::newRow("once") << QStringLiteral("once");
    QTest::newRow("on") << QStringLiteral("on");
}

/// Allocations of the program's own code: the first 500 and 1,000 more, or a few of both.
void TestCliFaults::everyAllocationFails() {
    QFETCH(const QString, how);
    if (Faults::clash()) QSKIP(Faults::clash());
    constexpr int kFirst = 500;
    const int all = m_calls[QStringLiteral("alloc")];
    QVERIFY(all > 2 * kFirst);
    const quint32 seed = Faults::seed();
    std::vector<int> numbers = Faults::sample(kFirst, tortures() ? kFirst : 5, seed);
    const int last = 4000; // as many as writing the files takes
    for (const int number : Faults::sample(all - kFirst - last, tortures() ? 500 : 5, seed))
        numbers.push_back(kFirst + number);
    for (const int number : Faults::sample(last, tortures() ? 500 : 10, seed))
        numbers.push_back(all - last + number);
    QTemporaryDir folder;
    for (const int number : numbers) {
        fails(QStringLiteral("alloc"), how, number, folder.filePath("o"));
        if (QTest::currentTestFailed()) return;
    }
}

void TestCliFaults::verifiesWithoutMemory_data() { everyAllocationFails_data(); }

/// Most of the memory is for the values of the golden file.
void TestCliFaults::verifiesWithoutMemory() {
    QFETCH(const QString, how);
    if (Faults::clash()) QSKIP(Faults::clash());
    const QStringList verify{"verify", "--device", "cpu", "--only", "scaler"};
    const Faults counts(QString(Faults::kNothing));
    QCOMPARE(counts.call(verify).code, 0);
    const int all = counts.counts()[QStringLiteral("alloc")];
    QVERIFY(all > 1000);
    for (const int number : Faults::sample(all, tortures() ? 1000 : 20, qHash(how, 1))) {
        const Faults faults(QStringLiteral("alloc:%1:%2").arg(number).arg(how));
        const Outcome outcome = faults.call(verify);
        const QByteArray place =
            QStringLiteral("alloc %1 %2: ").arg(number).arg(how).toUtf8() + outcome.error;
        QVERIFY2(!outcome.crashed, place);
        if (outcome.code == 0) continue; // it managed without
        QVERIFY2(outcome.saysOneLine() && outcome.error.contains("out of memory"), place);
    }
}

/// A kill at each write, rename, removal and so on, together with a power cut.
void TestCliFaults::killedAtEveryChange() {
    if (Faults::clash()) QSKIP(Faults::clash());
    const int stride = tortures() ? 1 : 4;
    int n = 1;
    for (;; n += stride) {
        QTemporaryDir folder;
        const QString out = folder.filePath("o");
        copyFolder(m_before.path(), out);
        const Faults faults(QStringLiteral("change:%1:kill").arg(n));
        faults.keep(out);
        const Outcome outcome = faults.call(run(out));
        const QByteArray place = QByteArray::number(n) + ": ";
        if (!faults.came()) {
            QCOMPARE(outcome.code, 0);
            // what is reported as saved is on the disk
            const QString disk = folder.filePath("disk");
            faults.cutPower(out, m_runs.before.keys(), disk, Faults::Names::Synced);
            QFile::remove(disk + "/.halfscope.lock"); // keeps nobody out
            QCOMPARE(filesOf(disk), filesOf(out));
            QCOMPARE(filesWithin(disk), filesWithin(out));
            break;
        }
        QVERIFY2(outcome.crashed, place + outcome.error);
        QString flaw = m_runs.flawOf(out, End::Killed);
        QVERIFY2(flaw.isEmpty(), place + flaw.toUtf8());
        for (const auto names : {Faults::Names::Synced, Faults::Names::Newest}) {
            const QString disk = folder.filePath(names == Faults::Names::Synced ? "s" : "n");
            faults.cutPower(out, m_runs.before.keys(), disk, names);
            flaw = m_runs.flawOf(disk, End::Killed);
            QVERIFY2(flaw.isEmpty(), place + "after a power cut: " + flaw.toUtf8());
        }
        if (n % 3 != 0) continue; // the next run copes with what was left
        QCOMPARE(call(run(out)).code, 0);
        QCOMPARE(filesOf(out), filesOf(m_after.path()));
    }
    QVERIFY(n > 10);
}

/// A run that goes on in its own folder has its rows at every moment of that: after a kill and a
/// power cut at each change it goes on once more, to the same end.
void TestCliFaults::killedWhileGoingOn() {
    if (Faults::clash()) QSKIP(Faults::clash());
    QTemporaryDir start;
    const QStringList saves{"--checkpoint-every", "6", "--gradients", "5", "--quiet"};
    QCOMPARE(call(smallRun(start.path(), saves)).code, 0);
    const auto goesOn = [&](const QString& folder) {
        return QStringList{"run", "--resume", folder, "--out", folder, "--steps", "15"} + saves;
    };
    QTemporaryDir whole;
    copyFolder(start.path(), whole.path());
    QCOMPARE(call(goesOn(whole.path())).code, 0);
    const auto check = [&](const QString& folder) {
        const Outcome outcome = call(goesOn(folder));
        if (outcome.code != 0) return outcome.error;
        for (const char* name : {"steps.csv", "events.csv", "gradients.csv", "experiment.json"})
            if (contentOf(folder + '/' + name) != contentOf(whole.filePath(name)))
                return QByteArray(name) + " differs";
        return QByteArray();
    };
    const int stride = tortures() ? 1 : 3;
    int n = 1;
    for (;; n += stride) {
        QTemporaryDir folder;
        const QString out = folder.filePath("o"), disk = folder.filePath("disk");
        copyFolder(start.path(), out);
        const QStringList before = filesOf(out);
        const Faults faults(QStringLiteral("change:%1:kill").arg(n));
        faults.keep(out);
        (void)faults.call(goesOn(out));
        if (!faults.came()) break;
        faults.cutPower(out, before, disk, Faults::Names::Synced);
        for (const QString& each : {disk, out}) {
            const QByteArray flaw = check(each);
            QVERIFY2(flaw.isEmpty(), QByteArray::number(n) + ": " + flaw);
        }
    }
    QVERIFY(n > 20);
}

/// What a long run has measured reaches the disk while it trains, so that a power cut loses little.
void TestCliFaults::aLongRunReachesTheDisk() {
    if (Faults::clash()) QSKIP(Faults::clash());
    QTemporaryDir folder;
    const QString out = folder.filePath("o");
    const Faults faults(Faults::kNothing);
    QProcess process;
    process.setProcessEnvironment(faults.environment());
    process.start(program(), smallRun(out, {"--seed", "9", "--steps", "100000000", "--quiet"}));
    QVERIFY(process.waitForStarted(kPatience));
    const auto rows = [](const QString& in) { return contentOf(in + "/steps.csv").count('\n'); };
    QTRY_VERIFY_WITH_TIMEOUT(rows(out) > 1000, kPatience);
    const qsizetype before = rows(out);
    int cuts = 0;
    const auto onDisk = [&] {
        const QString disk = folder.filePath(QString::number(++cuts));
        faults.cutPower(out, {}, disk, Faults::Names::Synced);
        return disk;
    };
    QTRY_VERIFY_WITH_TIMEOUT(rows(onDisk()) >= before, kPatience);
    QVERIFY(process.state() == QProcess::Running); // nobody asked it to save
    process.kill();
    QVERIFY(process.waitForFinished(kPatience));
    const auto left = readRun(onDisk().toStdString());
    QVERIFY(left->step() >= before / 2 - 1); // two lanes
    QCOMPARE(left->info().config.seed, uint64_t{9});
}

void TestCliFaults::killedAtRandom() {
    const int times = tortures() ? 1000 : 20;
    const quint32 seed = Faults::seed();
    QRandomGenerator random(seed);
    QTemporaryDir folder;
    const QString out = folder.filePath("o");
    copyFolder(m_before.path(), out);
    for (int i = 0; i < times; ++i) {
        QProcess process;
        process.start(program(), smallRun(out, {"--seed", "9", "--steps", "30000", "--quiet"}));
        QVERIFY(process.waitForStarted(kPatience));
        QTest::qWait(random.bounded(700));
        process.kill();
        QVERIFY(process.waitForFinished(kPatience));
        const QByteArray place =
            "seed " + QByteArray::number(seed) + ", kill " + QByteArray::number(i) + ": ";
        try {
            const auto left = readRun(out.toStdString());
            QVERIFY2(left->info().config.seed == 5 || left->info().config.seed == 9, place);
        } catch (const InputError& error) {
            QVERIFY2(!QFile::exists(out + "/steps.csv"), place + error.what());
        }
    }
    QCOMPARE(call(run(out)).code, 0);
    QCOMPARE(filesOf(out), filesOf(m_after.path()));
}

QTEST_GUILESS_MAIN(TestCliFaults)
#include "tst_cli_faults.moc"
