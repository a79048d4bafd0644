// Times in seconds, days and long ids, whose differences float32 rounds away: tables and arrays of
// float64 are standardised before they are rounded, and users are told where they are not. Inputs
// of tables that fp16 cannot hold.
#include "engine/data/csv_columns.h"
#include "engine/data/dataset.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tst_large_numbers {

using namespace halfscope;

namespace {

using Floats = std::vector<float>;
using Number = std::function<double(int)>;

constexpr int kTrained = 64, kJudged = 16, kAll = kTrained + kJudged;

Floats floatsOf(const Dataset& data, Split split, size_t tensor) {
    const Batch batch = allOf(data, split);
    const auto values = batch.floats(tensor);
    return {values.begin(), values.end()};
}

/// Returns the numbers from `first` to `end` in the scale of those to train on, rounded once.
Floats wanted(const Number& number, int first, int end) {
    // relative to the first number, all sums are exact or nearly so
    const auto at = [&](int i) { return number(i) - number(0); };
    double mean = 0, squares = 0;
    for (int i = 0; i < kTrained; ++i)
        mean += at(i) / kTrained;
    for (int i = 0; i < kTrained; ++i)
        squares += (at(i) - mean) * (at(i) - mean) / kTrained;
    Floats values;
    for (int i = first; i < end; ++i)
        values.push_back(static_cast<float>((at(i) - mean) / std::sqrt(squares)));
    return values;
}

/// Returns by how much values may differ: the mean is a float64 sum of terms of this size, and the
/// deviation of kTrained steps is 18.5 of them.
double boundOf(double first, double step) {
    return kTrained * 0x1p-53 * first / (18 * step) + 1e-6; // 1e-6: rounded to float32
}

bool agree(const Floats& found, const Floats& values, double bound) {
    return std::ranges::equal(found, values, [bound](float a, float b) {
        return std::abs(double{a} - double{b}) <= bound;
    });
}

QStringList notesOf(const Dataset& data, const char* with = "float32 rounds much") {
    QStringList notes;
    for (const Message& note : data.notes())
        notes << QString::fromStdString(note.english());
    return notes.filter(with);
}

std::string text(double number) { return QByteArray::number(number, 'f', 12).toStdString(); }

std::string doubles(const Number& number, int first, int end) {
    std::string bytes;
    for (int i = first; i < end; ++i)
        bytes += bytesOfValues<double>({number(i)});
    return npy("<f8", "(" + std::to_string(end - first) + ",)", bytes);
}

} // namespace

class TestLargeNumbers : public QObject {
    Q_OBJECT

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void tables_data() { numbers(); }
    void tables();
    void arrays_data() { numbers(); }
    void arrays();
    void wholeNumbers();
    void meansOfGaps();
    void notesOfTables();
    void notesOfArrays();
    void inputsBeyondHalf();

private:
    static void numbers();
    std::string file(const char* name, const std::string& bytes) const {
        return writeBytes(m_folder->filePath(QLatin1String(name)).toStdString(), bytes);
    }
    /// Writes lines of a number as input and the same number as target.
    std::string table(const char* name, const Number& number, int first, int end) const {
        std::string lines = "t,y\n";
        for (int i = first; i < end; ++i)
            lines += text(number(i)) + "," + text(number(i)) + "\n";
        return file(name, lines);
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestLargeNumbers::numbers() {
    QTest::addColumn<double>("first");
    QTest::addColumn<double>("step");
    QTest::newRow("seconds since 1970") << 1.6e9 << 1.0;
    QTest::newRow("milliseconds since 1970") << 1.6e12 << 7.0;
    QTest::newRow("Julian dates") << 2459000.5 << 0.0625;
    QTest::newRow("parts of a second") << 1.6e9 << 0.0009765625;
}

/// In all parts of the data, each line keeps its own value.
void TestLargeNumbers::tables() {
    QFETCH(const double, first);
    QFETCH(const double, step);
    const Number number = [=](int i) { return first + step * (i * 7 % 64 + i / 64); };
    const double bound = boundOf(first, step);
    TaskConfig task;
    task.kind = TaskKind::Csv;
    task.path = table("train.csv", number, 0, kTrained);
    task.validationPath = table("valid.csv", number, kTrained, kAll - 4);
    task.testPath = table("test.csv", number, kAll - 4, kAll);
    task.standardise = task.standardiseTarget = true;
    const auto data = makeDataset(task, 0);
    for (const size_t tensor : {kX, kTarget}) {
        QVERIFY(agree(floatsOf(*data, Split::Train, tensor), wanted(number, 0, kTrained), bound));
        QVERIFY(agree(floatsOf(*data, Split::Validation, tensor),
                      wanted(number, kTrained, kAll - 4), bound));
        QVERIFY(agree(floatsOf(*data->test(), Split::Validation, tensor),
                      wanted(number, kAll - 4, kAll), bound));
    }
    QCOMPARE(notesOf(*data), QStringList());
    task.predictFile = task.testPath;
    QVERIFY(agree(floatsOf(*makeDataset(task, 0), Split::Validation, kX),
                  wanted(number, kAll - 4, kAll), bound));
}

void TestLargeNumbers::arrays() {
    QFETCH(const double, first);
    QFETCH(const double, step);
    const Number number = [=](int i) { return first + step * (i * 7 % 64 + i / 64); };
    const double bound = boundOf(first, step);
    TaskConfig task;
    task.kind = TaskKind::Arrays;
    task.x = file("x.npy", doubles(number, 0, kTrained));
    task.y = file("y.npy", doubles(number, 0, kTrained));
    task.xVal = file("x_val.npy", doubles(number, kTrained, kAll));
    task.yVal = file("y_val.npy", doubles(number, kTrained, kAll));
    task.standardiseX = task.standardiseTarget = true;
    const auto data = makeDataset(task, 0);
    for (const size_t tensor : {kX, kTarget}) {
        QVERIFY(agree(floatsOf(*data, Split::Train, tensor), wanted(number, 0, kTrained), bound));
        QVERIFY(agree(floatsOf(*data, Split::Validation, tensor), wanted(number, kTrained, kAll),
                      bound));
    }
    QCOMPARE(data->targetScale().spreads()[0].deviation,
             factsOf(task).targetScale.spreads()[0].deviation);
    task.predictFile = task.xVal;
    QVERIFY(agree(floatsOf(*makeDataset(task, 0), Split::Validation, kX),
                  wanted(number, kTrained, kAll), bound));
}

/// A value that float32 holds has the bits that it always had.
void TestLargeNumbers::wholeNumbers() {
    TaskConfig task;
    task.kind = TaskKind::Csv;
    task.validation = 0;
    task.path = file("small.csv", "a,y\n1,0\n2.5,1\n-7,2\n1024,3\n");
    const Floats values{1, 2.5f, -7, 1024};
    const auto data = makeDataset(task, 0);
    double mean = 0, squares = 0;
    for (const float value : values)
        mean += double{value} / 4;
    for (const float value : values)
        squares += (double{value} - mean) * (double{value} - mean) / 4;
    const double factor = 1 / std::sqrt(squares);
    Floats made;
    for (const float value : values)
        made.push_back(static_cast<float>((double{value} - mean) * factor));
    QCOMPARE(floatsOf(*data, Split::Train, kX), made);
}

/// The sum of equal numbers is rounded, but their mean is no other number: such a column stays 0.
void TestLargeNumbers::meansOfGaps() {
    TaskConfig task;
    task.kind = TaskKind::Csv;
    task.validation = 0;
    task.missing = Missing::Mean;
    task.path = file("gaps.csv", "a,b,y\n0.1,1,0\n0.1,2,1\n0.1,3,2\nNA,4,3\n");
    const Floats x = floatsOf(*makeDataset(task, 0), Split::Train, kX);
    for (size_t i = 0; i < x.size(); i += 2)
        QCOMPARE(x[i], 0.0f);
}

/// Without standardising, the columns that lose much are named.
void TestLargeNumbers::notesOfTables() {
    const auto of = [this](double first, double step, bool standardise) {
        std::string lines = "n,when,y\n";
        for (int i = 0; i < kTrained; ++i)
            lines += std::to_string(i * 7 % 10) + "," + text(first + step * (i * 7 % 64)) + ",1\n";
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = file("table.csv", lines);
        task.standardise = standardise;
        task.validation = 0;
        return notesOf(*makeDataset(task, 0));
    };
    const QStringList told{"The numbers of these inputs are so large beside their differences that "
                           "float32 rounds much of the differences away: when; to keep them, set "
                           "data.standardise to true."};
    QCOMPARE(of(1.6e9, 1, false), told);
    QCOMPARE(of(1.6e9, 1, true), QStringList());
    QCOMPARE(of(20000, 1, false), QStringList());
    // near 10e6, float32 holds whole numbers: 1 is a hundredth of a deviation of 100, and that of
    // the 64 steps is 18.5 of them
    QCOMPARE(of(10e6, 5, false), told);
    QCOMPARE(of(10e6, 6, false), QStringList());
}

void TestLargeNumbers::notesOfArrays() {
    const auto of = [this](const char* type, const std::string& bytes, const char* shape) {
        TaskConfig task;
        task.kind = TaskKind::Arrays;
        task.x = file("x.npy", npy(type, shape, bytes));
        task.y = file("y.npy", npy("<f4", "(4,)", bytesOfValues<float>({0, 0.5, 1, 0.25})));
        task.validation = 0;
        QStringList notes = notesOf(*makeDataset(task, 0));
        task.standardiseX = true;
        return notesOf(*makeDataset(task, 0)).isEmpty() ? notes : QStringList("always");
    };
    const QString told = "The numbers of these inputs are so large beside their differences that "
                         "float32 rounds much of the differences away: %1; to keep them, set "
                         "data.standardise_x to true.";
    const std::string times = bytesOfValues<double>({1, 1.6e9, 2, 1.6e9 + 1, 3, 1.6e9 + 2, 4, 1e9});
    QCOMPARE(of("<f8", times, "(4, 2)"), QStringList());
    const std::string near =
        bytesOfValues<double>({1, 1.6e9, 2, 1.6e9 + 1, 3, 1.6e9 + 2, 4, 1.6e9});
    QCOMPARE(of("<f8", near, "(4, 2)"), QStringList(told.arg("x[:, 1]")));
    const std::string whole = bytesOfValues<int64_t>({100000001, 100000003, 100000002, 100000004});
    QCOMPARE(of("<i8", whole, "(4,)"), QStringList(told.arg("x")));
    // of float32 nothing more can be known
    const std::string floats = bytesOfValues<float>({1e8f, 1e8f + 8, 1e8f, 1e8f + 8});
    QCOMPARE(of("<f4", floats, "(4,)"), QStringList());
}

/// The column with the largest value is named, and the setting that a table has.
void TestLargeNumbers::inputsBeyondHalf() {
    const auto told = [this](const char* largest, bool standardise) {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = file("t.csv", std::string("a,b,y\n1,2,3\n4,") + largest + ",6\n7,8.5,9\n");
        task.validation = 0;
        task.standardise = standardise;
        return notesOf(*makeDataset(task, 0), "fp16");
    };
    QCOMPARE(told("-70000", false),
             QStringList("Values of \"b\" reach 70000, and fp16 ends at 65,504: where a lane casts "
                         "them to fp16, they become inf. To make the values fit, set "
                         "data.standardise to true."));
    QCOMPARE(told("65504", false), QStringList());
    QCOMPARE(told("70000", true), QStringList());
}

} // namespace tst_large_numbers

QTEST_GUILESS_MAIN(tst_large_numbers::TestLargeNumbers)
#include "tst_large_numbers.moc"
