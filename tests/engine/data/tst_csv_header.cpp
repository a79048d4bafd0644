// Tables whose first line is a sample: how they are told, and how they are read.
#include "engine/data/csv_columns.h"
#include "engine/data/csv_fields.h"
#include "engine/data/csv_header.h"
#include "engine/data/table_python.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

namespace tst_csv_header {

using namespace halfscope;

class TestCsvHeader : public QObject {
    Q_OBJECT

private slots:
    void told_data();
    void told();
    void theFirstLineIsASample();
    void placesInTheFile();
    void blankLinesBefore();
    void tabsBeforeThatCount();
    void emptyLines();
    void namesThatAreRepeated();
    void namesOfInputs();
    void namesOfSeveralLines();
    void bytesThatAreNoText();
    void opened();
    void textsOpened();
    void givenSetting();
    void scikitLearn();
    void oneColumn();
    void zeroBytes();
    void unmatchedMark();

private:
    std::string write(const std::string& name, const std::string& text) {
        const std::string path = m_folder.filePath(QString::fromStdString(name)).toStdString();
        writeBytes(path, text);
        return path;
    }
    TaskConfig headless(const std::string& text) {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = write("table.csv", text);
        task.header = false;
        task.validation = 0;
        task.standardise = false;
        task.loss.kind = LossKind::Mse;
        return task;
    }
    QTemporaryDir m_folder;
};

void TestCsvHeader::told_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("names");
    const auto row = [](const char* name, const QByteArray& text, bool names) {
        QTest::newRow(name) << text << names;
    };
    row("usual names", "a,b,y\n1,2,x\n3,4,y\n", true);
    row("iris", "5.1,3.5,setosa\n4.9,3.0,setosa\n6.1,2.9,virginica\n", false);
    row("fraction above words", "0.5,a\nx,1\ny,2\n", true);
    row("decimal comma", "5,1;3;2\n4,9;2;1\n", false);
    row("digits of mnist", "5,0,0,0,255\n1,0,0,9,0\n", false);
    row("years", "2001,2002,2003\n5,6,7\n8,9,1\n", true);
    row("numbers of columns", "0,1,2\n5,6,7\n8,9,1\n", true);
    row("falling numbers above words", "3,2\na,b\nc,d\n", true);
    row("adult", "39, State-gov, <=50K\n50, Private, >50K\n38, State-gov, <=50K\n", false);
    row("names and lines", "Ann,1,yes\nBob,2,no\nEve,3,yes\n", false);
    row("a word of one column alone", "colour,red\nblue,red\nblue,green\ngreen,red\n", true);
    row("a missing value", "?,b,1\nc,b,2\nc,d,3\n", false);
    row("index of pandas", ",b,c\n0,b,1\n1,b,2\n", true);
    row("index of R above numbers", ",16.5,17\n71,0,4\n70,1,5\n", true);
    row("names above different numbers", "a,b\n1,b\n2,b\n", true);
    row("number above words", "1,b\nx,b\ny,b\n", true);
    QByteArray doors = "2,low\n"; // of cars
    for (int i = 0; i < 12; ++i)
        doors += "2,low\n3,high\nmore,low\n";
    row("number among words", doors, false);
    row("one line", "a,b\n", true);
    row("one line of numbers", "3,1\n", true);
    row("nothing", "", true);
    row("damaged", "\"a,b\n", true);
}

void TestCsvHeader::told() {
    QFETCH(const QByteArray, text);
    QFETCH(const bool, names);
    QCOMPARE(namesColumns(write("told.csv", text.toStdString())), names);
}

void TestCsvHeader::theFirstLineIsASample() {
    const TaskConfig task = headless("1,red,7\n2,blue,8\n3,red,9\n");
    const auto data = makeDataset(task, 0);
    const Batch batch = allOf(*data, Split::Train);
    const auto x = batch.floats(kX), y = batch.floats(kTarget);
    QCOMPARE(std::vector<float>(x.begin(), x.end()),
             (std::vector<float>{1, 0, 1, 2, 1, 0, 3, 0, 1})); // blue, red
    QCOMPARE(std::vector<float>(y.begin(), y.end()), (std::vector<float>{7, 8, 9}));
    QCOMPARE(columnNames(task), (std::vector<std::string>{"c1", "c2", "c3"}));
    QCOMPARE(data->notes().at(1).english(), Message(kNoHeader).english());
    TaskConfig first = task;
    first.target = "c1";
    first.drop = "c2";
    const auto other = makeDataset(first, 0);
    QCOMPARE(allOf(*other, Split::Train).floats(kTarget)[0], 1.0f);
    QCOMPARE(other->tensors()[kX].shape, (Shape{1}));
}

/// They are skipped wherever they stand, but counted.
void TestCsvHeader::emptyLines() {
    const auto named = [this](const std::string& text) {
        TaskConfig task = headless(text);
        task.header = true;
        return task;
    };
    for (const char* text : {"\n \na,b\n1,2\n\n3,4\n \n",
                             "\xEF\xBB\xBF\r\na,b\r\n1,2\r\n\r\n3,4\r\n", "\na b\n\n1 2\n3 4\n"})
        QCOMPARE(makeDataset(named(text), 0)->samples(Split::Train), int64_t{2});
    const TaskConfig task = named("\na,b\n\n1,2\nx,3\n");
    const auto error = thrownBy<InputError>([&] { makeDataset(task, 0); });
    QVERIFY2(error.starts_with(task.path + ", line 5: \"x\""), error.c_str());
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(named("\n\n"), 0); }),
             task.path + ": the file is empty; its first line must name the columns");
}

/// Each column can be named: the second one of a name has a number, as pandas gives it.
void TestCsvHeader::namesThatAreRepeated() {
    TaskConfig task = headless("size,size.1,size,y,size\n1,2,3,4,5\n6,7,8,9,10\n");
    task.header = true;
    QCOMPARE(columnNames(task),
             (std::vector<std::string>{"size", "size.1", "size.2", "y", "size.3"}));
    task.target = "size.2";
    task.drop = "size, y";
    const auto data = makeDataset(task, 0);
    const Batch batch = allOf(*data, Split::Train);
    const auto x = batch.floats(kX), y = batch.floats(kTarget);
    QCOMPARE(std::vector<float>(x.begin(), x.end()), (std::vector<float>{2, 5, 7, 10}));
    QCOMPARE(std::vector<float>(y.begin(), y.end()), (std::vector<float>{3, 8}));
    QCOMPARE(data->notes().at(1).english(),
             std::string("Names of columns stand in the first line more than once; those after "
                         "the first are called: size.2, size.3."));
    const std::string python = readTablePython(task);
    QVERIFY2(python.find("names = [\"size\", \"size.1\", \"size.2\", \"y\", \"size.3\"]") !=
                 std::string::npos,
             python.c_str());
    QVERIFY(readTablePython(headless("a,b\n1,2\n")).find("names = [\"") == std::string::npos);
}

/// A column may be called as the word of another one; what reads a model tells inputs by their
/// names.
void TestCsvHeader::namesOfInputs() {
    TaskConfig task = headless("Sex,Sex_male,y\nmale,1,2\nfemale,0,3\n");
    task.header = true;
    const std::vector<std::string> names{"Sex_male", "Sex_female", "Sex_male.1"};
    QCOMPARE(makeDataset(task, 0)->inputNames(), names);
    QCOMPARE(factsOf(task).inputNames, names);
    task.path = write("words.csv", "a,a_b,y\nb_c,c,1\nd,e,2\n"); // words of two columns
    QCOMPARE(makeDataset(task, 0)->inputNames(),
             (std::vector<std::string>{"a_b_c", "a_d", "a_b_c.1", "a_b_e"}));
}

/// Programs read tables of an older encoding byte by byte, as Halfscope does.
void TestCsvHeader::bytesThatAreNoText() {
    const std::string reads = "encoding=\"utf-8-sig\", errors=\"surrogateescape\"";
    TaskConfig task = headless("a,y\nm\xfchle,1\nhaus,2\n");
    task.header = true;
    task.validationPath = write("valid.csv", "a,y\nm\xfchle,1\n");
    const std::string code = infoOf(task.kind).python(task, 1).code;
    size_t files = 0;
    for (size_t at = code.find("utf-8-sig"); at != code.npos; at = code.find("utf-8-sig", at + 1))
        ++files;
    QCOMPARE(files, size_t{2});
    const size_t first = code.find(reads);
    QVERIFY2(first != code.npos && code.find(reads, first + 1) != code.npos, code.c_str());
}

/// A name of several lines stands on one, so that settings can name its column.
void TestCsvHeader::namesOfSeveralLines() {
    TaskConfig task =
        headless("\"in\r\ncome\",\" the\ttarget\n\",\"row\n\nid\",z\n1,2,3,4\n5,6,7,8\n");
    task.header = true;
    QCOMPARE(columnNames(task), (std::vector<std::string>{"in come", "the target", "row id", "z"}));
    task.target = "the target";
    task.drop = "row id";
    const auto data = makeDataset(task, 0);
    const Batch batch = allOf(*data, Split::Train);
    const auto x = batch.floats(kX), y = batch.floats(kTarget);
    QCOMPARE(std::vector<float>(x.begin(), x.end()), (std::vector<float>{1, 4, 5, 8}));
    QCOMPARE(std::vector<float>(y.begin(), y.end()), (std::vector<float>{2, 6}));
    for (const Message& note : data->notes())
        QVERIFY2(note.english().find("UTF-8") == std::string::npos, note.english().c_str());
    QVERIFY(readTablePython(task).find(
                "names = [\"in come\", \"the target\", \"row id\", \"z\"]") != std::string::npos);
}

/// Messages count the lines of the file.
void TestCsvHeader::placesInTheFile() {
    const TaskConfig task = headless("1,2\nx,3\n");
    const auto error = thrownBy<InputError>([&] { makeDataset(task, 0); });
    QVERIFY2(error.starts_with(task.path + ", line 2: \"x\""), error.c_str());
    const auto gap = thrownBy<InputError>([&] { makeDataset(headless(",2\n1,3\n"), 0); });
    QVERIFY2(gap.starts_with(task.path + ", line 1: "), gap.c_str());
    const auto fields = thrownBy<InputError>([&] { makeDataset(headless("1,2\n1\n"), 0); });
    QVERIFY2(
        fields.ends_with("line 2: the number of fields in \"1\" is 1, but must be 2, as in the "
                         "first line; empty lines are skipped"),
        fields.c_str());
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(headless(""), 0); }),
             task.path + ": the file is empty");
}

void TestCsvHeader::blankLinesBefore() {
    const auto data = makeDataset(headless(" , \n1,2\n3,4\n"), 0);
    QCOMPARE(data->samples(Split::Train), int64_t{2});
}

/// Each line of a table to predict has a prediction, also a first one that lacks all values.
void TestCsvHeader::tabsBeforeThatCount() {
    const std::string path = write("new.tsv", "  \n\t\t\n1\t2\t3\n\t\t\n");
    CsvFile kept(path, false, CsvFile::BlankLines::Kept);
    QCOMPARE(kept.readHeader().size(), size_t{3});
    int lines = 0;
    while (kept.next())
        ++lines;
    QCOMPARE(lines, 3);
    CsvFile leftOut(path, false);
    QCOMPARE(leftOut.readHeader().size(), size_t{3});
    QVERIFY(leftOut.next());
    QVERIFY(!leftOut.next());
}

/// Opening a table without names trains on all of its lines.
void TestCsvHeader::opened() {
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i) + ".5," + std::to_string(i % 7) + (i % 2 ? ",odd\n" : ",even\n");
    for (const char* name : {"numbers.csv", "numbers.data"}) {
        const auto config = experimentOn(write(name, text), {});
        QVERIFY2(config, name);
        QCOMPARE(config->task.kind, TaskKind::Csv);
        QVERIFY(!config->task.header);
        const auto data = makeDataset(config->task, 0);
        QCOMPARE(data->samples(Split::Train) + data->samples(Split::Validation), int64_t{60});
        QCOMPARE(data->tensors()[kTarget].classes, int64_t{2});
    }
    QVERIFY(experimentOn(write("named.csv", "a,b,c\n" + text), {})->task.header);
}

void TestCsvHeader::textsOpened() {
    std::string text;
    for (int i = 0; i < 120; ++i)
        text += std::string(i % 2 ? "a good" : "a bad") + " film of the year 19" +
                std::to_string(i) + (i % 2 ? ",up\n" : ",down\n");
    const auto config = experimentOn(write("reviews.csv", text), {});
    QCOMPARE(config->task.kind, TaskKind::TextClasses);
    QVERIFY(!config->task.header);
    QCOMPARE(config->task.textColumn, std::string("c1"));
    const auto data = makeDataset(config->task, 0);
    QCOMPARE(data->samples(Split::Train) + data->samples(Split::Validation), int64_t{120});
    const auto notes = data->notes();
    QVERIFY(std::ranges::any_of(
        notes, [](const Message& note) { return note.english() == Message(kNoHeader).english(); }));
}

/// What is given wins over what the first line looks like.
void TestCsvHeader::givenSetting() {
    const std::string path = write("given.csv", "0.5,2\n1,2\n3,4\n5,6\n7,9\n");
    const Assignment given = parseAssignment("data.header=true");
    QVERIFY(experimentOn(path, {&given, 1})->task.header);
    QVERIFY(!experimentOn(path, {})->task.header);
}

/// The first line of scikit-learn's own tables says how many samples and features follow.
void TestCsvHeader::scikitLearn() {
    for (const bool many : {false, true}) { // classes, so that the lines have as many fields or not
        const std::string classes = many ? ",setosa,versicolor,virginica\n" : ",setosa,virginica\n";
        const std::string path = write("iris.csv", "150,3" + classes + "5.1,3.5,2,0\n4.9,3,1,1\n");
        QCOMPARE(thrownBy<InputError>([&] { experimentOn(path); }),
                 path + ": the first line counts samples, 150, and features, 3, and names the "
                        "classes, as in scikit-learn's own tables; write the names of the columns "
                        "in its place, or remove it");
    }
    // other numbers of fields, and words
    for (const char* lines : {"5.1,3.5\n", "5.1,3.5,x\n"}) {
        const std::string path = write("other.csv", std::string("150,2,a,b\n") + lines);
        const std::string error = thrownBy<InputError>([&] { experimentOn(path); });
        QVERIFY2(error.find("but must be 4, as in the first line") != error.npos, error.c_str());
    }
    TaskConfig sample = headless("150,2,low\n160,3,high\n170,4,low\n");
    sample.loss.kind = LossKind::CrossEntropy;
    QCOMPARE(makeDataset(sample, 0)->samples(Split::Train), int64_t{3});
}

/// Without a header, the refused line is the file's own, not the name that stands for it.
void TestCsvHeader::oneColumn() {
    TaskConfig task = headless("1\n2\n3\n");
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             task.path + ", line 1: \"1\" is one column, which is not enough; a line must have 2 "
                         "to 100000, with commas, semicolons, tabs or spaces between them");
}

/// A line that is no text is refused wherever it stands, and no column is left out for it.
void TestCsvHeader::zeroBytes() {
    using namespace std::string_literals;
    const TaskConfig task = headless("1,2\n3,4\n\0005,6\n"s);
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             task.path + ", line 3: it has a zero byte, which no text has");
    const std::string named = write("named.csv", "a,b,y\n1,2,3\n4\0,5,6\n7,8,9\n"s);
    QCOMPARE(thrownBy<InputError>([&] { experimentOn(named, {}); }),
             named + ", line 3: it has a zero byte, which no text has");
}

void TestCsvHeader::unmatchedMark() {
    TaskConfig task = headless("1,2,3\n4,5,6\n");
    task.drop = "\"c1";
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             std::string("data.drop: \"\"c1\" has an unmatched quotation mark"));
    task.drop = "\"c1\"";
    QCOMPARE(makeDataset(task, 0)->tensors()[kX].shape, (Shape{1}));
}

} // namespace tst_csv_header

QTEST_GUILESS_MAIN(tst_csv_header::TestCsvHeader)
#include "tst_csv_header.moc"
