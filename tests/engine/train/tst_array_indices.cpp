// Arrays of whole numbers as indices, for networks that begin with an Embedding.
#include "engine/core/error.h"
#include "engine/data/gallery.h"
#include "engine/io/npy.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/run_task.h"
#include "engine/step/model_shapes.h"
#include "engine/step/pytorch_script.h"
#include "engine/train/experiment.h"
#include "engine/train/onnx_file.h"
#include "engine/train/predicted_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_array_indices {

using namespace halfscope;

namespace {

constexpr int kSamples = 120, kLength = 6, kTokens = 30;
constexpr const char* kNetwork = "nn.Sequential(nn.Embedding(30, 8), nn.Flatten(), "
                                 "nn.Linear(48, 2))";

/// Returns a sample: the token 5, or for the other class 6, among others.
std::vector<int64_t> sentence(int sample) {
    std::vector<int64_t> tokens(kLength);
    for (int i = 0; i < kLength; ++i)
        tokens[static_cast<size_t>(i)] = 7 + (11 * sample + 5 * i) % (kTokens - 7);
    tokens[static_cast<size_t>(sample % kLength)] = 5 + sample % 2;
    return tokens;
}

template <class T>
std::string bytesOfSentences(int first, int count) {
    std::string bytes;
    for (int sample = first; sample < first + count; ++sample)
        for (const int64_t token : sentence(sample))
            bytes += bytesOfValues<T>({static_cast<T>(token)});
    return bytes;
}

} // namespace

class TestArrayIndices : public QObject {
    Q_OBJECT

private slots:
    void areLearnt_data();
    void areLearnt();
    void floatsAreRefused();
    void othersAreNumbers();
    void isRefused_data();
    void isRefused();
    void areShownAsNumbers();
    void areWrittenToOtherPrograms();

private:
    std::string file(const char* name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(QLatin1String(name)).toStdString(), bytes);
    }
    /// Returns an experiment on an array of sentences, or on these bytes.
    RunConfig config(const std::string& type, const std::string& x) const {
        std::string y;
        for (int i = 0; i < kSamples; ++i)
            y += bytesOfValues<int64_t>({i % 2});
        const std::string path = file("data.npz", zipBytes({{"x.npy", npy(type, "(120, 6)", x)},
                                                            {"y.npy", npy("<i8", "(120,)", y)}}));
        RunConfig made = *experimentOn(path);
        made.model.layers = kNetwork;
        made.optimizer.lr = 0.02;
        return made;
    }
    RunConfig config() const { return config("<i8", bytesOfSentences<int64_t>(0, kSamples)); }
    QTemporaryDir m_folder;
};

void TestArrayIndices::areLearnt_data() {
    QTest::addColumn<QString>("type");
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* type, const std::string& bytes) {
        QTest::newRow(type) << type << QByteArray::fromStdString(bytes);
    };
    row("|u1", bytesOfSentences<uint8_t>(0, kSamples));
    row("<i2", bytesOfSentences<int16_t>(0, kSamples));
    row("<u4", bytesOfSentences<uint32_t>(0, kSamples));
    row("<i8", bytesOfSentences<int64_t>(0, kSamples));
}

/// Whether one token or the other occurs is learnt, and told of sentences that come later.
void TestArrayIndices::areLearnt() {
    QFETCH(QString, type);
    QFETCH(QByteArray, bytes);
    Experiment experiment(config(type.toStdString(), bytes.toStdString()));
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        experiment.advance(records, events);
    QVERIFY(records.back().validation.value().accuracy.value() > 0.9);
    const std::string more =
        file("more.npy", npy("<i4", "(8, 6)", bytesOfSentences<int32_t>(200, 8)));
    const auto predicted = predictedSamples(experiment, 0, more);
    QCOMPARE(predicted->notes.size(), size_t{0});
    const Array scores = readNpy(file("out.npy", predicted->bytes));
    QCOMPARE(scores.info.shape, (std::vector<int64_t>{8, 2}));
    for (int i = 0; i < 8; ++i)
        QCOMPARE(scores.at(2 * i + 1) > scores.at(2 * i), i % 2 == 1);
    const auto refused = [&](const char* dtype, const std::string& values) {
        const std::string path = file("odd.npy", npy(dtype, "(1, 6)", values));
        return thrownBy<InputError>([&] { predictedSamples(experiment, 0, path); });
    };
    QVERIFY(
        refused("<f4", bytesOfValues<float>({1, 2, 3, 4, 5, 6}))
            .ends_with("odd.npy: float32 are not indices, as those of data.x are: whole numbers "
                       "from 0 to 29 are allowed"));
    QVERIFY(refused("<i4", bytesOfValues<int32_t>({1, 2, 3, 4, 5, 30}))
                .ends_with("odd.npy: sample 0 has the index 30: 0 to 29 are allowed, because the "
                           "network has num_embeddings=30"));
}

/// What to do stands in the sentence.
void TestArrayIndices::floatsAreRefused() {
    const RunConfig floats = config("<f4", bytesOfSentences<float>(0, kSamples));
    const std::string said = thrownBy<InputError>([&] { Experiment experiment(floats); });
    QVERIFY2(said.ends_with("the input holds floating-point numbers, and indices are expected: "
                            "this layer must be the first one, and the samples characters, texts "
                            "or an array of whole numbers (x.astype('int64'))"),
             said.c_str());
    RunConfig second = config();
    second.model.layers = "nn.Sequential(nn.Linear(6, 6), nn.Embedding(30, 2))";
    QCOMPARE(modelShapes(second).error.english().substr(
                 modelShapes(second).error.english().find("the input")),
             said.substr(said.find("the input")));
}

/// Whole numbers are numbers to all other networks.
void TestArrayIndices::othersAreNumbers() {
    RunConfig other = config();
    other.model.layers = "nn.Sequential(nn.Linear(6, 2))";
    QCOMPARE(makeTask(other)->tensors()[kX].dtype, DType::F32);
    other.model.layers = "nn.Sequential(nn.Flatten(), nn.Embedding(31, 2), nn.Flatten(), "
                         "nn.Linear(12, 2))";
    const auto task = makeTask(other);
    QCOMPARE(task->tensors()[kX].dtype, DType::I32); // Flatten() only moves values
    QCOMPARE(task->tensors()[kX].classes, int64_t{31});
    other.model.layers = "nn.Sequential(nn.Embedding(31, 2), ";
    QCOMPARE(taskOf(other).indices, int64_t{0});
}

void TestArrayIndices::isRefused_data() {
    QTest::addColumn<QString>("layers");
    QTest::addColumn<bool>("standardises");
    QTest::addColumn<QString>("wanted");
    QTest::newRow("an index too large")
        << "nn.Sequential(nn.Embedding(29, 8), nn.Flatten(), nn.Linear(48, 2))" << false
        << "data.npz: sample 2 has the index 29: 0 to 28 are allowed, because the network has "
           "num_embeddings=29";
    QTest::newRow("an index too large for a bag")
        << "nn.Sequential(nn.EmbeddingBag(29, 8), nn.Linear(8, 2))" << false
        << "data.npz: sample 2 has the index 29: 0 to 28 are allowed, because the network has "
           "num_embeddings=29";
    QTest::newRow("standardised") << kNetwork << true
                                  << "data.standardise_x: true is not allowed where x holds "
                                     "indices: false";
}

void TestArrayIndices::isRefused() {
    QFETCH(QString, layers);
    QFETCH(bool, standardises);
    QFETCH(QString, wanted);
    RunConfig odd = config();
    odd.model.layers = layers.toStdString();
    odd.task.standardiseX = standardises;
    const std::string said = thrownBy<InputError>([&] { Experiment experiment(odd); });
    QVERIFY2(said.ends_with(wanted.toStdString()), said.c_str());
}

/// The file does not say which words they stand for.
void TestArrayIndices::areShownAsNumbers() {
    const auto task = makeTask(config());
    const auto gallery = galleryOf(task->dataset());
    QVERIFY(gallery);
    QVERIFY(gallery->prompt.empty());
    QVERIFY(!gallery->texts.empty());
    QCOMPARE(QString::fromStdString(gallery->texts[0]).split(' ').size(), kLength);
    QVERIFY(galleryWithClasses(*gallery, task->view().classes).width > 0);
}

void TestArrayIndices::areWrittenToOtherPrograms() {
    const std::string script = pytorchScript(config());
    QVERIFY2(script.find("    x, y = array(X, \"x\").long(), array(Y, \"y\").long()\n") !=
                 std::string::npos,
             script.c_str());
    Experiment experiment(config());
    const std::string onnx = onnxBytes(experiment, 0, "test");
    QVERIFY(onnx.find("Gather") != std::string::npos);
}

} // namespace tst_array_indices

QTEST_GUILESS_MAIN(tst_array_indices::TestArrayIndices)
#include "tst_array_indices.moc"
