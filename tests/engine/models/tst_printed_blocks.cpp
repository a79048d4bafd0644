// The residual networks of torchvision as print() shows them: they are read as what their forward()
// computes, under names that a file of their weights fits. torchvision itself judges that when
// HALFSCOPE_PYTHON names a Python that has it (./dev clients).
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/models/model_spec.h"
#include "engine/models/printed_blocks.h"
#include "tests/support/python.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_printed_blocks {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns "conv1" for each layer that a model runs, with those inside containers in brackets.
QString runsOf(const LayerSpec& layer) {
    QStringList all;
    for (const LayerSpec& each : layer.children) {
        const QString inside = each.children.empty()
                                   ? QString()
                                   : QString::fromUtf8(each.info->name) + '[' + runsOf(each) + ']';
        all << QString::fromStdString(each.name) + inside;
    }
    return all.join(' ');
}

QString printed(const QString& name, const QString& layers) {
    QString text = name + "(\n";
    const QStringList parts = layers.split(' ');
    for (const QString& part : parts) {
        const QString layer = part.startsWith("conv")   ? "Conv2d(2, 2, kernel_size=(1, 1))"
                              : part.startsWith("bn")   ? "BatchNorm2d(2)"
                              : part.startsWith("down") ? "Sequential(\n(0): BatchNorm2d(2)\n)"
                                                        : "ReLU(inplace=True)";
        text += "  (" + part + "): " + layer + "\n";
    }
    return text + ")";
}

const char* kBasic = "conv1 bn1 relu conv2 bn2";
const char* kBottleneck = "conv1 bn1 conv2 bn2 conv3 bn3 relu";

} // namespace

class TestPrintedBlocks : public QObject {
    Q_OBJECT

private slots:
    void reads_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("runs");
        const auto row = [](const char* name, const QString& text, const char* runs) {
            QTest::newRow(name) << text << QString(runs);
        };
        row("BasicBlock", printed("BasicBlock", kBasic),
            "blockResidual[conv1 bn1 relu conv2 bn2] relu");
        row("with a shortcut", printed("BasicBlock", QString(kBasic) + " downsample"),
            "blockResidual[conv1 bn1 relu conv2 bn2 shortcutSequential[0]] relu");
        row("Bottleneck", printed("Bottleneck", kBottleneck),
            "blockResidual[conv1 bn1 relu conv2 bn2 relu_2 conv3 bn3] relu");
        row("Bottleneck with a shortcut",
            printed("Bottleneck", QString(kBottleneck) + " downsample"),
            "blockResidual[conv1 bn1 relu conv2 bn2 relu_2 conv3 bn3 shortcutSequential[0]] relu");
        row("inside", "Sequential(\n  (0): " + printed("BasicBlock", kBasic) + "\n)",
            "0Sequential[blockResidual[conv1 bn1 relu conv2 bn2] relu]");
        const QString layers = "conv1 bn1 relu maxpool layer1 layer2 layer3 layer4 avgpool fc";
        row("ResNet", printed("ResNet", layers),
            "conv1 bn1 relu maxpool layer1 layer2 layer3 layer4 avgpool flatten fc");
        row("ResNet of others", printed("ResNet", "conv1 bn1 relu"), "conv1 bn1 relu");
    }
    void reads() {
        QFETCH(const QString, text);
        QFETCH(const QString, runs);
        const ModelSpec model = readModel(text.toStdString());
        QCOMPARE(runsOf(model.root), runs);
        QCOMPARE(textOf(readModel(textOf(model))), textOf(model));
        QCOMPARE(model.root.ofClass.empty(), !text.startsWith("ResNet") || runs.contains("fc"));
    }

    /// Classes of these names with other layers may compute something else.
    void leavesOthers_data() {
        QTest::addColumn<QString>("text");
        for (const char* layers : {"conv1 bn1 conv2 bn2", "bn1 relu conv1 bn2 conv2", "conv1"})
            QTest::newRow(layers) << printed("BasicBlock", layers);
        QTest::newRow("another order")
            << printed("Bottleneck", "conv1 bn1 relu conv2 bn2 conv3 bn3");
        QTest::newRow("layers in its activation")
            << printed("BasicBlock", kBasic)
                   .replace("ReLU(inplace=True)", "Sequential(\n(0): ReLU()\n)");
        QTest::newRow("as written") << QString("BasicBlock(64, 64)");
    }
    void leavesOthers() {
        QFETCH(const QString, text);
        const std::string said = thrownBy<InputError>([&] { readModel(text.toStdString()); });
        QVERIFY2(said.find("is not a layer of this program") != std::string::npos, said.c_str());
        QCOMPARE(said.find("inside Sequential(Residual(...), ReLU())") != std::string::npos,
                 text.contains(':'));
    }

    /// PyTorch runs one activation in two places: its weights would be those of both.
    void refusesSharedWeights() {
        for (const char* name : {"BasicBlock", "Bottleneck"}) {
            QString text = printed(name, name[1] == 'a' ? kBasic : kBottleneck);
            text.replace("ReLU(inplace=True)", "PReLU(num_parameters=1)");
            const std::string said = thrownBy<InputError>([&] { readModel(text.toStdString()); });
            QVERIFY2(said.find("PReLU stands here a second time") != std::string::npos,
                     said.c_str());
        }
    }

    void namesWeights() {
        const ModelSpec model = readModel(
            ("Sequential(\n  (0): " + printed("BasicBlock", QString(kBasic) + " downsample") +
             "\n)")
                .toStdString());
        const std::vector<NamedParameter> all = parametersOf(model);
        QCOMPARE(all.front().name, std::string("0.block.conv1.weight"));
        QCOMPARE(torchvisionName(all.front().name), std::string("0.conv1.weight"));
        QCOMPARE(torchvisionName(all.back().name), std::string("0.downsample.0.running_var"));
        QCOMPARE(torchvisionName("0.blocks.weight"), std::string("0.blocks.weight"));
    }

    void torchvisionAgrees_data() {
        QTest::addColumn<QString>("made");
        const QString made =
            "torchvision.models.ResNet(torchvision.models.resnet.%1, num_classes=3)";
        QTest::newRow("BasicBlock") << made.arg("BasicBlock, [2, 2, 1, 1]");
        QTest::newRow("Bottleneck") << made.arg("Bottleneck, [2, 1, 1, 1]");
    }
    void torchvisionAgrees() {
        QFETCH(const QString, made);
        if (lacksPython()) QSKIP(lacksPython());
        const QString text = python("import torchvision\nprint(" + made + ")");
        if (text.contains("No module named 'torchvision'")) QSKIP("there is no torchvision");
        const ModelSpec model = readModel(text.toStdString());
        const QTemporaryDir folder;
        const QString source = folder.filePath("network.py"), names = folder.filePath("names.txt");
        writeFileAtomically(source.toStdString(),
                            pythonClassesOf(model) + "\nnetwork = " + pythonOf(model, "") + "\n");
        std::string pairs;
        for (const NamedParameter& each : parametersOf(model))
            pairs += each.name + " " + torchvisionName(each.name) + "\n";
        writeFileAtomically(names.toStdString(), pairs);
        const QString script = R"(
import sys, torch, torchvision
from collections import OrderedDict
from torch import nn
torch.manual_seed(1)
theirs = MADE.eval()
for norm in theirs.modules():
    if isinstance(norm, nn.BatchNorm2d):
        nn.init.normal_(norm.running_mean, 0, 0.1)
        nn.init.uniform_(norm.running_var, 0.5, 1.5)
space = {"torch": torch, "nn": nn, "OrderedDict": OrderedDict}
exec(open(sys.argv[1]).read(), space)
ours, state = space["network"].eval(), theirs.state_dict()
names = dict(line.split() for line in open(sys.argv[2]))
missing, unexpected = ours.load_state_dict({a: state[b] for a, b in names.items()}, strict=False)
left = [name for name in missing + unexpected if not name.endswith("num_batches_tracked")]
with torch.no_grad():
    x = torch.randn(2, 3, 32, 32)
    a, b = ours(x), theirs(x)
print(left or float((a - b).abs().max() / b.abs().max()))
)";
        const QString apart = python(QString(script).replace("MADE", made), {source, names});
        bool number = false;
        const double found = apart.toDouble(&number);
        QVERIFY2(number && found < 1e-5, qPrintable(apart)); // other kernels may round otherwise
    }
};

} // namespace tst_printed_blocks

QTEST_GUILESS_MAIN(tst_printed_blocks::TestPrintedBlocks)
#include "tst_printed_blocks.moc"
