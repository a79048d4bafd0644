// Splits by class as PyTorch's programs make them: of each class, as many samples are held back,
// and as many of these kept for a test, as by us. ./dev clients runs this.
#include "engine/data/dataset.h"
#include "engine/io/npy.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"
#include "tests/support/pytorch_program.h"
#include "tests/support/utf16.h"

#include <QDir>
#include <QTest>

#include <array>

namespace tst_pytorch_splits {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Prints how many samples of each class are trained on, validated on and kept for the test.
const QString kCountingDriver = kImport + R"(
import torch
training, held = program.samples()
for _, target in training, *program.with_test(*held):
    print(*torch.bincount(target, minlength=3).tolist())
)";

/// Prints the same where the data keep a test by themselves.
const QString kDividedDriver = kImport + R"(
import torch
for _, target in program.samples():
    print(*torch.bincount(target, minlength=3).tolist())
)";

/// Class 0 has most of the samples, class 1 a few, class 2 two.
constexpr int kSamples = 64;
int classAt(int sample) { return sample % 32 == 5 ? 2 : sample % 7 == 0 ? 1 : 0; }

QString countsOf(const Dataset& data) {
    QStringList sides;
    const auto add = [&sides](const Dataset& of, Split split) {
        std::vector<int> counts(3);
        for (int64_t i = 0; i < of.samples(split); ++i) {
            Batch batch = Batch::of(of.tensors(), 1);
            of.read(split, {&i, 1}, batch);
            ++counts.at(static_cast<size_t>(batch.labels(kTarget)[0]));
        }
        sides << QStringLiteral("%1 %2 %3").arg(counts[0]).arg(counts[1]).arg(counts[2]);
    };
    add(data, Split::Train);
    add(data, Split::Validation);
    if (data.test()) add(*data.test(), Split::Validation);
    return sides.join('\n');
}

} // namespace

class TestPyTorchSplits : public QObject {
    Q_OBJECT
private slots:
    void agree_data();
    void agree();
    void ownTables_data();
    void ownTables();
    void folderForTheTest_data();
    void folderForTheTest();

private:
    QString write(const char* name, const std::string& bytes) const {
        const QString path = m_folder.filePath(QLatin1String(name));
        writeFileAtomically(path.toStdString(), bytes);
        return path;
    }
    QString table() const;
    QString arrays() const;
    void addUnusual() const;
    QString texts() const;
    QString pictures() const;
    QString dividedPictures() const;

    QTemporaryDir m_folder;
};

QString TestPyTorchSplits::table() const {
    std::string text = "a,kind\n";
    for (int i = 0; i < kSamples; ++i)
        text += std::to_string(i) + ",c" + std::to_string(classAt(i)) + "\n";
    return write("table.csv", text);
}

QString TestPyTorchSplits::arrays() const {
    std::vector<float> x;
    std::string y;
    for (int i = 0; i < kSamples; ++i) {
        x.push_back(static_cast<float>(i));
        y += static_cast<char>(classAt(i));
    }
    write("y.npy", npy("|u1", "(" + std::to_string(kSamples) + ",)", y));
    return write("x.npy", npyBytes(std::vector<int64_t>{kSamples, 1}, x));
}

QString TestPyTorchSplits::texts() const {
    std::string text = "text,kind\n";
    for (int i = 0; i < kSamples; ++i)
        text += "the number " + std::to_string(i) + " of all,c" + std::to_string(classAt(i)) + "\n";
    return write("texts.csv", text);
}

QString TestPyTorchSplits::pictures() const {
    for (int i = 0; i < kSamples; ++i) {
        const QString folder = m_folder.filePath("pictures/c%1").arg(classAt(i));
        QDir().mkpath(folder);
        writePng(plain(0, 0, 0), QStringLiteral("%1/%2.png").arg(folder).arg(i).toStdString());
    }
    return m_folder.filePath("pictures");
}

void TestPyTorchSplits::agree_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::newRow("table") << QStringList{"data.kind=csv", "data.path=" + table()};
    const QString x = arrays(), y = m_folder.filePath("y.npy");
    QTest::newRow("arrays") << QStringList{"data.kind=arrays", "data.x=" + x, "data.y=" + y};
    QTest::newRow("texts") << QStringList{
        "data.kind=text-classes", "data.path=" + texts(), "data.context=8",
        "model.layers=nn.Sequential(nn.Embedding(200, 4), nn.Flatten(), nn.Linear(32, 3))"};
    QTest::newRow("pictures") << QStringList{
        "data.kind=pictures", "data.path=" + pictures(),
        "model.layers=nn.Sequential(nn.Flatten(), nn.Linear(3072, 3))"};
}

void TestPyTorchSplits::agree() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QStringList, settings);
    for (const char* share : {"0.05", "0.3", "0.95"}) {
        RunConfig config = presetNamed("checkerboard").config;
        config.lanes = parseLanes("fp32");
        for (const QString& setting :
             settings + QStringList{"task.loss=cross-entropy", "task.batch=1", "model.norm=none",
                                    "data.stratify=true", "data.test_share=0.5"})
            applySetting(config, setting.toStdString());
        applySetting(config, std::string("data.validation=") + share);
        Experiment experiment(config);
        const QString printed =
            printedByProgram(m_folder, kCountingDriver, config, experiment.lane(0), 1);
        QCOMPARE(printed.trimmed(), countsOf(*makeDataset(taskOf(config), 0)));
    }
}

/// Adds tables that are packed or not text in UTF-8, and numbers whose differences float32 does not
/// hold.
void TestPyTorchSplits::addUnusual() const {
    using namespace std::string_literals;
    const QString latin = write("latin.csv", "a,b,kind\n1,m\xfchle,\xe4gypten\n3,haus,low\n"
                                             "2,haus,\xe4gypten\n5,m\xfchle,low\n");
    QTest::newRow("not UTF-8") << QStringList{
        "data.kind=csv", "data.path=" + latin,
        "data.validation_path=" + write("latin2.csv", "a,b,kind\n4,m\xfchle,\xe4gypten\n")};
    const QString times = write("times.csv", "t,day,kind\n1600000000,2459000.5,low\n"
                                             "1600000001,2459000.51,high\n"
                                             "1600000003,2459000.55,low\n");
    QTest::newRow("times") << QStringList{
        "data.kind=csv", "data.path=" + times,
        "data.validation_path=" + write("times2.csv", "t,day,kind\n1600000002,2459000.6,low\n")};
    QTest::newRow("classes written otherwise") << QStringList{
        "data.kind=csv", "data.path=" + write("whole.csv", "a,kind\n1,7\n2,high\n3,8\n"),
        "data.validation_path=" + write("real.csv", "a,kind\n4,8.0\n5,+7\n6,high\n")};
    const std::string saved = "größe;farbe;kind\r\n1,5;grün;low\r\n2;日本 😀;high\r\n3;grün;low\r\n";
    QTest::newRow("packed, UTF-16, and both") << QStringList{
        "data.kind=csv", "data.path=" + write("saved.csv.gz", gzipBytes(saved)),
        "data.validation_path=" + write("unicode.csv", markedUtf16(saved)),
        "data.test_path=" + write("both.csv.gz", gzipBytes(markedUtf16(saved, ByteOrder::Big)))};
    QTest::newRow("UTF-16, the last ones held back")
        << QStringList{"data.kind=csv", "data.path=" + write("alone.csv", markedUtf16(saved)),
                       "data.validation=0.34", "data.held_back=last"};
    const auto wide = [](std::initializer_list<double> values) {
        return npy("<f8", "(" + std::to_string(values.size()) + ",)",
                   bytesOfValues<double>(values));
    };
    QTest::newRow("times in arrays")
        << QStringList{"data.kind=arrays",
                       "data.x=" + write("times.npy", wide({1.6e9, 1.6e9 + 1, 1.6e9 + 3})),
                       "data.y=" + write("kinds.npy", npy("|u1", "(3,)", "\0\1\0"s)),
                       "data.x_val=" + write("times2.npy", wide({1.6e9 + 2})),
                       "data.y_val=" + write("kinds2.npy", npy("|u1", "(1,)", "\1"s)),
                       "data.standardise_x=true"};
}

void TestPyTorchSplits::ownTables_data() {
    QTest::addColumn<QStringList>("settings");
    const QString train = write("train.csv", "a;colour;dry;kind\n1;red;yes;low\n3;blue;no;high\n"
                                             "1;red;no;mid\n3,5;blue;yes;low\n5;red;no;low\n"
                                             "6;blue;no;high\n7;red;no;mid\n"),
                  valid =
                      write("valid.csv", "kind,x,a,dry,colour\nmid,q,2,0,red\nlow,q,NA,yes,teal\n"
                                         ",,,,\nlow,q,4.5,yes,blue\n"),
                  test = write("test.csv", "colour\ta\tdry\tkind\nblue\t3\tno\thigh\n"
                                           "red\t5\tyes\tlow\n");
    const QString kind = "data.kind=csv", path = "data.path=" + train,
                  judged = "data.validation_path=" + valid, tested = "data.test_path=" + test;
    QTest::newRow("all") << QStringList{kind, path, judged, tested, "data.missing=mean"};
    QTest::newRow("lines left out") << QStringList{kind, path, judged, tested, "data.missing=drop"};
    QTest::newRow("validation") << QStringList{kind, path, judged, "data.missing=mean"};
    // the last ones, because chance chooses others in a program
    QTest::newRow("test") << QStringList{
        kind, path, tested, "data.validation=0.3", "data.held_back=last", "data.test_share=0.5"};
    addUnusual();
    const auto array = [](const std::vector<float>& values) {
        return npyBytes(std::vector<int64_t>{static_cast<int64_t>(values.size()) / 2, 2}, values);
    };
    const auto labels = [](const std::string& bytes) {
        return npy("|u1", "(" + std::to_string(bytes.size()) + ",)", bytes);
    };
    using namespace std::string_literals;
    const QString archive =
        write("all.npz", zipBytes({{"x.npy", array({1, 10, 2, 30, 4, 20, 8, 50, 9, 60})},
                                   {"y.npy", labels("\0\1\2\1\0"s)},
                                   {"x_valid.npy", array({5, 5, 7, 7})},
                                   {"y_valid.npy", labels("\2\1"s)}}));
    const QString x = write("x_test.npy", array({3, 3, 6, 6, 9, 9})),
                  y = write("y_test.npy", labels("\0\0\2"s));
    const QStringList arrays{"data.kind=arrays", "data.x=" + archive, "data.standardise_x=true"},
        tests{"data.x_test=" + x, "data.y_test=" + y};
    QTest::newRow("arrays") << arrays + tests + QStringList{"data.x_val=" + archive};
    QTest::newRow("arrays to validate on") << arrays + QStringList{"data.x_val=" + archive};
    QTest::newRow("arrays to test on")
        << arrays + tests + QStringList{"data.validation=0.4", "data.held_back=last"};
}

/// Programs have the same numbers in each part, with the scale and the classes of the training.
void TestPyTorchSplits::ownTables() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QStringList, settings);
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32");
    for (const QString& setting :
         settings + QStringList{"task.loss=cross-entropy", "task.batch=2", "model.norm=none"})
        applySetting(config, setting.toStdString());
    Experiment experiment(config);
    const QString driver = kImport + R"(
for x, target in program.samples():
    for row, label in zip(x.tolist(), target.tolist()):
        print(label, *(f"{value:.4f}" for value in row))
    print("end")
)";
    const QString printed = printedByProgram(m_folder, driver, config, experiment.lane(0), 1);
    QString ours;
    const auto add = [&ours](const Dataset& of, Split split) {
        for (int64_t i = 0; i < of.samples(split); ++i) {
            Batch batch = Batch::of(of.tensors(), 1);
            of.read(split, {&i, 1}, batch);
            ours += QString::number(batch.labels(kTarget)[0]);
            for (const float value : batch.floats(kX))
                ours += " " + QString::number(double{value}, 'f', 4);
            ours += '\n';
        }
        ours += "end\n";
    };
    const auto data = makeDataset(taskOf(config), 0);
    add(*data, Split::Train);
    add(*data, Split::Validation);
    if (data->test()) add(*data->test(), Split::Validation);
    QCOMPARE(printed.trimmed(), ours.trimmed());
    const QString said =
        printedByProgram(m_folder, kImport + "sys.argv = sys.argv[:1]\nprogram.main()\n", config,
                         experiment.lane(0), 1);
    QVERIFY2(said.contains("fp32: validation loss "), qUtf8Printable(said));
    QCOMPARE(said.contains("fp32: test loss "), data->test() != nullptr);
}

/// Writes a folder to train on, one to validate on and one to test on, with other counts in each.
QString TestPyTorchSplits::dividedPictures() const {
    const auto write = [this](const char* part, const std::array<int, 3>& counts) {
        for (size_t kind = 0; kind < counts.size(); ++kind)
            for (int i = 0; i < counts[kind]; ++i) {
                const QString folder =
                    m_folder.filePath("divided/%1/c%2").arg(QLatin1String(part)).arg(kind);
                QDir().mkpath(folder);
                writePng(plain(1, 0, 0),
                         QStringLiteral("%1/%2.png").arg(folder).arg(i).toStdString());
            }
    };
    write("train", {7, 5, 3});
    write("val", {2, 1, 4});
    write("test", {1, 6, 2});
    return m_folder.filePath("divided");
}

void TestPyTorchSplits::folderForTheTest_data() {
    QTest::addColumn<QString>("mean");
    QTest::newRow("as they are") << "";
    QTest::newRow("normalised") << "auto";
}

/// The whole program runs as well, and judges the test.
void TestPyTorchSplits::folderForTheTest() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QString, mean);
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32");
    const std::string path = dividedPictures().toStdString();
    for (const std::string& setting :
         {std::string("data.kind=pictures"), "data.path=" + path, std::string("task.batch=4"),
          std::string("task.loss=cross-entropy"), std::string("model.norm=none"),
          "data.mean=" + mean.toStdString(),
          std::string("model.layers=nn.Sequential(nn.Flatten(), nn.Linear(3072, 3))")})
        applySetting(config, setting);
    Experiment experiment(config);
    const QString printed =
        printedByProgram(m_folder, kDividedDriver, config, experiment.lane(0), 1);
    QCOMPARE(printed.trimmed(), countsOf(*makeDataset(taskOf(config), 0)));
    const QString said =
        printedByProgram(m_folder, kImport + "sys.argv = sys.argv[:1]\nprogram.main()\n", config,
                         experiment.lane(0), 1);
    QVERIFY2(said.contains("fp32: validation loss "), qUtf8Printable(said));
    QVERIFY2(said.contains("fp32: test loss "), qUtf8Printable(said));
}

} // namespace tst_pytorch_splits

QTEST_GUILESS_MAIN(tst_pytorch_splits::TestPyTorchSplits)
#include "tst_pytorch_splits.moc"
