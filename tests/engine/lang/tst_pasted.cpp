// Models as they are pasted from programs, terminals and pages: what stands around a model, and
// numbers that are worked out, change nothing. tst_syntax has the language itself.
#include "engine/core/error.h"
#include "engine/lang/found_models.h"
#include "engine/lang/pasted.h"
#include "engine/lang/python.h"
#include "engine/lang/syntax.h"
#include "engine/models/model_spec.h"

#include <QTest>

namespace tst_pasted {

using namespace halfscope;

namespace {

void addTexts(std::initializer_list<const char*> texts) {
    QTest::addColumn<QByteArray>("text");
    for (const char* text : texts)
        QTest::newRow(text) << QByteArray(text);
}

} // namespace

class TestPasted : public QObject {
    Q_OBJECT

private slots:
    /// The model alone is left.
    void readsWhatStandsAround_data() {
        addTexts({">>> model = B(\n...     1)",
                  ">>> import torch\n>>> B(1)\n",
                  "```python\nB(1)\n```",
                  "~~~\nB(1)\n~~~\n",
                  "  ```\r\nB(1)\r\n```\r\n",
                  "```\xE2\x80\xA8>>> B(1)\xE2\x80\xA8```",
                  "B(1);",
                  "import torch; model = B(1);  # end",
                  "B(1).to(device);",
                  "model = \\\n    B(1)",
                  "model = B( \\\r\n    1)",
                  "model: nn.Module = B(1)",
                  "net : torch.nn.Sequential=B(1)",
                  "return B(1)",
                  "    return B(1)",
                  "\"\"\"A \"model\"\nof mine\"\"\"\nmodel = B(1)",
                  "'''A'''; B(1)",
                  "\"\"\"A\"\"\"\nimport torch\nB(1)",
                  "B(*[1])",
                  "B(*[], 1)"});
    }
    void readsWhatStandsAround() {
        QFETCH(QByteArray, text);
        QCOMPARE(lang::textOf(lang::parse(text.toStdString())), std::string("B(1)"));
    }

    void worksNumbersOut_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("value");
        const auto row = [](const char* text, const char* value) {
            QTest::newRow(text) << QByteArray(text) << value;
        };
        row("512 // 2", "256");
        row("-7 // 2", "-4");
        row("7.5 // 2", "3.0");
        row("7.0 // 0.1", "69.0");
        row("-7.5 // 2", "-4.0");
        row("7.5 // -2.5", "-3.0");
        row("-1 // 0.1", "-10.0");
        row("2**8", "256");
        row("28 ** 2 * 3", "2352");
        row("2 * 3**2 // 4", "4");
        row("2 ** 0.5 * 0", "0.0");
        row("7 / 2", "3.5");
        row("8 / 2 * 3", "12.0");
        row("int(7 / 2)", "3");
        row("n = 7\nA(int(n/2), int(-7 / 2) * 2)", "A(3, -6)");
        row("a, b = 3, 2 * 2\nA(a, b)", "A(3, 4)");
        row("a, b = 1, 2; a, b = b, a\nb = 3 * b\nA(a, b)", "A(2, 3)");
        row("a, b = 2, -1.0\nmodel = A(k=a, l=b)", "A(k=2, l=-1.0)");
        row("import torch.nn as tnn\ntnn.A(tnn.B())", "nn.A(nn.B())");
        row("from torch import nn as n\nm = n.A(nn.B())", "nn.A(nn.B())");
        row("A(*(1, B(2)))", "A(1, B(2))");
        row("bs = [1, B(2)]\nA(*bs, *bs, c=3)", "A(1, B(2), 1, B(2), c=3)");
        row("bs = [1]\nbs = [2]\nA(bs, *bs)", "A(bs, 2)");
        row("hidden = 256\nA(hidden, hidden // 2, 2*hidden)", "A(256, 128, 512)");
        row("import torch\nn: int = 3; m = 2 * n\nmodel = A(m ** 2, k=n)", "A(36, k=3)");
        row("n = 1\nn = 2\nA(n, n=n)", "A(2, n=2)");
        row("self.n = 4\nself.net = A(self.n)", "A(4)");
        row("p = 0.5\nA(p, q)", "A(0.5, q)");
        row("n = 3", "3");
        row("A({'a': 1, \"b\": B(2),})", "A([('a', 1), ('b', B(2))])");
        row("A(*[1, B(2)], c=3)", "A(1, B(2), c=3)");
    }
    void worksNumbersOut() {
        QFETCH(QByteArray, text);
        QFETCH(QString, value);
        QCOMPARE(QString::fromStdString(lang::textOf(lang::parse(text.toStdString()))), value);
    }

    /// Whatever is skipped, the editor marks the right place.
    void placesStay() {
        const lang::Value v = lang::parse("```\n>>> n = 2\n>>> A(1, \\\n...   n, n * 2)\n```");
        QCOMPARE(v.place.line, 3);
        QCOMPARE(v.place.column, 5);
        QCOMPARE(v.arguments.at(1).value.place.line, 4);
        QCOMPARE(v.arguments.at(1).value.place.column, 7);
        QCOMPARE(v.arguments.at(2).value.place.column, 10);
        QCOMPARE(lang::withoutMarks(">>> a\n...\n..x ...\n>>>b"),
                 std::string("    a\n   \n..x ...\n>>>b"));
    }

    void namesLayers_data() {
        addTexts({"Sequential(OrderedDict([('a', Tanh()), ('b', ReLU())]))",
                  "Sequential(OrderedDict({'a': Tanh(), 'b': ReLU()}))",
                  "Sequential(OrderedDict(a=Tanh(), b=ReLU()))",
                  "nn.Sequential(collections.OrderedDict(a=nn.Tanh(), b=nn.ReLU()))"});
    }
    void namesLayers() {
        QFETCH(QByteArray, text);
        const std::string printed = "Sequential(\n  (a): Tanh()\n  (b): ReLU()\n)";
        QCOMPARE(textOf(readModel(text.toStdString())), printed);
    }

    /// print() shows equal parts of a ModuleList once.
    void readsRepeatedParts() {
        QCOMPARE(textOf(readModel("Sequential(\n  (0-1): 2 x Tanh()\n  (2): ReLU()\n)")),
                 std::string("Sequential(\n  (0): Tanh()\n  (1): Tanh()\n  (2): ReLU()\n)"));
        const lang::Value value = lang::parse("A((1-2): 2 x B((0): C(3)), (x): D(1))");
        QCOMPARE(lang::textOf(value), std::string("A(1=B(0=C(3)), 2=B(0=C(3)), x=D(1))"));
        QVERIFY(value.arguments[1].printed);
    }

    /// A class that does no more than run a network is read as that network, in its place.
    void readsClasses_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("line");
        const auto row = [](const char* name, const char* text, int line) {
            QTest::newRow(name) << QByteArray(text) << line;
        };
        row("alone",
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.net = nn.Sequential(\n            nn.Linear(2, 8),\n        )\n\n"
            "    def forward(self, x):\n        return self.net(x)\n",
            4);
        row("with all that may be there",
            "\"\"\"My network.\"\"\"\r\nimport torch\r\nhidden = 8  # units\r\n\r\n"
            "class Net(torch.nn.Module):\r\n    'A class.'\r\n"
            "    def __init__(self):\r\n        super(Net, self).__init__()\r\n        two = 2\r\n"
            "        self.layers = torch.nn.Sequential(nn.Linear(two, hidden))  # all\r\n\r\n"
            "    def forward(self, x: torch.Tensor) -> torch.Tensor:\r\n"
            "        \"\"\"Runs self.layers.\"\"\"\r\n        # nothing else\r\n"
            "        return self.layers(x)  # scores\r\n",
            10);
        row("with what makes it",
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.n = nn.Sequential(nn.Linear(2, 8))\n    def forward(self, x):\n"
            "        return self.n(x)\n\nnet = Net().to(device)\nprint(net)\n"
            "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n",
            4);
        row("of a one-line editor",
            "class Net(nn.Module):\xE2\x80\xA8 def __init__(self):\xE2\x80\xA8  self.n = "
            "nn.Sequential(nn.Linear(2, 8))\xE2\x80\xA8 def forward(self, x):\xE2\x80\xA8  "
            "return self.n(x)",
            3);
    }
    void readsClasses() {
        QFETCH(const QByteArray, text);
        QFETCH(const int, line);
        const ModelSpec model = readModel(text.toStdString());
        QCOMPARE(textOf(model), std::string("Sequential(\n  (0): Linear(in_features=2, "
                                            "out_features=8, bias=True)\n)"));
        QCOMPARE(lang::parse(text.toStdString()).place.line, line);
    }

    /// Lines that leave the network as it is.
    void leavesIdleCode_data() {
        const char* network = "model = nn.Sequential(nn.Linear(2, 8), nn.ReLU())";
        QTest::addColumn<QByteArray>("text");
        const auto row = [&](const QByteArray& above, const QByteArray& below) {
            QTest::newRow((above + below).constData()) << above + network + "\n" + below;
        };
        row("import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
            "torch.manual_seed(0)\nlr, epochs = 0.1, 3\n",
            "model = model.to(device)\nprint(model, device)\n"
            "optimizer = torch.optim.SGD(model.parameters(), lr=lr)\n"
            "criterion = nn.CrossEntropyLoss()  # scores\n");
        for (const char* below :
             {"model.train()", "model.eval(); model.cuda(); print(1)", "from torch import optim",
              "n = sum(p.numel() for p in model.parameters())", "y = model(x).argmax(dim=1)",
              "model(torch.randn(1, 2)).shape", "fast = torch.compile(model)", "a, b = f(c)"})
            row("", below);
        QTest::newRow("compiled") << QByteArray("model = torch.compile(nn.Sequential(nn.Linear(2, "
                                                "8), nn.ReLU()), mode='default')");
        QTest::newRow("a list") << QByteArray("layers = [nn.Linear(2, 8), nn.ReLU()]\n"
                                              "model = nn.Sequential(*layers)\nprint(layers[0])");
        QTest::newRow("a layer") << QByteArray("act = nn.ReLU()\nfc = nn.Linear(2, 8)\n"
                                               "nn.Sequential(fc, act)");
    }
    void leavesIdleCode() {
        QFETCH(const QByteArray, text);
        QCOMPARE(pythonOf(readModel(text.toStdString()), ""),
                 std::string("nn.Sequential(\n    nn.Linear(2, 8),\n    nn.ReLU(),\n)"));
    }

    /// What may change the network, or is a second one.
    void refusesOtherCode_data() {
        QTest::addColumn<QByteArray>("text");
        const QByteArray network = "model = nn.Sequential(nn.Linear(2, 8), nn.ReLU())\n";
        for (const char* below :
             {"model.half()", "model = model.half()", "model = model.to(torch.float16)",
              "model.append(nn.ReLU())", "model = Net(model)", "net = wrap(model)", "start(model)",
              "model[0] = nn.Linear(2, 4)", "model.fc = nn.Linear(2, 4)", "model += other",
              "x = [nn.init.zeros_(p) for p in model.parameters()]", "critic = nn.Sequential(A())",
              "x = model.apply(f)", "head = nn.Linear(8, 2)", "for x in y: model(x)",
              "layer = model[0]", "a = model = f()"})
            QTest::newRow(below) << network + below;
        for (const char* above : {"layers = [nn.Linear(2, 8)]\nlayers.append(nn.ReLU())\n",
                                  "layers = [nn.Linear(2, 8)]\nlayers += [nn.ReLU()]\n",
                                  "layers = f()\n", "start()\nlayers = [nn.ReLU()]\n"})
            QTest::newRow(above) << above + QByteArray("model = nn.Sequential(*layers)");
        QTest::newRow("shared weights") << QByteArray("fc = nn.Linear(2, 2)\n"
                                                      "nn.Sequential(fc, nn.ReLU(), fc)");
        QTest::newRow("shared list") << QByteArray("layers = [nn.Linear(2, 2)]\n"
                                                   "nn.Sequential(*layers, *layers)");
        QTest::newRow("shared names") << QByteArray("d = OrderedDict([('a', nn.Linear(2, 2))])\n"
                                                    "nn.Sequential(nn.Sequential(d), "
                                                    "nn.Sequential(d))");
        for (const char* changed : {"drop.p = 0.1", "m = 1\ndrop.p, n = 0.1, 2"})
            QTest::newRow(changed) << "drop = nn.Dropout(0.5)\n" + QByteArray(changed) +
                                          "\nnn.Sequential(nn.Linear(2, 2), drop)";
        QTest::newRow("no network") << QByteArray("fc = nn.Linear(2, 2)\nloss = nn.ReLU()");
    }
    void refusesOtherCode() {
        QFETCH(const QByteArray, text);
        QVERIFY_THROWS_EXCEPTION(InputError, readModel(text.toStdString()));
    }

    /// Each place of a layer without weights is a layer of its own.
    void readsLayersTwice() {
        QCOMPARE(
            pythonOf(readModel("act = nn.ReLU()\nnn.Sequential(act, nn.Linear(2, 2), act)"), ""),
            std::string("nn.Sequential(\n    nn.ReLU(),\n    nn.Linear(2, 2),\n    "
                        "nn.ReLU(),\n)"));
    }

    /// What a class does beside its network would be lost.
    void leavesOtherClasses_data() {
        const std::string begin = "class Net(nn.Module):\n    def __init__(self):\n"
                                  "        super().__init__()\n        self.net = ";
        const std::string network = "nn.Sequential(nn.Linear(2, 8))";
        const std::string forward = "\n    def forward(self, x):\n        ";
        QTest::addColumn<QByteArray>("text");
        const auto row = [&](const char* name, const std::string& rest) {
            QTest::newRow(name) << QByteArray::fromStdString(begin + rest);
        };
        row("another input", network + forward + "return self.net(x.flatten(1))");
        row("a statement before", network + forward + "x = x / 255\n        return self.net(x)");
        row("an activation behind", network + forward + "return self.net(x).relu()");
        row("an activation around", network + forward + "return torch.relu(self.net(x))");
        row("weights of its own",
            network + "\n        init(self.net[0])" + forward + "return self.net(x)");
        row("half", network + ".half()" + forward + "return self.net(x)");
        row("two networks",
            network + "\n        other = " + network + forward + "return self.net(x)");
        row("no forward", network);
        row("more behind it", network + forward + "return self.net(x)\nmodel = Net().half()");
    }
    void leavesOtherClasses() {
        QFETCH(const QByteArray, text);
        QVERIFY(lang::modelOfClass(text.toStdString()).empty());
        QVERIFY_THROWS_EXCEPTION(InputError, lang::parse(text.toStdString()));
    }

    void readsPrograms() {
        const std::string text = "\"\"\"My network.\"\"\"\nimport torch\nfrom torch import nn\n\n"
                                 "hidden = 256\n"
                                 "model: nn.Module = nn.Sequential(*[\n"
                                 "    nn.Linear(28**2, hidden, device=device),\n"
                                 "    nn.ReLU(),\n"
                                 "    nn.Linear(hidden, hidden // 2, dtype=torch.float32),\n"
                                 "]).to(device);\n";
        QCOMPARE(pythonOf(readModel(text), ""),
                 std::string("nn.Sequential(\n    nn.Linear(784, 256),\n    nn.ReLU(),\n"
                             "    nn.Linear(256, 128),\n)"));
    }
};

} // namespace tst_pasted

QTEST_APPLESS_MAIN(tst_pasted::TestPasted)
#include "tst_pasted.moc"
