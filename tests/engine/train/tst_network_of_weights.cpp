// The network that a file of weights tells: a stack of nn.Linear in the order in which its sizes
// chain, or the one that its metadata name; and the files that tell none that fits the data.
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "engine/train/network_of_weights.h"
#include "tests/support/named_weights.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_network_of_weights {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Of 10 inputs and 1 output.
RunConfig config() {
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Regression;
    config.task.samples = 64;
    config.task.batch = 64;
    config.lanes = parseLanes("fp32");
    config.device = "cpu";
    config.threads = 1;
    return config;
}

/// Reads "0.weight:8x3 0.bias:8".
std::vector<NamedWeight> tensorsIn(const QString& text) {
    std::vector<NamedWeight> tensors;
    const QStringList words = text.split(' ');
    for (const QString& each : words) {
        NamedWeight& tensor = tensors.emplace_back();
        tensor.name = each.section(':', 0, 0).toStdString();
        const QStringList extents = each.section(':', 1).split('x');
        for (const QString& extent : extents)
            tensor.shape.push_back(extent.toLongLong());
    }
    return tensors;
}

} // namespace

class TestNetworkOfWeights : public QObject {
    Q_OBJECT
private slots:
    void stacks_data();
    void stacks();
    void numbersCount();
    void namedNetworks();
    void otherFiles();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    QTemporaryDir m_folder;
};

void TestNetworkOfWeights::stacks_data() {
    QTest::addColumn<QString>("tensors");
    QTest::addColumn<QString>("sizes"); // empty: there is no network
    const auto row = [](const char* name, const char* tensors, const char* sizes) {
        QTest::newRow(name) << QString(tensors) << QString(sizes);
    };
    row("Sequential", "0.weight:7x10 0.bias:7 2.weight:1x7 2.bias:1", "10-7-1");
    row("fields", "fc1.weight:7x10 fc1.bias:7 fc2.weight:1x7 fc2.bias:1", "10-7-1");
    row("nested", "net.0.weight:7x10 net.0.bias:7 net.2.weight:1x7 net.2.bias:1", "10-7-1");
    row("words",
        "hidden.weight:7x9 hidden.bias:7 in.weight:9x10 in.bias:9 out.weight:1x7 "
        "out.bias:1",
        "10-9-7-1");
    row("one layer", "weight:1x10 bias:1", "10-1");
    row("no biases", "0.weight:7x10 2.weight:1x7", "10-7-1");
    row("other data", "0.weight:7x4 0.bias:7 2.weight:1x7 2.bias:1", "");
    row("other targets", "0.weight:7x10 0.bias:7 2.weight:3x7 2.bias:3", "");
    row("no chain", "0.weight:7x10 0.bias:7 2.weight:1x8 2.bias:1", "");
    row("a bias of another size", "0.weight:7x10 0.bias:8 2.weight:1x7 2.bias:1", "");
    row("a norm between", "0.weight:7x10 0.bias:7 1.weight:7 1.bias:7 2.weight:1x7 2.bias:1", "");
    row("a convolution", "0.weight:4x1x3x3 0.bias:4 2.weight:1x10 2.bias:1", "");
    row("equal layers in no order",
        "a.weight:7x10 a.bias:7 up.weight:7x7 up.bias:7 down.weight:7x7 down.bias:7 z.weight:1x7 "
        "z.bias:1",
        "");
}

void TestNetworkOfWeights::stacks() {
    QFETCH(const QString, tensors);
    QFETCH(const QString, sizes);
    const std::string file = writeNamedWeights(path("stack.safetensors"), tensorsIn(tensors));
    const auto found = networkOfWeights(file, config());
    QCOMPARE(found ? QString::fromStdString(found->sizes) : QString(), sizes);
    if (!found) return;
    QVERIFY(found->fit.problem.empty());
    QCOMPARE(found->layers.find("bias=False") != std::string::npos, !tensors.contains("bias"));
    RunConfig from = config();
    from.model.layers = found->layers;
    from.model.weights = file;
    from.steps = 1;
    Experiment experiment(from); // throws
}

/// The tenth layer comes behind the second one, also where all have the same sizes.
void TestNetworkOfWeights::numbersCount() {
    std::vector<NamedWeight> tensors;
    for (int i = 1; i <= 12; ++i) {
        const std::string layer = "fc" + std::to_string(i);
        const int64_t out = i == 12 ? 1 : 10;
        tensors.push_back({layer + ".weight", {out, 10}});
        tensors.push_back({layer + ".bias", {out}});
    }
    const std::string file = writeNamedWeights(path("many.safetensors"), tensors);
    const auto found = networkOfWeights(file, config());
    QVERIFY(found);
    QCOMPARE(found->fit.pairs.at("2.weight"), std::string("fc2.weight"));
    QCOMPARE(found->fit.pairs.at("18.weight"), std::string("fc10.weight"));
}

/// Halfscope's own files do, with the activations.
void TestNetworkOfWeights::namedNetworks() {
    RunConfig other = config();
    other.model.layers = "nn.Sequential(nn.Linear(10, 7), nn.Tanh(), nn.Linear(7, 1))";
    Experiment trained(other);
    const std::string file = path("named.safetensors");
    writeFileAtomically(file, stateDictBytes(trained.lane(0), other.model.layers, "1"));
    const auto found = networkOfWeights(file, config());
    QVERIFY(found && found->sizes.empty());
    QVERIFY2(found->layers.find("Tanh") != std::string::npos, found->layers.c_str());
}

void TestNetworkOfWeights::otherFiles() {
    const std::string file = writeNamedWeights(path("none.safetensors"), {});
    QVERIFY(!networkOfWeights(file, config()));
    QVERIFY(thrownBy<InputError>([&] {
                networkOfWeights(path("gone.safetensors"), config());
            }).find("cannot read") != std::string::npos);
}

} // namespace tst_network_of_weights

QTEST_GUILESS_MAIN(tst_network_of_weights::TestNetworkOfWeights)
#include "tst_network_of_weights.moc"
