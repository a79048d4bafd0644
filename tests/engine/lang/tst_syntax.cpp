// Texts of calls as programmers write them and as PyTorch prints them, and what is said about wrong
// ones: line, column, the text found and what is allowed.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/lang/pasted.h"
#include "engine/lang/python.h"
#include "engine/lang/syntax.h"
#include "tests/support/mutations.h"
#include "tests/support/processor_time.h"

#include <QTest>

#include <algorithm>
#include <limits>

namespace tst_syntax {

using namespace halfscope;
using lang::Kind;
using lang::Value;

namespace {

constexpr const char* kWritten = R"(model = torch.nn.Sequential(  # as written
    nn.Linear(28*28, 10, bias=True,),
    OrderedDict([("act", ReLU()), ('x', [1, -2.5, 1e-5, None])]),
    size=(3,), mode="nearest", p=.5,
)
)";
constexpr const char* kPrinted = "Sequential(\n  (0): Linear(in_features=10, out_features=20)\n"
                                 "  (act-1): Sequential(\n    (0): ReLU()\n  )\n)";

QString refusalOf(const std::string& text) {
    try {
        lang::parse(text);
        return {};
    } catch (const InputError& error) {
        return QString::fromStdString(error.what());
    }
}

std::string repeated(const std::string& text, size_t times) {
    std::string all;
    for (size_t i = 0; i < times; ++i)
        all += text;
    return all;
}

} // namespace

class TestSyntax : public QObject {
    Q_OBJECT

private slots:
    void readsWhatProgrammersWrite() {
        const Value v = lang::parse(kWritten);
        QCOMPARE(v.kind, Kind::Call);
        QCOMPARE(v.text, std::string("torch.nn.Sequential"));
        QCOMPARE(v.place.line, 1);
        QCOMPARE(v.place.column, 9);
        QCOMPARE(v.arguments.size(), size_t(5));
        const Value& linear = v.arguments[0].value;
        QCOMPARE(linear.place.line, 2);
        QCOMPARE(linear.place.column, 5);
        QCOMPARE(linear.arguments.at(0).value.whole, int64_t(784));
        QCOMPARE(linear.arguments.at(0).value.place.column, 15);
        QCOMPARE(linear.arguments.at(2).name, std::string("bias"));
        QVERIFY(linear.arguments.at(2).value.truth);
        QCOMPARE(lang::textOf(v, 400),
                 std::string("torch.nn.Sequential(nn.Linear(784, 10, bias=True), OrderedDict([("
                             "'act', ReLU()), ('x', [1, -2.5, 1e-05, None])]), size=(3,), "
                             "mode='nearest', p=0.5)"));
    }

    /// Pages and documents have spaces of other kinds, and files may begin with a mark.
    void readsWhatPeopleCopy() {
        const std::string mark = "\xEF\xBB\xBF", wide = "\xC2\xA0", none = "\xE2\x80\x8B";
        const Value v = lang::parse(mark + "A(\n" + wide + wide + "B(1," + none + " 2))");
        QCOMPARE(lang::textOf(v), std::string("A(B(1, 2))"));
        QCOMPARE(refusalOf("A(" + wide + "?)").left(16), QString("line 1, column 4"));
    }

    /// Whole statements of a program that make a model, with what only moves it.
    void readsImportsAndMethods_data() {
        QTest::addColumn<QByteArray>("text");
        for (const char* text :
             {"import torch\nfrom torch import nn\n\nmodel = B(1)", "import torch; B(1)",
              "from torch import \\\n    nn\nB(1)", "from torch import \\\r\n    nn\r\nB(1)",
              "from torch.nn import (Linear,  # one)\n  ReLU)  # (both\nnet = B(1)\n",
              "import torch\xE2\x80\xA8model = B(1)", "B(1).to('cuda')",
              "B(1).to(device)\n    .train()  # end\n", "B(1).cuda(0).eval().float()", "B(1).cpu()",
              "B(1).to(torch.float32)",
              "B(1).to(torch.device('cuda' if torch.cuda.is_available() else 'cpu'))",
              "B(1).to(memory_format=torch.channels_last)"})
            QTest::newRow(text) << QByteArray(text);
    }
    void readsImportsAndMethods() {
        QFETCH(QByteArray, text);
        QCOMPARE(lang::textOf(lang::parse(text.toStdString())), std::string("B(1)"));
    }

    void readsWhatPyTorchPrints() {
        const Value v = lang::parse(kPrinted);
        QCOMPARE(v.arguments.size(), size_t(2));
        QCOMPARE(v.arguments[0].name, std::string("0"));
        QVERIFY(v.arguments[0].printed);
        QCOMPARE(v.arguments[1].name, std::string("act-1"));
        QCOMPARE(v.arguments[1].place.line, 3);
        QCOMPARE(v.arguments[1].place.column, 3);
        const Value& inner = v.arguments[1].value;
        QCOMPARE(inner.arguments.at(0).value.text, std::string("ReLU"));
        QCOMPARE(inner.arguments.at(0).value.place.line, 4);
        QCOMPARE(inner.arguments.at(0).value.place.column, 10);
    }

    /// A name ends where its letters do, whatever alphabet they are of.
    void readsNamesBeyondAscii() {
        const std::string name = "nn.L\xC3\xADne\xC3\xA1r\xD1\x8F"
                                 "2";
        QCOMPARE(lang::parse(name + "\xC2\xA0(1)").text, name);
        QCOMPARE(lang::parse("A(" + name + ")").arguments.at(0).value.text, name);
        QCOMPARE(refusalOf("A(b\xE2\x80\x94)"),
                 QString::fromUtf8("line 1, column 4: found \"\xE2\x80\x94\", where a comma or "
                                   "\")\" is allowed"));
    }

    void lineSeparatorsOfAOneLineEditorAreLines() {
        const Value v = lang::parse("A( # c\xE2\x80\xA8  b)");
        QCOMPARE(v.arguments.at(0).place.line, 2);
        QCOMPARE(v.arguments.at(0).place.column, 3);
    }

    void refuses_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("sentence");
        const auto row = [](const char* name, const char* text, const char* sentence) {
            QTest::newRow(name) << QByteArray(text) << QString::fromUtf8(sentence);
        };
        const char* value = "a layer, a number, a string, True, False, None, a list or a tuple";
        const auto wants = [&](const char* place, const char* found) {
            return std::string(place) + ": found " + found + ", where " + value + " is allowed";
        };
        row("nothing", " \n ", wants("line 2, column 2", "the end of the text").c_str());
        row("sign", "A(\n  1, %b)", wants("line 2, column 6", "\"%\"").c_str());
        row("list without a value", "A(\n  1, *b)",
            "line 2, column 6: the layers in \"*b\" are not known here: write them in its place");
        row("umlaut before", "A('\xC3\xA4', ?)", wants("line 1, column 8", "\"?\"").c_str());
        row("no comma", "A(1 b.c)",
            "line 1, column 5: found \"b.c\", where a comma or \")\" is allowed");
        row("open", "A(1,\n B(2)",
            "line 2, column 6: found the end of the text, where a comma or \")\" is allowed");
        row("bracket", "[1, 2)",
            "line 1, column 6: found \")\", where a comma or \"]\" is allowed");
        row("second value", "A() B()",
            "line 1, column 5: found \"B\" after the model, where the text must end");
        const char* second = ": a second model follows; only one is read";
        row("second network", "nn.Sequential(A())\n\nnn.Sequential(B())",
            (std::string("line 3, column 1") + second).c_str());
        row("second network behind the first", "nn.Sequential(A())net = Sequential (B())",
            (std::string("line 1, column 19") + second).c_str());
        row("method", "A(1).to(device).apply(start)",
            "line 1, column 16: found \".apply\" after the model, where the text must end");
        row("method of a number", "1 .to(device)",
            "line 1, column 1: this is a program; what is allowed here is one model by itself, "
            "such as nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)), with "
            "nothing but imports and numbers such as hidden = 64 above it");
        row("open method", "A(1).to(f(device)",
            "line 1, column 5: found \".to\" after the model, where the text must end");
        for (const char* type : {".half()", ".bfloat16()", ".double()", ".to(torch.float16)",
                                 ".to('cuda', dtype=torch.bfloat16)", ".to(dtype=float64)"})
            row(type, (std::string("A(1)") + type).c_str(),
                ("line 1, column 5: \"" + std::string(type) +
                 "\" is not supported here: the precision of each lane chooses its types; leave it "
                 "out")
                    .c_str());
        row("imports alone", "import torch",
            wants("line 1, column 13", "the end of the text").c_str());
        const std::string program =
            ": this is a program; what is allowed here is one model by itself, "
            "such as nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)), with "
            "nothing but imports and numbers such as hidden = 64 above it";
        row("variable", "device = 'cpu'\nmodel = A(1)", ("line 1, column 10" + program).c_str());
        row("function", "def made():\n    return A(1)", ("line 1, column 1" + program).c_str());
        row("loop behind a number", "n = 3\nfor i in range(n):\n    A(1)",
            ("line 2, column 1" + program).c_str());
        row("behind a call", "import torch\ntorch.manual_seed(0)\nmodel = A(1)",
            ("line 3, column 1" + program).c_str());
        row("behind the model", "model = A(1)\ncriterion = B()",
            ("line 2, column 1" + program).c_str());
        const std::string part = ": this is a program, and only a model by itself is read: paste "
                                 "only the nn.Sequential(...) that begins in line ";
        row("step behind the network",
            "import torch\nm = nn.Sequential(A())\nm = start(m)\nm.eval()",
            ("line 3, column 1" + part + "2").c_str());
        row("one-line editor", "x = y\xE2\x80\xA8# m\xE2\x80\xA8m = nn.Sequential(A())",
            ("line 1, column 5" + part + "3").c_str());
        row("numbers above the network", "import torch\nstart(0)\nn = 3\nm = nn.Sequential(A(n))",
            ("line 3, column 1" + part + "4, with the numbers that it uses above it").c_str());
        row("list that grows",
            "layers = [A()]\nlayers.append(B())\nm = nn.Sequential(\n    *layers)",
            ("line 3, column 1" + part + "3, with the layers themselves in place of *layers")
                .c_str());
        const std::string ofClass =
            "line 1, column 1: a class is a program, and only a model by itself is read, such as "
            "nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)): list the layers of the "
            "class in the order in which its forward() uses them, with Residual(...) for a block "
            "that adds its input, or paste what print(model) shows";
        row("class with more than its network",
            "class Net(nn.Module):\n    def __init__(self):\n        self.flat = nn.Flatten()\n"
            "        self.net = nn.Sequential(A())\n    def forward(self, x):\n"
            "        return self.net(self.flat(x))",
            ofClass.c_str());
        row("class", "class Net(nn.Module):\n    def __init__(self):\n        pass",
            ofClass.c_str());
        row("number", "A(12ab)",
            "line 1, column 3: found \"12ab\", where a number such as 3, -1 or 1e-5 is allowed");
        row("two powers", "A(2**3**2)",
            "line 1, column 8: found \"*\", where a number such as 3, -1 or 1e-5 is allowed");
        row("sum above the model", "n = 4 + 4\nnn.Sequential(A(n))",
            "line 1, column 7: found \"+\", where the end of the line, or one of *, // and **, is "
            "allowed");
        row("all names", "width = 8\nfrom sizes import *\nA(2*width)",
            "line 3, column 5: found \"width\", where a number such as 3, -1 or 1e-5 is allowed");
        row("unknown name", "A(2*width)",
            "line 1, column 5: found \"width\", where a number such as 3, -1 or 1e-5 is allowed");
        row("quotient of an unknown name", "A(width // 2)",
            "line 1, column 3: found \"width\", where a number such as 3, -1 or 1e-5 is allowed");
        row("large power", "A(2**64)", "line 1, column 3: the result is too large");
        row("large real power", "A(2.0**5000)", "line 1, column 3: the result is too large");
        row("negative power", "A(-2**2)",
            "line 1, column 3: powers of and by negative numbers are not allowed");
        row("quotient", "A(1 // 0)", "line 1, column 8: a division by 0 is not allowed");
        row("dict", "A({'a' 1})", "line 1, column 8: found \"1\", where a colon is allowed");
        row("docstring", "\n\"\"\"A model\nA(1)",
            "line 2, column 1: the text that begins here does not end: \"\"\" is missing");
        row("fence", "```\nA(1)\n```\nmore",
            "line 4, column 1: found \"more\" after the model, where the text must end");
        row("huge", "A(1e999)",
            "line 1, column 3: found \"1e999\", where a number such as 3, -1 or 1e-5 is allowed");
        row("too many digits", "99999999999999999999",
            "line 1, column 1: \"99999999999999999999\" is too large for a whole number");
        row("one too many", "A(10, 9223372036854775808)",
            "line 1, column 7: \"9223372036854775808\" is too large for a whole number");
        row("digits and letters", "99999999999999999999a",
            "line 1, column 1: found \"99999999999999999999a\", where a number such as 3, -1 or "
            "1e-5 is allowed");
        row("incomplete name", "a. ",
            "line 1, column 4: found the end of the text, where the name of a layer is allowed");
        row("end of a name", "a.b.",
            "line 1, column 5: found the end of the text, where the name of a layer is allowed");
        row("product", "9223372036854775807*2", "line 1, column 1: the result is too large");
        row("string", "A('x\n')",
            "line 1, column 3: the string that begins here does not end on its line: ' is "
            "missing");
        row("no UTF-8", "A(\n'\xC3')",
            "line 2, column 1: the line has bytes that are not plain "
            "UTF-8 text");
        row("control", "A(\a)",
            "line 1, column 1: the line has bytes that are not plain UTF-8 text");
        row("backslash", "'a\\n'",
            "line 1, column 3: found \"\\\", where a string without backslashes is allowed");
    }
    void refuses() {
        QFETCH(QByteArray, text);
        QFETCH(QString, sentence);
        QCOMPARE(refusalOf(text.toStdString()), sentence);
    }

    void boundsDepthAndSize() {
        QCOMPARE(refusalOf(repeated("(", 63) + "1" + repeated(")", 63)), QString());
        QVERIFY(refusalOf(repeated("f(", 100'000 / 4) + "1")
                    .startsWith("line 1, column 129: more than 64 calls"));
        QVERIFY(refusalOf("[" + repeated("1,", 25'000) + "]")
                    .endsWith("more than 20000 values in one text are not allowed"));
        QVERIFY(refusalOf("A((0-9): 99999 x B(1))") // as if they were written out
                    .endsWith("more than 20000 values in one text are not allowed"));
        QVERIFY(refusalOf("A((0-99): 100 x B((0-99): 100 x C(1)))")
                    .endsWith("more than 20000 values in one text are not allowed"));
        QCOMPARE(refusalOf(std::string(65'537, ' ')),
                 QString("the text has 65537 bytes: at most 65536 are allowed"));
        const std::string lines(400'000, '\n'); // a search of all the rest at each takes seconds
        const double start = test::processorMs();
        QVERIFY(refusalOf(lines).startsWith("the text has 400000 bytes"));
        QCOMPARE(lang::withoutMarks(lines), lines);
        QVERIFY(test::processorMs() - start < 1000);
    }

    /// A text ten times as long takes no more than forty times the processor's time.
    void takesTimeInProportion() {
        const auto timed = [](size_t times) {
            const std::string text = "A(" + repeated("b(x=1), # comment\n", times) + ")";
            double best = std::numeric_limits<double>::max();
            for (int i = 0; i < 20; ++i) {
                const double start = test::processorMs();
                lang::parse(text);
                best = std::min(best, test::processorMs() - start);
            }
            return best;
        };
        const double small = timed(300), large = timed(3000);
        QVERIFY2(large < 40 * small, qPrintable(QString("%1 %2").arg(small).arg(large)));
    }

    /// Whatever happens to a text, it is read or refused with one plain line.
    void takesOrRefusesAnything() {
        int taken = 0, refused = 0;
        for (int i = 0; i < test::mutationCases(10'000); ++i) {
            test::Mutations mutations(static_cast<uint64_t>(i) + 1);
            const std::string text = mutations.json(i % 2 == 0 ? kWritten : kPrinted);
            try {
                lang::parse(text);
                ++taken;
            } catch (const InputError& error) {
                ++refused;
                const std::string sentence = error.what();
                QVERIFY2(isPlainText(sentence) && sentence.size() < 300, sentence.c_str());
                QVERIFY2(sentence.starts_with("line "), sentence.c_str());
            }
        }
        QVERIFY2(taken > 500 && refused > 500, qPrintable(QString::number(taken)));
    }
};

} // namespace tst_syntax

QTEST_APPLESS_MAIN(tst_syntax::TestSyntax)
#include "tst_syntax.moc"
