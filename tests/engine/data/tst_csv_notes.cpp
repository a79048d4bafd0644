// What users are told about the columns of a csv table: why some are left out, and which ones had
// better be.
#include "engine/data/csv_columns.h"
#include "engine/data/csv_fields.h"
#include "engine/data/csv_samples.h"
#include "engine/data/dataset.h"
#include "engine/data/date_text.h"
#include "tests/support/array_files.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_csv_notes {

using namespace halfscope;

class TestCsvNotes : public QObject {
    Q_OBJECT

private slots:
    void formattedNumbers_data();
    void formattedNumbers();
    void formattedInputs();
    void leftOut();
    void dates_data();
    void dates();
    void columnsOfDates();
    void beyondFloat();
    void capitals();
    void equalClasses();
    void lineNames_data();
    void lineNames();
    void oneValue();
    void wordsAsNames();
    void droppedLines_data();
    void droppedLines();
    void placeholders_data();
    void placeholders();
    void placeholdersOfTargets();

private:
    TaskConfig csv(const std::string& text) const {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = writeBytes(m_path, text);
        task.validation = 0;
        return task;
    }
    static QStringList notesOf(const TaskConfig& task) {
        QStringList notes;
        for (const Message& note : makeDataset(task, 0)->notes())
            notes << QString::fromStdString(note.english());
        return notes;
    }
    QTemporaryDir m_folder;
    std::string m_path = m_folder.filePath("t.csv").toStdString();
};

void TestCsvNotes::formattedNumbers_data() {
    QTest::addColumn<bool>("formatted");
    for (const char* text :
         {"1,234", "1.234,56", "1,234,567.8", "1'234.50", "1 234", "12%", "12.5 %", "$5",
          "-$1,234.50", "\u20AC 7,5", "7,5 \u20AC", "EUR 3", "3 EUR", "+1,234",
          "1\u202F234,50\u00A0\u20AC", "1\u00A0234", "(1,200)", "($5)"})
        QTest::newRow(text) << true;
    for (const char* text : {"", "$", "%", "1", "1.5", "1,5", "12,34,56", "1234,567,890", "1,2345",
                             "05.01.2024", "2024-01-05", "C100001", "1,234x", "1,234.567,8", "EUR",
                             "12 kg", "1.2.3", "192.168.1.10"})
        QTest::addRow("not %s", text) << false;
}

void TestCsvNotes::formattedNumbers() {
    QFETCH(const bool, formatted);
    const QByteArray tag = QTest::currentDataTag();
    QCOMPARE(isFormattedNumber((formatted ? tag : tag.mid(4)).toStdString()), formatted);
}

/// Inputs that are such numbers are told, because they became words.
void TestCsvNotes::formattedInputs() {
    QCOMPARE(
        notesOf(csv("a,b,y\n50%,1,1\n60%,2,2\n")).last(),
        QString("Numbers with thousands separators, percent signs or signs of currency, or with "
                "decimal commas in a table that has points, are not read as numbers, in the "
                "columns: a. The first is in %1, line 2: \"50%\" in the column \"a\". To use them "
                "as numbers, format their cells as plain "
                "numbers in a spreadsheet program, and save the table as CSV again.")
            .arg(QString::fromStdString(m_path)));
}

/// A note says why a column is left out that cannot be an input.
void TestCsvNotes::leftOut() {
    std::string text = "date,price,gap,b,a,y\n";
    for (int i = 0; i < 120; ++i)
        text += "2024-" + std::to_string(i) + ",\"$1," + std::to_string(100 + i) + "\",,7," +
                std::to_string(i * 7 % 10) + (i % 2 ? ",1\n" : ",2\n");
    TaskConfig task = csv(text);
    task.drop = "b," + dropWithUnusable(task);
    QCOMPARE(task.drop, std::string("b,date, price, gap"));
    QCOMPARE(notesOf(task).mid(1),
             (QStringList{"The setting data.drop leaves out: b, price.",
                          "Columns with more than 100 different words, such as free text, "
                          "cannot be inputs. The setting data.drop leaves out: date.",
                          "Columns without any value cannot be inputs. The setting data.drop "
                          "leaves out: gap.",
                          "Numbers with thousands separators, percent signs or signs of currency, "
                          "or with decimal commas in a table that has points, are not read as "
                          "numbers, in the columns: price. The first is in " +
                              QString::fromStdString(m_path) +
                              ", line 2: \"$1,100\" in the column \"price\". To use them as "
                              "numbers, format their cells as plain numbers in a spreadsheet "
                              "program, and save the table as CSV again."}));
}

void TestCsvNotes::dates_data() {
    QTest::addColumn<bool>("date");
    for (const char* text :
         {"2024-03-05", "2024/3/5", "2024-03-05T17:30:00Z", "2024-03-05 17:30:00.250+01:00",
          "05.03.2024", "5.3.2024 7:30", "05-03-24", "3/5/2024", "12/31/99", "31/12/1999",
          "3/5/2024 5:30 PM", "31-12-1999", "2024-03-05 24:00"})
        QTest::newRow(text) << true;
    for (const char* text : {"",
                             "2024",
                             "2024-03",
                             "2024-03-05-01",
                             "1.2.10",
                             "10.12.10",
                             "5-3-24",
                             "1.2.3",
                             "192.168.1.10",
                             "13/13/2024",
                             "32.1.2024",
                             "0/5/2024",
                             "2024-03/05",
                             "2024-03-05 noon",
                             "2024-03-05 17",
                             "17:30",
                             "2024-03-05 25:00",
                             "2024-03-05 17:61",
                             "May 5, 2024",
                             "12-345-6789",
                             "20240305",
                             "red"})
        QTest::addRow("not %s", text) << false;
}

void TestCsvNotes::dates() {
    QFETCH(const bool, date);
    const QByteArray tag = QTest::currentDataTag();
    QCOMPARE(isDate((date ? tag : tag.mid(4)).toStdString()), date);
}

/// A few dates are no more use than many; one word that is none, and they are words.
void TestCsvNotes::columnsOfDates() {
    const auto table = [&](const char* odd) {
        std::string text = "when,a,y\n,7,1\n";
        for (int i = 1; i < 10; ++i)
            text += "2024-03-0" + std::to_string(i) + ",7,1\n";
        TaskConfig task = csv(text + odd + ",8,2\n");
        task.missing = Missing::Drop;
        return task;
    };
    TaskConfig task = table("2024-03-10");
    for (const auto& drop : {dropWithDates(task), dropWithUnusable(task)})
        QCOMPARE(drop, std::string("when"));
    task.drop = "when";
    QCOMPARE(notesOf(task).value(1),
             QString("Dates are not useful as inputs: a network would only learn these days by "
                     "heart. The setting data.drop leaves out: when. To use them, write numbers in "
                     "their place, such as the month or the days since the first."));
    const TaskConfig other = table("today");
    for (const auto& drop : {dropWithDates(other), dropWithUnusable(other)})
        QCOMPARE(drop, std::string());
    QCOMPARE(dropWithDates(csv("when,y\n2024-03-05,1\n2024-03-06,2\n")), std::string()); // alone
}

/// The line is told, because the number is most likely a mistake.
void TestCsvNotes::beyondFloat() {
    const std::string text = "a,b,c,y\n1,5,1e-400,1\n2,-1e39,2,2\n3,1e300,3,3\n";
    TaskConfig task = csv(text);
    QCOMPARE(dropWithUnusable(task), std::string("b"));
    task.drop = "b";
    QCOMPARE(
        notesOf(task).value(1),
        QString(
            "Columns with an infinite number, or one beyond 3.4e+38, where float32 ends, cannot "
            "be inputs. The setting data.drop leaves out: b. The first such number is in %1, line "
            "3: "
            "\"-1e39\" in the column \"b\". To use these columns, correct such numbers, and open "
            "the table again.")
            .arg(QString::fromStdString(m_path)));
    // a column in which a word follows is one of numbers no more
    task = csv("a,m,b,y\n1,1e300,1,1\n2,x,2,2\n3,4,1e39,3\n");
    task.drop = "m, b";
    const QString beyond = notesOf(task).filter("beyond").value(0);
    QVERIFY2(beyond.contains("leaves out: b. ") && beyond.contains("line 4: \"1e39\""),
             qPrintable(beyond));
    // nan is no such number, and its usual texts stand for a missing value
    for (const char* nan : {"-nan", "-NaN", "Nan"}) {
        const std::string drop =
            dropWithUnusable(csv(std::string("a,b,y\n1,5,1\n2,") + nan + ",2\n3,4,3\n"));
        QVERIFY2(drop.empty(), drop.c_str());
    }
    QCOMPARE(dropWithUnusable(csv("a,b,y\n1,inf,1\n2,3,2\n")), std::string("b"));
    QCOMPARE(dropWithUnusable(csv("a,b,y\n1,3e38,1\n2,3,2\n")), std::string());
}

void TestCsvNotes::capitals() {
    const auto told = [&](const std::string& lines) {
        return notesOf(csv("a,b,y\n" + lines)).filter("capitals");
    };
    QCOMPARE(told("Rome,x,1\nParis,y,2\nROME,x,3\nrome,y,4\n"),
             QStringList("Words that differ only in capitals, such as \"ROME\" and \"Rome\", are "
                         "inputs of their own, in the columns: a. If they mean the same, write "
                         "them alike."));
    QCOMPARE(told("Rome,rome,1\nParis,paris,2\n"), QStringList()); // of different columns
    TaskConfig classes = csv("a,y\n1,Yes\n2,yes\n3,no\n");
    classes.loss.kind = LossKind::CrossEntropy;
    QCOMPARE(notesOf(classes).filter("capitals"),
             QStringList("Words that differ only in capitals, such as \"Yes\" and \"yes\", are "
                         "classes of their own. If they mean the same, write them alike."));
}

/// Codes such as 3.1 and 3.10 may mean different classes.
void TestCsvNotes::equalClasses() {
    const auto told = [&](const std::string& lines) {
        TaskConfig classes = csv("a,y\n" + lines);
        classes.loss.kind = LossKind::CrossEntropy;
        return notesOf(classes).filter("equal");
    };
    QCOMPARE(told("1,3.1\n2,3.10\n3,007\n4,7\n"),
             QStringList("Classes that are equal as numbers are one, such as \"3.1\" and "
                         "\"3.10\"."));
    QCOMPARE(told("1,3.1\n2,3.2\n3,3.1\n"), QStringList());
}

void TestCsvNotes::lineNames_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QStringList>("fields");
    QTest::addColumn<bool>("told");
    const auto row = [](const char* what, const char* name, const QStringList& fields, bool told) {
        QTest::newRow(what) << QString(name) << fields << told;
    };
    QStringList words;
    for (int i = 0; i < 12; ++i)
        words << QString("name %1").arg(i);
    row("counted", "n", {"0", "1", "2", "3", "4", "5"}, true);
    row("counted with a gap", "n", {"10", "11", "13", "14", "15", "16"}, true);
    row("nine digits", "n",
        {"100000000", "100000001", "100000002", "100000003", "100000004", "100000005"}, true);
    row("more digits than doubles have", "n",
        {"9007199254740992", "9007199254740993", "9007199254740994", "9007199254740995",
         "9007199254740996", "9007199254740997"},
        true);
    row("a number twice", "n", {"0", "1", "1", "3", "4", "5"}, false);
    row("ids in any order", "PassengerId", {"907", "15", "300", "8", "501", "22"}, true);
    row("ids of users", "user_id", {"907", "15", "300", "8", "501", "22"}, true);
    row("ids with a space", "user id", {"907", "15", "300", "8", "501", "22"}, true);
    row("later than years", "n", {"2198", "2199", "2200", "2201", "2202", "2203"}, true);
    row("words", "name", words, true);
    row("some words", "name", words.mid(0, 10), false);
    row("a word twice", "name", words.mid(0, 11) << "name 1", false);
    row("years", "n", {"1960", "1961", "1962", "1963", "1964", "1965"}, false);
    row("days", "Day of year", {"1", "2", "3", "4", "5", "6"}, false);
    row("days behind a word", "Elapsed days", {"1", "2", "3", "4", "5", "6"}, false);
    row("every second number", "n", {"0", "2", "4", "6", "8", "10"}, false);
    row("few", "n", {"0", "1", "2", "3", "4"}, false);
    row("in any order", "n", {"0", "2", "1", "3", "4", "5"}, false);
    row("far apart", "n", {"0", "10", "20", "30", "40", "50"}, false);
    row("fractions", "id", {"0.5", "1.5", "2.5", "3.5", "4.5", "5.5"}, false);
    row("an id of few kinds", "shop_id", {"1", "2", "3", "1", "2", "3"}, false);
    row("a word that ends likewise", "humid", {"907", "15", "300", "8", "501", "22"}, false);
}

/// Inputs that only number or name the lines are told, with the setting that leaves them out.
void TestCsvNotes::lineNames() {
    QFETCH(const QString, name);
    QFETCH(const QStringList, fields);
    QFETCH(const bool, told);
    const auto table = [&](const char* other) {
        std::string text = name.toStdString() + other + ",z,y\n";
        for (const QString& field : fields)
            text += field.toStdString() + (*other ? ",5," : ",") + "7,1\n";
        TaskConfig task = csv(text);
        task.drop = "z";
        return notesOf(task).filter("a different value in each line");
    };
    const QString note =
        "These inputs have a different value in each line: %1. If they only number or "
        "name the lines, the network learns nothing useful from them; to leave "
        "them out, set data.drop to z, %1.";
    QCOMPARE(table(",a"), told ? QStringList(note.arg(name)) : QStringList());
    QCOMPARE(table(""), QStringList()); // the only input
}

/// Inputs that never change are told, whatever they hold; the target has words of its own.
void TestCsvNotes::oneValue() {
    const auto told = [&](const std::string& text, Missing missing = Missing::Refuse) {
        TaskConfig task = csv("a,const,y\n" + text);
        task.missing = missing;
        return notesOf(task).filter("teach nothing");
    };
    const QStringList note{"These inputs have one value in all lines and teach nothing: const."};
    QCOMPARE(told("1,0.1,1\n2,0.1,2\n3,1e-1,3\n"), note);
    QCOMPARE(told("1,red,1\n2,red,2\n"), note);
    QCOMPARE(told("1,yes,1\n2,Yes,2\n"), note);
    QCOMPARE(told("1,7,1\n2,,2\n3,7,3\n", Missing::Mean), note); // the mean is the same
    QCOMPARE(told("1,7,5\n2,8,5\n"), QStringList());
    QCOMPARE(told("1,yes,1\n2,no,2\n"), QStringList());
    QCOMPARE(told("1,16777216,1\n2,16777217,2\n"), QStringList()); // one number in float32
    QCOMPARE(told("1,7,1\n"), QStringList());                      // a single line
    QCOMPARE(told("4,7,1\n4,7,2\n"),
             QStringList("These inputs have one value in all lines and teach nothing: a, const."));
}

/// A table without names loses its first sample to them; its words give that away.
void TestCsvNotes::wordsAsNames() {
    const std::string rest = "Private,25\nState,31\nState,40\n";
    const auto told = [&](const std::string& first) {
        return notesOf(csv(first + rest)).filter("If the first line is a sample");
    };
    QCOMPARE(told("State,39\n"),
             QStringList("The name of a column, \"State\", is also one of its words. If the first "
                         "line is a sample, set data.header to false."));
    QCOMPARE(told("work,age\n"), QStringList());
    QCOMPARE(told("Private,State\n").size(), 1);
}

/// The setting is advised only where it keeps lines that are left out now.
void TestCsvNotes::droppedLines_data() {
    QTest::addColumn<QByteArray>("lines");
    QTest::addColumn<QString>("note");
    const auto row = [](const char* name, const char* lines, const char* note) {
        QTest::newRow(name) << QByteArray(lines) << QString(note);
    };
    row("a target", "1,2,\n", "1 of 3 lines lacks its target and is left out.");
    row("targets", "1,2,\n3,NA,?\n", "2 of 4 lines lack their target and are left out.");
    row("a value", "1,,5\n",
        "1 of 3 lines lacks a value and is left out. To keep it, set data.missing to mean.");
    row("values", "1,,5\n,2,6\n",
        "2 of 4 lines lack a value and are left out. To keep them, set data.missing to mean.");
    row("both", "1,,5\n1,2,\n",
        "2 of 4 lines lack a value and are left out. To keep those that have a target, set "
        "data.missing to mean.");
}

void TestCsvNotes::droppedLines() {
    QFETCH(const QByteArray, lines);
    QFETCH(const QString, note);
    for (const LossKind loss : {LossKind::Mse, LossKind::CrossEntropy}) {
        TaskConfig task = csv("a,b,y\n1,2,7\n5,6,3\n" + lines.toStdString());
        task.loss.kind = loss;
        task.missing = Missing::Drop;
        QStringList told;
        for (const Message& each : makeDataset(task, 0)->notes())
            if (isDroppedNote(each)) told << QString::fromStdString(each.english());
        QCOMPARE(told, QStringList(note));
    }
}

void TestCsvNotes::placeholders_data() {
    QTest::addColumn<double>("number");
    QTest::addColumn<int>("times");   // among 200 lines
    QTest::addColumn<double>("most"); // of the others, which begin at 0
    QTest::addColumn<bool>("told");
    const auto row = [](const char* what, double number, int times, double most, bool told) {
        QTest::newRow(what) << number << times << most << told;
    };
    row("-999", -999, 2, 50, true);
    row("-9999", -9999, 20, 50, true);
    row("-200", -200, 20, 50, true);
    row("-1e30", -1e30, 20, 50, true);
    row("99", 99, 2, 49.5, true);
    row("9999", 9999, 20, 50, true);
    row("999 in nearly all lines", 999, 190, 50, true);
    row("999 near the others", 999, 20, 600, false);
    row("99 as near as the others reach", 99, 2, 49.75, false);
    row("-99 as far as the others reach", -99, 2, 99, true);
    row("-99 not that far", -99, 2, 99.25, false);
    row("once in 200 lines", -999, 1, 50, false);
    row("-98", -98, 20, 50, false);
    row("-1", -1, 20, 0.5, false);
    row("998", 998, 20, 50, false);
    row("9", 9, 20, 4, false);
    row("a fraction", -999.5, 20, 50, false);
    row("two numbers", 999, 100, 0, false);
}

/// A number between which and all others nothing lies may mean that there is none.
void TestCsvNotes::placeholders() {
    QFETCH(const double, number);
    QFETCH(const int, times);
    QFETCH(const double, most);
    QFETCH(const bool, told);
    constexpr int kLines = 200;
    std::string text = "a,wind,y\n";
    for (int i = 0; i < kLines; ++i) {
        const double other = i % 2 ? most : most / 2 * (i % 4 / 2); // 0, most, half, most
        text += "1," + std::to_string(i < times ? number : other) + ",7\n";
    }
    const QString note =
        "Columns have a number that is far from all their others and may stand for missing values. "
        "In brackets, the number and how many samples have it: wind (%1, %2). If it does, save the "
        "table with nothing in its place.";
    QCOMPARE(notesOf(csv(text)).filter("missing"),
             told ? QStringList(note.arg(number).arg(times)) : QStringList());
}

/// A target is told as well, unless it is a class; a hundredth of many lines are more than two.
void TestCsvNotes::placeholdersOfTargets() {
    const auto told = [&](int lines, LossKind loss) {
        std::string text = "a,y\n";
        for (int i = 0; i < lines; ++i)
            text += std::to_string(i) + "," + (i < 3 ? "-999" : std::to_string(i % 5)) + "\n";
        TaskConfig task = csv(text);
        task.loss.kind = loss;
        return notesOf(task).filter("y (-999, 3)").size();
    };
    QCOMPARE(told(300, LossKind::Mse), 1);
    QCOMPARE(told(301, LossKind::Mse), 0);
    QCOMPARE(told(300, LossKind::CrossEntropy), 0);
}

} // namespace tst_csv_notes

QTEST_GUILESS_MAIN(tst_csv_notes::TestCsvNotes)
#include "tst_csv_notes.moc"
