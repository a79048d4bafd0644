// What settings need to know of data files is read on another thread: a question on this thread
// returns at once, an answer that nobody waits for any more is dropped, and a thread that never
// ends holds nobody up.
#include "engine/core/cancel.h"
#include "engine/settings/run_config.h"
#include "tests/support/large_table.h"
#include "tests/support/served_events.h"
#include "tests/support/thrown.h"
#include "ui/session/facts_reader.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <sys/stat.h>

namespace tst_facts_reader {

using namespace halfscope;
using namespace std::chrono_literals;

namespace {

constexpr int kLong = 60000; // ms; enough for sanitizers and slow machines

/// Counts turns of the event loop while something goes on.
class Turns {
public:
    Turns() {
        QObject::connect(&m_timer, &QTimer::timeout, [this] { ++m_count; });
        m_timer.start(1);
    }
    int count() const { return m_count; }

private:
    QTimer m_timer;
    int m_count = 0;
};

} // namespace

class TestFactsReader : public QObject {
    Q_OBJECT

private slots:
    void readsElsewhere();
    void refusesWhatIsNoFile();
    void looksAgainAtMendedFiles();
    void dropsWhatNobodyWants();
    void tellsWhatAnotherFound();
    void readsOneByOne();
    void needsNoFile();
    void forgetsTheOldest();
    void asksTheNewest();
    void abandonsWhatNeverEnds();

private:
    /// Returns a task with a csv table of so many lines.
    TaskConfig table(const QString& name, int lines) const;
    TaskConfig at(const QString& name) const;

    QTemporaryDir m_folder;
};

TaskConfig TestFactsReader::at(const QString& name) const {
    TaskConfig task;
    task.kind = TaskKind::Csv;
    task.path = m_folder.filePath(name).toStdString();
    task.loss.kind = LossKind::Mse;
    return task;
}

TaskConfig TestFactsReader::table(const QString& name, int lines) const {
    return test::writeTable(m_folder.filePath(name), lines) ? at(name) : TaskConfig();
}

/// The table takes long; the event loop keeps running all the while.
void TestFactsReader::readsElsewhere() {
    const TaskConfig task = table("large.csv", 1'000'000);
    FactsReader reader;
    QSignalSpy changed(&reader, &FactsReader::changed);
    QVERIFY(!reader.reads());
    QCOMPARE(thrownBy<FactsPending>([&] { factsOf(task); }),
             task.path + ": the data are still being read");
    QVERIFY(factsPending(task)); // any number of times
    QVERIFY(!knownFacts().find(task));
    QVERIFY(reader.reads());
    const Turns turns;
    QVERIFY(QTest::qWaitFor([&] { return changed.count() > 0; }, kLong));
    QVERIFY2(turns.count() > 10, qPrintable(QString::number(turns.count())));
    QCOMPARE(changed.count(), 1);
    QVERIFY(!reader.reads());
    QVERIFY(!factsPending(task));
    QCOMPARE(factsOf(task).train + factsOf(task).validation, int64_t{1'000'000});
}

void TestFactsReader::refusesWhatIsNoFile() {
    const TaskConfig pipe = at("pipe.csv"), absent = at("absent.csv");
    QCOMPARE(::mkfifo(pipe.path.c_str(), 0600), 0);
    FactsReader reader;
    QSignalSpy changed(&reader, &FactsReader::changed);
    for (const TaskConfig& task : {pipe, absent}) {
        changed.clear();
        QVERIFY(factsPending(task));
        QVERIFY(QTest::qWaitFor([&] { return changed.count() > 0; }, kLong));
        const std::string error = thrownBy<InputError>([&] { factsOf(task); });
        QVERIFY2(error.starts_with(task.path + ": cannot read: "), error.c_str());
        QVERIFY(!factsPending(task));
    }
}

void TestFactsReader::looksAgainAtMendedFiles() {
    const TaskConfig task = at("mended.csv");
    FactsReader reader;
    QSignalSpy changed(&reader, &FactsReader::changed);
    QVERIFY(factsPending(task));
    QVERIFY(QTest::qWaitFor([&] { return changed.count() == 1; }, kLong));
    table("mended.csv", 1000);
    // asked now and then, as a visible window does
    QVERIFY(QTest::qWaitFor(
        [&] {
            thrownBy<InputError>([&] { factsOf(task); });
            return changed.count() == 2;
        },
        kLong));
    QCOMPARE(factsOf(task).train + factsOf(task).validation, int64_t{1000});
}

void TestFactsReader::dropsWhatNobodyWants() {
    const TaskConfig large = table("dropped.csv", 2'000'000), small = table("kept.csv", 1000);
    FactsReader reader;
    QSignalSpy changed(&reader, &FactsReader::changed);
    QVERIFY(factsPending(large));
    QTest::qWait(20); // it may have begun or not
    const FactsKey wanted = factsKeyOf(small);
    reader.keepOnly({&wanted, 1});
    QVERIFY(!reader.reads());
    QVERIFY(factsPending(small));
    QVERIFY(QTest::qWaitFor([&] { return changed.count() == 1; }, kLong));
    QCOMPARE(factsOf(small).train + factsOf(small).validation, int64_t{1000});
    test::serveEvents(100);
    QCOMPARE(changed.count(), 1);
    QVERIFY(!knownFacts().find(large));
}

/// A thread that was no longer wanted has found the same error just before: it is news to whoever
/// asked.
void TestFactsReader::tellsWhatAnotherFound() {
    const TaskConfig task = at("never.csv");
    FactsReader reader;
    QSignalSpy changed(&reader, &FactsReader::changed);
    QVERIFY(factsPending(task));
    std::string found;
    std::thread([&] { found = thrownBy<InputError>([&] { factsOf(task); }); }).join();
    QVERIFY(!found.empty());
    QVERIFY(knownFacts().find(task));
    QVERIFY(QTest::qWaitFor([&] { return !reader.reads(); }, kLong));
    QCOMPARE(changed.count(), 1);
}

/// There are more questions than threads; all are answered.
void TestFactsReader::readsOneByOne() {
    FactsReader reader;
    std::vector<TaskConfig> tasks;
    for (int i = 0; i < 20; ++i)
        tasks.push_back(table(QStringLiteral("one%1.csv").arg(i), 1000 * (1 + i % 3)));
    for (const TaskConfig& task : tasks)
        QVERIFY(factsPending(task));
    QVERIFY(QTest::qWaitFor([&] { return !reader.reads(); }, kLong));
    for (const TaskConfig& task : tasks)
        QVERIFY(!factsPending(task));
}

/// The data that come with the program are known at once.
void TestFactsReader::needsNoFile() {
    FactsReader reader;
    TaskConfig text;
    text.kind = TaskKind::Text;
    QVERIFY(factsOf(text).train > 0);
    QVERIFY(thrownBy<InputError>([&] {
                factsOf(TaskConfig{.kind = TaskKind::Csv});
            }).starts_with("data.path: missing"));
    QVERIFY(!reader.reads());
}

/// The facts of a run that trains are asked for all the time.
void TestFactsReader::forgetsTheOldest() {
    KnownFacts facts;
    TaskConfig asked = at("asked.csv"), typed = at("typed.csv");
    facts.put(asked, {DataFacts{{}, 7, 0}, {}});
    for (size_t i = 0; i < 2 * KnownFacts::kMost; ++i) {
        typed.samples = static_cast<int64_t>(i);
        facts.put(typed, {DataFacts{{}, 8, 0}, {}});
        QVERIFY(facts.find(asked));
    }
    QCOMPARE(facts.find(asked)->facts->train, int64_t{7});
    typed.samples = 0;
    QVERIFY(!facts.find(typed));
}

/// Requests need not be dropped in the order in which they came; other threads read by themselves.
void TestFactsReader::asksTheNewest() {
    int first = 0, second = 0;
    auto older = std::make_unique<FactsElsewhere>([&](const TaskConfig&) { ++first; });
    auto newer = std::make_unique<FactsElsewhere>([&](const TaskConfig&) { ++second; });
    const TaskConfig task = table("asked.csv", 1000);
    QVERIFY(factsPending(task));
    older.reset();
    QVERIFY(factsPending(task));
    QCOMPARE(first, 0);
    QCOMPARE(second, 2);
    bool there = true;
    std::thread([&] { there = FactsElsewhere::ask(task); }).join();
    QVERIFY(!there);
    newer.reset();
    QVERIFY(!FactsElsewhere::ask(task));
    QVERIFY(!factsPending(task));
}

/// The thread stands for one that a dead network holds; it owns what it uses.
void TestFactsReader::abandonsWhatNeverEnds() {
    struct Shared {
        std::atomic<bool> released = false, ended = false;
    };
    const auto shared = std::make_shared<Shared>();
    {
        FileJob job(
            [shared] {
                while (!shared->released)
                    std::this_thread::sleep_for(1ms);
                shared->ended = true;
            },
            FileJob::Leaving::Abandons);
        QVERIFY(!job.isDone());
    }
    QVERIFY(!shared->ended);
    shared->released = true;
    QVERIFY(QTest::qWaitFor([&] { return shared->ended.load(); }, kLong));
}

} // namespace tst_facts_reader

QTEST_GUILESS_MAIN(tst_facts_reader::TestFactsReader)
#include "tst_facts_reader.moc"
