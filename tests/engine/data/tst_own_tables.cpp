// Tables of samples to validate on and for the test, beside the table to train on, which alone
// decides what columns, classes and means are.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/data_print.h"
#include "engine/data/own_files.h"
#include "engine/data/targets.h"
#include "engine/data/test_split.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/idle_settings.h"
#include "tests/support/array_files.h"
#include "tests/support/split_values.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

namespace tst_own_tables {

using namespace halfscope;
using namespace halfscope::split_values;

namespace {

constexpr const char* kTrain = "a,colour,kind\n1,red,low\n3,blue,high\n1,red,mid\n3,blue,low\n";

} // namespace

class TestOwnTables : public QObject {
    Q_OBJECT

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void columnsByName();
    void numbersInTheScaleOfTheTraining();
    void theTestIsNoPartOfTheView();
    void classesOfTheTraining();
    void numbersAsClasses();
    void missingValues();
    void unknownWords();
    void testBesideAShare();
    void shareOfTheValidation();
    void predictionsNeedNoOthers();
    void refusesValues_data();
    void refusesValues();
    void refusesFiles();
    void changedFiles();
    void prints();
    void idleSettings();
    void folders();
    void columnToFindOut();
    void foldersThatDoNotFit();
    void openedAgain();

private:
    std::string path(const char* name) const {
        return m_folder->filePath(QLatin1String(name)).toStdString();
    }
    std::string file(const char* name, const std::string& text) const {
        return writeBytes(path(name), text);
    }
    /// Returns settings for the table; a tenth would be held back without another one.
    TaskConfig csv(const std::string& train, LossKind loss = LossKind::CrossEntropy) const {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = file("train.csv", train);
        task.loss.kind = loss;
        task.standardise = false;
        task.validation = 0.5;
        return task;
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

/// They may stand in another order, with others between them, and with other separators.
void TestOwnTables::columnsByName() {
    TaskConfig task = csv("a,b,y\n1,2,3\n4,5,6\n", LossKind::Mse);
    task.validationPath = file("valid.csv", "y;extra;b;a\n9;x;8;7,5\n");
    task.testPath = file("test.csv", "b,a,y\n20,10,30\n21,11,31\n");
    const auto data = makeDataset(task, 0);
    QCOMPARE(inputsOf(*data, Split::Train), (Floats{1, 2, 4, 5})); // none are held back
    QCOMPARE(inputsOf(*data, Split::Validation), (Floats{7.5f, 8}));
    QCOMPARE(targetsOf(*data, Split::Validation), (Floats{9}));
    QCOMPARE(data->number(Split::Validation, 0), int64_t{0}); // of its own file
    QVERIFY(data->test());
    QCOMPARE(inputsOf(*data->test(), Split::Validation), (Floats{10, 20, 11, 21}));
    QCOMPARE(targetsOf(*data->test(), Split::Validation), (Floats{30, 31}));
    QVERIFY(isTold(*data, "The samples of " + pathText(task.validationPath) +
                              ", 1, are validated on; none of the others are held back."));
    QVERIFY(isTold(*data, "The samples of " + pathText(task.testPath) +
                              ", 2, are kept for the test at the end; validation does not see "
                              "them."));
    for (const DataFacts& facts : {factsOf(task), data->facts()}) {
        QCOMPARE(facts.train, int64_t{2});
        QCOMPARE(facts.validation, int64_t{1});
        QCOMPARE(facts.test, int64_t{2});
    }
}

/// Means and deviations are those of the samples to train on, for inputs and for targets.
void TestOwnTables::numbersInTheScaleOfTheTraining() {
    TaskConfig task = csv("a,y\n1,10\n3,30\n", LossKind::Mse); // means 2 and 20, deviations 1, 10
    task.standardise = task.standardiseTarget = true;
    task.validationPath = file("valid.csv", "a,y\n12,220\n");
    task.testPath = file("test.csv", "a,y\n-8,-80\n");
    const auto data = makeDataset(task, 0);
    QCOMPARE(inputsOf(*data, Split::Train), (Floats{-1, 1}));
    QCOMPARE(inputsOf(*data, Split::Validation), (Floats{10}));
    QCOMPARE(targetsOf(*data, Split::Validation), (Floats{20}));
    QCOMPARE(inputsOf(*data->test(), Split::Validation), (Floats{-10}));
    QCOMPARE(targetsOf(*data->test(), Split::Validation), (Floats{-10}));
}

/// Its targets are not to be seen before the end, and would press all others together.
void TestOwnTables::theTestIsNoPartOfTheView() {
    TaskConfig task = csv("a,y\n1,10\n3,30\n", LossKind::Mse);
    task.standardise = task.standardiseTarget = false;
    task.validationPath = file("valid.csv", "a,y\n12,40\n");
    task.testPath = file("test.csv", "a,y\n-8,-8000\n");
    const TaskView view = makeDataset(task, 0)->view();
    QCOMPARE(view.centre, 25.0);
    QCOMPARE(view.reach, 0.55 * 30);
}

/// Classes keep their numbers, although another table has fewer of them, in another order.
void TestOwnTables::classesOfTheTraining() {
    TaskConfig task = csv(kTrain); // high, low, mid
    task.validationPath = file("valid.csv", "a,colour,kind\n2,red,mid\n2,blue,low\n");
    task.testPath = file("test.csv", "a,colour,kind\n2,red,mid\n");
    task.stratify = true;
    QVERIFY(!canStratify(task)); // none are held back
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->view().classes, (std::vector<std::string>{"high", "low", "mid"}));
    QCOMPARE(labelsOf(*data, Split::Train), (std::vector<int32_t>{1, 0, 2, 1}));
    QCOMPARE(labelsOf(*data, Split::Validation), (std::vector<int32_t>{2, 1}));
    QCOMPARE(labelsOf(*data->test(), Split::Validation), (std::vector<int32_t>{2}));
    // the test does not count
    QVERIFY(isTold(*data, "These classes have no sample to validate on, so the accuracy tells "
                          "nothing about them: high."));
}

/// A class that is a number may be written in another way, as where new samples are scored.
void TestOwnTables::numbersAsClasses() {
    TaskConfig task = csv("a,y\n1,1\n2,2\n3,0\n");
    task.validationPath = file("valid.csv", "a,y\n2,1.0\n2,0.00\n4,1.0\n");
    task.testPath = file("test.csv", "a,y\n2,+2\n");
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->view().classes, (std::vector<std::string>{"0", "1", "2"}));
    QCOMPARE(labelsOf(*data, Split::Validation), (std::vector<int32_t>{1, 0, 1}));
    QCOMPARE(labelsOf(*data->test(), Split::Validation), (std::vector<int32_t>{2}));
    file("valid.csv", "a,y\n2,1.5\n");
    QVERIFY(thrownBy<InputError>([&] { makeDataset(task, 0); })
                .starts_with(task.validationPath + ", line 2: the class \"1.5\" in the column "
                                                   "\"y\" is not among those to train on"));
    // so it may within one table, where the first way names the class
    TaskConfig one = csv("a,y\n1,2\n2,1.0\n3,02\n4,2.00\n5,1\n");
    one.validation = 0;
    const auto alone = makeDataset(one, 0);
    QCOMPARE(alone->view().classes, (std::vector<std::string>{"1.0", "2"}));
    QCOMPARE(labelsOf(*alone, Split::Train), (std::vector<int32_t>{1, 0, 1, 1, 0}));
    // long ids are apart, although doubles do not tell these
    TaskConfig ids = csv("a,y\n1,9007199254740993\n2,9007199254740992\n");
    ids.validation = 0;
    QCOMPARE(makeDataset(ids, 0)->view().classes,
             (std::vector<std::string>{"9007199254740992", "9007199254740993"}));
}

void TestOwnTables::missingValues() {
    TaskConfig task = csv("a,y\n1,1\n3,2\n", LossKind::Mse);
    task.validationPath = file("valid.csv", "a,y\nNA,7\n9,8\n4,\n");
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             task.validationPath +
                 ", line 2: \"NA\" in the column \"a\" is not allowed: a finite number; to allow "
                 "missing values, set data.missing to drop or mean");
    task.missing = Missing::Drop;
    const auto dropped = makeDataset(task, 0);
    QCOMPARE(inputsOf(*dropped, Split::Validation), (Floats{9}));
    QCOMPARE(dropped->number(Split::Validation, 0), int64_t{1});
    QVERIFY(isTold(*dropped, pathText(task.validationPath) +
                                 ": 2 of 3 lines lack a value and are left out. To keep those that "
                                 "have a target, set data.missing to mean."));
    task.missing = Missing::Mean; // of the samples to train on; a target is not made up
    const auto filled = makeDataset(task, 0);
    QCOMPARE(inputsOf(*filled, Split::Train), (Floats{1, 3}));
    QCOMPARE(inputsOf(*filled, Split::Validation), (Floats{2, 9}));
    QVERIFY(isTold(*filled, pathText(task.validationPath) +
                                ": 1 missing values are replaced by the mean of their column over "
                                "the training samples."));
    QVERIFY(isTold(*filled, pathText(task.validationPath) +
                                ": 1 of 3 lines lacks its target and is left out."));
    file("valid.csv", "a,y\n1,\n");
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             task.validationPath +
                 ": every line lacks its target, so data.missing mean leaves no samples");
}

/// A word that the training data lack is none of their words, as in new samples.
void TestOwnTables::unknownWords() {
    TaskConfig task = csv(kTrain);
    task.validationPath = file("valid.csv", "a,colour,kind\n1,blue,low\n2,teal,low\n");
    const auto data = makeDataset(task, 0);
    QCOMPARE(inputsOf(*data, Split::Validation), (Floats{1, 1, 0, 2, 0, 0}));
    QVERIFY(isTold(*data, "Samples with words that the training data lack: 1 of 2, the first in " +
                              task.validationPath +
                              ", line 3: \"teal\" in the column \"colour\". Such a column counts "
                              "as none of its words."));
}

/// Without samples to validate on of their own, a share is held back, as without a test.
void TestOwnTables::testBesideAShare() {
    std::string text = "a,y\n";
    for (int i = 0; i < 20; ++i)
        text += std::to_string(i) + ",1\n";
    TaskConfig task = csv(text, LossKind::Mse);
    const Floats held = inputsOf(*makeDataset(task, 0), Split::Validation);
    task.testPath = file("test.csv", "a,y\n100,1\n");
    task.testShare = 0.5; // the own file wins
    QVERIFY(!canTest(task) && !tests(task) && testsOwn(task) && !validatesOwn(task));
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{10});
    QCOMPARE(inputsOf(*data, Split::Validation), held);
    QCOMPARE(inputsOf(*data->test(), Split::Validation), (Floats{100}));
    QCOMPARE(factsOf(task).validation, int64_t{10});
    QCOMPARE(factsOf(task).test, int64_t{1});
    task.validation = 0;
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(task, 0); }),
             std::string("data.test_path: a test needs samples to validate on beside it; set "
                         "data.validation_path to a file of them, or data.validation to more than "
                         "0"));
}

/// The test is a share of the other table, chosen by chance also where the last samples would be
/// held back.
void TestOwnTables::shareOfTheValidation() {
    TaskConfig task = csv("a,y\n1,1\n2,2\n", LossKind::Mse);
    std::string text = "a,y\n";
    for (int i = 0; i < 20; ++i)
        text += std::to_string(100 + i) + ",1\n";
    task.validationPath = file("valid.csv", text);
    task.held = Held::Last;
    task.gap = 50;
    task.validation = 0;
    task.testShare = 0.25;
    QVERIFY(canTest(task));
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{2});
    QCOMPARE(data->samples(Split::Validation), int64_t{15});
    const Floats test = inputsOf(*data->test(), Split::Validation);
    QCOMPARE(test.size(), size_t{5});
    QVERIFY(*std::ranges::min_element(test) >= 100);
    QCOMPARE(factsOf(task).validation, int64_t{15});
    QCOMPARE(factsOf(task).test, int64_t{5});
    for (const Message& note : data->notes())
        QVERIFY2(note.english().find("held back to validate on") == std::string::npos,
                 note.english().c_str());
}

/// Who predicts other samples needs no table that was only judged; the scale stays that of all
/// samples that were trained on.
void TestOwnTables::predictionsNeedNoOthers() {
    TaskConfig task = csv("a,y\n1,1\n3,2\n", LossKind::Mse);
    task.standardise = true;
    task.validationPath = path("gone.csv");
    task.testPath = path("gone too.csv");
    task.predictFile = file("new.csv", "a\n5\n");
    const auto data = makeDataset(task, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{2});
    QCOMPARE(inputsOf(*data, Split::Validation), (Floats{3}));
    QVERIFY(!data->test());
    const std::string print = dataPrint(task, *data);
    task.predictFile.clear();
    task.validationPath = file("valid.csv", "a,y\n1,2\n");
    task.testPath.clear();
    QVERIFY(!print.empty());
    QVERIFY(!predictsOtherwise(print, dataPrint(task, *makeDataset(task, 0))));
}

void TestOwnTables::refusesValues_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("error");
    const auto row = [](const char* name, const char* text, const char* error) {
        QTest::newRow(name) << QByteArray(text) << QString::fromUtf8(error);
    };
    row("column", "a,color,dry,kind\n1,red,no,low\n",
        ": there is no column \"colour\", which the network was trained on; the nearest one is "
        "color");
    row("target", "a,colour,dry,kinds\n1,red,no,low\n",
        ": there is no column \"kind\", which is to be predicted; the nearest one is kinds");
    row("class", "a,colour,dry,kind\n1,red,no,low\n1,red,no,hihg\n",
        ", line 3: the class \"hihg\" in the column \"kind\" is not among those to train on, in "
        "<train>; the nearest one is high");
    row("no class", "a,colour,dry,kind\n1,red,no,low\n1,red,no,\n",
        ", line 3: the column \"kind\" is empty; it must name a class; data.missing drop would "
        "leave such lines out");
    row("no classes", "a,colour,dry,kind\n1,red,no,\n",
        ": no line has a value in the column \"kind\", which is to be predicted; set data.target "
        "to "
        "another column");
    row("word", "a,colour,dry,kind\nbig,red,no,low\n",
        ", line 2: \"big\" in the column \"a\" is not allowed: a finite number");
    row("truth", "a,colour,dry,kind\n1,red,no,low\n1,red,damp,low\n",
        ", line 3: \"damp\" in the column \"dry\" is not allowed: true, false, yes, no, 1 or 0, "
        "as the training data have it there");
    row("no lines", "a,colour,dry,kind\n", ": no line of values follows the names of the columns");
}

/// One sentence names the file, the line and the value; the same for the test.
void TestOwnTables::refusesValues() {
    QFETCH(const QByteArray, text);
    QFETCH(QString, error);
    TaskConfig task = csv("a,colour,dry,kind\n1,red,yes,low\n3,blue,no,high\n");
    error.replace("<train>", QString::fromStdString(pathText(task.path)));
    const std::string other = file("other.csv", text.toStdString());
    for (std::string TaskConfig::*setting : {&TaskConfig::validationPath, &TaskConfig::testPath}) {
        TaskConfig with = task;
        with.*setting = other;
        QCOMPARE(thrownBy<InputError>([&] { makeDataset(with, 0); }), other + error.toStdString());
        QCOMPARE(thrownBy<InputError>([&] { factsOf(with); }), other + error.toStdString());
    }
}

void TestOwnTables::refusesFiles() {
    TaskConfig task = csv("a,y\n1,1\n3,2\n", LossKind::Mse);
    const auto refused = [&] { return thrownBy<InputError>([&] { makeDataset(task, 0); }); };
    task.validationPath = path("gone.csv");
    QVERIFY2(refused().starts_with(task.validationPath + ": "), refused().c_str());
    task.validationPath = path("./train.csv");
    QCOMPARE(refused(), "data.validation_path: " + task.validationPath +
                            " is not allowed: it is the file of data.path, and must be another "
                            "one, or nothing");
    task.validationPath = task.testPath = file("valid.csv", "a,y\n1,2\n");
    QCOMPARE(refused(), "data.test_path: " + task.testPath +
                            " is not allowed: it is the file of data.validation_path, and must be "
                            "another one, or nothing");
    // without names, a column is told by its place
    task.testPath.clear();
    task.header = false;
    file("train.csv", "1,2\n3,4\n");
    file("valid.csv", "1,2,3\n");
    QCOMPARE(refused(), task.validationPath + ": 3 columns do not fit the 2 of " + task.path +
                            ": without names in the first line, columns are told by their places");
    file("valid.csv", "8,9\n");
    QCOMPARE(inputsOf(*makeDataset(task, 0), Split::Validation), (Floats{8}));
}

/// What the files said is remembered, until one of them is mended.
void TestOwnTables::changedFiles() {
    TaskConfig task = csv("a,y\n1,1\n3,2\n", LossKind::Mse);
    task.validationPath = file("valid.csv", "b,y\n1,2\n");
    const std::string error = thrownBy<InputError>([&] { factsOf(task); });
    QVERIFY2(error.find("there is no column \"a\"") != std::string::npos, error.c_str());
    file("valid.csv", "a,y\n1,2\n5,6\n7,8\n");
    QCOMPARE(factsOf(task).validation, int64_t{3});
    TaskConfig other = task;
    other.validationPath = file("valid2.csv", "a,y\n1,2\n");
    QCOMPARE(factsOf(other).validation, int64_t{1}); // not what the first one said
    other.testPath = file("test.csv", "a,y\n1,2\n1,3\n");
    QCOMPARE(factsOf(other).test, int64_t{2});
    other.testPath.clear();
    QCOMPARE(factsOf(other).test, int64_t{0});
}

/// A training that goes on is told that what it is judged by has changed; a test may change.
void TestOwnTables::prints() {
    TaskConfig task = csv("a,y\n1,1\n3,2\n", LossKind::Mse);
    const auto print = [&] { return dataPrint(task, *makeDataset(task, 0)); };
    const std::string alone = print();
    task.validationPath = file("valid.csv", "a,y\n1,2\n");
    task.testPath = file("test.csv", "a,y\n1,2\n");
    const std::string before = print();
    QVERIFY(changeSince(alone, before, task).empty()); // what is trained on is the same
    file("test.csv", "a,y\n1,3\n");
    QCOMPARE(print(), before);
    file("valid.csv", "a,y\n1,3\n");
    const std::string judged = print();
    QCOMPARE(changeSince(before, judged, task).english(),
             pathText(task.validationPath) +
                 " holds other data than the training began with; these are used now");
    QVERIFY(!predictsOtherwise(before, judged));
    file("train.csv", "a,y\n1,1\n3,4\n");
    QCOMPARE(changeSince(before, print(), task).english(),
             pathText(task.path) +
                 " holds other data than the training began with; these are used now");
}

/// Settings of shares do nothing beside tables of their own, which is told.
void TestOwnTables::idleSettings() {
    RunConfig config = defaultConfig();
    const auto idle = [&config](const std::string& text) {
        const std::vector<Assignment> given{parseAssignment(text)};
        applySetting(config, text);
        return !halfscope::idleSettings(config, given).empty();
    };
    QVERIFY(idle("data.validation_path=valid.csv")); // a checkerboard is in no file
    applySetting(config, "data.kind=csv");
    QVERIFY(!idle("data.validation_path="));
    QVERIFY(!idle("data.validation=0.2"));
    QVERIFY(!idle("data.test_share=0.2"));
    QVERIFY(!idle("data.held_back=last"));
    QVERIFY(!idle("data.gap=2"));
    QVERIFY(!idle("data.validation_path=valid.csv"));
    QVERIFY(idle("data.validation=0.3"));
    QVERIFY(idle("data.held_back=last"));
    QVERIFY(idle("data.gap=3"));
    QVERIFY(!idle("data.test_share=0.3"));
    QVERIFY(!idle("data.test_path=test.csv"));
    QVERIFY(idle("data.test_share=0.4"));
    QVERIFY(!findField("data.validation_path")->label.empty());
}

/// A folder that is opened is known by the names of its tables.
void TestOwnTables::folders() {
    std::string train = "kind,a\n", others = "a,kind\n";
    for (int i = 0; i < 40; ++i)
        train += std::string(i % 2 ? "low," : "high,") + std::to_string(i) + "\n";
    others += "1,low\n3,high\n";
    file("Train.csv", train);
    QVERIFY(!experimentOn(m_folder->path().toStdString())); // open the file itself
    file("VALID.csv", others);
    const std::vector<Assignment> target{parseAssignment("data.target=kind")};
    const auto two = experimentOn(m_folder->path().toStdString(), target);
    QVERIFY(two);
    QCOMPARE(two->task.kind, TaskKind::Csv);
    QCOMPARE(two->task.path, path("Train.csv"));
    QCOMPARE(two->task.validationPath, path("VALID.csv"));
    QVERIFY(two->task.testPath.empty());
    QCOMPARE(two->task.loss.kind, LossKind::CrossEntropy);
    QVERIFY(!two->task.stratify);
    QCOMPARE(two->title, m_folder->path().section('/', -1).section('.', 0, 0).toStdString());
    file("test.csv", others);
    const auto three = experimentOn(m_folder->path().toStdString(), target);
    QCOMPARE(three->task.testPath, path("test.csv"));
    QCOMPARE(factsOf(three->task).test, int64_t{2});
    QVERIFY(QFile::remove(m_folder->filePath("VALID.csv")));
    const auto held = experimentOn(m_folder->path().toStdString(), target);
    QVERIFY(held->task.validationPath.empty());
    QCOMPARE(held->task.testPath, path("test.csv"));
    QCOMPARE(factsOf(held->task).validation, int64_t{4});
    QVERIFY(held->task.stratify);
    QDir(m_folder->path()).mkdir("train"); // of pictures, which the tables only list
    QVERIFY(!experimentOn(m_folder->path().toStdString(), target));
}

/// The column to predict is the one that is to be found out in a competition's test.csv, wherever
/// it stands. Without columnToFindOut(), it is the last one.
void TestOwnTables::columnToFindOut() {
    std::string train = "id,survived,age\n";
    for (int i = 0; i < 40; ++i)
        train += std::to_string(100 - i) + (i % 3 ? ",0," : ",1,") + std::to_string(i) + "\n";
    file("train.csv", train);
    file("test.csv", "id,age\n200,3\n");
    const std::string folder = m_folder->path().toStdString();
    QCOMPARE(experimentOn(folder)->task.target, std::string("survived"));
    const std::vector<Assignment> drop{parseAssignment("data.drop=survived")};
    QCOMPARE(experimentOn(folder, drop)->task.target, std::string());
    file("test.csv", "age,survived\n3,0\n"); // what it lacks only numbers the lines
    QCOMPARE(experimentOn(folder)->task.target, std::string());
    const std::string lines = train.substr(train.find('\n'));
    file("train.csv", "note,survived,age" + lines);
    QCOMPARE(experimentOn(folder)->task.target, std::string("note"));
    file("train.csv", "note,label,age" + lines);
    file("test.csv", "label,age\n0,3\n"); // nothing is to be found out
    QCOMPARE(experimentOn(folder)->task.target, std::string("label"));
    file("train.csv", train);
    file("test.csv", "id\n200\n"); // lacks two
    QCOMPARE(experimentOn(folder)->task.target, std::string());
}

/// A test whose targets are to be found out is left out; samples to validate on must fit.
void TestOwnTables::foldersThatDoNotFit() {
    std::string train = "a,y\n";
    for (int i = 0; i < 40; ++i)
        train += std::to_string(i) + "," + std::to_string(i + 0.5) + "\n";
    file("train.csv", train);
    file("val.csv", "a,y\n1,2.5\nNA,3.5\n");
    file("test.csv", "a\n1\n");
    const std::string folder = m_folder->path().toStdString();
    const auto config = experimentOn(folder);
    QVERIFY(config);
    QVERIFY(config->task.testPath.empty());
    QVERIFY(isTold(*makeDataset(config->task, 0),
                   "The table for a test is left out. " + path("test.csv") +
                       ": there is no column \"y\", which is to be predicted; the nearest one is "
                       "a."));
    // its lines are not read before it is used
    file("test.csv", "a,y\n1,word\n");
    QVERIFY(isTold(*makeDataset(config->task, 0), "The table " + path("test.csv") +
                                                      " is not used for a test. To use it, set "
                                                      "data.test_path to it."));
    file("test.csv", "a\n1\n");
    QCOMPARE(config->task.missing, Missing::Drop); // for the line of val.csv
    QCOMPARE(factsOf(config->task).train, int64_t{40});
    QCOMPARE(factsOf(config->task).validation, int64_t{1});
    const std::vector<Assignment> given{parseAssignment("data.test_path=" + path("test.csv"))};
    QCOMPARE(thrownBy<InputError>([&] { experimentOn(folder, given); }),
             path("test.csv") + ": there is no column \"y\", which is to be predicted; the nearest "
                                "one is a");
    file("val.csv", "a,y\n1,2.5\n");
    file("test.csv", "a,y\n1,2.5\nNA,3.5\n2,3.5\n");
    const auto gaps = experimentOn(folder);
    QCOMPARE(gaps->task.testPath, path("test.csv"));
    QCOMPARE(gaps->task.missing, Missing::Drop);
    QCOMPARE(factsOf(gaps->task).test, int64_t{2});
    QVERIFY(QFile::remove(m_folder->filePath("val.csv")));
    file("valid.csv", "a,z\n1,2.5\n");
    const std::string error = thrownBy<InputError>([&] { experimentOn(folder); });
    QVERIFY2(error.starts_with(path("valid.csv") + ": there is no column \"y\""), error.c_str());
}

/// What was known of the files before would be of files that are no more.
void TestOwnTables::openedAgain() {
    const auto table = [](int classes) {
        std::string text = "a,y\n";
        for (int i = 0; i < 40; ++i)
            text += std::to_string(i) + "," + std::to_string(i % classes) + "\n";
        return text;
    };
    const std::string train = file("train.csv", table(2));
    file("test.csv", "a\n1\n");
    const auto notes = [&](const char* part) {
        const auto config = experimentOn(train);
        const DataFacts facts = factsOf(config->task);
        return std::ranges::count_if(facts.notes, [part](const Message& note) {
            return note.english().find(part) != std::string::npos;
        });
    };
    constexpr const char *kLeftOut = "The table for a test is left out",
                         *kUnused = "is not used for a test";
    QCOMPARE(notes(kLeftOut), 1);
    file("test.csv", "a,y\n1,0\n");
    QCOMPARE(notes(kLeftOut), 0);
    QCOMPARE(notes(kUnused), 1);
    QVERIFY(QFile::remove(m_folder->filePath("test.csv")));
    QCOMPARE(notes(kUnused), 0);
    QCOMPARE(factsOf(experimentOn(train)->task).tensors[kTarget].classes, int64_t{2});
    file("train.csv", table(3));
    QCOMPARE(factsOf(experimentOn(train)->task).tensors[kTarget].classes, int64_t{3});
    const TaskConfig task = experimentOn(train)->task;
    QVERIFY(QFile::remove(QString::fromStdString(train)));
    QCOMPARE(factsOf(task).train, int64_t{36}); // a run on them goes on
}

} // namespace tst_own_tables

QTEST_GUILESS_MAIN(tst_own_tables::TestOwnTables)
#include "tst_own_tables.moc"
