// Samples of MNIST and CIFAR as PyTorch's programs read them: the same values and classes in the
// same order as ours, and changes at random that fit theirs. ./dev clients runs this.
#include "engine/data/dataset.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "tests/support/all_samples.h"
#include "tests/support/cifar_files.h"
#include "tests/support/pytorch_program.h"

#include <QSet>
#include <QTest>

#include <cmath>

namespace tst_pytorch_pictures {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Imports the program, which is the argument.
const QString kProgram = R"(
import importlib.util, sys
spec = importlib.util.spec_from_file_location("program", sys.argv[1])
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
)";

/// Prints the classes and the values of either side.
const QString kPrintingDriver = kProgram + R"(
for x, target in program.samples():
    print(*target.tolist())
    print(*map(repr, x.flatten().tolist()))
)";

/// Prints the values that occur when the first sample is changed very often, and how many different
/// samples come of it.
const QString kVaryingDriver = kProgram + R"(
import torch
(x, _), _ = program.samples()
torch.manual_seed(0)
x = program.varied(x[:1].expand(2000, *x.shape[1:]))
print(*map(repr, x.unique().tolist()))
print(len(x.flatten(1).unique(dim=0)))
)";

constexpr int kHigh = 4, kWide = 6;

} // namespace

class TestPyTorchPictures : public QObject {
    Q_OBJECT
private slots:
    void agree_data();
    void agree();
    void vary_data();
    void vary();

private:
    /// Writes MNIST with pictures of kHigh x kWide pixels, all of them white in the first sample.
    QString mnist() const;
    QString ten() const {
        writeCifar10(m_folder.filePath("ten"));
        return m_folder.filePath("ten");
    }
    QString hundred() const {
        writeCifar100(m_folder.filePath("hundred/cifar-100-binary"));
        return m_folder.filePath("hundred");
    }
    QString program(const RunConfig& config) const {
        const QString path = m_folder.filePath("program.py");
        writeFileAtomically(path.toStdString(), pytorchScript(config));
        return path;
    }

    QTemporaryDir m_folder;
};

QString TestPyTorchPictures::mnist() const {
    const QString folder = m_folder.filePath("mnist");
    QDir().mkpath(folder);
    for (const auto& [part, samples] : {std::pair("train", 5U), std::pair("t10k", 3U)}) {
        std::string pixels(size_t{kHigh * kWide}, '\377'), labels;
        for (size_t i = pixels.size(); i < samples * size_t{kHigh * kWide}; ++i)
            pixels += static_cast<char>(11 * i % 256);
        for (unsigned i = 0; i < samples; ++i)
            labels += static_cast<char>(7 * i % 10);
        const std::string start = (folder + "/" + part).toStdString();
        writeBytes(start + "-images-idx3-ubyte", idxBytes({samples, kHigh, kWide}, pixels));
        writeBytes(start + "-labels-idx1-ubyte", idxBytes({samples}, labels));
    }
    return folder;
}

/// Returns an experiment on the data with a network that fits any picture.
static RunConfig configOf(const QStringList& settings, const char* values, const char* classes) {
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32");
    for (const QString& setting :
         settings +
             QStringList{"task.loss=cross-entropy", "task.batch=1", "model.norm=none",
                         QStringLiteral("model.layers=nn.Sequential(nn.Flatten(), nn.Linear(%1, "
                                        "%2))")
                             .arg(QLatin1String(values), QLatin1String(classes))})
        applySetting(config, setting.toStdString());
    return config;
}

void TestPyTorchPictures::agree_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QByteArray>("values");
    QTest::addColumn<QByteArray>("classes");
    QTest::addColumn<double>("apart"); // what is measured is rounded in another way
    const auto row = [](const char* name, const QStringList& settings, const char* values,
                        const char* classes, double apart) {
        QTest::newRow(name) << settings << QByteArray(values) << QByteArray(classes) << apart;
    };
    const QStringList digits{"data.kind=mnist", "data.path=" + mnist()};
    const QStringList small{"data.kind=cifar", "data.path=" + ten()};
    const QStringList large{"data.kind=cifar", "data.path=" + hundred()};
    row("mnist", digits, "24", "10", 0);
    row("mnist, as PyTorch's example", digits + QStringList{"data.mean=0.1307", "data.std=0.3081"},
        "24", "10", 0);
    row("mnist, measured", digits + QStringList{"data.mean=auto", "data.std=auto"}, "24", "10",
        1e-5);
    row("cifar-10", small, "3072", "10", 0);
    row("cifar-10, by channel",
        small + QStringList{"data.mean=0.4914, 0.4822, 0.4465", "data.std=0.247, 0.2435, 0.2616"},
        "3072", "10", 0);
    row("cifar-100", large, "3072", "100", 0);
    row("cifar-100, measured", large + QStringList{"data.mean=auto", "data.std=auto"}, "3072",
        "100", 1e-5);
}

void TestPyTorchPictures::agree() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QStringList, settings);
    QFETCH(const QByteArray, values);
    QFETCH(const QByteArray, classes);
    QFETCH(const double, apart);
    const RunConfig config = configOf(settings, values.constData(), classes.constData());
    const auto data = makeDataset(taskOf(config), 0);
    const QStringList theirs = python(kPrintingDriver, {program(config)}).split('\n');
    QVERIFY2(theirs.size() == 4, qPrintable(theirs.join('\n').left(2000)));
    for (const Split split : {Split::Train, Split::Validation}) {
        const auto line = 2 * static_cast<qsizetype>(split);
        const Batch ours = allOf(*data, split);
        QStringList labels;
        for (const int32_t label : ours.labels(kTarget))
            labels << QString::number(label);
        QCOMPARE(theirs[line], labels.join(' '));
        const QStringList numbers = theirs[line + 1].split(' ');
        const std::span<const float> x = ours.floats(kX);
        QCOMPARE(static_cast<size_t>(numbers.size()), x.size());
        for (size_t i = 0; i < x.size(); ++i) {
            const double off =
                std::abs(numbers[static_cast<qsizetype>(i)].toDouble() - double{x[i]});
            QVERIFY2(off <= apart,
                     qPrintable(QStringLiteral("value %1: %2 apart").arg(i).arg(off)));
        }
    }
}

void TestPyTorchPictures::vary_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QSet<QString>>("values");
    QTest::addColumn<int>("different");
    const QStringList moved{"data.kind=mnist", "data.path=" + mnist(), "data.crop=1"};
    QTest::newRow("moved") << moved << QSet<QString>{"0.0", "1.0"} << 9;
    QTest::newRow("moved, normalised")
        << moved + QStringList{"data.mean=0.5", "data.std=0.25", "data.flip=true"}
        << QSet<QString>{"-2.0", "2.0"} << 9; // a white picture is its mirror image
}

/// What a move leaves behind is black, also after the mean is subtracted, and pictures that are
/// wider than high stay so.
void TestPyTorchPictures::vary() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QStringList, settings);
    QFETCH(const QSet<QString>, values);
    QFETCH(const int, different);
    const RunConfig config = configOf(settings, "24", "10");
    const QStringList theirs = python(kVaryingDriver, {program(config)}).split('\n');
    QVERIFY2(theirs.size() == 2, qPrintable(theirs.join('\n').left(2000)));
    const QStringList seen = theirs[0].split(' ');
    QCOMPARE(QSet<QString>(seen.begin(), seen.end()), values);
    QCOMPARE(theirs[1].toInt(), different);
}

} // namespace tst_pytorch_pictures

QTEST_GUILESS_MAIN(tst_pytorch_pictures::TestPyTorchPictures)
#include "tst_pytorch_pictures.moc"
