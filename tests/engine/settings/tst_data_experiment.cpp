// First experiments on the user's data: which data set, loss and length the files lead to.
#include "engine/settings/data_experiment.h"

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/io/picture.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_length.h"
#include "engine/step/model_shapes.h"
#include "tests/support/array_files.h"
#include "tests/support/ordinary_user.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

namespace tst_data_experiment {

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

} // namespace

class TestDataExperiment : public QObject {
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
    void chosenColumn();
    void anotherColumn();
    void tablesOfOtherPrograms();
    void manyWords();
    void archives();
    void chosenSide();
    void arrays_data();
    void arrays();
    void digits();
    void pictures();
    void closedFolder_data();
    void closedFolder();
    void texts();
    void textsWithClasses();
    void foldersOfArrays();
    void titles();
    void notData();
    void wrongData();

private:
    std::string path(const QString& name) const { return m_folder.filePath(name).toStdString(); }

    QTemporaryDir m_folder;
};

void TestDataExperiment::tables_data() {
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

void TestDataExperiment::tables() {
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
void TestDataExperiment::farTargets() {
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
void TestDataExperiment::targets() {
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
void TestDataExperiment::missingValues() {
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
void TestDataExperiment::gapsInMostLines() {
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
void TestDataExperiment::valuesWithoutTargets() {
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
void TestDataExperiment::unusableColumns() {
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

/// Prices with thousands separators are no classes, unless someone says so.
void TestDataExperiment::formattedTargets() {
    std::string prices = "a;price\n", few = "a,share\n";
    for (int i = 0; i < 60; ++i) {
        prices +=
            std::to_string(i) + ";" + (i % 3 ? "1.1" + std::to_string(10 + i) : "950") + ",50\n";
        few += std::to_string(i) + (i % 2 ? ",5%\n" : ",10%\n");
    }
    writeBytes(path("prices.csv"), prices);
    writeBytes(path("few.csv"), few);
    QCOMPARE(thrownBy<InputError>([&] { experimentOn(path("prices.csv")); }),
             path("prices.csv") +
                 ", line 3: \"1.111,50\" in the column \"price\" is not allowed: a number without "
                 "thousands separators, percent signs and signs of currency; to use such values, "
                 "format their cells as plain numbers in a spreadsheet program, and save the table "
                 "as CSV again");
    const Assignment loss[] = {parseAssignment("task.loss=cross-entropy")};
    QCOMPARE(experimentOn(path("prices.csv"), loss)->task.loss.kind, LossKind::CrossEntropy);
    QCOMPARE(experimentOn(path("few.csv"))->task.loss.kind, LossKind::CrossEntropy);
}

/// The column to predict is known before the loss is chosen.
void TestDataExperiment::chosenColumn() {
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
void TestDataExperiment::anotherColumn() {
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

void TestDataExperiment::tablesOfOtherPrograms() {
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
void TestDataExperiment::manyWords() {
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
             std::string("Columns with more than 100 different words, such as dates or free text, "
                         "cannot be inputs. The setting data.drop leaves out: name, cabin."));
    QCOMPARE(facts.train + facts.validation, int64_t{240 - 35});
    QCOMPARE(config->task.loss.kind, LossKind::CrossEntropy);
    const Assignment given[] = {parseAssignment("data.drop=name"),
                                parseAssignment("data.missing=drop")};
    QVERIFY(thrownBy<InputError>([&] {
                experimentOn(path("ship.csv"), given);
            }).ends_with("inputs: cabin; to leave such columns out, set data.drop to name, cabin"));
}

void TestDataExperiment::archives() {
    const auto array = [](const char* shape, size_t bytes) {
        return npy("<f4", shape, std::string(bytes, '\0'));
    };
    writeBytes(path("both.npz"), zipBytes({{"x_train.npy", array("(4, 2)", 32)},
                                           {"y_train.npy", array("(4,)", 16)}}));
    const auto config = experimentOn(path("both.npz"));
    QVERIFY(config);
    QCOMPARE(config->task.kind, TaskKind::Arrays);
    QCOMPARE(config->task.x, path("both.npz"));
    QCOMPARE(config->task.loss.kind, LossKind::Mse);
    checkConfig(*config);
    writeBytes(path("one.npz"), zipBytes({{"x.npy", array("(4, 2)", 32)}}));
    QVERIFY(!experimentOn(path("one.npz")));
    writeBytes(path("cut.npz"), "PK\3\4");
    QVERIFY(isAbout(thrownBy<InputError>([&] { experimentOn(path("cut.npz")); }), path("cut.npz"),
                    "not a zip archive that can be read: it has no list of its files"));
    const std::string other = path("other.npz");
    writeBytes(other,
               zipBytes({{"inputs.npy", array("(4, 2)", 32)}, {"targets.npy", array("(4,)", 16)}}));
    QVERIFY(!experimentOn(other));
    QCOMPARE(thrownBy<InputError>([&] { checkCanBeExperiment(other); }),
             other + ": there are no arrays x and y (or X and Y, or x_train and y_train) in it to "
                     "train on; it has inputs, targets; numpy.savez('data.npz', x=x, y=y) names "
                     "them");
    QVERIFY(!config->task.test);
    writeBytes(path("parts.npz"), zipBytes({{"x_train.npy", array("(4, 2)", 32)},
                                            {"y_train.npy", array("(4,)", 16)},
                                            {"x_test.npy", array("(2, 2)", 16)},
                                            {"y_test.npy", array("(2,)", 8)}}));
    const auto parts = experimentOn(path("parts.npz"));
    QVERIFY(parts && parts->task.test);
    QCOMPARE(factsOf(parts->task).train, int64_t{4});
    writeBytes(path("misfits.npz"), zipBytes({{"x_train.npy", array("(4, 2)", 32)},
                                              {"y_train.npy", array("(4,)", 16)},
                                              {"x_test.npy", array("(2, 3)", 24)},
                                              {"y_test.npy", array("(2,)", 8)}}));
    const auto misfits = experimentOn(path("misfits.npz"));
    QVERIFY(misfits && !misfits->task.test);
    QCOMPARE(makeDataset(misfits->task, 0)->notes().at(0).english(),
             std::string("x_test and y_test, 2 samples, are not used. To validate on them, set "
                         "data.test to true."));
    QVERIFY(QFile::copy(QString::fromStdString(path("both.npz")), m_folder.filePath("B.NPZ")));
    QVERIFY(experimentOn(path("B.NPZ"))); // endings may be in upper case, as those of tables
}

/// The network fits pictures of the size that is asked for.
void TestDataExperiment::chosenSide() {
    const Picture grey{8, 8, 1, std::vector<float>(64, 0.5f)};
    for (const char* name : {"left", "right"}) {
        QDir().mkpath(m_folder.filePath("sides/") + name);
        writePng(grey, path(QString("sides/") + name + "/1.png"));
    }
    const Assignment given[] = {parseAssignment("data.side=16")};
    const auto config = experimentOn(path("sides"), given);
    QVERIFY(config);
    QCOMPARE(modelShapes(*config).error.english(), std::string());
    QVERIFY(config->model.layers.find("nn.Linear(512, 64)") != std::string::npos);
}

void TestDataExperiment::arrays_data() {
    QTest::addColumn<QString>("x");
    QTest::addColumn<QString>("y");
    QTest::addColumn<bool>("found");
    QTest::newRow("x and y") << "x.npy"
                             << "y.npy" << true;
    QTest::newRow("of a split") << "X_train.npy"
                                << "Y_train.npy" << true;
    QTest::newRow("of a split, as scikit-learn writes it") << "X_train.npy"
                                                           << "y_train.npy" << true;
    QTest::newRow("the last letter") << "box_x.npy"
                                     << "box_y.npy" << true;
    QTest::newRow("other names") << "left.npy"
                                 << "right.npy" << false;
}

/// Either of the two files may be opened.
void TestDataExperiment::arrays() {
    QFETCH(const QString, x);
    QFETCH(const QString, y);
    QFETCH(const bool, found);
    const QString folder = m_folder.filePath(QTest::currentDataTag());
    QDir().mkpath(folder);
    const std::string xs = (folder + "/" + x).toStdString(), ys = (folder + "/" + y).toStdString();
    writeBytes(xs, npy("<f4", "(4, 2)", std::string(32, '\0')));
    writeBytes(ys, npy("<f4", "(4,)", std::string(16, '\0')));
    for (const std::string& each : {xs, ys}) {
        if (!found) {
            const std::string error = thrownBy<InputError>([&] { experimentOn(each); });
            QVERIFY2(isAbout(error, each, "the other array is missing"), error.c_str());
            continue;
        }
        const auto config = experimentOn(each);
        QVERIFY(config);
        QCOMPARE(config->task.x, xs);
        QCOMPARE(config->task.y, ys);
        QCOMPARE(config->task.loss.kind, LossKind::Mse);
        checkConfig(*config);
    }
}

void TestDataExperiment::digits() {
    const QString folder = m_folder.filePath("digits");
    QDir().mkpath(folder + "/MNIST/raw");
    const std::string start = folder.toStdString() + "/MNIST/raw/";
    for (const auto& [part, count] : {std::pair("train", 3U), std::pair("t10k", 2U)}) {
        const auto size = size_t{count};
        writeBytes(start + part + "-images-idx3-ubyte",
                   idxBytes({count, 2, 2}, std::string(4 * size, '\1')));
        writeBytes(start + part + "-labels-idx1-ubyte", idxBytes({count}, std::string(size, '\2')));
    }
    for (const QString& given : {folder, folder + "/"}) {
        const auto config = experimentOn(given.toStdString());
        QVERIFY(config);
        QCOMPARE(config->task.kind, TaskKind::Mnist);
        QCOMPARE(config->task.loss.kind, LossKind::CrossEntropy);
        QCOMPARE(config->title, std::string("digits"));
        QCOMPARE(config->model.width, int64_t{256});
        checkConfig(*config);
    }
}

void TestDataExperiment::pictures() {
    const Picture grey{8, 8, 1, std::vector<float>(64, 0.5f)};
    for (const char* name : {"cat", "dog", "owl"}) {
        QDir().mkpath(m_folder.filePath("pets/") + name);
        writePng(grey, path(QString("pets/") + name + "/1.png"));
    }
    const auto config = experimentOn(path("pets"));
    QVERIFY(config);
    QCOMPARE(config->task.kind, TaskKind::Pictures);
    QCOMPARE(config->task.batch, int64_t{3});
    QVERIFY(config->model.layers.find("nn.Conv2d(3, 16, 3, padding=1)") != std::string::npos);
    QVERIFY(config->model.layers.find("nn.Linear(64, 3)") != std::string::npos);
    checkConfig(*config);
}

void TestDataExperiment::closedFolder_data() {
    QTest::addColumn<QStringList>("classes");
    QTest::addColumn<QString>("closed");
    QTest::addColumn<bool>("known");
    const QStringList flat{"a", "b", "c"}, parts{"train/a", "train/b", "train/c", "val/a"};
    QTest::newRow("class") << flat << "b" << true;
    QTest::newRow("class to train on") << parts << "train/b" << true;
    QTest::newRow("class to validate on") << parts << "val/a" << true;
    QTest::newRow("all to validate on") << parts << "val" << true;
    QTest::newRow("all to train on") << parts << "train" << false;
    QTest::newRow("only class") << QStringList{"train/a"} << "train/a" << false;
    QTest::newRow("of no data set") << QStringList{"a", "b/c"} << "a" << false;
}

/// A class that cannot be read is named: without it, the classes after it would have other numbers.
void TestDataExperiment::closedFolder() {
    QFETCH(const QStringList, classes);
    QFETCH(const QString, closed);
    QFETCH(const bool, known);
    const QTemporaryDir folder;
    for (const QString& name : classes) {
        QVERIFY(QDir(folder.path()).mkpath(name));
        writePng({4, 4, 1, std::vector<float>(16)}, folder.filePath(name + "/1.png").toStdString());
    }
    RunConfig config;
    config.task.kind = TaskKind::Pictures;
    config.task.path = folder.path().toStdString();
    QVERIFY(QFile(folder.path()).setPermissions(QFile::Permissions(0x7755)));
    QVERIFY(QFile(folder.filePath(closed)).setPermissions({}));
    std::string refused, opened;
    {
        const OrdinaryUser user;
        if (!user.holds()) QSKIP("nothing is closed to this user");
        refused = thrownBy<InputError>([&] { factsOf(config.task); });
        opened = thrownBy<InputError>([&] { QVERIFY(!experimentOn(config.task.path)); });
    }
    QVERIFY(QFile(folder.filePath(closed)).setPermissions(QFile::Permissions(0x7755)));
    QCOMPARE(refused, "data.path: " + folder.filePath(closed).toStdString() +
                          " cannot be read: Permission denied");
    QCOMPARE(opened, known ? refused : "nothing thrown");
}

void TestDataExperiment::texts() {
    std::string text;
    for (int i = 0; i < 90; ++i)
        text += "line " + std::to_string(i) + "\n";
    for (const char* name : {"notes.txt", "NOTES.Txt"}) {
        writeBytes(path(name), text);
        const auto config = experimentOn(path(name));
        QVERIFY(config);
        QCOMPARE(config->task.kind, TaskKind::Text);
        QCOMPARE(config->task.loss.kind, LossKind::CrossEntropy);
        QVERIFY(config->model.layers.find("nn.Embedding(16, 64)") != std::string::npos);
        checkConfig(*config);
        QCOMPARE(modelShapes(*config).error.english(), std::string());
    }
    const Assignment given[] = {parseAssignment("data.predict=every"),
                                parseAssignment("data.context=16")};
    const auto every = experimentOn(path("notes.txt"), given);
    QVERIFY(every);
    const ModelShapes shapes = modelShapes(*every);
    QCOMPARE(shapes.error.english() + shapes.warning.english(), std::string());
    QCOMPARE(shapes.layers.back().shape, (Shape{every->task.batch, 16, 16}));
}

void TestDataExperiment::textsWithClasses() {
    std::string reviews = "id,review,stars\n", names = "name,land\n";
    for (int i = 0; i < 200; ++i) {
        const std::string number = std::to_string(i);
        reviews += number + ",Seen " + (i % 3 ? "and enjoyed" : "but left") + " it: film " +
                   number + "," + std::to_string(i % 3) + "\n";
        names += "Ada" + std::string(1, static_cast<char>('a' + i % 26)) + "x" + number + ",land" +
                 std::to_string(i % 2) + "\n";
    }
    const auto config = experimentOn(writeBytes(path("reviews.csv"), reviews));
    QVERIFY(config);
    QCOMPARE(config->task.kind, TaskKind::TextClasses);
    QCOMPARE(config->task.textColumn + " " + config->task.target, std::string("review stars"));
    QCOMPARE(config->task.tokens, Tokens::Words);
    QCOMPARE(config->task.context, int64_t{8});
    QCOMPARE(config->task.loss.kind, LossKind::CrossEntropy);
    // padding and unknown words, then "seen", "it", ":", "film", "and", "enjoyed", "but", "left"
    QVERIFY2(config->model.layers.find("nn.Embedding(10, 64, padding_idx=0)") != std::string::npos,
             config->model.layers.c_str());
    checkConfig(*config);
    const ModelShapes shapes = modelShapes(*config);
    QCOMPARE(shapes.error.english() + shapes.warning.english(), std::string());
    QCOMPARE(shapes.layers.back().shape, (Shape{config->task.batch, 3}));
    QCOMPARE(predicting(*config, "review").task.textColumn, std::string());
    const auto short_ = experimentOn(writeBytes(path("names.csv"), names));
    QCOMPARE(short_->task.kind, TaskKind::TextClasses);
    QCOMPARE(short_->task.tokens, Tokens::Characters);
    const Assignment given[] = {parseAssignment("data.context=5")};
    QCOMPARE(experimentOn(path("names.csv"), given)->task.context, int64_t{5});
}

/// A folder with a single pair of arrays is opened, whatever else lies there; with several pairs
/// the user must choose.
void TestDataExperiment::foldersOfArrays() {
    const auto write = [&](const char* name) {
        writeBytes(path(name), npy("<f4", "(4,)", std::string(16, '\0')));
    };
    QDir().mkpath(m_folder.filePath("pair"));
    for (const char* name : {"pair/x.npy", "pair/y.npy", "pair/mean.npy"})
        write(name);
    const auto config = experimentOn(path("pair"));
    QVERIFY(config);
    QCOMPARE(config->task.kind, TaskKind::Arrays);
    QCOMPARE(config->task.x, path("pair/x.npy"));
    QCOMPARE(config->task.y, path("pair/y.npy"));
    QCOMPARE(config->title, std::string("pair"));
    for (const char* name : {"pair/x_notes.txt", "pair/y_notes.txt"})
        writeBytes(path(name), "");
    QVERIFY(experimentOn(path("pair")));
    for (const char* name : {"pair/x_test.npy", "pair/y_test.npy"})
        write(name);
    QVERIFY(!experimentOn(path("pair")));
}

void TestDataExperiment::titles() {
    TaskConfig task;
    QCOMPARE(titleOfData(task), std::string("checkerboard"));
    task.kind = TaskKind::Csv;
    task.path = "/data/house prices.csv";
    QCOMPARE(titleOfData(task), std::string("house prices"));
    task.path = "/data/pets/";
    QCOMPARE(titleOfData(task), std::string("pets"));
    task.path = "/data/\xc3\xa9t\xc3\xa9.csv"; // experiments are titled in ASCII
    QCOMPARE(titleOfData(task), std::string());
    task.kind = TaskKind::Image;
    task.image = "a/b.png";
    QCOMPARE(titleOfData(task), std::string("b"));
    RunConfig wanted = defaultConfig();
    wanted.task.kind = TaskKind::Image;
    wanted.task.image = (std::filesystem::current_path() / "a/b.png").string();
    wanted.title = "b";
    QCOMPARE(configText(painting(defaultConfig(), "a/b.png")), configText(wanted));
}

void TestDataExperiment::notData() {
    writeBytes(path("run.json"), "{}");
    QDir().mkpath(m_folder.filePath("empty"));
    writeBytes(path("weights.safetensors"), "no header");
    for (const char* each : {"run.json", "empty", "missing.json", "weights.safetensors"})
        QVERIFY2(!experimentOn(path(each)), each);
}

void TestDataExperiment::wrongData() {
    writeBytes(path("wrong.csv"), "a,b\n1,2\nx,3\n");
    const std::string error = thrownBy<InputError>([&] { experimentOn(path("wrong.csv")); });
    QVERIFY2(error.find("wrong.csv") != std::string::npos, error.c_str());
    QVERIFY2(error.find("\"x\"") != std::string::npos, error.c_str());
}

} // namespace tst_data_experiment

QTEST_APPLESS_MAIN(tst_data_experiment::TestDataExperiment)
#include "tst_data_experiment.moc"
