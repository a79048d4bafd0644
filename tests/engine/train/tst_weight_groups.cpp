// Weights that lie in a file beside others: below a prefix, with a moving average or the moments of
// an optimizer, and tied to each other. PyTorch and safetensors write such files themselves when
// HALFSCOPE_PYTHON names a Python (./dev clients).
#include "engine/core/error.h"
#include "engine/io/safetensors.h"
#include "engine/settings/fields.h"
#include "engine/step/pytorch_script.h"
#include "engine/train/experiment.h"
#include "engine/train/shape_differences.h"
#include "engine/train/state_dict.h"
#include "tests/support/array_files.h"
#include "tests/support/lane.h"
#include "tests/support/named_weights.h"
#include "tests/support/pytorch_program.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>

namespace tst_weight_groups {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr const char* kModel = "nn.Sequential(nn.Linear(10, 7), nn.BatchNorm1d(7), nn.ReLU(), "
                               "nn.Linear(7, 7), nn.Tanh(), nn.Linear(7, 7), nn.ReLU(), "
                               "nn.Linear(7, 1))";

RunConfig config(const std::string& weights = {}) {
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Regression;
    config.task.samples = 64;
    config.task.batch = 64;
    config.model.layers = kModel;
    config.model.weights = weights;
    config.lanes = parseLanes("fp32,amp-fp16");
    config.seed = 3;
    config.steps = 2;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

std::vector<int64_t> extentsIn(const QString& text) {
    std::vector<int64_t> extents;
    const QStringList words = text.split('x', Qt::SkipEmptyParts);
    for (const QString& each : words)
        extents.push_back(each.toLongLong());
    return extents;
}

/// Reads "0.weight:8x3 0.bias:8".
std::vector<NamedShape> shapesIn(const QString& text) {
    std::vector<NamedShape> shapes;
    const QStringList words = text.split(' ', Qt::SkipEmptyParts);
    for (const QString& each : words)
        shapes.push_back({each.section(':', 0, 0).toStdString(), extentsIn(each.section(':', 1))});
    return shapes;
}

WantedWeights wantedIn(const QString& text) {
    WantedWeights wanted;
    for (const NamedShape& each : shapesIn(text))
        wanted.add(each.name, Shape(std::span<const int64_t>(each.shape)));
    return wanted;
}

/// Reads the same, with "removed=kept" for what the metadata say of tied tensors.
SafetensorsInfo fileIn(const QString& text) {
    SafetensorsInfo file;
    const QStringList words = text.split(' ', Qt::SkipEmptyParts);
    for (const QString& each : words) {
        if (each.contains('=')) {
            file.metadata[each.section('=', 0, 0).toStdString()] =
                each.section('=', 1).toStdString();
            continue;
        }
        ArrayInfo array;
        array.name = each.section(':', 0, 0).toStdString();
        array.shape = extentsIn(each.section(':', 1));
        file.arrays.push_back(array);
    }
    file.sortNames();
    return file;
}

QString joinedWords(const std::vector<std::string>& words) {
    QStringList all;
    for (const std::string& each : words)
        all << QString::fromStdString(each);
    return all.join(' ');
}

/// Copies a file, each tensor under several names and with other metadata.
std::string copied(const std::string& file, const std::string& to,
                   const std::vector<std::string>& prefixes, const SafetensorsMetadata& metadata,
                   const std::vector<std::string>& without = {}) {
    std::vector<Array> arrays;
    for (const ArrayInfo& each : safetensorsInfo(file).arrays)
        if (std::ranges::find(without, each.name) == without.end())
            arrays.push_back(readSafetensor(file, each));
    const std::vector<std::byte> zeros(size_t{1} << 12);
    std::vector<ArrayView> views;
    for (const std::string& prefix : prefixes)
        for (const Array& array : arrays) {
            std::span<const std::byte> bytes = array.bytes; // of the first group alone
            if (&prefix != &prefixes.front()) bytes = std::span(zeros).first(bytes.size());
            views.push_back({prefix + array.info.name, array.info.type, array.info.shape, bytes});
        }
    writeSafetensors(to, views, metadata);
    return to;
}

} // namespace

class TestWeightGroups : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void groups_data();
    void groups();
    void tiedTensors_data();
    void tiedTensors();
    void otherShapes_data();
    void otherShapes();
    void lanesStartFromThem_data();
    void lanesStartFromThem();
    void aPartIsTakenThroughAPrefix();
    void severalFitEquallyWell();
    void tiedTensorsAreFilled();
    void saysOtherShapes();
    void torchvisionNamesInPart();
    void realFiles_data();
    void realFiles();
    void programsTakeTheGroup();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    QTemporaryDir m_folder;
    std::string m_file; ///< weights that differ from those of any seed
    Weights m_trained;  ///< the same
};

void TestWeightGroups::initTestCase() {
    Experiment trained(config());
    train(trained);
    m_trained = trained.lane(0).weights();
    m_file = writeBytes(path("own.safetensors"), stateDictBytes(trained.lane(0), kModel, "1"));
}

void TestWeightGroups::groups_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("prefix");
    QTest::addColumn<QString>("left");
    QTest::addColumn<QString>("names"); // of the group
    QTest::addColumn<QString>("alike");
    const QString names = "0.weight 2.bias 2.weight";
    const auto group = [](const QString& prefix, const QString& more = {}) {
        return prefix + "0.weight:8x3 " + prefix + "2.weight:2x8 " + prefix + "2.bias:2 " + more;
    };
    const auto row = [](const char* name, const QString& file, const char* prefix, const char* left,
                        const QString& taken, const char* alike = "") {
        QTest::newRow(name) << file << QString(prefix) << QString(left) << taken << QString(alike);
    };
    row("its own names", group(""), "", "", names);
    for (const char* wrapper : {"model.", "module.", "_orig_mod.", "net.", "state_dict.model.",
                                "module._orig_mod.", "ema.", "optimizer."})
        row(wrapper, group(wrapper), wrapper, "", names);
    row("an average", group("model.") + group("ema_model."), "model.", "ema_model.", names);
    row("an average without a wrapper", group("") + group("ema."), "", "ema.", names);
    row("an average inside", group("a.model.") + group("a.model_ema."), "a.model.", "a.model_ema.",
        names);
    row("an average alone beside others", group("ema.", "loss.weight:8"), "ema.", "loss.", names);
    row("its counter", group("module.", "n_averaged:"), "module.", "n_averaged", names);
    row("moments", group("model.") + group("optimizer.exp_avg."), "model.", "optimizer.", names);
    row("moments alone beside others", group("optimizer.exp_avg.", "x.weight:1"), "", "optimizer.",
        "x.weight");
    row("steps of an optimizer", group("", "optimizer.step:"), "", "optimizer.", names);
    row("online and teacher", group("teacher.") + group("online."), "online.", "teacher.", names);
    row("the larger part", group("a.") + "b.0.weight:8x3", "a.", "b.", names);
    row("the better shapes", group("a.") + "b.0.weight:8x3 b.2.weight:3x8 b.2.bias:3", "a.", "b.",
        names);
    row("a part", "model.0.weight:8x3 model.2.weight:2x8 model.head.bias:4 ema.0.weight:8x3",
        "model.", "ema.", "0.weight 2.weight head.bias");
    row("two", group("a.") + group("b."), "", "", "", "a. b.");
    row("two averages", group("ema.") + group("swa."), "", "", "", "ema. swa.");
    row("too small a part", "a.0.weight:8x3 b.x:4", "", "", "a.0.weight b.x");
    row("unexpected", group("", "fc.weight:4 target.weight:2"), "", "",
        names + " fc.weight target.weight");
}

void TestWeightGroups::groups() {
    QFETCH(const QString, file);
    QFETCH(const QString, prefix);
    QFETCH(const QString, left);
    QFETCH(const QString, names);
    QFETCH(const QString, alike);
    const WeightGroup group = groupOf(fileIn(file), wantedIn("0.weight:8x3 2.weight:2x8 2.bias:2"));
    QCOMPARE(joinedWords(group.alike), alike);
    if (!alike.isEmpty()) return;
    QCOMPARE(QString::fromStdString(group.prefix), prefix);
    QCOMPARE(joinedWords(group.left), left);
    std::vector<std::string> found;
    for (const size_t i : group.file.byName)
        found.push_back(group.file.arrays[i].name);
    QCOMPARE(joinedWords(found), names);
    for (const std::string& name : found)
        QCOMPARE(group.names.at(name), group.prefix + name);
}

void TestWeightGroups::tiedTensors_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("pairs"); // the network's names with the file's
    QTest::addColumn<QString>("tied");
    const auto row = [](const char* name, const char* file, const char* pairs, const char* tied) {
        QTest::newRow(name) << QString(file) << QString(pairs) << QString(tied);
    };
    row("one is kept", "0.weight:8x8 2.bias:8 2.weight=0.weight format=pt",
        "0.weight=0.weight 2.bias=2.bias 2.weight=0.weight", "2.weight = 0.weight");
    row("below a prefix", "m.0.weight:8x8 m.2.bias:8 m.2.weight=m.0.weight",
        "0.weight=m.0.weight 2.bias=m.2.bias 2.weight=m.0.weight", "2.weight = 0.weight");
    row("kept under a name that is not the network's",
        "net.0.weight:8x8 fc.weight:8x8 fc.bias:8 net.2.weight=fc.weight net.2.bias=fc.bias",
        "0.weight=net.0.weight 2.bias=fc.bias 2.weight=fc.weight", "");
    row("that the network lacks", "0.weight:8x8 2.weight:8x8 2.bias:8 x.weight=0.weight",
        "0.weight=0.weight 2.bias=2.bias 2.weight=2.weight", "");
    row("both are there", "0.weight:8x8 2.weight:8x8 2.bias:8 2.weight=0.weight",
        "0.weight=0.weight 2.bias=2.bias 2.weight=2.weight", "");
    row("neither is there", "0.weight:8x8 2.bias:8 2.weight=4.weight",
        "0.weight=0.weight 2.bias=2.bias", "");
}

void TestWeightGroups::tiedTensors() {
    QFETCH(const QString, file);
    QFETCH(const QString, pairs);
    QFETCH(const QString, tied);
    const WeightGroup group = groupOf(fileIn(file), wantedIn("0.weight:8x8 2.weight:8x8 2.bias:8"));
    QStringList found;
    for (const auto& [name, there] : group.names) {
        found << QString::fromStdString(name + "=" + there);
        QVERIFY(group.file.find(name));
    }
    QCOMPARE(found.join(' '), pairs);
    QCOMPARE(found.size(), qsizetype(group.file.arrays.size()));
    QCOMPARE(joinedWords(group.tied), tied);
    QCOMPARE(joinedWords(group.left), QString());
}

void TestWeightGroups::otherShapes_data() {
    QTest::addColumn<QString>("network");
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("found");
    const auto row = [](const char* name, const char* network, const char* file,
                        const char* found) {
        QTest::newRow(name) << QString(network) << QString(file) << QString(found);
    };
    row("one differs", "0.weight:8x3 2.weight:2x8", "fc1.weight:8x3 fc2.weight:4x8",
        "fc2.weight/2.weight");
    row("all differ", "0.weight:8x3 0.bias:8 2.weight:2x8 2.bias:2",
        "fc10.weight:4x9 fc10.bias:4 fc9.weight:9x3 fc9.bias:9",
        "fc9.bias/0.bias fc9.weight/0.weight fc10.bias/2.bias fc10.weight/2.weight");
    row("the same shapes first", "0.weight:4x8 2.weight:8x5",
        "decoder.weight:8x4 encoder.weight:4x8", "decoder.weight/2.weight");
    row("another kind", "0.weight:8x3 2.weight:8", "a.weight:8 b.weight:8x3x1", "");
    row("other last names", "0.weight:8x3", "a.kernel:3x8", "");
    row("more in the file", "0.weight:8x3 2.weight:2x8",
        "fc1.weight:8x3 fc2.weight:9x8 fc3.weight:2x9", "fc2.weight/2.weight");
    row("the same", "0.weight:8x3 2.weight:8x3", "a.weight:8x3 b.weight:8x3", "");
}

void TestWeightGroups::otherShapes() {
    QFETCH(const QString, network);
    QFETCH(const QString, file);
    QFETCH(const QString, found);
    QStringList pairs;
    for (const ShapeDifference& each : shapeDifferences(shapesIn(network), shapesIn(file)))
        pairs << QString::fromStdString(each.there.name + "/" + each.here.name);
    QCOMPARE(pairs.join(' '), found);
}

void TestWeightGroups::lanesStartFromThem_data() {
    QTest::addColumn<QStringList>("prefixes"); // the first has the values
    QTest::addColumn<QByteArray>("said");
    QTest::newRow("wrapped") << QStringList{"module._orig_mod."}
                             << QByteArray("all its names begin with module._orig_mod.; this "
                                           "prefix is ignored");
    QTest::newRow("an average") << QStringList{"model.", "ema.", "optimizer.exp_avg_sq."}
                                << QByteArray("the group model. is used; left out: ema., "
                                              "optimizer.");
    QTest::newRow("without a wrapper")
        << QStringList{"", "ema."} << QByteArray("these groups are left out: ema.");
}

/// As a whole or in part, the number of batches included.
void TestWeightGroups::lanesStartFromThem() {
    QFETCH(const QStringList, prefixes);
    QFETCH(const QByteArray, said);
    std::vector<std::string> all;
    for (const QString& each : prefixes)
        all.push_back(each.toStdString());
    const std::string file = copied(m_file, path("group.safetensors"), all, {});
    for (const bool partial : {false, true}) {
        RunConfig from = config(file);
        from.seed = 77;
        from.model.partialWeights = partial;
        Experiment experiment(from);
        QCOMPARE(differentWeights(experiment.lane(0).weights(), m_trained), 0);
        QCOMPARE(experiment.weightsNote().english(), file + ": " + said.toStdString());
        QCOMPARE(experiment.batchesBefore().at("1"), int64_t{2});
    }
    QCOMPARE(checkFirstWeights(config(file)).english(), file + ": " + said.toStdString());
    QVERIFY(stateDictFit(file, config()).pairs.empty());
}

void TestWeightGroups::aPartIsTakenThroughAPrefix() {
    const std::string file =
        copied(m_file, path("head.safetensors"), {"model."}, {}, {"7.weight", "7.bias"});
    const std::string text = thrownBy<InputError>([&] { Experiment experiment(config(file)); });
    QCOMPARE(text, "model.weights: " + file +
                       ": its arrays are not those of the network: all its names begin with "
                       "model.; this prefix is ignored; missing: 7.weight, 7.bias; with "
                       "model.partial_weights (--partial on the command line), "
                       "the 10 of 12 tensors that fit are taken");
    RunConfig from = config(file);
    from.seed = 77;
    from.model.partialWeights = true;
    Experiment experiment(from);
    QCOMPARE(
        experiment.weightsNote().english(),
        file +
            ": all its names begin with model.; this prefix is ignored; 10 of 12 tensors of the "
            "network come from " +
            file + "; initial values stay in: 7.weight, 7.bias");
    const Weights found = experiment.lane(0).weights();
    QVERIFY(found.at("0.weight") == m_trained.at("0.weight"));
    QVERIFY(found.at("7.weight") != m_trained.at("7.weight"));
}

/// The line that the refusal recommends makes a file that fits.
void TestWeightGroups::severalFitEquallyWell() {
    const std::string file = copied(m_file, path("two.safetensors"), {"b.", "a."}, {});
    for (const bool partial : {false, true}) {
        RunConfig from = config(file);
        from.model.partialWeights = partial;
        QCOMPARE(thrownBy<InputError>([&] { Experiment experiment(from); }),
                 "model.weights: " + file +
                     ": several of its groups fit the network equally well: a., b.; save only "
                     "one of them, in Python: {name: array for name, array in state.items() if "
                     "name.startswith(\"a.\")}");
    }
    const std::string kept = copied(m_file, path("one.safetensors"), {"a."}, {});
    Experiment experiment(config(kept));
    QCOMPARE(differentWeights(experiment.lane(0).weights(), m_trained), 0);
}

void TestWeightGroups::tiedTensorsAreFilled() {
    const std::string file = copied(m_file, path("tied.safetensors"), {""},
                                    {{"format", "pt"}, {"5.weight", "3.weight"}}, {"5.weight"});
    RunConfig from = config(file);
    from.seed = 77;
    Experiment experiment(from);
    Weights wanted = m_trained;
    wanted["5.weight"] = wanted["3.weight"];
    QCOMPARE(differentWeights(experiment.lane(0).weights(), wanted), 0);
    QCOMPARE(experiment.weightsNote().english(),
             file + " stores tied tensors once; here each is a copy that is trained by itself: "
                    "5.weight = 3.weight");
    QCOMPARE(namesInFile(from).at("5.weight"), std::string("3.weight"));
}

void TestWeightGroups::saysOtherShapes() {
    const std::string file = writeNamedWeights(path("shapes.safetensors"), {{"fc1.weight", {5, 10}},
                                                                            {"fc1.bias", {5}},
                                                                            {"bn.weight", {7}},
                                                                            {"bn.bias", {7}},
                                                                            {"fc2.weight", {7, 7}},
                                                                            {"fc2.bias", {7}},
                                                                            {"fc3.weight", {1, 7}},
                                                                            {"fc3.bias", {1}}});
    const std::string problem = stateDictFit(file, config()).problem.english();
    QVERIFY2(
        problem.ends_with("; unexpected: fc1.weight, fc1.bias, bn.weight, bn.bias, fc2.weight, "
                          "fc2.bias, fc3.weight, fc3.bias; fc1.bias has the shape (5,), but "
                          "the network's 0.bias needs (7,); fc1.weight has the shape (5, 10), "
                          "but the network's 0.weight needs (7, 10)"),
        problem.c_str());
}

/// torchvision's names are known one by one: a head that was replaced is no reason to forget them.
void TestWeightGroups::torchvisionNamesInPart() {
    const WantedWeights wanted = wantedIn(
        "layer1.0.block.conv1.weight:8x8 layer1.0.block.shortcut.0.weight:8x8 fc.weight:4x8");
    const WeightGroup group = groupOf(fileIn("net.layer1.0.conv1.weight:8x8 "
                                             "net.layer1.0.downsample.0.weight:8x8 "
                                             "net.head.weight:9x8"),
                                      wanted);
    QCOMPARE(QString::fromStdString(group.prefix), QString("net."));
    QVERIFY(group.isTorchvision);
    QCOMPARE(group.names.at("layer1.0.block.shortcut.0.weight"),
             std::string("net.layer1.0.downsample.0.weight"));
    QVERIFY(group.file.find("layer1.0.block.conv1.weight") && group.file.find("head.weight"));
}

void TestWeightGroups::realFiles_data() {
    QTest::addColumn<QString>("save");
    QTest::addColumn<QByteArray>("said"); // behind the file's name
    const auto row = [](const char* name, const char* save, const char* said) {
        QTest::newRow(name) << QString(save) << QByteArray(said);
    };
    row("tied",
        "model[5].weight = model[3].weight; model[5].bias = model[3].bias\n"
        "save_model(model, path)",
        " stores tied tensors once; here each is a copy that is trained by itself: 5.bias = "
        "3.bias, 5.weight = 3.weight");
    row("tied and wrapped",
        "model[5].weight = model[3].weight\n"
        "class Lit(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.model = model\n"
        "        self.loss = nn.CrossEntropyLoss(weight=torch.ones(3))\n"
        "save_model(Lit(), path)",
        ": the group model. is used; left out: loss.; FILE stores tied tensors once; "
        "here each is a copy that is trained by itself: 5.weight = 3.weight");
    row("AveragedModel", "save_file(AveragedModel(model).state_dict(), path)",
        ": the group module. is used; left out: n_averaged");
    row("torch.compile", "save_file(torch.compile(model).state_dict(), path)",
        ": all its names begin with _orig_mod.; this prefix is ignored");
    row("DataParallel", "save_file(nn.DataParallel(model).state_dict(), path)",
        ": all its names begin with module.; this prefix is ignored");
    row("beside an average",
        "ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))\n"
        "save_file({**{'model.' + k: v for k, v in model.state_dict().items()},\n"
        "           **{'model_ema.' + k: v.clone() for k, v in ema.state_dict().items()}}, path)",
        ": the group model. is used; left out: model_ema.");
}

/// What the libraries save is what lanes start from.
void TestWeightGroups::realFiles() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QString, save);
    QFETCH(QByteArray, said);
    const QString file = m_folder.filePath("real.safetensors");
    const QString script = QStringLiteral(R"(
import sys, torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from safetensors.torch import save_file, save_model
torch.manual_seed(1)
model, path = eval(sys.argv[1]), sys.argv[2]
)") + save +
                           QStringLiteral("\nfor layer in (0, 3, 5, 7):\n"
                                          "    print(*[x.hex() for x in "
                                          "model[layer].weight.flatten().tolist()[:3]])\n");
    const QStringList printed = python(script, {kModel, file}).split('\n');
    QCOMPARE(printed.size(), 4);
    said.replace("FILE", file.toUtf8());
    for (const bool partial : {false, true}) {
        RunConfig from = config(file.toStdString());
        from.model.partialWeights = partial;
        Experiment experiment(from);
        const std::string note = experiment.weightsNote().english();
        QVERIFY2(note.ends_with(file.toStdString() + said.toStdString()), note.c_str());
        const Weights weights = experiment.lane(0).weights();
        for (qsizetype i = 0; i < printed.size(); ++i) {
            const QStringList numbers = printed[i].split(' ');
            const auto& found =
                weights.at(std::to_string(std::array{0, 3, 5, 7}.at(size_t(i))) + ".weight");
            for (qsizetype k = 0; k < numbers.size(); ++k)
                QCOMPARE(double{found[size_t(k)]}, std::strtod(qPrintable(numbers[k]), nullptr));
        }
    }
}

/// A copied program starts from the same tensors of such a file.
void TestWeightGroups::programsTakeTheGroup() {
    if (lacksPython()) QSKIP(lacksPython());
    RunConfig settings = config(copied(m_file, path("mixed.safetensors"), {"model.", "ema."},
                                       {{"model.5.weight", "model.3.weight"}}, {"5.weight"}));
    const std::string program = path("program.py");
    writeFileAtomically(program, pytorchScript(settings, namesInFile(settings)));
    // by itself, or from a file with all tensors under the network's names
    const auto printed = [&program](const QString& weights) {
        QStringList arguments{QString::fromStdString(program)};
        if (!weights.isEmpty()) arguments << weights;
        return python("import runpy, sys\nsys.argv = sys.argv[1:]\n"
                      "runpy.run_path(sys.argv[0], run_name='__main__')\n",
                      arguments);
    };
    Experiment experiment(settings);
    const std::string plain = path("plain.safetensors");
    writeFileAtomically(plain, stateDictBytes(experiment.lane(0), kModel, "1"));
    const QString own = printed({});
    QVERIFY2(own.contains("fp32: step 1, loss "), qPrintable(own));
    QCOMPARE(own, printed(QString::fromStdString(plain)));
    QVERIFY(own != printed(QString::fromStdString(m_file))); // its 5.weight is another one
}

} // namespace tst_weight_groups

QTEST_GUILESS_MAIN(tst_weight_groups::TestWeightGroups)
#include "tst_weight_groups.moc"
