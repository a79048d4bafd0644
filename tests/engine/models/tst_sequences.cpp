// Layers of sequences: where an encoder layer drops values, and what is refused.
#include "engine/core/error.h"
#include "engine/models/emit_model.h"
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
    /// The shares of attention, what comes of it, and both linear layers: where nn's class drops.
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
        QCOMPARE(refusalOf("Embedding(9, 4, padding_idx=0)", {2, 5}, DType::I32),
                 QString("line 1, column 29: Embedding: padding_idx=0 is not supported: only "
                         "None is"));
        QCOMPARE(refusalOf("Embedding(9, 4)", {2, 5}),
                 QString("line 1, column 1: Embedding(9, 4): the input holds floating-point "
                         "numbers; indices are expected, such as those of characters (data.kind "
                         "text)"));
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
};

} // namespace tst_sequences

QTEST_APPLESS_MAIN(tst_sequences::TestSequences)
#include "tst_sequences.moc"
