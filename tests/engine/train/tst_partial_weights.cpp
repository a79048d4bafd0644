// Trainings that begin with a part of a state dict: what the file has is taken, the rest is drawn
// as without a file, and what does not fit at all is refused. PyTorch takes the same parts when
// HALFSCOPE_PYTHON names a Python (./dev clients).
#include "engine/core/error.h"
#include "engine/io/safetensors.h"
#include "engine/settings/fields.h"
#include "engine/settings/idle_settings.h"
#include "engine/step/pytorch_script.h"
#include "engine/train/experiment.h"
#include "engine/train/state_dict.h"
#include "tests/support/array_files.h"
#include "tests/support/lane.h"
#include "tests/support/part_of_weights.h"
#include "tests/support/pytorch_program.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_partial_weights {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr const char* kModel = "nn.Sequential(nn.Linear(10, 7), nn.BatchNorm1d(7), nn.ReLU(), "
                               "nn.LayerNorm(7), nn.GELU(), nn.Linear(7, 1))";
constexpr int kWeights = 10; // of this model, without num_batches_tracked

RunConfig config(const std::string& lanes = "fp32,amp-fp16") {
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Regression;
    config.task.samples = 64;
    config.task.batch = 64;
    config.model.layers = kModel;
    config.lanes = parseLanes(lanes);
    config.seed = 3;
    config.steps = 4;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

} // namespace

class TestPartialWeights : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void takesWhatFits();
    void tellsWhatFits();
    void wholeFile();
    void onlyMore();
    void refuses_data();
    void refuses();
    void countsManyShapes();
    void settingNeedsAFile();
    void pyTorchTakesIt();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    /// Returns settings that take what fits of a file.
    static RunConfig partial(const std::string& file, const std::string& lanes = "fp32,amp-fp16") {
        RunConfig from = config(lanes);
        from.model.weights = file;
        from.model.partialWeights = true;
        return from;
    }
    QTemporaryDir m_folder;
    std::string m_whole, m_part; ///< a trained lane's weights, and some of them with another
    Weights m_trained;
};

void TestPartialWeights::initTestCase() {
    Experiment trained(config());
    train(trained);
    m_trained = trained.lane(0).weights();
    m_whole = writeBytes(path("whole.safetensors"), stateDictBytes(trained.lane(0), kModel, "1"));
    m_part =
        partOfWeights(m_whole, path("part.safetensors"), {"5.weight", "5.bias"}, {"fc.weight"});
}

void TestPartialWeights::takesWhatFits() {
    RunConfig from = partial(m_part, "fp32,amp-fp16,fp16");
    from.seed = 77;
    Experiment experiment(from);
    from.model.weights.clear();
    Experiment drawn(from);
    Weights wanted = m_trained;
    for (const char* name : {"5.weight", "5.bias"}) {
        wanted[name] = drawn.lane(0).weights().at(name);
        QVERIFY(wanted[name] != m_trained.at(name));
    }
    QCOMPARE(differentWeights(experiment.lane(0).weights(), wanted), 0);
    QCOMPARE(differentWeights(experiment.lane(1).weights(), wanted), 0);
    for (const auto& [name, values] : experiment.lane(2).weights())
        for (size_t i = 0; i < values.size(); ++i)
            QCOMPARE(values[i], roundTo(DType::F16, wanted.at(name)[i]));
    QCOMPARE(experiment.weightsNote().english(),
             "8 of 10 tensors of the network come from " + m_part +
                 "; initial values stay in: 5.weight, 5.bias; ignored: fc.weight");
    train(experiment);
}

/// Before anything is built, and when the file is to be taken as a whole.
void TestPartialWeights::tellsWhatFits() {
    const StateDictFit fit = stateDictFit(m_part, config());
    QCOMPARE(fit.wanted, size_t{kWeights});
    QCOMPARE(fit.taken, size_t{kWeights - 2});
    QCOMPARE(fit.missing, std::vector<std::string>({"5.weight", "5.bias"}));
    QCOMPARE(fit.unexpected, std::vector<std::string>({"fc.weight"}));
    QVERIFY(fit.partialProblem.empty());
    const std::string problem = "model.weights: " + m_part +
                                ": its arrays are not those of the network: missing: 5.weight, "
                                "5.bias; unexpected: fc.weight";
    QCOMPARE(fit.problem.english(), problem);
    QCOMPARE(thrownBy<InputError>([&] { checkStateDict(m_part, config()); }), problem);
    RunConfig strict = partial(m_part);
    strict.model.partialWeights = false;
    QCOMPARE(thrownBy<InputError>([&] { Experiment experiment(strict); }),
             problem + "; with model.partial_weights (--partial on the command line), the 8 of 10 "
                       "tensors that fit are taken");
}

void TestPartialWeights::wholeFile() {
    Experiment experiment(partial(m_whole));
    QCOMPARE(differentWeights(experiment.lane(1).weights(), m_trained), 0);
    QVERIFY(experiment.weightsNote().empty());
    QVERIFY(stateDictFit(m_whole, config()).problem.empty());
}

void TestPartialWeights::onlyMore() {
    const std::string more = partOfWeights(m_whole, path("more.safetensors"), {}, {"head", "tail"});
    Experiment experiment(partial(more));
    QCOMPARE(differentWeights(experiment.lane(0).weights(), m_trained), 0);
    QCOMPARE(experiment.weightsNote().english(),
             "10 of 10 tensors of the network come from " + more + "; ignored: head, tail");
}

void TestPartialWeights::refuses_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("extent"); // of a single array, next to those of the part; 0: alone
    QTest::addColumn<QString>("about");
    QTest::newRow("nothing fits")
        << "fc.weight" << 0
        << "nothing in it fits the network: missing: 0.weight, 0.bias, 1.weight, 1.bias, "
           "1.running_mean, 1.running_var, 3.weight, 3.bias and 2 more; unexpected: fc.weight";
    QTest::newRow("wrapped, another shape")
        << "module.0.bias" << 0
        << "its arrays are not those of the network: 0.bias has the shape (1,), the network (7,)";
    // PyTorch refuses it, too, and what is missing is no part of the problem
    QTest::newRow("another shape") << "5.bias" << 3
                                   << "its arrays are not those of the network: 5.bias has the "
                                      "shape (3,), the network (1,)";
}

void TestPartialWeights::refuses() {
    QFETCH(const QString, name);
    QFETCH(const int, extent);
    QFETCH(const QString, about);
    std::vector<Array> arrays;
    for (const ArrayInfo& each : safetensorsInfo(m_part).arrays)
        if (extent > 0) arrays.push_back(readSafetensor(m_part, each));
    std::vector<ArrayView> views;
    for (const Array& array : arrays)
        views.push_back({array.info.name, array.info.type, array.info.shape, array.bytes});
    const int64_t elements = std::max(extent, 1);
    const std::vector<std::byte> zeros(static_cast<size_t>(elements) * sizeof(float));
    views.push_back({name.toStdString(), ElementType::F32, {elements}, zeros});
    const std::string file = path("refused.safetensors");
    writeSafetensors(file, views, {});
    const std::string text = thrownBy<InputError>([&] { Experiment experiment(partial(file)); });
    const std::string start = "model.weights: " + file + ": " + about.toStdString();
    QVERIFY2(text.starts_with(start), text.c_str());
    QVERIFY2(extent == 0 || text == start, text.c_str());
    QCOMPARE(stateDictFit(file, config()).partialProblem.english(), text);
}

/// In the order of the network's layers, eight of them, and how many more there are.
void TestPartialWeights::countsManyShapes() {
    RunConfig wider = config();
    wider.model.layers = "nn.Sequential(nn.Linear(10, 8), nn.BatchNorm1d(8), nn.ReLU(), "
                         "nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 1))";
    QCOMPARE(stateDictFit(m_whole, wider).problem.english(),
             "model.weights: " + m_whole +
                 ": its arrays are not those of the network: "
                 "0.weight has the shape (7, 10), the network (8, 10); "
                 "0.bias has the shape (7,), the network (8,); "
                 "1.weight has the shape (7,), the network (8,); "
                 "1.bias has the shape (7,), the network (8,); "
                 "1.running_mean has the shape (7,), the network (8,); "
                 "1.running_var has the shape (7,), the network (8,); "
                 "3.weight has the shape (7,), the network (8,); "
                 "3.bias has the shape (7,), the network (8,); and 1 more");
}

/// It is saved with the experiment, and means nothing without a file.
void TestPartialWeights::settingNeedsAFile() {
    RunConfig from = config();
    applySetting(from, "model.partial_weights=true");
    QCOMPARE(idleSettings(from), std::vector<std::string>({"model.partial_weights"}));
    QVERIFY(pytorchScript(from).find("strict") == std::string::npos);
    applySetting(from, "model.weights=" + m_part);
    QCOMPARE(idleSettings(from), std::vector<std::string>());
    const std::string file = writeBytes(path("experiment.json"), configText(from));
    QVERIFY(readConfig(file).model.partialWeights);
    QVERIFY(!defaultConfig().model.partialWeights);
}

/// The program loads what fits: strictly, PyTorch would refuse the file.
void TestPartialWeights::pyTorchTakesIt() {
    if (lacksPython()) QSKIP(lacksPython());
    const std::string program = writeBytes(path("program.py"), pytorchScript(partial(m_part)));
    const QString driver = kImport + QStringLiteral(R"(
lane = next(iter(program.LANES.values()))
model, rows = program.train(lane, data, 0, weights)
print((model[0].weight - weights["0.weight"]).abs().max().item(), model[5].weight.numel())
)");
    QCOMPARE(python(driver, {QString::fromStdString(program), QString::fromStdString(m_part)}),
             QStringLiteral("0.0 7"));
}

} // namespace tst_partial_weights

QTEST_GUILESS_MAIN(tst_partial_weights::TestPartialWeights)
#include "tst_partial_weights.moc"
