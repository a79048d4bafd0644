// Runs of the command line whose calls to the system fail, that are killed, or lose their power:
// the folder opens or is refused in one sentence, what was there before is whole or gone
// altogether, and nobody else's files are touched. HALFSCOPE_TORTURE=1 tries all that a test tries
// a part of.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/output_folder.h"
#include "engine/runs/run_reader.h"
#include "engine/settings/fields.h"
#include "tests/support/faults.h"
#include "tests/support/missing_texts.h"
#include "tests/support/thrown.h"

#include <QRandomGenerator>
#include <QtTest>

#include <csignal>

using namespace halfscope;
using namespace halfscope::test;

namespace {

bool tortures() { return qEnvironmentVariableIsSet("HALFSCOPE_TORTURE"); }

using Files = QMap<QString, QByteArray>;

Files filesWithin(const QString& folder) {
    Files files;
    for (const QString& name : filesOf(folder))
        files[name] = contentOf(folder + '/' + name);
    return files;
}

void copyFolder(const QString& from, const QString& to) {
    QDir().mkpath(to);
    for (const QString& name : filesOf(from)) {
        QFile::copy(from + '/' + name, to + '/' + name);
        QFile::setPermissions(to + '/' + name, QFile::ReadOwner | QFile::WriteOwner);
    }
}

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
    void killedAtEveryChange();
    void killedAtRandom();

private:
    enum class End { Failed, Killed };
    /// What is wrong with a folder after a run of seed 9 in it, where one of seed 5 was; empty:
    /// nothing.
    QString flawOf(const QString& folder, End) const;
    QString newRunFlaw(const QString& folder, const Run&) const;
    QStringList run(const QString& out) const {
        return smallRun(out,
                        {"--seed", "9", "--set", "data.workers=2", "--gradients", "5", "--quiet"});
    }

    QTemporaryDir m_before, m_after; ///< runs of seeds 5 and 9
    Files m_beforeFiles, m_afterFiles;
};

void TestCliFaults::initTestCase() {
    QCOMPARE(call(smallRun(m_before.path(), {"--seed", "5", "--gradients", "4"})).code, 0);
    QCOMPARE(call(run(m_after.path())).code, 0);
    m_beforeFiles = filesWithin(m_before.path());
    m_afterFiles = filesWithin(m_after.path());
    QVERIFY(m_beforeFiles.contains("gradients.csv") && m_afterFiles.contains("steps.csv"));
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
    QCOMPARE(contentOf(out + "/steps.csv"), m_afterFiles["steps.csv"]);
}

void TestCliFaults::tablesEndTogether_data() {
    QTest::addColumn<int>("kibibytes");
    const int step = tortures() ? 4 : 36;
    for (int kib = 4; kib <= 220; kib += step)
        QTest::newRow(qPrintable(QStringLiteral("%1 KiB").arg(kib))) << kib;
}

/// A disk that is full after so much: whatever has no room, what is there opens.
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

void TestCliFaults::everyCallFails_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("how");
    for (const char* kind :
         {"open", "read", "write", "sync", "rename", "unlink", "close", "mmap", "thread"})
        for (const char* how : {"once", "on"})
            QTest::addRow("%s %s", kind, how) << QString(kind) << QString(how);
}

/// The first call, the second ... until the run comes to its end without.
void TestCliFaults::everyCallFails() {
    QFETCH(const QString, kind);
    QFETCH(const QString, how);
    if (Faults::clash()) QSKIP(Faults::clash());
    const int part = kind == "mmap" ? 40 : 3;
    const int stride = tortures() ? 1 : part;
    const int first =
        tortures() ? 1
                   : 1 + static_cast<int>(qHash(kind + how, 1) % 3); // another one for each kind
    int failed = 0;
    for (int n = first;; n += stride) {
        QTemporaryDir folder;
        const QString out = folder.filePath("o");
        copyFolder(m_before.path(), out);
        const Faults faults(QStringLiteral("%1:%2:%3").arg(kind).arg(n).arg(how));
        const Outcome outcome = faults.call(run(out));
        const QByteArray place =
            QStringLiteral("%1 %2: ").arg(kind).arg(n).toUtf8() + outcome.error;
        QVERIFY2(!outcome.crashed, place);
        if (!faults.came()) {
            QVERIFY2(outcome.code == 0, place);
            break;
        }
        ++failed;
        if (outcome.code == 0) { // it did without
            QVERIFY2(contentOf(out + "/steps.csv") == m_afterFiles["steps.csv"], place);
            continue;
        }
        QVERIFY2(outcome.saysOneLine() && outcome.error.contains(": cannot "), place);
        const QString flaw = flawOf(out, End::Failed);
        QVERIFY2(flaw.isEmpty(), place + flaw.toUtf8());
    }
    QVERIFY2(failed > 0 || kind == "mmap" || !tortures(), "no call of this kind");
}

QString TestCliFaults::newRunFlaw(const QString& folder, const Run& left) const {
    const QByteArray steps = contentOf(folder + "/steps.csv");
    if (!m_afterFiles["steps.csv"].startsWith(steps.left(steps.lastIndexOf('\n') + 1)))
        return "steps.csv is none of this run";
    if (left.step() < 12 && left.info().missing.empty()) return "it does not say what is missing";
    for (const QString& name : filesOf(folder))
        if (name.startsWith("output_") && contentOf(folder + '/' + name) != m_afterFiles[name] &&
            !contentOf(folder + '/' + name).isEmpty())
            return name + " is none of this run";
    return {};
}

QString TestCliFaults::flawOf(const QString& folder, End end) const {
    const Files files = filesWithin(folder);
    if (files.contains("experiment.json") &&
        files["experiment.json"] == m_beforeFiles["experiment.json"]) {
        for (auto file = m_beforeFiles.begin(); file != m_beforeFiles.end(); ++file)
            if (end == End::Failed && files.value(file.key()) != file.value())
                return "the earlier run's " + file.key() + " has changed";
        for (const QString& name : files.keys()) // what is left of it is its own
            if (m_beforeFiles.contains(name) && files[name] != m_beforeFiles[name])
                return name + " does not belong to the earlier run's settings";
    }
    if (!files.contains("steps.csv")) return {}; // settings without results
    try {
        const auto left = readRun(folder.toStdString());
        if (left->info().config.seed == 9) return newRunFlaw(folder, *left);
        if (left->info().missing.empty() && left->step() != 12) return "not all of the earlier run";
        return {};
    } catch (const InputError& error) {
        const std::string text = error.what();
        if (files.value("experiment.json").isEmpty() && isPlainText(text)) return {};
        return QString::fromStdString("it does not open: " + text);
    }
}

/// A kill at each write, rename, removal ...: and the power goes with it.
void TestCliFaults::killedAtEveryChange() {
    if (Faults::clash()) QSKIP(Faults::clash());
    const int stride = tortures() ? 1 : 2;
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
            // what is told as saved is on the disk
            const QString disk = folder.filePath("disk");
            faults.cutPower(out, m_beforeFiles.keys(), disk, Faults::Names::Synced);
            QFile::remove(disk + "/.halfscope.lock"); // keeps nobody out
            QCOMPARE(filesOf(disk), filesOf(out));
            QCOMPARE(filesWithin(disk), filesWithin(out));
            break;
        }
        QVERIFY2(outcome.crashed, place + outcome.error);
        QString flaw = flawOf(out, End::Killed);
        QVERIFY2(flaw.isEmpty(), place + flaw.toUtf8());
        for (const auto names : {Faults::Names::Synced, Faults::Names::Newest}) {
            const QString disk = folder.filePath(names == Faults::Names::Synced ? "s" : "n");
            faults.cutPower(out, m_beforeFiles.keys(), disk, names);
            flaw = flawOf(disk, End::Killed);
            QVERIFY2(flaw.isEmpty(), place + "after a power cut: " + flaw.toUtf8());
        }
        if (n % 5 != 0) continue; // the next run finds its way
        QCOMPARE(call(run(out)).code, 0);
        QCOMPARE(filesOf(out), filesOf(m_after.path()));
    }
    QVERIFY(n > 10);
}

void TestCliFaults::killedAtRandom() {
    const int times = tortures() ? 1000 : 20;
    const auto seed = static_cast<quint32>(QDateTime::currentMSecsSinceEpoch());
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
