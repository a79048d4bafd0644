// Decimal marks of tables of new samples: their numbers are read as those of the table that was
// trained on, and what is predicted has the mark of the numbers beside it.
#include "engine/settings/data_experiment.h"
#include "engine/train/predicted_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/trained_experiment.h"

#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>

namespace tst_predicted_marks {

using namespace halfscope;

class TestPredictedMarks : public QObject {
    Q_OBJECT
private slots:
    void numbersKeepTheirMark_data();
    void numbersKeepTheirMark();
    void probabilitiesToo();
    void wholeNumbersAsTrained();
    void quotedCommas();
    void tabsAreReadAsTrained();
    void otherSeparators();
    void targetsAreReadAsTrained();

private:
    std::string write(const char* name, const std::string& bytes) {
        return writeBytes(m_folder.filePath(QLatin1String(name)).toStdString(), bytes);
    }
    /// Returns a network that has trained on a table of such separators and decimal marks.
    std::unique_ptr<Experiment> trained(const char* name, char separator, char mark) {
        std::string text = std::string("size") + separator + "price\n";
        for (int i = 0; i < 50; ++i)
            text +=
                std::to_string(i) + mark + '5' + separator + std::to_string(2 * i) + mark + "25\n";
        return trainedFor(20, *experimentOn(write(name, text)));
    }
    /// Returns what is predicted in the first line of a table, as it is written.
    QString predicted(Experiment& experiment, const char* name, const std::string& table) {
        const auto samples = predictedSamples(experiment, 0, write(name, table));
        const QString line = QString::fromStdString(samples->bytes).split('\n').value(1);
        const qsizetype known = QString::fromStdString(table).split('\n').value(1).size();
        return line.mid(known + 1);
    }
    QTemporaryDir m_folder;
};

void TestPredictedMarks::numbersKeepTheirMark_data() {
    QTest::addColumn<char>("separator");
    QTest::addColumn<char>("mark");
    QTest::newRow("points") << ',' << '.';
    QTest::newRow("commas") << ';' << ',';
    QTest::newRow("points between semicolons") << ';' << '.';
    QTest::newRow("commas between tabs") << '\t' << ',';
    QTest::newRow("points between tabs") << '\t' << '.';
}

void TestPredictedMarks::numbersKeepTheirMark() {
    QFETCH(const char, separator);
    QFETCH(const char, mark);
    const auto experiment = trained("train.tsv", separator, mark);
    const std::string ending = std::string(1, separator);
    const QString found = predicted(*experiment, "new.tsv",
                                    "size" + ending + "id\n10" + mark + "75" + ending + "a\n");
    bool isNumber = false;
    QString(found).replace(QLatin1Char(mark), u'.').toDouble(&isNumber);
    QVERIFY2(isNumber && found.contains(QLatin1Char(mark)), qPrintable(found));
    // the same number in a table of the other kind
    const auto plain = trained("plain.csv", ',', '.');
    QCOMPARE(QString(found).replace(QLatin1Char(mark), u'.'),
             predicted(*plain, "plain_new.csv", "size,id\n10.75,a\n"));
}

void TestPredictedMarks::probabilitiesToo() {
    std::string text = "size;kind\n";
    for (int i = 0; i < 50; ++i)
        text += std::to_string(i) + ",5;" + (i < 25 ? "small\n" : "large\n");
    const auto experiment = trainedFor(20, *experimentOn(write("kinds.csv", text)));
    const QStringList fields = predicted(*experiment, "sizes.csv", "size;id\n1,75;a\n").split(u';');
    QCOMPARE(fields.size(), 2);
    QVERIFY2(fields[1].startsWith(QStringLiteral("0,")), qPrintable(fields[1]));
}

/// Whole numbers have no mark, so that the table that was trained on tells it.
void TestPredictedMarks::wholeNumbersAsTrained() {
    const auto experiment = trained("train.csv", ';', ',');
    const QString found = predicted(*experiment, "whole.csv", "size;id\n10;7\n");
    QVERIFY2(found.contains(u',') && !found.contains(u'.'), qPrintable(found));
    const QString points = predicted(*experiment, "points.csv", "size;id\n10.0;7\n");
    QVERIFY2(points.contains(u'.'), qPrintable(points));
}

/// Where commas separate, a number with one is in quotation marks.
void TestPredictedMarks::quotedCommas() {
    std::string text = "size,price\n";
    for (int i = 0; i < 50; ++i)
        text += '"' + std::to_string(i) + ",5\",\"" + std::to_string(2 * i) + ",25\"\n";
    const auto experiment = trainedFor(20, *experimentOn(write("quoted.csv", text)));
    const QString found = predicted(*experiment, "new.csv", "size,id\n\"10,75\",a\n");
    QVERIFY2(found.startsWith(u'"') && found.endsWith(u'"') && found.count(u',') == 1,
             qPrintable(found));
}

/// Alone, 1,234 between tabs could have a comma between thousands.
void TestPredictedMarks::tabsAreReadAsTrained() {
    const auto experiment = trained("train.tsv", '\t', ',');
    const QString tabs = predicted(*experiment, "tabs.tsv", "size\tid\n1,234\ta\n");
    QVERIFY2(tabs.contains(u',') && !tabs.contains(u'.'), qPrintable(tabs));
    QCOMPARE(tabs, predicted(*experiment, "semicolons.csv", "size;id\n1,234;a\n"));
}

/// Whole numbers between commas are predicted with points, whatever semicolons had.
void TestPredictedMarks::otherSeparators() {
    const auto experiment = trained("train.csv", ';', ',');
    const QString commas = predicted(*experiment, "commas.csv", "size,id\n10,7\n");
    QVERIFY2(commas.contains(u'.') && !commas.contains(u','), qPrintable(commas));
}

void TestPredictedMarks::targetsAreReadAsTrained() {
    const auto experiment = trained("train.tsv", '\t', ',');
    const std::string table = "size\tprice\n1,234\t2,125\n";
    const double guess = predicted(*experiment, "known.tsv", table).replace(u',', u'.').toDouble();
    const auto samples = predictedSamples(*experiment, 0, write("known.tsv", table));
    const QString note = QString::fromStdString(samples->notes.back().english());
    const QString start =
        QStringLiteral("fp32: Mean absolute error over the samples whose price is known (1): ");
    QVERIFY2(note.startsWith(start), qPrintable(note));
    const double told = note.mid(start.size()).chopped(1).toDouble(); // without the full stop
    const double error = std::abs(guess - 2.125);
    QVERIFY2(std::abs(told - error) <= 1e-3 * error, qPrintable(note)); // four digits
}

} // namespace tst_predicted_marks

QTEST_GUILESS_MAIN(tst_predicted_marks::TestPredictedMarks)
#include "tst_predicted_marks.moc"
