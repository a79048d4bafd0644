// First experiments on the user's data: which data set, loss and length the files lead to.
#include "engine/settings/data_experiment.h"

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/data/undecoded.h"
#include "engine/io/picture.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_length.h"
#include "engine/step/model_shapes.h"
#include "tests/support/array_files.h"
#include "tests/support/cifar_files.h"
#include "tests/support/ordinary_user.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

namespace tst_data_experiment {

using namespace halfscope;

class TestDataExperiment : public QObject {
    Q_OBJECT
private slots:
    void archives();
    void chosenSide();
    void sideOfSmallPictures();
    void arraysAlone();
    void arrayBesideAGivenOne();
    void arrays_data();
    void arrays();
    void digits();
    void pictures();
    void damagedPictures();
    void cifar();
    void closedFolder_data();
    void closedFolder();
    void texts();
    void textsWithClasses();
    void foldersOfArrays();
    void titles();
    void picturesArePainted();
    void notData();
    void wrongData();

private:
    std::string path(const QString& name) const { return m_folder.filePath(name).toStdString(); }

    QTemporaryDir m_folder;
};

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
                    "cannot be read as a zip archive, because it has no list of its files"));
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
    QCOMPARE(
        makeDataset(misfits->task, 0)->notes().at(0).english(),
        std::string("The samples of x_test and y_test, 2, are not used. To validate on them, set "
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
    RunConfig other = *config; // a network for pictures of another size
    other.model.layers = "nn.Sequential(nn.Flatten(), nn.Linear(1024, 2))";
    QCOMPARE(QString::fromStdString(modelShapes(other).error.english()),
             QStringLiteral("model.layers, line 1, column 29: Linear(1024, 2): the input has 768 "
                            "features (data.side is 16; the network may be for pictures of another "
                            "size)"));
    other.model.layers = "nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(784, 2))";
    const std::string channels = modelShapes(other).error.english();
    QVERIFY2(!channels.empty() && channels.find("data.side") == std::string::npos,
             channels.c_str()); // another size would not help
    const auto blames = [&other](const char* layers) {
        other.model.layers = layers;
        const std::string error = modelShapes(other).error.english();
        return !error.empty() && error.find("data.side") != std::string::npos;
    };
    QVERIFY(blames("nn.Sequential(nn.Linear(1024, 2))")); // of flat rows
    QVERIFY(blames("nn.Sequential(nn.Flatten(), nn.ReLU(), nn.Linear(1024, 2))"));
    QVERIFY(blames("nn.Sequential(nn.Flatten(), nn.PReLU(), nn.Linear(1024, 2))"));
    QVERIFY(!blames("nn.Sequential(nn.Flatten(), nn.Linaer(768, 2))"));
    for (const char* pool : // makes as many features of pictures of any size
         {"nn.AdaptiveAvgPool2d(1)", "nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.ReLU())"}) {
        const std::string layers = "nn.Sequential(nn.Conv2d(3, 8, 3), " + std::string(pool);
        QVERIFY(!blames((layers + ", nn.Flatten(), nn.Linear(16, 2))").c_str()));
    }
    QVERIFY(!blames("nn.Sequential(nn.Flatten(), nn.Linear(768, 64), nn.ReLU(), "
                    "nn.Linear(32, 2))"));
    QVERIFY(config->model.layers.find("nn.Linear(512, 64)") != std::string::npos);
}

/// Smaller pictures are not enlarged: samples get the median of their shorter sides.
void TestDataExperiment::sideOfSmallPictures() {
    int count = 0;
    for (const char* name : {"left", "right"}) {
        QDir().mkpath(m_folder.filePath("small/") + name);
        for (const int side : {12, 16, 40}) {
            const auto pixels = static_cast<size_t>(side * 50);
            const bool wide = ++count % 2 == 0;
            writePng({wide ? 50 : side, wide ? side : 50, 1, std::vector<float>(pixels, 0.5f)},
                     path(QString("small/%1/%2.png").arg(name).arg(side)));
        }
    }
    writeBytes(path("small/left/4.png"), "no picture");
    const auto config = experimentOn(path("small"));
    QVERIFY(config);
    QCOMPARE(config->task.pictureSide, int64_t{16});
    QCOMPARE(modelShapes(*config).error.english(), std::string());
    for (const char* name : {"left", "right"})
        for (const char* file : {"12.png", "16.png"})
            QVERIFY(QFile::remove(m_folder.filePath(QString("small/%1/").arg(name)) + file));
    QCOMPARE(experimentOn(path("small"))->task.pictureSide, RunConfig().task.pictureSide);
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

/// The file that is missing is named.
void TestDataExperiment::arraysAlone() {
    const auto check = [this](const char* alone, const char* missing) {
        writeBytes(path(alone), npy("<f4", "(4, 2)", std::string(32, '\0')));
        const std::string error = thrownBy<InputError>([&] { experimentOn(path(alone)); });
        QVERIFY2(isAbout(error, path(alone), missing), error.c_str());
        QVERIFY2(error.ends_with("; or set data.kind to arrays, and data.x and data.y to the two "
                                 "files"),
                 error.c_str());
    };
    check("x64.npy", "beside it there must be a file y64.npy with the targets");
    check("lone_Y.npy", "beside it there must be a file lone_X.npy with the inputs");
    check("matrix.npy", "in the names of the files x stands for the inputs"); // not matriy.npy
}

/// An array that is given by a setting needs no name that fits.
void TestDataExperiment::arrayBesideAGivenOne() {
    const std::string x = path("given_x.npy"), t = path("t.npy");
    writeBytes(x, npy("<f4", "(4, 2)", std::string(32, '\0')));
    writeBytes(t, npy("<f4", "(4,)", std::string(16, '\0')));
    const auto check = [&](const std::string& opened, const std::vector<std::string>& settings) {
        std::vector<Assignment> given;
        for (const std::string& each : settings)
            given.push_back(parseAssignment(each));
        const auto config = experimentOn(opened, given);
        QVERIFY(config);
        QCOMPARE(config->task.kind, TaskKind::Arrays);
        QCOMPARE(config->task.x, x);
        QCOMPARE(config->task.y, t);
    };
    check(x, {"data.y=" + t});
    check(x, {"data.kind=arrays", "data.x=" + x, "data.y=" + t});
    check(t, {"data.x=" + x});
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
            QVERIFY2(isAbout(error, each, "the other array is missing: in the names of the files"),
                     error.c_str());
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

/// They are left out and counted; where all are good, one that gets lost later ends the run. What
/// the user has said stays.
void TestDataExperiment::damagedPictures() {
    const Picture grey{8, 8, 1, std::vector<float>(64, 0.5f)};
    for (const char* name : {"worn/a", "worn/b"}) {
        QDir().mkpath(m_folder.filePath(name));
        for (const char* file : {"/1.png", "/2.png"})
            writePng(grey, path(QString(name) + file));
    }
    const auto told = [](const TaskConfig& task) {
        std::string text;
        for (const Message& note : factsOf(task).notes)
            if (tellsDamage(note)) text += note.english();
        return text;
    };
    QCOMPARE(experimentOn(path("worn"))->task.damaged, Damaged::Refuse);
    QDir().mkpath(m_folder.filePath("torn"));
    for (const char* name : {"a", "b"}) {
        QDir().mkpath(m_folder.filePath("torn/") + name);
        writePng(grey, path(QString("torn/") + name + "/1.png"));
        writeBytes(path(QString("torn/") + name + "/2.png"), "no picture");
    }
    const TaskConfig task = experimentOn(path("torn"))->task;
    QCOMPARE(task.damaged, Damaged::Skip);
    const std::string first = path("torn/a/2.png");
    QVERIFY2(told(task).starts_with("Pictures that cannot be decoded and are left out: 2 of 4. "
                                    "Sample counts still include them. The first is " +
                                    first + ": "),
             told(task).c_str());
    const Assignment refuses = parseAssignment("data.damaged=refuse");
    const TaskConfig refusing = experimentOn(path("torn"), {&refuses, 1})->task;
    QCOMPARE(refusing.damaged, Damaged::Refuse);
    QVERIFY2(told(refusing).starts_with("Pictures that cannot be decoded: 2 of 4. The run ends "
                                        "when it comes to one, unless data.damaged is skip. The "
                                        "first is " +
                                        first + ": "),
             told(refusing).c_str());
}

/// The folder is known by its files; only their sizes are looked at. Convolutions learn it, however
/// many samples there are.
void TestDataExperiment::cifar() {
    test::writeCifar10(m_folder.filePath("ten"));
    test::writeCifar100(m_folder.filePath("hundred/cifar-100-binary"));
    constexpr int64_t kMany = 20'001;
    QVERIFY(QFile::resize(m_folder.filePath("ten/data_batch_5.bin"), kMany * 3073));
    for (const auto& [folder, classes] : {std::pair("ten", 10), std::pair("hundred", 100)}) {
        const auto config = experimentOn(path(folder));
        QVERIFY(config);
        QCOMPARE(config->task.kind, TaskKind::Cifar);
        QCOMPARE(config->task.loss.kind, LossKind::CrossEntropy);
        QCOMPARE(config->title, std::string(folder));
        const std::string last = "nn.Linear(64, " + std::to_string(classes) + ")";
        QVERIFY(config->model.layers.find("nn.Conv2d(3, 16, 3, padding=1)") != std::string::npos);
        QVERIFY(config->model.layers.find(last) != std::string::npos);
        QCOMPARE(modelShapes(*config).error.english(), std::string());
        checkConfig(*config);
    }
    for (const char* file :
         {"ten/data_batch_1.bin", "ten/test_batch.bin", "hundred/cifar-100-binary/train.bin"})
        QCOMPARE(thrownBy<InputError>([&] { checkCanBeExperiment(path(file)); }),
                 path(file) + ": one of the files of CIFAR; open the folder that holds them");
    QDir().mkpath(m_folder.filePath("torch/cifar-10-batches-py"));
    writeBytes(path("torch/cifar-10-batches-py/data_batch_1"), "\x80\x02");
    QVERIFY(isAbout(thrownBy<InputError>([&] { experimentOn(path("torch")); }), "data.path",
                    "the binary form is read"));
    QDir().mkpath(m_folder.filePath("language")); // others call their files so, too
    writeBytes(path("language/train.bin"), "abc");
    QVERIFY(!experimentOn(path("language")));
    QVERIFY(thrownBy<InputError>([&] {
                checkCanBeExperiment(path("language/train.bin"));
            }).find("CIFAR") == std::string::npos);
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
    const auto tested = experimentOn(path("pair"));
    QVERIFY(tested);
    QCOMPARE(tested->task.x, path("pair/x.npy"));
    QCOMPARE(tested->task.xTest, path("pair/x_test.npy"));
    QCOMPARE(tested->task.yTest, path("pair/y_test.npy"));
    QVERIFY(tested->task.xVal.empty() && !tested->task.test);
    for (const char* name : {"pair/X_valid.npy", "pair/Y_valid.npy"})
        write(name);
    const auto judged = experimentOn(path("pair"));
    QVERIFY(judged);
    QCOMPARE(judged->task.xVal, path("pair/X_valid.npy"));
    QCOMPARE(judged->task.yVal, path("pair/Y_valid.npy"));
    QCOMPARE(factsOf(judged->task).validation, int64_t{4});
    for (const char* name : {"pair/x_more.npy", "pair/y_more.npy"})
        write(name);
    QVERIFY(!experimentOn(path("pair"))); // which of them are to be trained on?
}

void TestDataExperiment::titles() {
    TaskConfig task;
    QCOMPARE(titleOfData(task).english(), std::string("Checkerboard, own settings"));
    task.kind = TaskKind::Csv;
    task.path = "/data/house prices.csv";
    QCOMPARE(titleOfData(task).english(), std::string("house prices"));
    task.path = "/data/pets/";
    QCOMPARE(titleOfData(task).english(), std::string("pets"));
    task.path = "/data/\xc3\xa9t\xc3\xa9 .csv";
    QCOMPARE(titleOfData(task).english(), std::string("\xc3\xa9t\xc3\xa9"));
    for (const char* other : {"/data/\xe9t\xe9.csv", "/data/a\nb.csv",
                              "/data/\xe2\x80\xae"
                              "a.csv"}) {
        task.path = other; // not UTF-8, two lines, written from the right
        QCOMPARE(titleOfData(task).english(), std::string());
    }
    task.kind = TaskKind::Image;
    task.image = "a/b.png";
    QCOMPARE(titleOfData(task).english(), std::string("b"));
    RunConfig wanted = defaultConfig();
    wanted.task.kind = TaskKind::Image;
    wanted.task.image = (std::filesystem::current_path() / "a/b.png").string();
    wanted.title = "b";
    QCOMPARE(configText(painting(defaultConfig(), "a/b.png")), configText(wanted));
}

/// Whatever was trained before, the picture is painted: by its settings where they paint one.
void TestDataExperiment::picturesArePainted() {
    RunConfig wanted = presetNamed("picture").config;
    wanted.task.image = (std::filesystem::current_path() / "b.png").string();
    wanted.title = "b";
    for (const Preset& each : presets()) {
        const RunConfig painted = painting(each.config, "b.png");
        checkConfig(painted);
        const TaskKind before = each.config.task.kind;
        QVERIFY(painted.task.kind == TaskKind::Image);
        if (before != TaskKind::Image && before != TaskKind::Checkerboard)
            QCOMPARE(configText(painted), configText(wanted));
        else
            QCOMPARE(painted.model.layers, each.config.model.layers);
    }
    RunConfig folders = presetNamed("mnist-cnn").config; // its loss and its convolutions do not fit
    folders.task.kind = TaskKind::Pictures;
    QCOMPARE(configText(painting(folders, "b.png")), configText(wanted));
    RunConfig begun = defaultConfig();
    begun.model.weights = "grey.safetensors";
    QVERIFY(painting(begun, "b.png").model.weights.empty());
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
