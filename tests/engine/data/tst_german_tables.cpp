// Tables as German spreadsheet programs write them: a line for Excel that names the separator,
// decimal commas, points between thousands, and words where there is no number.
#include "engine/data/csv_columns.h"
#include "engine/data/csv_fields.h"
#include "engine/data/dataset.h"
#include "engine/settings/data_experiment.h"
#include "tests/support/array_files.h"
#include "tests/support/split_values.h"
#include "tests/support/utf16.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_german_tables {

using namespace halfscope;
using namespace halfscope::split_values;
using namespace halfscope::test;

class TestGermanTables : public QObject {
    Q_OBJECT

private slots:
    void separatorLine_data();
    void separatorLine();
    void thousands_data();
    void thousands();
    void tabs_data();
    void tabs();
    void tabsBeside();
    void unicodeText();
    void otherMarks_data();
    void otherMarks();
    void otherMarksAmongWords();
    void gapWords();
    void gapWordsAmongWords();
    void gapWordsOfTargets();
    void gapWordsBeside();
    void programs();

private:
    std::string write(const std::string& name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(QString::fromStdString(name)).toStdString(), bytes);
    }
    TaskConfig csv(const std::string& text, const std::string& name = "t.csv") const {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = write(name, text);
        task.loss.kind = LossKind::Mse;
        task.validation = 0;
        task.standardise = false;
        return task;
    }
    static QStringList notesOf(const TaskConfig& task) {
        QStringList notes;
        for (const Message& note : makeDataset(task, 0)->notes())
            notes << QString::fromStdString(note.english());
        return notes;
    }
    static QString programOf(const TaskConfig& task) {
        return QString::fromStdString(infoOf(task.kind).python(task, 1).code);
    }
    QTemporaryDir m_folder;
};

void TestGermanTables::separatorLine_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("header");
    const auto row = [](const char* what, const char* text, bool header = true) {
        QTest::newRow(what) << QByteArray(text) << header;
    };
    row("semicolons", "sep=;\na;b;y\n1;2,5;3\n4;5;6\n");
    row("of Windows", "\xEF\xBB\xBFsep=;\r\na;b;y\r\n1;2,5;3\r\n4;5;6\r\n");
    row("quoted", "\"sep=;\"\na;b;y\n1;2,5;3\n4;5;6\n");
    row("commas", "sep=,\na,b,y\n1,2.5,3\n4,5,6\n");
    row("tabs", "sep=\t\na\tb\ty\n1\t2.5\t3\n4\t5\t6\n");
    row("more of another kind", "sep=;\na,1,2,3;b;y\n1;2,5;3\n4;5;6\n");
    row("no header", "sep=;\n1;2,5;3\n4;5;6\n", false);
}

/// The line names the separator, whatever else the next one has, and is no line of the table.
void TestGermanTables::separatorLine() {
    QFETCH(const QByteArray, text);
    QFETCH(const bool, header);
    TaskConfig task = csv(text.toStdString());
    task.header = header;
    QCOMPARE(inputsOf(*makeDataset(task, 0), Split::Train), (Floats{1, 2.5f, 4, 5}));
    QCOMPARE(targetsOf(*makeDataset(task, 0), Split::Train), (Floats{3, 6}));
    QVERIFY(programOf(task).contains("\n    del rows[0]  # sep=\n"));
    CsvFile file = tableOf(task);
    file.readHeader();
    QVERIFY(file.next());
    QVERIFY2(file.place().ends_with(header ? "line 3" : "line 2"), file.place().c_str());
}

void TestGermanTables::thousands_data() {
    QTest::addColumn<double>("value");
    for (const auto& [text, value] :
         std::initializer_list<std::pair<const char*, double>>{{"1.522,29", 1522.29},
                                                               {"-1.522,29", -1522.29},
                                                               {"+12.345.678,5", 12345678.5},
                                                               {"522,29", 522.29},
                                                               {"1.5", 1.5},
                                                               {"1.522", 1.522}, // either
                                                               {"0.522,29", NAN},
                                                               {"1.52,29", NAN},
                                                               {"1234.567,8", NAN},
                                                               {"1.234,567.8", NAN},
                                                               {"1,234.5", NAN},
                                                               {"1.234,", NAN},
                                                               {"1.234,5 kg", NAN}})
        QTest::newRow(text) << value;
}

void TestGermanTables::thousands() {
    QFETCH(const double, value);
    const char* text = QTest::currentDataTag();
    const double read = numberOf(text, true);
    QVERIFY2(std::isnan(value) ? std::isnan(read) : read == value,
             qPrintable(QString::number(read)));
    QCOMPARE(std::isnan(numberOf("1.522,29", false)), true);
}

void TestGermanTables::tabs_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("commas");
    const auto row = [](const char* what, const char* text, bool commas) {
        QTest::newRow(what) << QByteArray(text) << commas;
    };
    row("decimal commas", "a\ty\n1,5\t2\n3\t4\n", true);
    row("with points between thousands", "a\ty\n1.234,5\t2\n3\t4\n", true);
    row("in quotation marks", "a\ty\n\"1,5\"\t2\n3\t4\n", true);
    row("below 1", "a\ty\n0,125\t2\n3\t4\n", true);
    row("negative", "a\ty\n-0,125\t2\n3\t4\n", true);
    row("points", "a\ty\n1.5\t2\n3\t4\n", false);
    row("thousands alone", "a\ty\n1,234\t2\n3\t4\n", false);
    row("thousands and points", "a\ty\n1,234\t2.5\n3\t4\n", false);
    row("more points", "a\tb\ty\n1,5\t2.5\t3.5\n3\t4.5\t4\n", false);
}

void TestGermanTables::tabs() {
    QFETCH(const QByteArray, text);
    QFETCH(const bool, commas);
    CsvFile file = tableOf(csv(text.toStdString(), "t.tsv"));
    file.readHeader();
    QCOMPARE(file.commas(), commas);
    if (commas)
        QCOMPARE(
            notesOf(csv(text.toStdString(), "t.tsv")).mid(1, 1),
            QStringList("The columns are separated by tabs, and numbers have decimal commas."));
}

/// The table to train on tells the decimal mark of another one, which may have too few numbers.
void TestGermanTables::tabsBeside() {
    TaskConfig task = csv("a\ty\n1,5\t2\n3\t4\n", "t.tsv");
    task.validationPath = write("val.tsv", "a\ty\n1,234\t5\n");
    QCOMPARE(inputsOf(*makeDataset(task, 0), Split::Validation), (Floats{1.234f}));
}

/// Excel calls such a table Unicode text; a text with a tab somewhere below is none.
void TestGermanTables::unicodeText() {
    const std::string table = "gr\xC3\xB6\xC3\x9F"
                              "e\ta, b\ty\r\n1,5\t2\t1.522,5\r\n2,5\t3\t7,5\r\n";
    const std::string path = write("Mappe1.txt", markedUtf16(table));
    QVERIFY(isUnicodeTable(path));
    const auto config = experimentOn(path);
    QVERIFY(config);
    QCOMPARE(config->task.kind, TaskKind::Csv);
    QCOMPARE(config->title, std::string("Mappe1"));
    TaskConfig task = csv("");
    task.path = path;
    QCOMPARE(inputsOf(*makeDataset(task, 0), Split::Train), (Floats{1.5f, 2, 2.5f, 3}));
    QCOMPARE(targetsOf(*makeDataset(task, 0), Split::Train), (Floats{1522.5f, 7.5f}));
    QVERIFY(!isUnicodeTable(write("text.txt", markedUtf16("A text.\n\tAnd more.\n"))));
    QVERIFY(!isUnicodeTable(write("plain.txt", "a\tb\n1\t2\n")));
    QVERIFY(!isUnicodeTable(write("Mappe1.csv", markedUtf16(table))));
    QVERIFY(!isUnicodeTable(m_folder.filePath("none.txt").toStdString()));
}

void TestGermanTables::otherMarks_data() {
    QTest::addColumn<QByteArray>("first");
    QTest::addColumn<QByteArray>("others");
    QTest::addColumn<QByteArray>("drop");
    const auto row = [](const char* what, const char* first, const char* others, const char* drop) {
        QTest::newRow(what) << QByteArray(first) << QByteArray(others) << QByteArray(drop);
    };
    row("all of one kind", "1.522,29;2,5;3,5", "522,29;1,5;2,5", "");
    row("both in a column", "1.522;2,5;3,5", "522,29;1,5;2,5", "a");
    row("points alone in a column", "1.522;2,5;3,5", "522;1,5;2,5", "a");
    row("commas alone in a column", "1,5;2.5;3.5", "522;1.5;2.5", "a");
    row("the target decides", "1.5;2.5;3,5", "1.5;1.5;2,5", ""); // no other input would be left
}

/// The rest of a table with a column of another decimal mark can be used.
void TestGermanTables::otherMarks() {
    QFETCH(const QByteArray, first);
    QFETCH(const QByteArray, others);
    QFETCH(const QByteArray, drop);
    const std::string line = others.toStdString() + '\n';
    TaskConfig task = csv("a;b;y\n" + first.toStdString() + '\n' + line + line);
    task.drop = dropWithUnusable(task);
    QCOMPARE(task.drop, drop.toStdString());
    if (drop.isEmpty()) return;
    QCOMPARE(notesOf(task).filter("data.drop"),
             QStringList("Some numbers have points and others decimal commas, so 1.234 could mean "
                         "either. The setting data.drop leaves out: a. To use these columns, save "
                         "the table with one of the two throughout."));
}

/// In a column of words, numbers are words, and their marks tell nothing.
void TestGermanTables::otherMarksAmongWords() {
    std::string text = "a;b;c;y\n";
    for (int i = 0; i < 10; ++i)
        text += "1.5;1,5;2;3\nred;2,5;3;4\n";
    QCOMPARE(dropWithUnusable(csv(text)), std::string());
}

/// Words that people write where they have no number are missing values, and a note names them.
void TestGermanTables::gapWords() {
    TaskConfig task =
        csv("a;b;y\n1;2;3\nk.A.;5;6\n7;-;9\n10;NA;12\n13;Keine Angabe;15\n16;17;18\n");
    task.missing = Missing::Drop;
    QCOMPARE(inputsOf(*makeDataset(task, 0), Split::Train), (Floats{1, 2, 16, 17}));
    QCOMPARE(notesOf(task).last(),
             QString("Taken for missing values: \"-\", \"Keine Angabe\", \"NA\", \"k.A.\"."));
    task.missing = Missing::Mean;
    QCOMPARE(inputsOf(*makeDataset(task, 0), Split::Train),
             (Floats{1, 2, 9.4f, 5, 7, 8, 10, 8, 13, 8, 16, 17}));
    QVERIFY(notesOf(task).last().startsWith("Taken for missing values: \"-\", "));
    const auto config = experimentOn(task.path);
    QCOMPARE(config->task.drop, std::string());
    QVERIFY(config->task.missing != Missing::Refuse);
}

/// Among words, such a text is a word; among numbers and other words, too.
void TestGermanTables::gapWordsAmongWords() {
    TaskConfig task = csv("a;y\n-;1\nred;2\n-;3\n");
    task.missing = Missing::Drop;
    QCOMPARE(inputsOf(*makeDataset(task, 0), Split::Train), (Floats{1, 0, 0, 1, 1, 0}));
    QVERIFY(notesOf(task).filter("missing").isEmpty());
    QCOMPARE(dropWithUnusable(csv("a;b;y\n1;2;3\n-;5;6\nred;7;8\n")), std::string("a"));
}

/// Lines without a target are left out.
void TestGermanTables::gapWordsOfTargets() {
    TaskConfig task = csv("a;y\n1;2,5\n3;k. A.\n4;5,5\n");
    task.missing = Missing::Mean;
    QCOMPARE(targetsOf(*makeDataset(task, 0), Split::Train), (Floats{2.5f, 5.5f}));
    task.loss.kind = LossKind::CrossEntropy;
    QCOMPARE(makeDataset(task, 0)->view().classes, (std::vector<std::string>{"2,5", "5,5"}));
    task = csv("a;y\n1;yes\n3;-\n4;yes\n");
    task.loss.kind = LossKind::CrossEntropy;
    task.missing = Missing::Drop;
    QCOMPARE(makeDataset(task, 0)->view().classes, (std::vector<std::string>{"-", "yes"}));
}

/// Columns of numbers have no words in the table to train on.
void TestGermanTables::gapWordsBeside() {
    TaskConfig task = csv("a;y\n1;2\n3;4\n5;6\n");
    task.missing = Missing::Drop;
    task.validationPath = write("val.csv", "a;y\n7;8\n-;9\n10;k.A.\n");
    QCOMPARE(inputsOf(*makeDataset(task, 0), Split::Validation), (Floats{7}));
    QCOMPARE(targetsOf(*makeDataset(task, 0), Split::Validation), (Floats{8}));
    QCOMPARE(columnsWithGaps(task), (std::vector<std::string>{"a", "y"}));
}

/// Programs skip the line for Excel, and know such numbers and words, where a table has them.
void TestGermanTables::programs() {
    TaskConfig task = csv("a,y\n1,2\n3,4\n");
    task.missing = Missing::Drop;
    const QString plain = programOf(task);
    for (const char* part : {"sep=", "GAPS", "between thousands", "{GAPS}", "{FIRST}"})
        QVERIFY2(!plain.contains(part), part);
    task = csv("a;y\n1;2\n-;4\n");
    task.missing = Missing::Drop;
    task.validationPath = write("val.csv", "sep=;\na;y\n7;8\n");
    const QString program = programOf(task);
    QVERIFY2(program.contains("\nGAPPY = {\"a\"}\nGAPS = {\"-\", "), qPrintable(program));
    QCOMPARE(program.count("    rows = without_gaps(names, rows)\n"), 2);
    QCOMPARE(program.count("field = field.replace(\".\", \"\")  # between thousands\n"), 1);
    QVERIFY(program.contains("    if rows[0][0].startswith(\"sep=\"):\n        del rows[0]\n"));
    task.missing = Missing::Refuse;
    QVERIFY(!programOf(csv("a;y\n1;2\n-;4\n")).contains("GAPS"));
}

} // namespace tst_german_tables

QTEST_GUILESS_MAIN(tst_german_tables::TestGermanTables)
#include "tst_german_tables.moc"
