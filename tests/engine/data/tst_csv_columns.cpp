// Columns of csv tables: separators, words and truth values as inputs, columns that are left out,
// and the lines of another table as samples without targets.
#include "engine/core/error.h"
#include "engine/data/csv_columns.h"
#include "engine/data/csv_fields.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <clocale>
#include <cmath>

namespace tst_csv_columns {

using namespace halfscope;

namespace {

using Floats = std::vector<float>;

Floats inputsOf(const TaskConfig& task, Split split = Split::Train) {
    const Batch batch = allOf(*makeDataset(task, 0), split);
    const auto x = batch.floats(kX);
    return {x.begin(), x.end()};
}

Floats targetsOf(const TaskConfig& task) {
    const Batch batch = allOf(*makeDataset(task, 0), Split::Train);
    const auto y = batch.floats(kTarget);
    return {y.begin(), y.end()};
}

QStringList notesOf(const TaskConfig& task) {
    QStringList notes;
    for (const Message& note : makeDataset(task, 0)->notes())
        notes << QString::fromStdString(note.english());
    return notes;
}

/// Returns `count` lines "wN,N,0" below a header whose first name is `name`.
std::string tableOfWords(int count, const std::string& name = "w") {
    std::string text = name + ",n,y\n";
    for (int i = 0; i < count; ++i)
        text += "w" + std::to_string(i) + "," + std::to_string(i) + ",0\n";
    return text;
}

constexpr const char* kColours = "colour,size,dry,weight,y\n"
                                 "red,1,True,L,5\n"
                                 "blue,2.5,False,S,6\n"
                                 "red,3,True,M,7\n"
                                 "green,4,False,S,8\n";

} // namespace

class TestCsvColumns : public QObject {
    Q_OBJECT

private slots:
    void separators_data();
    void separators();
    void decimalMarks();
    void quotedFields();
    void words();
    void truths();
    void wordsWithGaps();
    void target();
    void doubtfulTargets();
    void textsThatAreNotUtf8();
    void namesThatAreNumbers();
    void wordsAmongNumbers();
    void numbersAmongWords();
    void manyWords();
    void manyWordsWithoutSetting();
    void manyInputs();
    void dropped();
    void samplesKeepTheirPlaces();
    void numbersInAnyLocale();
    void unnamed();
    void emptyLines();
    void predicts();
    void predictsAsItWasTrained();
    void predictsUnknownWords();
    void listsManyColumns();
    void refusesToPredict();

private:
    std::string file(const char* name, const std::string& text) const {
        return writeBytes(m_folder.filePath(name).toStdString(), text);
    }
    TaskConfig csv(const std::string& text, const char* name = "t.csv") const {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = file(name, text);
        task.validation = 0;
        task.standardise = false;
        return task;
    }
    QTemporaryDir m_folder;
};

void TestCsvColumns::separators_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("note");
    const char *tabs = "The columns are separated by tabs.",
               *spaces = "The columns are separated by spaces.",
               *semicolons = "The columns are separated by semicolons.",
               *decimal =
                   "The columns are separated by semicolons, and numbers have decimal commas.";
    const auto row = [](const char* what, const char* name, const char* text, const char* note) {
        QTest::newRow(what) << QByteArray(name) << QByteArray(text) << QString(note);
    };
    row("commas", "t.csv", "a,b,y\n1,2.5,3\n4,5,6\n", "");
    row("tabs", "t.csv", "a\tb\ty\n1\t2.5\t3\n4\t5\t6\n", tabs);
    row("tsv", "t.TSV", "a\tb\ty\r\n1\t2.5\t3\r\n4\t5\t6\r\n", tabs);
    row("tsv with commas in names", "t.tsv", "a, cm, m\tb, kg, g\ty\n1\t2.5\t3\n4\t5\t6\n", tabs);
    row("tsv with commas", "t.tsv", "a,b,y\n1,2.5,3\n4,5,6\n", "");
    row("semicolons", "t.csv", "a;b;y\n1;2.5;3\n4;5;6\n", semicolons);
    row("decimal commas", "t.csv", "a;b;y\n1;2,5;3\n4,0;5;6,00\n", decimal);
    row("as Excel writes it", "t.csv",
        "\xEF\xBB\xBF"
        "a;\"b\";y\r\n1;2,5;3\r\n4;\"5\";6\r\n",
        decimal);
    row("more of one kind", "t.csv", "a;1,b,y\n1,2.5,3\n4,5,6\n", "");
    row("in quotation marks", "t.csv", "a;\"b, c, d, e\";y\n1;2.5;3\n4;5;6\n", semicolons);
    row("spaces", "t.data", "  a  b y \r\n 1   2.5 3\r\n4\t5 6  \r\n", spaces);
    row("spaces and quotation marks", "t.csv", "a \"b c\" y\n1 \"2.5\" 3\n4 5 \"6\"\n", spaces);
    row("as many of each", "t.csv", "a;,b\t,y;\t\n1,2.5,3\n4,5,6\n", "");
}

/// The separator is found in the header, and a note names it.
void TestCsvColumns::separators() {
    QFETCH(const QByteArray, name);
    QFETCH(const QByteArray, text);
    QFETCH(const QString, note);
    const TaskConfig task = csv(text.toStdString(), name.constData());
    QCOMPARE(inputsOf(task), (Floats{1, 2.5f, 4, 5}));
    QCOMPARE(targetsOf(task), (Floats{3, 6}));
    QCOMPARE(notesOf(task).mid(1), note.isEmpty() ? QStringList() : QStringList(note));
}

/// Points and decimal commas are not mixed: among commas, 1.234 may mean another number.
void TestCsvColumns::decimalMarks() {
    const auto error = [&](const char* text) {
        const TaskConfig task = csv(text);
        return thrownBy<InputError>([&] { makeDataset(task, 0); });
    };
    QVERIFY(error("a;y\n1,5;2\n1.234;3\n")
                .ends_with("line 3: \"1.234\" in the column \"a\" has a point, and numbers before "
                           "it have decimal commas; one of the two is allowed"));
    QVERIFY(error("a;y\n1.5;2\n1;3,5\n")
                .ends_with("line 3: \"3,5\" in the column \"y\" has a decimal comma, and numbers "
                           "before it have points; one of the two is allowed"));
    QVERIFY(error("a;y\n1;2\n1,234.5;3\n")
                .ends_with("line 3: \"1,234.5\" in the column \"a\" is not allowed: a number "
                           "without thousands separators, percent signs and signs of currency; to "
                           "use such values, format their cells as plain numbers in a spreadsheet "
                           "program, and save the table as CSV again"));
    QVERIFY(error("a,y\n1,2.5\n\"1,5\",3\n").find("\"1,5\" in the column") != std::string::npos);
    TaskConfig classes = csv("a;y\n1;10,5\n2;9,5\n");
    classes.loss.kind = LossKind::CrossEntropy; // sorted as numbers
    QCOMPARE(makeDataset(classes, 0)->view().classes, (std::vector<std::string>{"9,5", "10,5"}));
    QVERIFY(!makeDataset(classes, 0)->tensors()[kTarget].wholeClasses);
}

void TestCsvColumns::quotedFields() {
    const TaskConfig task = csv("\xEF\xBB\xBF\"the\n\"\"name\"\";\";\"b\";y\r\n"
                                "\"up\r\ndown\";1;2\r\n\"a;b\";3;4");
    QCOMPARE(inputsOf(task), (Floats{1, 0, 1, 3, 1, 0}));
    QCOMPARE(targetsOf(task), (Floats{2, 4}));
    QVERIFY(thrownBy<InputError>([&] {
                makeDataset(csv("a;b\n\"1\"x;2\n"), 0);
            }).ends_with("has text after a closing quotation mark; only a semicolon may follow"));
    QVERIFY(thrownBy<InputError>([&] {
                makeDataset(csv("a\tb\n\"1\"x\t2\n"), 0);
            }).ends_with("has text after a closing quotation mark; only a tab may follow"));
}

/// The inputs are those of pandas.get_dummies(table.drop(columns="y"), dtype=float) in pandas 3.1:
/// size, dry, colour_blue, colour_green, colour_red, weight_L, weight_M, weight_S.
void TestCsvColumns::words() {
    const TaskConfig task = csv(kColours);
    QCOMPARE(inputsOf(task), (Floats{1,    1, 0, 0, 1, 1, 0, 0, //
                                     2.5f, 0, 1, 0, 0, 0, 0, 1, //
                                     3,    1, 0, 0, 1, 0, 1, 0, //
                                     4,    0, 0, 1, 0, 0, 0, 1}));
    QCOMPARE(targetsOf(task), (Floats{5, 6, 7, 8}));
    QCOMPARE(notesOf(task),
             (QStringList{"The column y is predicted, as a number.",
                          "True and yes are 1, false and no are 0, in the columns: dry.",
                          "Columns of words became an input of 0 and 1 for each word: colour (3), "
                          "weight (3)."}));
}

void TestCsvColumns::truths() {
    QCOMPARE(inputsOf(csv("a,b,y\nyes,TRUE,1\nNo,true,2\n")), (Floats{1, 1, 0, 1}));
    QCOMPARE(inputsOf(csv("a,y\nyes,1\nmaybe,2\n")), (Floats{0, 1, 1, 0})); // words
    QCOMPARE(inputsOf(csv("a,y\nmaybe,2\nyes,1\n")), (Floats{1, 0, 0, 1}));
    TaskConfig task = csv("a,y\n1,no\n2,yes\n");
    task.loss.kind = LossKind::BceWithLogits;
    QCOMPARE(targetsOf(task), (Floats{0, 1}));
    task.loss.kind = LossKind::Mse;
    QVERIFY(thrownBy<InputError>([&] { makeDataset(task, 0); })
                .ends_with("\"no\" in the column \"y\" is not allowed: a finite number; with "
                           "task.loss cross-entropy, each word is a class"));
}

/// Where a word is missing, each word's input is that word's share among the words that are there.
void TestCsvColumns::wordsWithGaps() {
    TaskConfig task = csv("a,b,y\nx,1,1\n,2,2\nz,3,3\nx,4,4\nx,NA,5\n");
    QVERIFY(thrownBy<InputError>([&] {
                makeDataset(task, 0);
            }).find("data.missing to drop or mean") != std::string::npos);
    task.missing = Missing::Mean;
    QCOMPARE(inputsOf(task), (Floats{1, 1, 0, 2, 0.75f, 0.25f, 3, 0, 1, 4, 1, 0, 2.5f, 1, 0}));
    task.missing = Missing::Drop;
    QCOMPARE(inputsOf(task), (Floats{1, 1, 0, 3, 0, 1, 4, 1, 0}));
    // a word that no line has to train on is named; one of the two lines is held back
    task.missing = Missing::Mean;
    task.validation = 0.5;
    std::string errors;
    for (const char* text : {"a,y\nx,1\n,2\n", "a,y\n,1\nx,2\n"}) {
        task.path = csv(text).path;
        errors += thrownBy<InputError>([&] { makeDataset(task, 0); });
    }
    QVERIFY2(errors.find("the column \"a_x\" has no value among the training") != errors.npos,
             errors.c_str());
    // a word that occurs only in dropped lines makes no input
    QCOMPARE(inputsOf([&] {
                 TaskConfig other = csv("a,b,y\nx,1,1\nq,,2\n");
                 other.missing = Missing::Drop;
                 return other;
             }()),
             (Floats{1, 1}));
}

/// What is predicted is told first, as the program understood it.
void TestCsvColumns::target() {
    QCOMPARE(notesOf(csv("a,y\n1,2\n2,3\n")).value(0),
             QString("The column y is predicted, as a number."));
    TaskConfig classes = csv("a,y,b\n1,x,1\n2,z,2\n3,x,3\n");
    classes.loss.kind = LossKind::CrossEntropy;
    classes.target = "y";
    QCOMPARE(notesOf(classes).value(0), QString("The column y is predicted, as one of 2 classes."));
    const QString same = "The column y is predicted, which has one value in all lines: there is "
                         "nothing to learn.";
    QCOMPARE(notesOf(csv("a,y\n1,7\n2,7\n")).value(0), same);
    classes = csv("a,y\n1,x\n2,x\n");
    classes.loss.kind = LossKind::CrossEntropy;
    QCOMPARE(notesOf(classes).value(0), same);
}

/// Spreadsheets may save in the encoding of their system.
void TestCsvColumns::textsThatAreNotUtf8() {
    for (const char* text :
         {"a,y\nm\xfchle,1\nhaus,2\n", "a,y\n1,m\xfchle\n2,haus\n", "m\xfchle,y\n1,1\n2,2\n"}) {
        TaskConfig task = csv(text);
        if (text[4] == '1') task.loss.kind = LossKind::CrossEntropy;
        const QString note = notesOf(task).join('\n');
        QVERIFY2(note.contains("is not text in UTF-8: letters such as those of \"m\\xfchle\" are "
                               "shown as codes. Save it as UTF-8."),
                 qPrintable(note));
    }
    QVERIFY(!notesOf(csv("a,y\nm\xc3\xbchle,1\nhaus,2\n")).join('\n').contains("UTF-8"));
}

/// A typing error makes classes of numbers, and an index of a column makes a class of each line.
void TestCsvColumns::doubtfulTargets() {
    const auto notes = [this](int lines, auto&& value) {
        std::string text = "a,y\n";
        for (int i = 0; i < lines; ++i)
            text += std::to_string(i % 7) + "," + value(i) + "\n";
        TaskConfig task = csv(text);
        task.loss.kind = LossKind::CrossEntropy;
        return notesOf(task);
    };
    const auto typed = notes(30, [](int i) { return i == 6 ? "oops" : std::to_string(i % 3); });
    QCOMPARE(typed.value(0), QString("The column y is predicted, as one of 4 classes."));
    QCOMPARE(typed.value(1),
             QString("y is classes, not numbers, because of words such as \"oops\", in 1 of 30 "
                     "lines. If they are mistakes, correct them or leave these lines empty "
                     "there."));
    QVERIFY(
        notes(30, [](int i) { return i < 3 ? "r" : std::to_string(i % 3); }).value(1).isEmpty());
    QCOMPARE(notes(104, [](int i) { return "n" + std::to_string(i % 21); }).value(1),
             QString("That is one class for every 5 lines or fewer, too few to learn from. Is y "
                     "the column to predict?"));
    QVERIFY(notes(105, [](int i) { return "n" + std::to_string(i % 21); }).value(1).isEmpty());
}

/// Tables without a line of names are told apart by numbers in its place.
void TestCsvColumns::namesThatAreNumbers() {
    const QString note = "Names of columns are numbers, such as %1. If the first line is a sample, "
                         "set data.header to false.";
    QCOMPARE(notesOf(csv("0.5,2,1\n1,2,3\n")).value(1), note.arg("0.5"));
    QCOMPARE(notesOf(csv("0,5;2;1\n1;2;3\n")).value(2), note.arg("0,5"));
    QCOMPARE(notesOf(csv("3,0.5,cat\n1,2,3\n")).value(1), note.arg("3"));
    QCOMPARE(notesOf(csv("3,1,2\n1,2,3\n")).value(1), note.arg("3"));
    QCOMPARE(notesOf(csv("2019,2020,y\n1,2,3\n")).size(), 1);
}

void TestCsvColumns::wordsAmongNumbers() {
    QCOMPARE(inputsOf(csv("a,y\n+1,1\n-2,2\n")), (Floats{1, -2}));
    QCOMPARE(inputsOf(csv("a,y\n+-1,1\n+-2,2\n")), (Floats{1, 0, 0, 1})); // words
    TaskConfig task = csv("a,b,y\n1,2,3\nx,2,3\n");
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             task.path + ", line 3: \"x\" in the column \"a\" is not allowed: a finite number, as "
                         "other lines have there; data.drop leaves columns out");
    task.drop = "a";
    QCOMPARE(inputsOf(task), (Floats{2, 2}));
}

/// Words that are no mistakes make numbers between them words.
void TestCsvColumns::numbersAmongWords() {
    const auto drives = [](int words, int numbers) {
        std::string text = "drive,b,y\n";
        for (int i = 0; i < words + numbers; ++i)
            text += std::string(i >= words ? "4" : i % 2 ? "f" : "r") + ",2,3\n";
        return text;
    };
    const TaskConfig task = csv(drives(10, 90));
    const Floats x = inputsOf(task);
    QCOMPARE(Floats(x.begin(), x.begin() + 4), (Floats{2, 0, 0, 1})); // b, 4, f, r
    QCOMPARE(Floats(x.end() - 4, x.end()), (Floats{2, 1, 0, 0}));
    QCOMPARE(dropWithUnusable(task), std::string());
    for (const auto& [words, numbers] : {std::pair{9, 81}, {10, 91}}) {
        TaskConfig few = csv(drives(words, numbers));
        QVERIFY(!thrownBy<InputError>([&] { makeDataset(few, 0); }).empty());
        few.drop = dropWithUnusable(few);
        QCOMPARE(few.drop, std::string("drive"));
        const QString note = notesOf(few).value(1);
        QVERIFY(note.contains("leaves out: drive. The first such word is in ") &&
                note.contains(", line 2: \"r\" in the column \"drive\". "));
    }
    // with more words than are allowed, it is left out for that
    std::string many = "a,b,y\n";
    for (int i = 0; i < 60; ++i)
        many += "w" + std::to_string(i) + ",2,3\n" + std::to_string(i) + ",2,3\n";
    const std::string error = thrownBy<InputError>([&] { makeDataset(csv(many), 0); });
    QVERIFY2(error.find("more than 100 different words") != error.npos, error.c_str());
}

void TestCsvColumns::manyWords() {
    QCOMPARE(makeDataset(csv(tableOfWords(100)), 0)->tensors()[kX].shape, (Shape{101}));
    TaskConfig task = csv(tableOfWords(101));
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             task.path + ": more than 100 different words are too many for columns of inputs: w; "
                         "to leave such columns out, set data.drop to w");
    QCOMPARE(dropWithUnusable(task), std::string("w"));
    task.drop = "n";
    QCOMPARE(dropWithUnusable(task), std::string("n")); // no input would be left
    QCOMPARE(dropWithUnusable(csv("a,b,c,y\n1,NA,2,3\n4,,5,6\n")), std::string("b")); // no value
    QCOMPARE(dropWithUnusable(csv("a,b,y\n,NA,3\n,,6\n")), std::string());
    task.drop = dropWithUnusable(csv(tableOfWords(101)));
    QCOMPARE(makeDataset(task, 0)->tensors()[kX].shape, (Shape{1}));
    QCOMPARE(dropWithUnusable(csv(kColours)), std::string());
    const TaskConfig marks = csv("\"w, \"\"v\"\"\"" + tableOfWords(101).substr(1));
    QCOMPARE(dropWithUnusable(marks), std::string("\"w, \"\"v\"\"\""));
    std::string nine = "a,b,c,d,e,f,g,h,i,n,y\n";
    for (int i = 0; i < 101; ++i) {
        for (int column = 0; column < 9; ++column)
            nine += "w" + std::to_string(i) + ",";
        nine += "1,0\n";
    }
    const std::string several = thrownBy<InputError>([&] { makeDataset(csv(nine), 0); });
    QVERIFY2(
        several.ends_with(": a, b, c, d, e, f, g, h and 1 more; to leave such columns out, set "
                          "data.drop to a, b, c, d, e, f, g, h, i"),
        several.c_str());
}

/// A setting is one line of UTF-8 of at most 4096 bytes; some names do not fit into it.
void TestCsvColumns::manyWordsWithoutSetting() {
    const std::string longName(5000, 'w');
    for (const std::string& name : {std::string("a\xFF"), std::string(), longName}) {
        TaskConfig task = csv(tableOfWords(101, name));
        QCOMPARE(dropWithUnusable(task), std::string());
        if (name.empty()) continue; // is left out
        const std::string error = thrownBy<InputError>([&] { makeDataset(task, 0); });
        QVERIFY2(error.ends_with("; save the table without such columns"), error.c_str());
    }
    TaskConfig task = csv(",,y\n" + tableOfWords(101, "").substr(5)); // no column has a name
    QVERIFY(thrownBy<InputError>([&] {
                makeDataset(task, 0);
            }).ends_with("; save the table without such columns"));
}

/// Columns of words may make many inputs of a small file.
void TestCsvColumns::manyInputs() {
    std::string text, line;
    for (int column = 0; column < 1001; ++column)
        text += "c" + std::to_string(column) + ",";
    text += "y\n";
    for (int row = 0; row < 100; ++row) {
        for (int column = 0; column < 1001; ++column)
            text += "w" + std::to_string(row) + ",";
        text += "0\n";
    }
    const TaskConfig task = csv(text);
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             task.path + ": 100100 inputs are not allowed: at most 100000; each word of a column "
                         "of words is one, and data.drop leaves columns out");
}

/// A sample is known by its place in the file, whatever is left out before it.
void TestCsvColumns::samplesKeepTheirPlaces() {
    TaskConfig task = csv("a,y\n1,0\n,0\n\n5,0\n7,0\n");
    task.missing = Missing::Drop;
    task.validation = 0.4;
    const auto data = makeDataset(task, 0);
    std::vector<int64_t> places;
    for (const Split split : {Split::Train, Split::Validation})
        for (int64_t sample = 0; sample < data->samples(split); ++sample)
            places.push_back(data->number(split, sample));
    std::sort(places.begin(), places.end());
    QCOMPARE(places, (std::vector<int64_t>{0, 2, 3}));
    task.predictFile = file("new.csv", "a\n4\nNA\n9\n");
    const auto predicted = makeDataset(task, 0);
    QCOMPARE(predicted->samples(Split::Validation), int64_t{2});
    QCOMPARE(predicted->number(Split::Validation, 0), int64_t{0});
    QCOMPARE(predicted->number(Split::Validation, 1), int64_t{2});
}

/// Numbers that float32 rounds to 0 are read with a point where the user's country has a comma.
void TestCsvColumns::numbersInAnyLocale() {
    const char* texts[] = {"1.5e-60", "-0.5e-400"};
    const auto check = [&] {
        for (const char* text : texts)
            QCOMPARE(inputsOf(csv("a,y\n" + std::string(text) + ",2\n")), (Floats{0}));
        const std::string error =
            thrownBy<InputError>([&] { makeDataset(csv("a,y\n0.5e60,2\n"), 0); });
        QVERIFY2(error.ends_with("\"0.5e60\" in the column \"a\" is not allowed: a number that "
                                 "float32 holds, at most 3.4e+38"),
                 error.c_str());
    };
    check();
    const auto restore = qScopeGuard([] { std::setlocale(LC_NUMERIC, "C"); });
    if (!std::setlocale(LC_NUMERIC, "de_DE.UTF-8")) QSKIP("this machine has no German locale");
    check();
}

void TestCsvColumns::dropped() {
    TaskConfig task = csv("a,\"b, c\",\"d \"\"e\"\"\",y,z\n1,2,3,4,5\n");
    task.drop = " \"b, c\", \"d \"\"e\"\"\" ,z";
    QCOMPARE(droppedColumns(task.drop), (std::vector<std::string>{"b, c", "d \"e\"", "z"}));
    QCOMPARE(inputsOf(task), (Floats{1}));
    QCOMPARE(targetsOf(task), (Floats{4})); // the last column that is left
    QCOMPARE(notesOf(task).mid(1),
             QStringList{"The setting data.drop leaves out: b, c, d \"e\", z."});
    const auto refused = [&](const char* drop, const char* target = "") {
        task.drop = drop;
        task.target = target;
        return thrownBy<InputError>([&] { makeDataset(task, 0); });
    };
    QCOMPARE(refused("aa"),
             "data.drop: " + task.path + " has no column \"aa\"; the nearest one is a");
    QCOMPARE(refused("a", "a"),
             std::string("data.drop: \"a\" is the column to predict (data.target)"));
    QCOMPARE(refused("a,\"b, c\",\"d \"\"e\"\"\",y"),
             "data.drop: " + task.path + " has no column left to be an input");
}

/// The index of the lines is left out, under the names that pandas writes and reads it with.
void TestCsvColumns::unnamed() {
    const QStringList told{"A column without a name is left out: pandas writes the numbers of "
                           "lines into one."};
    QCOMPARE(inputsOf(csv(",a,b\n0,1,2\n1,3,4\n")), (Floats{1, 3}));
    QCOMPARE(notesOf(csv(",a,b\n0,1,2\n1,3,5\n")).mid(1), told);
    QCOMPARE(inputsOf(csv("Unnamed: 0,a,b\n0,1,2\n")), (Floats{1}));
    QCOMPARE(inputsOf(csv("Unnamed: x,a,b\n0,1,2\n")), (Floats{0, 1}));
    QCOMPARE(targetsOf(csv("a;b;\n1;2;\n")), (Floats{2})); // a separator at the end of each line
    const TaskConfig only = csv(",b\n7,2\n");
    QCOMPARE(inputsOf(only), (Floats{7}));
    QVERIFY(notesOf(only).value(1).startsWith("A column without a name is an input."));
    const TaskConfig titled = csv("Report 2024,,\n\na,b,y\n1,2,3\n"); // as Excel writes a sheet
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(titled, 0); }),
             titled.path + ", line 1: of 3 columns, only \"Report 2024\" has a name; the first "
                           "line must name the columns, so remove titles and empty lines above "
                           "the line of names");
}

void TestCsvColumns::emptyLines() {
    QCOMPARE(inputsOf(csv("a;y\n1;2\n;\n\n ; \n3;4\n;\n")), (Floats{1, 3}));
}

/// Columns are found by name, in any order, with any separator and with others between them.
void TestCsvColumns::predicts() {
    TaskConfig task = csv(kColours);
    task.validation = 0.5;
    task.predictFile =
        file("new.csv", "weight;extra;size;colour;dry\nS;x;7,5;green;no\nM;y;8;blue;yes\n");
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{2});
    QCOMPARE(data->samples(Split::Validation), int64_t{2});
    QCOMPARE(inputsOf(task, Split::Validation),
             (Floats{7.5f, 0, 0, 1, 0, 0, 0, 1, 8, 1, 1, 0, 0, 0, 1, 0}));
    QCOMPARE(factsOf(task).validation, int64_t{2});
    TaskConfig twice = csv("a,a,y\n1,2,3\n");
    twice.predictFile = file("new.csv", "a,b,a\n4,5,6\n");
    QCOMPARE(inputsOf(twice, Split::Validation), (Floats{4, 6}));
}

/// The means and deviations are those of the samples that the network was trained on.
void TestCsvColumns::predictsAsItWasTrained() {
    TaskConfig task = csv("a,y\n1,0\n3,0\n5,0\n7,0\n");
    task.standardise = true;
    task.missing = Missing::Mean;
    task.predictFile = file("new.csv", "a\n4\nNA\n9\n");
    const Floats x = inputsOf(task, Split::Validation);
    const float deviation = std::sqrt(5.0f);
    QCOMPARE(x.size(), size_t{3});
    QCOMPARE(x[0], 0.0f);
    QCOMPARE(x[1], 0.0f);
    QVERIFY(std::abs(x[2] - 5 / deviation) < 1e-6f);
    task.missing = Missing::Drop;
    QCOMPARE(inputsOf(task, Split::Validation).size(), size_t{2});
    QVERIFY(notesOf(task).join(' ').contains("new.csv: 1 of 3 lines lacks a value and is not "
                                             "predicted. A run with data.missing set to mean also "
                                             "predicts lines that have some of the values."));
}

/// A word that the training data lack is none of their words; its sample is predicted all the same,
/// and counted.
void TestCsvColumns::predictsUnknownWords() {
    TaskConfig task = csv(kColours);
    task.predictFile = file("new.csv", "colour,size,dry,weight\nred,1,no,S\n"
                                       "cyan,2,no,XL\nteal,3,no,S\n"); // sorts first, and last
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->samples(Split::Validation), int64_t{3});
    QCOMPARE(inputsOf(task, Split::Validation),
             (Floats{1, 0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 1}));
    QCOMPARE(notesOf(task).filter("lack").join(' ').toStdString(),
             "Samples with words that the training data lack: 2 of 3, the first in " +
                 task.predictFile +
                 ", line 3: \"cyan\" in the column \"colour\". Such a column counts as none of its "
                 "words.");
    writeBytes(task.predictFile, "colour,size,dry,weight\nred,1,no,S\n");
    QVERIFY(notesOf(task).filter("lack").isEmpty());
}

/// Of many columns, a sentence names the first eight and counts the others.
void TestCsvColumns::listsManyColumns() {
    std::string header, line;
    for (const char name : std::string_view("abcdefghij")) {
        header += std::string(1, name) + ",";
        line += "yes,";
    }
    const TaskConfig task = csv(header + "y\n" + line + "1\n");
    QCOMPARE(
        notesOf(task).filter("True and yes"),
        QStringList("True and yes are 1, false and no are 0, in the columns: a, b, c, d, e, f, "
                    "g, h and 2 more."));
}

void TestCsvColumns::refusesToPredict() {
    TaskConfig task = csv(kColours);
    task.predictFile = m_folder.filePath("new.csv").toStdString();
    const auto refused = [&](const char* text) {
        file("new.csv", text);
        return thrownBy<InputError>([&] { makeDataset(task, 0); });
    };
    QCOMPARE(refused("colour,sice,dry,weight\nred,1,no,S\n"),
             task.predictFile +
                 ": there is no column \"size\", which the network was trained on; the "
                 "nearest one is sice");
    QCOMPARE(refused("colour,size,dry,weight\n,1,no,S\n"),
             task.predictFile + ": every line lacks a value, so none is predicted");
    QCOMPARE(refused("colour,size,dry,weight\nred,1,2,S\n"),
             task.predictFile +
                 ", line 2: \"2\" in the column \"dry\" is not allowed: true, false, yes, no, "
                 "1 or 0, as the training data have it there");
    QCOMPARE(refused("colour,size,dry,weight\nred,big,no,S\n"),
             task.predictFile + ", line 2: \"big\" in the column \"size\" is not allowed: a finite "
                                "number");
    QCOMPARE(refused("colour,size,dry,weight\n"),
             task.predictFile + ": no line of values follows the names of the columns");
    // Excel's files, whatever they are called
    std::string zip = std::string("PK\3\4") + std::string(26, '\0') + "xl/workbook.xml\"";
    file("new.csv", zip);
    const std::string spreadsheet = task.predictFile +
                                    ": this is a spreadsheet, not a csv table; open it in Excel, "
                                    "LibreOffice or the like, and save the sheet as CSV (UTF-8)";
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }), spreadsheet);
    file("new.csv", std::string("\xD0\xCF\x11\xE0\n", 5));
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }), spreadsheet);
    file("new.csv", std::string("PK\3\4\0\0x.npy\n1", 13)); // an .npz file
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             task.predictFile + ": this is not a csv table: it has bytes that no text has");
}

} // namespace tst_csv_columns

QTEST_GUILESS_MAIN(tst_csv_columns::TestCsvColumns)
#include "tst_csv_columns.moc"
