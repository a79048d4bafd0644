// What a lane predicts for the lines of another table, and for another array.
#include "engine/train/predicted_samples.h"

#include "engine/core/error.h"
#include "engine/io/npy.h"
#include "engine/settings/data_experiment.h"
#include "engine/train/checkpoint.h"
#include "engine/train/lane_file.h"
#include "tests/support/array_files.h"
#include "tests/support/class_lines.h"
#include "tests/support/picture_folder.h"
#include "tests/support/thrown.h"
#include "tests/support/trained_experiment.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <stop_token>

namespace tst_predicted_samples {

using namespace halfscope;

class TestPredictedSamples : public QObject {
    Q_OBJECT
private slots:
    void wordsThatAreNoTruths();
    void classesStandBehindTheLines();
    void linesOfSeparatorsStay();
    void knownClassesAreScored();
    void knownNumbersAreScored();
    void knownFoldersAreScored();
    void knownArraysAreScored();
    void tablesWithoutNames();
    void aSavedRunPredicts();
    void textsBecomeClasses();
    void numbersAreInUnitsOfTheData();
    void largeNumbersKeepTheirDigits();
    void linesLeftOutHaveNone();
    void arraysBecomeAnArray();
    void aChangedTableIsTold();
    void aRunFromDiskTellsIt();
    void picturesBecomeATable();
    void refusals();
    void stops();

private:
    /// Returns an experiment on the file that has trained for so many steps.
    std::unique_ptr<Experiment> trained(const std::string& path, int64_t steps,
                                        std::optional<Missing> missing = {});
    std::string write(const char* name, const std::string& bytes) {
        return writeBytes(m_folder.filePath(QLatin1String(name)).toStdString(), bytes);
    }
    static QStringList linesOf(const std::string& text) {
        QStringList lines = QString::fromStdString(text).split('\n');
        return lines.takeLast().isEmpty() ? lines : QStringList();
    }
    static QStringList classesOf(const std::string& text, QChar separator = u',') {
        return classLinesOf(QString::fromStdString(text), 1, separator);
    }
    QTemporaryDir m_folder;
};

std::unique_ptr<Experiment> TestPredictedSamples::trained(const std::string& path, int64_t steps,
                                                          std::optional<Missing> missing) {
    RunConfig config = *experimentOn(path);
    config.task.missing = missing.value_or(config.task.missing);
    return trainedFor(steps, config);
}

/// Where the training data have only true and false, 1 and 0 mean the same, and any other word is a
/// missing value.
void TestPredictedSamples::wordsThatAreNoTruths() {
    std::string text = "dry,size,kind\n";
    for (int i = 0; i < 100; ++i)
        text += (i % 2 ? "yes," : "no,") + std::to_string(i % 7) + (i % 2 ? ",up\n" : ",down\n");
    const auto experiment = trained(write("truths.csv", text), 300);
    const std::string more = write("odd.csv", "dry,size\n1,5\nunknown,6\nTRUE,7\n0,8\n2,9\n");
    const PredictedSamples predicted = *predictedSamples(*experiment, 0, more);
    QCOMPARE(classesOf(predicted.bytes).mid(1),
             QStringList({"1,5,up", "unknown,6,", "TRUE,7,up", "0,8,down", "2,9,"}));
    std::string notes;
    for (const Message& note : predicted.notes)
        notes += note.english() + "\n";
    for (const std::string& part : {"count as missing values: 2, the first in " + more +
                                        ", line 3: \"unknown\" in the column \"dry\".\n",
                                    more + ": 2 of 5 lines lack a value and are not predicted.\n"})
        QVERIFY2(notes.find(part) != std::string::npos, notes.c_str());
}

void TestPredictedSamples::classesStandBehindTheLines() {
    std::string text = "size,colour,kind\n";
    for (int i = 0; i < 200; ++i)
        text += std::to_string(i) + (i % 2 ? ",red," : ",blue,") +
                (i < 100 ? "\"small, cheap\"" : "large") + "\n";
    const auto experiment = trained(write("kinds.csv", text), 400);
    QVERIFY(experiment->config().task.missing == Missing::Refuse);
    // the columns in another order, one more, a line without a size, a word that was never seen
    const std::string more =
        write("more.csv", "id,colour,size\n\"a, b\",red,10\nc,blue,190\nd,red,\n\ne,green,15\n");
    const PredictedSamples gaps = *predictedSamples(*experiment, 0, more);
    QCOMPARE(classesOf(gaps.bytes).mid(2),
             QStringList({"c,blue,190,large", "d,red,,", "e,green,15,\"small, cheap\""}));
    QCOMPARE(gaps.notes.at(1).english(),
             more + ": 1 of 4 lines lacks a value and is not predicted.");
    const std::string whole =
        write("whole.csv", "id,colour,size\n\"a, b\",red,10\nc,blue,190\n\ne,green,15\n");
    for (const int lane : {0, 1})
        QCOMPARE(classesOf(predictedSamples(*experiment, lane, whole)->bytes),
                 QStringList({"id,colour,size,kind_predicted", "\"a, b\",red,10,\"small, cheap\"",
                              "c,blue,190,large", "e,green,15,\"small, cheap\""}));
    const PredictedSamples predicted = *predictedSamples(*experiment, 0, whole);
    QCOMPARE(predicted.notes.size(), size_t{1}); // those of the training data are known already
    QCOMPARE(predicted.notes[0].english(),
             "Samples with words that the training data lack: 1 of 3, the first in " + whole +
                 ", line 5: \"green\" in the column \"colour\". Such a column counts as none of "
                 "its words.");
    QCOMPARE(experiment->step(), int64_t{400});
}

/// As spreadsheet programs write empty rows: the lines with predictions are those of the file.
void TestPredictedSamples::linesOfSeparatorsStay() {
    std::string text = "size,kind\n";
    for (int i = 0; i < 200; ++i)
        text += std::to_string(i) + (i < 100 ? ",small\n" : ",large\n");
    const std::string path = write("sizes.csv", text),
                      more = write("gaps.csv", "id,size\na,10\n,\nb,190\n\n , \n");
    for (const auto missing : {Missing::Refuse, Missing::Mean}) {
        const auto experiment = trained(path, 300, missing);
        const PredictedSamples predicted = *predictedSamples(*experiment, 0, more);
        QCOMPARE(classesOf(predicted.bytes), QStringList({"id,size,kind_predicted", "a,10,small",
                                                          ",,", "b,190,large", " , ,"}));
        QCOMPARE(predicted.notes.at(0).english(),
                 more + ": 2 of 4 lines lack a value and are not predicted.");
        const size_t remedies = missing == Missing::Mean ? 0 : 1; // no mean helps empty lines
        QCOMPARE(predicted.notes.size(), 1 + remedies);
    }
    text = "words,mood\n";
    for (int i = 0; i < 100; ++i)
        text += i % 2 ? "what a good film,up\n" : "what a bad film,down\n";
    const auto texts = trained(write("moods.csv", text), 150);
    const std::string others =
        write("words.csv", "id,words\n1,what a good film\n,\n2,what a bad film\n");
    QCOMPARE(classesOf(predictedSamples(*texts, 0, others)->bytes),
             QStringList({"id,words,mood_predicted", "1,what a good film,up", ",,",
                          "2,what a bad film,down"}));
}

/// A table with the target has scores; a class that was never seen is never right.
void TestPredictedSamples::knownClassesAreScored() {
    std::string text = "size,kind\n";
    for (int i = 0; i < 200; ++i)
        text += std::to_string(i) + (i < 100 ? ",1\n" : ",2\n");
    const auto experiment = trained(write("codes.csv", text), 400);
    const std::string more = write("known.csv", "kind,size\n1,10\n2.0,190\n2,20\n3,180\n,30\n1,\n");
    const PredictedSamples predicted = *predictedSamples(*experiment, 0, more);
    QCOMPARE(classesOf(predicted.bytes),
             QStringList({"kind,size,kind_predicted", "1,10,1", "2.0,190,2", "2,20,1", "3,180,2",
                          ",30,1", "1,,"}));
    // behind it stands which class is not known
    QCOMPARE(predicted.notes.at(predicted.notes.size() - 2).english(),
             "fp32: Predicted right: 2 of 4 samples whose kind is known, an accuracy of 50 %.");
    const std::string none = write("unknown.csv", "kind,size\n,10\n,20\n");
    QCOMPARE(predictedSamples(*experiment, 0, none)->notes.size(), size_t{0});
}

void TestPredictedSamples::knownNumbersAreScored() {
    std::string text = "size;price\n";
    for (int i = 0; i < 100; ++i)
        text += std::to_string(i) + ",5;" + std::to_string(2 * i) + ",25\n";
    const auto experiment = trained(write("sums.csv", text), 200);
    const PredictedSamples plain =
        *predictedSamples(*experiment, 0, write("sizes.csv", "size;id\n10;a\n20;b\n30;c\n"));
    QVERIFY(plain.notes.empty());
    std::vector<double> predicted;
    for (const QString& line : linesOf(plain.bytes).mid(1))
        predicted.push_back(line.split(';').value(2).replace(',', '.').toDouble());
    const std::string more = write("priced.csv", "size;price\n10;21,5\n20;41,5\n30;61,5\n30;\n");
    const Message found = predictedSamples(*experiment, 0, more)->notes.back();
    const std::string note = found.english();
    const auto english = [](const Phrase& phrase) { return std::string(phrase.text()); };
    QCOMPARE(found.text(english, [](std::string_view) { return std::string("#"); }),
             std::string("fp32: Mean absolute error over the samples whose price is known (#): #; "
                         "R\u00b2 #.")); // written as all numbers: "5,487" as on a card
    double absolute = 0, squared = 0;
    for (size_t i = 0; i < 3; ++i) {
        const double error = predicted[i] - (21.5 + 20 * static_cast<double>(i));
        absolute += std::abs(error) / 3;
        squared += error * error;
    }
    const QString told = QString::fromStdString(note);
    const QStringList numbers = told.mid(told.indexOf("(3): ") + 5).chopped(1).split("; R\u00b2 ");
    QCOMPARE(numbers.size(), 2);
    QVERIFY2(std::abs(numbers[0].toDouble() - absolute) <= 1e-3 * absolute, note.c_str());
    QVERIFY2(std::abs(numbers[1].toDouble() - (1 - squared / 800)) <= 1e-3, note.c_str());
    const std::string equal = write("equal.csv", "size;price\n10;21\n20;21\n");
    const std::string same = predictedSamples(*experiment, 0, equal)->notes.back().english();
    QVERIFY2(same.find(" known (2): ") != same.npos && same.find(';') == same.npos, same.c_str());
}

/// Pictures in folders that have the names of classes.
void TestPredictedSamples::knownFoldersAreScored() {
    const auto put = [this](const QString& place, float grey) {
        const QString path = m_folder.filePath(place);
        QDir().mkpath(QFileInfo(path).path());
        writePng(test::plain(grey, grey, grey), path.toStdString());
    };
    for (int i = 0; i < 12; ++i) {
        put(QStringLiteral("shades/dark/%1.png").arg(i), 0.02f * static_cast<float>(i));
        put(QStringLiteral("shades/light/%1.png").arg(i), 1 - 0.02f * static_cast<float>(i));
    }
    const auto experiment = trained(m_folder.filePath("shades").toStdString(), 60);
    put("found/dark/a.png", 0.1f);
    put("found/dark/b.png", 0.9f);
    put("found/light/c.png", 0.95f);
    put("found/else/d.png", 0.5f);
    const PredictedSamples predicted =
        *predictedSamples(*experiment, 0, m_folder.filePath("found").toStdString());
    QCOMPARE(predicted.notes.back().english(),
             "fp32: Predicted right: 2 of 3 pictures in folders of classes, an accuracy of 66.67 "
             "%.");
}

void TestPredictedSamples::knownArraysAreScored() {
    const auto archive = [this](const char* name, const std::vector<float>& x,
                                const std::string& y) {
        const auto samples = static_cast<int64_t>(x.size());
        return write(name, zipBytes({{"x.npy", npyBytes(std::vector<int64_t>{samples, 1}, x)},
                                     {"y.npy", y}}));
    };
    std::vector<float> x, targets;
    std::string classes;
    for (int i = 0; i < 200; ++i) {
        x.push_back(static_cast<float>(i) / 100);
        classes += static_cast<char>(i < 100 ? 0 : 1);
        targets.insert(targets.end(), {x.back(), 3 - x.back()});
    }
    const auto ofClasses = trained(archive("classes.npz", x, npy("|u1", "(200,)", classes)), 400);
    const std::vector<float> found{0.1f, 1.9f, 0.2f, 1.8f};
    const std::string more =
        archive("more.npz", found, npy("|u1", "(4,)", std::string("\0\1\1\1", 4)));
    QCOMPARE(predictedSamples(*ofClasses, 0, more)->notes.back().english(),
             "fp32: Predicted right: 3 of 4 samples whose y is known, an accuracy of 75 %.");
    const std::string alone =
        write("alone.npz", zipBytes({{"x.npy", npyBytes(std::vector<int64_t>{4, 1}, found)}}));
    QVERIFY(predictedSamples(*ofClasses, 0, alone)->notes.empty());
    const std::string words = archive("words.npz", found, npy("<U1", "(4,)", std::string(16, 'a')));
    QVERIFY(predictedSamples(*ofClasses, 0, words)->notes.empty());

    const auto ofNumbers =
        trained(archive("numbers.npz", x, npyBytes(std::vector<int64_t>{200, 2}, targets)), 20);
    const std::vector<float> known{0, 3, 2, 1, 0.25f, 2.5f, 2, 1};
    const PredictedSamples predicted = *predictedSamples(
        *ofNumbers, 0, archive("known.npz", found, npyBytes(std::vector<int64_t>{4, 2}, known)));
    const Array values = readNpy(write("values.npy", predicted.bytes));
    double absolute = 0, squared = 0;
    for (int64_t i = 0; i < 8; ++i) {
        const double error = values.at(i) - double{known[static_cast<size_t>(i)]};
        absolute += std::abs(error) / 8;
        squared += error * error;
    }
    constexpr double kSpread = 3.546875 + 3.1875; // of the four known values of both outputs
    const QString note = QString::fromStdString(predicted.notes.back().english());
    const QStringList numbers =
        QString(note)
            .remove("fp32: Mean absolute error over the samples whose y is known (4): ")
            .chopped(1)
            .split("; R\u00b2 ");
    QVERIFY2(numbers.size() == 2, qPrintable(note));
    QVERIFY2(std::abs(numbers[0].toDouble() - absolute) <= 1e-3 * absolute, qPrintable(note));
    QVERIFY2(std::abs(numbers[1].toDouble() - (1 - squared / kSpread)) <= 1e-3 * (1 + squared),
             qPrintable(note));
}

/// A table without names is predicted like one: no line of names stands in the result either.
void TestPredictedSamples::tablesWithoutNames() {
    std::string text;
    for (int i = 0; i < 200; ++i)
        text += std::to_string(i) + (i < 100 ? ".5,small\n" : ".5,large\n");
    const auto experiment = trained(write("unnamed.csv", text), 400);
    QVERIFY(!experiment->config().task.header);
    const std::string more = write("more.csv", "3.5\n190\n,\n");
    QCOMPARE(classesOf(predictedSamples(*experiment, 0, more)->bytes),
             QStringList({"3.5,small", "190,large"}));
    std::replace(text.begin(), text.end(), ',', ' ');
    const auto spaced = trained(write("spaced.data", "size what\n" + text), 400);
    const std::string lines = write("lines.data", "size  id\n3.5   7\nNA 8\n190 9\n");
    QCOMPARE(classesOf(predictedSamples(*spaced, 0, lines)->bytes, u' '),
             QStringList({"size  id what_predicted", "3.5   7 small", "NA 8 NA", "190 9 large"}));
}

/// The lanes of a checkpoint predict as they did; a fork that was still to come has no network.
void TestPredictedSamples::aSavedRunPredicts() {
    std::string text = "size,price\n";
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i) + ',' + std::to_string(3 * i % 17) + '\n';
    const std::string path = write("forked.csv", text);
    const auto experiment = trained(path, 20);
    std::vector<Event> events;
    LaneConfig lane = experiment->config().lanes[0];
    lane.precision = Precision::AmpBf16;
    experiment->fork(0, lane, events);
    const QString folder = m_folder.filePath(QStringLiteral("run"));
    QVERIFY(QDir().mkpath(folder));
    writeCheckpoint((folder + "/checkpoint.safetensors").toStdString(), experiment->state(), "1");
    RunConfig recorded = experiment->recorded();
    recorded.forks.push_back({100, 0, 0, lane});
    const RunWeights run(folder.toStdString(), recorded);
    QCOMPARE(run.checkpointStep(), std::optional<int64_t>(20));
    QCOMPARE(run.lanes().size(), size_t{3});
    for (int i = 0; i < 3; ++i)
        QCOMPARE(predictedSamples(run, experiment->laneName(i), path)->bytes,
                 predictedSamples(*experiment, i, path)->bytes);
    const auto savedFile = [&](LaneFile file) {
        return laneFileBytes(run, file, experiment->laneName(2), "1")->bytes;
    };
    for (const LaneFile file : {LaneFile::Onnx, LaneFile::Predictions, LaneFile::Samples})
        QVERIFY(savedFile(file) == laneFileBytes(*experiment, file, 2, "1")->bytes);
    QVERIFY(thrownBy<InputError>([&] { savedFile(LaneFile::StateDict); })
                .ends_with("only this checkpoint has the weights of this run; open it, and File > "
                           "Save weights saves them"));
    QVERIFY(thrownBy<InputError>([&] {
                savedFile(LaneFile::CriticOnnx);
            }).ends_with("this run has no critic"));
    QVERIFY(thrownBy<InputError>([&] {
                predictedSamples(run, "fp64", path);
            }).find("no lane fp64") != std::string::npos);
    std::string wider;
    for (const QString& line : linesOf(text))
        wider += (wider.empty() ? "floor," : std::to_string(line.size() % 3) + ',') +
                 line.toStdString() + '\n';
    write("forked.csv", wider);
    const std::string changed =
        path + " holds other data than the training began with: " + folder.toStdString() +
        "/checkpoint.safetensors: the network of its lane ";
    for (const auto& work :
         {std::function<void()>([&] { predictedSamples(run, experiment->laneName(0), path); }),
          std::function<void()>([&] { savedFile(LaneFile::Predictions); })})
        QVERIFY2(thrownBy<InputError>(work).starts_with(changed), changed.c_str());
}

/// Also when the order of the columns differs, and a line has no text.
void TestPredictedSamples::textsBecomeClasses() {
    std::string table = "review,mood\n";
    for (int i = 0; i < 200; ++i)
        table += std::string(i % 2 ? "a good" : "a bad") + " film of 19" + std::to_string(i / 2) +
                 (i % 2 ? ",\"up, up\"\n" : ",down\n");
    const auto experiment = trained(write("reviews.csv", table), 150);
    QCOMPARE(experiment->config().task.kind, TaskKind::TextClasses);
    const std::string more = write("new.csv", "id,review\n1,Good work\n2,\n3,\"so bad, bad\"\n");
    const PredictedSamples predicted = *predictedSamples(*experiment, 1, more);
    QCOMPARE(classesOf(predicted.bytes),
             QStringList({"id,review,mood_predicted", "1,Good work,\"up, up\"", "2,,",
                          "3,\"so bad, bad\",down"}));
    QCOMPARE(predicted.notes.size(), size_t{1});
    QCOMPARE(predicted.notes[0].english(),
             more + ": 1 of 3 lines lacks a text and is not predicted.");
}

/// The samples that were held back are predicted as their validation judges them.
void TestPredictedSamples::numbersAreInUnitsOfTheData() {
    std::string text = "\xEF\xBB\xBFwidth;price\r\n";
    for (int i = 0; i < 60; ++i)
        text +=
            std::to_string(i) + ",5;" + (i == 3 ? "" : std::to_string(70000 + 1000 * i)) + "\r\n";
    const std::string path = write("prices.csv", text);
    const auto experiment = trained(path, 30);
    QVERIFY(experiment->config().task.standardiseTarget);
    Predictions held;
    const std::atomic<bool> stop{false};
    experiment->lane(1).evaluate(stop, &held);
    // a line lacks its price, which is not read
    const QStringList lines = linesOf(predictedSamples(*experiment, 1, path)->bytes);
    QCOMPARE(lines.size(), 61);
    QVERIFY(lines[0].endsWith(QStringLiteral("width;price;price_predicted")));
    for (size_t i = 0; i < held.numbers.size(); ++i) {
        const QStringList fields = lines[static_cast<int>(held.numbers[i]) + 1].split(';');
        QCOMPARE(fields.size(), 3);
        QVERIFY(!fields[2].contains('.'));
        const double value = QString(fields[2]).replace(',', '.').toDouble();
        constexpr double kBound =
            0x1p-9; // fp16 has 11 digits; batches of another size add rounding
        QVERIFY2(std::abs(value - double{held.values[i]}) <= kBound * std::abs(value),
                 qPrintable(lines[static_cast<int>(held.numbers[i]) + 1]));
    }
    QVERIFY(!lines[4].endsWith(';')); // it has a prediction, too
}

/// Near 1.6 billion, float32 holds only every 128th number.
void TestPredictedSamples::largeNumbersKeepTheirDigits() {
    const auto place = [](int line) { return line * 7 % 80; };
    std::string text = "start,end\n";
    for (int i = 0; i < 80; ++i)
        text += std::to_string(1600000000 + 10 * place(i)) + ',' +
                std::to_string(1600000007 + 25 * place(i)) + '\n';
    const std::string path = write("times.csv", text);
    const auto experiment = trained(path, 30);
    QVERIFY(experiment->config().task.standardiseTarget);
    Predictions held;
    const std::atomic<bool> stop{false};
    experiment->lane(0).evaluate(stop, &held);
    QVERIFY(held.exact());
    const QStringList lines = linesOf(predictedSamples(*experiment, 0, path)->bytes);
    const Array saved = readNpy(write("held.npy", predictionsNpy(held)));
    QCOMPARE(saved.info.type, ElementType::F64);
    double furthest = 0; // of a prediction from what float32 makes of it
    for (size_t i = 0; i < held.numbers.size(); ++i) {
        const auto line = static_cast<int>(held.numbers[i]);
        QVERIFY(std::abs(held.target(i) - (1600000007 + 25 * place(line))) < 0.01);
        QCOMPARE(predictedText(held, held.target(i)).substr(0, 6), std::string("160000"));
        QCOMPARE(saved.at(static_cast<int64_t>(i)), held.value(i));
        furthest = std::max(furthest, std::abs(held.value(i) - double{held.values[i]}));
        const double told = lines[line + 1].section(',', 2).toDouble();
        QVERIFY2(std::abs(told - held.value(i)) < 1, qPrintable(lines[line + 1]));
    }
    QVERIFY2(furthest > 8 && furthest <= 64, qPrintable(QString::number(furthest)));
    QCOMPARE(laneFileBytes(*experiment, LaneFile::Predictions, 0, "1")->bytes,
             predictionsNpy(held));
    const auto note = [](Experiment& of) {
        return laneFileBytes(of, LaneFile::Onnx, 0, "1")->note.english();
    };
    QCOMPARE(note(*experiment),
             "The ONNX file takes float32, which holds numbers like those of these inputs only in "
             "steps of up to 128: start. The ONNX file predicts float32, which holds numbers like "
             "those of these targets only in steps of up to 128: end. Saved predictions are "
             "float64.");
    text = "size,price\n";
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i) + ',' + std::to_string(70000 + 1000 * i) + '\n';
    QCOMPARE(note(*trained(write("small.csv", text), 1)), std::string());
}

/// Those behind them keep their own.
void TestPredictedSamples::linesLeftOutHaveNone() {
    std::string text = "size,kind\n";
    for (int i = 0; i < 100; ++i)
        text += std::to_string(i) + (i < 50 ? ",small\n" : ",large\n");
    const auto experiment = trained(write("sizes.csv", text), 400, Missing::Drop);
    const std::string more = write("gaps.csv", "size\n3\nNA\n97\nNA\n5\n");
    QCOMPARE(classesOf(predictedSamples(*experiment, 0, more)->bytes),
             QStringList({"size,kind_predicted", "3,small", "NA,", "97,large", "NA,", "5,small"}));
}

void TestPredictedSamples::arraysBecomeAnArray() {
    const std::string x = npyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (40, 2), }",
                                   std::string(320, '\0'));
    const std::string y = npy("<f4", "(40, 1)", std::string(160, '\0'));
    const std::string path = write("data.npz", zipBytes({{"x.npy", x}, {"y.npy", y}}));
    const auto experiment = trained(path, 2);
    const std::string more = write("more.npy", npy("<f4", "(3, 2)", std::string(24, '\0')));
    const std::string bytes = predictedSamples(*experiment, 0, more)->bytes;
    const Array array = readNpy(write("out.npy", bytes));
    QCOMPARE(array.info.shape, (std::vector<int64_t>{3, 1}));
    const auto refused = [&](const char* name, const std::string& file) {
        return thrownBy<InputError>([&] { predictedSamples(*experiment, 0, write(name, file)); });
    };
    const std::string folder = m_folder.path().toStdString() + "/";
    QCOMPARE(refused("one.npy", npy("<f4", "(2,)", std::string(8, '\0'))),
             folder + "one.npy: the shape (2,) is that of one sample; the first axis must count "
                      "samples, as in data.x, (40, 2): numpy.expand_dims(x, 0)");
    QCOMPARE(refused("three.npy", npy("<f4", "(1, 3)", std::string(12, '\0'))),
             folder + "three.npy: the shape (1, 3) does not fit the samples of data.x, (40, 2)");
}

/// The words, means and deviations are those of the training table, which may have changed.
void TestPredictedSamples::aChangedTableIsTold() {
    const std::string text = "a,word,y\n1,red,2\n2,blue,5\n3,red,1\n4,blue,8\n";
    const std::string path = write("changes.csv", text);
    const auto experiment = trained(path, 2);
    const std::string more = write("later.csv", "a,word\n1,red\n");
    QVERIFY(predictedSamples(*experiment, 0, more)->notes.empty());
    write("changes.csv", text); // the same bytes at another time
    QVERIFY(predictedSamples(*experiment, 0, more)->notes.empty());
    write("changes.csv", text + "5000,red,3\n");
    const auto notes = predictedSamples(*experiment, 0, more)->notes;
    QVERIFY(!notes.empty());
    QCOMPARE(notes[0].english(),
             path + " holds other data than the training began with. Classes, words, means and "
                    "deviations are taken from it as it is now, so predictions may be wrong.");
    write("changes.csv", text + "5,green,3\n");
    QCOMPARE(thrownBy<InputError>([&] { predictedSamples(*experiment, 0, more); }),
             path +
                 " holds other data than the training began with, which the network does not fit");
    QVERIFY(QFile::remove(QString::fromStdString(path)));
    QVERIFY(thrownBy<InputError>([&] {
                predictedSamples(*experiment, 0, more);
            }).starts_with(path + ": cannot read: "));
}

/// A table that changed between the training and the opening of its checkpoint, and one that did
/// not.
void TestPredictedSamples::aRunFromDiskTellsIt() {
    const std::string text = "a,b,y\n1,7,2\n2,5,5\n3,4,1\n4,4,8\n";
    const std::string path = write("saved.csv", text);
    const std::string more = write("later.csv", "a,b\n1,3\n");
    const std::string file = m_folder.filePath("saved.safetensors").toStdString();
    writeCheckpoint(file, trained(path, 2)->state(), "1");
    std::string change;
    const auto notes = [&] {
        const ExperimentState state = readCheckpoint(file);
        Experiment opened(state.recorded);
        opened.resume(state);
        change = opened.dataChange().english();
        return predictedSamples(opened, 0, more)->notes;
    };
    QVERIFY(notes().empty());
    QCOMPARE(change, std::string());
    write("saved.csv", "a,b,y\n1,7,2\n2,5,5\n3,4,1\n4,4,9\n"); // of the same length
    QCOMPARE(notes().size(), size_t{1});
    QVERIFY(
        notes()[0].english().starts_with(path + " holds other data than the training began with."));
    QCOMPARE(change, path + " holds other data than the training began with; these are used now");
    write("saved.csv", text);
    QVERIFY(notes().empty());
    QCOMPARE(change, std::string());
}

/// A damaged picture is named, and the others have their classes.
void TestPredictedSamples::picturesBecomeATable() {
    const auto put = [&](const QString& name, const Picture& picture) {
        const QString path = m_folder.filePath(name);
        QDir().mkpath(QFileInfo(path).path());
        writePng(picture, path.toStdString());
    };
    for (int i = 0; i < 8; ++i) {
        const float shade = static_cast<float>(i) / 32;
        put(QStringLiteral("old/red, dark/%1.png").arg(i), test::plain(0.5f + shade, 0, shade));
        put(QStringLiteral("old/blue/%1.png").arg(i), test::plain(shade, 0, 0.5f + shade));
    }
    put("new/a.png", test::plain(0.6f, 0, 0.1f));
    put("new/sub/c.png", test::plain(0.1f, 0, 0.6f));
    const std::string bad = write("new/b.png", "no picture");
    const auto experiment = trained(m_folder.filePath("old").toStdString(), 60);
    const std::string folder = m_folder.filePath("new").toStdString();
    const PredictedSamples predicted = *predictedSamples(*experiment, 1, folder);
    const QStringList lines = linesOf(predicted.bytes);
    QCOMPARE(lines.size(), 4);
    QCOMPARE(lines[0], QStringLiteral("file,class_predicted,probability"));
    QVERIFY2(lines[1].startsWith("a.png,\"red, dark\","), qPrintable(lines[1]));
    QCOMPARE(lines[2], QStringLiteral("b.png,,"));
    QVERIFY2(lines[3].startsWith("sub/c.png,blue,"), qPrintable(lines[3]));
    for (const int line : {1, 3}) {
        const double sure = lines[line].split(',').back().toDouble();
        QVERIFY(sure > 0.5 && sure <= 1);
    }
    QCOMPARE(predicted.notes.size(), size_t{1});
    QVERIFY(predicted.notes[0].english().starts_with(bad));
    QVERIFY(predicted.notes[0].english().ends_with(". It has no prediction."));
    for (const char* name : {"new/d.png", "new/e.png", "new/f.png", "new/g.png"})
        write(name, "no picture");
    const auto notes = predictedSamples(*experiment, 1, folder)->notes;
    QCOMPARE(notes.size(), size_t{4}); // three are named
    QCOMPARE(notes.back().english(), "There are 2 more that cannot be read.");
    for (const char* name : {"new/d.png", "new/e.png", "new/f.png", "new/g.png"})
        QVERIFY(QFile::remove(m_folder.filePath(QLatin1String(name))));
    const auto alone = thrownBy<InputError>([&] { predictedSamples(*experiment, 0, bad); });
    QVERIFY2(alone.starts_with(bad) && alone.find("other") == std::string::npos, alone.c_str());
    QVERIFY(QDir(m_folder.path()).mkdir("damaged"));
    for (const char* name : {"damaged/d.png", "damaged/e.png"})
        write(name, "no picture");
    QVERIFY(thrownBy<InputError>([&] {
                predictedSamples(*experiment, 0, m_folder.filePath("damaged").toStdString());
            }).ends_with("(and no other sample can be read)"));
    QVERIFY(QDir(m_folder.filePath("old")).rename("red, dark", "azure")); // classes change places
    QCOMPARE(predictedSamples(*experiment, 0, folder)->notes.size(), size_t{2});
}

void TestPredictedSamples::refusals() {
    const auto experiment = trained(write("two.csv", "a,b,c\n1,2,3\n4,5,6\n"), 1);
    QVERIFY(thrownBy<InputError>([&] {
                predictedSamples(*experiment, 0, write("lacks.csv", "a,c\n1,2\n"));
            }).find("there is no column \"b\"") != std::string::npos);
    Experiment painted(defaultConfig());
    QVERIFY(!canPredictFile(defaultConfig().task.kind));
    QVERIFY(thrownBy<InputError>([&] {
                predictedSamples(painted, 0, "any.csv");
            }).find("a table, arrays or pictures") != std::string::npos);
}

void TestPredictedSamples::stops() {
    const std::string path = write("few.csv", "a,b\n1,2\n3,4\n5,6\n");
    const auto experiment = trained(path, 1);
    std::stop_source stop;
    QVERIFY(predictedSamples(*experiment, 0, path, stop.get_token()));
    stop.request_stop();
    QVERIFY(!predictedSamples(*experiment, 0, path, stop.get_token()));
}

} // namespace tst_predicted_samples

QTEST_GUILESS_MAIN(tst_predicted_samples::TestPredictedSamples)
#include "tst_predicted_samples.moc"
