// halfscope-cli run --tensorboard from outside. TensorBoard itself reads the files when
// HALFSCOPE_PYTHON names a Python that has it (./dev clients).
#include "engine/io/records.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/tensorboard.h"
#include "engine/settings/fields.h"
#include "engine/train/checkpoint.h"
#include "tests/support/array_files.h"
#include "tests/support/cli.h"
#include "tests/support/python.h"
#include "tests/support/thrown.h"

#include <QSize>
#include <QTemporaryDir>
#include <QTest>
#include <QtEndian>

#include <csignal>
#include <cstring>

namespace tst_cli_tensorboard {

using namespace halfscope;
using namespace halfscope::test;

namespace {

const QStringList kLanes{"fp32", "amp-fp16"};

/// Returns a run with skips, values that are not finite, epochs, validation and pictures.
QStringList boardRun(const QString& board, const QString& steps, const QStringList& more = {}) {
    const QString words = "run --preset mnist-mlp --device cpu --threads 1 --steps " + steps +
                          " --set task.batch=50 --set model.width=8 --set validation.epochs=1 "
                          "--set lanes.1.scaler.init_scale=2^40 --set run.watch_weights=9 --set "
                          "run.gradient_error=9 --gradients 7";
    return words.split(' ') + QStringList{"--tensorboard", board} + more;
}

/// Returns the event files of a lane, without their folder.
QStringList eventFiles(const QString& board, const QString& lane) {
    return filesOf(board + '/' + lane).filter("tfevents");
}

QByteArray eventsOf(const QString& board, const QString& lane) {
    const QStringList files = eventFiles(board, lane);
    return files.size() == 1 ? contentOf(board + '/' + lane + '/' + files.front())
                             : QByteArray("(not one file)");
}

struct Records {
    int whole = 0;
    qsizetype rest = 0; ///< bytes after them
};

/// Returns the records whose length, data and both checksums are present and right.
Records recordsIn(const QByteArray& file) {
    Records found;
    qsizetype at = 0;
    while (file.size() - at >= 16) {
        uint64_t length = 0;
        std::memcpy(&length, file.constData() + at, sizeof length);
        const auto size = static_cast<qsizetype>(length);
        if (length > 1u << 30 || file.size() - at < 16 + size) break;
        const std::string data = file.mid(at + 12, size).toStdString();
        if (file.mid(at, 16 + size).toStdString() != recordOf(data)) break;
        at += 16 + size;
        ++found.whole;
    }
    found.rest = file.size() - at;
    return found;
}

/// Returns the size of the first picture of an event file, as its PNG tells it.
QSize firstPicture(const QByteArray& file) {
    const qsizetype at = file.indexOf("\x89PNG");
    if (at < 0 || file.size() < at + 24) return {};
    const auto number = [&](qsizetype place) {
        return static_cast<int>(qFromBigEndian<quint32>(file.constData() + at + place));
    };
    return {number(16), number(20)};
}

/// Compares what TensorBoard's reader finds of a run with steps.csv and gradients.csv beside it;
/// prints how many values were compared.
constexpr const char* kCompare = R"(
import csv, io, sys
import numpy as np
from PIL import Image
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
out, board = sys.argv[1:3]
saved = board.endswith("saved")  # has shares in place of counts, and no layers
tags = {"loss": "loss", "scale": "amp/loss_scale", "growth_tracker": "amp/growth_tracker",
        "learning_rate": "learning_rate", "gradient_norm": "gradient_norm",
        "skipped": "amp/skipped", "skipped_so_far": "amp/skipped_so_far",
        "loss_not_finite": "amp/loss_not_finite", "epoch": "epoch",
        "validation_loss": "validation/loss", "accuracy": "validation/accuracy",
        "training_accuracy": "training/accuracy", "unchanged_weights": "weights/unchanged",
        "unchanged_copies": "weights/unchanged_copies", "weight_distance": "weights/distance"}
of_amp = ("unchanged_copies", "weight_distance")
compared = 0
def same(found, wanted, what):
    global compared
    assert [s for s, _ in found] == [s for s, _ in wanted], (what, found[:3], wanted[:3])
    a, b = (np.array([v for _, v in x], np.float32) for x in (found, wanted))
    assert np.array_equal(a, b, equal_nan=True), (what, found[:3], wanted[:3])
    compared += len(a)
def pixels(png):
    return np.array(Image.open(io.BytesIO(png)))
def rows(name):
    return list(csv.DictReader(open(out + "/" + name)))
for lane in ("fp32", "amp-fp16"):
    events = EventAccumulator(board + "/" + lane,
                              size_guidance={"scalars": 0, "histograms": 0, "images": 0})
    events.Reload()
    steps = [r for r in rows("steps.csv") if r["lane"] == lane]
    for column, tag in tags.items():
        wanted = [(int(r["step"]), float(r[column])) for r in steps if r[column] != ""]
        assert bool(wanted) == (lane != "fp32" or column not in of_amp), column
        if not wanted: continue
        same([(e.step, e.value) for e in events.Scalars(tag)], wanted, tag)
    rates = [(int(r["step"]), 1 / float(r["device_seconds"]))
             for r in rows("timing.csv") if r["lane"] == lane]
    same([(e.step, e.value) for e in events.Scalars("device_steps_per_second")], rates, "rates")
    times = [e.wall_time for e in events.Scalars("loss")]
    assert times == sorted(times) and times[-1] > times[0] > 1.6e9
    counts = [r for r in rows("gradients.csv")
              if r["lane"] == lane and r["counted_step"] == r["first_step"]]
    for column, tag in (("zero", "gradients/zero"), ("not_finite", "gradients/not_finite")):
        same([(e.step, e.value) for e in events.Scalars(tag)],
             [(int(r["counted_step"]), float(r[column])) for r in counts], tag)
    tag = "gradients/log2_magnitude" + ("" if saved else "_counts")
    histograms = {e.step: e.histogram_value for e in events.Histograms(tag)}
    finite = lambda r: 1 - float(r["zero"]) - float(r["not_finite"])
    most = max(counts, key=finite)
    size = round(histograms[int(most["counted_step"])].num / finite(most))
    assert size == 1 if saved else size > 7000, size
    counted = {s: h.num for s, h in histograms.items()}
    for r in counts:
        wanted = {i + 1.0: np.float32(r["2^%d" % i]) for i in range(-40, 24)}
        full = [limit for limit, share in wanted.items() if share > 0]
        if not full:
            assert int(r["counted_step"]) not in histograms
            continue
        h = histograms.pop(int(r["counted_step"]))
        assert (h.min, h.max) == (full[0] - 1, full[-1])
        assert list(h.bucket_limit) == [l for l in wanted if full[0] <= l <= full[-1]]
        assert saved or list(h.bucket) == [round(n) for n in h.bucket]
        assert [np.float32(n / size) for n in h.bucket] == [wanted[l] for l in h.bucket_limit]
        assert abs(sum(h.bucket) - h.num) < 1e-5
        compared += len(h.bucket)
    assert not histograms
    about = events.summary_metadata[tag].summary_description
    assert "log2" in about and ("share" in about) == saved, about
    # layers have the same tags; together they are the whole
    layers = sorted({t.split("/")[1] for t in events.Tags()["scalars"] if t.count("/") == 2})
    assert layers == ([] if saved else ["layer 0", "output layer"]), layers
    weights = {}
    for name in layers:
        zeros = events.Scalars("gradients/%s/zero" % name)
        assert [e.step for e in zeros] == [int(r["counted_step"]) for r in counts], name
        for e in events.Histograms("gradients/%s/log2_magnitude_counts" % name):
            counted[e.step] -= e.histogram_value.num
        for e in events.Histograms("gradients/%s/of_parameters" % name):
            h = e.histogram_value
            assert h.min < 0 < h.max and sum(h.bucket) == h.num, (name, e)
            # without the loss scale: it is 2^18 and more
            assert h.max < 100, (name, e)
            weights.setdefault(e.step, []).append(h.num)
        errors = "gradients/%s/error" % name in events.Tags()["scalars"]
        assert errors == (lane != "fp32"), (lane, name)
        compared += len(zeros)
    if not saved:
        assert set(counted.values()) == {0}, counted
        of_all = sum(w.size for w in load_file(out + "/weights_%s.safetensors" % lane).values())
        assert sum(weights[57]) == of_all, (weights[57], of_all)
    pictures = events.Images("picture")
    table = pixels(open(out + "/output_%s.png" % lane, "rb").read())
    assert table.shape == (10, 10), table.shape
    large = pixels(pictures[-1].encoded_image_string)
    assert np.array_equal(large, table.repeat(20, axis=0).repeat(20, axis=1))
    assert (pictures[-1].width, pictures[-1].height) == (200, 200)
    found = [e.step for e in pictures]
    assert found == ([60] if saved else [1, *range(3, 61, 3)]), found
    compared += len(pictures)
print(compared)
)";

} // namespace

class TestCliTensorBoard : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void writesRecords();
    void tensorBoardReadsThem_data();
    void tensorBoardReadsThem();
    void pandasReadsThem();
    void testsAreThere();
    void everyMetricIsDecided();
    void aForkHasItsOwnSteps();
    void countsByItself();
    void newRunReplacesFiles();
    void namesLanesOfEarlierRuns();
    void resumedRunGoesOn();
    void killLeavesWholeRecords();
    void killAfterACheckpoint();
    void changesNoNumber();
    void refuses();

private:
    QString path(const char* name) const { return m_folder.filePath(name); }
    QTemporaryDir m_folder;
};

/// One run that most functions examine: 60 steps, with 40 steps in an epoch.
void TestCliTensorBoard::initTestCase() {
    const Outcome outcome = call(boardRun(path("board"), "60", {"--out", path("out")}));
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.out.contains("TensorBoard: tensorboard --logdir " + path("board").toUtf8()),
             outcome.out);
    saveTensorBoard(readRun(path("out").toStdString())->snapshot(), path("saved").toStdString());
}

/// The folders contain the version, 60 steps, 9 counts of gradients, 21 pictures and nothing else.
/// A table of 10 classes is 200 pixels wide.
void TestCliTensorBoard::writesRecords() {
    QCOMPARE(filesOf(path("board")), QStringList());
    for (const QString& lane : kLanes) {
        QCOMPARE(filesOf(path("board/") + lane).size(), qsizetype{1});
        const Records found = recordsIn(eventsOf(path("board"), lane));
        QCOMPARE(found.whole, 1 + 60 + 9 + 21);
        QCOMPARE(found.rest, qsizetype{0});
        QCOMPARE(firstPicture(eventsOf(path("board"), lane)), QSize(200, 200));
    }
}

void TestCliTensorBoard::tensorBoardReadsThem_data() {
    QTest::addColumn<QString>("board");
    QTest::newRow("while it trains") << path("board");
    QTest::newRow("a run that is there") << path("saved");
}

void TestCliTensorBoard::tensorBoardReadsThem() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(QString, board);
    const QString found = python(kCompare, {path("out"), board});
    bool number = false;
    QVERIFY2(found.toInt(&number) > 2 * 60 * 10 && number, qPrintable(found));
}

/// As the manual tells it.
void TestCliTensorBoard::pandasReadsThem() {
    if (lacksPython()) QSKIP(lacksPython());
    const QString script = QStringLiteral(R"(
import sys
import numpy as np
import pandas
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
steps = pandas.read_csv(sys.argv[1])
for lane in ("fp32", "amp-fp16"):
    events = EventAccumulator(sys.argv[2] + "/" + lane, size_guidance={"scalars": 0}).Reload()
    found = pandas.DataFrame(events.Scalars("loss"))
    wanted = steps[steps["lane"] == lane]
    assert list(found["step"]) == list(wanted["step"]) == list(range(1, 61)), found
    assert np.array_equal(found["value"].astype(np.float32), wanted["loss"].astype(np.float32),
                          equal_nan=True), (found, wanted)
    assert found["wall_time"].is_monotonic_increasing
    print(len(found))
)");
    QCOMPARE(python(script, {path("out/steps.csv"), path("board")}).simplified(), QString("60 60"));
}

/// What a run measures on samples that are kept for a test comes at its last step, and only there.
void TestCliTensorBoard::testsAreThere() {
    std::string table = "height,weight,kind\n";
    for (int i = 0; i < 60; ++i)
        table +=
            std::to_string(i % 7) + "," + std::to_string(i % 11) + (i % 2 ? ",cat\n" : ",dog\n");
    const std::string file = writeBytes(path("pets.csv").toStdString(), table);
    const QString words = "--device cpu --threads 1 --steps 12 --set data.validation=0.5 --set "
                          "data.test_share=0.4";
    const Outcome outcome =
        call(QStringList{"run", QString::fromStdString(file)} + words.split(' ') +
             QStringList{"--tensorboard", path("tested"), "--out", path("tested-out")});
    QVERIFY2(outcome.code == 0, outcome.error);
    saveTensorBoard(readRun(path("tested-out").toStdString())->snapshot(),
                    path("tested-saved").toStdString());
    for (const QString& lane : kLanes) {
        for (const char* tag : {"test/loss", "test/accuracy"}) {
            QCOMPARE(eventsOf(path("tested"), lane).count(tag), qsizetype{1});
            QCOMPARE(eventsOf(path("tested-saved"), lane).count(tag), qsizetype{1});
        }
        QVERIFY(!eventsOf(path("board"), lane).contains("test/"));
    }
    if (lacksPython()) QSKIP(lacksPython());
    const QString script = QStringLiteral(R"(
import csv, sys
import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
tags = {"test_loss": "test/loss", "test_accuracy": "test/accuracy",
        "validation_loss": "validation/loss", "accuracy": "validation/accuracy"}
compared = 0
for board in sys.argv[2:]:
    for lane in ("fp32", "amp-fp16"):
        events = EventAccumulator(board + "/" + lane, size_guidance={"scalars": 0})
        events.Reload()
        rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["lane"] == lane]
        for column, tag in tags.items():
            wanted = [(int(r["step"]), np.float32(r[column])) for r in rows if r[column]]
            found = [(e.step, np.float32(e.value)) for e in events.Scalars(tag)]
            assert found == wanted and found[-1][0] == 12, (tag, found, wanted)
            assert not tag.startswith("test/") or len(found) == 1, (tag, found)
            compared += 1
        others = {t for t in events.Tags()["scalars"] if t.startswith("test/")} - set(tags.values())
        assert not others, others
print(compared)
)");
    QCOMPARE(python(script, {path("tested-out/steps.csv"), path("tested"), path("tested-saved")}),
             QString("16"));
}

/// Every plotted metric has a tag, and no tag occurs twice.
void TestCliTensorBoard::everyMetricIsDecided() {
    QStringList tags;
    for (MetricId id = 0; id < metric::kKnown; ++id) {
        const std::string_view tag = tensorBoardTag(id);
        const bool plotted = knownMetrics()[static_cast<size_t>(id)].axis != PlotAxis::None;
        QVERIFY2(!plotted || !tag.empty(), knownMetrics()[static_cast<size_t>(id)].column.c_str());
        if (!tag.empty()) tags << QString::fromUtf8(tag.data(), static_cast<qsizetype>(tag.size()));
    }
    QCOMPARE(tags.removeDuplicates(), qsizetype{0});
    QVERIFY(tags.size() >= 12);
}

/// The file of a fork lacks its parent's steps. Merged counts of gradients are of no single step.
void TestCliTensorBoard::aForkHasItsOwnSteps() {
    RunInfo info;
    info.config = defaultConfig();
    info.config.forks.push_back({4, 1, 0, defaultLane(Precision::AmpBf16)});
    info.recorded = info.config;
    info.restored = true;
    const std::vector<LaneInfo> lanes = lanesOf(info.config);
    Run run(info, {lanes[0], lanes[1]}, Picture{});
    for (int64_t step = 1; step <= 5; ++step) {
        RunBatch batch;
        if (step == 4) batch.lanes = {lanes[2]};
        for (int lane = 0; lane < (step < 4 ? 2 : 3); ++lane)
            batch.rows.push_back(StepRow(step, lane).set(metric::Loss, 1.0f));
        run.append(std::move(batch));
    }
    GradientShares zeros;
    zeros.zeros = 1;
    RunBatch counts;
    counts.savedGradients = {{{1, 3, 1, true, zeros}, {3, 6, 3, false, zeros}}};
    run.append(std::move(counts));
    saveTensorBoard(run.snapshot(), path("forked").toStdString());
    const int whole[] = {1 + 5 + 1, 1 + 5, 1 + 2}; // the version, steps and counts
    for (size_t lane = 0; lane < lanes.size(); ++lane)
        QCOMPARE(
            recordsIn(eventsOf(path("forked"), QString::fromStdString(lanes[lane].name))).whole,
            whole[lane]);
}

/// Without --gradients they are counted for TensorBoard alone, and the run's own files are those of
/// a run that counts nothing.
void TestCliTensorBoard::countsByItself() {
    QStringList run = boardRun(path("alone"), "60", {"--out", path("alone-out")});
    run.remove(run.indexOf("--gradients"), 2);
    QCOMPARE(call(run).code, 0);
    for (const QString& lane : kLanes) {
        const QByteArray events = eventsOf(path("alone"), lane);
        QVERIFY2(events.contains("gradients/zero"), qPrintable(lane));
        QVERIFY2(events.contains("gradients/layer 0/zero"), qPrintable(lane));
        QVERIFY2(events.count("gradients/zero") < 60, "a count at every step takes too long");
        QVERIFY2(events.count("gradients/zero") > 5, "a second is more than these steps take");
    }
    QVERIFY(!QFile::exists(path("alone-out/gradients.csv")));
    for (const char* file : {"steps.csv", "events.csv", "weights_amp-fp16.safetensors"})
        QVERIFY2(contentOf(path("alone-out/") + file) == contentOf(path("out/") + file), file);
}

void TestCliTensorBoard::newRunReplacesFiles() {
    const QString board = path("twice");
    QCOMPARE(call(boardRun(board, "5")).code, 0);
    const QString foreign = board + "/fp32/events.out.tfevents.1700000000.host.1.0";
    QVERIFY(QFile(foreign).open(QIODevice::WriteOnly));
    const QString before = eventFiles(board, "amp-fp16").value(0);
    QCOMPARE(call(boardRun(board, "4")).code, 0);
    QCOMPARE(eventFiles(board, "amp-fp16").size(), qsizetype{1});
    QVERIFY(eventFiles(board, "amp-fp16").front() > before); // it may be of the same second
    QCOMPARE(recordsIn(eventsOf(board, "amp-fp16")).whole, 1 + 4 + 1 + 4);
    QVERIFY(QFile::exists(foreign)); // another program's
}

/// TensorBoard shows them as if they were of the new run. They may be wanted, so they stay.
void TestCliTensorBoard::namesLanesOfEarlierRuns() {
    const QString board = path("left");
    const QByteArray words = "TensorBoard will also show lanes of earlier runs";
    QCOMPARE(call(boardRun(board, "4")).code, 0);
    const auto plant = [&board](const QString& file) {
        QDir().mkpath(QFileInfo(board + '/' + file).path());
        return QFile(board + '/' + file).open(QIODevice::WriteOnly);
    };
    QVERIFY(plant("another's/events.out.tfevents.1700000000.host.1.0"));
    const Outcome same = call(boardRun(board, "4"));
    QVERIFY2(same.code == 0 && !same.error.contains(words), same.error);
    const QString left = "events.out.tfevents.1700000000.host.1.halfscope";
    QVERIFY(plant("amp-bf16/" + left) && plant("a b/" + left));
    const Outcome told = call(boardRun(board, "4"));
    QCOMPARE(told.code, 0);
    const QByteArray line = words + ", which are left in " + board.toUtf8() + ": a b, amp-bf16\n";
    QVERIFY2(told.error.contains(line), told.error);
    QVERIFY(QFile::exists(board + "/amp-bf16/" + left));
    const Outcome quiet = call(boardRun(board, "4", {"--quiet"}));
    QVERIFY2(quiet.code == 0 && quiet.error.isEmpty(), quiet.error);
}

/// Interrupted after step 40, with a checkpoint of step 30: what was written of steps 31 to 40 is
/// void.
void TestCliTensorBoard::resumedRunGoesOn() {
    const QString board = path("resumed"), out = path("resumed-out");
    const QStringList saves{"--out", out, "--checkpoint-every", "30"};
    QCOMPARE(call(boardRun(board, "40", saves)).code, 0);
    const QStringList resumed = QString("run --device cpu --gradients 7 --steps 60").split(' ') +
                                QStringList{"--resume",      out + "/checkpoint-before.safetensors",
                                            "--out",         out,
                                            "--tensorboard", board};
    const Outcome outcome = call(resumed);
    QVERIFY2(outcome.code == 0, outcome.error);
    QCOMPARE(eventFiles(board, "fp32").size(), qsizetype{2});
    if (lacksPython()) QSKIP(lacksPython());
    const QString script = QStringLiteral(R"(
import csv, sys
import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
wanted = [(int(r["step"]), np.float32(r["loss"]))
          for r in csv.DictReader(open(sys.argv[2])) if r["lane"] == "fp32"]
found = [(e.step, np.float32(e.value)) for e in events.Scalars("loss")]
assert found == wanted, (found[28:34], wanted[28:34])
print(len(found))
)");
    QCOMPARE(python(script, {board + "/fp32", out + "/steps.csv"}), QString("60"));
}

/// A reader then finds the run up to a quarter of a second before the kill.
void TestCliTensorBoard::killLeavesWholeRecords() {
    const QString board = path("killed");
    QProcess process;
    process.start(program(), boardRun(board, "1000000", {"--quiet"}));
    const auto records = [&] { return recordsIn(eventsOf(board, "fp32")).whole; };
    QTRY_VERIFY_WITH_TIMEOUT(records() > 200, kPatience);
    const int before = records();
    ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
    QVERIFY(process.waitForFinished(kPatience));
    for (const QString& lane : kLanes) {
        const Records found = recordsIn(eventsOf(board, lane));
        QVERIFY2(found.whole > 200, qPrintable(lane));
        QVERIFY2(lane != "fp32" || found.whole >= before, "records went away");
        QVERIFY(found.rest < 4096); // at most a record that the kill cut
    }
    if (lacksPython()) QSKIP(lacksPython());
    const QString script = QStringLiteral(R"(
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
steps = [e.step for e in events.Scalars("loss")]
assert steps == list(range(1, len(steps) + 1))
print(len(steps) > 100)
)");
    QCOMPARE(python(script, {board + "/fp32"}), QString("True"));
}

/// A run that goes on from a checkpoint does not write the steps before it, so they must be there,
/// however short the time since the last write.
void TestCliTensorBoard::killAfterACheckpoint() {
    const QString board = path("checkpointed"), out = path("checkpointed-out");
    QProcess process;
    process.start(program(), boardRun(board, "1000000",
                                      {"--quiet", "--out", out, "--checkpoint-every", "20"}));
    while (!QFile::exists(out + "/checkpoint.safetensors"))
        QVERIFY(!process.waitForFinished(1));
    ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
    QVERIFY(process.waitForFinished(kPatience));
    const int64_t step = readCheckpoint(checkpointAt(out.toStdString())).step;
    for (const QString& lane : kLanes) // each step has a record, and the file has one of its own
        QVERIFY2(recordsIn(eventsOf(board, lane)).whole > step, qPrintable(lane));
}

void TestCliTensorBoard::changesNoNumber() {
    QStringList run = boardRun({}, "60", {"--out", path("without")});
    run.remove(run.indexOf("--tensorboard"), 2);
    QCOMPARE(call(run).code, 0);
    for (const char* file : {"steps.csv", "events.csv", "gradients.csv", "output_amp-fp16.png",
                             "weights_fp32.safetensors"})
        QVERIFY2(contentOf(path("without/") + file) == contentOf(path("out/") + file), file);
}

void TestCliTensorBoard::refuses() {
    QVERIFY(QFile(path("a file")).open(QIODevice::WriteOnly));
    const Outcome outcome = call(boardRun(path("a file"), "5", {"--quiet"}));
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.saysOneLine() &&
                 outcome.error.contains("a file\" is not allowed: it is a file, not a folder"),
             outcome.error);
    const Outcome nothing = call({"run", "--tensorboard", ""});
    QCOMPARE(nothing.code, 2);
    QVERIFY2(nothing.error.contains("\"\" is not allowed: the path of a folder"), nothing.error);
}

} // namespace tst_cli_tensorboard

QTEST_GUILESS_MAIN(tst_cli_tensorboard::TestCliTensorBoard)
#include "tst_cli_tensorboard.moc"
