// Numbers of tables whose columns commas separate that are not written as usual: decimal commas in
// quotation marks, the minus sign of typesetters, and forms that are not read in the only input.
#include "engine/core/error.h"
#include "engine/data/csv_columns.h"
#include "engine/data/csv_fields.h"
#include "engine/data/dataset.h"
#include "engine/settings/data_experiment.h"
#include "tests/support/array_files.h"
#include "tests/support/split_values.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_quoted_commas {

using namespace halfscope;
using namespace halfscope::split_values;
using namespace halfscope::test;

class TestQuotedCommas : public QObject {
    Q_OBJECT

private slots:
    void read_data();
    void read();
    void unread_data();
    void unread();
    void unreadTargets();
    void answers();
    void oddField();
    void minusSigns();
    void beside();
    void onlyInput_data();
    void onlyInput();
    void programs();

private:
    std::string write(const std::string& name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(QString::fromStdString(name)).toStdString(), bytes);
    }
    TaskConfig csv(const std::string& text) const {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = write("t.csv", text);
        task.loss.kind = LossKind::Mse;
        task.validation = 0;
        task.standardise = false;
        return task;
    }

    QTemporaryDir m_folder;
};

void TestQuotedCommas::read_data() {
    QTest::addColumn<QByteArray>("text");
    const auto row = [](const char* what, const char* text) {
        QTest::newRow(what) << QByteArray(text);
    };
    row("all columns", "a,y\n\"0,5\",\"1,0\"\n\"1,5\",\"2,0\"\n");
    row("one column", "a,y\n\"0,5\",1\n\"1,5\",2\n");
    row("some numbers", "a,y\n\"0,5\",1\n\"1,500\",2");
    row("some values are missing", "a,y\n\"0,5\",1\n\"1,5\",2\nNA,3\n");
}

/// Google Sheets writes such tables in German. Without findsQuotedCommas(), these are words.
void TestQuotedCommas::read() {
    QFETCH(const QByteArray, text);
    TaskConfig task = csv(text.toStdString());
    task.missing = Missing::Drop;
    const auto data = makeDataset(task, 0);
    QCOMPARE(inputsOf(*data, Split::Train), (Floats{0.5f, 1.5f}));
    QCOMPARE(targetsOf(*data, Split::Train), (Floats{1, 2}));
    QVERIFY(isTold(*data, "Numbers have decimal commas."));
}

void TestQuotedCommas::unread_data() {
    QTest::addColumn<QByteArray>("text");
    const auto row = [](const char* what, const char* text) {
        QTest::newRow(what) << QByteArray(text);
    };
    row("thousands", "a,y\n\"1,234\",1\n\"2,345\",2\n");
    row("points in another column", "a,b,y\n\"0,5\",0.5,1\n\"1,5\",1.5,2\n");
    row("words among them", "a,y\n\"0,5\",1\n\"1,5 or more\",2\n");
    row("lists", "a,y\n\"1,2\",1\n\"1,2,3\",2\n");
    row("thousands in another column", "a,b,y\n\"1,2\",\"12,500\",1\n\"2,3\",\"13,500\",2\n");
    row("no quotation marks", "a,b,y\n0,5,1\n1,5,2\n");
}

void TestQuotedCommas::unread() {
    QFETCH(const QByteArray, text);
    QVERIFY(!readsCommas(csv(text.toStdString())));
}

/// As targets they would each be a class.
void TestQuotedCommas::unreadTargets() {
    std::string text = "a,y\n";
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i) + ".5,\"" + std::to_string(i) + ",5\"\n";
    const std::string path = csv(text).path;
    QCOMPARE(thrownBy<InputError>([&] { experimentOn(path); }),
             path + ", line 2: \"0,5\" in the column \"y\" is not allowed: a number with a decimal "
                    "point; decimal commas are read only where no number of the table has a point; "
                    "to use such values, format their cells as plain numbers in a spreadsheet "
                    "program, and save the table as CSV again");
}

/// Answers to a question of which some people gave two: words, as they always were.
void TestQuotedCommas::answers() {
    std::string text = "a,b,y\n";
    for (int i = 0; i < 30; ++i)
        text += std::string(i % 3 == 0   ? "1"
                            : i % 3 == 1 ? "2"
                                         : "\"1,2\"") +
                "," + std::to_string(i * 7 % 10) + ".5," + std::to_string(i % 4) + "\n";
    const auto config = experimentOn(csv(text).path);
    QCOMPARE(config->task.drop, std::string());
    QCOMPARE(makeDataset(config->task, 0)->tensors()[kX].shape, (Shape{4}));
}

/// Free text is no number because of one field that is; nobody could use the others then.
void TestQuotedCommas::oddField() {
    std::string text = "a,y\n";
    for (int i = 0; i < 120; ++i)
        text += (i == 50 ? std::string("$5") : "word " + std::to_string(i)) + "," +
                std::to_string(i) + ".5\n";
    const std::string path = csv(text).path;
    QCOMPARE(thrownBy<InputError>([&] { experimentOn(path); }),
             path + ": more than 100 different words are too many for columns of inputs: a; there "
                    "is no other column to be an input");
}

void TestQuotedCommas::minusSigns() {
    QCOMPARE(inputsOf(*makeDataset(csv("a,y\n\u22121,2\n\u22122.5,3\n"), 0), Split::Train),
             (Floats{-1, -2.5f}));
    QCOMPARE(inputsOf(*makeDataset(csv("a,y\n\"\u22120,5\",2\n\"1,5\",3\n"), 0), Split::Train),
             (Floats{-0.5f, 1.5f}));
    QVERIFY(std::isnan(numberOf("\u2212", false)));
    QVERIFY(isFormattedNumber("\u22125 %"));
}

/// The table to train on tells what 1,234 means in another one.
void TestQuotedCommas::beside() {
    TaskConfig task = csv("a,y\n\"1,5\",2\n3,4\n");
    task.validationPath = write("val.csv", "a,y\n\"1,234\",5\n");
    QCOMPARE(inputsOf(*makeDataset(task, 0), Split::Validation), (Floats{1.234f}));
    // where semicolons separate, decimal commas tell nothing about a table of another kind
    write("t.csv", "a;y\n1,5;2\n3;4\n");
    const std::string error = thrownBy<InputError>([&] { makeDataset(task, 0); });
    QVERIFY2(error.find("\"1,234\" in the column \"a\" is not allowed") != error.npos,
             error.c_str());
}

void TestQuotedCommas::onlyInput_data() {
    QTest::addColumn<QString>("field"); // %1 is the number of the line
    QTest::addColumn<QString>("end");
    const QString unread = ", line 2: %1 in the column \"a\" is not allowed: a number without "
                           "thousands separators, percent signs and signs of currency; to use such "
                           "values, format their cells as plain numbers in a spreadsheet program, "
                           "and save the table as CSV again";
    QTest::newRow("percent") << "%1 %" << unread.arg("\"100 %\"");
    QTest::newRow("thousands") << "\"1,%1\"" << unread.arg("\"1,100\"");
    QTest::newRow("hexadecimal") << "0x%1"
                                 << ": more than 100 different words are too many for columns of "
                                    "inputs: a; there is no other column to be an input";
}

/// Nobody can leave out the only input, so that this is not advised.
void TestQuotedCommas::onlyInput() {
    QFETCH(const QString, field);
    QFETCH(const QString, end);
    std::string text = "a,y\n";
    for (int i = 100; i < 220; ++i)
        text += field.arg(i).toStdString() + "," + std::to_string(i) + ".5\n";
    const std::string path = csv(text).path;
    QCOMPARE(thrownBy<InputError>([&] { experimentOn(path); }), path + end.toStdString());
}

/// Programs read the numbers as this one does.
void TestQuotedCommas::programs() {
    const auto program = [](const TaskConfig& task) {
        return infoOf(TaskKind::Csv).python(task, 1).code;
    };
    const std::string both = program(csv("a,y\n\"\u22120,5\",2\n\"1,5\",3\n"));
    QVERIFY(both.find("return float(field.replace(\",\", \".\").replace(\"\\u2212\", \"-\"))") !=
            both.npos);
    const std::string plain = program(csv("a,y\n1,2\n3,4\n"));
    QVERIFY(plain.find("return float(field)\n") != plain.npos);
}

} // namespace tst_quoted_commas

QTEST_GUILESS_MAIN(tst_quoted_commas::TestQuotedCommas)
#include "tst_quoted_commas.moc"
