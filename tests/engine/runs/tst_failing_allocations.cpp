// Every single allocation of the code that reads and writes files fails, once and from there on, in
// a process of its own: it may end with an error, but never by std::terminate. This program's
// operator new fails when it is told to.
#include "engine/core/error.h"
#include "engine/io/safetensors.h"
#include "engine/runs/left_session.h"
#include "engine/runs/run.h"
#include "engine/runs/run_manifest.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_saving.h"
#include "engine/runs/session_store.h"
#include "engine/runs/tensorboard.h"
#include "engine/settings/fields.h"
#include "engine/train/checkpoint.h"
#include "engine/verify/golden.h"
#include "tests/support/cli.h"
#include "tests/support/failing_new.h"
#include "tests/support/train_into.h"

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
std::atomic<int64_t> s_calls{0}, s_first{kNever}, s_last{kNever};

} // namespace

bool halfscope::test::allocationFails(size_t) noexcept {
    if (s_first == kNever) return false;
    const int64_t call = ++s_calls;
    return call >= s_first && call <= s_last;
}

namespace tst_failing_allocations {

using namespace halfscope;
using namespace halfscope::test;
using namespace std::string_literals;

class TestFailingAllocations : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void endsWithAnError_data();
    void endsWithAnError();
    void appendsRowsWholeOrNotAtAll();
    void addsLanesWholeOrNotAtAll();
    void gradientsFollowTheScaleLater();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    std::function<void()> workOf(const QString& name) const;

    QTemporaryDir m_folder;
    std::string m_experiment, m_manifest, m_golden;
};

void TestFailingAllocations::initTestCase() {
    RunConfig config = presetNamed("line-fit").config;
    config.steps = 6;
    config.epochs = 0;
    config.threads = 1;
    m_experiment = configText(config);
    trainInto(path("run"), config);
    m_manifest = contentOf(m_folder.filePath("run/manifest.json")).toStdString();
    std::string cases;
    for (int i = 0; i < 10; ++i)
        cases += (i > 0 ? "," : "") +
                 "{\"name\":\"a case with a long name\",\"values\":[[1,2.5],"s +
                 "[NaN,-Infinity]],\"values\":[[3,4],[5,6]],\"more\":{\"a\":{},\"b\":[[]]}}";
    m_golden = "{\"cases\":[" + cases + "]}";
    Experiment experiment(config);
    writeCheckpoint(path("checkpoint.safetensors"), experiment.state(), "test");
    SessionStore store({path("sessions")});
    store.watch(readRun(path("run")), "a");
    store.flush();
    QVERIFY(QDir(m_folder.path()).mkpath("board/a folder with a long name that takes memory"));
}

std::function<void()> TestFailingAllocations::workOf(const QString& name) const {
    if (name == "experiment") return [this] { parseConfig(m_experiment, "x"); };
    if (name == "manifest") return [this] { manifestOf(m_manifest); };
    if (name == "safetensors") return [this] { safetensorsInfo(path("checkpoint.safetensors")); };
    if (name == "checkpoint") return [this] { readCheckpoint(path("checkpoint.safetensors")); };
    if (name == "run") return [this] { readRun(path("run")); };
    if (name == "save") return [this] { saveRun(readRun(path("run"))->snapshot(), path("saved")); };
    if (name == "sessions")
        return [this] {
            for (const LeftSession& session : leftSessions(path("sessions")))
                for (const LeftRun& left : session.runs())
                    session.read(left);
        };
    if (name == "golden")
        return [this] {
            const auto golden = recorded::Golden::parse("g.json", m_golden);
            for (const recorded::Golden& each : golden.at("cases").items())
                for (const auto& [key, member] : each.members())
                    if (key == "values") member.numbers();
        };
    if (name == "tensorboard")
        return [this] { saveTensorBoard(readRun(path("run"))->snapshot(), path("board")); };
    return {};
}

void TestFailingAllocations::endsWithAnError_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"experiment", "manifest", "safetensors", "checkpoint", "run", "save",
                             "sessions", "tensorboard", "golden"})
        QTest::newRow(name) << QString(name);
}

/// At most 250 of its allocations fail, evenly spread; "once" and "on" take turns.
void TestFailingAllocations::endsWithAnError() {
    QFETCH(const QString, name);
    constexpr int64_t kMost = 250;
    const std::function<void()> work = workOf(name);
    s_calls = 0;
    s_last = 0; // only counts
    s_first = 1;
    work();
    s_first = kNever;
    const int64_t all = s_calls;
    QVERIFY(all > 10);
    for (int64_t i = 0; i < 2 * std::min(all, kMost); ++i) {
        const int64_t call = 1 + i / 2 * std::max(all, kMost) / kMost;
        const bool once = i % 2 == 0;
        const pid_t child = ::fork();
        QVERIFY(child >= 0);
        if (child == 0) {
            ::alarm(60); // a lock that a failed allocation left behind would hold it for ever
            s_calls = 0;
            s_last = once ? call : kNever - 1;
            s_first = call;
            try {
                work();
            } catch (const std::exception&) {
            }
            ::_exit(0);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY2(WIFEXITED(status), qPrintable(QStringLiteral("allocation %1 of %2, %3")
                                                   .arg(call)
                                                   .arg(all)
                                                   .arg(once ? "once" : "on")));
    }
}

namespace {

/// Two lanes whose columns take every coding, and change it on the way.
StepRow rowAt(int64_t step, int32_t lane) {
    StepRow row(step, lane);
    for (MetricId id = 0; id < metric::kKnown; ++id) {
        const auto number = static_cast<double>(step * (id + 1) + lane);
        row.set(id, id % 3 == 0 ? 1 / number : id % 3 == 1 ? double(step / 700) : number);
    }
    return row;
}

Run twoLanes() {
    RunInfo info;
    info.config = info.recorded = presetNamed("line-fit").config;
    return Run(info, lanesOf(info.recorded));
}

/// Whether allocation number `call`, of those that the work makes, failed.
bool failsAt(int64_t call, const std::function<void()>& work) {
    s_calls = 0;
    s_last = call;
    s_first = call;
    bool failed = false;
    try {
        work();
    } catch (const std::bad_alloc&) {
        failed = true;
    }
    s_first = kNever;
    return failed;
}

} // namespace

/// The columns of a lane keep the same length, and later rows stand at their own steps.
void TestFailingAllocations::appendsRowsWholeOrNotAtAll() {
    constexpr int64_t kSteps = 4200; // beyond a chunk
    int failures = 0;
    for (int64_t call = 1; call < 4000; call += 1 + call / 40) {
        Run run = twoLanes();
        std::set<std::pair<int64_t, int>> lacking;
        int64_t made = 0;
        for (int64_t step = 1; step <= kSteps; ++step)
            for (const int lane : {0, 1}) {
                RunBatch batch;
                batch.rows.push_back(rowAt(step, lane));
                const uint64_t version = run.version();
                const bool failed = failsAt(call - made, [&] { run.append(std::move(batch)); });
                if (failed) lacking.emplace(step, lane);
                made += s_calls;
                QVERIFY(run.version() > version);
                QCOMPARE(run.now().gradients(lane).lastStep(), failed ? step - 1 : step);
            }
        failures += static_cast<int>(lacking.size());
        QVERIFY(lacking.size() <= 1);
        for (const int lane : {0, 1}) {
            const auto lacks = [&](int64_t step) { return lacking.contains({step, lane}); };
            int64_t steps = 0;
            for (MetricId id = 0; id < metric::kKnown; ++id) {
                const Column& column = run.column(lane, id);
                for (int64_t step = 1; step <= kSteps; ++step) {
                    const std::optional<double> value = column.at(step);
                    QCOMPARE(value.has_value(), !lacks(step));
                    if (value) QCOMPARE(*value, rowAt(step, lane)[id]);
                }
                if (id == 0) steps = column.size();
                QCOMPARE(column.size(), steps);
            }
            QCOMPARE(run.now().totals(lane).steps(), steps);
        }
        if (lacking.empty() && made < call) break;
    }
    QVERIFY(failures > 20);
}

/// Metrics and forks are added whole or not at all, too; what comes after them finds its place.
void TestFailingAllocations::addsLanesWholeOrNotAtAll() {
    int failures = 0;
    for (int64_t call = 1;; ++call) {
        Run run = twoLanes();
        for (int64_t step = 1; step <= 100; ++step) {
            RunBatch rows;
            rows.rows = {rowAt(step, 0), rowAt(step, 1)};
            run.append(std::move(rows));
        }
        const auto news = [] {
            RunBatch batch;
            Metric own;
            own.column = "own";
            batch.metrics.push_back(own);
            batch.lanes.push_back({"fork", "fork", 1, 50, {}});
            return batch;
        };
        RunBatch first = news();
        const bool failed = failsAt(call, [&] { run.append(std::move(first)); });
        failures += failed;
        const auto lanes = static_cast<size_t>(run.now().laneCount());
        QCOMPARE(run.lanes().size(), lanes);
        QVERIFY(lanes == 2 || (lanes == 3 && !failed));
        const bool known = run.now().metricNamed("own") >= 0;
        RunBatch next = news();
        if (known) next.metrics.clear();
        if (lanes == 3) next.lanes.clear();
        next.lanes.push_back({"other", "other", 0, 20, {}}); // takes nothing that was left over
        run.append(std::move(next));
        const MetricId own = run.now().metricNamed("own");
        QCOMPARE(run.now().laneCount(), 4);
        for (const auto& [lane, forked] : {std::pair{2, int64_t{50}}, std::pair{3, int64_t{20}}}) {
            QCOMPARE(run.now().totals(lane).last().step, forked);
            QCOMPARE(run.now().totals(lane).last().lane, lane);
            QCOMPARE(run.now().gradients(lane).lastStep(), forked);
            for (MetricId id = 0; id < metric::kKnown; ++id)
                QCOMPARE(run.column(lane, id).lastStep(), forked);
            RunBatch values;
            values.rows.push_back(rowAt(forked + 1, lane));
            values.samples.push_back({forked + 1, lane, own, 3.5});
            run.append(std::move(values));
            QCOMPARE(run.now().gradients(lane).lastStep(), forked + 1);
            QCOMPARE(run.column(lane, metric::Loss).size(), forked + 1);
            QCOMPARE(run.column(lane, own).at(forked + 1), std::optional(3.5));
        }
        QCOMPARE(run.column(0, metric::Loss).size(), int64_t{100});
        if (!failed) break;
    }
    QVERIFY(failures > 10);
}

/// A scale that came with a lost row moves the counts with the next row.
void TestFailingAllocations::gradientsFollowTheScaleLater() {
    constexpr size_t kBucket = 20;
    int failures = 0;
    for (int64_t call = 1;; ++call) {
        GradientHistory history;
        GradientRange counted;
        counted.step = 1;
        counted.outputs.buckets[kBucket] = 100;
        history.add(counted);
        bool failed = false;
        int64_t made = 0;
        for (int64_t step = 1; step <= 60; ++step) {
            const int64_t doubled = (step - 1) / 2; // every other step
            StepRow row(step, 0);
            row.set(metric::Scale, std::ldexp(1.0, static_cast<int>(doubled)));
            const bool lost = failsAt(call - made, [&] { history.stepDone(row); });
            made += s_calls;
            failed = failed || lost;
            const auto column = history.at(step);
            QCOMPARE(column.has_value(), !lost);
            if (lost) continue;
            QCOMPARE(column->shares.buckets[kBucket + static_cast<size_t>(doubled)], 1.0F);
        }
        if (!failed) break;
        ++failures;
    }
    QVERIFY(failures > 3);
}

} // namespace tst_failing_allocations

QTEST_GUILESS_MAIN(tst_failing_allocations::TestFailingAllocations)
#include "tst_failing_allocations.moc"
