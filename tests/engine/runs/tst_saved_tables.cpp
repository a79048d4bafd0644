// Tables of classes in saved runs: a file has 8 bits for a cell, and its text the exact share.
// Also the nan of other pictures, for which files have no value.
#include "engine/data/class_counts.h"
#include "engine/data/class_shares.h"
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/runs/output_file.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_saving.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "tests/support/missing_texts.h"
#include "tests/support/run_tables.h"
#include "tests/support/train_into.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

namespace tst_saved_tables {

using namespace halfscope;

namespace {

using Names = std::vector<std::string>;

/// Returns a table in which each share of a row of `samples` occurs, from 0 to all of them.
Picture tableOf(int samples) {
    ClassCounts counts(static_cast<size_t>(samples) + 1);
    for (int32_t row = 0; row <= samples; ++row)
        for (int i = 0; i < samples; ++i) {
            const int32_t taken = i < row ? row : (row + 1) % (samples + 1);
            counts.add(std::array{row}, std::array{taken});
        }
    return classTable(counts);
}

/// Returns what the file of a picture without a text tells.
Picture rounded(Picture picture) {
    for (float& value : picture.values)
        value = static_cast<float>(byteOf(value)) / 255.0f;
    return picture;
}

/// Returns a run on digits that ends after some steps, with a validation.
RunConfig digits() {
    RunConfig config = presetNamed("mnist-mlp").config;
    config.lanes = parseLanes("fp32,amp-fp16");
    config.device = "cpu";
    config.model.layers = "nn.Sequential(nn.Flatten(), nn.Linear(784, 10))";
    config.validation.steps = 2;
    config.epochs = 0;
    config.steps = 2;
    return config;
}

} // namespace

class TestSavedTables : public QObject {
    Q_OBJECT
private slots:
    void sharesSurviveTheirText();
    void textsOfOtherPictures();
    void damagedTexts_data();
    void damagedTexts();
    void savedAsTrained();
    void savedByEarlierVersions();
    void tablesAreSavedAsText();
    void textsHaveTheNamesOfClasses();
    void onlyTablesHaveShares();
    void nanComesBack_data();
    void nanComesBack();
    void nanOfSavedRuns();
    void linesOfSpaces();
};

/// The picture has a pixel for each cell, and neither names nor figures to be read.
void TestSavedTables::tablesAreSavedAsText() {
    ClassCounts counts(3);
    counts.add(std::array<int32_t, 6>{0, 0, 0, 1, 2, 2}, std::array<int32_t, 6>{0, 0, 2, 1, 1, 2});
    Picture target{1, 1, 1, {0}};
    target.caption = "0 Apfel, 1 Birne, 2 \"rot\"";
    const TaskConfig& task = digits().task;
    const Picture table = classTable(counts);
    QCOMPARE(QString::fromStdString(classesCsv(task, table, target)),
             QString("true,samples,Apfel,Birne,\"\"\"rot\"\"\"\nApfel,3,2,0,1\nBirne,1,0,1,0\n"
                     "\"\"\"rot\"\"\",2,0,1,1\n"));
    QCOMPARE(classesCsv(presetNamed("checkerboard").config.task, table, target), std::string());
    Picture untold = table;
    untold.caption = "4/6"; // how many samples a row has
    QCOMPARE(classesCsv(task, untold, target), std::string());
    // both the command line and the window write it
    const QTemporaryDir trained, saved;
    const std::string from = trained.path().toStdString(), to = saved.path().toStdString();
    trainInto(from, digits());
    const std::string text = readFile(from + "/classes_fp32.csv");
    QVERIFY2(text.starts_with("true,samples,"), text.c_str());
    const auto run = readRun(from);
    saveRun(run->snapshot(), to);
    QCOMPARE(readFile(to + "/classes_fp32.csv"), text);
}

/// As the table with the data names them, in the files of the command line, too.
void TestSavedTables::textsHaveTheNamesOfClasses() {
    const QTemporaryDir data, trained, saved;
    std::string table = "size,fruit\n";
    for (int i = 0; i < 40; ++i)
        table += std::to_string(i) + (i % 2 == 0 ? ",apple\n" : ",\"pear, ripe\"\n");
    writeFileAtomically(data.filePath("fruit.csv").toStdString(), table);
    RunConfig config = *experimentOn(data.filePath("fruit.csv").toStdString());
    config.device = "cpu";
    config.validation.steps = 2;
    config.epochs = 0;
    config.steps = 2;
    const std::string from = trained.path().toStdString(), to = saved.path().toStdString();
    trainInto(from, config);
    const std::string text = readFile(from + "/classes_fp32.csv");
    QVERIFY2(text.starts_with("true,samples,apple,\"pear, ripe\"\napple,"), text.c_str());
    QVERIFY2(text.find("\n\"pear, ripe\",") != text.npos, text.c_str());
    saveRun(readRun(from)->snapshot(), to);
    QCOMPARE(readFile(to + "/classes_fp32.csv"), text);
}

/// Every share of up to 200 samples comes back bit for bit.
void TestSavedTables::sharesSurviveTheirText() {
    for (int samples = 1; samples <= 200; ++samples) {
        const Picture table = tableOf(samples);
        Picture read = rounded(table);
        const std::string text = sharesText(table);
        if (text.empty())
            QVERIFY(read.values == table.values); // only 0 and 1
        else
            QVERIFY(takeShares(read, text) && read.values == table.values);
    }
    QVERIFY(sharesText(tableOf(1)).empty());
    QVERIFY(!sharesText(tableOf(18)).empty());
    const Picture small{2, 2, 1, {0.75f, 0.25f, 1, 0}};
    QCOMPARE(sharesText(small), std::string("0.25 0.75\n0 1"));
}

void TestSavedTables::textsOfOtherPictures() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    QCOMPARE(sharesText({2, 1, 1, {0.3f, nan}}), std::string());
    QCOMPARE(sharesText({2, 1, 1, {0.3f, 1.5f}}), std::string());
    QCOMPARE(sharesText({2, 1, 1, {0.3f, -0.5f}}), std::string());
    QCOMPARE(sharesText({1, 1, 3, {0.3f, 0.3f, 0.3f}}), std::string());
    Picture colours{1, 1, 3, {0, 0, 0}};
    QVERIFY(!takeShares(colours, "1 1 1"));
}

void TestSavedTables::damagedTexts_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("fits");
    const auto row = [](const char* name, const QByteArray& text, bool fits = false) {
        QTest::newRow(name) << text << fits;
    };
    row("whole", "0.9444444 0.05555558\n0.3 0.7", true);
    row("of one line", "0.9444444 0.05555558 0.3 0.7", true);
    row("too short", "0.9444444 0.05555558\n0.3");
    row("cut in a number", "0.9444444 0.05555558\n0.3 0.");
    row("too long", "0.9444444 0.05555558\n0.3 0.7 0");
    row("a line more", "0.9444444 0.05555558\n0.3 0.7\n");
    row("nan", "0.9444444 0.05555558\n0.3 nan");
    row("inf", "inf 0.05555558\n0.3 0.7");
    row("above 1", "0.9444444 0.05555558\n0.3 1.7");
    row("below 0", "0.9444444 -0.05555558\n0.3 0.7");
    row("too small for a float", "0.9444444 1e-999\n0.3 0.7");
    row("other separators", "0.9444444,0.05555558,0.3,0.7");
    row("two spaces", "0.9444444  0.05555558\n0.3 0.7");
    row("words", "seventeen of eighteen");
    row("of another table", "0.9 0.1\n0.3 0.7");
}

/// A text that does not fit is named in a run that lacks nothing else, and its 8 bits are shown.
void TestSavedTables::damagedTexts() {
    QFETCH(QByteArray, text);
    QFETCH(bool, fits);
    const Picture file = rounded({2, 2, 1, {1 / 18.0f, 17 / 18.0f, 0.7f, 0.3f}});
    Picture read = file;
    QCOMPARE(takeShares(read, text.toStdString()), fits);
    QVERIFY((read.values == file.values) != fits);

    const RunFolder folder;
    const RunConfig config = digits();
    folder.put("steps.csv", table::kSteps);
    folder.put("output_fp32.png", pngBytes(file, text.toStdString()));
    folder.put("output_amp-fp16.png", pngBytes(file));
    const auto run = readRun(folder.folder().toStdString(), config);
    const Names missing = test::missingTexts(run->info());
    QCOMPARE(std::count(missing.begin(), missing.end(), "the exact shares in output_fp32.png"),
             std::ptrdiff_t{fits ? 0 : 1});
    QCOMPARE(missing.size(), size_t{fits ? 3u : 4u}); // and timing, events and summary
    const std::vector<Picture> outputs = run->now().pictures()->outputs;
    QCOMPARE(outputs.size(), size_t{2});
    QVERIFY(outputs[0].values == read.values);
    QVERIFY(outputs[1].values == file.values);
}

/// Both writers of folders keep the shares, and a run that was read is saved as it was.
void TestSavedTables::savedAsTrained() {
    const QTemporaryDir trained, saved, again;
    const std::string folder = trained.path().toStdString();
    const auto live = trainInto(folder, digits());
    saveRun(live->snapshot(), saved.path().toStdString());
    saveRun(readRun(folder)->snapshot(), again.path().toStdString());
    const std::vector<Picture> tables = live->now().pictures()->outputs;
    QCOMPARE(tables.size(), size_t{2});
    for (const QTemporaryDir* each : {&trained, &saved, &again}) {
        const auto run = readRun(each->path().toStdString());
        QCOMPARE(test::missingTexts(run->info()), Names());
        const std::vector<Picture> read = run->now().pictures()->outputs;
        QCOMPARE(read.size(), tables.size());
        for (size_t lane = 0; lane < tables.size(); ++lane) {
            QVERIFY(rounded(tables[lane]).values != tables[lane].values);
            QVERIFY(read[lane].values == tables[lane].values);
            QCOMPARE(read[lane].caption, tables[lane].caption);
        }
        QVERIFY(run->now().target()->values == live->now().target()->values);
        const std::string name = run_file::output("fp32");
        QVERIFY(readFile((std::filesystem::path(folder) / name).string()) ==
                readFile(each->filePath(QString::fromStdString(name)).toStdString()));
    }
}

/// Earlier versions wrote no shares: what the 8 bits tell is no exact share, and is not saved as
/// one.
void TestSavedTables::savedByEarlierVersions() {
    const QTemporaryDir trained, again;
    const std::string folder = trained.path().toStdString();
    const auto live = trainInto(folder, digits());
    const std::string name = run_file::output("fp32");
    const std::string path = (std::filesystem::path(folder) / name).string();
    const Picture table = live->now().pictures()->outputs[0];
    writePng(table, path);
    std::filesystem::remove(std::filesystem::path(folder) / run_file::kManifest); // has its size
    const auto run = readRun(folder);
    QCOMPARE(test::missingTexts(run->info()), Names());
    QVERIFY(run->now().pictures()->outputs[0].values == rounded(table).values);
    saveRun(run->snapshot(), again.path().toStdString());
    QVERIFY(readFile(again.filePath(QString::fromStdString(name)).toStdString()) == readFile(path));
}

/// What a network paints is no table, and stays as it was.
void TestSavedTables::onlyTablesHaveShares() {
    const Picture picture{2, 1, 1, {0.3f, 0.7f}};
    QVERIFY(outputPng(presetNamed("picture").config.task, picture) == pngBytes(picture));
    QVERIFY(outputPng(digits().task, picture) == pngBytes(picture, "0.7 0.3"));
    const RunFolder folder;
    folder.put("painted.png", pngBytes(picture, "0.7 0.3"));
    const OutputFile read =
        readOutput(presetNamed("picture").config.task, {}, folder.file("painted.png"));
    QVERIFY(read.picture.values == rounded(picture).values && !read.damagedShares);
}

/// They are skipped as empty lines are.
void TestSavedTables::linesOfSpaces() {
    const RunFolder folder;
    folder.put("steps.csv", std::string(table::kSteps) + "  \n" + table::kRow + "\n \t\n");
    RunConfig config = digits();
    config.lanes = parseLanes("fp32");
    QCOMPARE(readRun(folder.folder().toStdString(), config)->step(), int64_t{1});
}

void TestSavedTables::nanComesBack_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("target"); // channels
    QTest::addColumn<bool>("back");
    QTest::newRow("curve") << "line-fit" << 1 << 1 << true;
    QTest::newRow("curve without a target") << "line-fit" << 1 << 0 << true;
    QTest::newRow("map") << "moons" << 3 << 3 << true;
    QTest::newRow("grey painting") << "picture" << 1 << 1 << true;
    QTest::newRow("painting") << "picture" << 3 << 3 << false; // its magenta may be the network's
    QTest::newRow("painting without a target") << "picture" << 1 << 0 << false;
}

/// The file draws it magenta. The picture is drawn like those of other lanes nevertheless.
void TestSavedTables::nanComesBack() {
    QFETCH(QString, preset);
    QFETCH(int, channels);
    QFETCH(int, target);
    QFETCH(bool, back);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Picture drawn{2, 1, channels, {}};
    drawn.values.assign(static_cast<size_t>(2 * channels), 0.2f);
    std::fill_n(drawn.values.begin(), channels, nan);
    Picture goal;
    if (target > 0) goal = {1, 1, target, std::vector<float>(static_cast<size_t>(target))};
    const RunFolder folder;
    folder.put("drawn.png", pngBytes(drawn));
    const TaskConfig task = presetNamed(preset.toStdString()).config.task;
    const Picture read = readOutput(task, goal, folder.file("drawn.png")).picture;
    QCOMPARE(read.channels, back ? channels : 3);
    QCOMPARE(std::isnan(read.values.front()), back);
    QCOMPARE(read.values.back(), static_cast<float>(byteOf(drawn.values.back())) / 255.0f);
    QVERIFY(pngBytes(read) == pngBytes(drawn)); // saved again, it is the same file
}

void TestSavedTables::nanOfSavedRuns() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    RunConfig config = presetNamed("picture").config;
    config.lanes = parseLanes("fp32,amp-fp16");
    const RunFolder folder;
    folder.put("steps.csv", table::kSteps);
    folder.put("target.png", pngBytes({1, 1, 1, {1}}));
    folder.put("output_fp32.png", pngBytes({1, 1, 1, {1}}));
    folder.put("output_amp-fp16.png", pngBytes({1, 1, 1, {nan}}));
    const auto run = readRun(folder.folder().toStdString(), config);
    const std::vector<Picture> outputs = run->now().pictures()->outputs;
    QCOMPARE(outputs.size(), size_t{2});
    QCOMPARE(outputs[0].values, std::vector<float>{1});
    QCOMPARE(outputs[1].channels, 1);
    QVERIFY(std::isnan(outputs[1].values.front()));
}

} // namespace tst_saved_tables

QTEST_GUILESS_MAIN(tst_saved_tables::TestSavedTables)
#include "tst_saved_tables.moc"
