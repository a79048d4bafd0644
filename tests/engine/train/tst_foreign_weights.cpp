// Weights that other programs have written in another form: of convolutions where the network has
// linear layers, in NumPy's archive, in several files, and with batches that batch norms have seen
// before. NumPy itself writes an archive when HALFSCOPE_PYTHON names a Python (./dev clients).
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/safetensors.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "engine/train/lane_file.h"
#include "engine/train/state_dict.h"
#include "tests/support/array_files.h"
#include "tests/support/lane.h"
#include "tests/support/pytorch_program.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>
#include <functional>

namespace tst_foreign_weights {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr const char* kLinear = "nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.ReLU(), "
                                "nn.Linear(8, 1))";
constexpr const char* kConvolution = "nn.Sequential(nn.Conv2d(2, 8, 1), nn.BatchNorm2d(8), "
                                     "nn.ReLU(), nn.Conv2d(8, 1, 1))";
constexpr const char* kCount = "1.num_batches_tracked";

RunConfig config(const char* model, uint64_t seed = 3) {
    RunConfig config = defaultConfig();
    config.task.side = 8;
    config.model.layers = model;
    config.lanes = parseLanes("fp32");
    config.seed = seed;
    config.steps = 5;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

/// Copies a file of weights after a change of its arrays. Returns the copy.
std::string changed(const std::string& file, const std::string& to,
                    const std::function<void(Array&)>& change) {
    std::vector<Array> arrays;
    for (const ArrayInfo& each : safetensorsInfo(file).arrays)
        change(arrays.emplace_back(readSafetensor(file, each)));
    std::vector<ArrayView> views;
    for (const Array& array : arrays)
        views.push_back({array.info.name, array.info.type, array.info.shape, array.bytes});
    writeSafetensors(to, views, {});
    return to;
}

/// Copies the first layer alone. Returns the copy.
std::string firstLayer(const std::string& file, const std::string& to) {
    const SafetensorsInfo info = safetensorsInfo(file);
    const Array weight = readSafetensor(file, *info.find("0.weight")),
                bias = readSafetensor(file, *info.find("0.bias"));
    std::vector<ArrayView> views;
    for (const Array* array : {&weight, &bias})
        views.push_back({array->info.name, array->info.type, array->info.shape, array->bytes});
    writeSafetensors(to, views, {});
    return to;
}

} // namespace

class TestForeignWeights : public QObject {
    Q_OBJECT

private slots:
    void onesAtTheEnd_data();
    void onesAtTheEnd();
    void otherShapes_data();
    void otherShapes();
    void batchesGoOn();
    void instanceNormsDoNotCount();
    void meansGoOn();
    void countsBeyondFloat32();
    void oddCounts_data();
    void oddCounts();
    void archivesOfArrays();
    void theLineForArchivesWorks();
    void programsTakeOtherNames();
    void partsAreRefused_data();
    void partsAreRefused();
    void partsMayBeEnough();
    void theLineForPartsWorks();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    /// Writes the first weights of a network.
    std::string file(const char* model) const {
        Experiment experiment(config(model));
        return writeBytes(path("file.safetensors"), stateDictBytes(experiment.lane(0), model, "1"));
    }
    /// Returns the number of batches in the file that an experiment would write now.
    double countIn(Experiment& experiment) const {
        const std::string made = path("made.safetensors");
        writeBytes(made, laneFileBytes(experiment, LaneFile::StateDict, 0, "1")->bytes);
        return readSafetensor(made, *safetensorsInfo(made).find(kCount)).at(0);
    }
    QTemporaryDir m_folder;
};

void TestForeignWeights::onesAtTheEnd_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::newRow("removed") << QByteArray(kConvolution) << QByteArray(kLinear);
    QTest::newRow("added") << QByteArray(kLinear) << QByteArray(kConvolution);
}

/// A 1 x 1 convolution and a linear layer over pixels have the same weights and compute the same,
/// up to the roundings of two sums of at most nine terms each.
void TestForeignWeights::onesAtTheEnd() {
    QFETCH(const QByteArray, from);
    QFETCH(const QByteArray, to);
    Experiment given(config(from));
    RunConfig settings = config(to, 77);
    settings.model.weights = file(from);
    QVERIFY(stateDictFit(settings.model.weights, settings).problem.empty());
    Experiment experiment(settings);
    QCOMPARE(differentWeights(experiment.lane(0).weights(), given.lane(0).weights()), 0);
    QCOMPARE(experiment.weightsNote().english(),
             "some shapes in " + settings.model.weights +
                 " differ from the network's, but only by ones at the end, as those of a 1 x 1 "
                 "convolution and of nn.Linear do, and are taken: 0.weight, 3.weight");
    const std::vector<float> here = experiment.lane(0).preview(), there = given.lane(0).preview();
    QCOMPARE(here.size(), there.size());
    for (size_t i = 0; i < here.size(); ++i)
        QVERIFY(std::abs(double{here[i]} - double{there[i]}) <= 2 * 9 * 0x1p-23 * 4);
}

void TestForeignWeights::otherShapes_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QList<qint64>>("shape");
    QTest::addColumn<QByteArray>("shown");
    const auto row = [](const char* title, const char* name, const QList<qint64>& shape,
                        const char* shown) {
        QTest::newRow(title) << QByteArray(name) << shape << QByteArray(shown);
    };
    row("ones in front", "0.weight", {1, 8, 2}, "(1, 8, 2), the network (8, 2)");
    row("a larger kernel", "0.weight", {4, 1, 2, 2}, "(4, 1, 2, 2), the network (8, 2)");
    row("turned", "0.weight", {2, 8, 1, 1}, "(2, 8, 1, 1), the network (8, 2)");
    row("a vector", "0.bias", {8, 1}, "(8, 1), the network (8,)");
}

void TestForeignWeights::otherShapes() {
    QFETCH(const QByteArray, name);
    QFETCH(const QList<qint64>, shape);
    QFETCH(const QByteArray, shown);
    RunConfig settings = config(kLinear);
    settings.model.weights = changed(file(kLinear), path("other.safetensors"), [&](Array& array) {
        if (array.info.name == name.toStdString())
            array.info.shape.assign(shape.begin(), shape.end());
    });
    QCOMPARE(thrownBy<InputError>([&] { Experiment experiment(settings); }),
             "model.weights: " + settings.model.weights +
                 ": its arrays are not those of the network: " + name.toStdString() +
                 " has the shape " + shown.toStdString());
}

/// As in PyTorch, where the number goes on from that of the file. Also in a run that goes on from a
/// checkpoint.
void TestForeignWeights::batchesGoOn() {
    RunConfig settings = config(kLinear);
    Experiment drawn(settings);
    train(drawn);
    QCOMPARE(countIn(drawn), 5.0);
    settings.model.weights = changed(file(kLinear), path("later.safetensors"), [](Array& array) {
        constexpr int64_t kSeen = 1000;
        if (array.info.name == kCount) std::memcpy(array.bytes.data(), &kSeen, sizeof kSeen);
    });
    Experiment experiment(settings);
    QCOMPARE(countIn(experiment), 1000.0);
    train(experiment);
    QCOMPARE(countIn(experiment), 1005.0);
    QVERIFY(experiment.weightsNote().empty());
    Experiment resumed(experiment.recorded());
    resumed.resume(experiment.state());
    QCOMPARE(countIn(resumed), 1005.0);
}

/// As in PyTorch 2.15, where torch.nn.InstanceNorm2d has the number, but never adds to it.
void TestForeignWeights::instanceNormsDoNotCount() {
    const char* model = "nn.Sequential(nn.Conv2d(2, 8, 1), nn.InstanceNorm2d(8, "
                        "track_running_stats=True), nn.ReLU(), nn.Conv2d(8, 1, 1))";
    RunConfig settings = config(model);
    Experiment drawn(settings);
    const std::vector<float> before = drawn.lane(0).weights().at("1.running_mean");
    train(drawn);
    QVERIFY(drawn.lane(0).weights().at("1.running_mean") != before);
    QCOMPARE(countIn(drawn), 0.0);
    settings.model.weights = changed(file(model), path("seen.safetensors"), [](Array& array) {
        constexpr int64_t kSeen = 7;
        if (array.info.name == kCount) std::memcpy(array.bytes.data(), &kSeen, sizeof kSeen);
    });
    Experiment experiment(settings);
    train(experiment);
    QCOMPARE(countIn(experiment), 7.0);
}

/// A batch norm without a momentum takes the mean over all batches: after three in the file, the
/// next one counts one quarter.
void TestForeignWeights::meansGoOn() {
    const std::string model = "nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8, momentum=None), "
                              "nn.ReLU(), nn.Linear(8, 1))";
    RunConfig settings = config(model.c_str());
    settings.steps = 1;
    const auto meansAfter = [&](int64_t seen) {
        const std::string from = file(model.c_str());
        settings.model.weights = changed(from, path("means.safetensors"), [&](Array& array) {
            if (array.info.name == kCount) std::memcpy(array.bytes.data(), &seen, sizeof seen);
            if (array.info.name != "1.running_mean") return;
            for (size_t i = 0; i < array.bytes.size(); i += sizeof(float)) {
                const auto value = static_cast<float>(i);
                std::memcpy(array.bytes.data() + i, &value, sizeof value);
            }
        });
        Experiment experiment(settings);
        train(experiment);
        return experiment.lane(0).weights().at("1.running_mean");
    };
    const std::vector<float> first = meansAfter(0), fourth = meansAfter(3);
    QCOMPARE(first.size(), size_t(8));
    for (size_t i = 0; i < first.size(); ++i) {
        const double before = 4.0 * static_cast<double>(i), batch = double{first[i]};
        // two products and a sum in float32, of numbers up to 28
        QVERIFY(std::abs(double{fourth[i]} - (0.75 * before + 0.25 * batch)) <= 4 * 28 * 0x1p-24);
        QVERIFY(std::abs(batch) < 4); // and nothing is left of the file's mean
    }
}

/// The number behind such a mean is a float32, which counts to 2^24 and stays there; a later batch
/// hardly moves the mean. The file has the whole number.
void TestForeignWeights::countsBeyondFloat32() {
    const char* model = "nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8, momentum=None), "
                        "nn.ReLU(), nn.Linear(8, 1))";
    RunConfig settings = config(model);
    settings.model.weights = changed(file(model), path("long.safetensors"), [](Array& array) {
        constexpr int64_t kSeen = int64_t{1} << 30;
        if (array.info.name == kCount) std::memcpy(array.bytes.data(), &kSeen, sizeof kSeen);
    });
    Experiment experiment(settings);
    const auto counted = [&] {
        float count = 0;
        const LaneState state = experiment.lane(0).state();
        std::memcpy(&count, state.states.at(kCount).bytes.data(), sizeof count);
        return count;
    };
    QCOMPARE(counted(), 0x1p24F);
    train(experiment);
    QCOMPARE(counted(), 0x1p24F);
    QCOMPARE(countIn(experiment), 0x1p30 + 5);
    const auto weights = experiment.lane(0).weights();
    for (const float mean : weights.at("1.running_mean"))
        QVERIFY(std::abs(mean) < 5 * 4 * 0x1p-24F); // it was 0, and those of batches are below 4
    Experiment resumed(experiment.recorded());
    ExperimentState state = experiment.state();
    resumed.resume(state);
    const float beyond = 0x1p24F + 2;
    std::memcpy(state.lanes[0].states.at(kCount).bytes.data(), &beyond, sizeof beyond);
    QVERIFY(thrownBy<InputError>([&] {
                resumed.resume(state);
            }).ends_with("is not allowed: a whole number from 0 to 16777216"));
}

void TestForeignWeights::oddCounts_data() {
    QTest::addColumn<qint64>("count");
    QTest::newRow("negative") << qint64{-1};
    QTest::newRow("beyond any training") << std::numeric_limits<qint64>::max();
}

/// What no training has counted is not gone on from.
void TestForeignWeights::oddCounts() {
    QFETCH(const qint64, count);
    RunConfig settings = config(kLinear);
    settings.model.weights = changed(file(kLinear), path("odd.safetensors"), [&](Array& array) {
        if (array.info.name == kCount) std::memcpy(array.bytes.data(), &count, sizeof count);
    });
    Experiment experiment(settings);
    QCOMPARE(countIn(experiment), 0.0);
}

/// NumPy's archives are told from those of torch.save(), whatever they are called.
void TestForeignWeights::archivesOfArrays() {
    const auto refusal = [&](const char* name, const char* part) {
        RunConfig settings = config(kLinear);
        settings.model.weights =
            writeBytes(path(name), zipBytes({{part, npy("<f4", "(1,)", std::string(4, '\0'))}}));
        return thrownBy<InputError>([&] { Experiment experiment(settings); });
    };
    for (const char* name : {"my weights.npz", "weights.pt"}) {
        const std::string given = path(name);
        const std::string made = given.substr(0, given.rfind('.')) + ".safetensors";
        QCOMPARE(refusal(name, "0.weight.npy"),
                 "model.weights: " + given +
                     ": it is an archive of NumPy's arrays, and weights are read from safetensors "
                     "files. To convert it, run: python3 -c \"import sys, numpy, safetensors.numpy "
                     "as s; s.save_file({k: v.copy() for k, v in numpy.load(sys.argv[1]).items()}, "
                     "sys.argv[2])\" " +
                     shellText(given) + " " + shellText(made));
    }
    const std::string torch = refusal("weights.npz", "weights/data.pkl");
    QVERIFY2(torch.find("torch.save() wrote it") != torch.npos, torch.c_str());
}

/// Also for arrays in Fortran's order, whose numbers save_file() would mix up.
void TestForeignWeights::theLineForArchivesWorks() {
    if (lacksPython()) QSKIP(lacksPython());
    const std::string start = file(kLinear);
    RunConfig settings = config(kLinear, 77);
    settings.model.weights = path("theirs.npz");
    const QString archive = QString::fromStdString(settings.model.weights);
    const QString save = QStringLiteral(
        "import sys, numpy; from safetensors.numpy import load_file; numpy.savez(sys.argv[2], "
        "**{k: numpy.asarray(v, order='F') for k, v in load_file(sys.argv[1]).items()})");
    QCOMPARE(python(save, {QString::fromStdString(start), archive}), QString());
    const QString text =
        QString::fromStdString(thrownBy<InputError>([&] { Experiment experiment(settings); }));
    const QString line = text.section("python3 -c \"", 1).section('"', 0, 0);
    settings.model.weights = path("theirs.safetensors");
    QVERIFY(text.endsWith(" " + archive + " " + QString::fromStdString(settings.model.weights)));
    QCOMPARE(python(line, {archive, QString::fromStdString(settings.model.weights)}), QString());
    Experiment experiment(settings), given(config(kLinear));
    QCOMPARE(differentWeights(experiment.lane(0).weights(), given.lane(0).weights()), 0);
}

/// A copied program starts from such a file as the lanes do: its first losses are theirs.
void TestForeignWeights::programsTakeOtherNames() {
    if (lacksPython()) QSKIP(lacksPython());
    const std::string named = "nn.Sequential(fc1=nn.Linear(2, 8), bn=nn.BatchNorm1d(8), "
                              "relu=nn.ReLU(), fc2=nn.Linear(8, 1))";
    RunConfig settings = config(kLinear, 77);
    settings.model.weights = file(named.c_str());
    const WeightPairs names = namesInFile(settings);
    QCOMPARE(names.at("3.bias"), std::string("fc2.bias"));
    const std::string program = path("program.py");
    writeFileAtomically(program, pytorchScript(settings, names));
    const QString printed = python("import runpy, sys\nsys.argv = sys.argv[1:]\n"
                                   "runpy.run_path(sys.argv[0], run_name='__main__')\n",
                                   {QString::fromStdString(program)});
    Experiment experiment(settings);
    const float first = train(experiment).front().front().loss;
    const double theirs = printed.section("step 1, loss ", 1).section(',', 0, 0).toDouble();
    QVERIFY2(std::abs(theirs - double{first}) <= 1e-5, qPrintable(printed));
}

void TestForeignWeights::partsAreRefused_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("why"); // empty: it is no part
    QTest::addColumn<QByteArray>("parts");
    QTest::newRow("a part") << QByteArray("a b-00001-of-00012.safetensors")
                            << QByteArray("it is one of the 12 files into which the weights were "
                                          "split")
                            << QByteArray("-*-of-00012.safetensors");
    QTest::newRow("the list") << QByteArray("a b.safetensors.index.json")
                              << QByteArray("it only lists the files into which the weights were "
                                            "split")
                              << QByteArray("-*-of-*.safetensors");
    for (const char* name : {"a b-00001-of-00001.safetensors", "a b-1-of-2.safetensors",
                             "-of-00002.safetensors", "a b_00001-of-00002.safetensors"})
        QTest::newRow(name) << QByteArray(name) << QByteArray() << QByteArray();
}

void TestForeignWeights::partsAreRefused() {
    QFETCH(const QByteArray, name);
    QFETCH(const QByteArray, why);
    QFETCH(const QByteArray, parts);
    RunConfig settings = config(kLinear);
    settings.model.weights = path(name.constData());
    if (why.isEmpty()) {
        QVERIFY(QFile::copy(QString::fromStdString(file(kLinear)),
                            QString::fromStdString(settings.model.weights)));
        Experiment experiment(settings); // throws
        return;
    }
    firstLayer(file(kLinear), settings.model.weights);
    const std::string stem = path("a b");
    QCOMPARE(thrownBy<InputError>([&] { Experiment experiment(settings); }),
             "model.weights: " + settings.model.weights + ": " + why.toStdString() +
                 "; to join them, run: python3 -c \"import sys, safetensors.torch as s; "
                 "s.save_file({k: v for f in sys.argv[2:] for k, v in s.load_file(f).items()}, "
                 "sys.argv[1])\" " +
                 shellText(stem + ".safetensors") + " " + shellText(stem) + parts.toStdString());
}

/// A part may hold all tensors, or those that are wanted. One that fits no network in any way is
/// told by its name.
void TestForeignWeights::partsMayBeEnough() {
    RunConfig settings = config(kLinear, 77);
    settings.model.weights = path("c-00002-of-00002.safetensors");
    const QString part = QString::fromStdString(settings.model.weights);
    QVERIFY(QFile::copy(QString::fromStdString(file(kLinear)), part));
    Experiment whole(settings), given(config(kLinear));
    QCOMPARE(differentWeights(whole.lane(0).weights(), given.lane(0).weights()), 0);
    settings.model.partialWeights = true;
    settings.model.weights = firstLayer(file(kLinear), path("d-00001-of-00002.safetensors"));
    Experiment experiment(settings);
    QCOMPARE(experiment.lane(0).weights().at("0.weight"), given.lane(0).weights().at("0.weight"));
    QVERIFY(experiment.lane(0).weights().at("3.weight") != given.lane(0).weights().at("3.weight"));
    settings.model.layers = "nn.Sequential(nn.ReLU(), nn.Linear(2, 1))";
    const std::string text = thrownBy<InputError>([&] { Experiment none(settings); });
    QVERIFY2(text.find("it is one of the 2 files") != std::string::npos, text.c_str());
}

/// The shell finds the parts, also where the folder's name has a blank.
void TestForeignWeights::theLineForPartsWorks() {
    if (lacksPython()) QSKIP(lacksPython());
    const QString folder = m_folder.filePath("two parts");
    QVERIFY(QDir().mkpath(folder));
    const QString save = QStringLiteral(
        "import sys; from safetensors.torch import load_file, save_file\n"
        "state = list(load_file(sys.argv[1]).items())\n"
        "for part in (0, 1):\n"
        "    save_file(dict(state[part::2]), f'{sys.argv[2]}/m-0000{part + 1}-of-00002.safetensors'"
        ")\n"
        "open(sys.argv[2] + '/m.safetensors.index.json', 'w').write('{}')");
    QCOMPARE(python(save, {QString::fromStdString(file(kLinear)), folder}), QString());
    RunConfig settings = config(kLinear, 77);
    settings.model.weights = (folder + "/m.safetensors.index.json").toStdString();
    QString line = QString::fromStdString(thrownBy<InputError>([&] {
                       Experiment experiment(settings);
                   })).section("run: python3", 1);
    QProcess shell;
    shell.start("sh", {"-c", qEnvironmentVariable("HALFSCOPE_PYTHON") + line});
    QVERIFY(shell.waitForFinished(120'000));
    QCOMPARE(shell.readAllStandardError(), QByteArray());
    settings.model.weights = (folder + "/m.safetensors").toStdString();
    Experiment experiment(settings), given(config(kLinear));
    QCOMPARE(differentWeights(experiment.lane(0).weights(), given.lane(0).weights()), 0);
}

} // namespace tst_foreign_weights

QTEST_GUILESS_MAIN(tst_foreign_weights::TestForeignWeights)
#include "tst_foreign_weights.moc"
