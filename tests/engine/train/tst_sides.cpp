// Two classes as one output, see Dataset::targetsAreSides(): whatever shows or counts classes does
// so as for the same data with two outputs, whose first score is 0 and whose second is the logit.
// tst_validation counts accuracies, tst_cli_evaluate reads the files of the command line.
#include "engine/data/gallery.h"
#include "engine/data/task.h"
#include "engine/io/input_file.h"
#include "engine/io/npy.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_saving.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/pytorch_script.h"
#include "engine/train/run_info.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/train_into.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace tst_sides {

using namespace halfscope;

namespace {

/// Returns scores for two classes that say the same as logits.
std::vector<float> scoresOf(std::span<const float> logits) {
    std::vector<float> scores;
    for (const float logit : logits) {
        scores.push_back(std::isnan(logit) ? logit : 0.0f);
        scores.push_back(logit);
    }
    return scores;
}

/// Returns what a sample is not.
std::vector<int32_t> others(std::span<const int32_t> classes) {
    std::vector<int32_t> all;
    for (const int32_t each : classes)
        all.push_back(1 - each);
    return all;
}

/// Trains the experiment to its end and returns the row of its first lane's last step.
StepRecord trained(Experiment& experiment) {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        experiment.advance(records, events);
    return records.at(records.size() - static_cast<size_t>(experiment.lanes()));
}

bool areSame(const Picture& a, const Picture& b) {
    return a.width == b.width && a.height == b.height && a.values == b.values &&
           a.caption == b.caption;
}

} // namespace

class TestSides : public QObject {
    Q_OBJECT
private slots:
    void shownAsTwoOutputs_data();
    void shownAsTwoOutputs();
    void pointsOfThePlane_data();
    void pointsOfThePlane();
    void runsHaveTheTable();
    void sharesStayAScatter();
    void severalLabels();

private:
    std::string write(const char* name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(QLatin1String(name)).toStdString(), bytes);
    }
    /// Returns a run on a table whose target is 0 or 1, but `zero` in place of 0.
    RunConfig onTable(const std::string& zero) const;
    QTemporaryDir m_folder;
};

RunConfig TestSides::onTable(const std::string& zero) const {
    std::string text = "a,b,y\n";
    for (int i = 0; i < 200; ++i)
        text += std::to_string(i % 17) + "," + std::to_string(i * 7 % 23) + "," +
                (i % 17 + i % 5 > 9 ? "1" : zero) + "\n";
    const Assignment loss[] = {parseAssignment("task.loss=bce-with-logits")};
    RunConfig config = *experimentOn(write("table.csv", text), loss);
    config.lanes = parseLanes("fp32,amp-fp16");
    config.device = "cpu";
    config.task.validation = 0.5;
    config.epochs = 0;
    config.steps = 30;
    return config;
}

void TestSides::shownAsTwoOutputs_data() {
    QTest::addColumn<QList<int>>("shape"); // of a sample
    QTest::addColumn<bool>("indices");
    QTest::addColumn<bool>("gallery");
    QTest::newRow("pictures") << QList<int>{1, 6, 5} << false << true;
    QTest::newRow("lists of words") << QList<int>{7} << true << true;
    QTest::newRow("numbers") << QList<int>{4} << false << false;
}

/// The table of a batch, the sheet of samples and that of the mistakes.
void TestSides::shownAsTwoOutputs() {
    QFETCH(const QList<int>, shape);
    QFETCH(const bool, indices);
    QFETCH(const bool, gallery);
    constexpr int64_t kSamples = 40;
    std::vector<int64_t> all{kSamples};
    all.insert(all.end(), shape.begin(), shape.end());
    int64_t elements = 1;
    for (const int64_t extent : all)
        elements *= extent;
    std::vector<float> x(static_cast<size_t>(elements)), y(kSamples);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i * 13 % 19);
    for (size_t i = 0; i < y.size(); ++i)
        y[i] = i % 3 == 0 ? 1.0f : 0.0f;
    TaskConfig task;
    task.kind = TaskKind::Arrays;
    task.x = write("x.npy", npyBytes(all, x));
    task.y = write("y.npy", npyBytes(std::vector<int64_t>{kSamples}, y));
    task.validation = 0;
    if (indices) {
        std::string bytes;
        for (const float each : x)
            bytes += static_cast<char>(each);
        task.x = write("words.npy", npy("|u1", "(40, 7)", bytes));
        task.indices = 19;
    }
    task.loss.kind = LossKind::CrossEntropy;
    const auto two = makeDataset(task, 1);
    task.loss.kind = LossKind::BceWithLogits;
    const auto one = makeDataset(task, 1);
    QVERIFY(one->targetsAreSides() && factsOf(task).sides && !two->targetsAreSides());
    QCOMPARE(one->view().kind, ViewKind::Classes);
    QCOMPARE(one->view().classes, two->view().classes);
    const Batch sides = allOf(*one), labels = allOf(*two);
    QCOMPARE(trueClasses(sides), trueClasses(labels));
    std::vector<float> logits; // 0 stands for the class 0; a nan for none
    for (int i = 0; i < kSamples; ++i)
        logits.push_back(i == 5   ? std::numeric_limits<float>::quiet_NaN()
                         : i == 6 ? 0.0f
                                  : std::sin(static_cast<float>(i)));
    const std::vector<float> scores = scoresOf(logits);
    QCOMPARE(takenClasses(sides, logits, 2), takenClasses(labels, scores, 2));
    const int64_t right = countRight(sides, logits, 2);
    QVERIFY(right > 0 && right < kSamples);
    QCOMPARE(right, countRight(labels, scores, 2));
    QVERIFY(areSame(pictureOf(one->view(), sides, logits), pictureOf(two->view(), labels, scores)));
    QVERIFY(areSame(targetPictureOf(one->view(), sides), targetPictureOf(two->view(), labels)));
    const auto shown = galleryOf(*one), usual = galleryOf(*two);
    QCOMPARE(shown != nullptr, gallery);
    QCOMPARE(mistakesShown(*one), mistakesShown(*two));
    if (!gallery) return;
    const std::vector<std::string> names{"0", "1"};
    const std::span<const float> some(logits.data(), static_cast<size_t>(shown->samples.rows()));
    QVERIFY(areSame(galleryWithClasses(*shown, names), galleryWithClasses(*usual, names)));
    const Picture marked = galleryWithMistakes(*shown, some, names);
    QVERIFY(areSame(marked, galleryWithMistakes(*usual, scoresOf(some), names)));
    QVERIFY(marked.values != galleryWithClasses(*shown, names).values);
    std::vector<JudgedSamples> judged;
    std::vector<int64_t> numbers(kSamples);
    for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<int64_t>(i);
    for (const Batch* each : {&sides, &labels}) {
        judged.push_back({ClassCounts(2)});
        judged.back().addClasses(*each, numbers, others(trueClasses(*each)), kSamples);
    }
    QVERIFY(areSame(*pictureOf(one->view(), judged[0]), *pictureOf(two->view(), judged[1])));
    const std::atomic<bool> goesOn{false};
    const auto sheets = mistakeSheets(*one, std::span(judged).first(1), names, goesOn);
    const auto usualSheets = mistakeSheets(*two, std::span(judged).last(1), names, goesOn);
    QVERIFY(sheets->size() == 1 && areSame(sheets->front(), usualSheets->front()));
}

void TestSides::pointsOfThePlane_data() {
    QTest::addColumn<QString>("preset");
    for (const char* kind : {"moons", "circles", "spirals"})
        QTest::newRow(kind) << kind;
}

/// The drawn points have the same places whatever the loss is, and their map is that of two
/// outputs.
void TestSides::pointsOfThePlane() {
    QFETCH(const QString, preset);
    RunConfig config = presetNamed("moons").config;
    applySetting(config, "data.kind=" + preset.toStdString());
    const auto two = makeDataset(config.task, 3);
    applySetting(config, "task.loss=bce-with-logits");
    applySetting(config, "data.kind=" + preset.toStdString()); // which leaves the loss
    QCOMPARE(config.task.loss.kind, LossKind::BceWithLogits);
    const auto one = makeDataset(config.task, 3);
    QVERIFY(one->targetsAreSides() && factsOf(config.task).sides);
    QCOMPARE(viewKindOf(config.task), ViewKind::Plane);
    const Batch sides = allOf(*one), labels = allOf(*two);
    QVERIFY(sides.tensors[kX] == labels.tensors[kX]);
    QCOMPARE(trueClasses(sides), trueClasses(labels));
    QVERIFY(factsOf(config.task).tensors[kTarget].shape == one->tensors()[kTarget].shape);
    std::vector<float> logits;
    for (int64_t i = 0; i < one->view().probe->rows(); ++i)
        logits.push_back(i == 9 ? std::numeric_limits<float>::quiet_NaN()
                                : 4 * std::sin(0.01f * static_cast<float>(i)));
    const Picture map = pictureOf(one->view(), sides, logits);
    const Picture usual = pictureOf(two->view(), labels, scoresOf(logits));
    QCOMPARE(std::ranges::mismatch(
                 map.values, usual.values,
                 [](float a, float b) {
                     return a == b || (std::isnan(a) && std::isnan(b));
                 }).in1 == map.values.end(),
             true);
    QVERIFY(areSame(targetPictureOf(one->view(), sides), targetPictureOf(two->view(), labels)));
    config.device = "cpu";
    config.epochs = 0;
    config.steps = 20;
    Experiment experiment(config);
    QCOMPARE(experiment.outputs(), int64_t{1});
    const StepRecord last = trained(experiment);
    QVERIFY(last.validation->accuracy && last.trainingAccuracy);
    QCOMPARE(experiment.snapshot().outputs.front().channels, 3);
}

/// A run shows the table of its validation, saves it as text and shows it when it is read again.
void TestSides::runsHaveTheTable() {
    const RunConfig config = onTable("0");
    const QTemporaryDir folder, saved;
    const std::string from = folder.path().toStdString(), to = saved.path().toStdString();
    const auto live = trainInto(from, config);
    const RunSnapshot& now = live->now();
    QCOMPARE(viewKindOf(config.task, *now.target()), ViewKind::Classes);
    const Picture table = now.pictures()->outputs.at(1);
    QCOMPARE(table.width, 2);
    const TableCaption told = tableCaption(table.caption);
    QCOMPARE(told.rows.size(), size_t{2});
    QCOMPARE(told.rows[0] + told.rows[1], int64_t{100});
    const double accuracy = now.totals(1).accuracy().value();
    const int64_t right = std::llround(100 * accuracy);
    QCOMPARE(std::string(told.right), std::to_string(right) + "/100");
    const std::string text = readFile(from + "/classes_amp-fp16.csv");
    const auto count = [&](int row, int taken) {
        const double share = 1 - double{table.values[static_cast<size_t>(2 * row + taken)]};
        return std::to_string(std::llround(share * static_cast<double>(told.rows[row != 0])));
    };
    QCOMPARE(text, "true,samples,0,1\n0," + std::to_string(told.rows[0]) + "," + count(0, 0) + "," +
                       count(0, 1) + "\n1," + std::to_string(told.rows[1]) + "," + count(1, 0) +
                       "," + count(1, 1) + "\n");
    const auto read = readRun(from);
    QCOMPARE(viewKindOf(read->info().config.task, *read->now().target()), ViewKind::Classes);
    QVERIFY(read->now().pictures()->outputs.at(1).values == table.values);
    saveRun(read->snapshot(), to);
    QCOMPARE(readFile(to + "/classes_amp-fp16.csv"), text);
}

void TestSides::sharesStayAScatter() {
    const RunConfig config = onTable("0.25");
    const QTemporaryDir folder;
    const auto live = trainInto(folder.path().toStdString(), config);
    QCOMPARE(viewKindOf(config.task, *live->now().target()), ViewKind::Scatter);
    QVERIFY(live->now().pictures()->outputs.front().width > 2);
    QVERIFY(!live->now().totals(0).accuracy());
    QVERIFY(!QFile::exists(folder.filePath("classes_fp32.csv")));
    QVERIFY(pytorchScript(config).find("accuracy") == std::string::npos);
}

/// Several 0 and 1 of a sample are no two classes: their loss is the mean over all of them, as
/// PyTorch's is, and nothing calls itself an accuracy.
void TestSides::severalLabels() {
    constexpr int64_t kSamples = 60, kLabels = 3;
    std::vector<float> x, y;
    for (int i = 0; i < kSamples; ++i) {
        x.insert(x.end(), {std::sin(0.3f * static_cast<float>(i)), static_cast<float>(i % 7)});
        for (int label = 0; label < kLabels; ++label)
            y.push_back((i + label) % (label + 2) == 0 ? 1.0f : 0.0f);
    }
    const std::string inputs =
        write("several_x.npy", npyBytes(std::vector<int64_t>{kSamples, 2}, x));
    const std::string targets =
        write("several_y.npy", npyBytes(std::vector<int64_t>{kSamples, kLabels}, y));
    RunConfig config = presetNamed("regression").config;
    for (const std::string& setting :
         {std::string("data.kind=arrays"), "data.x=" + inputs, "data.y=" + targets,
          std::string("task.loss=bce-with-logits"), std::string("data.validation=0.5"),
          std::string("task.batch=30"), std::string("run.device=cpu"), std::string("run.epochs=0"),
          std::string("run.steps=20")})
        applySetting(config, setting);
    Experiment experiment(config);
    QVERIFY(!experiment.measuresAccuracy() && !factsOf(taskOf(config)).sides);
    QCOMPARE(experiment.view().kind, ViewKind::Scatter);
    const StepRecord last = trained(experiment);
    QVERIFY(!last.validation->accuracy && !last.trainingAccuracy);
    Predictions all;
    const std::atomic<bool> goesOn{false};
    const Validation judged = experiment.lane(0).evaluate(goesOn, &all).value();
    QCOMPARE(all.values.size(), static_cast<size_t>(kSamples / 2 * kLabels));
    double sum = 0;
    for (size_t i = 0; i < all.values.size(); ++i) {
        const double logit = double{all.values[i]}, target = double{all.targets[i]};
        sum += std::max(logit, 0.0) - logit * target + std::log1p(std::exp(-std::abs(logit)));
    }
    const double mean = sum / static_cast<double>(all.values.size());
    const double bound = 1e-6 * std::max(mean, 1.0); // float32 sums of 90 terms below 10
    QVERIFY2(std::abs(judged.loss - mean) < bound, qPrintable(QString::number(judged.loss)));
    QVERIFY(pytorchScript(config).find("accuracy") == std::string::npos);
}

} // namespace tst_sides

QTEST_GUILESS_MAIN(tst_sides::TestSides)
#include "tst_sides.moc"
