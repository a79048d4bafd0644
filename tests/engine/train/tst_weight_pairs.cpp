// Weights under other names than the network's: which layers are paired, and which are refused
// because no shape tells them apart; what lanes then start from; and which preset takes a file.
#include "engine/core/error.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "engine/train/fitting_preset.h"
#include "engine/train/state_dict.h"
#include "engine/train/weight_pairs.h"
#include "tests/support/array_files.h"
#include "tests/support/lane.h"
#include "tests/support/named_weights.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_weight_pairs {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr const char* kModel = "nn.Sequential(nn.Linear(10, 7), nn.BatchNorm1d(7), nn.ReLU(), "
                               "nn.LayerNorm(7), nn.GELU(), nn.Linear(7, 1))";

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

/// Reads "0.weight:8x3 0.bias:8".
NamedShapes shapesIn(const QString& text) {
    NamedShapes shapes;
    const QStringList words = text.split(' ');
    for (const QString& each : words)
        shapes[each.section(':', 0, 0).toStdString()] = each.section(':', 1).toStdString();
    return shapes;
}

} // namespace

class TestWeightPairs : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void pairs_data();
    void pairs();
    void lanesStartFromThem();
    void aPartIsTakenByName();
    void findsThePreset_data();
    void findsThePreset();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    QTemporaryDir m_folder;
    std::string m_file; ///< weights that differ from those of any seed
    Weights m_trained;  ///< the same
};

void TestWeightPairs::initTestCase() {
    Experiment trained(config());
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!trained.finished())
        trained.advance(records, events);
    m_trained = trained.lane(0).weights();
    m_file = writeBytes(path("own.safetensors"), stateDictBytes(trained.lane(0), kModel, "1"));
}

void TestWeightPairs::pairs_data() {
    QTest::addColumn<QString>("network");
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("found"); // empty: nothing is paired
    const auto row = [](const char* name, const char* network, const char* file,
                        const char* found) {
        QTest::newRow(name) << QString(network) << QString(file) << QString(found);
    };
    row("names of a class", "0.weight:8x3 0.bias:8 2.weight:2x8 2.bias:2",
        "fc1.weight:8x3 fc1.bias:8 fc2.weight:2x8 fc2.bias:2",
        "fc1.weight → 0.weight, fc1.bias → 0.bias, fc2.weight → 2.weight, fc2.bias → 2.bias");
    row("shapes decide, not the order of names", "0.weight:8x3 2.weight:2x8",
        "z.weight:8x3 a.weight:2x8", "z.weight → 0.weight, a.weight → 2.weight");
    row("one layer", "weight:8x3 bias:8", "fc.weight:8x3 fc.bias:8",
        "fc.weight → weight, fc.bias → bias");
    row("a wrapper", "0.weight:8x8 2.weight:8x8", "module.0.weight:8x8 module.2.weight:8x8",
        "module.0.weight → 0.weight, module.2.weight → 2.weight");
    row("alike, by number", "0.weight:8x8 2.weight:8x8 10.weight:8x8",
        "fc1.weight:8x8 fc2.weight:8x8 fc03.weight:8x8",
        "fc1.weight → 0.weight, fc2.weight → 2.weight, fc03.weight → 10.weight");
    row("told in the network's order", "up3.weight:8x8 up2.weight:8x8 up1.weight:8x8",
        "net.up1.weight:8x8 net.up2.weight:8x8 net.up3.weight:8x8",
        "net.up3.weight → up3.weight, net.up2.weight → up2.weight, net.up1.weight → up1.weight");
    row("shifted", "2.weight:8x8 4.weight:8x8 6.weight:8x8",
        "0.weight:8x8 2.weight:8x8 4.weight:8x8",
        "0.weight → 2.weight, 2.weight → 4.weight, 4.weight → 6.weight");
    row("blocks", "0.0.weight:8x8 0.2.weight:8x8 1.0.weight:8x8",
        "block1.conv1.weight:8x8 block1.conv2.weight:8x8 block2.conv1.weight:8x8",
        "block1.conv1.weight → 0.0.weight, block1.conv2.weight → 0.2.weight, "
        "block2.conv1.weight → 1.0.weight");
    row("one level deeper, with other names", "0.block.a.weight:8x8 0.block.b.weight:8x4",
        "0.a.weight:8x4 0.b.weight:8x8",
        "0.b.weight → 0.block.a.weight, 0.a.weight → 0.block.b.weight");
    row("alike, with the same names", "up.weight:8x8 down.weight:8x8 0.weight:2x8",
        "up.weight:8x8 down.weight:8x8 out.weight:2x8", "out.weight → 0.weight");
    row("alike, in words", "0.weight:8x8 2.weight:8x8", "up.weight:8x8 down.weight:8x8", "");
    row("alike, in words and numbers", "0.weight:8x8 2.weight:8x8 4.weight:8x8",
        "conv1.weight:8x8 conv2.weight:8x8 fc1.weight:8x8", "");
    row("alike, the network in words", "up.weight:8x8 down.weight:8x8", "0.weight:8x8 2.weight:8x8",
        "");
    row("in another order", "0.weight:7x10 2.weight:10x7", "0.weight:10x7 2.weight:7x10", "");
    row("numbers of another order", "0.weight:7x10 2.weight:10x7",
        "fc1.weight:10x7 fc2.weight:7x10", "");
    row("crosswise", "encoder.weight:4x8 decoder.weight:8x4",
        "encoder.weight:8x4 decoder.weight:4x8", "");
    row("crosswise, beside another", "encoder.weight:4x8 decoder.weight:8x4 0.weight:2x8",
        "encoder.weight:8x4 decoder.weight:4x8 out.weight:2x8", "");
    row("crosswise, with numbers inside", "encoder.0.weight:4x8 decoder.0.weight:8x4 0.weight:2x8",
        "encoder.0.weight:8x4 decoder.0.weight:4x8 out.weight:2x8", "");
    row("the same names and shapes", "0.weight:8x3 2.weight:2x8", "0.weight:8x3 2.weight:2x8", "");
    row("alike, by size", "0.weight:8x8 2.weight:8x8", "res32.weight:8x8 res16.weight:8x8", "");
    row("alike, the network by size", "res32.weight:8x8 res16.weight:8x8",
        "0.weight:8x8 2.weight:8x8", "");
    row("alike, with a gap", "0.weight:8x8 2.weight:8x8", "fc1.weight:8x8 fc3.weight:8x8", "");
    row("alike, counted with others", "0.weight:8x3 2.weight:8x8 4.weight:8x8",
        "fc0.weight:8x3 fc1.weight:8x8 fc2.weight:8x8",
        "fc0.weight → 0.weight, fc1.weight → 2.weight, fc2.weight → 4.weight");
    row("left over", "0.weight:8x8", "a.weight:8x8 b.weight:2x8", "");
    row("missing", "0.weight:8x8 2.weight:2x8", "a.weight:8x8", "");
    row("another shape", "0.weight:8x3", "a.weight:3x8", "");
    row("another end", "0.weight:8x3", "a.kernel:8x3", "");
    row("other layers of the same tensors", "0.weight:8 0.bias:8 1.weight:2x8",
        "a.weight:8 b.bias:8 c.weight:2x8", "");
}

void TestWeightPairs::pairs() {
    QFETCH(const QString, network);
    QFETCH(const QString, file);
    QFETCH(const QString, found);
    const NamedShapes here = shapesIn(network);
    const WeightPairs pairs = pairsByShape(here, shapesIn(file));
    const QStringList words = network.split(' ');
    std::vector<std::string> names;
    for (const QString& each : words)
        names.push_back(each.section(':', 0, 0).toStdString());
    QStringList renamed;
    for (const std::string& each : renamedIn(pairs, names))
        renamed << QString::fromStdString(each);
    QCOMPARE(renamed.join(", "), found);
    QCOMPARE(pairs.size(), found.isEmpty() ? size_t{0} : here.size());
}

/// Also where what fits is to be taken, as nothing fits by name. Files of a run are still read by
/// name alone.
void TestWeightPairs::lanesStartFromThem() {
    const std::string file =
        renamedWeights(m_file, path("class.safetensors"), [](const std::string& name) {
            const std::string layer = name.substr(0, name.find('.'));
            const std::map<std::string, std::string> names{
                {"0", "out"}, {"1", "bn"}, {"3", "norm"}, {"5", "in"}};
            return names.at(layer) + name.substr(layer.size());
        });
    const std::string said =
        "the layers in " + file +
        " have other names than the network's and were matched by their shapes, those of the same "
        "shapes in ascending order of the numbers in their names (forward() may use them in "
        "another order): out.weight → 0.weight, out.bias → 0.bias, bn.weight → 1.weight, bn.bias → "
        "1.bias, bn.running_mean → 1.running_mean, bn.running_var → 1.running_var, norm.weight → "
        "3.weight, norm.bias → 3.bias and 2 more";
    for (const bool partial : {false, true}) {
        RunConfig from = config(file);
        from.seed = 77;
        from.model.partialWeights = partial;
        Experiment experiment(from);
        QCOMPARE(differentWeights(experiment.lane(0).weights(), m_trained), 0);
        QCOMPARE(differentWeights(experiment.lane(1).weights(), m_trained), 0);
        QCOMPARE(experiment.weightsNote().english(), said);
    }
    QCOMPARE(checkFirstWeights(config(file)).english(), said);
    QVERIFY(stateDictFit(file, config()).problem.empty());
    const std::string strict = thrownBy<InputError>([&] { checkStateDict(file, config()); });
    QVERIFY2(strict.find("missing: 0.weight, 0.bias, 1.weight") != strict.npos, strict.c_str());
}

/// The head of a network that is fine-tuned begins anew although the file has one of its shape.
void TestWeightPairs::aPartIsTakenByName() {
    const std::string file =
        renamedWeights(m_file, path("head.safetensors"), [](const std::string& name) {
            return name.starts_with("5.") ? "head" + name.substr(1) : name;
        });
    RunConfig from = config(file);
    Experiment whole(from);
    QCOMPARE(differentWeights(whole.lane(0).weights(), m_trained), 0);
    const std::string note = whole.weightsNote().english();
    QVERIFY2(note.ends_with(": head.weight → 5.weight, head.bias → 5.bias"), note.c_str());

    from.model.partialWeights = true;
    Experiment part(from);
    from.model.weights.clear();
    Experiment drawn(from);
    Weights wanted = m_trained;
    for (const char* name : {"5.weight", "5.bias"})
        wanted[name] = drawn.lane(0).weights().at(name);
    QCOMPARE(differentWeights(part.lane(0).weights(), wanted), 0);
    const std::string kept = part.weightsNote().english();
    QVERIFY2(kept.find("; initial values stay in: 5.weight, 5.bias; ignored: head.") != kept.npos,
             kept.c_str());
}

void TestWeightPairs::findsThePreset_data() {
    QTest::addColumn<QString>("preset"); // empty: none
    QTest::addColumn<bool>("renamed");
    QTest::newRow("its names") << "mnist-mlp" << false;
    QTest::newRow("names of a class") << "mnist-mlp" << true;
    QTest::newRow("one layer") << "line-fit" << false;
    QTest::newRow("none") << "" << false;
}

void TestWeightPairs::findsThePreset() {
    QFETCH(const QString, preset);
    QFETCH(const bool, renamed);
    const std::string file = path("preset.safetensors");
    if (preset == "mnist-mlp")
        writeDigitWeights(file, renamed ? "fc1" : "0", renamed ? "fc2" : "2");
    else if (preset == "line-fit")
        writeNamedWeights(file, {{"weight", {1, 1}}, {"bias", {1}}});
    else
        writeNamedWeights(file, {{"weight", {5, 4}}, {"bias", {5}}});
    const std::optional<FittingPreset> found = fittingPreset(file);
    QCOMPARE(found ? QString::fromStdString(found->name) : QString(), preset);
    if (!found) return;
    QVERIFY(found->fit.problem.empty());
    QCOMPARE(!found->fit.pairs.empty(), renamed);
}

} // namespace tst_weight_pairs

QTEST_GUILESS_MAIN(tst_weight_pairs::TestWeightPairs)
#include "tst_weight_pairs.moc"
