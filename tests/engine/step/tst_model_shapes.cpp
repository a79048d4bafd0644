// In which form models take samples that have axes of their own, and what is said about networks
// that can be trained although something is wrong with them.
#include "engine/core/error.h"
#include "engine/settings/model_settings.h"
#include "engine/step/model_shapes.h"
#include "tests/support/thrown.h"

#include <QTest>

Q_DECLARE_METATYPE(halfscope::BatchShape)

namespace tst_model_shapes {

using namespace halfscope;

class TestModelShapes : public QObject {
    Q_OBJECT

private slots:
    void samplesWithAxes_data();
    void samplesWithAxes();
    void refusalsOfSamplesWithAxes_data();
    void refusalsOfSamplesWithAxes();
    void outputsToChange_data();
    void outputsToChange();
    void layersThatAreTooLarge();
    void limitedScores_data();
    void limitedScores();
    void limitedNumbers_data();
    void limitedNumbers();
    void printedClass();
    void leftOutOfPrints();

private:
    /// A batch of samples that are series: 7 positions with 4 values each, in 5 classes.
    const BatchShape m_batch{.rows = 3, .inputs = 28, .outputs = 5, .sample = {7, 4}};
};

void TestModelShapes::samplesWithAxes_data() {
    QTest::addColumn<QString>("layers");
    QTest::addColumn<bool>("keeps");
    const auto row = [](const char* layers, bool keeps) {
        QTest::newRow(layers) << layers << keeps;
    };
    row("Sequential(Linear(28, 5))", false);
    row("Sequential(Dropout(), Linear(28, 8), BatchNorm1d(8), ReLU(), Linear(8, 5))", false);
    row("Sequential(Flatten(), Linear(28, 5))", true);
    row("Sequential(Linear(4, 8), TransformerEncoderLayer(8, 2, batch_first=True), Flatten(), "
        "Linear(56, 5))",
        true);
    row("Sequential(LayerNorm((7, 4)), Flatten(), Linear(28, 5))", true);
    row("Sequential(BatchNorm1d(7), Flatten(), Linear(28, 5))", true);
    row("Sequential(BatchNorm1d(28), Linear(28, 5))", false);
    row("Sequential(SyncBatchNorm(28), Linear(28, 5))", false);
    row("Sequential(SyncBatchNorm(7), Flatten(), Linear(28, 5))", true);
    row("Sequential(Unflatten(2, (2, 2)), Conv2d(7, 5, 2), Flatten())", true);
    row("Sequential(Unflatten(1, (1, 7, 4)), Conv2d(1, 5, (7, 4)), Flatten())", false);
    row("Sequential(Conv1d(7, 5, 4), Flatten())", true);
}

/// What PyTorch computes on such a batch is computed here; what it would refuse gets each sample
/// as one row.
void TestModelShapes::samplesWithAxes() {
    QFETCH(QString, layers);
    QFETCH(bool, keeps);
    RunConfig config;
    config.model.layers = layers.toStdString();
    const ModelSpec model = fittingModel(config, m_batch, DType::F32);
    QCOMPARE(seenInput(config, model, m_batch).shape, keeps ? m_batch.x() : (Shape{3, 28}));
}

void TestModelShapes::refusalsOfSamplesWithAxes_data() {
    QTest::addColumn<QString>("layers");
    QTest::addColumn<QString>("error");
    const auto row = [](const char* layers, const char* error) {
        QTest::newRow(layers) << layers << error;
    };
    row("Sequential(Linear(29, 5))", "Linear(29, 5): the input has 28 features");
    row("Sequential(Linear(4, 8), Flatten(), Linear(60, 5))",
        "Linear(60, 5): the input has 56 features");
    row("Sequential(Linear(28, 8), ReLU(), Linear(9, 5))",
        "Linear(9, 5): the input has 8 features");
    row("Sequential(Linear(4, 5))", "turns (3, 7, 4) into (3, 7, 5)");
}

/// The refusal is that of the form in which the model comes further.
void TestModelShapes::refusalsOfSamplesWithAxes() {
    QFETCH(QString, layers);
    QFETCH(QString, error);
    RunConfig config;
    config.model.layers = layers.toStdString();
    try {
        fittingModel(config, m_batch, DType::F32);
        QFAIL("not refused");
    } catch (const InputError& refused) {
        QVERIFY2(QString(refused.what()).contains(error), refused.what());
    }
}

void TestModelShapes::outputsToChange_data() {
    QTest::addColumn<BatchShape>("batch");
    QTest::addColumn<QString>("layers");
    QTest::addColumn<QString>("end");
    const auto row = [](const BatchShape& batch, const char* layers, const char* end) {
        QTest::newRow(layers) << batch << layers << end;
    };
    const BatchShape plain{.rows = 2, .inputs = 4, .outputs = 5};
    row(plain, "Sequential(Linear(4, 8), ReLU(), Linear(8, 3), Sigmoid())",
        "(2, 3), but this task needs (2, 5): change the last Linear(8, 3) to Linear(8, 5)");
    row(plain, "Sequential(Sequential(Linear(in_features=4, out_features=3, bias=False)))",
        "change the last Linear(in_features=4, out_features=3, bias=False) to Linear(4, 5, "
        "bias=False)");
    row(plain, "Sequential(Linear(4, 3), BatchNorm1d(3))", "but this task needs (2, 5)");
    row(plain, "Sequential(Linear(4, 3), Residual(Linear(3, 3)))", "but this task needs (2, 5)");
    row(plain, "Sequential(Linear(4, 12), Unflatten(1, (3, 4)))", "but this task needs (2, 5)");
    row(plain, "Sequential(Linear(4, 12), GLU())", "but this task needs (2, 5)");
    const BatchShape text{
        .rows = 2, .inputs = 6, .outputs = 9, .labels = true, .positions = 6, .indices = 9};
    row(text, "Sequential(Embedding(9, 8), Linear(8, 7))",
        "(2, 6, 7), but this task needs (2, 6, 9): change the last Linear(8, 7) to Linear(8, 9)");
    row(text, "Sequential(Embedding(9, 8), Flatten(), Linear(48, 7))",
        "no layer may join the positions, as Flatten() does");
    const BatchShape pictures{
        .rows = 2, .inputs = 36, .outputs = 72, .sample = {1, 6, 6}, .targetSample = {2, 6, 6}};
    row(pictures, "Sequential(Conv2d(1, 3, 3, padding=1), ReLU())",
        "(2, 3, 6, 6), but this task needs (2, 2, 6, 6): change the last Conv2d(1, 3, 3, "
        "padding=1) to Conv2d(1, 2, 3, padding=1)");
    row(pictures, "Sequential(Conv2d(1, 3, 3))", "the shape of its targets, or (2, 72)");
    row(pictures, "Sequential(Conv2d(1, 3, 3, padding=1), Conv2d(3, 3, 3, padding=1, groups=3))",
        "the shape of its targets, or (2, 72)"); // groups of 3 do not make 2 channels
}

/// Where another number of outputs is all that is wrong, the layer is named with that number.
void TestModelShapes::outputsToChange() {
    QFETCH(BatchShape, batch);
    QFETCH(QString, layers);
    QFETCH(QString, end);
    RunConfig config;
    config.model.layers = layers.toStdString();
    const std::string error =
        thrownBy<InputError>([&] { fittingModel(config, batch, DType::F32); });
    QVERIFY2(QString::fromStdString(error).endsWith(end), error.c_str());
}

/// Nobody wrote the layers of the settings, so the setting is named, not a line.
void TestModelShapes::layersThatAreTooLarge() {
    RunConfig config;
    config.model.width = 4096;
    const BatchShape batch{.rows = 1'000'000, .inputs = 10, .outputs = 1, .sample = {10}};
    const auto text = thrownBy<InputError>(
        [&] { seenInput(config, fittingModel(config, batch, DType::F32), batch); });
    QCOMPARE(text, std::string("model.width: 4096 is not allowed with 1000000 rows in a batch: at "
                               "most 2147, so that a layer has up to 2147483648 values; smaller "
                               "batches or pictures allow more"));
}

void TestModelShapes::limitedScores_data() {
    QTest::addColumn<QString>("layers");
    QTest::addColumn<int>("loss");
    QTest::addColumn<QString>("warning");
    const auto row = [](const char* layers, LossKind loss, const char* warning) {
        QTest::addRow("%s, %s", layers, nameOf(loss))
            << layers << static_cast<int>(loss) << warning;
    };
    const char* sigmoid = "Sigmoid 1 limits what the network returns, but the loss cross-entropy "
                          "expects scores of any size: leave this last layer out.";
    row("Sequential(Linear(4, 5), Sigmoid())", LossKind::CrossEntropy, sigmoid);
    row("Sequential(Linear(4, 5), Sigmoid(), Identity(), Flatten())", LossKind::CrossEntropy,
        sigmoid);
    row("Sequential(Linear(4, 5), Sequential(Linear(5, 5), ReLU()))", LossKind::BceWithLogits,
        "ReLU 1.1 limits what the network returns, but the loss bce-with-logits expects scores of "
        "any size: leave this last layer out.");
    row("Sequential(Linear(4, 5), Softmax(dim=1))", LossKind::CrossEntropy,
        "Softmax 1 turns scores into probabilities, but the loss cross-entropy expects scores and "
        "takes their softmax itself: leave this last layer out.");
    row("Sequential(Linear(4, 5), Softmax(dim=1))", LossKind::BceWithLogits,
        "Softmax 1 limits what the network returns, but the loss bce-with-logits expects scores of "
        "any size: leave this last layer out.");
    row("Sequential(Linear(4, 5), Softmax(dim=1))", LossKind::Mse, "");
    row("Sequential(Linear(4, 5), LogSoftmax(dim=1))", LossKind::CrossEntropy, "");
    row("Sequential(Linear(4, 5), LogSoftmax(dim=1))", LossKind::BceWithLogits,
        "LogSoftmax 1 limits what the network returns, but the loss bce-with-logits expects scores "
        "of any size: leave this last layer out.");
    row("Sequential(Linear(4, 5), ReLU6())", LossKind::CrossEntropy,
        "ReLU6 1 limits what the network returns, but the loss cross-entropy expects scores of any "
        "size: leave this last layer out.");
    row("Sequential(Linear(4, 5), Sigmoid())", LossKind::Mse, "");
    row("Sequential(Linear(4, 5), Sigmoid(), Linear(5, 5))", LossKind::CrossEntropy, "");
    row("Sequential(Linear(4, 5), Residual(Linear(5, 5), ReLU()))", LossKind::CrossEntropy, "");
    row("Sequential(Linear(4, 5), LeakyReLU())", LossKind::CrossEntropy, "");
    row("Sequential()", LossKind::CrossEntropy, "");
}

void TestModelShapes::limitedScores() {
    QFETCH(QString, layers);
    QFETCH(int, loss);
    QFETCH(QString, warning);
    RunConfig config;
    config.model.layers = layers.toStdString();
    config.task.loss.kind = static_cast<LossKind>(loss);
    QCOMPARE(QString::fromStdString(modelWarning(config).english()), warning);
    config.model.adversary = Adversary::Gan; // a critic in place of the loss
    QVERIFY(modelWarning(config).empty());
}

void TestModelShapes::limitedNumbers_data() {
    QTest::addColumn<QString>("last");
    QTest::addColumn<QString>("warning");
    const auto row = [](const char* last, const QString& warning) {
        QTest::newRow(last) << last
                            << (warning.isEmpty() ? warning
                                                  : warning + ": leave this last layer out.");
    };
    row("Sigmoid()", "Sigmoid 1 returns only 0 to 1, but the standardised targets go below 0");
    row("Softmax(dim=1)", "Softmax 1 returns only 0 to 1, but the standardised targets go below 0");
    row("ReLU6()", "ReLU6 1 returns only 0 to 6, but the standardised targets go below 0");
    row("ReLU()", "ReLU 1 returns nothing below 0, but the standardised targets go below 0");
    row("Softplus()",
        "Softplus 1 returns nothing below 0, but the standardised targets go below 0");
    row("Softplus(1, -5)", "");
    row("Softplus(-1)",
        "Softplus 1 returns nothing above 0, but the standardised targets go above 0");
    row("LogSigmoid()",
        "LogSigmoid 1 returns nothing above 0, but the standardised targets go above 0");
    row("LogSoftmax(dim=1)",
        "LogSoftmax 1 returns nothing above 0, but the standardised targets go above 0");
    row("Tanh()", "Tanh 1 returns only -1 to 1, but the standardised targets go beyond that");
    row("Hardtanh(-0.5, 1.5)",
        "Hardtanh 1 returns only -0.5 to 1.5, but the standardised targets go beyond that");
    row("Hardtanh(-0.5, 2.5)", ""); // one large number and many small ones below 0 fit
    row("LeakyReLU()", "");
    row("Linear(5, 1)", "");
}

/// Standardised targets have the mean 0 and the deviation 1, so they lie on both sides of 0 and
/// reach 1 or -1. Of others nothing is known: pictures end in a Sigmoid with good reason.
void TestModelShapes::limitedNumbers() {
    QFETCH(QString, last);
    QFETCH(QString, warning);
    RunConfig config;
    config.model.layers = "Sequential(Linear(4, 5), " + last.toStdString() + ")";
    config.task.kind = TaskKind::Csv;
    for (const LossKind loss : {LossKind::Mse, LossKind::L1, LossKind::Huber}) {
        config.task.loss.kind = loss;
        config.task.standardiseTarget = false;
        QVERIFY(modelWarning(config).empty());
        config.task.standardiseTarget = true;
        QCOMPARE(QString::fromStdString(modelWarning(config).english()), warning);
    }
    config.task.kind = TaskKind::Image; // has no such setting
    QVERIFY(modelWarning(config).empty());
    config.task.kind = TaskKind::Arrays;
    QCOMPARE(modelWarning(config).empty(), warning.isEmpty());
    config.model.adversary = Adversary::Gan; // a critic in place of the loss
    QVERIFY(modelWarning(config).empty());
}

/// The print of a class does not tell what its forward() does.
void TestModelShapes::printedClass() {
    RunConfig config;
    config.model.layers = "Net(\n  (a): Linear(4, 5)\n  (b): Linear(5, 2)\n)";
    QCOMPARE(QString::fromStdString(modelWarning(config).english()),
             QString("PyTorch's print of Net does not show its forward(): here its layers run one "
                     "after another, in the order of the print. Add what forward() applies by "
                     "itself, such as (act): ReLU(), and write Sequential in place of the class's "
                     "name."));
    config.model.layers.replace(0, 3, "Sequential");
    QVERIFY(modelWarning(config).empty());
}

/// What print() leaves out is asked for once: no longer where it is given.
void TestModelShapes::leftOutOfPrints() {
    const auto warningOf = [](const char* layers) {
        RunConfig config;
        config.model.layers = layers;
        return QString::fromStdString(modelWarning(config).english());
    };
    const QString warning = "PyTorch's print of %1 does not show %2: the defaults are used. Add "
                            "what your program gives there.";
    QCOMPARE(warningOf("Sequential(\n  (0): Sequential(\n    (1): AvgPool2d(kernel_size=2, "
                       "stride=2, padding=0)\n  )\n)"),
             warning.arg("AvgPool2d 0.1", "ceil_mode, count_include_pad, divisor_override"));
    QCOMPARE(warningOf("Sequential(\n  (0): AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,), "
                       "ceil_mode=False)\n)"),
             warning.arg("AvgPool1d 0", "count_include_pad"));
    QCOMPARE(warningOf("Sequential(\n  (0): Upsample(scale_factor=2.0, mode='bilinear')\n)"),
             warning.arg("Upsample 0", "align_corners"));
    QCOMPARE(warningOf("Sequential(\n  (0): PReLU(num_parameters=1)\n)"),
             warning.arg("PReLU 0", "init"));
    QCOMPARE(warningOf("AvgPool2d(kernel_size=2, stride=2, padding=0)"), // a layer alone
             warning.arg("AvgPool2d", "ceil_mode, count_include_pad, divisor_override"));
    for (const char* whole :
         {"AvgPool2d(2)", "nn.AvgPool2d(kernel_size=2, stride=2, padding=0)",
          "Sequential(AvgPool2d(2), Upsample(scale_factor=2, mode='bilinear'))",
          "Sequential(\n  (0): Upsample(scale_factor=2.0, mode='nearest')\n)",
          "Sequential(\n  (0): Upsample(scale_factor=2.0, mode='bilinear', align_corners=True)\n)",
          "Sequential(\n  (0): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, "
          "ceil_mode=False)\n  (1): ReLU()\n)"})
        QCOMPARE(warningOf(whole), QString());
}

} // namespace tst_model_shapes

QTEST_GUILESS_MAIN(tst_model_shapes::TestModelShapes)
#include "tst_model_shapes.moc"
