// First experiments on tables: which column, loss, lines and columns an opened table leads to.
#include "engine/settings/data_experiment.h"

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_length.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

namespace tst_table_experiment {

using namespace halfscope;

namespace {

/// Returns a table with `values` in turn as its last column, after two columns of numbers.
std::string table(int rows, const QStringList& values) {
    std::string text = "a,b,what\n";
    for (int i = 0; i < rows; ++i)
        text += std::to_string(i % 11) + "," + std::to_string(0.5 * i) + "," +
                values[i % values.size()].toStdString() + "\n";
    return text;
}

QStringList numbers(int count, double step) {
    QStringList list;
    for (int i = 0; i < count; ++i)
        list << QString::number(i * step);
    return list;
}

/// Returns how many bytes this process has read from files so far; -1 where nobody counts them.
qint64 bytesRead() {
    QFile counters(QStringLiteral("/proc/self/io"));
    if (!counters.open(QIODevice::ReadOnly)) return -1;
    const QByteArray first = counters.readLine(); // "rchar: 1234"
    return first.startsWith("rchar: ") ? first.mid(7).trimmed().toLongLong() : -1;
}

} // namespace

class TestTableExperiment : public QObject {
    Q_OBJECT
private slots:
    void tables_data();
    void tables();
    void farTargets();
    void targets();
    void missingValues();
    void valuesWithoutTargets();
    void gapsInMostLines();
    void unusableColumns();
    void formattedTargets();
    void numbersBeyondFloat();
    void numberInDroppedLine();
    void columnThatCostsLines();
    void columnsOfDates();
    void datesNoLongerPredicted();
    void chosenColumn();
    void anotherColumn();
    void tablesOfOtherPrograms();
    void manyWords();
    void largeTablesAreReadSeldom_data();
    void largeTablesAreReadSeldom();

private:
    std::string path(const QString& name) const { return m_folder.filePath(name).toStdString(); }

    QTemporaryDir m_folder;
};

void TestTableExperiment::tables_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<QStringList>("values");
    QTest::addColumn<QString>("loss");
    QTest::newRow("words") << 60 << QStringList{"low", "high"} << "cross-entropy";
    QTest::newRow("0 and 1") << 60 << QStringList{"0", "1"} << "cross-entropy";
    QTest::newRow("signs") << 60 << QStringList{"+1", "-1"} << "cross-entropy";
    QTest::newRow("whole reals") << 60 << QStringList{"1.0", "2.0", "3.0"} << "cross-entropy";
    QTest::newRow("20 numbers") << 200 << numbers(20, 1) << "cross-entropy";
    QTest::newRow("21 numbers") << 300 << numbers(21, 1) << "mse";
    QTest::newRow("few of each") << 60 << numbers(20, 1) << "mse";
    QTest::newRow("halves") << 60 << numbers(4, 0.5) << "mse";
    QTest::newRow("many numbers, some missing")
        << 300 << numbers(99, 0.5) + QStringList{"NA"} << "mse";
    QTest::newRow("many words") << 60 << QStringList{"1", "2", "3", "?"} << "cross-entropy";
}

void TestTableExperiment::tables() {
    QFETCH(const int, rows);
    QFETCH(const QStringList, values);
    QFETCH(const QString, loss);
    const std::string file = path(QString("%1.csv").arg(QTest::currentDataTag()));
    writeBytes(file, table(rows, values));
    const auto config = experimentOn(file);
    QVERIFY(config);
    QCOMPARE(QString(nameOf(config->task.loss.kind)), loss);
    QCOMPARE(std::string(nameOf(config->task.kind)), std::string("csv"));
    QCOMPARE(config->task.path, file);
    QCOMPARE(config->title, std::string(QTest::currentDataTag()));
    checkConfig(*config);
    QCOMPARE(laneNames(*config), (std::vector<std::string>{"fp32", "amp-fp16"}));
    const int64_t train = rows - rows / 10;
    QCOMPARE(config->task.batch, std::min<int64_t>(64, train));
    QVERIFY(stepsOf(*config) <= 1000 + train);
}

/// Targets far from mean 0 and deviation 1 are standardised, unless the user decided.
void TestTableExperiment::farTargets() {
    const auto of = [&](double step, std::span<const Assignment> given = {}) {
        const std::string file = path(QString("far %1.csv").arg(step));
        writeBytes(file, table(300, numbers(99, step)));
        return experimentOn(file, given)->task.standardiseTarget;
    };
    QVERIFY(of(5000.5));
    QVERIFY(of(0.00015));
    QVERIFY(!of(0.05));
    const Assignment given[] = {parseAssignment("data.standardise_target=false")};
    QVERIFY(!of(5000.5, given));
    const Assignment shares[] = {parseAssignment("task.loss=bce-with-logits")};
    QVERIFY(!of(0.0001, shares));
    writeBytes(path("words.csv"), table(60, {"low", "high"}));
    QVERIFY(!experimentOn(path("words.csv"))->task.standardiseTarget);
    QVERIFY(!defaultConfig().task.standardiseTarget); // of an old file that says nothing
}

/// The column to predict is the last one, unless another has the name of a target, or the last one
/// is always the same.
void TestTableExperiment::targets() {
    const auto of = [&](const std::string& header, const std::string& line, const char* set = "") {
        std::string text = header;
        for (int i = 0; i < 60; ++i)
            text += std::to_string(i % 7) + "," + std::to_string(i) + "," + line + "\n";
        writeBytes(path("targets.csv"), text);
        std::vector<Assignment> given;
        if (*set) given.push_back(parseAssignment(set));
        return experimentOn(path("targets.csv"), given)->task.target;
    };
    writeBytes(path("three.csv"), "Label,b,c\n1,2,3\n2,3,4\n1,3,4\n2,4,6\n");
    QCOMPARE(experimentOn(path("three.csv"))->task.target, std::string("Label"));
    writeBytes(path("three.csv"), "label,y,c\n1,2,3\n2,3,4\n1,3,4\n2,4,6\n"); // either
    QCOMPARE(experimentOn(path("three.csv"))->task.target, std::string());
    writeBytes(path("three.csv"), "label,b,y\n1,2,3\n2,3,4\n1,3,4\n2,4,6\n");
    QCOMPARE(experimentOn(path("three.csv"))->task.target, std::string());
    QCOMPARE(of("a,b,c\n", "0"), std::string("a"));
    QCOMPARE(of("", "0"), std::string("c1"));
    QCOMPARE(of("a,b,c\n", "0", "data.drop=a"), std::string()); // b is different in each line
    QCOMPARE(of("a,b,c\n", "0", "data.target=b"), std::string("b"));
}

/// Lines without a value are left out when they must be.
void TestTableExperiment::missingValues() {
    for (const bool missing : {false, true}) {
        const std::string file = path(missing ? "missing.csv" : "whole.csv");
        writeBytes(file, table(60, {"low", "high"}) + (missing ? "1,,low\n" : "1,2,low\n"));
        const auto config = experimentOn(file);
        QVERIFY(config);
        QCOMPARE(config->task.missing, missing ? Missing::Drop : Missing::Refuse);
        const auto facts = factsOf(config->task);
        QCOMPARE(facts.train + facts.validation, int64_t{missing ? 60 : 61});
        QCOMPARE(facts.notes.size(), size_t(missing) + 1);
    }
}

/// Means fill the gaps where few lines would be left without them, and columns without any value
/// are left out.
void TestTableExperiment::gapsInMostLines() {
    for (const int whole : {25, 35}) { // of 60 lines
        std::string text = "a,empty,b,c,what\n";
        for (int i = 0; i < 60; ++i) {
            const std::string n = std::to_string(i);
            text += (i < whole || i % 2 ? n : "") + ",," + (i < whole || i % 2 == 0 ? n : "NA") +
                    "," + n + (i % 3 ? ",low\n" : ",high\n");
        }
        const std::string file = path(QString("gaps%1.csv").arg(whole));
        writeBytes(file, text);
        const auto config = experimentOn(file);
        QVERIFY(config);
        QCOMPARE(config->task.drop, std::string("empty"));
        QCOMPARE(config->task.missing, whole < 30 ? Missing::Mean : Missing::Drop);
        QCOMPARE(config->task.loss.kind, LossKind::CrossEntropy);
        checkConfig(*config);
    }
}

/// A column may have no value in the lines that have a target.
void TestTableExperiment::valuesWithoutTargets() {
    std::string text = "a,late,y\n";
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i) + (i < 30 ? "," + std::to_string(3 * i) + ",\n"
                                            : ",NA," + std::to_string(i * i) + "\n");
    writeBytes(path("late.csv"), text);
    const auto config = experimentOn(path("late.csv"));
    QCOMPARE(config->task.missing, Missing::Mean);
    QCOMPARE(config->task.drop, std::string("late"));
    QCOMPARE(predicting(*config, "a").task.target, std::string("a"));
}

/// Of a table that cannot be used, the reason is told, not that its classes are no numbers.
void TestTableExperiment::unusableColumns() {
    std::string text = "id,note,a,what\n";
    for (int i = 0; i < 200; ++i)
        text += "C" + std::to_string(i) + ",note " + std::to_string(i) + "," + std::to_string(i) +
                (i % 2 ? ",yes\n" : ",no\n");
    const std::string file = path("notes.csv");
    writeBytes(file, text);
    QCOMPARE(experimentOn(file)->task.drop, std::string("id, note"));
    const Assignment one[] = {parseAssignment("data.drop=id")};
    QCOMPARE(thrownBy<InputError>([&] { experimentOn(file, one); }),
             file + ": more than 100 different words are too many for columns of inputs: note; to "
                    "leave such columns out, set data.drop to id, note");
    const Assignment both[] = {parseAssignment("data.drop=id,note")};
    QCOMPARE(experimentOn(file, both)->task.loss.kind, LossKind::CrossEntropy);
}

/// Prices with thousands separators are no classes, unless someone says so. Where points stand
/// between thousands and commas before decimals, they are numbers.
void TestTableExperiment::formattedTargets() {
    std::string prices = "a;price\n", spaced = "a;price\n", few = "a,share\n";
    for (int i = 0; i < 60; ++i) {
        prices +=
            std::to_string(i) + ";" + (i % 3 ? "1.1" + std::to_string(10 + i) : "950") + ",50\n";
        spaced += std::to_string(i) + (i % 3 ? ";1 1" + std::to_string(10 + i) : ";950") + ",50\n";
        few += std::to_string(i) + (i % 2 ? ",5%\n" : ",10%\n");
    }
    writeBytes(path("prices.csv"), prices);
    writeBytes(path("spaced.csv"), spaced);
    writeBytes(path("few.csv"), few);
    QCOMPARE(experimentOn(path("prices.csv"))->task.loss.kind, LossKind::Mse);
    QCOMPARE(thrownBy<InputError>([&] { experimentOn(path("spaced.csv")); }),
             path("spaced.csv") +
                 ", line 3: \"1 111,50\" in the column \"price\" is not allowed: a number without "
                 "thousands separators, percent signs and signs of currency; to use such values, "
                 "format their cells as plain numbers in a spreadsheet program, and save the table "
                 "as CSV again");
    const Assignment loss[] = {parseAssignment("task.loss=cross-entropy")};
    QCOMPARE(experimentOn(path("prices.csv"), loss)->task.loss.kind, LossKind::CrossEntropy);
    QCOMPARE(experimentOn(path("few.csv"))->task.loss.kind, LossKind::CrossEntropy);
}

/// A number that no float32 holds does not hide behind the gaps of the table: as an input it is
/// left out with its column, and as a target it is named.
void TestTableExperiment::numbersBeyondFloat() {
    for (const bool target : {false, true}) {
        std::string text = "a,b,y\n";
        for (int i = 0; i < 120; ++i)
            text += (i == 3 ? "" : std::to_string(i)) + "," +
                    (i == 100 && !target ? "1e300" : std::to_string(i % 7)) + "," +
                    (i == 100 && target ? "1e300" : std::to_string(i) + ".5") + "\n";
        writeBytes(path("beyond.csv"), text);
        if (target) {
            const auto error = thrownBy<InputError>([&] { experimentOn(path("beyond.csv")); });
            QVERIFY2(error.find("line 102: \"1e300\" in the column \"y\"") != error.npos,
                     error.c_str());
            continue;
        }
        const auto config = experimentOn(path("beyond.csv"));
        QVERIFY(config);
        QCOMPARE(config->task.drop, std::string("b"));
        QCOMPARE(config->task.missing, Missing::Drop);
        QCOMPARE(config->task.loss.kind, LossKind::Mse);
    }
}

/// A column is not left out for a number that stands only in a line that is left out itself.
void TestTableExperiment::numberInDroppedLine() {
    for (const char* target : {"", "y"}) { // at first and when a column is chosen
        std::string text = "a,b,y,z\n";
        for (int i = 0; i < 160; ++i)
            text += (i == 100 ? "" : std::to_string(i)) + "," +
                    (i == 100 ? "1e300" : std::to_string(i % 7)) + "," + std::to_string(i) + ".5," +
                    std::to_string(3 * i) + ".25\n";
        writeBytes(path("both.csv"), text);
        RunConfig config = *experimentOn(path("both.csv"));
        if (*target != '\0') {
            config.task.missing = Missing::Refuse;
            config = predicting(config, target);
        }
        QCOMPARE(config.task.missing, Missing::Drop);
        QCOMPARE(config.task.drop, std::string());
        QCOMPARE(factsOf(config.task).tensors[kX].shape, (Shape{3}));
    }
}

/// A column with gaps does not come back where it would cost the lines that lack it.
void TestTableExperiment::columnThatCostsLines() {
    std::string text = "a,note,y\n";
    for (int i = 0; i < 240; ++i)
        text += (i >= 230 ? "" : std::to_string(i)) + "," +
                (i >= 230 || (i < 190 && i % 2 == 0) ? "note " + std::to_string(i) : "") + "," +
                std::to_string(i) + ".5\n"; // 105 notes, but 95 in lines with a number
    writeBytes(path("costs.csv"), text);
    const auto config = experimentOn(path("costs.csv"));
    QCOMPARE(config->task.drop, std::string("note"));
    QCOMPARE(config->task.missing, Missing::Drop);
}

/// They are left out even where there are few enough to be inputs, unless someone says otherwise.
void TestTableExperiment::columnsOfDates() {
    std::string text = "when,a,what\n";
    for (int i = 0; i < 60; ++i)
        text += std::to_string(1 + i % 28) + ".02.2024," + std::to_string(i) +
                (i % 2 ? ",low\n" : ",high\n");
    writeBytes(path("dates.csv"), text);
    QCOMPARE(experimentOn(path("dates.csv"))->task.drop, std::string("when"));
    const Assignment given[] = {parseAssignment("data.drop=")};
    const auto kept = experimentOn(path("dates.csv"), given);
    QCOMPARE(kept->task.drop, std::string());
    QCOMPARE(factsOf(kept->task).tensors[kX].shape, (Shape{29}));
    QCOMPARE(predicting(*kept, "a").task.drop, std::string()); // whoever took them back keeps them
}

/// They are left out again once another column is to be predicted, also where the last one was.
void TestTableExperiment::datesNoLongerPredicted() {
    std::string first = "when,a,y\n", last = "a,y,when\n";
    for (int i = 0; i < 60; ++i) {
        const std::string when = std::to_string(1 + i % 4) + ".02.2024";
        const std::string others = std::to_string(i) + "," + std::to_string(i) + ".5";
        first += when + "," + others + "\n";
        last += others + "," + when + "\n";
    }
    writeBytes(path("first.csv"), first);
    const RunConfig moved = predicting(*experimentOn(path("first.csv")), "when");
    QCOMPARE(moved.task.drop, std::string());
    QCOMPARE(predicting(moved, "y").task.drop, std::string("when"));
    writeBytes(path("last.csv"), last);
    const Assignment given[] = {parseAssignment("data.target=when")};
    RunConfig config = *experimentOn(path("last.csv"), given);
    QCOMPARE(config.task.drop, std::string());
    config.task.target.clear(); // the last column
    QCOMPARE(predicting(config, "y").task.drop, std::string("when"));
}

/// The column to predict is known before the loss is chosen.
void TestTableExperiment::chosenColumn() {
    std::string text = "what,a,b\n";
    for (int i = 0; i < 60; ++i)
        text += std::string(i % 2 ? "low" : "high") + "," + std::to_string(i) + "," +
                std::to_string(i % 5) + ".5\n";
    writeBytes(path("first.csv"), text);
    QCOMPARE(experimentOn(path("first.csv"))->task.loss.kind, LossKind::Mse);
    const Assignment given[] = {parseAssignment("data.target=what"),
                                parseAssignment("task.batch=7"), parseAssignment("run.seed=3")};
    const auto config = experimentOn(path("first.csv"), given);
    QVERIFY(config);
    QCOMPARE(config->task.target, std::string("what"));
    QCOMPARE(config->task.loss.kind, LossKind::CrossEntropy);
    QCOMPARE(config->task.batch, int64_t{7});
    QCOMPARE(config->seed, defaultConfig().seed); // left to the caller
    checkConfig(*config);
    const Assignment loss[] = {parseAssignment("data.target=a"), parseAssignment("task.loss=mse")};
    writeBytes(path("two.csv"), table(60, {"0", "1"}));
    QCOMPARE(experimentOn(path("two.csv"))->task.loss.kind, LossKind::CrossEntropy);
    QCOMPARE(experimentOn(path("two.csv"), loss)->task.loss.kind, LossKind::Mse);
}

/// The loss of the column before would make each number a class, or refuse the words.
void TestTableExperiment::anotherColumn() {
    std::string text = "day,what,a,b\n";
    for (int i = 0; i < 120; ++i)
        text += "d" + std::to_string(i) + "," + (i % 2 ? "low" : "high") + "," +
                (i == 7 ? "" : std::to_string(i)) + "," + std::to_string(5000 * i) + "\n";
    writeBytes(path("other.csv"), text);
    const RunConfig first = *experimentOn(path("other.csv"));
    QCOMPARE(first.task.drop, std::string("day"));
    const auto with = [&](const char* column) {
        const RunConfig config = predicting(first, column);
        checkConfig(config);
        return config.task;
    };
    QCOMPARE(with("what").loss.kind, LossKind::CrossEntropy);
    QVERIFY(!with("what").standardiseTarget);
    QCOMPARE(with("what").drop, std::string("day"));
    QCOMPARE(with("a").loss.kind, LossKind::Mse);
    QCOMPARE(with("").loss.kind, LossKind::Mse);
    QVERIFY(with("").standardiseTarget);
    QCOMPARE(predicting(predicting(first, "what"), "b").task.loss.kind, LossKind::Mse);
    QCOMPARE(thrownBy<InputError>([&] { predicting(first, "no"); }).substr(0, 12), "data.target:");
    // a column that was left out can be predicted; what needed it to be left out is gone
    QCOMPARE(predicting(first, "day").task.drop, std::string());
}

void TestTableExperiment::tablesOfOtherPrograms() {
    std::string tabs = "\tcolour\tsize\tkind\n", semicolons = "colour;size;dry;price\r\n";
    for (int i = 0; i < 60; ++i) {
        const std::string number = std::to_string(i), colour = i % 3 ? "red" : "blue";
        tabs += number + "\t" + colour + "\t0.5\t" + (i % 2 ? "low\n" : "high\n");
        semicolons += colour + ";" + number + ",5;" + (i % 4 ? "yes;" : "no;") + number + ",25\r\n";
    }
    writeBytes(path("some.TSV"), tabs);
    writeBytes(path("excel.csv"), semicolons);
    const auto first = experimentOn(path("some.TSV")), second = experimentOn(path("excel.csv"));
    QVERIFY(first && second);
    QCOMPARE(first->task.loss.kind, LossKind::CrossEntropy);
    QCOMPARE(factsOf(first->task).tensors[kX].shape, (Shape{3})); // without the index
    QCOMPARE(second->task.loss.kind, LossKind::Mse);
    QCOMPARE(factsOf(second->task).tensors[kX].shape, (Shape{4}));
    QCOMPARE(factsOf(second->task).notes.size(), size_t{5});
    for (const auto& each : {first, second})
        checkConfig(*each);
}

/// A column of many words, such as the names in a list of passengers, is left out, and a note says
/// so.
void TestTableExperiment::manyWords() {
    std::string text = "name,age,cabin,alive\n";
    for (int i = 0; i < 240; ++i)
        text += "\"Doe, J. " + std::to_string(i) + "\"," + (i % 7 ? std::to_string(i % 80) : "") +
                ",C" + std::to_string(i % 120) + (i % 2 ? ",1\n" : ",0\n");
    writeBytes(path("ship.csv"), text);
    const auto config = experimentOn(path("ship.csv"));
    QVERIFY(config);
    QCOMPARE(config->task.drop, std::string("name, cabin"));
    QCOMPARE(config->task.missing, Missing::Drop);
    const DataFacts facts = factsOf(config->task);
    QCOMPARE(facts.notes[1].english(),
             std::string("Columns with more than 100 different words, such as free text, "
                         "cannot be inputs. The setting data.drop leaves out: name, cabin."));
    QCOMPARE(facts.train + facts.validation, int64_t{240 - 35});
    QCOMPARE(config->task.loss.kind, LossKind::CrossEntropy);
    const Assignment given[] = {parseAssignment("data.drop=name"),
                                parseAssignment("data.missing=drop")};
    QVERIFY(thrownBy<InputError>([&] {
                experimentOn(path("ship.csv"), given);
            }).ends_with("inputs: cabin; to leave such columns out, set data.drop to name, cabin"));
}

void TestTableExperiment::largeTablesAreReadSeldom_data() {
    QTest::addColumn<QStringList>("colours");
    QTest::addColumn<QStringList>("values");
    QTest::addColumn<int>("opening"); // how often the table is read
    QTest::addColumn<int>("making");
    const QStringList none{"0.5", "0.25"}, words{"red", "green", "blue"};
    QTest::newRow("classes") << none << QStringList{"0", "1", "2"} << 1 << 1;
    QTest::newRow("names of classes") << none << QStringList{"low", "high"} << 1 << 1;
    QTest::newRow("words among the inputs") << words << QStringList{"0", "1"} << 2 << 1;
    QTest::newRow("numbers") << none << numbers(99, 0.03) << 1 << 1;
    QTest::newRow("numbers and words") << words << numbers(99, 0.03) << 2 << 1;
    // once more to be standardised
    QTest::newRow("large numbers") << none << numbers(99, 1e5) << 2 << 1;
}

/// A table may have gigabytes: what one look has told is not looked for again.
void TestTableExperiment::largeTablesAreReadSeldom() {
    QFETCH(const QStringList, colours);
    QFETCH(const QStringList, values);
    QFETCH(const int, opening);
    QFETCH(const int, making);
    if (bytesRead() < 0) QSKIP("this system does not count what a process reads");
    constexpr int kLines = 240'000;
    std::string text = "a,colour,b,what\n";
    for (int i = 0; i < kLines; ++i)
        text += std::to_string(i % 1013) + ".015625," + colours[i % colours.size()].toStdString() +
                "," + std::to_string(0.5 * i) + "," + values[i % values.size()].toStdString() +
                "\n";
    const std::string file = writeBytes(path("large.csv"), text);
    const auto reads = [&](qint64 since) {
        return static_cast<double>(bytesRead() - since) / static_cast<double>(text.size());
    };
    constexpr double kStarts = 0.6; // blocks of first lines, which are looked at more often
    qint64 before = bytesRead();
    const auto config = experimentOn(file);
    QVERIFY(config);
    const double opened = reads(before);
    QVERIFY2(opened > opening - 0.5 && opened < opening + kStarts,
             qPrintable(QString::number(opened)));
    before = bytesRead();
    QCOMPARE(makeDataset(config->task, 0)->samples(Split::Train), int64_t{kLines / 10 * 9});
    const double made = reads(before);
    QVERIFY2(made > making - 0.5 && made < making + kStarts, qPrintable(QString::number(made)));
}

} // namespace tst_table_experiment

QTEST_APPLESS_MAIN(tst_table_experiment::TestTableExperiment)
#include "tst_table_experiment.moc"
