// The network of a program: what is taken of it, and why it is not.
#include "engine/core/error.h"
#include "engine/lang/syntax.h"
#include "engine/models/program_network.h"
#include "tests/support/processor_time.h"
#include "tests/support/thrown.h"

#include <QTest>

namespace tst_program_network {

using namespace halfscope;

namespace {

const QByteArray kNet = "self.net = nn.Sequential(nn.Linear(2, 8))";

/// Returns a class of four lines and its forward() in line 5.
QByteArray classWith(const QByteArray& forward, const QByteArray& arguments = "self") {
    return "class Net(nn.Module):\n    def __init__(" + arguments +
           "):\n        super().__init__()\n        " + kNet +
           "\n    def forward(self, x):" + forward + "\nmodel = Net()\n";
}

} // namespace

class TestProgramNetwork : public QObject {
    Q_OBJECT

private slots:
    void doubtsForward_data() {
        QTest::addColumn<QByteArray>("program");
        QTest::addColumn<QString>("doubt");
        const auto row = [](const char* name, const QByteArray& program, const char* doubt) {
            QTest::newRow(name) << program << QString(doubt);
        };
        const char* more = "forward() in line 5 does more than run self.net";
        row("alone", classWith("\n        return self.net(x)"), "");
        row("in one line", classWith(" return self.net(x)"), "");
        row("with words",
            classWith("\n        '''Runs it.'''\n        # all\n"
                      "        return self.net( x )  # scores"),
            "");
        row("scaled", classWith("\n        return self.net(x) * 64.0"), more);
        row("in one line, scaled", classWith(" return 64 * self.net(x)"), more);
        row("prepared", classWith("\n        x = x / 255\n        return self.net(x)"), more);
        row("another layer", classWith("\n        return self.net(x + self.stem(x)) * 64.0"),
            "forward() in line 5 does more than run self.net: it also uses self.stem");
        row("others", classWith("\n        x = self.a(x)\n        return self.b.c(self.net(x))"),
            "forward() in line 5 does more than run self.net: it also uses self.a, self.b");
        row("not by its name",
            classWith(" return self.net(x)").replace(kNet, "self.net = f(" + kNet.mid(11) + ")"),
            "forward() in line 5 does more than run nn.Sequential: it also uses self.net");
        row("no forward", classWith("").replace("forward", "backward"), "");
        row("no class", "net = " + kNet.mid(11), "");
        const auto outside = [&](const char* name, const QByteArray& init, const QByteArray& list,
                                 const QByteArray& result, const char* doubt) {
            row(name,
                "net = " + kNet.mid(11) + "\nclass Net(nn.Module):\n    def __init__(self" + list +
                    "):\n        super().__init__()\n" + init +
                    "    def forward(self, x):\n        return " + result + "\n",
                doubt);
        };
        outside("above its class", "", "", "64 * net(x)",
                "forward() in line 5 does more than run net");
        outside("above its class, alone", "", "", "net(x)", "");
        outside("kept by its class", "        self.body = net\n", "", "self.body(x) / 8",
                "forward() in line 6 does more than run self.body");
        outside("kept by its class, alone", "        self.body = net\n", "", "self.body(x)", "");
        outside("wrapped by its class", "        self.body = wrap(net)\n", "", "self.body(x)",
                "forward() in line 6 does more than run net: it also uses self.body");
        const char* apart =
            "this program has one nn.Sequential(...), but a class with a forward(), "
            "too: Net";
        outside("given to a class", "        self.body = net\n", ", net", "self.body(x) / 8",
                apart);
        outside("given to a class, alone", "        self.body = net\n", ", net", "self.body(x)",
                "");
        outside("beside a class", "        self.a = A()\n", "", "torch.log(self.a(x))", apart);
        row("other class",
            "class Other:\n    def forward(self, x):\n        return x\nnet = " + kNet.mid(11), "");
        row("other class below",
            classWith(" return self.net(x)") +
                "class Other:\n    def forward(self, x):\n        return self.a(x)\n",
            "");
        const QByteArray critic = "class Critic(nn.Module):\n    def __init__(self):\n"
                                  "        super().__init__()\n        self.a = nn.Linear(2, 1)\n"
                                  "    def forward(self, x):\n        y = self.a(x)\n"
                                  "        return torch.log(y * y)\n";
        row("another network", classWith(" return self.net(x)") + critic,
            "this program has one nn.Sequential(...), but 2 classes with a forward(): Net, Critic");
        row("a network of two inputs",
            classWith(" return self.net(x)") + QByteArray(critic).replace("self, x", "self, x, t"),
            "this program has one nn.Sequential(...), but 2 classes with a forward(): Net, Critic");
        const QByteArray losses =
            "class RMSELoss(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.mse = nn.MSELoss()\n    def forward(self, yhat, y):\n"
            "        return torch.sqrt(self.mse(yhat, y))\nclass Dice(nn.Module):\n"
            "    def forward(self, p, t, smooth=1):\n        return (p * t).sum() / self.all\n";
        row("losses", classWith(" return self.net(x)") + losses, "");
        row("losses beside no class", losses + "net = " + kNet.mid(11), "");
    }
    void doubtsForward() {
        QFETCH(const QByteArray, program);
        QFETCH(const QString, doubt);
        const ProgramNetwork network = networkIn(program.toStdString());
        QCOMPARE(QString::fromStdString(network.doubt.english()), doubt);
        QCOMPARE(network.text.text, kNet.mid(11).toStdString());
    }

    /// A statement within many classes is read once, not once for each.
    void readsNestedClassesOnce() {
        constexpr int kClasses = 400;
        QByteArray program;
        for (int i = 0; i < kClasses; ++i)
            program += QByteArray(i, ' ') + "class A(nn.Module):\n";
        program += QByteArray(kClasses, ' ') + QByteArray("x;").repeated(200'000) + "\n";
        const double start = test::processorMs();
        QVERIFY(networkIn((program + "net = " + kNet.mid(11)).toStdString()).doubt.empty());
        QVERIFY(test::processorMs() - start < 1500);
    }

    void refuses_data() {
        QTest::addColumn<QByteArray>("program");
        QTest::addColumn<QString>("reason");
        const auto row = [](const char* name, const QByteArray& program, const char* reason) {
            QTest::newRow(name) << program << QString(reason);
        };
        row("none", "import torch\n", "there is no nn.Sequential(...) in this program ");
        row("long", "x = 1\n" + QByteArray(lang::kMaxTextBytes, '\n'),
            "of a program with more than 65536 bytes no class is read");
        row("blocks", "a = nn.Sequential(A())\nb = nn.Sequential(B())\n",
            "in lines 1 and 2 for example; copy the one that is meant into Layers; if they are "
            "parts of one network, paste what print(model) shows there, and Residual(..., "
            "shortcut=...) stands for a block that adds its input");
        const QByteArray layers = "class A(nn.Module):\n    def __init__(self):\n"
                                  "        self.a = nn.Linear(4, 4)\n"
                                  "    def forward(self, x):\n        return self.a(x).relu()\n";
        const char* two = "there are 2 networks in this program, the classes A, Net; copy the one "
                          "that is meant into Layers; if they are parts of one network, paste what "
                          "print(model) shows there, and Residual(..., shortcut=...) stands for a "
                          "block that adds its input";
        row("classes", layers + QByteArray(layers).replace("A(", "Net("), two);
        row("classes with models",
            classWith(" return self.net(x)").replace("Net(", "A(") +
                classWith(" return self.net(x)"),
            two);
        row("a class beside a data set",
            "class Data(Dataset):\n    def forward(self): pass\nclass Loss(nn.Module): pass\n" +
                QByteArray(layers).replace("forward", "run"),
            "there is no nn.Sequential(...) in this program ");
        const auto argument = [&](const char* name, const char* inside, const QByteArray& list,
                                  const char* reason) {
            row(name,
                "width = 4\n" +
                    classWith(" return self.net(x)", list).replace("8)", QByteArray(inside) + ")"),
                reason);
        };
        argument(
            "argument", "n", "self, n, width=2",
            "; an argument of a function has no value here (n): give it a default, as in n=64, "
            "and make the class without it, or write a number in its place");
        row("argument of a class that is read layer by layer",
            "class Net(nn.Module):\n    def __init__(self, n):\n        self.a = nn.Linear(4, n)\n"
            "    def forward(self, x):\n        return F.relu(self.a(x))\n",
            "; an argument of a function has no value here (n): give it a default, as in n=64, ");
        row("argument of a method",
            "class Net(nn.Module):\n    def __init__(self):\n        self._build(8)\n"
            "    def _build(self, n=64):\n        self.net = nn.Sequential(nn.Linear(4, n))\n"
            "    def forward(self, x):\n        return self.net(x)\n",
            "; an argument of a function has no value here (n): write a number in its place, or "
            "copy the network by itself, with a line such as n = 64 above it");
        row("argument that is given another name",
            classWith(" return self.net(x)", "self, n=64").replace("8)", "n)") +
                "net = Net(hidden)\n",
            "; an argument of a function has no value here (n): write a number in place of n, or "
            "make the class only once, with a plain number for it");
        row("argument of a function", "def made(n=8):\n    return nn.Sequential(nn.Linear(2, n))\n",
            "; an argument of a function has no value here (n): write a number in its place, or "
            "copy the network by itself, with a line such as n = 64 above it");
        argument("quotient of an argument", "width // 2", "self, width: int = HIDDEN",
                 "line 5, column 47: found \"width\", where a number such as 3, -1 or 1e-5 is "
                 "allowed; an argument of a function has no value here (width): ");
        const auto doubted = [&](const char* name, const char* forward, const char* reason) {
            row(name, classWith(forward, "self, n").replace("8)", "n)"), reason);
        };
        doubted("argument, and scaled", " return 64 * self.net(x)",
                "forward() in line 5 does more than run self.net; write the whole network as one "
                "nn.Sequential(...)");
        doubted("argument, and adds its input", "\n        x = x + self.net(x)\n        return x",
                "forward() in line 5 does more than run self.net; write the whole network as one "
                "nn.Sequential(...), in which Residual(..., shortcut=...) stands for a block that "
                "adds its input");
        row("argument of a lambda",
            "n = 4\nmade = lambda n=2: nn.Sequential(nn.Linear(2, n))\nn = 8",
            "; an argument of a function has no value here (n): ");
        row("argument of another function",
            "def f(n=8): return n\nn = f()\nnet = nn.Sequential(nn.Linear(2, n))",
            "; the value of n is not known, because the program may set it in more than one place");
        const auto line = [&](const char* name, const char* list, const char* forward,
                              const char* reason) {
            row(name,
                QByteArray("class Net(nn.Module):\n    def __init__(self):\n"
                           "        self.a = nn.Linear(4, 4)\n    def forward(") +
                    list + "):\n        x = self.a(x)\n" + forward + "        return self.a(x)\n",
                reason);
        };
        line("adds its input", "self, x", "        x = x + self.a(x)  # skips\n",
             "because line 6 does more than run one layer after another: \"x = x + self.a(x)  # "
             "skips\"; what print(model) shows can be pasted into Layers, and Residual(");
        line("adds its input in several lines", "self, x",
             "        return self.a(\n            x\n            + x)\n",
             "because line 6 does more than run one layer after another: \"return self.a(\"; what "
             "print(model) shows can be pasted into Layers, and Residual(");
        line("multiplies", "self, x", "        x = x * 60000\n",
             "another: \"x = x * 60000\"; the layers alone, as print(model) shows them, can be "
             "pasted into Layers");
        line("unknown function", "self, x", "\n        x = F.other(\n            x)\n",
             "because line 7 does more than run one layer after another: \"x = F.other(\"; ");
        line("a sum among its arguments", "self, x, k=1+2", "",
             "line 4 does more than run one layer after another: \"def forward(self, x, k=1+2):\"; "
             "the layers alone, as print(model) shows them, can be pasted into Layers");
        line("two inputs", "self, x, y", "",
             "because line 4 does more than run one layer after "
             "another: \"def forward(self, x, y):\"; ");
        line("used twice", "self, x", "",
             "because line 6 does more than run one layer after another: \"return self.a(x)\"; ");
        row("type of an argument",
            "import n\ndef f(a: n, *b):\n    return nn.Sequential(nn.Linear(2, n))",
            "; the value of n is not known, because the program may set it in more than one place");
    }
    void refuses() {
        QFETCH(const QByteArray, program);
        QFETCH(const QString, reason);
        const std::string said = thrownBy<InputError>([&] { networkIn(program.toStdString()); });
        QVERIFY2(said.find(reason.toStdString()) != std::string::npos, said.c_str());
    }
};

} // namespace tst_program_network

QTEST_APPLESS_MAIN(tst_program_network::TestProgramNetwork)
#include "tst_program_network.moc"
