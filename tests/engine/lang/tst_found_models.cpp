// The model in a Python program: which calls are models, with which lines and numbers.
#include "engine/lang/found_models.h"
#include "engine/lang/program_names.h"
#include "engine/lang/python.h"
#include "engine/lang/syntax.h"

#include <QElapsedTimer>
#include <QTest>

#include <algorithm>
#include <string>
#include <vector>

namespace tst_found_models {

using namespace halfscope;

class TestFoundModels : public QObject {
    Q_OBJECT

private slots:
    /// Each is read as the model of its last column.
    void findsTheModel_data() {
        QTest::addColumn<QByteArray>("program");
        QTest::addColumn<int>("first");
        QTest::addColumn<int>("last");
        QTest::addColumn<QString>("model");
        const auto row = [](const char* name, const char* program, int first, int last,
                            const char* model) {
            QTest::newRow(name) << QByteArray(program) << first << last << QString(model);
        };
        row("program",
            "import torch\nfrom torch import nn\n\nmodel = nn.Sequential(\n    nn.ReLU(),\n)\n"
            "loss = nn.MSELoss()\nfor step in range(10):\n    loss(model(x), y)\n",
            4, 6, "nn.Sequential(nn.ReLU())");
        row("class",
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.net = nn.Sequential(\n            nn.Linear(2, 3),\n        )\n",
            4, 6, "nn.Sequential(nn.Linear(2, 3))");
        row("function", "def make():\n    return torch.nn.Sequential(nn.ReLU())\n", 2, 2,
            "torch.nn.Sequential(nn.ReLU())");
        row("imported", "net = Sequential (ReLU()).to(device)", 1, 1, "Sequential(ReLU())");
        row("derived", "class Residual(nn.Sequential):\n    pass\nnet = nn.Sequential(nn.ReLU())",
            3, 3, "nn.Sequential(nn.ReLU())");
        row("own class", "class Sequential(nn.Module):\n    pass\nm = nn.Sequential(nn.ReLU())", 3,
            3, "nn.Sequential(nn.ReLU())");
        row("nested", "nn.Sequential(nn.Sequential(nn.ReLU()), nn.ReLU())", 1, 1,
            "nn.Sequential(nn.Sequential(nn.ReLU()), nn.ReLU())");
        row("empty elsewhere", "a = nn.Sequential()\nb = nn.Sequential(nn.ReLU())", 2, 2,
            "nn.Sequential(nn.ReLU())");
        row("brackets in a comment", "nn.Sequential(nn.ReLU(),  # :)\n    nn.ReLU())", 1, 2,
            "nn.Sequential(nn.ReLU(), nn.ReLU())");
        row("in texts",
            "\"\"\"nn.Sequential(a)\"\"\"\nx = 'nn.Sequential(b)'  # nn.Sequential(c)\n"
            "y = \"\\\"nn.Sequential(d)\"\nnn.Sequential(nn.ReLU())",
            4, 4, "nn.Sequential(nn.ReLU())");
        row("Windows", "import torch\r\nm = nn.Sequential(\r\n  nn.ReLU())\r\n", 2, 3,
            "nn.Sequential(nn.ReLU())");
        row("numbers",
            "lr = 1e-3\nwidth = 8\nwidth = 4  # units\nhidden: int = 2 * width\ndepth = f(3)\n"
            "net = nn.Sequential(nn.Linear(2, hidden), nn.Linear(hidden, width))",
            6, 6, "nn.Sequential(nn.Linear(2, 8), nn.Linear(8, 4))");
    }

    void findsTheModel() {
        QFETCH(const QByteArray, program);
        QFETCH(const int, first);
        QFETCH(const int, last);
        QFETCH(const QString, model);
        const std::string text = program.toStdString();
        const auto found = lang::modelsIn(text);
        QCOMPARE(found.size(), size_t{1});
        QCOMPARE(found[0].firstLine, first);
        QCOMPARE(found[0].lastLine, last);
        const lang::Value value = lang::parse(lang::textOfModel(text, found[0]).text);
        QCOMPARE(QString::fromStdString(lang::textOf(value)), model);
    }

    /// Its number is not known where another statement may change it, wherever that stands: then
    /// none comes along, and the reader of the model names it.
    void givesUpOnNames_data() {
        QTest::addColumn<QByteArray>("program");
        const QByteArray network = "net = nn.Sequential(nn.Linear(2, width))";
        for (const char* other : {"width *= 2",
                                  "width, depth = 4, 2",
                                  "(depth, width) = 2, 4",
                                  "depth = width = 4",
                                  "width = f(4)",
                                  "width: int = f(4)",
                                  "width = (4 +\n    4)",
                                  "width = 'wide'",
                                  "width = 4; depth = 2",
                                  "if large: width = 128",
                                  "for width in (4, 16):\n    pass",
                                  "for depth, width in pairs:\n    pass",
                                  "with f() as width:\n    pass",
                                  "import width",
                                  "from sizes import width",
                                  "import sizes as width",
                                  "def width():\n    pass",
                                  "class width:\n    pass",
                                  "print(width := 4)",
                                  "del width",
                                  "width <<= 1",
                                  "width = \\\n    f(4)",
                                  "width = 128 if large else 32",
                                  "width = depth or 4",
                                  "width = not depth",
                                  "width = None",
                                  "width = sizes.width",
                                  "width = depth",
                                  "width = 2 * depth",
                                  "if large:\n    width = 128",
                                  "if large:\n    width = 128\nelse:\n    width = 32",
                                  "if large:\n    pass\nelse:\n\twidth = 32",
                                  "for i in pairs:\n    width = i",
                                  "for i in pairs:\n\n    # wide\n    width = 4\n    pass",
                                  "while large:\r\n    width = 4\r\n",
                                  "try:\n    width = 4\nexcept Error:\n    pass",
                                  "with f():\n  if large:\n    width = 4\n  depth = 2",
                                  "match size:\n    case 1: width = 4",
                                  "match size:\n    case (_, width):\n        pass",
                                  "make = lambda width: 2 * width",
                                  "make = lambda n, width=4: n",
                                  "make = lambda *width: 2",
                                  "exec(open('sizes.py').read())",
                                  "globals()['width'] = 4",
                                  "class Sizes:\n    width = 4",
                                  "def f():\n    global width\n    width = 4"}) {
            QTest::newRow(other) << "width = 8\n" + QByteArray(other) + "\n" + network;
            const QByteArray above = QByteArray(other) + " above";
            QTest::newRow(above) << QByteArray(other) + "\nwidth = 8\n" + network;
        }
        QTest::newRow("one line") << "width = 8\ndef f(width): return " + network.mid(6);
        QTest::newRow("loop") << "width = 8\nfor width in (4, 16): " + network;
        QTest::newRow("list") << "width = 8\nnets = [" + network.mid(6) + " for width in (4, 16)]";
        QTest::newRow("all names") << "width = 8\nfrom sizes import *\n" + network;
        QTest::newRow("branches") << "if large:\n    width = 128\nelse:\n    width = 32\n" +
                                         network;
        QTest::newRow("other branch") << "if large:\n    width = 128\nelse:\n    " + network;
        QTest::newRow("around") << "def f():\n    width = 8\n    if large:\n        " + network;
        QTest::newRow("other function") << "def f():\n    width = 8\ndef g():\n    " + network;
        QTest::newRow("attribute of a class")
            << "class Net:\n    width = 8\n    def f(self):\n        " + network;
    }
    void givesUpOnNames() {
        QFETCH(const QByteArray, program);
        const std::string text = program.toStdString();
        const auto found = lang::modelsIn(text);
        QCOMPARE(found.size(), size_t{1});
        const lang::ModelText model = lang::textOfModel(text, found[0]);
        QCOMPARE(model.text, std::string("nn.Sequential(nn.Linear(2, width))"));
        QVERIFY(model.numbers.empty());
        QCOMPARE(model.unknown, std::vector<std::string>{"width"});
    }

    /// A network that may be made later, or once more, gets what its names stand for by then.
    void givesUpOnNamesSetBelow_data() {
        QTest::addColumn<QByteArray>("above");
        QTest::addColumn<QByteArray>("below");
        const auto row = [](const char* name, const char* above, const char* below) {
            QTest::newRow(name) << QByteArray(above) << QByteArray(below);
        };
        row("function", "width = 8\ndef f():\n    return ", "\nwidth = 4\nf()");
        row("only there", "def f():\n    return ", "\nwidth = 4\nf()");
        row("own function", "width = 8\ndef f():\n    net = ", "\n    width = 4");
        row("one line", "width = 8\ndef f(): return ", "\nwidth = 4\nf()");
        row("behind it", "width = 8\nwhile f(): g(); net = ", "; width = 4");
        row("another function", "width = 8\ndef f():\n    return ",
            "\ndef g():\n    global width\n    width = 4");
        row("lambda", "width = 8\nf = lambda: ", "\nwidth *= 2\nf()");
        row("generator", "width = 8\nf = (", " for i in pairs)\nwidth = 4");
        row("loop", "width = 8\nfor i in pairs:\n    net = ", "\n    width *= 2");
        row("method", "width = 8\nclass Net:\n    def f(self):\n        return ",
            "\n\nif large:\n    width = 4");
        row("all names", "width = 8\ndef f():\n    return ", "\nfrom sizes import *");
        row("once more", "width = 8\nfor i in pairs:\n    width = 2 * width\n    net = ", "");
        row("for the next turn", "n = 4\nwhile f():\n    width = 2 * n\n    n = 5\n    net = ", "");
        row("list of a class", "width = 8\nclass Net:\n    width = 4\n    nets = [",
            " for i in pairs]");
    }
    void givesUpOnNamesSetBelow() {
        QFETCH(const QByteArray, above);
        QFETCH(const QByteArray, below);
        const std::string network = "nn.Sequential(nn.Linear(2, width))";
        const std::string text = above.toStdString() + network + below.toStdString();
        const auto found = lang::modelsIn(text);
        QCOMPARE(found.size(), size_t{1});
        const lang::ModelText model = lang::textOfModel(text, found[0]);
        QCOMPARE(model.text, network);
        QCOMPARE(model.unknown, std::vector<std::string>{"width"});
    }

    /// What only mentions a name does not change it, nor does a function that has one of its own.
    void keepsNumbers_data() {
        QTest::addColumn<QByteArray>("between");
        for (const char* between :
             {"\"\"\"\nwidth = 128\n\"\"\"",
              "'''a\nwidth *= 2'''",
              "text = '''\nwidth = 4\n'''",
              "# width = 128",
              "depth = f(width=4)",
              "sizes[width] = 4",
              "config.width = 4",
              "if width == 4:\n    pass",
              "assert width <= 8",
              "f(\n  width=4,\n)",
              "class Net(Base):\n    pass",
              "x = {'width': 4}",
              "print(width, sep='=')",
              "def make(depth, width=4):\n    pass",
              "def make(*width):\n    pass",
              "def make(depth,  # layers\n         width):\n    width += 1",
              "def f():\n    width = 4",
              "def f():\n    for width in pairs:\n        pass",
              "class Sizes:\n    def f(self):\n        width = 4\n    depth = 2",
              "def f():\n    if large:\n        width = 4\n\n    return width",
              "while (n := f(width)) > 1:\n    pass",
              "f = \"width = 4\""})
            QTest::newRow(between) << QByteArray(between);
    }
    void keepsNumbers() {
        QFETCH(const QByteArray, between);
        const std::string text =
            "width = 8\n" + between.toStdString() + "\nnet = nn.Sequential(nn.Linear(2, width))\n";
        const auto found = lang::modelsIn(text);
        QCOMPARE(found.size(), size_t{1});
        const lang::ModelText model = lang::textOfModel(text, found[0]);
        QCOMPARE(model.text, std::string("width = 8\nnn.Sequential(nn.Linear(2, width))"));
        QCOMPARE(model.numbers, std::vector<std::string>{"width"});
        QVERIFY(model.unknown.empty());
    }

    /// In the block of the model and in none, the last number before it is its value.
    void knowsNumbersOfItsBlock_data() {
        QTest::addColumn<QByteArray>("program");
        const QByteArray network = "net = nn.Sequential(nn.Linear(2, width))";
        QTest::newRow("function") << "def f():\n    width = 8\n    " + network;
        QTest::newRow("both") << "width = 4\ndef f():\n    width = 8\n    " + network;
        QTest::newRow("around all")
            << "width = 8\nclass Net:\n    def f(self):\n        " + network;
        QTest::newRow("behind an inner block")
            << "def f():\n    width = 8\n    if large:\n        depth = 4\n    " + network;
        QTest::newRow("indented") << "    width = 8\n    " + network;
        QTest::newRow("set once more below") << "width = 8\n" + network + "\nwidth = 4";
        QTest::newRow("beside another function")
            << "def g(width):\n    width *= 2\ndef f():\n    width = 8\n    " + network +
                   "\ndef h():\n    width = 4";
        QTest::newRow("behind a function within")
            << "def f():\n    width = 8\n    def g():\n        width = 4\n    " + network;
        QTest::newRow("in a branch")
            << "width = 8\nif large: " + network + "\nwidth = 4 # of the next one";
        QTest::newRow("mentioned below")
            << "width = 8\ndef f():\n    " + network + "\nprint(f(width=4), lambda n: width)";
        QTest::newRow("all names above") << "from torch.nn import *\nwidth = 8\n" + network;
    }
    void knowsNumbersOfItsBlock() {
        QFETCH(const QByteArray, program);
        const std::string text = program.toStdString();
        const auto found = lang::modelsIn(text);
        QCOMPARE(found.size(), size_t{1});
        const lang::Value value = lang::parse(lang::textOfModel(text, found[0]).text);
        QCOMPARE(lang::textOf(value), std::string("nn.Sequential(nn.Linear(2, 8))"));
    }

    void readsAProgramOnce_data() {
        QTest::addColumn<QByteArray>("program");
        QTest::addColumn<QString>("numbers"); // of each model, with "?" for names without one
        QTest::newRow("in a function")
            << QByteArray("def f(k):\n    a = 2\n    x = nn.Sequential(A(a, b, k))\n    b = 3\n"
                          "    return x, nn.Sequential(A(a, b, k))\n")
            << "a ?b ?k, a b ?k";
        QTest::newRow("in two functions")
            << QByteArray("def f():\n    a = 2\n    return nn.Sequential(A(a))\ndef g(a):\n"
                          "    return nn.Sequential(A(a))\n")
            << "a, ?a";
        QTest::newRow("in a block and behind it")
            << QByteArray("a = 1\nif big:\n    x = nn.Sequential(A(a, b))\nb = 2\n"
                          "y = nn.Sequential(A(a, b))\na = input()\n")
            << "?a ?b, a b";
        QTest::newRow("on lines of their own")
            << QByteArray("a = 1\nx = nn.Sequential(A(a))\na = 2\ny = nn.Sequential(A(a))\n")
            << "a, a";
    }
    /// What has been read for one model says the same of the next one as a new reading, whichever
    /// comes first.
    void readsAProgramOnce() {
        QFETCH(const QByteArray, program);
        QFETCH(const QString, numbers);
        const std::string text = program.toStdString();
        std::vector<lang::FoundModel> found = lang::modelsIn(text);
        QCOMPARE(found.size(), size_t{2});
        for (const bool turned : {false, true}) {
            if (turned) std::ranges::reverse(found);
            lang::ProgramNames names(text);
            QStringList all;
            for (const lang::FoundModel& each : found) {
                const lang::ModelText model = lang::textOfModel(text, names, each);
                QCOMPARE(model.inPlace, lang::textOfModel(text, each).inPlace);
                QStringList told;
                for (const std::string& name : model.numbers)
                    told << QString::fromStdString(name);
                for (const std::string& name : model.unknown)
                    told << "?" + QString::fromStdString(name);
                all << told.join(' ');
            }
            if (turned) std::ranges::reverse(all);
            QCOMPARE(all.join(", "), numbers);
        }
    }

    /// What is refused in a model is named by its place in the file.
    void keepsPlaces() {
        const std::string text = "import torch\n\nwidth: int = 8  # units\r\ndef f():\n"
                                 "    return nn.Sequential(\n        A(width))\nf()\n";
        const auto found = lang::modelsIn(text);
        QCOMPARE(found.size(), size_t{1});
        const std::string kept = lang::textOfModel(text, found[0]).inPlace;
        const std::string number = "\n\nwidth: int = 8" + std::string(10, ' ') + "\n";
        QCOMPARE(kept, std::string(12, ' ') + number + std::string(8, ' ') + "\n" +
                           std::string(11, ' ') + "nn.Sequential(\n        A(width))");
        QCOMPARE(lang::parse(kept).place.line, 5);
        QCOMPARE(lang::parse(kept).place.column, 12);
    }

    /// A file may have as many models as fit into it: all of them are counted before one is read.
    void takesTimeInProportion_data() {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<int>("models"); // in each line
        QTest::addColumn<qsizetype>("bytes");
        constexpr qsizetype kMost = qsizetype{4} << 20;
        QTest::newRow("models") << QByteArray("nn.Sequential(a)\n") << 1 << kMost;
        QTest::newRow("numbers") << QByteArray("a = a\n") << 0 << kMost / 4; // slow to check
        QTest::newRow("blocks") << QByteArray("if:") << 0 << kMost;
        QTest::newRow("brackets") << QByteArray("a[") << 0 << kMost;
        QTest::newRow("signs") << QByteArray("= ") << 0 << kMost;
        QTest::newRow("all names") << QByteArray("from a import *\na = 1\n") << 0 << kMost / 4;
    }
    void takesTimeInProportion() {
        QFETCH(const QByteArray, line);
        QFETCH(const int, models);
        QFETCH(const qsizetype, bytes);
        constexpr qint64 kMs = 5000; // far below the hours of a search in all lines above each
        const std::string last = "\nnn.Sequential(a)";
        const qsizetype lines = bytes / line.size();
        const std::string text = line.repeated(lines).toStdString() + last;
        QElapsedTimer clock;
        clock.start();
        const auto found = lang::modelsIn(text);
        QCOMPARE(found.size(), static_cast<size_t>(models * lines + 1));
        QVERIFY(!lang::textOfModel(text, found.back()).text.empty());
        QVERIFY2(clock.elapsed() < kMs, qPrintable(QString::number(clock.elapsed())));
    }

    /// Lines keep the places that they have beside one another.
    void outdentsTheLines() {
        const std::string text = "def f():\n    return nn.Sequential(\n        A(),\n"
                                 "  B(),\n\n    )\n";
        const auto found = lang::modelsIn(text);
        QCOMPARE(found.size(), size_t{1});
        QCOMPARE(lang::textOfModel(text, found[0]).text,
                 std::string("nn.Sequential(\n    A(),\nB(),\n\n)"));
    }

    void onlyWantedNumbersComeAlong() {
        const std::string text =
            "lr = 0.1\nn = 3\nhidden = n\nnn.Sequential(nn.Linear(hidden, 1))\nn = 9";
        const auto found = lang::modelsIn(text);
        QCOMPARE(found.size(), size_t{1});
        const lang::ModelText model = lang::textOfModel(text, found[0]);
        QCOMPARE(model.numbers, (std::vector<std::string>{"n", "hidden"}));
        QCOMPARE(model.text, std::string("n = 3\nhidden = n\nnn.Sequential(nn.Linear(hidden, 1))"));
    }

    /// An argument has no number of its own, whatever the program gives to a name like its own.
    void namesOfArgumentsAreNotWanted() {
        const std::string network = "nn.Sequential(nn.Dropout(p=0.5, inplace = True),  # n\n"
                                    "  A('n'))";
        const std::string text = "p = 1 + 2\ninplace = 3\nn = 4\n" + network;
        const auto found = lang::modelsIn(text);
        QCOMPARE(found.size(), size_t{1});
        const lang::ModelText model = lang::textOfModel(text, found[0]);
        QVERIFY(model.numbers.empty() && model.unknown.empty());
        QCOMPARE(model.text, network);
    }

    void findsSeveral() {
        const std::string text = "a = nn.Sequential(A())\n\nb = nn.Sequential(B())\n";
        const auto found = lang::modelsIn(text);
        QCOMPARE(found.size(), size_t{2});
        QCOMPARE(found[1].firstLine, 3);
        QCOMPARE(lang::textOfModel(text, found[1]).text, std::string("nn.Sequential(B())"));
    }

    void findsNone_data() {
        QTest::addColumn<QByteArray>("program");
        int number = 0;
        for (const char* program :
             {"", "import torch\n", "model = nn.Linear(1, 1)", "nn.Sequential", "nn.Sequential()",
              "nn.Sequential(  \n )", "nn.Sequential(nn.ReLU(", "\"\"\"nn.Sequential(A())",
              "# nn.Sequential(A())", "tf.keras.Sequential(A())", "isinstance(m, nn.Sequential)",
              "'", "\"\"\"", "x = '\\"})
            QTest::addRow("program %d", ++number) << QByteArray(program);
    }
    void findsNone() {
        QFETCH(const QByteArray, program);
        QVERIFY(lang::modelsIn(program.toStdString()).empty());
    }
};

} // namespace tst_found_models

QTEST_APPLESS_MAIN(tst_found_models::TestFoundModels)
#include "tst_found_models.moc"
