// Layers of sequences: where an encoder layer drops values, what a causal one sees, the row of
// padding, and what is refused.
#include "engine/core/error.h"
#include "engine/exec/reference.h"
#include "engine/models/emit_model.h"
#include "engine/passes/autodiff.h"
#include "engine/train/trainer.h"
#include "tests/support/thrown.h"

#include <QTest>

namespace tst_sequences {

using namespace halfscope;

namespace {

QString refusalOf(const char* model, const Shape& in, DType dtype = DType::F32) {
    return QString::fromStdString(thrownBy<InputError>([&] {
        outputOf(readModel(model), {in, dtype});
    }));
}

} // namespace

class TestSequences : public QObject {
    Q_OBJECT

private slots:
    /// An encoder layer drops the shares of attention, its result, and the results of both linear
    /// layers, as nn's class does.
    void encoderDropsOut() {
        const ModelSpec model = readModel("TransformerEncoderLayer(8, 2, 4, batch_first=True)");
        for (const ModelMode mode : {ModelMode::Train, ModelMode::Evaluate}) {
            Graph graph;
            Builder b(graph);
            ModelOptions options;
            options.mode = mode;
            const NodeId x = b.input("x", {2, 5, 8}, DType::F32);
            emitModel(b, model, {x, b.shapeOf(x)}, options);
            std::vector<Shape> drawn;
            for (NodeId id = 0; id < graph.size(); ++id)
                if (graph[id].op == Op::Random) drawn.push_back(graph[id].shape);
            const std::vector<Shape> all{{2, 2, 5, 5}, {2, 5, 8}, {2, 5, 4}, {2, 5, 8}};
            QCOMPARE(drawn, mode == ModelMode::Train ? all : std::vector<Shape>{});
        }
    }

    /// Later positions change nothing, whatever they hold; the same layer without the mask sees
    /// them.
    void causalEncoderSeesNothingLater() {
        constexpr int64_t kLength = 4, kWidth = 6, kChanged = 2;
        const std::string layer = "TransformerEncoderLayer(6, 2, 8, batch_first=True)";
        for (const std::string& written : {"Causal" + layer, layer}) {
            Graph graph;
            Builder b(graph);
            const NodeId x = b.input("x", {1, kLength, kWidth}, DType::F32);
            ModelOptions options;
            options.mode = ModelMode::Evaluate;
            const NodeId y = emitModel(b, readModel(written), {x, b.shapeOf(x)}, options).output;
            const Weights weights = initialWeights(graph, 5);
            const auto valueAt = [&](double later) {
                std::map<NodeId, RefTensor> leaves;
                for (const auto& [name, values] : weights)
                    leaves[graph.state(name)] = {graph[graph.state(name)].shape,
                                                 {values.begin(), values.end()}};
                RefTensor& input = leaves[x] = {{1, kLength, kWidth}, {}};
                for (int64_t i = 0; i < kLength * kWidth; ++i)
                    input.values.push_back(
                        i == kChanged * kWidth ? later : std::sin(static_cast<double>(i)));
                return evaluate(graph, leaves, std::vector{y}, RefRounding::None).at(y).values;
            };
            const std::vector<double> one = valueAt(1), other = valueAt(-3);
            const auto changed = std::mismatch(one.begin(), one.end(), other.begin()).first;
            QCOMPARE(changed - one.begin(), written == layer ? 0 : kChanged * kWidth);
        }
    }

    /// Whatever vector stands for padding, the mean of the others is the same, and no gradient
    /// reaches it; a sample of nothing but padding has the mean 0. What lies between, such as a
    /// residual block, does not make the chain forget it.
    void paddingIsHidden() {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {2, 4}, DType::I32);
        ModelOptions options;
        options.mode = ModelMode::Evaluate;
        const ModelSpec model = readModel(
            "PaddedSequential(Embedding(5, 6, padding_idx=3), TransformerEncoderLayer(6, 2, 8, "
            "batch_first=True), Residual(Linear(6, 6)), MaskedMean())");
        const EmittedModel made = emitModel(b, model, {x, b.shapeOf(x)}, options);
        const NodeId sum = b.sumAll(b.unary(Op::Exp, made.output));
        const NodeId gradient = gradients(b, sum, made.parameters).front().value();
        const Weights weights = initialWeights(graph, 5);
        const auto valuesWith = [&](double padding) {
            std::map<NodeId, RefTensor> leaves;
            for (const auto& [name, values] : weights)
                leaves[graph.state(name)] = {graph[graph.state(name)].shape,
                                             {values.begin(), values.end()}};
            std::vector<double>& table = leaves[graph.state("0.weight")].values;
            std::fill(table.begin() + 3 * 6, table.begin() + 4 * 6, padding);
            leaves[x] = {{2, 4}, {4, 3, 0, 3, 3, 3, 3, 3}};
            const auto all =
                evaluate(graph, leaves, std::vector{made.output, gradient}, RefRounding::None);
            return std::array{all.at(made.output).values, all.at(gradient).values};
        };
        const auto one = valuesWith(0), other = valuesWith(50);
        QVERIFY(one == other);
        const auto zeros = [](const std::vector<double>& values, int begin) {
            return std::count(values.begin() + begin, values.begin() + begin + 6, 0.0);
        };
        QCOMPARE(zeros(one[0], 0), 0);
        QCOMPARE(zeros(one[0], 6), 6);
        QCOMPARE(zeros(one[1], 4 * 6), 0);
        QCOMPARE(zeros(one[1], 3 * 6), 6);
    }

    /// The other rows are drawn as they are without padding.
    void paddingStartsAtZero() {
        const auto drawn = [](const char* written) {
            Graph graph;
            Builder b(graph);
            const NodeId x = b.input("x", {2, 5}, DType::I32);
            emitModel(b, readModel(written), {x, b.shapeOf(x)});
            return initialWeights(graph, 7).at("weight");
        };
        std::vector<float> wanted = drawn("Embedding(9, 4)");
        QVERIFY(std::find(wanted.begin(), wanted.end(), 0.0f) == wanted.end());
        std::fill(wanted.begin() + 7 * 4, wanted.begin() + 8 * 4, 0.0f);
        QCOMPARE(drawn("Embedding(9, 4, padding_idx=7)"), wanted);
        QCOMPARE(drawn("Embedding(9, 4, padding_idx=-2)"), wanted);
    }

    /// torch.nn has no causal layer: the Python program contains a class for it, under the name
    /// that is read.
    void causalEncodersAreClassesInPython() {
        const std::string written = "nn.Sequential(\n"
                                    "    nn.Embedding(9, 8, padding_idx=8),\n"
                                    "    CausalTransformerEncoderLayer(8, 2, batch_first=True),\n"
                                    ")";
        const ModelSpec model = readModel("Sequential(Embedding(9, 8, padding_idx=-1), "
                                          "CausalTransformerEncoderLayer(8, 2, batch_first=True))");
        QCOMPARE(pythonOf(model, ""), written);
        QCOMPARE(pythonOf(readModel(written), ""), written);
        QVERIFY(pythonClassesOf(model).starts_with(
            "\n\nclass CausalTransformerEncoderLayer(nn.TransformerEncoderLayer):\n"));
    }

    /// As programs write it: functions and layers, which PyTorch calls.
    void takesFunctionsAsActivations() {
        const auto with = [](const std::string& activation) {
            return pythonOf(readModel("TransformerEncoderLayer(8, 2, activation=" + activation +
                                      ", batch_first=True)"),
                            "");
        };
        for (const char* gelu : {"F.gelu", "nn.functional.gelu", "torch.nn.functional.gelu", "gelu",
                                 "nn.GELU()", "torch.nn.GELU()"})
            QCOMPARE(with(gelu), with("'gelu'"));
        for (const char* relu : {"F.relu", "torch.relu", "nn.ReLU()", "ReLU()"})
            QCOMPARE(with(relu), with("'relu'"));
        for (const QString other : {"torch.tanh", "nn.Tanh()"})
            QVERIFY(refusalOf(qPrintable("TransformerEncoderLayer(8, 2, 4, 0., " + other + ")"),
                              {2, 5, 8})
                        .endsWith("is not supported: only 'relu' or 'gelu' is"));
        for (const QString other : {"nn.GELU", "nn.GELU('tanh')", "F.gelu(x)"})
            QVERIFY(refusalOf(qPrintable("TransformerEncoderLayer(8, 2, 4, 0., " + other + ")"),
                              {2, 5, 8})
                        .endsWith(" is not allowed: 'relu' or 'gelu'"));
    }

    void refusesOfSequences() {
        const Shape vectors{2, 5, 8};
        QCOMPARE(refusalOf("TransformerEncoderLayer(8, 3, batch_first=True)", vectors),
                 QString("line 1, column 1: TransformerEncoderLayer(8, 3, batch_first=True): "
                         "d_model must be a multiple of nhead"));
        QCOMPARE(refusalOf("Sequential(\n TransformerEncoderLayer(8, 2))", vectors),
                 QString("line 2, column 2: TransformerEncoderLayer(8, 2): batch_first=True is "
                         "missing: samples come first here"));
        QCOMPARE(
            refusalOf("TransformerEncoderLayer(8, 2, 4, 0., 'tanh', batch_first=True)", vectors),
            QString("line 1, column 38: TransformerEncoderLayer: activation='tanh' is not "
                    "supported: only 'relu' or 'gelu' is"));
        QCOMPARE(refusalOf("TransformerEncoderLayer(6, 2, batch_first=True)", vectors),
                 QString("line 1, column 1: TransformerEncoderLayer(6, 2, batch_first=True): the "
                         "input has 8 features"));
        QCOMPARE(refusalOf("TransformerEncoderLayer(8, 2, batch_first=True)", {4, 8}),
                 QString("line 1, column 1: TransformerEncoderLayer(8, 2, batch_first=True): the "
                         "input is (4, 8); (samples, length, features) is expected"));
        QCOMPARE(refusalOf("PositionalEmbedding(4, 8)", vectors),
                 QString("line 1, column 1: PositionalEmbedding(4, 8): the input has 5 positions"));
        for (const QString wrong : {"9", "-10"})
            QCOMPARE(refusalOf(qPrintable("Embedding(9, 4, padding_idx=" + wrong + ")"), {2, 5},
                               DType::I32),
                     "line 1, column 1: Embedding(9, 4, padding_idx=" + wrong +
                         "): padding_idx must be from -9 to 8");
        for (const QString mask : {"is_causal=True", "mask=None", "src_mask=None"}) {
            const QString name = mask.section('=', 0, 0);
            QCOMPARE(refusalOf(qPrintable("TransformerEncoderLayer(8, 2, " + mask + ")"), vectors),
                     "line 1, column 31: TransformerEncoderLayer has no argument \"" + name +
                         "\"; CausalTransformerEncoderLayer(...) is the layer with a causal mask");
        }
        QCOMPARE(
            refusalOf("TransformerEncoderLayer(8, 2, src_key_padding_mask=None)", vectors),
            QString("line 1, column 31: TransformerEncoderLayer has no argument "
                    "\"src_key_padding_mask\"; PaddedSequential(Embedding(..., padding_idx=0), "
                    "...) hides padding from the layers in it"));
        QCOMPARE(refusalOf("TransformerEncoderLayer(8, 2, batchfirst=True)", vectors),
                 QString("line 1, column 31: TransformerEncoderLayer has no argument "
                         "\"batchfirst\"; the nearest one is batch_first"));
        const QString printed =
            "(\n  (self_attn): MultiheadAttention(\n    (out_proj): "
            "NonDynamicallyQuantizableLinear(in_features=8, out_features=8, bias=True)\n  )\n"
            "  (linear1): Linear(in_features=8, out_features=64, bias=True)\n"
            "  (dropout): Dropout(p=0.2, inplace=False)\n)";
        const QString write =
            "line 1, column 1: PyTorch's print of %1 does not show all arguments, "
            "such as nhead: write %2(%3, batch_first=True), with the nhead of "
            "your program and what else it gives there";
        const QString seen = "8, nhead, dim_feedforward=64, dropout=0.2";
        QCOMPARE(refusalOf(qPrintable("TransformerEncoderLayer" + printed), vectors),
                 write.arg("TransformerEncoderLayer", "nn.TransformerEncoderLayer", seen));
        QCOMPARE(refusalOf(qPrintable("CausalTransformerEncoderLayer" + printed), vectors),
                 write.arg("CausalTransformerEncoderLayer", "CausalTransformerEncoderLayer", seen));
        QCOMPARE(refusalOf("TransformerEncoderLayer((norm): Tanh())", vectors),
                 write.arg("TransformerEncoderLayer", "nn.TransformerEncoderLayer",
                           "d_model, nhead, dim_feedforward=2048, dropout=0.1"));
        QCOMPARE(refusalOf("CausalTransformerEncoderLayer(8, 2)", vectors),
                 QString("line 1, column 1: CausalTransformerEncoderLayer(8, 2): batch_first=True "
                         "is missing: samples come first here"));
        QCOMPARE(refusalOf("Embedding(9, 4)", {2, 5}),
                 QString("line 1, column 1: Embedding(9, 4): the input holds floating-point "
                         "numbers, and indices are expected: this layer must be the first one, and "
                         "the samples characters, texts or an array of whole numbers "
                         "(x.astype('int64'))"));
        QCOMPARE(refusalOf("Sequential(Identity(), Linear(5, 1))", {2, 5}, DType::I32),
                 QString("line 1, column 24: Linear(5, 1): the input holds indices; put an "
                         "Embedding(...) in front of this layer"));
        QCOMPARE(refusalOf("Residual(Identity())", {2, 5}, DType::I32),
                 QString("line 1, column 1: Residual: indices cannot be added"));
        const auto known = [](int64_t indices) {
            checkIndices(readModel("Sequential(Embedding(9, 4), Flatten())"), indices);
        };
        known(9);
        QCOMPARE(QString::fromStdString(thrownBy<InputError>([&] { known(10); })),
                 QString("line 1, column 12: Embedding(9, 4): the data has indices from 0 to 9: "
                         "num_embeddings must be at least 10"));
    }

    void refusesOfPadding() {
        for (const char* first : {"", "Embedding(9, 4)", "Tanh(), Embedding(9, 4, padding_idx=0)"})
            QCOMPARE(refusalOf(qPrintable(QString("PaddedSequential(%1)").arg(first)), {2, 5},
                               DType::I32),
                     QString("line 1, column 1: PaddedSequential: its first layer must be an "
                             "Embedding with a padding_idx, such as Embedding(1000, 64, "
                             "padding_idx=0)"));
        const QString padded = "PaddedSequential(Embedding(9, 4, padding_idx=0), %1MaskedMean()%2)";
        const QString outside =
            "MaskedMean(): it must be right inside PaddedSequential(...), which "
            "tells it where padding is";
        QCOMPARE(refusalOf("MaskedMean()", {2, 5, 8}), "line 1, column 1: " + outside);
        QCOMPARE(refusalOf(qPrintable(padded.arg("Residual(", ")")), {2, 5}, DType::I32),
                 "line 1, column 59: " + outside);
        QCOMPARE(outputOf(readModel(padded.arg("AvgPool1d(2), ", "").toStdString()),
                          {{2, 5}, DType::I32})
                     .shape,
                 (Shape{2, 2}));
        QCOMPARE(refusalOf(qPrintable(padded.arg("Conv1d(5, 3, 1), ", "")), {2, 5}, DType::I32),
                 QString("line 1, column 67: MaskedMean(): padding is known for indices (2, 5) and "
                         "not for the input, (2, 3, 4); layers before it must keep the first two "
                         "axes"));
    }
};

} // namespace tst_sequences

QTEST_APPLESS_MAIN(tst_sequences::TestSequences)
#include "tst_sequences.moc"
