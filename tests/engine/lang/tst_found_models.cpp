// The model in a Python program: which calls are models, with which lines and numbers.
#include "engine/lang/found_models.h"
#include "engine/lang/syntax.h"

#include <QTest>

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
        const auto found = lang::modelsIn(program.toStdString());
        QCOMPARE(found.size(), size_t{1});
        QCOMPARE(found[0].firstLine, first);
        QCOMPARE(found[0].lastLine, last);
        QCOMPARE(QString::fromStdString(lang::textOf(lang::parse(found[0].text))), model);
    }

    /// Lines keep the places that they have beside one another.
    void outdentsTheLines() {
        const auto found = lang::modelsIn("def f():\n    return nn.Sequential(\n        A(),\n"
                                          "  B(),\n\n    )\n");
        QCOMPARE(found.size(), size_t{1});
        QCOMPARE(found[0].text, std::string("nn.Sequential(\n    A(),\nB(),\n\n)"));
    }

    void onlyWantedNumbersComeAlong() {
        const auto found = lang::modelsIn(
            "lr = 0.1\nn = 3\nhidden = n\nnn.Sequential(nn.Linear(hidden, 1))\nn = 9");
        QCOMPARE(found.size(), size_t{1});
        QCOMPARE(found[0].text,
                 std::string("n = 3\nhidden = n\nnn.Sequential(nn.Linear(hidden, 1))"));
    }

    void findsSeveral() {
        const auto found = lang::modelsIn("a = nn.Sequential(A())\n\nb = nn.Sequential(B())\n");
        QCOMPARE(found.size(), size_t{2});
        QCOMPARE(found[1].firstLine, 3);
        QCOMPARE(found[1].text, std::string("nn.Sequential(B())"));
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
