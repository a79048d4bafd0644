// Under autocast, the dtype that each layer makes of an input in float16 and of one in float32.
// Source: the lists in PyTorch's aten/src/ATen/autocast_mode.h, under the function that the layer
// of torch.nn calls; those of the CPU were also compared with what PyTorch 2.15 returns there.
#include "engine/models/emit_model.h"
#include "engine/ops/functional.h"

#include <QTest>

#include <set>

namespace tst_layer_dtypes {

using namespace halfscope;

namespace {

constexpr DType kHalf = DType::F16, kFloat = DType::F32;

/// Whether a layer keeps the dtype of its input.
enum class Makes : uint8_t { Same, Half, Float };

struct Row {
    const char* layer;
    Shape in;
    Makes cuda, cpu;
};

using enum Makes;
const Row kRows[] = {
    {"Linear(4, 3)", {2, 4}, Half, Half},
    {"Conv1d(2, 3, 1)", {2, 2, 4}, Half, Half},
    {"Conv2d(2, 3, 1)", {2, 2, 4, 4}, Half, Half},
    {"ConvTranspose1d(2, 3, 2)", {2, 2, 4}, Half, Half},
    {"ConvTranspose2d(2, 3, 2)", {2, 2, 4, 4}, Half, Half},
    {"Conv2d(2, 3, 3, padding=1, padding_mode='reflect')", {2, 2, 4, 4}, Half, Half},
    {"PReLU()", {2, 4}, Half, Half},
    {"LayerNorm(4)", {2, 4}, Float, Same},
    {"LayerNorm([2, 4])", {2, 4}, Float, Same},
    {"GroupNorm(2, 4)", {2, 4}, Float, Same},
    {"BatchNorm1d(4)", {2, 4}, Same, Same},
    {"BatchNorm2d(2)", {2, 2, 4, 4}, Same, Same},
    {"SyncBatchNorm(2)", {2, 2, 4}, Same, Same},
    {"InstanceNorm1d(2)", {2, 2, 4}, Same, Same},
    {"InstanceNorm2d(2, affine=True)", {2, 2, 4, 4}, Same, Same},
    {"RMSNorm(4)", {2, 4}, Float, Same},
    {"LocalResponseNorm(2)", {2, 2, 4}, Float, Same},
    {"LocalResponseNorm(2)", {2, 2, 4, 4}, Float, Float},
    {"ReLU()", {2, 4}, Same, Same},
    {"LeakyReLU()", {2, 4}, Same, Same},
    {"ELU()", {2, 4}, Same, Same},
    {"GELU()", {2, 4}, Same, Same},
    {"GELU('tanh')", {2, 4}, Same, Same},
    {"SiLU()", {2, 4}, Same, Same},
    {"Tanh()", {2, 4}, Same, Same},
    {"Sigmoid()", {2, 4}, Same, Same},
    {"Softplus()", {2, 4}, Float, Same},
    {"Softplus(2)", {2, 4}, Float, Same},
    {"Hardtanh()", {2, 4}, Same, Same},
    {"Hardswish()", {2, 4}, Same, Same},
    {"ReLU6()", {2, 4}, Same, Same},
    {"SELU()", {2, 4}, Same, Same},
    {"CELU()", {2, 4}, Same, Same},
    {"Mish()", {2, 4}, Same, Same},
    {"LogSigmoid()", {2, 4}, Same, Same},
    {"Hardsigmoid()", {2, 4}, Same, Same},
    {"Hardshrink()", {2, 4}, Same, Same},
    {"Softshrink()", {2, 4}, Same, Same},
    {"Tanhshrink()", {2, 4}, Same, Same},
    {"Softsign()", {2, 4}, Same, Same},
    {"Threshold(0.1, 20)", {2, 4}, Same, Same},
    {"GLU()", {2, 4}, Same, Same},
    {"Softmax(1)", {2, 4}, Float, Same},
    {"LogSoftmax(1)", {2, 4}, Float, Same},
    {"Softmin(1)", {2, 4}, Float, Same},
    {"Softmax2d()", {2, 2, 4, 4}, Float, Same},
    {"MaxPool1d(2)", {2, 2, 4}, Same, Same},
    {"MaxPool2d(2)", {2, 2, 4, 4}, Same, Same},
    {"AvgPool1d(2)", {2, 2, 4}, Same, Same},
    {"AvgPool2d(2)", {2, 2, 4, 4}, Same, Same},
    {"AdaptiveAvgPool1d(3)", {2, 2, 4}, Same, Same},
    {"AdaptiveAvgPool2d(3)", {2, 2, 4, 4}, Same, Same},
    {"Upsample(scale_factor=2)", {2, 2, 4, 4}, Float, Same},
    {"MaxPool2d(3, ceil_mode=True)", {2, 2, 4, 4}, Same, Same},
    {"MaxPool2d(2, dilation=2)", {2, 2, 4, 4}, Same, Same},
    {"AvgPool2d(3, ceil_mode=True)", {2, 2, 4, 4}, Same, Same},
    {"AdaptiveMaxPool1d(3)", {2, 2, 4}, Same, Same},
    {"AdaptiveMaxPool2d(2)", {2, 2, 4, 4}, Same, Same},
    {"Upsample(scale_factor=2, mode='bilinear')", {2, 2, 4, 4}, Float, Same},
    {"Upsample(scale_factor=1.5)", {2, 2, 4, 4}, Float, Same},
    {"Upsample(scale_factor=1.5, mode='bilinear')", {2, 2, 4, 4}, Float, Same},
    {"Upsample(scale_factor=1.5, mode='bicubic')", {2, 2, 4, 4}, Float, Same},
    {"Upsample(scale_factor=2)", {2, 2, 4}, Float, Same},
    {"Upsample(scale_factor=2, mode='linear')", {2, 2, 4}, Float, Same},
    {"UpsamplingNearest2d(scale_factor=2)", {2, 2, 4, 4}, Float, Same},
    {"UpsamplingBilinear2d(scale_factor=2)", {2, 2, 4, 4}, Float, Same},
    {"ZeroPad1d(1)", {2, 2, 4}, Same, Same},
    {"ZeroPad2d(1)", {2, 2, 4, 4}, Same, Same},
    {"ConstantPad1d(1, 0.5)", {2, 2, 4}, Same, Same},
    {"ConstantPad2d(1, 0.5)", {2, 2, 4, 4}, Same, Same},
    {"ReflectionPad1d(1)", {2, 2, 4}, Same, Float},
    {"ReflectionPad2d(1)", {2, 2, 4, 4}, Same, Float},
    {"ReplicationPad1d(1)", {2, 2, 4}, Same, Float},
    {"ReplicationPad2d(1)", {2, 2, 4, 4}, Same, Float},
    {"CircularPad1d(1)", {2, 2, 4}, Same, Same},
    {"CircularPad2d(1)", {2, 2, 4, 4}, Same, Same},
    {"PixelShuffle(2)", {2, 4, 4, 4}, Same, Same},
    {"PixelUnshuffle(2)", {2, 4, 4, 4}, Same, Same},
    {"ChannelShuffle(2)", {2, 4, 4, 4}, Same, Same},
    {"Flatten()", {2, 2, 4}, Same, Same},
    {"Unflatten(1, (2, 2))", {2, 4}, Same, Same},
    {"Dropout()", {2, 4}, Same, Same},
    {"Dropout1d()", {2, 2, 4}, Same, Same},
    {"Dropout2d()", {2, 2, 4, 4}, Same, Same},
    {"AlphaDropout()", {2, 4}, Same, Same},
    {"FeatureAlphaDropout()", {2, 2, 4}, Same, Same},
    {"RReLU()", {2, 4}, Same, Same},
    {"Identity()", {2, 4}, Same, Same},
};

DType made(const Row& row, DType in, const CastPolicy& policy) {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", row.in, in);
    const AutocastScope scope(b, &policy);
    return b.dtypeOf(emitModel(b, readModel(row.layer), {x, row.in}).output);
}

DType wanted(Makes makes, DType in) { return makes == Same ? in : makes == Half ? kHalf : kFloat; }

} // namespace

class TestLayerDtypes : public QObject {
    Q_OBJECT

private slots:
    void dtypes_data() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < std::size(kRows); ++i)
            QTest::addRow("%d %s", static_cast<int>(i), kRows[i].layer) << static_cast<int>(i);
    }
    void dtypes() {
        QFETCH(int, index);
        const Row& row = kRows[index];
        const CastPolicy cuda = torchCudaPolicy(kHalf), cpu = torchCpuPolicy(kHalf);
        for (const DType in : {kHalf, kFloat}) {
            QCOMPARE(made(row, in, cuda), wanted(row.cuda, in));
            QCOMPARE(made(row, in, cpu), wanted(row.cpu, in));
        }
    }

    /// Layers of torch.nn without a row: those of sequences, which return what their last part
    /// does, and containers.
    void everyLayerHasARow() {
        std::set<std::string_view> rows{"Embedding", "EmbeddingBag", "TransformerEncoderLayer",
                                        "Sequential"};
        for (const Row& row : kRows)
            rows.insert(readModel(row.layer).root.info->name);
        for (const LayerInfo& info : layerTable())
            QVERIFY2(rows.contains(info.name) || !info.python.empty(),
                     std::string(info.name).c_str());
    }
};

} // namespace tst_layer_dtypes

QTEST_APPLESS_MAIN(tst_layer_dtypes::TestLayerDtypes)
#include "tst_layer_dtypes.moc"
