// What is told of arrays that can be trained on although something about them seems wrong.
#include "engine/core/cancel.h"
#include "engine/data/array_notes.h"
#include "engine/data/dataset.h"
#include "engine/data/held_fault.h"
#include "engine/io/npy.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "tests/support/array_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <initializer_list>
#include <stop_token>
#include <vector>

namespace tst_array_notes {

using namespace halfscope;
using namespace std::string_literals;

class TestArrayNotes : public QObject {
    Q_OBJECT

private slots:
    void notesOddValues();
    void namesTheFirstFaultHeldBack_data();
    void namesTheFirstFaultHeldBack();
    void heldFaultsAreThoseOfTheSettings();
    void namesTheFileOfTheTest_data();
    void namesTheFileOfTheTest();
    void notesLargeValues();
    void notesBytes();
    void cancelsTheLookAtBytes();
    void notesChannelsLast();
    void notesTokens();
    void notesOtherClasses_data();
    void notesOtherClasses();
    void notesSamplesToIgnore();
    void notesClasses_data();
    void notesClasses();
    void notesNoClassesOfTheTest();

private:
    std::string file(const std::string& name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(QString::fromStdString(name)).toStdString(), bytes);
    }
    TaskConfig arrays(const std::string& x, const std::string& y, bool classes = false) const {
        TaskConfig task;
        task.kind = TaskKind::Arrays;
        task.x = file("x.npy", x);
        task.y = file("y.npy", y);
        task.validation = 0;
        if (classes) task.loss.kind = LossKind::CrossEntropy;
        return task;
    }
    /// Returns 600 samples, of which the last 300 are held back; these have nan.
    TaskConfig heldBackLast(std::initializer_list<int> ofX, std::initializer_list<int> ofY) const {
        const auto bytes = [](std::initializer_list<int> faults) {
            std::vector<float> values;
            for (int i = 0; i < 600; ++i)
                values.push_back(static_cast<float>(i % 7));
            for (const int fault : faults)
                values[static_cast<size_t>(fault)] = NAN;
            return std::string(reinterpret_cast<const char*>(values.data()),
                               values.size() * sizeof(float));
        };
        TaskConfig task =
            arrays(npy("<f4", "(600, 1)", bytes(ofX)), npy("<f4", "(600,)", bytes(ofY)));
        task.held = Held::Last;
        task.validation = 0.5;
        return task;
    }
    QTemporaryDir m_folder;
};

/// A value is odd as float32, which 1e300 does not fit; whole numbers have none.
void TestArrayNotes::notesOddValues() {
    const auto notesOf = [](const TaskConfig& task) { return makeDataset(task, 0)->notes(); };
    const std::string labels = npy("|u1", "(3,)", "\0\1\1"s);
    const auto x = npy("<f8", "(3, 2)", bytesOfValues<double>({0, 1, 2, NAN, 1e300, -1}));
    const auto notes = notesOf(arrays(x, labels, true));
    QCOMPARE(notes.size(), size_t{1});
    QCOMPARE(notes[0].english(),
             std::string("Values of x that are inf or nan as float32: 2, the first in sample 1 "
                         "(counted from 0). The loss of each batch with such a sample is not "
                         "finite."));
    const auto y = npy("<f4", "(3,)", bytesOfValues<float>({0, 1, INFINITY}));
    QCOMPARE(notesOf(arrays(labels, y)).size(), size_t{1});
    QVERIFY(notesOf(arrays(labels, labels, true)).empty());
}

/// Two samples of the 300 that are held back, beside one to train on, which has events.
void TestArrayNotes::namesTheFirstFaultHeldBack_data() {
    QTest::addColumn<int>("x");
    QTest::addColumn<int>("y");
    QTest::addColumn<std::string>("told");
    QTest::newRow("input") << 303 << 310 << "input of sample 303"s;
    QTest::newRow("target") << 310 << 303 << "target of sample 303"s;
    QTest::newRow("far behind") << 590 << 580 << "target of sample 580"s; // 256 are read at a time
}

void TestArrayNotes::namesTheFirstFaultHeldBack() {
    QFETCH(const int, x);
    QFETCH(const int, y);
    QFETCH(const std::string, told);
    const TaskConfig task = heldBackLast({0, x}, {y});
    const auto data = makeDataset(task, 0);
    QVERIFY(knownHeldFault(task).empty()); // nothing has asked for it
    QVERIFY(findHeldFault(task, *data, false));
    QCOMPARE(knownHeldFault(task).english(),
             "The validation data hold inf or nan: the " + told +
                 " (counted from 0). Such values can make the validation loss inf or nan, whatever "
                 "the precision: correct them, or leave the samples out.");
    makeDataset(task, 0); // of another run
    QVERIFY(!knownHeldFault(task).empty());
    TaskConfig predicts = task; // which validates on nothing
    predicts.predictFile = task.x;
    QVERIFY(findHeldFault(predicts, *makeDataset(predicts, 0), false));
    QVERIFY(knownHeldFault(predicts).empty());
    const auto mended = makeDataset(heldBackLast({0}, {}), 0); // writes the same files
    QVERIFY(!findHeldFault(task, *mended, true));              // it was stopped
    QVERIFY(!knownHeldFault(task).empty());
    QVERIFY(findHeldFault(task, *mended, false));
    QVERIFY(knownHeldFault(task).empty());
}

/// A fault of one choice of samples to validate on may be none of another.
void TestArrayNotes::heldFaultsAreThoseOfTheSettings() {
    TaskConfig task = heldBackLast({303, 590}, {});
    task.testShare = 0.2; // the last 60 samples
    QVERIFY(findHeldFault(task, *makeDataset(task, 0), false));
    QVERIFY(!knownHeldFault(task).empty());
    TaskConfig other = task;
    other.testShare = 0.4;
    QVERIFY(knownHeldFault(other).empty());
    other = task;
    other.stratify = true;
    QVERIFY(knownHeldFault(other).empty());
    task = heldBackLast({590}, {}); // a sample of the test
    task.testShare = 0.3;
    const auto data = makeDataset(task, 0);
    QVERIFY(findHeldFault(task, *data, false));
    QVERIFY(knownHeldFault(task).empty());
    QVERIFY(findTestFault(task, *data->test(), false));
    QCOMPARE(knownTestFault(task).english(),
             "The test data hold inf or nan: the input of sample 590 (counted from 0)."s);
    other = task;
    other.testShare = 0.4;
    QVERIFY(knownTestFault(other).empty());
}

void TestArrayNotes::namesTheFileOfTheTest_data() {
    QTest::addColumn<float>("x");
    QTest::addColumn<float>("y");
    QTest::addColumn<std::string>("told");
    QTest::newRow("data.x_test") << NAN << 2.0f << "input"s;
    QTest::newRow("data.y_test") << 2.0f << INFINITY << "target"s;
}

/// The test's own samples are counted in its own file, which is named.
void TestArrayNotes::namesTheFileOfTheTest() {
    QFETCH(const float, x);
    QFETCH(const float, y);
    QFETCH(const std::string, told);
    const auto bytes = [](float second) { return bytesOfValues<float>({1, second, 3}); };
    TaskConfig task = heldBackLast({}, {});
    task.xTest = file("x_test.npy", npy("<f4", "(3, 1)", bytes(x)));
    task.yTest = file("y_test.npy", npy("<f4", "(3,)", bytes(y)));
    const auto data = makeDataset(task, 0);
    QVERIFY(findTestFault(task, *data->test(), false));
    const std::string& named = std::isfinite(x) ? task.yTest : task.xTest;
    QCOMPARE(knownTestFault(task).english(), "The test data hold inf or nan: the " + told +
                                                 " of sample 1 (counted from 0) in " + named + ".");
}

/// fp16 has no number from 65520 on; targets are never cast.
void TestArrayNotes::notesLargeValues() {
    const auto notesOf = [&](float largest) {
        const auto x = npy("<f4", "(3, 2)", bytesOfValues<float>({0, 1, largest, -2, NAN, 3}));
        const auto y = npy("<f4", "(3,)", bytesOfValues<float>({0, 1, 1e6f}));
        QStringList notes;
        for (const Message& note : makeDataset(arrays(x, y), 0)->notes())
            notes << QString::fromStdString(note.english());
        return notes.filter("fp16");
    };
    QCOMPARE(notesOf(65504), QStringList());
    for (const float largest : {70000.0f, -70000.0f})
        QCOMPARE(notesOf(largest),
                 QStringList("Values of x reach 70000, and fp16 ends at 65,504: where a lane casts "
                             "them to fp16, they become inf. To make the values fit, set "
                             "data.standardise_x to true."));
    const auto whole = npy("<i4", "(3, 1)", bytesOfValues<int32_t>({1, -70000, 2}));
    const auto y = npy("<f4", "(3,)", bytesOfValues<float>({0, 1, 2}));
    QVERIFY(makeDataset(arrays(whole, y), 0)
                ->notes()
                .at(0)
                .english()
                .starts_with("Values of x reach 70000,"));
}

/// The bytes of pictures begin far from what networks learn well; masks and small counts do not.
void TestArrayNotes::notesBytes() {
    const auto told = [&](const char* type, char highest, bool standardise = false,
                          const char* shape = "(2, 1, 2)") {
        const std::string y = npy("<f4", "(2,)", bytesOfValues<float>({0, 1}));
        TaskConfig task = arrays(npy(type, shape, std::string{1, highest, 0, 3}), y);
        task.standardiseX = standardise;
        QStringList notes;
        for (const Message& note : makeDataset(task, 0)->notes())
            notes << QString::fromStdString(note.english());
        return notes.filter("bytes");
    };
    QCOMPARE(told("|u1", '\xff'),
             QStringList("The values of x are bytes that reach 255, which networks learn badly as "
                         "they are: divide them by 255, or set data.standardise_x to true."));
    QCOMPARE(told("|u1", 100).size(), 1);
    QCOMPARE(told("|u1", 99), QStringList());
    QCOMPARE(told("|i1", 127), QStringList());
    QCOMPARE(told("|u1", '\xff', true), QStringList());
    QCOMPARE(told("|u1", '\xff', false, "(2, 2)"),
             QStringList("The values of x are bytes that reach 255, which networks learn badly as "
                         "they are: set data.standardise_x to true. If they stand for words or "
                         "other tokens, a network that begins with nn.Embedding(256, ...) takes "
                         "them as such."));
}

void TestArrayNotes::cancelsTheLookAtBytes() {
    Array x;
    x.info.type = ElementType::U8;
    x.info.shape = {2, 2};
    x.bytes.assign(4, std::byte{200});
    std::stop_source source;
    const Cancellable cancellable(source.get_token());
    QVERIFY(bytesNote(x));
    source.request_stop();
    QVERIFY_THROWS_EXCEPTION(Cancelled, (void)bytesNote(x));
}

void TestArrayNotes::notesChannelsLast() {
    const auto notesOf = [&](const char* shape, size_t bytes) {
        const auto x = npy("|u1", shape, std::string(bytes, '\1'));
        return makeDataset(arrays(x, npy("|u1", "(2,)", "\0\1"s), true), 0)->notes();
    };
    QCOMPARE(notesOf("(2, 6, 5, 3)", 180).at(0).english(),
             std::string("Samples of x are read as 6 channels of 5 x 3 pixels. If the channels are "
                         "the last axis, numpy.moveaxis(x, -1, 1) puts them first."));
    QVERIFY(notesOf("(2, 3, 6, 5)", 180).empty());
    QVERIFY(notesOf("(2, 3, 5, 3)", 90).empty());
    QVERIFY(notesOf("(2, 6, 3)", 36).empty());
}

/// Lists of whole numbers may be words; the pixels of pictures and single columns are not.
void TestArrayNotes::notesTokens() {
    const auto notesOf = [&](const char* type, const char* shape, const std::string& bytes,
                             int64_t indices = 0) {
        TaskConfig task = arrays(npy(type, shape, bytes), npy("|u1", "(2,)", "\0\1"s), true);
        task.indices = indices;
        return makeDataset(task, 0)->notes();
    };
    const auto tokens = bytesOfValues<int32_t>({7, 0, 2, 99, 1, 1, 0, 0});
    QCOMPARE(notesOf("<i4", "(2, 4)", tokens).at(0).english(),
             std::string("x holds whole numbers from 0 on, which are taken as numbers. If they "
                         "stand for words or other tokens, a network that begins with "
                         "nn.Embedding(100, ...) takes them as such."));
    const auto told = [&](int32_t highest) {
        std::string all;
        const auto bytes = bytesOfValues<int32_t>({7, 0, 2, highest, 1, 1, 0, 0});
        for (const Message& note : notesOf("<i4", "(2, 4)", bytes))
            all += note.english();
        return all;
    };
    constexpr int32_t kMost = 1 << 24; // rows of an Embedding
    QVERIFY(told(kMost - 1).find("nn.Embedding(16777216, ...)") != std::string::npos);
    QVERIFY(told(kMost).find("nn.Embedding(") == std::string::npos);
    QVERIFY(notesOf("<i4", "(2, 4)", tokens, 100).empty());
    QVERIFY(notesOf("<i4", "(2, 2, 2)", tokens).empty());
    QVERIFY(notesOf("|u1", "(2, 4)", "\7\0\2\143\1\1\0\0"s).empty());
    QVERIFY(notesOf("<i4", "(2, 4)", bytesOfValues<int32_t>({7, -1, 2, 99, 1, 1, 0, 0})).empty());
    QVERIFY(notesOf("<i4", "(2, 4)", bytesOfValues<int32_t>({7, 1, 2, 9, 1, 1, 0, 0})).empty());
    QVERIFY(notesOf("<i4", "(2, 2)", bytesOfValues<int32_t>({7, 0, 2, 99})).empty());
}

void TestArrayNotes::notesOtherClasses_data() {
    QTest::addColumn<QByteArray>("y");
    QTest::addColumn<QString>("note");
    const auto row = [](const char* what, const std::string& y, const char* note) {
        QTest::newRow(what) << QByteArray::fromStdString(y) << note;
    };
    const char* two = "y has 2 different whole numbers, which are learnt as numbers. If they are "
                      "classes, numpy.unique(y, return_inverse=True)[1] numbers them from 0.";
    const auto floats = [](const std::string& shape, std::initializer_list<float> values) {
        return npy("<f4", shape, bytesOfValues<float>(values));
    };
    const char* fromZero = "y has the whole numbers from 0 to 1, which are learnt as numbers. If "
                           "they are classes, set task.loss to cross-entropy.";
    row("float classes", floats("(10,)", {0, 1, 1, 0, 1, 0, 0, 1, 1, 0}), fromZero);
    row("in a column", floats("(10, 1)", {3, 7, 7, 3, 7, 3, 3, 7, 7, 3}), two);
    row("signs", npy("|i1", "(10,)", "\1\377\1\377\1\377\1\377\1\377"), two);
    row("too few of each", floats("(9,)", {0, 1, 1, 0, 1, 0, 0, 1, 1}), "");
    row("one value", floats("(10,)", {2, 2, 2, 2, 2, 2, 2, 2, 2, 2}), "");
    row("a fraction", floats("(10,)", {0, 1, 1, 0, 1, 0, 0.5, 1, 1, 0}), "");
    row("labels", npy("|u1", "(10,)", "\0\1\0\1\0\1\0\1\0\1"s), fromZero);
    row("too few labels", npy("|u1", "(9,)", "\0\1\0\1\0\1\0\1\0"s), "");
    const auto wide = [](const std::string& shape, std::initializer_list<int32_t> values) {
        return npy("<i4", shape, bytesOfValues<int32_t>(values));
    };
    row("one far label", wide("(11,)", {0, 1, 1, 0, 1, 8, 0, 0, 1, 1, 0}),
        "y: sample 5 (counted from 0) is 8, and all others are whole numbers from 0 to 1, "
        "which are learnt as numbers. If they are classes, correct that one and set task.loss to "
        "cross-entropy.");
    row("two far labels", wide("(11,)", {0, 1, 9, 0, 1, 9, 0, 0, 1, 1, 0}), "");
    row("one near label", wide("(11,)", {0, 1, 1, 0, 1, 7, 0, 0, 1, 1, 0}), "");
    row("counted from 3", wide("(10,)", {3, 4, 3, 4, 3, 4, 3, 4, 3, 4}), "");
    row("one below", wide("(10,)", {-1, 0, -1, 0, -1, 0, -1, 0, -1, 0}),
        (std::string(two) + " If -1 marks samples without a label, leave those out before: x, y = "
                            "x[y != -1], y[y != -1].")
            .c_str());
    row("one below in a column", wide("(10, 1)", {-1, 0, -1, 0, -1, 0, -1, 0, -1, 0}),
        (std::string(two) + " If -1 marks samples without a label, leave those out before: y = "
                            "y.ravel(); x, y = x[y != -1], y[y != -1].")
            .c_str());
    row("two below", wide("(10,)", {-2, 0, -2, 0, -2, 0, -2, 0, -2, 0}), two);
    row("a gap", wide("(10,)", {-1, 2, -1, 2, -1, 2, -1, 2, -1, 2}), two);
    row("one-hot", floats("(3, 2)", {0, 1, 1, 0, 0, 1}),
        "Each row of y has a single 1 among zeros, as classes in one-hot form have. y.argmax(1) "
        "makes the numbers of classes of them, which the loss cross-entropy takes.");
    row("two ones", floats("(3, 2)", {0, 1, 1, 1, 0, 1}), "");
    row("another number", floats("(3, 2)", {0, 1, 2, 0, 0, 1}), "");
    row("no one", floats("(3, 2)", {0, 1, 0, 0, 0, 1}), "");
}

/// Classes would silently be learnt as numbers: by the choice of the loss, for a single wrong
/// label, or in a form that cross-entropy does not take.
void TestArrayNotes::notesOtherClasses() {
    QFETCH(QByteArray, y);
    QFETCH(QString, note);
    const auto samples = static_cast<size_t>(y.contains("(11")   ? 11
                                             : y.contains("(10") ? 10
                                             : y.contains("(9")  ? 9
                                                                 : 3);
    const std::string x =
        npy("|u1", "(" + std::to_string(samples) + ", 1)", std::string(samples, '\1'));
    QStringList notes;
    for (const Message& each : makeDataset(arrays(x, y.toStdString()), 0)->notes())
        notes << QString::fromStdString(each.english());
    QCOMPARE(notes.join(" "), note);
}

/// PyTorch's cross_entropy leaves out targets of -100.
void TestArrayNotes::notesSamplesToIgnore() {
    const std::string values = bytesOfValues<int64_t>({0, 0, 0, -100, 0, 0, 0, -100, 0, 0});
    const Array y = readNpy(file("y.npy", npy("<i8", "(10,)", values)));
    const std::optional<Message> note = otherClassesNote(y);
    QVERIFY(note);
    QVERIFY(note->english().ends_with("If -100 marks samples without a label, leave those out "
                                      "before: x, y = x[y != -100], y[y != -100]."));
}

void TestArrayNotes::notesClasses_data() {
    QTest::addColumn<QByteArray>("labels");
    QTest::addColumn<double>("held");
    QTest::addColumn<QStringList>("notes");
    const auto row = [](const char* what, const std::string& labels, double held,
                        const QStringList& notes) {
        QTest::newRow(what) << QByteArray::fromStdString(labels) << held << notes;
    };
    row("counted from 1", "\1\2\3\1\2\3"s, 0,
        {"No sample to train or validate on has the class 0, from which classes are counted. If "
         "the labels count from 1, subtract 1 from each of them."});
    row("a gap", "\0\5\0\5\0\5"s, 0,
        {"No sample to train or validate on has these classes: 1, 2, 3, 4. Labels are the numbers "
         "of classes, from 0 to 5, and the network has an output for each of them."});
    row("a single class", "\0\0\0\0"s, 0,
        {"All samples have the same class, so there is nothing to learn: any network has an "
         "accuracy of 100 %."});
    row("one side", "\0\1\0\1\0\2"s, 0.34,
        {"All samples of these classes are held back to validate on, so the network does not learn "
         "them: 2.",
         "These classes have no sample to validate on, so the accuracy tells nothing about them: "
         "1."});
    row("as many of each", "\0\1\0\1"s, 0, {});
}

/// The samples that are held back are the last ones here.
void TestArrayNotes::notesClasses() {
    QFETCH(QByteArray, labels);
    QFETCH(double, held);
    QFETCH(QStringList, notes);
    const std::string shape = "(" + std::to_string(labels.size()) + ",)";
    const std::string y = npy("|u1", shape, labels.toStdString());
    TaskConfig task = arrays(y, y, true);
    task.validation = held;
    task.held = held > 0 ? Held::Last : Held::Random;
    QStringList found;
    for (const Message& note : makeDataset(task, 0)->notes())
        found << QString::fromStdString(note.english());
    if (held > 0) found.removeFirst(); // tells which samples are held back
    QCOMPARE(found, notes);
}

/// Samples of a test of its own are neither trained on nor validated on.
void TestArrayNotes::notesNoClassesOfTheTest() {
    TaskConfig task = arrays(npy("|u1", "(3,)", "\0\1\1"s), npy("|u1", "(3,)", "\0\1\1"s), true);
    task.xVal = file("x_val.npy", npy("|u1", "(2,)", "\0\1"s));
    task.yVal = file("y_val.npy", npy("|u1", "(2,)", "\0\0"s));
    task.xTest = file("x_test.npy", npy("|u1", "(1,)", "\1"s));
    task.yTest = file("y_test.npy", npy("|u1", "(1,)", "\1"s));
    QStringList notes;
    for (const Message& note : makeDataset(task, 0)->notes())
        notes << QString::fromStdString(note.english());
    QVERIFY2(notes.contains("These classes have no sample to validate on, so the accuracy tells "
                            "nothing about them: 1."),
             qPrintable(notes.join('\n')));
}

} // namespace tst_array_notes

QTEST_APPLESS_MAIN(tst_array_notes::TestArrayNotes)
#include "tst_array_notes.moc"
