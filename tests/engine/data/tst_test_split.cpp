// Samples that are kept for a test: apart from those to train on and to validate on, the same ones
// whatever the seed, and as the samples were held back.
#include "engine/data/test_split.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <numeric>

namespace tst_test_split {

using namespace halfscope;

namespace {

using Numbers = std::vector<int64_t>;

Numbers numbersOf(const Dataset& data, Split split) {
    Numbers numbers;
    for (int64_t i = 0; i < data.samples(split); ++i)
        numbers.push_back(data.number(split, i));
    return numbers;
}
Numbers numbersOfTest(const Dataset& data) { return numbersOf(*data.test(), Split::Validation); }

Numbers from(int64_t first, int64_t count) {
    Numbers numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

/// Returns the settings of a preset with others.
TaskConfig with(const char* preset, const std::vector<std::string>& settings) {
    RunConfig config = presetNamed(preset).config;
    for (const std::string& each : settings)
        applySetting(config, each);
    return taskOf(config);
}

} // namespace

class TestTestSplit : public QObject {
    Q_OBJECT

private slots:
    void tableByChance();
    void lastLines();
    void gapLeavesNothing();
    void ofEachClass();
    void digitsThatCome();
    void textsDoNotOverlap();
    void arraysOfTheirOwn();
    void nothingToKeep();

private:
    /// Returns the settings of a table of 100 lines, whose column x has their numbers; every
    /// tenth has a rare class.
    TaskConfig table(LossKind loss) const {
        std::string text = "x,kind\n";
        for (int i = 0; i < 100; ++i)
            text += std::to_string(i) + (i % 10 == 0 ? ",1\n" : ",0\n");
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = writeBytes(m_folder.filePath("lines.csv").toStdString(), text);
        task.loss.kind = loss;
        task.standardise = false;
        task.validation = 0.4;
        task.testShare = 0.5;
        return task;
    }
    QTemporaryDir m_folder;
};

void TestTestSplit::tableByChance() {
    const TaskConfig task = table(LossKind::Mse);
    const auto data = makeDataset(task, 1);
    const Numbers train = numbersOf(*data, Split::Train), test = numbersOfTest(*data);
    const Numbers validation = numbersOf(*data, Split::Validation);
    QCOMPARE(train.size(), size_t{60});
    QCOMPARE(validation.size(), size_t{20});
    QCOMPARE(test.size(), size_t{20});
    Numbers all = train;
    all.insert(all.end(), validation.begin(), validation.end());
    all.insert(all.end(), test.begin(), test.end());
    std::ranges::sort(all);
    QCOMPARE(all, from(0, 100));                                               // each on one side
    QVERIFY(test.front() < 20 && test.back() > 80 && validation.front() < 20); // by chance
    // what is read is what the numbers say
    const Dataset& tested = *data->test();
    for (const Dataset* each : {static_cast<const Dataset*>(data.get()), &tested}) {
        const Numbers numbers = numbersOf(*each, Split::Validation);
        const Batch batch = allOf(*each, Split::Validation);
        QVERIFY(std::ranges::equal(batch.floats(kX), numbers));
    }
    QCOMPARE(numbersOfTest(*makeDataset(task, 2)), test); // whatever the seed
    TaskConfig whole = task;
    whole.testShare = 0;
    const auto without = makeDataset(whole, 1);
    QCOMPARE(numbersOf(*without, Split::Train), train);
    QVERIFY(!without->test());
    for (const DataFacts& facts : {factsOf(task), data->facts()}) {
        QCOMPARE(facts.train, int64_t{60});
        QCOMPARE(facts.validation, int64_t{20});
        QCOMPARE(facts.test, int64_t{20});
        QCOMPARE(facts.notes.back().english(),
                 std::string("Of the 40 samples to judge by, 20 are kept for the test at the end; "
                             "validation does not see them."));
    }
}

/// Of samples in the order of time, the test is the last, and apart from what is validated on as
/// that is from what is trained on.
void TestTestSplit::lastLines() {
    TaskConfig task = table(LossKind::Mse);
    task.held = Held::Last;
    task.gap = 3;
    const auto data = makeDataset(task, 1);
    QCOMPARE(numbersOf(*data, Split::Train), from(0, 57));
    QCOMPARE(numbersOf(*data, Split::Validation), from(60, 17));
    QCOMPARE(numbersOfTest(*data), from(80, 20));
    QCOMPARE(factsOf(task).validation, int64_t{17});
    QCOMPARE(factsOf(task).notes.back().english(),
             std::string("Of the 40 samples to judge by, the last 20 are kept for the test at the "
                         "end; validation does not see them, and the 3 before them are not "
                         "used."));
}

void TestTestSplit::gapLeavesNothing() {
    TaskConfig task = table(LossKind::Mse);
    task.held = Held::Last;
    task.gap = 20;
    const std::string expected =
        "data.test_share: 0.5 is not allowed: of 40 samples that are held back, 20 would be left "
        "to validate on, which is not more than the 20 that lie between them and the test";
    const auto messageOf = [](auto&& run) {
        try {
            run();
        } catch (const InputError& error) {
            return error.message().english();
        }
        return std::string();
    };
    QCOMPARE(messageOf([&] { factsOf(task); }), expected);
    QCOMPARE(messageOf([&] { makeDataset(task, 1); }), expected);
    task.gap = 19;
    QCOMPARE(makeDataset(task, 1)->samples(Split::Validation), int64_t{1});
}

void TestTestSplit::ofEachClass() {
    TaskConfig task = table(LossKind::CrossEntropy);
    task.stratify = true;
    const auto data = makeDataset(task, 1);
    const auto rare = [](const Dataset& side) {
        const Batch batch = allOf(side, Split::Validation);
        return std::ranges::count(batch.labels(kTarget), 1);
    };
    QCOMPARE(rare(*data), 2); // of ten, four were held back
    QCOMPARE(rare(*data->test()), 2);
    QCOMPARE(data->test()->samples(Split::Validation), int64_t{20});
}

/// They come with the data and are not held back.
void TestTestSplit::digitsThatCome() {
    const TaskConfig task = with("mnist-mlp", {"data.test_share=0.2"});
    const auto data = makeDataset(task, 1);
    QCOMPARE(data->samples(Split::Train), int64_t{2000});
    QCOMPARE(data->samples(Split::Validation), int64_t{400});
    QCOMPARE(data->test()->samples(Split::Validation), int64_t{100});
    QCOMPARE(factsOf(task).test, int64_t{100});
    Numbers all = numbersOf(*data, Split::Validation);
    const Numbers test = numbersOfTest(*data);
    all.insert(all.end(), test.begin(), test.end());
    std::ranges::sort(all);
    QCOMPARE(all, from(0, 500));
}

/// A sample of `context` characters and the one that follows begins at each character; where all
/// are predicted, they lie side by side.
void TestTestSplit::textsDoNotOverlap() {
    std::string text;
    for (int i = 0; i < 400; ++i)
        text += static_cast<char>('a' + (i * i + i / 7) % 26);
    const std::string path = writeBytes(m_folder.filePath("text.txt").toStdString(), text);
    TaskConfig task;
    task.kind = TaskKind::Text;
    task.path = path;
    task.loss.kind = LossKind::CrossEntropy;
    task.context = 8;
    task.validation = 0.5; // 200 characters, in which 192 samples begin
    task.testShare = 0.25;
    const auto data = makeDataset(task, 1);
    QCOMPARE(data->test()->samples(Split::Validation), int64_t{48});
    QCOMPARE(data->samples(Split::Validation), int64_t{192 - 48 - 8});
    task.testShare = 0;
    const Batch whole = allOf(*makeDataset(task, 1), Split::Validation);
    const Batch test = allOf(*data->test(), Split::Validation);
    const auto held = whole.labels(kX), last = test.labels(kX);
    QVERIFY(std::ranges::equal(held.last(last.size()), last)); // the end of the text
    task.testShare = 0.25;
    task.predicted = Predicted::Every;
    const auto every = makeDataset(task, 1);
    QCOMPARE(every->test()->samples(Split::Validation) + every->samples(Split::Validation),
             int64_t{24}); // side by side already
}

/// x_test and y_test, although the last samples would be held back without them.
void TestTestSplit::arraysOfTheirOwn() {
    TaskConfig task;
    task.kind = TaskKind::Arrays;
    task.test = true;
    task.held = Held::Last;
    task.gap = 5;
    task.testShare = 0.5;
    QVERIFY(canTest(task));
    DataFacts facts;
    facts.validation = 10;
    const DataFacts tested = testedFacts(facts, task);
    QCOMPARE(tested.validation, int64_t{5}); // by chance, without a gap
    QCOMPARE(tested.test, int64_t{5});
}

void TestTestSplit::nothingToKeep() {
    TaskConfig task = table(LossKind::Mse);
    task.validation = 0;
    QVERIFY(!canTest(task) && !tests(task));
    QVERIFY(!makeDataset(task, 1)->test());
    task.validation = 0.01; // one sample
    QVERIFY(tests(task));
    const auto data = makeDataset(task, 1);
    QVERIFY(!data->test());
    QCOMPARE(data->samples(Split::Validation), int64_t{1});
    QCOMPARE(factsOf(task).notes.back().english(),
             std::string("There is no test: of the samples to validate on, 1, the share 0.5 leaves "
                         "none for one."));
    task.predictFile = task.path; // those are all to be predicted
    QVERIFY(!tests(task));
    QVERIFY(!canTest(with("checkerboard", {})));
}

} // namespace tst_test_split

QTEST_GUILESS_MAIN(tst_test_split::TestTestSplit)
#include "tst_test_split.moc"
