// Every layer of the table as ONNX: ONNX Runtime computes what this engine computes.
#include "engine/core/error.h"
#include "engine/models/emit_model.h"
#include "engine/models/onnx_layers.h"
#include "tests/support/onnx_cases.h"
#include "tests/support/thrown.h"

#include <QTest>

namespace tst_onnx_layers {

using namespace halfscope;
using namespace halfscope::test;

namespace {

struct Case {
    const char* written;
    Shape in;
    DType dtype = DType::F32; ///< I32: the input holds indices
};
const Case kCases[] = {
    {"Linear(4, 5)", {2, 4}},
    {"Linear(4, 5, bias=False)", {2, 4}},
    {"Linear(4, 5)", {2, 3, 4}},
    {"Linear(4, 5, bias=False)", {2, 3, 2, 4}},
    {"Conv2d(2, 6, (3, 5), stride=2, padding=(1, 0))", {2, 2, 9, 8}},
    {"Conv2d(2, 6, 1, bias=False)", {2, 2, 3, 4}},
    {"Conv1d(2, 4, 3, stride=2, padding=1)", {2, 2, 9}},
    {"ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1)", {2, 2, 4, 5}},
    {"Conv2d(4, 6, (3, 2), padding=(1, 0), dilation=(1, 3), groups=2)", {2, 4, 9, 8}},
    {"Conv1d(4, 4, 3, stride=2, padding='valid', dilation=2, groups=4)", {2, 4, 9}},
    {"ConvTranspose2d(4, 6, 3, 2, 1, 1, 2, dilation=2)", {2, 4, 4, 5}},
    {"ConvTranspose1d(4, 6, 3, 2, 1, 3, 2, dilation=4)", {2, 4, 5}},
    {"ConvTranspose1d(2, 3, 4, bias=False)", {2, 2, 5}},
    {"Conv2d(2, 6, 3, padding=(1, 2), padding_mode='reflect')", {2, 2, 9, 8}},
    {"Conv2d(2, 3, (2, 4), padding='same', padding_mode='circular')", {2, 2, 4, 5}},
    {"Conv1d(2, 4, 4, padding='same', padding_mode='replicate')", {2, 2, 9}},
    {"InstanceNorm1d(3, affine=True)", {2, 3, 5}},
    {"ConvTranspose2d(4, 6, (2, 3), (1, 2), (1, 0), (2, 3), dilation=(3, 5))", {2, 4, 4, 5}},
    {"InstanceNorm2d(3)", {2, 3, 4, 4}},
    {"InstanceNorm2d(3, affine=True, track_running_stats=True)", {2, 3, 4, 4}},
    {"SineLayer(4, 5, omega_0=1.0)", {2, 4}},
    {"FourierFeatures(2, 5)", {3, 2}},
    {"Embedding(7, 4)", {2, 5}, DType::I32},
    {"Embedding(7, 3)", {4}, DType::I32},
    {"EmbeddingBag(7, 4)", {2, 5}, DType::I32},
    {"EmbeddingBag(7, 4, mode='sum')", {2, 5}, DType::I32},
    {"PositionalEmbedding(6, 4)", {2, 5, 4}},
    {"TransformerEncoderLayer(8, 2, 12, batch_first=True)", {2, 5, 8}},
    {"TransformerEncoderLayer(8, 4, 6, activation='gelu', layer_norm_eps=0.01, batch_first=True, "
     "norm_first=True, bias=False)",
     {3, 4, 8}},
    {"CausalTransformerEncoderLayer(8, 2, 12, batch_first=True)", {2, 5, 8}},
    {"CausalTransformerEncoderLayer(8, 1, 6, batch_first=True, norm_first=True, bias=False)",
     {3, 1, 8}},
    {"Embedding(7, 4, padding_idx=2)", {2, 5}, DType::I32},
    {"Sequential(Embedding(7, 4), Flatten(), Linear(12, 2))", {2, 3}, DType::I32},
    {"PaddedSequential(Embedding(7, 8, padding_idx=2), TransformerEncoderLayer(8, 2, 12, "
     "batch_first=True), MaskedMean())",
     {3, 5},
     DType::I32},
    {"PaddedSequential(Embedding(7, 8, padding_idx=0), TransformerEncoderLayer(8, 4, 6, "
     "batch_first=True, norm_first=True))",
     {9, 1}, // a sample that is all padding
     DType::I32},
    {"BatchNorm1d(4, eps=0.01)", {6, 4}},
    {"BatchNorm1d(4)", {6, 4, 3}},
    {"BatchNorm2d(2, affine=False)", {2, 2, 3, 3}},
    {"BatchNorm2d(2, momentum=None)", {2, 2, 3, 3}},
    {"SyncBatchNorm(2)", {2, 2, 3}},
    // of a batch that no sample leaves alone
    {"Sequential(BatchNorm2d(2, track_running_stats=False), Flatten(0))", {2, 2, 3, 3}},
    {"Sequential(BatchNorm1d(3, affine=False, track_running_stats=False), Flatten(0))", {6, 3}},
    {"LayerNorm([3, 4], eps=0.01)", {2, 3, 4}},
    {"LayerNorm(4, bias=False)", {2, 3, 4}},
    {"LayerNorm(4, elementwise_affine=False)", {2, 4}},
    {"RMSNorm(4)", {2, 3, 4}},
    {"RMSNorm([3, 4], eps=0.01)", {2, 3, 4}},
    {"RMSNorm(4, elementwise_affine=False)", {2, 4}},
    {"LocalResponseNorm(3, alpha=2, k=0.5)", {2, 5, 3, 2}},
    {"LocalResponseNorm(4, alpha=2)", {2, 5, 3}},
    {"GroupNorm(2, 4, eps=0.01)", {3, 4, 3}},
    {"GroupNorm(2, 4, affine=False)", {2, 4, 3, 5}},
    {"ReLU()", {2, 3}},
    {"LeakyReLU(0.2)", {2, 3}},
    {"PReLU(init=0.1)", {2, 3, 4, 5}},
    {"PReLU(3)", {2, 3}},
    {"PReLU(3)", {2, 3, 4, 5}},
    {"Conv2d(2, 6, (3, 5), padding='same')", {2, 2, 9, 8}},
    {"Conv1d(2, 4, 3, padding='same')", {2, 2, 9}},
    {"Conv2d(2, 6, (4, 2), padding='same')", {2, 2, 9, 8}},
    {"Conv1d(2, 4, 4, padding='same', dilation=3)", {2, 2, 9}},
    {"ELU(0.7)", {2, 3}},
    {"GELU()", {2, 3}},
    {"GELU('tanh')", {2, 3}},
    {"SiLU()", {2, 3}},
    {"Tanh()", {2, 3}},
    {"Sigmoid()", {2, 3}},
    {"Softplus()", {2, 3}},
    {"Softplus(3, 0.5)", {2, 9}},
    {"Hardtanh(-0.5, 0.25)", {2, 3}},
    {"Hardswish()", {2, 3}},
    {"ReLU6(inplace=True)", {8, 9}},
    {"SELU()", {2, 3}},
    {"CELU(0.7)", {2, 3}},
    {"Mish()", {2, 3}},
    {"LogSigmoid()", {2, 3}},
    {"Hardsigmoid()", {8, 9}},
    {"Hardshrink(0.4)", {2, 9}},
    {"Softshrink(0.4)", {2, 9}},
    {"Tanhshrink()", {2, 9}},
    {"Softsign()", {2, 3}},
    {"Threshold(0.1, 20)", {2, 9}},
    {"GLU()", {2, 3, 6}},
    {"GLU(1)", {2, 4, 3}},
    {"Softmax(dim=1)", {2, 5}},
    {"Softmax()", {2, 5}},
    {"LogSoftmax(-1)", {2, 3, 4}},
    {"Softmin(dim=1)", {2, 5}},
    {"Softmax2d()", {2, 3, 4, 2}},
    {"Sine()", {2, 3}},
    {"MaxPool1d(3, 2, 1)", {2, 2, 8}},
    {"AvgPool1d(3, 2, 1)", {2, 2, 8}},
    {"AdaptiveAvgPool1d(4)", {2, 2, 8}},
    {"AdaptiveAvgPool1d(3)", {2, 2, 8}},
    {"MaxPool2d(3, 2, 1)", {2, 2, 8, 7}},
    {"AvgPool2d((2, 3), padding=1)", {2, 2, 8, 7}},
    {"AdaptiveAvgPool2d((4, 7))", {2, 2, 8, 7}},
    {"AdaptiveAvgPool2d((3, 5))", {2, 2, 8, 7}},
    {"Upsample(scale_factor=(2, 3.0))", {2, 2, 4, 3}},
    {"Upsample(size=8)", {2, 2, 4, 2}},
    {"MaxPool1d(3, 2, ceil_mode=True)", {2, 3, 8}},
    {"MaxPool2d((3, 2), (2, 3), 1, ceil_mode=True)", {2, 2, 6, 7}},
    {"MaxPool1d(3, 1, 1, 2)", {2, 3, 8}},
    {"MaxPool2d((3, 2), (2, 1), (1, 0), dilation=(2, 3), ceil_mode=True)", {2, 2, 6, 7}},
    {"AvgPool1d(3, ceil_mode=True)", {2, 3, 7}},
    {"AvgPool2d(2, 3, 1, True, False)", {2, 2, 4, 6}},
    {"AvgPool2d((3, 2), (2, 1), 1, True)", {2, 2, 6, 4}},
    {"AvgPool2d(2, 1, 1, divisor_override=3)", {2, 2, 3, 4}},
    {"AdaptiveMaxPool1d(3)", {2, 3, 7}},
    {"AdaptiveMaxPool2d(2)", {2, 2, 4, 6}},
    {"AdaptiveMaxPool2d((2, 3))", {2, 2, 5, 7}},
    {"Upsample(scale_factor=(2, 3), mode='bilinear')", {2, 2, 4, 3}},
    {"Upsample(scale_factor=(2, 3), mode='bilinear', align_corners=True)", {2, 2, 4, 3}},
    {"Upsample(scale_factor=1.5)", {2, 2, 4, 5}},
    {"Upsample((7, 4))", {2, 2, 3, 5}},
    {"Upsample(scale_factor=(1.25, 0.5), mode='bilinear')", {2, 2, 3, 4}},
    {"Upsample((7, 3), mode='bilinear')", {2, 2, 5, 4}},
    {"Upsample((7, 3), mode='bilinear', align_corners=True)", {2, 2, 5, 4}},
    {"Upsample(scale_factor=(2.7, 0.6), mode='bicubic')", {2, 2, 3, 4}},
    {"Upsample((4, 7), mode='bicubic', align_corners=True)", {2, 2, 3, 5}},
    {"Upsample(scale_factor=2)", {2, 3, 5}},
    {"Upsample(scale_factor=2.5, mode='linear')", {2, 3, 4}},
    {"Upsample(7, mode='linear', align_corners=True)", {2, 3, 4}},
    {"UpsamplingNearest2d(scale_factor=2)", {2, 2, 4, 3}},
    {"UpsamplingBilinear2d(scale_factor=2)", {2, 2, 4, 3}},
    {"ZeroPad1d((1, 2))", {2, 3, 4}},
    {"ZeroPad2d((1, 0, 2, 3))", {2, 3, 4, 5}},
    {"ConstantPad1d(2, 0.5)", {2, 3, 4}},
    {"ConstantPad2d((1, 0, 2, 3), 0.5)", {2, 3, 4, 5}},
    {"ReflectionPad1d((3, 1))", {2, 3, 4}},
    {"ReflectionPad2d((1, 4, 2, 3))", {2, 3, 4, 5}},
    {"ReplicationPad1d((3, 1))", {2, 3, 4}},
    {"ReplicationPad2d((1, 4, 2, 0))", {2, 3, 4, 5}},
    {"CircularPad1d((3, 1))", {2, 3, 4}},
    {"CircularPad2d((4, 0, 1, 3))", {2, 2, 3, 4}},
    {"PixelShuffle(2)", {2, 8, 2, 3}},
    {"PixelUnshuffle(2)", {2, 3, 4, 6}},
    {"ChannelShuffle(3)", {2, 6, 2, 3}},
    {"Flatten()", {2, 3, 4, 5}},
    {"Flatten(0, 1)", {2, 3, 4, 5}},
    {"Flatten(2)", {2, 3, 4, 5}},
    {"Unflatten(1, (2, -1))", {2, 6}},
    {"Dropout()", {2, 3}},
    {"Dropout1d()", {2, 3, 4}},
    {"Dropout2d()", {2, 3, 4, 2}},
    {"AlphaDropout()", {2, 3}},
    {"FeatureAlphaDropout()", {2, 3}},
    {"RReLU()", {2, 3}},
    {"RReLU(0.1, 0.5)", {2, 3}},
    {"Identity()", {2, 3}},
    {"Sequential(ReLU(), Sequential(), Linear(3, 3))", {2, 3}},
    {"Residual(Tanh())", {2, 3}},
    {"Residual(Conv2d(2, 4, 3, padding=1), ReLU(), shortcut=Conv2d(2, 4, 1))", {2, 2, 5, 4}},
};

/// Returns the graph that ONNX Runtime is compared with.
Graph graphOf(const Case& each) {
    Graph graph;
    Builder b(graph);
    ModelOptions options;
    options.mode = ModelMode::Evaluate;
    const NodeId x = b.input("x", each.in, each.dtype);
    const EmittedModel made = emitModel(b, readModel(each.written), {x, each.in}, options);
    graph.addOutput("prediction", made.output);
    return graph;
}

std::string onnxOf(const Case& each, const OnnxWeights& weights) {
    OnnxGraph graph;
    NodeType type{each.in, each.dtype};
    const ModelSpec model = readModel(each.written);
    const std::string y = emitOnnx(graph, model.root, "x", type, {}, &weights);
    return graph.modelBytes({"x", each.in, each.dtype}, y, {"prediction", type.shape},
                            {{"model", "a layer"}}, "1.2.3");
}

} // namespace

class TestOnnxLayers : public QObject {
    Q_OBJECT

private slots:
    void everyLayerHasAForm();
    void everyRowHasACase();
    void boundsAreNarrow();
    void onnxRuntimeAgrees();
    void refusesOthers();
};

void TestOnnxLayers::everyLayerHasAForm() {
    for (const LayerInfo& info : layerTable())
        QVERIFY2(
            info.holds != Holds::Nothing || hasOnnxForm(info.name),
            ("engine/models/onnx_layers.cpp has no row for " + std::string(info.name)).c_str());
}

void TestOnnxLayers::everyRowHasACase() {
    for (const LayerInfo& info : layerTable()) {
        const auto names = [&info](const Case& each) {
            const size_t at = std::string_view(each.written).find(std::string(info.name) + "(");
            return info.padding == Padding::Needs ? at != std::string_view::npos : at == 0;
        };
        QVERIFY2(std::any_of(std::begin(kCases), std::end(kCases), names),
                 std::string(info.name).c_str());
    }
}

/// A wrong node's results are far outside of the bounds.
void TestOnnxLayers::boundsAreNarrow() {
    for (const Case& each : kCases) {
        const Computed about = computed(graphOf(each));
        QVERIFY2(about.largest > 0.1 && about.bound < 2e-4 * about.largest, each.written);
    }
}

void TestOnnxLayers::onnxRuntimeAgrees() {
    if (lacksPython()) QSKIP(lacksPython());
    const QTemporaryDir folder;
    int number = 0;
    for (const Case& each : kCases) {
        const Computed about = computed(graphOf(each));
        const QString name = QString("%1 %2").arg(number++, 2).arg(each.written);
        writeCase(folder, QString(name).replace('/', ':'), onnxOf(each, about.weights), about);
    }
    QCOMPARE(python(kOnnxRuntime, {folder.path()}), QString::number(number));
}

/// Refuses a layer that the table has and ONNX lacks.
void TestOnnxLayers::refusesOthers() {
    ModelSpec model = readModel("nn.Sequential(\n  nn.ReLU(),\n  nn.Tanh())");
    LayerInfo strange = *model.root.children[1].info;
    strange.name = "Strange";
    model.root.children[1].info = &strange;
    OnnxGraph graph;
    NodeType type{{2, 3}, DType::F32};
    QCOMPARE(QString::fromStdString(thrownBy<InputError>(
                 [&] { emitOnnx(graph, model.root, "x", type, {}, nullptr); })),
             QString("line 3, column 3: Tanh(): this layer cannot be written into an ONNX file"));
}

} // namespace tst_onnx_layers

QTEST_GUILESS_MAIN(tst_onnx_layers::TestOnnxLayers)
#include "tst_onnx_layers.moc"
