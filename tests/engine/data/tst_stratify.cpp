// What is held back class by class: as many in all as without classes, the same share of each, and
// no class on one side alone where that can be helped.
#include "engine/data/class_sides.h"
#include "engine/data/held_back.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"
#include "tests/support/tar_files.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

namespace tst_stratify {

using namespace halfscope;

namespace {

using Sizes = std::vector<int64_t>;

/// Returns the labels of samples that are sorted by class.
std::vector<int32_t> labelsOf(const Sizes& sizes) {
    std::vector<int32_t> labels;
    for (size_t label = 0; label < sizes.size(); ++label)
        labels.insert(labels.end(), static_cast<size_t>(sizes[label]), static_cast<int32_t>(label));
    return labels;
}

/// Returns how many samples of each class a data set has on one side.
Sizes classesOf(const Dataset& data, Split split) {
    Sizes counts(static_cast<size_t>(data.tensors()[kTarget].classes));
    for (int64_t i = 0; i < data.samples(split); ++i) {
        Batch batch = Batch::of(data.tensors(), 1);
        data.read(split, {&i, 1}, batch);
        ++counts[static_cast<size_t>(batch.labels(kTarget)[0])];
    }
    return counts;
}

QString notesOf(const Dataset& data) {
    QString all;
    for (const Message& note : data.notes())
        all += QString::fromStdString(note.english()) + '\n';
    return all;
}

} // namespace

class TestStratify : public QObject {
    Q_OBJECT

private slots:
    void heldOfEachClass_data();
    void heldOfEachClass();
    void chanceChoosesWithinClasses();
    void tables();
    void openedDataAreStratified();
    void pictures();
    void shards();
    void notesTellOfIt();

private:
    /// Returns a table of 60 lines, of which every twentieth has a rare class.
    std::string table() const {
        std::string text = "size,kind\n";
        for (int i = 0; i < 60; ++i)
            text += std::to_string(i % 7) + (i % 20 == 0 ? ",rare\n" : ",usual\n");
        return writeBytes(m_folder.filePath("kinds.csv").toStdString(), text);
    }
    TaskConfig task(double share) const {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.loss.kind = LossKind::CrossEntropy;
        task.path = table();
        task.validation = share;
        task.stratify = true;
        return task;
    }
    QTemporaryDir m_folder;
};

void TestStratify::heldOfEachClass_data() {
    QTest::addColumn<Sizes>("sizes");
    QTest::addColumn<double>("share");
    QTest::addColumn<Sizes>("held");
    QTest::newRow("in proportion") << Sizes{60, 30, 10} << 0.2 << Sizes{12, 6, 2};
    QTest::newRow("a rare one") << Sizes{90, 9, 1} << 0.1 << Sizes{9, 1, 0};
    QTest::newRow("rare ones first") << Sizes{96, 2, 2} << 0.03 << Sizes{1, 1, 1};
    QTest::newRow("too few for all") << Sizes{50, 30, 20} << 0.02 << Sizes{1, 1, 0};
    QTest::newRow("one stays") << Sizes{10, 10, 2} << 0.86 << Sizes{9, 9, 1};
    QTest::newRow("pairs") << Sizes{2, 2, 2} << 0.5 << Sizes{1, 1, 1};
    QTest::newRow("a half, of odd ones") << Sizes{3, 3} << 0.5 << Sizes{2, 1};
    QTest::newRow("nearly all") << Sizes{10, 10} << 0.99 << Sizes{10, 9};
    QTest::newRow("nothing") << Sizes{5, 5} << 0.0 << Sizes{0, 0};
    QTest::newRow("a class without samples") << Sizes{10, 0, 10} << 0.2 << Sizes{2, 0, 2};
    QTest::newRow("one class") << Sizes{10} << 0.3 << Sizes{3};
}

void TestStratify::heldOfEachClass() {
    QFETCH(const Sizes, sizes);
    QFETCH(const double, share);
    QFETCH(const Sizes, held);
    std::vector<int32_t> labels = labelsOf(sizes);
    const auto samples = static_cast<int64_t>(labels.size());
    const HeldBack split = HeldBack::ofClasses(labels, share);
    QCOMPARE(ClassSides(split, labels, sizes.size()).judged, held);
    QCOMPARE(static_cast<int64_t>(split.validation.size()), HeldBack::count(samples, share));
    std::vector<int32_t> all = split.train;
    all.insert(all.end(), split.validation.begin(), split.validation.end());
    QVERIFY(std::ranges::is_sorted(split.train) && std::ranges::is_sorted(split.validation));
    std::ranges::sort(all);
    for (int32_t i = 0; i < samples; ++i) // each once
        QCOMPARE(all.at(static_cast<size_t>(i)), i);
    std::ranges::reverse(labels); // the order of the samples makes no difference
    QCOMPARE(ClassSides(HeldBack::ofClasses(labels, share), labels, sizes.size()).judged, held);
}

/// Not the first or last ones of a class, and always the same ones.
void TestStratify::chanceChoosesWithinClasses() {
    const std::vector<int32_t> labels = labelsOf({100, 100});
    const HeldBack split = HeldBack::ofClasses(labels, 0.2);
    QCOMPARE(HeldBack::ofClasses(labels, 0.2).validation, split.validation);
    for (const int32_t first : {0, 100}) {
        const auto heldIn = [&](int32_t begin) {
            return std::ranges::count_if(split.validation, [begin](int32_t sample) {
                return sample >= begin && sample < begin + 50;
            });
        };
        QVERIFY(heldIn(first) > 0 && heldIn(first) < 20);
        QCOMPARE(heldIn(first) + heldIn(first + 50), 20);
    }
}

/// Also with means of the samples to train on, and not where the last ones are held back or targets
/// are numbers.
void TestStratify::tables() {
    TaskConfig config = task(0.34);
    const auto data = makeDataset(config, 0);
    QCOMPARE(classesOf(*data, Split::Validation), Sizes({1, 19}));
    QCOMPARE(classesOf(*data, Split::Train), Sizes({2, 38}));
    QCOMPARE(infoOf(config.kind).facts(config).validation, int64_t{20});
    config.held = Held::Last;
    QCOMPARE(classesOf(*makeDataset(config, 0), Split::Validation), Sizes({1, 19}));
    QCOMPARE(makeDataset(config, 0)->number(Split::Validation, 0), int64_t{40});
    config.held = Held::Random;
    config.target = "size";
    config.loss.kind = LossKind::Mse;
    const auto numbers = makeDataset(config, 0);
    config.stratify = false;
    const auto plain = makeDataset(config, 0);
    for (int64_t i = 0; i < 20; ++i)
        QCOMPARE(numbers->number(Split::Validation, i), plain->number(Split::Validation, i));
}

/// A table that is opened is divided by class when it has classes, unless the user says otherwise.
void TestStratify::openedDataAreStratified() {
    QVERIFY(experimentOn(table(), {})->task.stratify);
    const std::vector<Assignment> off{parseAssignment("data.stratify=false")},
        last{parseAssignment("data.held_back=last")},
        numbers{parseAssignment("task.loss=mse"), parseAssignment("data.target=size")};
    QVERIFY(!experimentOn(table(), off)->task.stratify);
    QVERIFY(!experimentOn(table(), last)->task.stratify);
    RunConfig config = *experimentOn(table(), numbers);
    QVERIFY(!config.task.stratify);
    QVERIFY(predicting(config, "kind").task.stratify);
    config = *experimentOn(table(), off);
    QVERIFY(!predicting(config, "size").task.stratify); // classes as before
}

void TestStratify::pictures() {
    const auto put = [](const QTemporaryDir& folder, const QString& name, int count) {
        QVERIFY(QDir(folder.path()).mkpath(name));
        for (int i = 0; i < count; ++i)
            writePng(test::plain(0, 0, 0), QStringLiteral("%1/%2/%3.png")
                                               .arg(folder.path(), name, QString::number(i))
                                               .toStdString());
    };
    const QTemporaryDir folder;
    put(folder, "ant", 18);
    put(folder, "bee", 2);
    const std::string path = folder.path().toStdString();
    RunConfig config = *experimentOn(path, {});
    QVERIFY(config.task.stratify);
    QCOMPARE(classesOf(*makeDataset(config.task, 0), Split::Validation), Sizes({1, 1}));
    config.task.validation = 0.5;
    QCOMPARE(classesOf(*makeDataset(config.task, 0), Split::Validation), Sizes({9, 1}));
    const QTemporaryDir split; // with pictures of their own to validate on
    for (const char* name : {"train/ant", "train/bee", "val/ant", "val/bee"})
        put(split, QLatin1String(name), 3);
    QVERIFY(!experimentOn(split.path().toStdString(), {})->task.stratify);
}

void TestStratify::shards() {
    std::string shard;
    for (int i = 0; i < 20; ++i) {
        const std::string name = std::to_string(100 + i);
        shard += tarFile(name + ".png", pngBytes(test::plain(0, 0, 0))) +
                 tarFile(name + ".cls", i % 10 == 0 ? "1" : "0");
    }
    const std::string path =
        writeBytes(m_folder.filePath("all.tar").toStdString(), shard + tarEnd());
    RunConfig config = *experimentOn(path, {});
    QVERIFY(config.task.stratify);
    config.task.validation = 0.5;
    QCOMPARE(classesOf(*makeDataset(config.task, 0), Split::Validation), Sizes({9, 1}));
    config.task.shardReaders = 3;
    QCOMPARE(classesOf(*makeDataset(config.task, 0), Split::Train), Sizes({27, 3}));
}

/// Where chance leaves a class on one side and the setting would help.
void TestStratify::notesTellOfIt() {
    const QString advice =
        "To hold back the same share of each class, set data.stratify to true.\n";
    bool told = false;
    for (const double share : {0.04, 0.1, 0.3, 0.9}) {
        TaskConfig config = task(share);
        QVERIFY(!notesOf(*makeDataset(config, 0)).contains("se classes"));
        config.stratify = false;
        const auto data = makeDataset(config, 0);
        const bool both =
            classesOf(*data, Split::Train)[0] > 0 && classesOf(*data, Split::Validation)[0] > 0;
        QCOMPARE(notesOf(*data).contains(advice), !both);
        told = told || !both;
        config.held = Held::Last;
        QVERIFY(!notesOf(*makeDataset(config, 0)).contains(advice));
    }
    QVERIFY(told);
    TaskConfig single = task(0.1);
    single.stratify = false;
    single.path = writeBytes(m_folder.filePath("single.csv").toStdString(),
                             "size,kind\n1,rare\n2,usual\n3,usual\n4,usual\n5,usual\n");
    const QString notes = notesOf(*makeDataset(single, 0));
    QVERIFY2(notes.contains("rare") && !notes.contains(advice), qPrintable(notes));
}

} // namespace tst_stratify

QTEST_GUILESS_MAIN(tst_stratify::TestStratify)
#include "tst_stratify.moc"
