// Classes as PyTorch's users write them: which are read as a network, with which names, and which
// are not.
#include "engine/core/error.h"
#include "engine/lang/syntax.h"
#include "engine/models/class_network.h"
#include "engine/models/model_spec.h"
#include "engine/models/program_network.h"
#include "tests/support/address_limit.h"
#include "tests/support/processor_time.h"
#include "tests/support/thrown.h"
#include "tests/support/under_sanitizer.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <limits>
#include <optional>

namespace tst_class_network {

using namespace halfscope;

namespace {

QByteArray classWith(const QByteArray& members, const QByteArray& forward,
                     const QByteArray& init = "self") {
    QByteArray text =
        "class Net(nn.Module):\n    def __init__(" + init + "):\n        super().__init__()\n";
    for (const QByteArray& each : members.split('\n'))
        text += "        " + each + "\n";
    text += "\n    def forward(self, x):\n";
    for (const QByteArray& each : forward.split('\n'))
        text += "        " + each + "\n";
    return text;
}

/// Returns "name=Layer" for each layer that a model runs, with those inside containers in brackets.
QString runsOf(const LayerSpec& layer) {
    QStringList all;
    for (const LayerSpec& each : layer.children) {
        const QString inside = each.children.empty()
                                   ? QString::fromStdString(each.written).remove(' ')
                                   : QString::fromUtf8(each.info->name) + '[' + runsOf(each) + ']';
        all << QString::fromStdString(each.name) + '=' + inside;
    }
    return all.join(' ');
}

const QByteArray kLinear = "self.fc = nn.Linear(4, 2)";

} // namespace

class TestClassNetwork : public QObject {
    Q_OBJECT

private slots:
    void reads_data() {
        QTest::addColumn<QByteArray>("program");
        QTest::addColumn<QString>("layers");
        const auto row = [](const char* name, const QByteArray& members, const QByteArray& forward,
                            const char* layers) {
            QTest::newRow(name) << classWith(members, forward) << QString(layers);
        };
        const QByteArray parts = "self.features = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())\n"
                                 "self.avgpool = nn.AdaptiveAvgPool2d((2, 2))\n"
                                 "self.classifier = nn.Sequential(\n    nn.Linear(16, 2),\n)";
        const char* joined = "features=Sequential[0=Conv2d(3,4,3) 1=ReLU()] "
                             "avgpool=AdaptiveAvgPool2d((2,2)) flatten=Flatten(1) "
                             "classifier=Sequential[0=Linear(16,2)]";
        row("AlexNet and VGG", parts,
            "x = self.features(x)\nx = self.avgpool(x)\nx = torch.flatten(x, 1)\n"
            "x = self.classifier(x)\nreturn x",
            joined);
        row("in one line", parts,
            "return self.classifier(self.avgpool(self.features(x)).flatten(1))", joined);
        const QString viewed = QString(joined).replace("Flatten(1)", "Flatten()");
        for (const char* view : {"x.view(x.size(0), -1)", "x.reshape(x.shape[0], -1)",
                                 "x.view(len(x), 4 * 2 * 2)", "x.view(-1, 16)"})
            row(view, parts,
                "x = self.avgpool(self.features(x))\nx = " + QByteArray(view) +
                    "\nlogits = self.classifier(x)\nreturn logits",
                qPrintable(viewed));
        row("number of samples by name", parts,
            "n = x.size(0)\nx = self.avgpool(self.features(x))\nx = x.view(n, -1)\n"
            "return self.classifier(x)",
            qPrintable(viewed));
        row("small pictures in colour",
            "self.conv1 = nn.Conv2d(3, 6, 5)\nself.pool = nn.MaxPool2d(2, 2)\n"
            "self.conv2 = nn.Conv2d(6, 16, 5)\nself.fc1 = nn.Linear(16 * 5 * 5, 120)\n"
            "self.fc2 = nn.Linear(120, 84)\nself.fc3 = nn.Linear(84, 10)",
            "x = self.pool(F.relu(self.conv1(x)))\nx = self.pool(F.relu(self.conv2(x)))\n"
            "x = torch.flatten(x, 1) # all but the samples\nx = F.relu(self.fc1(x))\n"
            "x = F.relu(self.fc2(x))\nx = self.fc3(x)\nreturn x",
            "conv1=Conv2d(3,6,5) relu=ReLU() pool=MaxPool2d(2,2) conv2=Conv2d(6,16,5) "
            "relu_2=ReLU() pool_2=MaxPool2d(2,2) flatten=Flatten(1) fc1=Linear(400,120) "
            "relu_3=ReLU() fc2=Linear(120,84) relu_4=ReLU() fc3=Linear(84,10)");
        row("digits",
            "self.conv1 = nn.Conv2d(1, 32, 3, 1)\nself.conv2 = nn.Conv2d(32, 64, 3, 1)\n"
            "self.dropout1 = nn.Dropout(0.25)\nself.dropout2 = nn.Dropout(0.5)\n"
            "self.fc1 = nn.Linear(9216, 128)\nself.fc2 = nn.Linear(128, 10)",
            "x = self.conv1(x)\nx = F.relu(x)\nx = self.conv2(x)\nx = F.relu(x)\n"
            "x = F.max_pool2d(x, 2)\nx = self.dropout1(x)\nx = torch.flatten(x, 1)\n"
            "x = self.fc1(x)\nx = F.relu(x)\nx = self.dropout2(x)\nx = self.fc2(x)\n"
            "output = F.log_softmax(x, dim=1)\nreturn output",
            "conv1=Conv2d(1,32,3,1) relu=ReLU() conv2=Conv2d(32,64,3,1) relu_2=ReLU() "
            "max_pool2d=MaxPool2d(2) dropout1=Dropout(0.25) flatten=Flatten(1) "
            "fc1=Linear(9216,128) relu_3=ReLU() dropout2=Dropout(0.5) fc2=Linear(128,10) "
            "log_softmax=LogSoftmax(dim=1)");
        row("functions around one another",
            "self.fc1 = nn.Linear(8, 6)\nself.fc2 = nn.Linear(6, 4)\nself.relu = nn.Tanh()",
            "x = F.dropout(x, p=0.5, training=self.training)\n"
            "return self.relu(self.fc2(F.relu(self.fc1(x), inplace=True))).softmax(dim=1)",
            "dropout=Dropout(p=0.5) fc1=Linear(8,6) relu_2=ReLU(inplace=True) fc2=Linear(6,4) "
            "relu=Tanh() softmax=Softmax(dim=1)");
        row("dropout by place", kLinear, "return self.fc(F.dropout(x, 0.1, self.training))",
            "dropout=Dropout(0.1) fc=Linear(4,2)");
        row("methods in lines", kLinear,
            "return (self.fc(x)\n    .relu()  # then\n    "
            ".sigmoid())",
            "fc=Linear(4,2) relu=ReLU() sigmoid=Sigmoid()");
        row("pictures of numbers", kLinear, "x = self.fc(x)\nreturn x.view(-1, 2, 1, 1)",
            "fc=Linear(4,2) flatten=Flatten() unflatten=Unflatten(1,(2,1,1))");
        for (const char* ending : {"relu(x)", "fc(x).view(-1, 2)", "net(x)"})
            row(ending,
                kLinear + "\nself.net = nn.Sequential(nn.Linear(2 * 2, 3))\n"
                          "self.relu = nn.ReLU()",
                "x = x.view(-1, 2 * 2)\nreturn self." + QByteArray(ending),
                ending == std::string("net(x)") ? "flatten=Flatten() net=Sequential[0=Linear(4,3)]"
                : ending == std::string("relu(x)")
                    ? "flatten=Flatten() unflatten=Unflatten(1,(4,)) relu=ReLU()"
                    : "flatten=Flatten() unflatten=Unflatten(1,(4,)) fc=Linear(4,2) "
                      "flatten_2=Flatten() unflatten_2=Unflatten(1,(2,))");
        const QByteArray conv = "self.conv = nn.Conv2d(3, 4, 3)\nself.fc = nn.Linear(4, 2)";
        for (const char* mean : {"x.mean([2, 3])", "x.mean((-2, -1))", "x.mean(dim=(3, 2))",
                                 "torch.mean(x, dim=[2, 3])", "x.mean([-1, 2], keepdim=False)"})
            row(mean, conv, "x = self.conv(x)\nx = " + QByteArray(mean) + "\nreturn self.fc(x)",
                "conv=Conv2d(3,4,3) mean=AdaptiveAvgPool2d(1) flatten=Flatten() fc=Linear(4,2)");
        for (const char* mean : {"x.mean((2, 3), True)", "torch.mean(x, [2, 3], keepdim=True)"})
            row(mean, conv, "x = self.conv(x)\nreturn " + QByteArray(mean),
                "conv=Conv2d(3,4,3) mean=AdaptiveAvgPool2d(1)");
        row("mean of a sequence", "self.conv = nn.Conv1d(3, 4, 3)",
            "x = self.conv(x)\nreturn x.mean(-1)",
            "conv=Conv1d(3,4,3) mean=AdaptiveAvgPool1d(1) flatten=Flatten()");
        row("another size", conv,
            "x = F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False)\n"
            "return F.pixel_shuffle(self.conv(x), 2)",
            "interpolate=Upsample(scale_factor=2,mode='bilinear',align_corners=False) "
            "conv=Conv2d(3,4,3) pixel_shuffle=PixelShuffle(2)");
        const QByteArray one = "self.net = nn.Sequential(nn.Linear(4, 1), nn.Dropout(0.1))\n"
                               "self.fc = nn.Linear(4, out_features=1)";
        for (const char* axis : {"squeeze(-1)", "squeeze()", "squeeze(dim=1)", "view(-1)",
                                 "reshape(-1)", "flatten()"}) {
            row(axis, one, "return self.fc(x)." + QByteArray(axis), "fc=Linear(4,out_features=1)");
            row(QByteArray("behind a sigmoid: ").append(axis), one,
                "return torch.sigmoid(self.net(x))." + QByteArray(axis),
                "net=Sequential[0=Linear(4,1) 1=Dropout(0.1)] sigmoid=Sigmoid()");
        }
        row("squeezed first", one, "return torch.sigmoid(torch.squeeze(self.fc(x), -1))",
            "fc=Linear(4,out_features=1) sigmoid=Sigmoid()");
        row("one layer", kLinear, "return self.fc(x)", "fc=Linear(4,2)");
        row("a size that is read", kLinear + "\nself.width = self.fc.out_features",
            "return self.fc(x)", "fc=Linear(4,2)");
        row("a size by name", kLinear, "return self.fc(x.view(-1, SIZE))",
            "flatten=Flatten() fc=Linear(4,2)");
        row("not in order", "self.b = nn.Tanh()\nself.unused = f(2)\nself.a = nn.ReLU()",
            "h = self.a(x)\nh = self.b(h)\nreturn h", "a=ReLU() b=Tanh()");
        row("numbers", "hidden = 8\nself.a = nn.Linear(4, hidden)\nself.b = nn.Linear(hidden, 2)",
            "return self.b(self.a(x))", "a=Linear(4,8) b=Linear(8,2)");
        QTest::newRow("default numbers")
            << classWith("self.fc = nn.Linear(4, classes)\nself.drop = nn.Dropout(p=rate)",
                         "return self.fc(self.drop(x))",
                         "self, classes: int = 10,\n        rate: float = 0.5")
            << "drop=Dropout(p=0.5) fc=Linear(4,10)";
        row("class of torchvision", "_log_api_usage_once(self)\n" + kLinear,
            "return F.relu(self.fc(x))", "fc=Linear(4,2) relu=ReLU()");
        QTest::newRow("quickstart")
            << classWith("self.flatten = nn.Flatten()\nself.linear_relu_stack = nn.Sequential(\n"
                         "    nn.Linear(28*28, 512),\n    nn.ReLU(),\n    nn.Linear(512, 10)\n)",
                         "x = self.flatten(x)\nlogits = self.linear_relu_stack(x)\nreturn logits") +
                   "\ntorch.manual_seed(0)\nmodel = Net().to(device)\nprint(model)\n"
                   "optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)\n"
            << "flatten=Flatten() "
               "linear_relu_stack=Sequential[0=Linear(784,512) 1=ReLU() 2=Linear(512,10)]";
        QTest::newRow("with what makes it")
            << "import torch\nimport torch.nn.functional as F\n\n" +
                   classWith(kLinear, "return F.relu(self.fc(x))") +
                   "\nnet = Net()\nmodel = Net().to(device)\nprint(net)\n"
            << "fc=Linear(4,2) relu=ReLU()";
    }
    /// Pasted, and in a file with a training.
    void reads() {
        QFETCH(const QByteArray, program);
        QFETCH(const QString, layers);
        QCOMPARE(runsOf(readModel(program.toStdString()).root), layers);
        const ProgramNetwork network =
            networkIn(program.toStdString() + "\nfor x, y in batches:\n    loss(net(x), y)\n");
        QCOMPARE(textOf(readModel(network.text.text)), textOf(readModel(program.toStdString())));
        QCOMPARE(textOf(readModel(network.text.inPlace)), textOf(readModel(network.text.text)));
        QVERIFY(network.doubt.empty());
        QCOMPARE(network.firstLine,
                 1 + static_cast<int>(program.left(program.indexOf("class ")).count('\n')));
    }

    /// What such a class does is more than its layers.
    void leaves_data() {
        QTest::addColumn<QByteArray>("program");
        const auto row = [](const char* name, const QByteArray& members,
                            const QByteArray& forward) {
            QTest::newRow(name) << classWith(members, forward);
        };
        for (const char* forward : {"return self.fc(x) + x",
                                    "y = self.fc(x)\nreturn x",
                                    "return self.fc(x / 255)",
                                    "y = x\nz = self.fc(x)\nreturn z",
                                    "x = self.fc(x)\nx += 1\nreturn x",
                                    "if a:\n    x = self.fc(x)\nreturn x",
                                    "for i in a:\n    x = self.fc(x)\nreturn x",
                                    "return self.fc(x), x",
                                    "return self.fc(x)[0]",
                                    "x, y = self.fc(x)\nreturn x",
                                    "self.fc(x)\nreturn x",
                                    "x = self.fc(x)",
                                    "return self.other(x)",
                                    "return self.fc(x, x)",
                                    "return self.fc(self.fc(x))",
                                    "return F.other(self.fc(x))",
                                    "return F.dropout(self.fc(x))",
                                    "return F.dropout(self.fc(x), 0.5, True)",
                                    "return F.dropout(self.fc(x), p=0.5, training=True)",
                                    "return torch.flatten(self.fc(x))",
                                    "return torch.flatten(self.fc(x), 0)",
                                    "return self.fc(x).view(-1)",
                                    "return self.fc(x).view(4, -1)",
                                    "return self.fc(x.view(-1, x.size(1)))",
                                    "return self.fc(x.T)",
                                    "return self.fc(x).squeeze(-1)",
                                    "return self.fc(x).squeeze()",
                                    "return self.one(x).squeeze(0)",
                                    "return self.one(x).squeeze(-1).softmax(-1)",
                                    "return self.one(self.one(x).squeeze(-1))",
                                    "return self.two(self.one(x).squeeze(-1))",
                                    "return F.relu(x).squeeze(-1)",
                                    "return self.fc(x).mean()",
                                    "return self.fc(x).mean(1)",
                                    "return self.fc(x).mean((1, 2))",
                                    "return self.fc(x).mean((2, 3), dtype=torch.float32)",
                                    "return torch.mean(self.fc(x))",
                                    "return x",
                                    "return F.max_pool2d(self.fc(x), 2, 2, 0, 1, True)",
                                    "return torch.gelu(self.fc(x))",
                                    "x = self.fc(x)\nprint(x.shape)\nreturn x",
                                    "return self.fc(x)\nx = 1",
                                    "return torch.cat([self.fc(x), x], 1)",
                                    "return self.fc.forward(x)"})
            row(forward, kLinear + "\nself.one = nn.Linear(4, 1)\nself.two = nn.Linear(1, 2)",
                forward);
        const QByteArray relu = "return F.relu(self.fc(x))";
        row("function as a member", "self.act = F.relu", "return self.act(x)");
        row("class of its own", "self.block = Block(4)", "return self.block(x)");
        row("set twice", kLinear + "\n" + kLinear, relu);
        row("set in a branch", "if a:\n    " + kLinear, relu);
        row("two names", "self.a = " + kLinear, relu);
        row("weights of its own", kLinear + "\nnn.init.zeros_(self.fc.weight)", relu);
        row("applied", kLinear + "\nself.apply(init)", relu);
        row("all of them", kLinear + "\nfor m in self.modules():\n    init(m)", relu);
        for (const char* part : {"self.fc.bias = None", "self.fc.weight = self.e.weight",
                                 "self.e.weight = self.fc.weight", "self.e = self.fc"})
            row(part, "self.e = nn.Linear(4, 2)\n" + kLinear + "\n" + part, relu);
        row("another rate", kLinear + "\nself.drop = nn.Dropout(0.5)\nself.drop.p = 0.1",
            "return self.drop(self.fc(x))");
        row("number of the class", "self.n = 2\nself.fc = nn.Linear(4, self.n)", relu);
        const QByteArray good = classWith(kLinear, relu);
        QTest::newRow("another base") << QByteArray(good).replace("nn.Module", "Base");
        QTest::newRow("two inputs") << QByteArray(good).replace("(self, x)", "(self, x, y)");
        QTest::newRow("many inputs") << QByteArray(good).replace("(self, x)", "(self, *x)");
        QTest::newRow("changed elsewhere") << good + "    def f(self):\n        self.fc.bias = 0\n";
        QTest::newRow("second class") << good + QByteArray(good).replace("Net", "Other");
        QTest::newRow("half") << good + "net = Net().half()\n";
        QTest::newRow("another network") << good + "a = nn.Sequential(nn.ReLU())\n";
        QTest::newRow("wrapped") << good + "net = DataParallel(Net())\n";
        QTest::newRow("replaced") << good + "net = Net()\nnet = start(net)\n";
        QTest::newRow("training") << good + "net = Net()\ntrain(net)\n";
    }
    void leaves() {
        QFETCH(const QByteArray, program);
        const std::string text = program.toStdString();
        QVERIFY(!ClassNetwork::in(text, BesideClass::Making));
        const std::string said = thrownBy<InputError>([&] { readModel(text); });
        QVERIFY2(said.find("a class is a program") != std::string::npos ||
                     said.find("this is a program") != std::string::npos,
                 said.c_str());
    }

    /// In a program, where a training does not matter.
    void leavesChangedLayers() {
        const std::string made =
            classWith(kLinear, "return F.relu(self.fc(x))").toStdString() + "net = Net()\n";
        for (const char* rest : {"train(net.fc)\n", "y = net.fc\n", "net.loss = 0\n"})
            QVERIFY2(ClassNetwork::in(made + rest, BesideClass::Anything), rest);
        for (const char* rest :
             {"net.fc = nn.Linear(4, 3)\n", "net.fc.bias = None\n",
              "if a:\n    net.fc = nn.ReLU()\n", "Net.forward = f\n",
              "class Big(Net):\n    size = 2\n", "class Big(A, m.Net):\n    size = 2\n"})
            QVERIFY2(!ClassNetwork::in(made + rest, BesideClass::Anything), rest);
    }

    /// modelOfClass() reads it, with the names "0.weight".
    void leavesOneSequential() {
        const QByteArray text =
            classWith("self.net = nn.Sequential(nn.Linear(4, 2))", "return self.net(x)");
        QVERIFY(!ClassNetwork::in(text.toStdString(), BesideClass::Making));
        QCOMPARE(parametersOf(readModel(text.toStdString())).front().name, std::string("0.weight"));
    }

    void namesWeightsAsTheClass() {
        const QByteArray text = classWith("self.body = nn.Sequential(nn.Linear(4, 3), nn.ReLU())\n"
                                          "self.head = nn.Linear(3, 2)",
                                          "return self.head(F.relu(self.body(x)))");
        std::vector<std::string> names;
        for (const NamedParameter& each : parametersOf(readModel(text.toStdString())))
            names.push_back(each.name);
        QCOMPARE(names, (std::vector<std::string>{"body.0.weight", "body.0.bias", "head.weight",
                                                  "head.bias"}));
    }

    /// Those of a network alone, too.
    void takesArgumentsOfASequential() {
        const QByteArray net = classWith("self.net = nn.Sequential(nn.Linear(4, n), nn.ReLU())",
                                         "return self.net(x)", "self, n=8");
        for (const QByteArray& text : {net, net + "net = Net(8).to(device)\n"})
            for (const std::string& read :
                 {text.toStdString(), networkIn(text.toStdString()).text.text}) {
                const ModelSpec model = readModel(read);
                QCOMPARE(runsOf(model.root), QString("net=Sequential[0=Linear(4,8) 1=ReLU()]"));
            }
    }

    /// A layer that is refused is named by its line, also below numbers of arguments.
    void namesLines() {
        const QByteArray text = classWith("self.a = nn.Linear(4, n)\nself.b = nn.LSTM(4, 2)",
                                          "return self.b(self.a(x))", "self, n=8");
        const std::string pasted = thrownBy<InputError>([&] { readModel(text.toStdString()); });
        QVERIFY2(pasted.starts_with("line 5, column 18: \"nn.LSTM\" is not a layer"),
                 pasted.c_str());
        const std::string opened = thrownBy<InputError>([&] { networkIn(text.toStdString()); });
        QVERIFY2(opened.find("line 5, column 18: \"nn.LSTM\"") != std::string::npos,
                 opened.c_str());
        const QByteArray product =
            classWith("self.a = nn.Linear(4, 2 * k)", "return self.a(x).relu()", "self, n=8");
        const std::string number = thrownBy<InputError>([&] { readModel(product.toStdString()); });
        QVERIFY2(number.starts_with("line 4, column 35: found \"k\""), number.c_str());
        const QByteArray difference = QByteArray(text).replace("n=8", "n=16 - 1");
        const std::string unread =
            thrownBy<InputError>([&] { readModel(difference.toStdString()); });
        QVERIFY2(unread.starts_with("line 4, column 31: Linear: out_features=n"), unread.c_str());
        for (const char* init : {"self", "self, n=8"}) {
            const QByteArray pool =
                classWith(kLinear, "x = self.fc(x)\nreturn F.max_pool2d(x, 0)", init);
            const std::string function =
                thrownBy<InputError>([&] { readModel(pool.toStdString()); });
            QVERIFY2(function.starts_with("line 8, column 26: "), function.c_str());
        }
    }

    /// Other texts are data to train on.
    void tellsNetworksFromTexts_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<bool>("network");
        const QByteArray good = classWith(kLinear, "return F.relu(self.fc(x))");
        QTest::newRow("class") << "net.txt" << good << true;
        QTest::newRow("Sequential") << "NET.TXT" << QByteArray("nn.Sequential(A())") << true;
        QTest::newRow("other name") << "net.csv" << good << false;
        QTest::newRow("a story") << "net.txt" << QByteArray("Once upon a time") << false;
        QTest::newRow("a call") << "net.txt" << QByteArray("print(1)") << false;
        QTest::newRow("a program") << "net.txt" << good + "net = Net()\ntrain(net)\n" << false;
    }
    void tellsNetworksFromTexts() {
        QFETCH(const QString, name);
        QFETCH(const QByteArray, text);
        QFETCH(const bool, network);
        const QTemporaryDir folder;
        QFile file(folder.filePath(name));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write(text);
        file.close();
        QCOMPARE(isNetworkFile(file.fileName().toStdString()), network);
        QVERIFY(!isNetworkFile(folder.filePath("none.txt").toStdString()));
    }

    /// So does one of ten times as many arguments, of which hundreds are not looked for.
    void takesTimeInProportionToArguments() {
        const auto timed = [](int arguments, int statements) {
            QByteArray list = "self", given;
            for (int i = 0; i < arguments; ++i) {
                list += ",a";
                given += "b,";
            }
            const std::string text =
                (classWith(kLinear, "return F.relu(self.fc(x))", list) + "net = Net(" + given +
                 ")\n" + QByteArray("c = 1 + 2\n").repeated(statements))
                    .toStdString();
            double best = std::numeric_limits<double>::max();
            for (int i = 0; i < 3; ++i) {
                const double start = test::processorMs();
                ClassNetwork::in(text, BesideClass::Anything);
                best = std::min(best, test::processorMs() - start);
            }
            return best;
        };
        const double small = timed(1400, 0), large = timed(14000, 0);
        QVERIFY2(large < 40 * small, qPrintable(QString("%1 %2").arg(small).arg(large)));
        const double none = timed(0, 4500), most = timed(190, 4500);
        QVERIFY2(most < 15 * none, qPrintable(QString("%1 %2").arg(none).arg(most)));
    }

    /// A class of ten times as many layers takes no more than forty times the processor's time: no
    /// layer is looked up in all lines of the program.
    void takesTimeInProportion() {
        const auto timed = [](int layers) {
            QByteArray members = kLinear, forward = "x = self.fc(x)";
            for (int i = 0; i < layers; ++i) {
                const QByteArray name = "self.a" + QByteArray::number(i);
                members += "\n" + name + " = nn.Tanh()";
                forward += "\nx = " + name + "(x)";
            }
            const std::string text = classWith(members, forward + "\nreturn x").toStdString();
            double best = std::numeric_limits<double>::max();
            for (int i = 0; i < 3; ++i) {
                const double start = test::processorMs();
                [&] { QCOMPARE(networkIn(text).text.unknown.size(), size_t{0}); }();
                best = std::min(best, test::processorMs() - start);
            }
            return best;
        };
        const double small = timed(90), large = timed(900);
        QVERIFY2(large < 40 * small, qPrintable(QString("%1 %2").arg(small).arg(large)));
    }

    /// The names of a program are not kept for each layer, where a number stands before each.
    void takesLittleMemory() {
        constexpr int kLayers = 800;
        QByteArray members = kLinear, forward = "x = self.fc(x)";
        for (int i = 0; i < kLayers; ++i) {
            const QByteArray number = QByteArray::number(i);
            members += "\nn" + number + "=2\nself.a" + number + "=nn.Linear(n" + number + ",2)";
            forward += "\nx=self.a" + number + "(x)";
        }
        const std::string text = classWith(members, forward + "\nreturn x").toStdString();
        QVERIFY(text.size() <= lang::kMaxTextBytes);
        std::optional<AddressLimit> limit; // sanitizers map more for themselves
        if (!test::kUnderSanitizer) limit.emplace(size_t{24} << 20);
        QCOMPARE(networkIn(text).text.numbers.size(), size_t{kLayers});
    }

    /// What the program gives to __init__() where it makes the network.
    void takesArguments_data() {
        QTest::addColumn<QByteArray>("program");
        QTest::addColumn<QString>("layers");
        const auto row = [](const char* name, const QByteArray& arguments, const QByteArray& above,
                            const QByteArray& behind, const char* sizes) {
            const QByteArray net = classWith("self.fc = nn.Linear(a, b)",
                                             "return F.relu(self.fc(x))", "self, " + arguments);
            QTest::newRow(name) << above + net + behind
                                << QString("fc=Linear(%1) relu=ReLU()").arg(sizes);
        };
        row("numbers", "a, b", "", "net = Net(784, 10).to(device)\n", "784,10");
        row("products", "a, b=28 * 28", "", "net = Net(2 * 8)\n", "16,784");
        row("names of arguments", "a=3, b=4", "", "net = Net(b = 5)\nprint(Net(b=5))\n", "3,5");
        row("in lines", "a: int, b: int", "", "net = Net(\n    7, # in\n    b=5,\n)\n", "7,5");
        row("names of numbers", "a, b", "",
            "size = 28 * 28\nclasses = 10\nnet = Net(size, classes)\n", "784,10");
        row("the same names", "a, b", "", "a = 4\nb = 3\nnet = Net(a, b)\n", "4,3");
        row("the same names above", "a, b", "a = 4\nb = 3\n", "net = Net(a, b=b)\n", "4,3");
        row("in a function", "a, b", "",
            "def main():\n    size = 9\n    net = Net(size, 2)\n    train(net)\n", "9,2");
        row("names of other functions", "a=3, b=4", "def f(a):\n    b = 5\n",
            "def g(b=6):\n    a = 7\nnet = Net()\n", "3,4");
        row("twice alike", "a, b", "", "fp32 = Net(4, 2)\namp = Net(4,2)\n", "4,2");
        row("by place alone", "a, /, b=8", "", "net = Net(1, 32)\n", "1,32");
        row("behind a list", "a, *more, b=8", "", "net = Net(1, 32)\n", "1,8");
        row("with comments", "\n        a=3,  # inputs, b\n        b=4,  # outputs\n    ", "",
            "net = Net(\n    7  # seven\n)\n", "7,4");
        row("quotients", "a, b=16 // 2", "", "net = Net(4)\n", "4,8");
        row("a comma at the end", "a, b=16", "", "net = Net(\n    2,\n)\n", "2,16");
        row("no arguments in two lines", "a=3, b=16", "", "net = Net(\n)\n", "3,16");
        row("a name and a comma", "a=3, b=16", "", "net = Net(b=5,\n)\n", "3,5");
        row("types", "a, b=16", "def make() -> Net:\n    return f()\n",
            "def train(net: Optional[Net], x):\n    assert isinstance(net, Net)\nnet: Net = "
            "Net(2)\n",
            "2,16");
    }
    void takesArguments() {
        QFETCH(const QByteArray, program);
        QFETCH(const QString, layers);
        QCOMPARE(runsOf(readModel(networkIn(program.toStdString()).text.text).root), layers);
    }

    void takesNegativeArguments() {
        const auto layers = [](const QByteArray& made) {
            const QByteArray net =
                classWith("self.fc = nn.Linear(4, n)\nself.scores = nn.Softmax(dim=dim)",
                          "return self.scores(self.fc(x))", "self, n=8, dim=-1");
            return runsOf(readModel(networkIn((net + made).toStdString()).text.text).root);
        };
        QCOMPARE(layers(""), QString("fc=Linear(4,8) scores=Softmax(dim=-1)"));
        QCOMPARE(layers("net = Net(dim=-2)\n"), QString("fc=Linear(4,8) scores=Softmax(dim=-2)"));
    }

    /// They are no networks, though they have a forward().
    void readsBesideLosses() {
        const QByteArray loss = "class RMSELoss(nn.Module):\n    def __init__(self):\n"
                                "        super().__init__()\n        self.mse = nn.MSELoss()\n"
                                "    def forward(self, yhat, y):\n"
                                "        return torch.sqrt(self.mse(yhat, y))\n";
        const QByteArray net = classWith(kLinear, "return F.relu(self.fc(x))");
        for (const QByteArray& text : {loss + net, net + loss, net + loss + "x = f(Net())\n"})
            QCOMPARE(runsOf(readModel(networkIn(text.toStdString()).text.text).root),
                     QString("fc=Linear(4,2) relu=ReLU()"));
        const auto classOf = [](const char* init, const char* forward, const char* arguments) {
            return QByteArray("class Other(nn.Module):\n    def __init__(self, model):\n"
                              "        super().__init__()\n        ") +
                   init + "\n    def forward(" + arguments + "):\n        " + forward + "\n";
        };
        const QByteArray none[] = {
            classOf("pass", "return x + 0.1 * torch.randn_like(x)", "self, x"),
            classOf("self.inner = nn.L1Loss()", "return self.inner(p, t)", "self, p, t"),
            classOf("self.model = model.cuda()", "out = self.model(x)\n        return out",
                    "self, x")};
        for (const QByteArray& other : none)
            QCOMPARE(runsOf(readModel(networkIn((other + net).toStdString()).text.text).root),
                     QString("fc=Linear(4,2) relu=ReLU()"));
        const QByteArray some[] = {
            classOf("self.w = nn.Parameter(torch.ones(3))", "return adj @ x @ self.w",
                    "self, x, adj"),
            classOf("self.blocks = model", "for b in self.blocks: x = b(x)", "self, x, mask=None"),
            classOf("self.parts = model", "return self.parts[key](x)", "self, x, key"),
            classOf("self.body = Net()", "return F.mse_loss(self.body(x), y)", "self, x, y")};
        for (const QByteArray& other : some) {
            const std::string refusal =
                thrownBy<InputError>([&] { networkIn((other + net).toStdString()); });
            QVERIFY2(refusal.find("there are 2 networks in this program") != std::string::npos,
                     (other.toStdString() + refusal).c_str());
        }
        const QByteArray pair = "class Pair(nn.Module):\n    def forward(self, a, b):\n"
                                "        return self.net(a) - self.net(b)\n";
        const std::string said =
            thrownBy<InputError>([&] { networkIn((net + pair).toStdString()); });
        QVERIFY2(said.find("there are 2 networks in this program, the classes Net, Pair") !=
                     std::string::npos,
                 said.c_str());
    }

    /// A class that is pasted may be made with arguments behind it.
    void takesArgumentsWherePasted() {
        const QByteArray net =
            classWith("self.fc = nn.Linear(a, b)", "return F.relu(self.fc(x))", "self, a, b");
        const std::string text =
            (net + "size = 784\nnet = Net(size, 10).to(device)\n").toStdString();
        QCOMPARE(runsOf(readModel(text).root), QString("fc=Linear(784,10) relu=ReLU()"));
    }

    /// A number that a caller may give, or that has a name twice, is not known.
    void asksForArguments() {
        const QByteArray net =
            classWith("self.fc = nn.Linear(4, n)", "return F.relu(self.fc(x))", "self, n=8");
        for (const QByteArray& text :
             {net + "net = Net(n=k)\n", net + "one = Net(4)\ntwo = Net(5)\n",
              net + "one = Net()\ntwo = Net(5)\n", net + "net = Net(*sizes)\n",
              net + "k = 4\nk = 5\nnet = Net(k)\n", net + "k = 4\nk += 1\nnet = Net(k)\n",
              net + "k = 4\nfor k in all:\n    net = Net(k)\n",
              net + "k = 4\ndef make(k):\n    return Net(k)\n", net + "n = 4\nnet = Net(5)\n",
              net + "k = f(4)\nnet = Net(k)\n", net + "net = Net(args.n)\n", net + "nets = [Net]\n",
              net + "net = Net.load(n=4)\n", "n = 5\n" + net, net + "nets = {a: 1, b: Net}\n",
              net + "def make(of=Net):\n    return of(4)\n",
              net + "def make(of=lambda: Net):\n    return of()(n=4)\n"}) {
            const std::string said = thrownBy<InputError>([&] { networkIn(text.toStdString()); });
            QVERIFY2(said.find("an argument of a function has no value here (n)") !=
                         std::string::npos,
                     (text.toStdString() + said).c_str());
        }
    }
};

} // namespace tst_class_network

QTEST_APPLESS_MAIN(tst_class_network::TestClassNetwork)
#include "tst_class_network.moc"
