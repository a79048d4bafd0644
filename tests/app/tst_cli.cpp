// halfscope-cli from outside: exit codes, one-line errors, what it lists and describes, full and
// closed outputs. Runs and their files are in tst_cli_run.
#include "engine/core/vector_set.h"
#include "engine/scaler/scaler_presets.h"
#include "engine/settings/field_reference.h"
#include "engine/settings/fields.h"
#include "tests/support/array_files.h"
#include "tests/support/cli.h"
#include "tests/support/http_server.h"

#include <QtTest>

namespace tst_cli {

using namespace halfscope;
using namespace halfscope::test;

class TestCli : public QObject {
    Q_OBJECT

private slots:
    void wrongUsage_data();
    void wrongUsage();
    void helpAndVersion();
    void lists();
    void describes_data();
    void describes();
    void describesWaysToRun();
    void networksFromFiles();
    void settingsReference();
    void fullStandardOutput();
    void closedPipe();
    void missingDevice();
    void vectorSets();
    void presetsOfScalers();
    void pytorchRunsAnywhere();
    void recorder();
    void noQt();
    void asksBeforeItDownloads();
    void takesTheServerItIsTold();
    void presetLooksForItsData_data();
    void presetLooksForItsData();
    void presetOnOtherData();
};

void TestCli::wrongUsage_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("message");
    const auto row = [](const char* name, const QStringList& arguments, const char* message) {
        QTest::newRow(name) << arguments << QByteArray(message);
    };
    row("nothing", {},
        "a command is missing: run, sweep, evaluate, runs, verify, bench, presets, devices, "
        "describe, "
        "pytorch, recorder, get or settings");
    row("nothing to get", {"get"}, "get: a data set is missing: mnist or fashion-mnist\n");
    for (const char* from : {"foo", "file:///etc/", "javascript:1", "https://", "http:///x"})
        row(from, {"get", "mnist", "nowhere", "--yes", "--from", from},
            "is not allowed: an address such as https://host/folder/\n");
    row("unknown data", {"get", "imagenet"},
        "\"imagenet\" is not a data set that can be downloaded; there are: mnist, fashion-mnist\n");
    row("command", {"train"},
        "\"train\" is not a command: run, sweep, evaluate, runs, verify, bench, presets, devices");
    row("mistyped command", {"evalute"},
        "\"evalute\" is not a command; the nearest one is evaluate (--help lists all)\n");
    row("swapped letters", {"rnu"},
        "\"rnu\" is not a command; the nearest one is run (--help lists all)\n");
    row("standard input", {"run", "-"},
        "\"-\" is not allowed: the path of an experiment file, a run or data; standard input and "
        "output cannot stand for files, and a file of this name is ./-\n");
    row("standard output", {"run", "--onnx", "-"}, "--onnx: \"-\" is not allowed: the path of a");
    row("option behind --", {"run", "--", "a.json", "--steps", "2"},
        "\"--steps\" is one argument too many for run; options must stand before --\n");
    row("workers of no data", {"bench", "--workers", "2"}, "--workers requires --data\n");
    row("rows of data", {"bench", "--only", "mlp", "--data", "sample"}, " excludes --");
    row("lanes to time", {"bench", "--lanes", "fp32,"}, "--lanes: \"fp32,\" has a comma without");
    row("option", {"run", "--stepps=3"},
        "\"--stepps\" is not an option of run; the nearest one is --steps\n");
    row("foreign option", {"verify", "--colour"},
        "\"--colour\" is not an option of verify; there are: --help, --golden, ");
    row("option before a command", {"--steps", "3"},
        "\"--steps\" is not an option of halfscope-cli; there are: ");
    row("option without value", {"run", "--steps"}, "--steps: its value is missing\n");
    row("forgotten value", {"run", "--tensorboard", "--steps", "5"},
        "--tensorboard: \"--steps\" is not allowed: the path of a folder\n");
    row("forgotten value, attached", {"run", "--tensorboard", "--steps=5"},
        "--tensorboard: \"--steps=5\" is not allowed: the path of a folder\n");
    row("too much", {"presets", "more"}, "\"more\" is one argument too many for presets\n");
    row("two commands", {"presets", "devices"},
        "\"devices\" is one argument too many for presets\n");
    row("three words", {"presets", "bench", "x"},
        "\"bench\" is one argument too many for presets\n");
    row("two files", {"run", "a.json", "b.json"}, "\"b.json\" is one argument too many for run\n");
    row("two shards", {"run", "a.tar", "b.tar"},
        "\"b.tar\" is one argument too many for run; to train on several shards, name the folder "
        "of the shards\n");
    for (const char* command : {"sweep", "describe", "pytorch"})
        row((std::string("two shards for ") + command).c_str(), {command, "a.tar", "b.tar"},
            (std::string("\"b.tar\" is one argument too many for ") + command +
             "; to train on several shards, name the folder of the shards\n")
                .c_str());
    row("shards elsewhere", {"evaluate", "a", "b.tar"},
        "\"b.tar\" is one argument too many for evaluate\n");
    row("shards in braces", {"run", "no/s-{000000..000002}.tar"},
        "no/s-{000000..000002}.tar: there is no such file; to train on several shards, name the "
        "folder of the shards\n");
    row("shards in brackets", {"run", "no/s-[01].tar"},
        "no/s-[01].tar: there is no such file; to train on several shards, name the folder of the "
        "shards\n");
    row("preset", {"run", "--preset", "overfow"},
        "\"overfow\" is not a preset; the nearest one is overflow");
    row("file and preset", {"run", "a.json", "--preset", "overflow"},
        "an experiment file and --preset: give one of them");
    row("missing file", {"run", "no/such.json"}, "no/such.json: cannot read: ");
    row("folder without a run", {"run", "/usr"},
        "/usr: the folder holds no saved run (experiment.json), no files of MNIST or CIFAR, no "
        "pair "
        "of arrays (x.npy and y.npy), no shards (.tar) and no folders of pictures");
    row("program", {"run", "/bin/sh"}, "/bin/sh: neither an experiment (JSON) nor data");
    row("steps", {"run", "--steps", "many"},
        "run.steps: \"many\" is not allowed: a whole number from 1 to 1000000000");
    row("no steps", {"run", "--steps", "0"}, "run.steps: 0 is not allowed");
    row("no epochs", {"run", "--epochs", "0"},
        "run.epochs: 0 is not allowed with --epochs: at least 1; --steps sets");
    row("preset among lanes", {"run", "--lanes", "fp32,pure-fp16"},
        "--lanes: \"pure-fp16\" is a preset, not a precision: --preset pure-fp16 has the lanes "
        "fp32,amp-fp16,fp16\n");
    row("no file of a network", {"run", "--set", "model.layers=@/no/net.py"},
        "--set: model.layers: /no/net.py: ");
    row("seed", {"run", "--seed", "-1"}, "run.seed: -1 is not allowed: a whole number from 0");
    row("device", {"run", "--device", "tpu"},
        "run.device: \"tpu\" is not allowed: auto, cpu, cuda or cuda:INDEX, or one for each "
        "lane with commas between");
    row("threads", {"run", "--threads", "-3"}, "run.threads: -3 is not allowed");
    row("lanes", {"run", "--lanes", "fp32,fp4"},
        "--lanes: precision: \"fp4\" is not allowed: one of fp32, amp-fp16, amp-bf16, fp16, tf32");
    row("seven lanes", {"run", "--lanes", "fp32,fp32,fp32,fp32,fp32,fp32,fp32"},
        "lanes: 7 lanes are not allowed: 1 to 6");
    row("empty lanes", {"run", "--lanes", ""},
        "--lanes: \"\" is not allowed: one to six precisions, such as fp32,amp-fp16");
    row("empty steps", {"run", "--steps", ""},
        "--steps: \"\" is not allowed: a whole number from 1");
    row("empty preset", {"run", "--preset", ""}, "--preset: \"\" is not allowed: the name of");
    row("empty folder", {"run", "--out", ""}, "--out: \"\" is not allowed: the path of a folder");
    row("empty lane", {"describe", "--lane", ""}, "--lane: \"\" is not allowed: the name of");
    row("foreign preset", {"run", "--preset", "imagenet"},
        "\"imagenet\" is not a preset; there are: checkerboard, ");
    row("foreign setting", {"run", "--set", "foo=1"},
        "\"foo\" is an unknown setting; halfscope-cli settings lists all\n");
    row("foreign lane", {"describe", "--lane", "quantized"},
        "\"quantized\" is not a lane of this experiment; there are: fp32, amp-fp16\n");
    row("foreign layer", {"pytorch", "--set", "precision.layers=foo=float16"},
        "precision.layers: \"foo\" is not a layer of this network; there are: ");
    row("setting", {"run", "--set", "scaler.growth=1"},
        "\"scaler.growth\" is an unknown setting; the nearest known one is scaler.growth_factor");
    row("setting without value", {"run", "--set", "scaler.mode"},
        "\"scaler.mode\" is not a setting: KEY=VALUE");
    row("picture", {"run", "--preset", "picture", "--set", "task.image=no/such.png"},
        "no/such.png");
    row("picture as data.path", {"run", "--set", "data.kind=image", "--set", "data.path=a.jpg"},
        "data.path: with data.kind image, task.image names the picture: --set task.image=a.jpg\n");
    row("picture with a space as data.path",
        {"run", "--set", "data.kind=image", "--set", "data.path=a b.jpg"},
        "--set task.image='a b.jpg'\n");
    row("data.path of a preset", {"run", "--preset", "picture", "--set", "data.path=a.jpg"},
        "task.image names the picture");
    row("lane of describe", {"describe", "--lane", "amp-fp61"},
        "--lane: \"amp-fp61\" is not a lane of this experiment; the nearest one is amp-fp16");
    row("settings that exclude each other", {"describe", "--set", "scaler.floor=1e9"},
        "scaler.init_scale: 65536 is not allowed: at least scaler.floor, 1e+09");
    row("name of two lines", {"run", "no\nsuch.json"}, "no\\nsuch.json: cannot read: ");
    row("two forms", {"describe", "--dot", "--json"}, "--dot excludes --json");
    row("types of one lane", {"describe", "--lane", "fp32", "--types"}, "--lane excludes --types");
}

void TestCli::wrongUsage() {
    QFETCH(const QStringList, arguments);
    QFETCH(const QByteArray, message);
    const Outcome outcome = call(arguments);
    QCOMPARE(outcome.code, 2);
    QCOMPARE(outcome.out, QByteArray());
    QVERIFY2(outcome.error.contains(message) && outcome.saysOneLine(), outcome.error);
}

void TestCli::helpAndVersion() {
    const Outcome version = call({"--version"});
    QCOMPARE(version.code, 0);
    QVERIFY2(version.out.startsWith("halfscope-cli 0."), version.out);
    for (const QStringList& arguments : {QStringList{"--help"}, QStringList{"run", "--help"}}) {
        const Outcome help = call(arguments);
        QCOMPARE(help.code, 0);
        QCOMPARE(help.error, QByteArray());
        for (const char* word : {"Exit codes:", "130  interrupted", "--help"}) {
            QVERIFY2(help.out.contains(word), help.out);
        }
    }
    // the examples belong to the command that was asked about
    for (const char* command :
         {"run", "evaluate", "runs", "verify", "bench", "describe", "presets", "settings"}) {
        const QByteArray help = call({command, "--help"}).out;
        const QByteArray examples = help.mid(help.indexOf("interrupted;"));
        QCOMPARE(examples.count("halfscope-cli "),
                 examples.count(QByteArray("halfscope-cli ") + command + " "));
        QCOMPARE(help.count("Exit codes:"), qsizetype{1});
        QVERIFY2(!help.contains("Excludes:"), help); // CLI11's word for it
    }
    QVERIFY(call({"run", "--help"}).out.contains("halfscope-cli run --preset checkerboard"));
    const QByteArray described = call({"describe", "--help"}).out;
    QVERIFY2(described.contains("As JSON; not with --dot; not with --types\n"), described);
}

void TestCli::lists() {
    const Outcome list = call({"presets"});
    QCOMPARE(list.code, 0);
    // groups have a line of their own after an empty one, with their presets and sentences below
    const QList<QByteArray> lines = list.out.split('\n');
    qsizetype at = 0;
    std::string group;
    for (const Preset& preset : presets()) {
        if (preset.group.text() != group) {
            if (at > 0) QCOMPARE(lines.value(at++), QByteArray());
            QCOMPARE(lines.value(at++), QByteArray(preset.group.text()));
        }
        group = preset.group.text();
        const QByteArray line = lines.value(at++);
        QVERIFY2(line.startsWith(("  " + preset.name + " ").c_str()), line);
        QVERIFY2(line.endsWith((std::string(" ") + preset.about.text()).c_str()), line);
    }
    QCOMPARE(lines.size(), at + 1);
    const Outcome table = call({"presets", "--markdown"});
    QCOMPARE(table.code, 0);
    for (const Preset& preset : presets()) {
        const std::string row = "\n| [`" + preset.name + "`](preset:" + preset.name + ") | " +
                                preset.about.text() + " |\n";
        QVERIFY2(table.out.contains(row.c_str()), table.out);
        QVERIFY2(
            table.out.contains((std::string("\n| **") + preset.group.text() + "** | |\n").c_str()),
            table.out);
    }
    const Outcome devices = call({"devices"});
    QCOMPARE(devices.code, 0);
    QVERIFY2(devices.out.startsWith("cpu"), devices.out);
    QVERIFY2(devices.out.contains("\ncuda:0") || devices.out.contains("\nNo CUDA: "), devices.out);
}

void TestCli::describes_data() {
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<QByteArray>("start");
    QTest::addColumn<QByteArray>("inside");
    QTest::newRow("text") << QStringList{} << QByteArray("%0 = ") << QByteArray("cast(");
    QTest::newRow("casts") << QStringList{} << QByteArray("%0 = ")
                           << QByteArray("x float32 -> float16, ");
    QTest::newRow("casts as json")
        << QStringList{"--json"} << QByteArray("{")
        << QByteArray("\"reason\": \"linear: lower precision (torch cuda float16)\"");
    QTest::newRow("fp32") << QStringList{"--lane", "fp32"} << QByteArray("%0 = ")
                          << QByteArray("matmul(");
    QTest::newRow("dot") << QStringList{"--dot"} << QByteArray("digraph") << QByteArray("->");
    QTest::newRow("types") << QStringList{"--types"}
                           << QByteArray(
                                  "layer         function    fp32     amp-fp16\n"
                                  "layer 0       linear      float32  float16, 3 casts\n"
                                  "norm 0        batch_norm  float32  float16 (float32 inside)\n")
                           << QByteArray("\nloss          mse_loss    float32  float32, 1 cast\n");
    QTest::newRow("json") << QStringList{"--json"} << QByteArray("{") << QByteArray("\"nodes\"");
}

void TestCli::describes() {
    QFETCH(const QStringList, more);
    QFETCH(const QByteArray, start);
    QFETCH(const QByteArray, inside);
    const Outcome outcome = call(QStringList{"describe", "--preset", "checkerboard"} + more);
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.error, QByteArray());
    QVERIFY2(outcome.out.startsWith(start), outcome.out.left(200));
    QVERIFY2(outcome.out.contains(inside), outcome.out.left(200));
    // Half precision appears only in the lane that has it.
    QCOMPARE(outcome.out.contains("float16"), !more.contains("fp32"));
    if (more.contains("--json")) QVERIFY(!QJsonDocument::fromJson(outcome.out).isNull());
}

/// A network's file may have other lines of Python around it, as a text that was pasted may.
void TestCli::networksFromFiles() {
    const QTemporaryDir folder;
    QFile file(folder.filePath("net.py"));
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(
        "from torch import nn\n\n# small\nmodel = nn.Sequential(\n    nn.Linear(2, 3),  # in\n"
        "    nn.ReLU(),\n    nn.Linear(3, 2),\n)\n");
    file.close();
    const auto described = [](const QString& layers) {
        return call({"describe", "--preset", "moons", "--set", "model.layers=" + layers});
    };
    const Outcome text = described("nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))");
    QVERIFY2(text.code == 0, text.error);
    for (const char* mark : {"", "@"}) {
        const Outcome outcome = described(mark + file.fileName());
        QVERIFY2(outcome.code == 0, outcome.error);
        QCOMPARE(outcome.out, text.out);
    }
    // as the window finds it, in a program with a class and its training
    const auto program = [&](const QByteArray& result) {
        QFile net(folder.filePath("train.py"));
        if (!net.open(QFile::WriteOnly)) return QString();
        net.write("from torch import nn\nwidth = 3\nclass Net(nn.Module):\n"
                  "    def __init__(self):\n        super().__init__()\n"
                  "        self.net = nn.Sequential(nn.Linear(2, width), nn.ReLU(),\n"
                  "                                 nn.Linear(width, 2))\n"
                  "    def forward(self, x):\n        return " +
                  result + "\nmodel = Net().cuda()\n");
        return net.fileName();
    };
    const Outcome found = described(program("self.net(x)"));
    QVERIFY2(found.code == 0, found.error);
    QCOMPARE(found.out, text.out);
    const Outcome more = described(program("2 * self.net(x)"));
    QCOMPARE(more.code, 2);
    QVERIFY2(more.error.contains("train.py: forward() in line 8 does more than run self.net; "),
             more.error);
    // read layer by layer from forward(), and never as a text to train on
    QFile digits(folder.filePath("class.txt"));
    QVERIFY(digits.open(QFile::WriteOnly));
    digits.write("class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                 "        self.fc2 = nn.Linear(3, 2)\n        self.fc1 = nn.Linear(2, 3)\n"
                 "    def forward(self, x):\n        return self.fc2(F.relu(self.fc1(x)))\n");
    digits.close();
    const Outcome joined = described('@' + digits.fileName());
    QVERIFY2(joined.code == 0, joined.error);
    QVERIFY2(joined.out.contains("fc1"), joined.out.left(200));
    const Outcome data = call({"run", digits.fileName()});
    QCOMPARE(data.code, 2);
    QVERIFY2(data.error.contains("class.txt: the text is a network, not data to train on; "),
             data.error);
}

void TestCli::describesWaysToRun() {
    const auto describe = [](const char* module, const QStringList& more = {}) {
        qputenv("HALFSCOPE_CUDA_MODULE",
                QByteArray(HALFSCOPE_FAKE_MODULES "/lib") + module + ".so");
        const Outcome outcome =
            call(QStringList{"describe", "--preset", "regression", "--device", "cuda"} + more);
        qunsetenv("HALFSCOPE_CUDA_MODULE");
        return outcome;
    };
    const Outcome text = describe("fake_good");
    QCOMPARE(text.code, 0);
    QVERIFY(text.out.startsWith("%0 = "));
    QVERIFY2(
        text.out.endsWith("Ways to run this step on cuda (Fake 0), the one taken with a star:\n"
                          "  usual                         2.0000 ms\n"
                          "* other                         1.0000 ms\n"
                          "  third                              -     no\n"),
        text.out.right(400));
    const QJsonObject json =
        QJsonDocument::fromJson(describe("fake_good", {"--json"}).out).object();
    QVERIFY(json.contains("nodes"));
    const QJsonArray ways = json["device"].toObject()["ways"].toArray();
    QCOMPARE(ways.size(), 3);
    QCOMPARE(ways[1].toObject()["chosen"].toBool(), true);
    const Outcome none = describe("fake_no_device");
    QCOMPARE(none.code, 3);
    QCOMPARE(none.out, QByteArray());
    QCOMPARE(none.error, QByteArray("halfscope-cli: device cuda is not there: the NVIDIA driver is "
                                    "too old: version 1, at least 2 needed\n"));
}

void TestCli::settingsReference() {
    const Outcome outcome = call({"settings"});
    QCOMPARE(outcome.code, 0);
    QCOMPARE(outcome.out, QByteArray::fromStdString(fieldReference()));
}

void TestCli::fullStandardOutput() {
    if (!QFile::exists("/dev/full")) QSKIP("this system has no /dev/full");
    const Outcome outcome = callShell("\"$0\" presets > /dev/full");
    QCOMPARE(outcome.code, 1);
    QCOMPARE(outcome.error, QByteArray("halfscope-cli: standard output: cannot write: No space "
                                       "left on device\n"));
}

void TestCli::closedPipe() {
    // The reader leaves at once: a listing ends without an error, and a training still writes its
    // files.
    const Outcome list = callShell("{ \"$0\" settings; echo \"code $?\" >&2; } | true");
    QCOMPARE(list.error, QByteArray("code 0\n"));
    QTemporaryDir folder;
    const QString out = folder.filePath("out");
    const Outcome outcome =
        callShell("{ \"$0\" \"$@\" 2>&1; echo $? > \"" + folder.filePath("code") + "\"; } | true",
                  smallRun(out));
    QVERIFY2(!outcome.crashed, outcome.error);
    QCOMPARE(contentOf(folder.filePath("code")), QByteArray("0\n"));
    QCOMPARE(filesOf(out), kRunFiles);
}

void TestCli::missingDevice() {
    const Outcome outcome = call({"run", "--device", "cuda:99", "--steps", "1"});
    QCOMPARE(outcome.code, 3);
    QVERIFY2(outcome.saysOneLine(), outcome.error);
}

void TestCli::vectorSets() {
    const auto devices = [](const char* wanted) {
        qputenv(kVectorVariable, wanted);
        const Outcome outcome = call({"devices"});
        qunsetenv(kVectorVariable);
        return outcome;
    };
    for (const VectorSet set : kVectorSets)
        if (hasVectorSet(set)) {
            const Outcome outcome = devices(nameOf(set));
            QVERIFY2(outcome.out.contains(QByteArray(", ") + nameOf(set) + " vectors"),
                     outcome.out);
        }
    // All products of this step have enough rows (engine/cpu/matmul.cpp): the bits are the same.
    QByteArray narrowest;
    for (const VectorSet set : {VectorSet::Avx2, VectorSet::Avx512, VectorSet::Avx512Bf16}) {
        if (!hasVectorSet(set)) continue;
        QTemporaryDir folder;
        const QString out = folder.filePath("out");
        qputenv(kVectorVariable, nameOf(set));
        const Outcome run =
            call({"run", "--preset", "checkerboard", "--lanes", "fp32,amp-fp16,amp-bf16", "--steps",
                  "4", "--device", "cpu", "--quiet", "--out", out});
        qunsetenv(kVectorVariable);
        QVERIFY2(run.code == 0, run.error);
        const QByteArray steps = contentOf(out + "/steps.csv");
        QVERIFY(!steps.isEmpty());
        if (narrowest.isEmpty()) narrowest = steps;
        QCOMPARE(steps, narrowest);
    }
    const Outcome wrong = devices("sse");
    QCOMPARE(wrong.code, 3);
    QCOMPARE(wrong.error, QByteArray("halfscope-cli: HALFSCOPE_CPU_VECTORS: \"sse\" is not one of "
                                     "portable, avx2, avx512, avx512bf16 and amx\n"));
}

/// A preset sets what its scaler's users are used to, but not what is given beside it.
void TestCli::presetsOfScalers() {
    QTemporaryDir folder;
    const Outcome run = call(smallRun(folder.path() + "/out", {"--set", "scaler.init_scale=8",
                                                               "--set", "scaler.preset=megatron"}));
    QVERIFY2(run.code == 0, run.error);
    const ScalerConfig scaler =
        readConfig(folder.filePath("out/experiment.json").toStdString()).lanes[1].scaler;
    QCOMPARE(scaler.initScale, 8.0);
    ScalerConfig megatron;
    QVERIFY(scaler.rules.growthInterval != megatron.rules.growthInterval);
    applyScalerPreset(megatron, "megatron");
    QCOMPARE(scaler.rules.growthInterval, megatron.rules.growthInterval);
}

/// The program finds its weights from whichever folder it is run.
void TestCli::pytorchRunsAnywhere() {
    const QTemporaryDir folder;
    const Outcome printed =
        call({"pytorch", "--preset", "recipe-plain", "--weights", "w.safetensors"}, folder.path());
    QVERIFY2(printed.code == 0, printed.error);
    const QString path = QFileInfo(folder.path()).canonicalFilePath() + "/w.safetensors";
    QVERIFY2(printed.out.contains("\"" + path.toUtf8() + "\""), printed.out);
}

/// It is the file itself, to the last byte.
void TestCli::recorder() {
    const QByteArray file =
        contentOf(QStringLiteral(HALFSCOPE_SOURCE_DIR "/resources/pytorch/halfscope_recorder.py"));
    const Outcome printed = call({"recorder"});
    QVERIFY2(printed.code == 0, printed.error);
    QVERIFY(file.contains("class Recorder:") && printed.out == file);
    const Outcome refused = call({"recorder", "out"});
    QVERIFY2(refused.code == 2 && refused.saysOneLine(), refused.error);
    QVERIFY2(refused.error.contains("\"out\" is one argument too many for recorder"),
             refused.error);
}

void TestCli::noQt() {
    const QByteArray binary = contentOf(program());
    QVERIFY(binary.startsWith("\x7f"
                              "ELF"));
    QVERIFY2(!binary.contains("libQt6"), "runs where no Qt is installed");
}

/// The end of the input counts as no. Each data set has a folder of its own.
void TestCli::asksBeforeItDownloads() {
    const QTemporaryDir home;
    const auto asked = [&home](const QString& name) {
        const Outcome outcome = callShell("XDG_DATA_HOME=\"$1\" exec \"$0\" get \"$2\" </dev/null",
                                          {home.path(), name});
        return outcome.code == 1 && outcome.out.isEmpty() ? outcome.error : QByteArray("failed");
    };
    const QByteArray folder = home.path().toUtf8() + "/halfscope/";
    const QByteArray end = "? [y/N] \nNothing was downloaded; --yes does it without asking.\n";
    QCOMPARE(asked("mnist"), "Download MNIST, 11.6 MB in four files, from "
                             "https://ossci-datasets.s3.amazonaws.com/mnist/ into " +
                                 folder + "mnist" + end);
    QCOMPARE(asked("fashion-mnist"),
             "Download Fashion-MNIST, 30.9 MB in four files, from "
             "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/ into " +
                 folder + "fashion-mnist" + end);
    QVERIFY(QDir(home.path()).isEmpty());
}

/// It has other files than those that were published.
void TestCli::takesTheServerItIsTold() {
    const QTemporaryDir folder;
    HttpServer server;
    server.put("train-images-idx3-ubyte.gz", {"x"});
    const QString address = QString::fromStdString(server.address());
    for (const auto& [name, bytes] : {std::pair("mnist", 9912422), {"fashion-mnist", 26421880}}) {
        const Outcome outcome =
            call({"get", name, folder.filePath(name), "--from", address.chopped(1), "--yes"});
        QCOMPARE(outcome.code, 1);
        const QString told =
            QStringLiteral("halfscope-cli: %1train-images-idx3-ubyte.gz: the server "
                           "sent a different file (1 bytes in place of %2); it was "
                           "discarded\n")
                .arg(address)
                .arg(bytes);
        QCOMPARE(outcome.error, told.toUtf8());
    }
}

void TestCli::presetLooksForItsData_data() {
    QTest::addColumn<QString>("where");
    QTest::addColumn<QString>("missing");
    const QString own = "halfscope/fashion-mnist", one = "t10k-labels-idx1-ubyte";
    QTest::newRow("all files") << own << QString();
    QTest::newRow("one is missing") << own << one;
    QTest::newRow("packaged") << "datasets/fashion-mnist" << QString();
    QTest::newRow("packaged, one is missing") << "datasets/fashion-mnist" << one;
}

/// What was fetched into the usual folder, or a package has put beside the system's data, is found
/// if it is complete; otherwise a line says how to get it.
void TestCli::presetLooksForItsData() {
    QFETCH(const QString, where);
    QFETCH(const QString, missing);
    const QTemporaryDir home;
    const QString folder = home.filePath(where);
    QVERIFY(QDir().mkpath(folder));
    constexpr uint32_t kCount = 256, kSide = 28;
    for (const char* start : {"train", "t10k"}) {
        const std::string base = folder.toStdString() + "/" + start;
        writeBytes(
            base + "-images-idx3-ubyte.gz",
            gzipBytes(idxBytes({kCount, kSide, kSide}, std::string(kCount * kSide * kSide, '\1'))));
        writeBytes(base + "-labels-idx1-ubyte.gz",
                   gzipBytes(idxBytes({kCount}, std::string(kCount, '\1'))));
    }
    if (!missing.isEmpty()) QVERIFY(QFile::remove(folder + "/" + missing + ".gz"));
    const QString out = home.filePath("out");
    const Outcome outcome = callShell("XDG_DATA_HOME=\"$1\" XDG_DATA_DIRS=\"$1\" exec \"$0\" run "
                                      "--preset fashion-cnn --steps 1 --device cpu "
                                      "--out \"$2\"",
                                      {home.path(), out});
    QVERIFY2(outcome.code == 0, outcome.error);
    const QByteArray used = contentOf(out + "/experiment.json");
    QCOMPARE(used.contains(folder.toUtf8()), missing.isEmpty());
    const bool installed = QFile::exists("/usr/share/datasets/fashion-mnist");
    QCOMPARE(outcome.error.count("halfscope-cli get fashion-mnist, brings Fashion-MNIST.\n"),
             missing.isEmpty() || installed ? 0 : 1);
}

/// The network of a preset is fitted to other data, which is told; one that was given is not.
void TestCli::presetOnOtherData() {
    const QTemporaryDir folder;
    const QString text = folder.filePath("text.txt");
    writeBytes(text.toStdString(), std::string("abcd abcd dcba abcd bcda ").append(400, 'e'));
    const QStringList run{"run",     "--preset", "transformer-tiny", "--set", "data.path=" + text,
                          "--steps", "1",        "--device",         "cpu"};
    const Outcome fitted = call(run);
    QVERIFY2(fitted.code == 0, fitted.error);
    QVERIFY2(fitted.error.contains("\nThe network of the preset is fitted to the data: it ends in "
                                   "Linear(2048, 6)\n"),
             fitted.error);
    const Outcome given = call(run + QStringList{"--set", "model.layers=Embedding(5, 2)"});
    QCOMPARE(given.code, 2);
    QVERIFY2(given.error.contains("num_embeddings must be at least 6"), given.error);
}

} // namespace tst_cli

QTEST_GUILESS_MAIN(tst_cli::TestCli)
#include "tst_cli.moc"
