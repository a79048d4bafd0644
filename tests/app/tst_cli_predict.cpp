// Runs halfscope-cli on tables and arrays as people have them: a training from one command, the
// closing table, and predictions for samples without targets.
#include "engine/io/npy.h"
#include "engine/io/picture.h"
#include "engine/settings/fields.h"
#include "engine/train/predicted_samples.h"
#include "tests/support/class_lines.h"
#include "tests/support/cli_folder.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_cli_predict {

using namespace halfscope;
using namespace halfscope::test;

class TestCliPredict : public CliFolderTest {
    Q_OBJECT

private slots:
    void initTestCase();
    void dataGiveTheTitle();
    void closingTableHasBoth();
    void testsAtTheEnd();
    void predictsTables();
    void untrainedNetworksAreTold();
    void predictsFromACheckpoint();
    void predictsArrays();
    void predictsTexts();
    void countsDamagedPictures();
    void predictsPictures();
    void learnsPrices();
    void judgesLogits();
    void predictsOneSample();
    void refuses_data();
    void refuses();

private:
    Outcome m_trained; ///< the run in the folder "out"
};

/// Trains on a table as Excel writes it in Europe, in which the red ones are cats.
void TestCliPredict::initTestCase() {
    std::string text = "colour;size;kind\r\n";
    for (int i = 0; i < 60; ++i)
        text += (i % 2 ? "red;" : "blue;") + std::to_string(i % 7) + ",5;" +
                (i % 2 ? "cat\r\n" : "dog\r\n");
    m_trained = call({"run", file("pets.csv", text), "--device", "cpu", "--set",
                      "optimizer.lr=0.01", "--out", path("out")});
    QVERIFY2(m_trained.code == 0, m_trained.error);
}

/// A run is called after what it trains on, not after the experiment that its settings began with.
void TestCliPredict::dataGiveTheTitle() {
    QTemporaryDir folder;
    const QString picture = folder.filePath("poppy.png");
    writePng({4, 4, 1, std::vector<float>(16)}, picture.toStdString());
    const QString table = file("titled prices.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n");
    const auto titleOf = [&](const QStringList& of) {
        const QString out = folder.filePath("o");
        QDir(out).removeRecursively();
        const Outcome outcome = call(QStringList{"run"} + of +
                                     QStringList{"--steps", "1", "--device", "cpu", "--out", out});
        return outcome.code == 0 ? QString::fromStdString(
                                       readConfig((out + "/experiment.json").toStdString()).title)
                                 : QString::fromUtf8(outcome.error);
    };
    QCOMPARE(titleOf({}), QString("Checkerboard"));
    QCOMPARE(titleOf({"--set", "task.side=8"}), QString("Checkerboard"));
    QCOMPARE(titleOf({"--set", "data.kind=moons"}), QString("Two moons, own settings"));
    QCOMPARE(
        titleOf({"--set", "data.kind=csv", "--set", "data.path=" + table, "--set", "task.batch=2"}),
        QString("titled prices"));
    QCOMPARE(titleOf({picture, "--set", "task.side=8"}), QString("poppy"));
}

void TestCliPredict::closingTableHasBoth() {
    QVERIFY2(m_trained.error.contains("Data: The columns are separated by semicolons, and numbers "
                                      "have decimal commas.\n"),
             m_trained.error);
    const QList<QByteArray> lines = m_trained.out.split('\n');
    const auto head = std::find_if(lines.begin(), lines.end(), [](const QByteArray& line) {
        return line.startsWith("lane  ");
    });
    QVERIFY2(head != lines.end(), m_trained.out);
    QCOMPARE(head->simplified(),
             QByteArray("lane accuracy val. loss loss last loss skipped scale ms/step peak"));
    const qsizetype loss = head->indexOf("val."), accuracy = head->indexOf("acc");
    for (int lane = 1; lane <= 2; ++lane) {
        const QByteArray line = *(head + lane);
        bool isNumber = false;
        line.mid(loss).split(' ').first().toDouble(&isNumber);
        QVERIFY2(isNumber, line);
        QCOMPARE(line.mid(accuracy, 10).trimmed(), QByteArray("100 %"));
        QVERIFY2(line.size() <= 100, line);
    }
}

/// Its samples are neither trained on nor validated on: the line after the table, and an evaluation
/// of the saved weights.
void TestCliPredict::testsAtTheEnd() {
    const Outcome trained =
        call({"run", path("pets.csv"), "--device", "cpu", "--set", "optimizer.lr=0.01", "--set",
              "data.validation=0.5", "--set", "data.test_share=0.4", "--out", path("tested")});
    QVERIFY2(trained.code == 0, trained.error);
    QVERIFY2(
        trained.error.contains("Data: Of the 30 samples to judge by, 12 are kept for the test at "
                               "the end; validation does not see them.\n"),
        trained.error);
    QVERIFY2(trained.out.contains("\nTest: accuracy 100 % (fp32), 100 % (amp-fp16)\n"),
             trained.out);
    QVERIFY(!m_trained.out.contains("Test:"));
    const Outcome judged =
        call({"evaluate", path("tested"), "--test", "--out", path("test-scores")});
    QVERIFY2(judged.code == 0, judged.error);
    QVERIFY2(judged.out.startsWith("12 test samples\n"), judged.out);
    QCOMPARE(contentOf(path("test-scores/samples.csv")).count('\n'), qsizetype{13});
    QVERIFY(contentOf(path("test-scores/scores.json")).contains("\"test\": true"));
    QVERIFY(call({"evaluate", path("tested")}).out.startsWith("18 validation samples\n"));
    const Outcome none = call({"evaluate", path("out"), "--test"});
    QCOMPARE(none.code, 2);
    QCOMPARE(none.error.trimmed(),
             QByteArray("halfscope-cli: evaluate: --test: csv keeps no samples for a test; "
                        "data.test_share, now "
                        "0, sets the share of the samples to validate on that are kept for it"));
}

/// The table to predict has other separators, another order of columns and no target.
void TestCliPredict::predictsTables() {
    const QString table = file("new.csv", "size,name,colour\n3.5,a,red\n4,b,blue\n9.25,c,red\n");
    QVERIFY(QDir().mkpath(path("predicted")));
    for (const char* name : {"predicted/scores.json", "predicted/predictions_fp32.npy"})
        file(name, "{}"); // of earlier samples
    const Outcome outcome =
        call({"evaluate", path("out"), "--predict", table, "--out", path("predicted")});
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.out.contains("3 samples of " + table.toUtf8() +
                                  " predicted; there are no scores, because the targets are not "
                                  "known\n"),
             outcome.out);
    QCOMPARE(classLinesOf(contentOf(path("predicted/samples.csv")), 2),
             (QStringList{"size,name,colour,kind_predicted_fp32,kind_predicted_amp-fp16",
                          "3.5,a,red,cat,cat", "4,b,blue,dog,dog", "9.25,c,red,cat,cat"}));
    QCOMPARE(filesOf(path("predicted")),
             (QStringList{"predictions_amp-fp16.npy", "predictions_fp32.npy", "samples.csv"}));
    // one lane alone has the table that the window writes, with its notes
    const QString gaps = file("gaps.csv", "size,colour\n3,red\n,blue\n");
    const Outcome alone = call({"evaluate", path("out"), "--lanes", "amp-fp16", "--predict", gaps,
                                "--out", path("alone")});
    QVERIFY2(alone.code == 0, alone.error);
    const std::string folder = path("out").toStdString();
    const RunWeights run(folder, readConfig(folder + "/experiment.json"));
    const PredictedSamples same = *predictedSamples(run, "amp-fp16", gaps.toStdString());
    QCOMPARE(contentOf(path("alone/samples.csv")).toStdString(), same.bytes);
    QCOMPARE(classLinesOf(QString::fromStdString(same.bytes)),
             (QStringList{"size,colour,kind_predicted", "3,red,cat", ",blue,"}));
    QCOMPARE(alone.error.count("Data: "), qsizetype{2});
    QVERIFY2(alone.error.contains(": 1 of 2 lines lacks a value and is not predicted.\nData: A run "
                                  "with data.missing set to mean also predicts lines that have "
                                  "some of the values.\n"),
             alone.error);
    const Array y = readNpy(path("predicted/predictions_fp32.npy").toStdString());
    QCOMPARE(y.info.shape, (std::vector<int64_t>{3, 2}));
    // samples of the training table get the same outputs as when they were judged
    const Outcome judged = call({"evaluate", path("out"), "--out", path("judged")});
    QVERIFY2(judged.code == 0, judged.error);
    const Outcome all =
        call({"evaluate", path("out"), "--predict", path("pets.csv"), "--out", path("all")});
    QVERIFY2(all.code == 0, all.error);
    const Array held = readNpy(path("judged/predictions_fp32.npy").toStdString());
    const Array whole = readNpy(path("all/predictions_fp32.npy").toStdString());
    QCOMPARE(whole.info.shape, (std::vector<int64_t>{60, 2}));
    // which has the targets
    QVERIFY2(all.out.contains("60 samples of " + path("pets.csv").toUtf8() +
                              " predicted\nfp32: Predicted right: 60 of 60 samples whose kind is "
                              "known, an accuracy of 100 %.\namp-fp16: Predicted right: 60 of 60 "
                              "samples whose kind is known, an accuracy of 100 %.\nFiles: "),
             all.out);
    QVERIFY2(all.error.contains(path("pets.csv").toUtf8() +
                                " is the table that the networks were trained on.\n"),
             all.error);
    QVERIFY(!outcome.error.contains(" trained on.\n"));
    const QString odd = file("odd.csv", "size,colour,kind\n3.5,red,cat\n4,blue,bird\n5,red,Cat\n");
    const Outcome strange = call({"evaluate", path("out"), "--predict", odd, "--out", path("odd")});
    QVERIFY2(strange.out.contains("2 samples have a class that the network was not trained on: "
                                  "bird, Cat.\nFiles: "),
             strange.out);
    QCOMPARE(contentOf(path("all/scores.json")).simplified(),
             QByteArray(R"({ "samples": 60, "lanes": [ { "name": "fp32", "accuracy": 1.0 }, )"
                        R"({ "name": "amp-fp16", "accuracy": 1.0 } ] })"));
    const QList<QByteArray> samples = contentOf(path("judged/samples.csv")).split('\n');
    for (int64_t row = 0; row < held.info.shape[0]; ++row) {
        const int64_t stored = samples[row + 1].split(',')[0].toLongLong();
        for (int64_t k = 0; k < 2; ++k) // another batch may sum in another order
            QVERIFY(std::abs(held.at(2 * row + k) - whole.at(2 * stored + k)) < 1e-5);
    }
}

void TestCliPredict::untrainedNetworksAreTold() {
    const QString pets = path("pets.csv"), run = path("drawn");
    QCOMPARE(call({"run", pets, "--device", "cpu", "--steps", "1", "--out", run}).code, 0);
    for (const char* name :
         {"drawn/weights_fp32.safetensors", "drawn/weights_amp-fp16.safetensors"})
        file(name, contentOf(path(name)).replace(R"("step":"1")", R"("step":"0")").toStdString());
    const Outcome told = call({"evaluate", run, "--predict", pets, "--out", path("drawn-scores")});
    QVERIFY2(told.error.contains("\nThe networks had not been trained yet.\n") &&
                 !told.error.contains("trained on"),
             told.error);
}

/// Each lane of a folder without files of weights has those in its checkpoint.
void TestCliPredict::predictsFromACheckpoint() {
    const QString folder = path("kept"), table = file("few.csv", "size,colour\n3,red\n4,blue\n");
    const auto predicts = [&](const QStringList& more = {}) {
        return call(QStringList{"evaluate", folder, "--predict", table, "--out", path("found")} +
                    more);
    };
    const QStringList names{"samples.csv", "predictions_fp32.npy", "predictions_amp-fp16.npy"};
    const auto found = [&] {
        QByteArrayList files;
        for (const QString& name : names)
            files << contentOf(path("found") + "/" + name);
        return files;
    };
    const Outcome trained = call({"run", path("pets.csv"), "--device", "cpu", "--steps", "40",
                                  "--checkpoint-every", "20", "--out", folder});
    QVERIFY2(trained.code == 0, trained.error);
    const Outcome files = predicts();
    QVERIFY2(files.code == 0, files.error);
    const QByteArray at = "Weights: " + folder.toUtf8() + "/";
    QVERIFY2(files.error.contains(at + "weights_fp32.safetensors, "), files.error);
    const QByteArrayList own = found();
    for (const char* name : {"weights_fp32.safetensors", "weights_amp-fp16.safetensors"})
        QVERIFY(QFile::remove(folder + "/" + name));
    const Outcome kept = predicts();
    QVERIFY2(kept.code == 0, kept.error);
    QVERIFY2(kept.error.contains(at + "checkpoint.safetensors, each lane's own after step 40\n"),
             kept.error);
    QCOMPARE(found(), own);
    const QString checkpoint = folder + "/checkpoint.safetensors";
    const Outcome given = predicts({"--weights", checkpoint});
    QVERIFY2(given.code == 2 && given.saysOneLine() &&
                 given.error.contains("a checkpoint has the networks of all lanes of its run; ") &&
                 !given.error.contains("0/"),
             given.error);
    // weights that somebody has put there
    const QByteArray manifest = contentOf(folder + "/manifest.json");
    QJsonObject json = QJsonDocument::fromJson(manifest).object(),
                listed = json["files"].toObject();
    for (const char* name : {"weights_fp32.safetensors", "weights_amp-fp16.safetensors"}) {
        QVERIFY(QFile::copy(path("out") + "/" + name, folder + "/" + name));
        listed.remove(QLatin1String(name));
    }
    json["files"] = listed;
    file("kept/manifest.json", QJsonDocument(json).toJson().toStdString());
    const Outcome foreign = predicts();
    QVERIFY2(foreign.error.contains(at + "checkpoint.safetensors, "), foreign.error);
    QCOMPARE(found(), own);
    for (const char* name : {"weights_fp32.safetensors", "weights_amp-fp16.safetensors"})
        QVERIFY(QFile::remove(folder + "/" + name));
    // the checkpoint of another run
    const QByteArray whole = contentOf(checkpoint);
    file("kept/manifest.json", contentOf(path("out/manifest.json")).toStdString());
    const Outcome other = predicts();
    QVERIFY2(other.code == 2 && other.error.contains("it belongs to another run than"),
             other.error);
    file("kept/manifest.json", manifest.toStdString());
    // the one before it is used, and named, where it is alone
    QVERIFY(QFile::remove(checkpoint));
    const Outcome earlier = predicts();
    QVERIFY2(earlier.code == 0 &&
                 earlier.error.contains(at + "checkpoint-before.safetensors, each lane's own after "
                                             "step 20\n"),
             earlier.error);
    QVERIFY(QFile::remove(folder + "/checkpoint-before.safetensors"));
    file("kept/checkpoint.safetensors", whole.left(whole.size() - 9).toStdString());
    const Outcome damaged = predicts();
    QVERIFY2(damaged.code == 2 && damaged.saysOneLine() &&
                 damaged.error.contains(checkpoint.toUtf8() + ": "),
             damaged.error);
    QVERIFY(QFile::remove(checkpoint));
    const Outcome none = predicts();
    QVERIFY2(none.code == 2 && none.saysOneLine() &&
                 none.error.contains(": neither weights_fp32.safetensors nor "
                                     "checkpoint.safetensors is there, "),
             none.error);
}

void TestCliPredict::predictsArrays() {
    std::string x, y;
    for (int i = 0; i < 20; ++i) {
        x += bytesOfValues<float>({static_cast<float>(i), 1});
        y += bytesOfValues<float>({static_cast<float>(2 * i)});
    }
    const QString data = file("data.npz", zipBytes({{"x.npy", npy("<f4", "(20, 2)", x), true},
                                                    {"y.npy", npy("<f4", "(20,)", y), true}}));
    const Outcome trained =
        call({"run", data, "--device", "cpu", "--steps", "5", "--out", path("numbers")});
    QVERIFY2(trained.code == 0, trained.error);
    QVERIFY2(trained.out.contains("val. loss") && !trained.out.contains("accuracy"), trained.out);
    const QString news = file("x.npy", npy("<f4", "(3, 2)", x.substr(0, 24)));
    const Outcome outcome =
        call({"evaluate", path("numbers"), "--predict", news, "--out", path("made")});
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.out.contains("3 samples of "), outcome.out);
    const QString odd = path("a\x1b[31mb");
    for (const QStringList& more : {QStringList{"--predict", news}, QStringList{}}) {
        const Outcome told = call(QStringList{"evaluate", path("numbers"), "--out", odd} + more);
        QVERIFY2(told.code == 0 && told.out.contains("a\\u001b[31mb\n"), told.out);
    }
    const QList<QByteArray> lines = contentOf(path("made/samples.csv")).trimmed().split('\n');
    QCOMPARE(lines.size(), qsizetype{4});
    QCOMPARE(lines[0], QByteArray("sample,fp32,amp-fp16"));
    const Array made = readNpy(path("made/predictions_fp32.npy").toStdString());
    QCOMPARE(lines[3].split(',')[1].toFloat(), static_cast<float>(made.at(2)));
}

/// Beside each text of a table stands what the lanes take it for. Names of classes stand in columns
/// of characters, not of bytes.
void TestCliPredict::predictsTexts() {
    std::string table = "id,word,language\n";
    for (int i = 0; i < 60; ++i)
        table += std::to_string(i) + (i % 2 ? ",\"é, é" : ",\"a, a") +
                 std::string(i % 4 ? "b" : "bb") +
                 (i % 2 ? "\",Français\n" : "\",Ελληνικά της Κύπρου\n");
    const Outcome trained =
        call({"run", file("words.csv", table), "--device", "cpu", "--steps", "60", "--set",
              "data.kind=text-classes", "--set", "data.tokens=characters", "--set",
              "data.text=word", "--out", path("words")});
    QVERIFY2(trained.code == 0, trained.error);
    const Outcome judged = call({"evaluate", path("words"), "--out", path("judgedWords")});
    QVERIFY2(judged.code == 0, judged.error);
    const qsizetype from = judged.out.indexOf("true ");
    const QList<QByteArray> shown = judged.out.mid(from).split('\n');
    QCOMPARE(QString::fromUtf8(shown[0]), QString("true          Français  Ελληνικά της"));
    QCOMPARE(QString::fromUtf8(shown[2]).size(), QString::fromUtf8(shown[0]).size());
    const QList<QByteArray> held = contentOf(path("judgedWords/samples.csv")).trimmed().split('\n');
    QCOMPARE(held[0], QByteArray("sample,text,target,fp32,amp-fp16"));
    QCOMPARE(held.size(), 7);
    for (const QByteArray& line : held.mid(1)) {
        const QByteArray own =
            QByteArray::fromStdString(table).split('\n')[1 + line.split(',')[0].toInt()];
        const qsizetype comma = line.indexOf(',');
        QVERIFY2(own.contains(line.mid(comma, line.indexOf("\",") - comma) + "\","), line);
    }
    // a line without a text has no prediction
    const QString news = file("newWords.csv", "word,who\n\"é, ébb\",x\n,y\n\"\"\"a, abb\",z\n");
    const Outcome outcome =
        call({"evaluate", path("words"), "--predict", news, "--out", path("newOnes")});
    QVERIFY2(outcome.code == 0, outcome.error);
    QCOMPARE(classLinesOf(QString::fromUtf8(contentOf(path("newOnes/samples.csv"))), 2),
             (QStringList{"word,who,language_predicted_fp32,language_predicted_amp-fp16",
                          "\"é, ébb\",x,Français,Français", ",y,,",
                          "\"\"\"a, abb\",z,Ελληνικά της Κύπρου,Ελληνικά της Κύπρου"}));
}

/// A run that skips damaged pictures names the first ones and counts the others.
void TestCliPredict::countsDamagedPictures() {
    for (int i = 0; i < 5; ++i) {
        const QString shade = QString::number(i);
        for (const char* name : {"dark", "light"}) {
            QDir().mkpath(path("worn/") + QLatin1String(name));
            writePng(Picture{4, 4, 3, std::vector<float>(48, name[0] == 'd' ? 0.1f : 0.9f)},
                     (path("worn/") + QLatin1String(name) + "/" + shade + ".png").toStdString());
        }
        file(qPrintable("worn/dark/bad" + shade + ".png"), "no picture");
    }
    const Outcome trained =
        call({"run", path("worn"), "--device", "cpu", "--steps", "9", "--set", "data.side=4",
              "--set", "data.validation=0", "--set", "data.damaged=skip"});
    QVERIFY2(trained.code == 0, trained.error);
    QCOMPARE(trained.error.count("Data: Step "), 3);
    QVERIFY2(trained.error.contains("Data: 2 more samples could not be read.\n"), trained.error);
}

/// Each file has the class and the probability of each lane; a damaged one is named.
void TestCliPredict::predictsPictures() {
    const auto put = [&](const QString& name, float red) {
        QDir().mkpath(QFileInfo(path(qPrintable(name))).path());
        writePng(Picture{5, 4, 3, std::vector<float>(60, red)},
                 path(qPrintable(name)).toStdString());
    };
    for (int i = 0; i < 10; ++i) {
        put(QStringLiteral("shades/dark/%1.png").arg(i), static_cast<float>(i) / 100);
        put(QStringLiteral("shades/light/%1.png").arg(i), 1 - static_cast<float>(i) / 100);
    }
    put("found/1.png", 0.9f);
    put("found/3.png", 0.1f);
    file("found/2.png", "no picture");
    const Outcome trained =
        call({"run", path("shades"), "--device", "cpu", "--steps", "100", "--set", "data.side=4",
              "--set", "data.validation=0.2", "--out", path("shown")});
    QVERIFY2(trained.code == 0, trained.error);
    const Outcome outcome =
        call({"evaluate", path("shown"), "--predict", path("found"), "--out", path("classes")});
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.error.contains("found/2.png: ") && outcome.error.contains("It is left out."),
             outcome.error);
    QVERIFY2(outcome.out.startsWith("2 samples of "), outcome.out);
    const QList<QByteArray> lines = contentOf(path("classes/samples.csv")).split('\n');
    QCOMPARE(lines[0],
             QByteArray("file,class_predicted_fp32,probability_fp32,class_predicted_amp-fp16,"
                        "probability_amp-fp16"));
    QVERIFY2(lines[1].startsWith("1.png,light,0.") && lines[1].contains(",light,0."), lines[1]);
    QCOMPARE(lines[2], QByteArray("2.png,,,,"));
    QVERIFY2(lines[3].startsWith("3.png,dark,0."), lines[3]);
    QCOMPARE(readNpy(path("classes/predictions_fp32.npy").toStdString()).info.shape,
             (std::vector<int64_t>{3, 2}));
}

/// A table of house prices is learnt as it is dropped, in both lanes, and every error and
/// prediction is a price.
/// Logits are compared as the shares that they stand for, also with targets in words.
void TestCliPredict::judgesLogits() {
    std::string text = "a,b,ok\n", numbers = "a,b,ok\n", shares = "a,b,ok\n";
    for (int i = 0; i < 80; ++i) {
        const std::string line = std::to_string(i) + "," + std::to_string(i * 7 % 11) + ",";
        text += line + (i < 40 ? "no\n" : "yes\n");
        numbers += line + (i < 40 ? "0\n" : "1\n");
        shares += line + (i < 40 ? "0.25\n" : "1\n");
    }
    const Outcome run =
        call({"run", file("answers.csv", text), "--device", "cpu", "--lanes", "fp32", "--set",
              "task.loss=bce-with-logits", "--epochs", "30", "--out", path("answers")});
    QVERIFY2(run.code == 0, run.error);
    const auto judged = [&](const QString& table) {
        const Outcome outcome =
            call({"evaluate", path("answers"), "--predict", table, "--out", path("answered")});
        return outcome.code == 0 ? QString::fromUtf8(outcome.out + outcome.error) : QString();
    };
    const QString words = judged(path("answers.csv"));
    QList<QByteArray> lines = contentOf(path("answered/samples.csv")).trimmed().split('\n');
    QCOMPARE(lines.takeFirst(), QByteArray("a,b,ok,ok_predicted"));
    int right = 0;
    double error = 0;
    for (const QByteArray& line : lines) {
        const QList<QByteArray> fields = line.split(',');
        const bool wanted = fields[2] == "yes";
        const double logit = fields[3].toDouble();
        right += (logit > 0) == wanted;
        error += std::abs(1 / (1 + std::exp(-logit)) - (wanted ? 1.0 : 0.0)) / 80;
    }
    QVERIFY2(right > 70, qPrintable(words));
    const QString share = QString::number(right) + " of 80 values of ok that are known";
    QVERIFY2(words.contains(share), qPrintable(words));
    const QJsonObject scores =
        QJsonDocument::fromJson(contentOf(path("answered/scores.json")))["lanes"][0].toObject();
    QCOMPARE(scores["accuracy"].toDouble(), right / 80.0);
    QVERIFY(std::abs(scores["mae"].toDouble() - error) < 1e-5);
    QVERIFY2(judged(file("ones.csv", numbers)).contains(share), qPrintable(words));
    const QString unknown = judged(file("unknown.csv", "a,b\n3,7\n4,8\n"));
    QVERIFY2(unknown.contains("The predictions are logits: their sigmoid") &&
                 !words.contains("their sigmoid, "),
             qPrintable(unknown));
    const QString between = judged(file("shares.csv", shares));
    QVERIFY2(between.contains("Mean absolute error of their sigmoid"), qPrintable(between));
    QVERIFY(!QJsonDocument::fromJson(contentOf(path("answered/scores.json")))["lanes"][0]
                 .toObject()
                 .contains("accuracy"));
}

void TestCliPredict::learnsPrices() {
    std::string text = "area,rooms,year,price\n";
    for (int i = 0; i < 300; ++i) {
        const int area = 40 + 37 * i % 211, rooms = 1 + i % 6, year = 1900 + 17 * i % 120;
        text += std::to_string(area) + "," + std::to_string(rooms) + "," + std::to_string(year) +
                "," + std::to_string(60000 + 2600 * area + 15000 * rooms + 900 * (year - 1900)) +
                "\n";
    }
    const QString table = file("houses.csv", text);
    const Outcome run = call({"run", table, "--device", "cpu", "--out", path("houses")});
    QVERIFY2(run.code == 0, run.error);
    QVERIFY2(run.error.contains("Data: The target is standardised (mean ") &&
                 run.error.contains("set data.standardise_target to false."),
             run.error);
    QVERIFY2(run.out.simplified().startsWith("lane val. loss val. MAE loss "), run.out);
    QVERIFY(contentOf(path("houses/steps.csv")).startsWith("step,lane,loss,"));
    QVERIFY(contentOf(path("houses/steps.csv")).split('\n')[0].endsWith(",validation_mae"));
    const Outcome judged = call({"evaluate", path("houses"), "--out", path("scores")});
    QVERIFY2(judged.code == 0 && judged.out.contains("mean absolute error\n"), judged.error);
    const auto lanes = [&](const char* name) {
        return QJsonDocument::fromJson(contentOf(path(name)))["lanes"].toArray();
    };
    for (int lane = 0; lane < 2; ++lane) {
        const double summed = lanes("houses/summary.json").at(lane)["validation_mae"].toDouble();
        const double mae = lanes("scores/scores.json").at(lane)["mae"].toDouble();
        QVERIFY2(mae > 1 && mae < 20000, QByteArray::number(mae)); // the deviation is 170,000
        QVERIFY(std::abs(summed - mae) < 1e-6 * mae);
    }
    const Outcome predicted =
        call({"evaluate", path("houses"), "--predict", table, "--out", path("prices")});
    QVERIFY2(predicted.code == 0, predicted.error);
    const Array made = readNpy(path("prices/predictions_amp-fp16.npy").toStdString());
    const QList<QByteArray> lines = QByteArray::fromStdString(text).split('\n');
    for (int64_t row = 0; row < 300; ++row)
        QVERIFY(std::abs(made.at(row) - lines[row + 1].split(',')[3].toDouble()) < 60000);
    // the means and deviations of a table that changed are not those of the training
    QVERIFY2(!predicted.error.contains("changed"), predicted.error);
    file("houses.csv", text); // the same bytes, newer than the weights
    const Outcome same =
        call({"evaluate", path("houses"), "--predict", table, "--out", path("prices")});
    QVERIFY2(same.code == 0 && !same.error.contains("other data"), same.error);
    file("houses.csv", text + "9000,1,1900,1\n");
    const Outcome changed =
        call({"evaluate", path("houses"), "--predict", table, "--out", path("prices")});
    QVERIFY2(changed.code == 0 && changed.error.contains(
                                      "houses.csv holds other data than the training began with. "),
             changed.error);
    // weights that are named may be of another experiment
    const QString weights = path("houses/weights_fp32.safetensors");
    const Outcome named = call({"evaluate", path("houses"), "--weights", weights});
    QVERIFY2(named.code == 0 &&
                 !named.error.contains("holds other data than the training began with") &&
                 named.error.contains(
                     "The weights in " + weights.toUtf8() + " were trained on other data than " +
                     path("houses.csv").toUtf8() + ": either " + path("houses.csv").toUtf8() +
                     " has changed since, or they are of another experiment. "),
             named.error);
    file("houses.csv", text);
    const Outcome fits = call({"evaluate", path("houses"), "--weights", weights});
    QVERIFY2(fits.code == 0 && !fits.error.contains("other data"), fits.error);
}

/// Batch norm has no variance of one sample, and needs none: it uses running statistics.
void TestCliPredict::predictsOneSample() {
    const QString folder = path("normed"), out = path("one");
    const Outcome trained = call({"run", path("pets.csv"), "--device", "cpu", "--steps", "2",
                                  "--set", "model.norm=batch", "--out", folder});
    QVERIFY2(trained.code == 0, trained.error);
    const QString table = file("one.csv", "size,colour\n3.5,red\n");
    const Outcome outcome = call({"evaluate", folder, "--predict", table, "--out", out});
    QVERIFY2(outcome.code == 0, outcome.error);
    QCOMPARE(contentOf(out + "/samples.csv").count('\n'), 2);
}

void TestCliPredict::refuses_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("about");
    const QString table = path("lacking.csv");
    QTest::newRow("without a folder")
        << QStringList{path("out"), "--predict", path("pets.csv")}
        << QByteArray("--predict needs --out, the folder that the predictions are written into");
    QTest::newRow("without a column")
        << QStringList{path("out"), "--predict", table, "--out", path("none")}
        << QByteArray("there is no column \"colour\", which the network was trained on");
    QTest::newRow("a folder") << QStringList{path("out"), "--predict", path("out"), "--out",
                                             path("none")}
                              << QByteArray("--predict takes a file where data.kind is csv; " +
                                            path("out").toUtf8() + " is a folder");
    QTest::newRow("of no table")
        << QStringList{"--preset",  "moons", "--weights", path("out/weights_fp32.safetensors"),
                       "--predict", table,   "--out",     path("none")}
        << QByteArray("takes an .npy, .npz or .safetensors file where data.kind is moons; ");
}

void TestCliPredict::refuses() {
    QFETCH(const QStringList, arguments);
    QFETCH(const QByteArray, about);
    file("lacking.csv", "size\n1\n");
    const Outcome outcome = call(QStringList{"evaluate"} + arguments);
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.saysOneLine() && outcome.error.contains(about), outcome.error);
    QVERIFY(!QDir(path("none")).exists());
}

} // namespace tst_cli_predict

QTEST_GUILESS_MAIN(tst_cli_predict::TestCliPredict)
#include "tst_cli_predict.moc"
