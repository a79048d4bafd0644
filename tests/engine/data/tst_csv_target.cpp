// Which column of a table is predicted when nobody says it.
#include "engine/data/csv_target.h"
#include "tests/support/array_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <functional>

namespace tst_csv_target {

using namespace halfscope;

class TestCsvTarget : public QObject {
    Q_OBJECT

private slots:
    void withoutNames_data();
    void withoutNames();
    void sortedByClass();
    void manyLines();
    void constantLast();

private:
    /// Returns data.target for a table without names, whose line i is line(i).
    std::string targetOf(int lines, const std::function<QString(int)>& line, bool header = false) {
        std::string text = header ? "a,b,c,d\n" : "";
        for (int i = 0; i < lines; ++i)
            text += line(i).toStdString() + "\n";
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.header = header;
        task.path = writeBytes(m_folder.filePath("t.csv").toStdString(), text);
        return likelyTarget(task);
    }
    QTemporaryDir m_folder;
};

void TestCsvTarget::withoutNames_data() {
    QTest::addColumn<QStringList>("columns");
    QTest::addColumn<QString>("target");
    const auto row = [](const char* what, const QStringList& columns, const char* target) {
        QTest::newRow(what) << columns << QString(target);
    };
    // 1 to 3: so many numbers from 1 on; w: words; f: fractions; n: numbers up to the lines;
    // i: an index; s: one number; x: a different word in each line
    row("wine", {"3", "f", "f", "n"}, "c1");
    row("class -1 or 1", {"-", "f", "f", "f"}, "c1");
    row("UCR", {"1.", "f", "f"}, "c1");
    row("letters", {"w", "16", "16", "16"}, "c1");
    row("wdbc", {"i", "w", "f", "f"}, "c2");
    row("index of words", {"x", "w", "f", "f"}, "c2");
    row("20 classes", {"20", "f", "f"}, "c1");
    row("constant pixels", {"3", "n", "s"}, "c1");
    row("a constant input", {"w", "s", "f", "f"}, "c1");
    row("21 numbers", {"21", "f", "f"}, "");
    row("large numbers", {"100", "f", "f"}, "");
    row("numbers from -2", {"-2", "f", "f"}, "");
    row("classes at both ends", {"3", "f", "3"}, "");
    row("words at both ends", {"w", "f", "w"}, "");
    row("words before a class", {"w", "n", "f", "3"}, "");
    row("abalone", {"w", "f", "f", "n"}, "");
    row("a price behind counts", {"w", "n", "n", "f"}, "");
    row("words among the inputs", {"w", "f", "w", "f"}, "");
    row("a class and words", {"3", "f", "w", "f"}, "");
    row("a name for each line", {"x", "f", "f"}, "");
    row("two columns", {"w", "f"}, "");
    row("two columns of numbers", {"3", "f"}, "");
    row("an index and classes", {"i", "3", "f", "f"}, "");
    row("words behind numbers", {"n", "w", "f", "f"}, "");
    row("numbers", {"n", "f", "f"}, "");
}

/// Where the last column has no classes, the first one is predicted if it has.
void TestCsvTarget::withoutNames() {
    QFETCH(const QStringList, columns);
    QFETCH(const QString, target);
    const auto field = [](const QString& kind, int line) -> QString {
        const int mixed = line * 37 % 120; // in another order
        if (kind == "w") return mixed % 2 ? "B" : "M";
        if (kind == "f") return QString::number(mixed * 0.37 + 0.1);
        if (kind == "n") return QString::number(mixed / 2); // each twice
        if (kind == "i") return QString::number(8000 - mixed);
        if (kind == "x") return QString("x%1").arg(mixed);
        if (kind == "s") return "0";
        if (kind == "-2") return QString::number(mixed % 3 - 2);
        if (kind == "-") return mixed % 2 ? "-1" : "1";
        if (kind == "1.") return mixed % 2 ? "0.0e+00" : "1.0e+00";
        if (kind == "100") return QString::number(100 * (1 + mixed % 3));
        return QString::number(1 + mixed % kind.toInt());
    };
    const auto line = [&](int i) {
        QStringList fields;
        for (const QString& kind : columns)
            fields << field(kind, i);
        return fields.join(',');
    };
    QCOMPARE(QString::fromStdString(targetOf(120, line)), target);
    // names say more than values do: with them, only a last column of one value is passed over
    if (columns.size() == 4) QCOMPARE(targetOf(120, line, true), std::string());
}

/// The first lines may all have one class.
void TestCsvTarget::sortedByClass() {
    const auto row = [](const char* first, int i, const char* last) {
        return QString("%1,%2,%3.5,%4").arg(first).arg(i % 50).arg(i % 7).arg(last);
    };
    QCOMPARE(targetOf(2400, [&](int i) { return row(i < 1200 ? "1" : "0", i, "0.5"); }), "c1");
    QCOMPARE(targetOf(2400,
                      [&](int i) {
                          return row(i % 2 ? "M" : "F", i, i < 2300 ? "negative" : "positive");
                      }),
             "");
    QCOMPARE(targetOf(2400, [&](int i) { return row(i % 2 ? "M" : "F", i, "negative"); }), "c1");
}

/// What follows the first thousand lines does not matter when these have both classes.
void TestCsvTarget::manyLines() {
    QCOMPARE(targetOf(1100,
                      [](int i) {
                          return i < 1000 ? QString("%1,0.5,%2.5").arg(i % 2).arg(i) : "7,8,word";
                      }),
             "c1");
}

/// With names, a last column of one value gives way to a first one of up to 20.
void TestCsvTarget::constantLast() {
    const auto of = [&](int values) {
        return targetOf(
            210, [values](int i) { return QString("%1,%2.5,x,0").arg(i % values).arg(i); }, true);
    };
    QCOMPARE(of(20), "a");
    QCOMPARE(of(21), "");
}

} // namespace tst_csv_target

QTEST_GUILESS_MAIN(tst_csv_target::TestCsvTarget)
#include "tst_csv_target.moc"
