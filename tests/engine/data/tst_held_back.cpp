// Samples in the order of time: the last ones are held back, and none of those to train on shares
// values with them.
#include "engine/core/error.h"
#include "engine/data/held_back.h"
#include "engine/data/window_overlap.h"
#include "engine/settings/data_experiment.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"
#include "tests/support/thrown.h"

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <set>

namespace tst_held_back {

using namespace halfscope;

namespace {

/// Returns a value of a series in which every value is another one.
float valueAt(int64_t time) { return static_cast<float>((time * 37) % 1009); }

/// Returns overlapOf() for windows of `length` values that begin `stride` values after another.
int64_t overlapOfWindows(int64_t length, int64_t stride) {
    return overlapOf(100, length, [&](int64_t sample, std::span<float> values) {
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = valueAt(sample * stride + static_cast<int64_t>(i));
    });
}

} // namespace

class TestHeldBack : public QObject {
    Q_OBJECT

private slots:
    void lastOnes();
    void refusesLongGaps();
    void overlap();
    void tableOfWindows();
    void arraysOfWindows();
    void askedForIsDone();
    void classesOnOneSide();
    void mostOfOneClass();

private:
    std::string write(const char* name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(QLatin1String(name)).toStdString(), bytes);
    }
    /// Returns a table whose lines are windows of four values, the newest of which is predicted.
    std::string table() const {
        std::string text = "day,before,newest,value,oldest\n";
        for (int64_t i = 0; i < 200; ++i) {
            text += std::to_string(i);
            for (const int64_t time : {i + 1, i + 2, i + 3, i})
                text += ',' + std::to_string(valueAt(time));
            text += '\n';
        }
        return write("series.csv", text);
    }
    QTemporaryDir m_folder;
};

void TestHeldBack::lastOnes() {
    TaskConfig task;
    task.kind = TaskKind::Csv; // which has the setting
    task.validation = 0.25;
    QCOMPARE(HeldBack(100, task).validation, HeldBack(100, 0.25).validation);
    QCOMPARE(HeldBack::trained(100, task), int64_t{75});
    QVERIFY(!heldBackNote(100, task));
    task.held = Held::Last;
    task.gap = 5;
    const HeldBack split(100, task);
    QCOMPARE(split.train.size(), size_t{70});
    QCOMPARE(HeldBack::trained(100, task), int64_t{70});
    QCOMPARE(split.train.back(), 69);
    QCOMPARE(split.validation.size(), size_t{25});
    QCOMPARE(split.validation.front(), 75);
    QCOMPARE(split.validation.back(), 99);
    QCOMPARE(heldBackNote(100, task)->english(), std::string("The last 25 samples are held back to "
                                                             "validate on; the 5 before them are "
                                                             "not used."));
    task.gap = 1;
    QCOMPARE(heldBackNote(100, task)->english(), std::string("The last 25 samples are held back to "
                                                             "validate on; the one before them is "
                                                             "not used."));
    QCOMPARE(heldBackNote(4, task)->english(),
             std::string("The last sample is held back to validate on; samples before it that are "
                         "not used: 1."));
    task.gap = 0;
    QCOMPARE(heldBackNote(4, task)->english(),
             std::string("The last sample is held back to validate on."));
    task.gap = 1;
    QVERIFY(heldBackPython(task).find("gap = 1 if count else 0\n") != std::string::npos);
    task.validation = 0; // nothing is held back, so there is no gap
    QCOMPARE(HeldBack(100, task).train.size(), size_t{100});
    QVERIFY(!heldBackNote(100, task));
}

void TestHeldBack::refusesLongGaps() {
    TaskConfig task;
    task.kind = TaskKind::Csv;
    task.validation = 0.25;
    task.held = Held::Last;
    task.gap = 75;
    QCOMPARE(
        thrownBy<InputError>([&] { HeldBack(100, task); }),
        std::string("data.gap: 75 is not allowed: 75 samples are not held back, so at most 74"));
}

void TestHeldBack::overlap() {
    QCOMPARE(overlapOfWindows(10, 1), int64_t{9});
    QCOMPARE(overlapOfWindows(10, 3), int64_t{3});
    QCOMPARE(overlapOfWindows(10, 9), int64_t{1});
    QCOMPARE(overlapOfWindows(10, 10), int64_t{0});
    const auto of = [](float (*value)(int64_t sample, int64_t place)) {
        return overlapOf(100, 4, [value](int64_t sample, std::span<float> values) {
            for (size_t i = 0; i < values.size(); ++i)
                values[i] = value(sample, static_cast<int64_t>(i));
        });
    };
    QCOMPARE(of([](int64_t, int64_t) { return 1.0f; }), int64_t{0});
    QCOMPARE(of([](int64_t sample, int64_t i) { return valueAt(4 * sample + i); }), int64_t{0});
    QCOMPARE(of([](int64_t sample, int64_t i) { return valueAt(sample - i); }), int64_t{3});
    // values that move in a circle
    QCOMPARE(overlapOf(100, 10,
                       [](int64_t sample, std::span<float> values) {
                           for (int64_t i = 0; i < 10; ++i)
                               values[static_cast<size_t>(i)] = valueAt((100 + i - sample) % 10);
                       }),
             int64_t{0});
    // words, as inputs of 0 and 1, may be equal by chance
    QCOMPARE(of([](int64_t sample, int64_t i) { return float((sample + i) % 2); }), int64_t{0});
}

/// No value of a line that is held back stands in a line to train on.
void TestHeldBack::tableOfWindows() {
    const RunConfig config = *experimentOn(table());
    QVERIFY(config.task.held == Held::Last);
    QCOMPARE(config.task.gap, int64_t{2}); // oldest, before and newest are inputs
    TaskConfig task = config.task;
    task.target = "value";
    task.standardise = false;
    const auto data = makeDataset(task, 0);
    const auto valuesOf = [&data](Split split) {
        const Batch batch = allOf(*data, split);
        std::set<float> values;
        const auto x = batch.floats(kX);
        const size_t each = x.size() / static_cast<size_t>(batch.rows());
        for (size_t i = 0; i < x.size(); ++i)
            if (i % each != 0) values.insert(x[i]); // 0: the day
        return values;
    };
    const std::set<float> train = valuesOf(Split::Train), held = valuesOf(Split::Validation);
    QVERIFY(std::none_of(held.begin(), held.end(), [&](float x) { return train.contains(x); }));
    task.held = Held::Random;
    const auto notes = makeDataset(task, 0)->notes();
    QCOMPARE(notes.back().english(),
             std::string("Each sample shares values with those around it, as windows of a series "
                         "do, so samples that chance holds back are partly trained on. With "
                         "data.held_back set to last and data.gap to 2, they are not."));
}

void TestHeldBack::arraysOfWindows() {
    std::string x, y;
    for (int64_t i = 0; i < 60; ++i) {
        for (int64_t k = 0; k < 6; ++k)
            x += bytesOfValues<float>({valueAt(2 * i + k)});
        y += bytesOfValues<float>({valueAt(2 * i + 6)});
    }
    write("y.npy", npy("<f4", "(60, 1)", y));
    const std::string path = write("x.npy", npy("<f4", "(60, 6)", x));
    const RunConfig config = *experimentOn(path);
    QVERIFY(config.task.held == Held::Last);
    QCOMPARE(config.task.gap, int64_t{2});
    const auto data = makeDataset(config.task, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{52});
    QCOMPARE(data->samples(Split::Validation), int64_t{6});
    QCOMPARE(data->number(Split::Validation, 0), int64_t{54});
    // factsOf() would return what makeDataset() found
    QCOMPARE(infoOf(config.task.kind).facts(config.task).train, int64_t{52});
}

/// Whoever names the setting gets what was asked for.
void TestHeldBack::askedForIsDone() {
    const std::vector<Assignment> given{parseAssignment("data.held_back=random")};
    QVERIFY(experimentOn(table(), given)->task.held == Held::Random);
    const std::vector<Assignment> gap{parseAssignment("data.gap=4")};
    const TaskConfig task = experimentOn(table(), gap)->task;
    QVERIFY(task.held == Held::Random && task.gap == 4);
}

/// Where chance holds back all pictures of a class or none, a note tells it.
void TestHeldBack::classesOnOneSide() {
    const QTemporaryDir folder;
    const auto put = [&](const char* name, int count) {
        QVERIFY(QDir(folder.path()).mkpath(QLatin1String(name)));
        for (int i = 0; i < count; ++i)
            writePng(test::plain(0, 0, 0),
                     QStringLiteral("%1/%2/%3.png")
                         .arg(folder.path(), QLatin1String(name), QString::number(i))
                         .toStdString());
    };
    put("ant", 20);
    put("bee", 1);
    put("cat", 1);
    TaskConfig task;
    task.kind = TaskKind::Pictures;
    task.loss.kind = LossKind::CrossEntropy;
    task.path = folder.path().toStdString();
    task.pictureSide = test::kPictureSide;
    const auto notesAt = [&](double share) {
        task.validation = share;
        QStringList notes;
        for (const Message& note : factsOf(task).notes)
            notes << QString::fromStdString(note.english());
        const std::vector<Message> own = makeDataset(task, 0)->notes();
        return own == factsOf(task).notes ? notes : QStringList("others");
    };
    const QString unknown = "All samples of these classes are held back to validate on, so the "
                            "network does not learn them: ",
                  unjudged = "These classes have no sample to validate on, so the accuracy tells "
                             "nothing about them: ";
    QCOMPARE(notesAt(0), QStringList());
    bool few = false, many = false;
    for (const double share : {0.1, 0.3, 0.5, 0.7, 0.95}) {
        QStringList sides = notesAt(share);
        const QStringList most =
            sides.filter("are \"ant\": a network that always predicts \"ant\" has");
        QCOMPARE(most.isEmpty(), share == 0.1); // two pictures, both of ants, are judged there
        sides.removeOne(most.value(0));
        const QString notes = sides.join(' ');
        for (const char* single : {"bee", "cat"}) // either here or there
            QVERIFY2(notes.contains(single), qPrintable(notes));
        QVERIFY2(!notes.contains("ant"), qPrintable(notes));
        few = few || notes.startsWith(unjudged);
        many = many || notes.startsWith(unknown);
    }
    QVERIFY(few && many);
}

/// Where most samples have one class, naming it always is nearly always right.
void TestHeldBack::mostOfOneClass() {
    const QTemporaryDir folder;
    const auto notesOf = [&](int rare) {
        std::string text = "size,kind\n";
        for (int i = 0; i < 200; ++i)
            text += std::to_string(i % 7) + (i < rare ? ",go\n" : ",stay\n");
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.loss.kind = LossKind::CrossEntropy;
        task.path = writeBytes(folder.filePath("kinds.csv").toStdString(), text);
        task.validation = 0.5;
        QStringList notes;
        for (const Message& note : makeDataset(task, 0)->notes())
            notes << QString::fromStdString(note.english());
        return notes.filter("to validate on");
    };
    const QStringList most = notesOf(20);
    QCOMPARE(most.size(), 1);
    const QRegularExpression words(
        "^Of 100 samples to validate on, ([0-9]+) are \"stay\": a network "
        "that always predicts \"stay\" has an accuracy of ([0-9]+) %\\. The setting "
        "task.class_weights can make the others count for more\\.$");
    const QRegularExpressionMatch match = words.match(most[0]);
    QVERIFY2(match.hasMatch(), qPrintable(most[0]));
    QCOMPARE(match.captured(1), match.captured(2)); // of a hundred
    QCOMPARE(notesOf(80), QStringList());
    QVERIFY(notesOf(1).join(' ').contains("of these classes are held back") ||
            notesOf(1).join(' ').contains("have no sample to validate on"));
}

} // namespace tst_held_back

QTEST_GUILESS_MAIN(tst_held_back::TestHeldBack)
#include "tst_held_back.moc"
