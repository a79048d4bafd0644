// Values that are far from all others of their column: which ones are found, that ordinary columns
// have none, and what is told of a table with one.
#include "engine/data/dataset.h"
#include "engine/data/outliers.h"
#include "tests/support/array_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

namespace tst_outliers {

using namespace halfscope;

namespace {

using Values = std::vector<double>;
using Indices = std::vector<size_t>;

/// Returns numbers between -1 and 1.
Values even(size_t count) {
    Values values;
    for (size_t i = 0; i < count; ++i)
        values.push_back(std::sin(static_cast<double>(i)));
    return values;
}

Values with(Values values, std::initializer_list<std::pair<size_t, double>> changes) {
    for (const auto& [at, value] : changes)
        values[at] = value;
    return values;
}

} // namespace

class TestOutliers : public QObject {
    Q_OBJECT

private slots:
    void found() {
        QCOMPARE(outliersOf(with(even(100), {{7, 1e9}})), (Indices{7}));
        QCOMPARE(outliersOf(with(even(100), {{70, -1e9}, {7, 1e9}})), (Indices{7, 70}));
        QCOMPARE(outliersOf(with(even(100), {{1, 90}, {2, 95}, {3, 1e3}})), (Indices{3}));
        QCOMPARE(outliersOf(with(even(50), {{1, 1e3}, {2, 2e3}, {3, 3e3}})), (Indices{1, 2, 3}));
        Values prices = even(100);
        for (double& price : prices)
            price = std::exp(price);
        QCOMPARE(outliersOf(with(prices, {{7, 5000}})), (Indices{7})); // a point was forgotten
    }

    void notFound() {
        QCOMPARE(outliersOf({}), Indices());
        QCOMPARE(outliersOf(even(100)), Indices());
        QCOMPARE(outliersOf(with(even(49), {{7, 1e9}})), Indices()); // too few
        QCOMPARE(outliersOf(with(even(100), {{1, 1e9}, {2, 1e9}, {3, 1e9}, {4, 1e9}})), Indices());
        QCOMPARE(outliersOf(with(even(100), {{7, 9}})), Indices()); // too near
        // far from the others, but without most of the variance
        QCOMPARE(outliersOf(with(even(1000), {{7, 11}})), Indices());
        QCOMPARE(outliersOf(with(Values(100, 0.0), {{7, 1}})), Indices()); // a flag
        QCOMPARE(outliersOf(with(even(100), {{7, INFINITY}})), Indices());
    }

    /// Incomes, sizes of towns and the like are log-normal, and some are far larger than most.
    void heavyTails() {
        std::mt19937 random(1);
        for (const double sigma : {0.5, 1.0, 2.0, 3.0})
            for (const size_t count : {size_t{50}, size_t{200}, size_t{1000}})
                for (int times = 0; times < 50; ++times) {
                    std::lognormal_distribution<double> draw(3, sigma);
                    Values values(count);
                    for (double& value : values)
                        value = draw(random);
                    QCOMPARE(outliersOf(values), Indices());
                }
    }

    /// The note names the column, the line and the text, where the column is standardised.
    void told() {
        QTemporaryDir folder;
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.validation = 0;
        std::string text = "a,b,y\n1,,1\n"; // lacks a value
        for (int i = 0; i < 60; ++i)
            text += (i == 4 ? "1e9," : std::to_string(i % 7) + ",") + std::to_string(i % 5) + "," +
                    (i == 50 ? "-2e6" : std::to_string(i % 9)) + "\n";
        task.path = writeBytes(folder.filePath("t.csv").toStdString(), text);
        task.missing = Missing::Drop;
        const auto notes = [&] {
            QStringList all;
            for (const Message& note : makeDataset(task, 0)->notes())
                all << QString::fromStdString(note.english());
            return all.filter("far from all others");
        };
        const QString note = "Columns have one to three values so far from all others that "
                             "standardising makes the others nearly equal: %1. The first is in " +
                             QString::fromStdString(task.path) +
                             ", line %2. Correct such values, or leave their lines out.";
        const QString inputs = note.arg("a", "7: \"1e9\" in the column \"a\"");
        QCOMPARE(notes(), QStringList(inputs));
        task.standardiseTarget = true;
        QCOMPARE(notes(), QStringList(note.arg("a, y", "7: \"1e9\" in the column \"a\"")));
        task.standardise = false;
        QCOMPARE(notes(), QStringList(note.arg("y", "53: \"-2e6\" in the column \"y\"")));
        task.standardiseTarget = false;
        QCOMPARE(notes(), QStringList());
        // float32 does not tell the others apart any more
        task.standardiseTarget = true;
        text.replace(text.find("-2e6"), 4, "1e12");
        writeBytes(task.path, text);
        QCOMPARE(notes(), QStringList(note.arg("y", "53: \"1e12\" in the column \"y\"")));
    }

    /// Samples to train on are drawn, lines without targets are no samples, and a number that
    /// stands for missing values has a note of its own.
    void toldOfDrawnSamples() {
        QTemporaryDir folder;
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.validation = 0.25;
        task.missing = Missing::Mean;
        std::string text = "a,b,c,y\n1,2,3,\n1,,3,1\n";
        QStringList places;
        for (int i = 0; i < 200; ++i) {
            const bool far = i == 20 || i == 90 || i == 160;
            const std::string a = std::to_string(far ? 1'000'000'000 + i : i % 7);
            text += a + "," + std::to_string(i % 5) + "," +
                    (i % 70 == 7 ? "-999" : std::to_string(i % 11)) + "," + std::to_string(i % 9) +
                    "\n";
            if (far)
                places << QStringLiteral(", line %1: \"%2\" in the column \"a\"")
                              .arg(i + 4)
                              .arg(QString::fromStdString(a));
        }
        task.path = writeBytes(folder.filePath("drawn.csv").toStdString(), text);
        QStringList all;
        for (const Message& note : makeDataset(task, 0)->notes())
            all << QString::fromStdString(note.english());
        QCOMPARE(all.filter("c (-999, 3)").size(), 1);
        const QStringList notes = all.filter("values so far from all others");
        QCOMPARE(notes.size(), 1);
        QVERIFY2(notes[0].contains("nearly equal: a. The first"), qPrintable(notes[0]));
        const auto isTold = [&](const QString& place) { return notes[0].contains(place); };
        QVERIFY2(std::ranges::any_of(places, isTold), qPrintable(notes[0]));
    }
};

} // namespace tst_outliers

QTEST_GUILESS_MAIN(tst_outliers::TestOutliers)
#include "tst_outliers.moc"
