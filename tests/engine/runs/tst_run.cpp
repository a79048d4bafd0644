// A run that is fed in batches: its columns, totals, forks and pictures, what a snapshot shows
// while the run continues, what it costs, and the list of runs.
#include "engine/runs/run.h"
#include "engine/runs/run_past.h"
#include "engine/runs/run_store.h"
#include "tests/support/under_sanitizer.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <thread>

namespace tst_run {

using namespace halfscope;
using halfscope::test::sizeFor;

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Run twoLanes() { return Run(RunInfo{}, {{"fp32", "fp32"}, {"amp-fp16", "amp-fp16"}}); }

/// Returns a row in which every metric follows from step and lane.
StepRow rowAt(int64_t step, int lane) {
    const auto x = static_cast<float>(step);
    const bool skipped = lane == 1 && step % 7 == 0;
    return StepRow(step, lane)
        .set(metric::Loss, x / 3 + static_cast<float>(lane))
        .set(metric::Scale, step < 50 ? 65536.0f : 32768.0f)
        .set(metric::GrowthTracker, step % 2000)
        .set(metric::LearningRate, 0.001f)
        .set(metric::GradientNorm, skipped ? std::numeric_limits<float>::infinity() : x / 7)
        .setFlags(skipped ? kSkipped : 0u)
        .set(metric::SkippedSoFar, lane == 1 ? step / 7 : int64_t{0})
        .set(metric::DeviceSeconds, 0.001 + static_cast<double>(step % 5) / 3e5)
        .set(metric::WallSeconds, static_cast<double>(step) / 700);
}

RunBatch batchOf(int64_t from, int64_t to, int lanes = 2) {
    RunBatch batch;
    for (int64_t step = from; step <= to; ++step)
        for (int lane = 0; lane < lanes; ++lane)
            batch.rows.push_back(rowAt(step, lane));
    return batch;
}

bool sameRow(const StepRow& a, const StepRow& b) {
    for (MetricId id = 0; id < metric::kKnown; ++id)
        if (a.measured(id) != b.measured(id) || a[id] != b[id]) return false;
    return a.step == b.step && a.lane == b.lane;
}

} // namespace

class TestRun : public QObject {
    Q_OBJECT
private slots:
    void slotsOfARow();
    void tableOfMetrics();
    void takesInBatches();
    void totals();
    void snapshotsStay();
    void readersBesideTheWriter();
    void forks();
    void goesOn();
    void goesOnWithoutReadingAll();
    void metricsOfAFile();
    void gradients();
    void refuses();
    void takesFewBytes();
    void storeKeepsRuns();
};

void TestRun::slotsOfARow() {
    StepRow row(3, 1);
    QCOMPARE(row.scale(), 1.0f);
    for (MetricId id = 0; id < metric::kKnown; ++id)
        QVERIFY(!row.measured(id));
    for (MetricId id = 0; id < metric::kKnown; ++id) {
        row.set(id, flagOf(id) != 0 ? 1.0 : 10.0 + id);
        QVERIFY(row.measured(id));
    }
    for (MetricId id = 0; id < metric::kKnown; ++id)
        QCOMPARE(row[id], flagOf(id) != 0 ? 1.0 : 10.0 + id);
    QCOMPARE(row.flags(), uint32_t{kSkipped | kGrew | kBackedOff | kLossNotFinite});
    row.set(metric::Grew, 0.0);
    QVERIFY(!row.has(kGrew) && row.has(kSkipped));
    row.setFlags(kAtFloor);
    QCOMPARE(row[metric::Skipped], 0.0);
    QVERIFY(row.has(kAtFloor));
}

void TestRun::tableOfMetrics() {
    QCOMPARE(knownMetrics().size(), static_cast<size_t>(metric::kKnown));
    for (MetricId id = 0; const Metric& each : knownMetrics()) {
        QCOMPARE(knownMetric(each.column), id);
        QVERIFY2(!each.title.empty() && each.about.english().ends_with('.'), each.column.c_str());
        QCOMPARE(flagOf(id) != 0, each.kind == ValueKind::Flag);
        ++id;
    }
    QCOMPARE(knownMetrics()[metric::SkippedSoFar].column, std::string("skipped_so_far"));
    QCOMPARE(knownMetric("no such"), -1);
    QCOMPARE(metricText(ValueKind::Float32, static_cast<double>(0.1f)), std::string("0.1"));
    QCOMPARE(metricText(ValueKind::Float64, 0.1), std::string("0.1"));
    QCOMPARE(metricText(ValueKind::Integer, 9007199254740992.0), std::string("9007199254740992"));
    QCOMPARE(metricText(ValueKind::Flag, 1), std::string("1"));
}

void TestRun::takesInBatches() {
    Run run = twoLanes();
    QCOMPARE(run.version(), uint64_t{0});
    run.append(batchOf(1, 300));
    run.append(batchOf(301, 5000));
    QCOMPARE(run.version(), uint64_t{2});
    QCOMPARE(run.step(), int64_t{5000});
    for (int lane = 0; lane < 2; ++lane)
        for (int64_t step = 1; step <= 5000; ++step)
            QVERIFY(sameRow(run.now().row(lane, step), rowAt(step, lane)));
    QVERIFY(run.now().has(metric::Loss));
    RunBatch last;
    last.rows = {rowAt(5001, 0)};
    last.pictures = LanePictures{5000, {Picture{1, 1, 1, {0.5f}}, Picture{1, 1, 1, {0.25f}}}};
    last.info = run.info();
    last.info->outcome = RunOutcome::Interrupted;
    last.info->config.title = "Edited";
    run.append(std::move(last));
    QCOMPARE(run.step(), int64_t{5000}); // lane 1 has not finished the next one
    QCOMPARE(run.now().lastStep(), int64_t{5001});
    QCOMPARE(run.now().pictures()->step, int64_t{5000});
    QCOMPARE(run.now().pictures()->outputs[1].values[0], 0.25f);
    QVERIFY(run.info().outcome == RunOutcome::Interrupted);
    QCOMPARE(run.info().config.title, std::string("Edited"));
    QVERIFY(RunBatch{}.empty() && !batchOf(1, 1).empty());
}

void TestRun::totals() {
    Run run = twoLanes();
    QCOMPARE(run.now().totals(0).last().step, int64_t{0});
    QCOMPARE(run.now().medianDeviceSeconds(0), 0.0);
    run.append(batchOf(1, 70));
    const LaneTotals& lane = run.now().totals(1);
    QCOMPARE(lane.steps(), int64_t{70});
    QVERIFY(sameRow(lane.last(), rowAt(70, 1)));
    QCOMPARE(lane.skips().skipped(), int64_t{10});
    QCOMPARE(lane.scaleAfter(), 32768.0f);
    RunBatch fell;
    fell.events = {{EventKind::Backoff, 70, 1, 32768, 16384, {}, {}}};
    run.append(std::move(fell));
    QCOMPARE(run.now().totals(1).scaleAfter(), 16384.0f);
    QCOMPARE(run.now().totals(0).scaleAfter(), 32768.0f);
    QCOMPARE(run.now().medianDeviceSeconds(1),
             static_cast<double>(static_cast<float>(0.001 + 2 / 3e5)));
    QCOMPARE(run.now().trailingMedian(0, metric::Loss, 5), static_cast<double>(68.0f / 3));
    run.append(batchOf(71, 71));
    QCOMPARE(run.now().totals(1).scaleAfter(), 32768.0f); // from here on the row tells it
    // a value that comes after its row
    Run late = twoLanes();
    RunBatch first;
    first.rows = {StepRow(1, 0).set(metric::Loss, 2.0f)};
    first.samples = {{1, 0, metric::WallSeconds, 0.5}};
    late.append(std::move(first));
    QCOMPARE(late.now().totals(0).last().wallSeconds(), 0.5);
    // the best of three validations is not the last one
    RunBatch judged;
    for (const auto& [step, share] : {std::pair(2, 0.5), {3, 0.75}, {4, 0.625}})
        judged.rows.push_back(StepRow(step, 0).set(metric::Accuracy, share));
    judged.samples = {{2, 0, metric::WallSeconds, 0.75}}; // not of the last row
    late.append(std::move(judged));
    QVERIFY(!late.now().totals(0).last().measured(metric::WallSeconds));
    QCOMPARE(late.now().totals(0).accuracy(), std::optional(0.625));
    QCOMPARE(late.now().totals(0).bestAccuracy(), (LaneTotals::Best{0.75, 3}));
    // the first of equal losses; inf and nan are none
    QVERIFY(!late.now().totals(0).bestLoss());
    for (const auto& [step, loss] :
         {std::pair(5, HUGE_VAL), {6, 2.0}, {7, 1.5}, {8, 1.5}, {9, std::nan("")}}) {
        RunBatch next;
        next.rows = {StepRow(step, 0).set(metric::ValidationLoss, loss)};
        late.append(std::move(next));
    }
    QCOMPARE(late.now().totals(0).bestLoss(), (LaneTotals::Best{1.5, 7}));
    QVERIFY(std::isnan(late.now().totals(0).validationLoss().value()));
    // the accuracy of a loss that is inf or nan is none
    for (const auto& [step, loss] : {std::pair(10, HUGE_VAL), {11, std::nan("")}}) {
        RunBatch next;
        next.rows = {
            StepRow(step, 0).set(metric::ValidationLoss, loss).set(metric::Accuracy, 0.875)};
        late.append(std::move(next));
    }
    QCOMPARE(late.now().totals(0).bestAccuracy(), (LaneTotals::Best{0.75, 3}));
}

void TestRun::snapshotsStay() {
    Run run = twoLanes();
    run.append(batchOf(1, 4000));
    RunBatch event;
    event.events = {{EventKind::Growth, 4, 1, 1, 2, {}, Message::data("first")}};
    run.append(std::move(event));
    const RunSnapshot before = run.snapshot();
    run.append(batchOf(4001, 9000));
    RunBatch more;
    more.events = {{EventKind::Growth, 5, 1, 2, 4, {}, Message::data("second")}};
    more.pictures = LanePictures{9000, {}};
    more.info = RunInfo{};
    more.info->outcome = RunOutcome::Finished;
    run.append(std::move(more));
    QCOMPARE(before.step(), int64_t{4000});
    QCOMPARE(before.column(0, metric::Loss).size(), int64_t{4000});
    QCOMPARE(before.events().size(), size_t{1});
    QCOMPARE(before.events()[0].text.english(), std::string("first"));
    QCOMPARE(before.pictures()->step, int64_t{0});
    QVERIFY(!before.info().outcome);
    QVERIFY(before.version() < run.version());
    QCOMPARE(run.events().size(), size_t{2});
    QCOMPARE(run.events().back().text.english(), std::string("second"));
}

void TestRun::readersBesideTheWriter() {
    Run run = twoLanes();
    constexpr int64_t kSteps = sizeFor(60000, 12000);
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0}, looks{0};
    const auto read = [&] {
        while (!done || looks < 20) {
            const RunSnapshot now = run.snapshot();
            const int64_t last = now.step();
            int64_t next = 1;
            now.column(1, metric::Loss).values(1, kMost, [&](int64_t step, double value) {
                wrong += step != next++ || value != rowAt(step, 1)[metric::Loss];
            });
            // all columns of a snapshot end at the same step, and so do the events
            wrong += next != last + 1 || now.lastStep() != last;
            wrong += now.column(0, metric::WallSeconds).lastStep() != last;
            wrong += static_cast<int64_t>(now.events().size()) != last / 100;
            if (last > 0) {
                wrong += !sameRow(now.row(1, last), rowAt(last, 1));
                const Extremes all = now.column(0, metric::Loss).extremes(1, last);
                wrong += all.finite != last || all.highest.step != last || all.lowest.step != 1;
                wrong += now.gradients(1).lastStep() != last;
            }
            for (const Event& event : now.events())
                wrong += event.text.english() != std::to_string(event.step);
            ++looks;
        }
    };
    std::vector<std::jthread> readers;
    for (int i = 0; i < 2; ++i)
        readers.emplace_back(read);
    for (int64_t step = 1; step <= kSteps; step += 100) {
        RunBatch batch = batchOf(step, step + 99);
        batch.events = {
            {EventKind::Growth, step, 0, 1, 2, {}, Message::data(std::to_string(step))}};
        run.append(std::move(batch));
    }
    done = true;
    readers.clear();
    QCOMPARE(wrong.load(), 0);
    QVERIFY(looks >= 20);
}

void TestRun::forks() {
    Run run = twoLanes();
    run.append(batchOf(1, 5000));
    RunBatch fell;
    fell.events = {{EventKind::Backoff, 4500, 1, 32768, 16384, {}, {}}};
    run.append(std::move(fell));
    const RunSnapshot before = run.snapshot();
    RunBatch fork;
    fork.lanes = {{"amp-fp16-2", "fork", 1, 4500}, {"bf16", "no parent"}};
    fork.rows = {StepRow(4501, 2).set(metric::Loss, -1.0f)};
    run.append(std::move(fork));
    QCOMPARE(run.lanes().size(), size_t{4});
    QCOMPARE(before.laneCount(), 2);
    QCOMPARE(run.lanes()[2].parent, 1);
    for (int64_t step = 1; step <= 4500; ++step)
        QVERIFY(sameRow(run.now().row(2, step).set(metric::Loss, 0.0f), [&] {
            StepRow row = rowAt(step, 1);
            row.lane = 2;
            return row.set(metric::Loss, 0.0f);
        }()));
    QCOMPARE(run.column(2, metric::Loss).at(4501), std::optional(-1.0));
    QCOMPARE(run.column(2, metric::Loss).size(), int64_t{4501});
    QCOMPARE(run.column(1, metric::Loss).size(), int64_t{5000});
    QCOMPARE(run.now().totals(2).steps(), int64_t{4501});
    QCOMPARE(run.now().totals(2).skips().skipped(), int64_t{4500 / 7});
    QVERIFY(run.column(3, metric::Loss).empty());
    QCOMPARE(run.now().gradients(2).lastStep(), int64_t{4501});
    // before its first step, the fork has the scale that its parent had then
    RunBatch second;
    second.lanes = {{"amp-fp16-3", "fork", 1, 4500}};
    run.append(std::move(second));
    QCOMPARE(run.now().totals(4).scaleAfter(), 16384.0f);
}

namespace {

bool sameTotals(const LaneTotals& a, const LaneTotals& b) {
    return a.steps() == b.steps() && sameRow(a.last(), b.last()) &&
           a.skips().skipped() == b.skips().skipped() &&
           a.skips().atStart() == b.skips().atStart() && a.scaleAfter() == b.scaleAfter() &&
           a.validationLoss() == b.validationLoss() && a.accuracy() == b.accuracy() &&
           a.bestAccuracy() == b.bestAccuracy() && a.bestLoss() == b.bestLoss() &&
           a.underflowStep() == b.underflowStep();
}

/// Returns rows with a validation now and then, and a backoff and an underflow at step 4500.
std::unique_ptr<Run> validated(int64_t steps) {
    std::unique_ptr<Run> run(new Run(twoLanes()));
    RunBatch batch = batchOf(1, steps);
    for (StepRow& row : batch.rows)
        if (row.step % 100 == 0)
            row.set(metric::ValidationLoss, 1.0 / static_cast<double>(row.step))
                .set(metric::Accuracy, static_cast<double>(row.step % 700) / 700);
    if (steps >= 4500)
        batch.events = {{EventKind::Backoff, 4500, 1, 32768, 16384, {}, {}},
                        {EventKind::Underflow, 4500, 1, 16384, 16384, {}, {}}};
    run->append(std::move(batch));
    return run;
}

/// A store from which nothing can be read.
class CountingStore : public ChunkStore {
public:
    std::vector<std::byte> read(int64_t) const override {
        ++reads;
        return {};
    }
    mutable int reads = 0;
};

} // namespace

/// Continued from any step, the rows and totals are those of a run that ended there.
void TestRun::goesOn() {
    const RunConfig config = defaultConfig();
    const auto run = validated(5000);
    for (const int64_t step :
         {int64_t{1}, int64_t{1024}, int64_t{4499}, int64_t{4500}, int64_t{5000}}) {
        const auto whole = validated(step);
        const std::shared_ptr<Run> begun = Run::goingOn(config, run->now(), step);
        QCOMPARE(begun->now().laneCount(), 2);
        for (int lane = 0; lane < 2; ++lane) {
            QVERIFY(sameTotals(begun->now().totals(lane), whole->now().totals(lane)));
            for (const int64_t at : {int64_t{1}, step, step + 1})
                QVERIFY(sameRow(begun->now().row(lane, at), whole->now().row(lane, at)));
        }
    }
    const std::vector<StepRow> rows = run->now().rows(1, 4990, 5010);
    QCOMPARE(rows.size(), size_t{11});
    for (const StepRow& row : rows)
        QVERIFY(sameRow(row, run->now().row(1, row.step)));
}

/// Nearly all values of a long run lie on disk: a run that continues from its last step does not
/// read them.
void TestRun::goesOnWithoutReadingAll() {
    const auto run = validated(20000);
    const auto store = std::make_shared<CountingStore>();
    for (int lane = 0; lane < 2; ++lane)
        for (MetricId id = 0; id < metric::kKnown; ++id)
            for (const ColumnSpanPtr& span : run->column(lane, id).spans()) {
                span->setStored(store, 1);
                (void)span->drop();
            }
    const std::shared_ptr<Run> begun = Run::goingOn(defaultConfig(), run->now(), 20000);
    QCOMPARE(store->reads, 0);
    QVERIFY(sameTotals(begun->now().totals(1), run->now().totals(1)));
}

void TestRun::metricsOfAFile() {
    Metric extra;
    extra.column = "grad_noise";
    extra.kind = ValueKind::Float64;
    Run run(RunInfo{}, {{"fp32", "fp32"}, {"b", "b"}}, Picture{}, {extra});
    QCOMPARE(run.now().metricNamed("grad_noise"), MetricId{metric::kKnown});
    QCOMPARE(run.now().metricNamed("loss"), MetricId{metric::Loss});
    RunBatch batch = batchOf(1, 10);
    extra.column = "val_loss";
    batch.metrics = {extra};
    batch.samples = {{5, 0, metric::kKnown, 0.1},
                     {5, 1, metric::kKnown + 1, 0.5},
                     {10, 1, metric::kKnown + 1, 0.25}};
    run.append(std::move(batch));
    QCOMPARE(run.metrics().size(), size_t{metric::kKnown + 2});
    QCOMPARE(run.now().metricNamed("val_loss"), MetricId{metric::kKnown + 1});
    QCOMPARE(run.column(0, metric::kKnown).at(5), std::optional(0.1));
    QCOMPARE(run.column(1, metric::kKnown + 1).size(), int64_t{2});
    QCOMPARE(run.column(1, metric::kKnown + 1).upTo(9)->value, 0.5);
    QVERIFY(run.column(0, metric::kKnown + 1).empty());
    QVERIFY(sameRow(run.now().row(1, 10), rowAt(10, 1))); // where it was
}

void TestRun::gradients() {
    Run run = twoLanes();
    GradientRange range;
    range.step = 3;
    range.scale = 65536;
    range.outputs.buckets[40] = 3;
    range.weights.zeros = 1;
    RunBatch batch = batchOf(1, 3);
    batch.gradients = {{range, range}};
    run.append(std::move(batch));
    const RunSnapshot before = run.snapshot();
    run.append(batchOf(4, 6));
    QCOMPARE(run.now().lastGradients().size(), size_t{2});
    QCOMPARE(run.now().lastGradients()[1].zeros(), int64_t{1});
    QCOMPARE(run.now().newestGradients()[1].zeros(), int64_t{1});
    const auto columns = [&run] { return run.now().gradients(0).columns().size(); };
    const size_t known = columns();
    GradientRange glance = range; // is in no history
    glance.step = 7;
    glance.weights.zeros = 2;
    RunBatch glances;
    glances.glance = {glance, glance};
    QVERIFY(!glances.empty());
    glances.gradientsEnd = true;
    run.append(std::move(glances));
    run.append(batchOf(7, 8));
    QVERIFY(!run.now().gradients(0).at(7)); // nothing is known until the next count
    QCOMPARE(run.now().newestGradients()[1].zeros(), int64_t{2});
    QCOMPARE(run.now().lastGradients()[1].zeros(), int64_t{1});
    QCOMPARE(columns(), known);
    range.step = 9;
    RunBatch counted = batchOf(9, 9);
    counted.gradients = {{range, range}};
    run.append(std::move(counted));
    QCOMPARE(run.now().newestGradients()[1].step, int64_t{9});
    QCOMPARE(before.gradients(0).lastStep(), int64_t{3});
    QCOMPARE(run.now().gradients(0).lastStep(), int64_t{9});
    RunInfo info;
    info.folder = "saved";
    Run saved(std::move(info), {{"fp32", "fp32"}});
    RunBatch kept;
    kept.savedGradients = {{GradientColumn{1, 4, 2, false, GradientShares::of(range)}}};
    saved.append(std::move(kept));
    QVERIFY(saved.now().gradients(0).isSaved());
    QCOMPARE(saved.now().gradients(0).columns().size(), size_t{1});
}

void TestRun::refuses() {
    Run run = twoLanes();
    run.append(batchOf(1, 2));
    QVERIFY_EXCEPTION_THROWN(run.append(batchOf(2, 2)), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(run.append(batchOf(3, 3, 3)), std::logic_error);
    RunBatch sample;
    sample.samples = {{3, 0, metric::kKnown, 1}};
    QVERIFY_EXCEPTION_THROWN(run.append(std::move(sample)), std::logic_error);
    RunBatch event;
    event.events = {{EventKind::Edit, 3, 2, 1, 1, {}, {}}};
    QVERIFY_EXCEPTION_THROWN(run.append(std::move(event)), std::logic_error);
    RunBatch fork;
    fork.lanes = {{"x", "x", 2, 1}};
    QVERIFY_EXCEPTION_THROWN(run.append(std::move(fork)), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(static_cast<void>(run.column(0, metric::kKnown)), std::logic_error);
}

void TestRun::takesFewBytes() {
    // as files and the struct had them: 4 floats, an int32, 2 doubles, 4 flags of a byte, an int64
    constexpr size_t kRowBytes = 4 * 4 + 4 + 2 * 8 + 4 + 8;
    constexpr int kLanes = 6;
    constexpr int64_t kSteps = sizeFor(1'000'000, 50'000), kBlock = 10000;
    std::vector<LaneInfo> lanes(kLanes);
    Run run(RunInfo{}, lanes);
    for (int64_t step = 1; step <= kSteps; step += kBlock) {
        RunBatch batch = batchOf(step, step + kBlock - 1, kLanes);
        for (StepRow& row : batch.rows) // the worst case: no value stays as it was
            row.set(metric::LearningRate, 1 / static_cast<float>(row.step))
                .set(metric::Scale, static_cast<float>(row.step % 999))
                .set(metric::GrowthTracker, row.step * 7919 % 65521)
                .setFlags(static_cast<uint32_t>(row.step * 37 % 101) & 15)
                .set(metric::SkippedSoFar, row.step * 3);
        run.append(std::move(batch));
    }
    const double values = double{kRowBytes} * kLanes * kSteps;
    const size_t before = run.now().bytes();
    QVERIFY(before >= run.now().columnBytes());
    RunBatch batch;
    batch.events.resize(1000);
    run.append(std::move(batch));
    QVERIFY(run.now().bytes() >= before + 1000 * sizeof(Event));
    const double worst = static_cast<double>(run.now().columnBytes()) / values;
    QVERIFY2(worst <= 1.5, std::to_string(worst).c_str());
    qInfo("nothing repeats: %.3f of the values' bytes", worst);
    Run usual(RunInfo{}, lanes);
    for (int64_t step = 1; step <= kSteps; step += kBlock)
        usual.append(batchOf(step, step + kBlock - 1, kLanes));
    const double common = static_cast<double>(usual.now().columnBytes()) / values;
    qInfo("a usual run: %.3f of the values' bytes", common);
    QVERIFY2(common <= 0.6, std::to_string(common).c_str());
}

void TestRun::storeKeepsRuns() {
    RunStore store;
    const auto run = [](const char* title) {
        RunInfo info;
        info.config.title = title;
        return std::make_shared<Run>(std::move(info), lanesOf(info.config));
    };
    const RunId a = store.add(run("a"), "Run");
    const RunId b = store.add(run("b"), "Run");
    const RunId c = store.add(run("c"), "Other");
    QCOMPARE(store.size(), size_t{3});
    QCOMPARE(store.find(b)->name, std::string("Run (2)"));
    { // a name that has a number already gets another one in its place
        RunStore numbered;
        const auto named = [&](const char* name) {
            return numbered.find(numbered.add(run("n"), name))->name;
        };
        QCOMPARE(named("houses"), std::string("houses"));
        QCOMPARE(named("houses (2)"), std::string("houses (2)"));
        QCOMPARE(named("houses (2)"), std::string("houses (3)"));
        for (const char* own : {"a ()", "(7)", "f(2)", "a (x2)"}) { // these are no numbers
            QCOMPARE(named(own), std::string(own));
            QCOMPARE(named(own), std::string(own) + " (2)");
        }
    }
    QCOMPARE(store.find(c)->color, 2);
    QVERIFY(store.current() == RunId::None);
    uint64_t changes = store.changes();
    const auto changed = [&] { return std::exchange(changes, store.changes()) != changes; };
    store.setCurrent(b);
    QVERIFY(changed() && store.current() == b);
    store.setCurrent(b);
    QVERIFY(!changed());
    store.rename(c, "Run");
    QVERIFY(changed());
    QCOMPARE(store.find(c)->name, std::string("Run (3)"));
    store.setVisible(a, false);
    QVERIFY(changed() && !store.find(a)->visible);
    store.move(a, 9);
    QVERIFY(changed());
    QVERIFY(store.entries()[2].id == a && store.entries()[0].id == b);
    QCOMPARE(store.writable(a).get(), store.get(a).get());
    QCOMPARE(store.get(a)->info().config.title, std::string("a"));
    QVERIFY(store.idOf(store.get(c).get()) == c);
    const std::shared_ptr<const Run> held = store.get(b);
    store.remove(b);
    QVERIFY(changed() && store.current() == RunId::None && !store.get(b) && !store.writable(b));
    QCOMPARE(held->info().config.title, std::string("b"));
    const RunId d = store.add(run("d"), "New");
    QCOMPARE(store.find(d)->color, 1); // the colour of the run that was removed
    store.writable(d)->append(batchOf(1, 3));
    QCOMPARE(store.get(d)->step(), int64_t{3});
    QCOMPARE(store.differences().size(), size_t{3});
    QVERIFY(store.differences()[0].empty());
}

} // namespace tst_run

QTEST_APPLESS_MAIN(tst_run::TestRun)
#include "tst_run.moc"
