// The table of gradients by layer: its rows, its figures, and what it says in words.
#include "ui/models/layer_gradients_model.h"

#include <QSignalSpy>
#include <QtTest>

namespace tst_layer_gradients_model {

using namespace halfscope;
using Model = LayerGradientsModel;

namespace {

/// Returns counts of 100 values: zeros, infinities, and the rest from 2^exponent to 2^(exponent+1).
MagnitudeCounts hundred(int64_t zeros, int exponent, int64_t infinite = 0) {
    MagnitudeCounts counts;
    counts.zeros = zeros;
    counts.notFinite = infinite;
    counts.buckets[static_cast<size_t>(exponent - MagnitudeCounts::kLowest)] =
        100 - zeros - infinite;
    return counts;
}

GradientRange laneOf(DType type, std::vector<LayerGradients> layers) {
    GradientRange range;
    range.step = 3;
    range.type = type;
    range.layers = std::move(layers);
    return range;
}

std::vector<GradientRange> twoLanes() {
    return {laneOf(DType::F32, {{"Linear 0", DType::F32, false, hundred(50, -20), hundred(0, -3)},
                                {"Linear 2", DType::F32, false, hundred(0, -1), hundred(0, 2)}}),
            laneOf(DType::F16,
                   {{"Linear 0", DType::F16, false, hundred(90, -20), hundred(0, -3), 0.25},
                    {"Linear 2", DType::F16, false, hundred(0, -1), hundred(0, 2), 0.003}})};
}

const QStringList kLabels{QStringLiteral("A fp32"), QStringLiteral("B amp-fp16")};

} // namespace

class TestLayerGradientsModel : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void lanesOfALayerStandTogether() {
        Model model;
        model.show(twoLanes(), kLabels);
        QCOMPARE(model.rowCount(), 4);
        const QStringList wanted{"Linear 0 A fp32", "Linear 0 B amp-fp16", "Linear 2 A fp32",
                                 "Linear 2 B amp-fp16"};
        for (int row = 0; row < 4; ++row)
            QCOMPARE(model.index(row, Model::Layer).data().toString() + u' ' +
                         model.index(row, Model::Lane).data().toString(),
                     wanted[row]);
        QVERIFY(model.beginsLayer(0) && !model.beginsLayer(1) && model.beginsLayer(2));
        // a layer that only the second lane has goes where that lane has it
        std::vector<GradientRange> lanes = twoLanes();
        LayerGradients norm;
        norm.layer = "LayerNorm 1";
        lanes[1].layers.insert(lanes[1].layers.begin() + 1, norm);
        model.show(lanes, kLabels);
        QCOMPARE(model.rowCount(), 5);
        QCOMPARE(model.index(2, Model::Layer).data().toString(), QStringLiteral("LayerNorm 1"));
        QCOMPARE(model.lane(2), 1);
        QVERIFY(model.beginsLayer(2) && model.beginsLayer(3));
    }

    void figures() {
        Model model;
        model.show(twoLanes(), kLabels);
        const auto cells = [&model](int row) {
            QStringList texts;
            for (const int column :
                 {Model::Type, Model::Zero, Model::Small, Model::Room, Model::Error})
                texts << model.index(row, column).data().toString();
            return texts;
        };
        // of 200 values, 50 are zero and 50 lie at 2^-20; the largest are below 2^-2
        QCOMPARE(cells(0), QStringList({"float32", "25 %", "25 %", "–", "–"}));
        QCOMPARE(cells(1), QStringList({"float16", "45 %", "5.0 %", "2^18", "0.25"}));
        QCOMPARE(cells(3), QStringList({"float16", "0 %", "0 %", "2^13", "0.003"}));
        QCOMPARE(model.index(0, Model::Room).data(Qt::ToolTipRole).toString(),
                 QStringLiteral("Stored in float32, which holds far larger numbers than fp16."));
        QVERIFY(!model.index(1, Model::Room).data(Qt::ToolTipRole).isValid());
        std::vector<GradientRange> lanes = twoLanes();
        lanes[1].layers[1].outputs = hundred(0, -1, 8);
        lanes[1].layers[1].fp8 = true;
        lanes[1].layers[1].error.reset();
        model.show(lanes, kLabels);
        QCOMPARE(cells(3), QStringList({"E5M2 (FP8)", "0 %", "0 %", "4.0 % inf or nan", "–"}));
        // no scale makes zeros larger: the cell says why it has no number
        lanes[1].layers[0].outputs = lanes[1].layers[0].weights = hundred(100, 0);
        model.show(lanes, kLabels);
        QCOMPARE(cells(1), QStringList({"float16", "100 %", "0 %", "all zero", "0.25"}));
        const QString spoken = model.index(3, Model::Sizes).data(Qt::AccessibleTextRole).toString();
        QVERIFY2(spoken.startsWith("Linear 2, B amp-fp16, Stored as E5M2 (FP8), Error –, Zero 0 %"),
                 qPrintable(spoken));
    }

    void words() {
        Model model;
        QCOMPARE(model.summary(), QString());
        model.show(twoLanes(), kLabels);
        QCOMPARE(model.summary(),
                 QStringLiteral(
                     "B amp-fp16: least room for a larger scale in Linear 2 (2^13); "
                     "most underflow in Linear 0 (45 % of its gradients are zero, in lane A 25 %); "
                     "largest error in Linear 0 (0.25)."));
        // ReLU has other zeros in lanes with other weights: no underflow where nothing is small
        std::vector<GradientRange> lanes = twoLanes();
        lanes[1].layers[0].outputs = hundred(90, -3);
        model.show(lanes, kLabels);
        QVERIFY2(!model.summary().contains("underflow"), qPrintable(model.summary()));
        // nor where other gradients are counted
        lanes = twoLanes();
        lanes[0].layers[0].weights = {};
        model.show(lanes, kLabels);
        QVERIFY2(!model.summary().contains("underflow"), qPrintable(model.summary()));
        QVERIFY(model.lacks(0, &LayerGradients::weights));
        QVERIFY(!model.lacks(0, &LayerGradients::outputs));
        QVERIFY(!model.lacks(1, &LayerGradients::weights));
        // inf spreads from the layer where it began to those before it
        lanes = twoLanes();
        for (LayerGradients& layer : lanes[1].layers) {
            layer.outputs = hundred(0, 0, 100);
            layer.error.reset();
        }
        model.show(lanes, kLabels);
        QCOMPARE(model.summary(),
                 QStringLiteral("B amp-fp16: inf or nan in Linear 2 and all layers before it."));
        lanes[1].layers[0].outputs = hundred(0, 0);
        lanes[1].noErrors = Message::data("no room");
        model.show(lanes, kLabels);
        QCOMPARE(model.summary(), QStringLiteral("B amp-fp16: inf or nan in Linear 2; errors are "
                                                 "not measured: no room."));
        // TF32 stores float32, and has an error
        lanes = twoLanes();
        lanes[1].type = DType::F32;
        lanes[1].layers[0].outputs = hundred(0, -20);
        model.show(lanes, kLabels);
        QCOMPARE(model.summary(), QStringLiteral("B amp-fp16: largest error in Linear 0 (0.25)."));
    }

    /// Norms stay in float32 under autocast: what fp16 could not hold does not overflow there.
    void roomOfWhatIsStoredInFp16() {
        std::vector<GradientRange> lanes = twoLanes();
        lanes[1].layers[1].layer = "output layer";
        lanes[1].layers.push_back(
            {"LayerNorm 3", DType::F32, false, hundred(0, -1), hundred(0, 12)});
        Model model;
        model.show(lanes, kLabels);
        QVERIFY2(model.summary().startsWith(
                     "B amp-fp16: least room for a larger scale in the output layer (2^13); "),
                 qPrintable(model.summary()));
        for (size_t i = 0; i < 2; ++i)
            lanes[1].layers[i].type = DType::F32;
        model.show(lanes, kLabels);
        QVERIFY2(!model.summary().contains("room"), qPrintable(model.summary()));
    }

    /// What counts is how much of what float32 keeps is lost, also where nothing is left that would
    /// be small.
    void aLayerThatLostAll() {
        std::vector<GradientRange> lanes = twoLanes();
        lanes[0].layers[0].outputs = lanes[0].layers[0].weights = hundred(37, -20);
        lanes[1].layers[0].outputs = lanes[1].layers[0].weights = hundred(100, 0);
        lanes[1].layers[1].outputs = lanes[1].layers[1].weights = hundred(86, -20);
        Model model;
        model.show(lanes, kLabels);
        QVERIFY2(model.summary().contains("most underflow in Linear 0 (100 % of its gradients are "
                                          "zero, in lane A 37 %); largest error"),
                 qPrintable(model.summary()));
        // behind dead units all gradients are zero, too, but none is small
        lanes[1].layers[1].outputs = lanes[1].layers[1].weights = hundred(0, -1);
        model.show(lanes, kLabels);
        QVERIFY2(!model.summary().contains("underflow"), qPrintable(model.summary()));
        // where no layer has any left, the first of them is named
        lanes[1].layers[1].outputs = lanes[1].layers[1].weights = hundred(100, 0);
        model.show(lanes, kLabels);
        QVERIFY2(
            model.summary().contains("most underflow in Linear 0 (100 % of its gradients are zero"),
            qPrintable(model.summary()));
    }

    /// That all gradients are zero needs no lane to compare with.
    void zerosWithoutALaneInFloat32() {
        const auto summaryOf = [](const std::vector<int>& zeros) {
            GradientRange lane = laneOf(DType::F16, {});
            for (size_t i = 0; i < zeros.size(); ++i)
                lane.layers.push_back({"layer " + std::to_string(i), DType::F16, false,
                                       hundred(zeros[i], -3), hundred(zeros[i], -3)});
            Model model;
            model.show({lane}, {QStringLiteral("A amp-fp16")});
            return model.summary();
        };
        QCOMPARE(summaryOf({100, 99, 100}),
                 QStringLiteral("A amp-fp16: least room for a larger scale in layer 1 (2^18); all "
                                "gradients zero in layer 0, layer 2."));
        QCOMPARE(summaryOf({100, 100, 100, 100, 100, 99}),
                 QStringLiteral("A amp-fp16: least room for a larger scale in layer 5 (2^18); all "
                                "gradients zero in layer 0, layer 1, layer 2 and 2 more layers."));
        QCOMPARE(summaryOf({100, 100}),
                 QStringLiteral("A amp-fp16: all gradients zero in every layer."));
        QVERIFY(!summaryOf({99, 50}).contains("all gradients"));
    }

    /// Events name parameters: the table tells whose they are.
    void parametersAreNamed() {
        std::vector<GradientRange> lanes = twoLanes();
        lanes[0].layers[1].parameters = {"2.weight", "2.bias"};
        Model model;
        model.show(lanes, kLabels);
        const QModelIndex named = model.index(2, Model::Layer);
        QCOMPARE(named.data(Qt::ToolTipRole).toString(),
                 QStringLiteral("Linear 2. In PyTorch: 2.weight, 2.bias"));
        QVERIFY(named.data(Qt::AccessibleTextRole)
                    .toString()
                    .startsWith("Linear 2 (2.weight, 2.bias), A fp32, Stored as"));
        QVERIFY(!model.index(2, Model::Zero).data(Qt::ToolTipRole).isValid());
        // none are known; a narrow column cuts names
        QCOMPARE(model.index(0, Model::Layer).data(Qt::ToolTipRole).toString(),
                 QStringLiteral("Linear 0"));
        QCOMPARE(model.index(1, Model::Lane).data(Qt::ToolTipRole).toString(), kLabels[1]);
    }

    /// Another count of the same layers moves no cursor; other layers begin anew.
    void countsFollowOneAnother() {
        Model model;
        QSignalSpy reset(&model, &Model::modelReset), changed(&model, &Model::dataChanged);
        model.show(twoLanes(), kLabels);
        QCOMPARE(reset.size(), 1);
        std::vector<GradientRange> lanes = twoLanes();
        lanes[1].layers[0].error = 0.5;
        model.show(lanes, kLabels);
        QCOMPARE(reset.size(), 1);
        QCOMPARE(changed.size(), 1);
        QCOMPARE(model.index(1, Model::Error).data().toString(), QStringLiteral("0.5"));
        lanes[0].layers.pop_back();
        model.show(lanes, kLabels);
        QCOMPARE(reset.size(), 2);
        QCOMPARE(model.rowCount(), 3);
    }
};

} // namespace tst_layer_gradients_model

QTEST_GUILESS_MAIN(tst_layer_gradients_model::TestLayerGradientsModel)
#include "tst_layer_gradients_model.moc"
