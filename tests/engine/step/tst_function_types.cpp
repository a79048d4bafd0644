// The dtypes of functions as a table: against torch.amp's documented lists, and against what the
// graph of a whole step computes.
#include "engine/data/dataset.h"
#include "engine/settings/fields.h"
#include "engine/settings/precision_plan.h"
#include "engine/settings/run_length.h"
#include "engine/step/function_types.h"
#include "engine/step/step_graph.h"

#include <QTest>

#include <algorithm>

namespace tst_function_types {

using namespace halfscope;

class TestFunctionTypes : public QObject {
    Q_OBJECT

private slots:
    void listsOfAutocast();
    void castsOfALayer();
    void insideOfFunctions();
    void dropoutInAttention();
    void layersOfTheirOwn();
    void otherPrecisions();
    void outputsOfApex();
    void normsInGroups();
    void lossesAndOtherSums();
    void unknownLayers();
    void lanesSideBySide();
    void castsAreThoseOfTheStep_data();
    void castsAreThoseOfTheStep();

private:
    /// Three classes from six values.
    const BatchShape m_batch{.rows = 5, .inputs = 6, .outputs = 3, .labels = true};
    static RunConfig configOf(const char* layers) {
        RunConfig config;
        config.model.layers = layers;
        config.task.loss.kind = LossKind::CrossEntropy;
        return config;
    }
    LaneTypes typesOf(const RunConfig& config, Precision precision, const char* layers = "") const {
        LaneConfig lane = defaultLane(precision);
        lane.layers = layers;
        return laneTypes(config, lane, m_batch);
    }
};

const FunctionTypes& rowOf(const LaneTypes& lane, std::string_view label,
                           std::string_view function) {
    const auto found =
        std::find_if(lane.functions.begin(), lane.functions.end(), [&](const FunctionTypes& row) {
            return row.label == label && row.function == function;
        });
    if (found == lane.functions.end())
        throw std::runtime_error(std::string(label) + " has no " + std::string(function));
    return *found;
}

void TestFunctionTypes::listsOfAutocast() {
    const LaneTypes lane = typesOf(
        configOf("Sequential(Linear(6, 8), LayerNorm(8), ReLU(), Softmax(1), Linear(8, 3))"),
        Precision::AmpFp16);
    QCOMPARE(lane.policy, std::string("torch cuda float16"));
    struct Expected {
        const char *label, *function;
        CastRule rule;
        DType type;
        size_t casts;
    };
    // the lists in PyTorch's documentation of torch.amp, "CUDA Ops that can autocast"
    const Expected all[] = {
        {"Linear 0", "linear", CastRule::Lower, DType::F16, 3},
        {"LayerNorm 1", "layer_norm", CastRule::Full, DType::F32, 1},
        {"ReLU 2", "relu", CastRule::Follow, DType::F32, 0},
        {"Softmax 3", "softmax", CastRule::FullBySet, DType::F32, 0},
        {"Linear 4", "linear", CastRule::Lower, DType::F16, 3},
        {"loss", "log_softmax", CastRule::FullBySet, DType::F32, 1},
        {"loss", "nll_loss", CastRule::Full, DType::F32, 0},
    };
    QCOMPARE(lane.functions.size(), std::size(all));
    for (size_t i = 0; i < std::size(all); ++i) {
        const FunctionTypes& row = lane.functions[i];
        QCOMPARE(row.label, std::string(all[i].label));
        QCOMPARE(row.function, std::string(all[i].function));
        QVERIFY2(row.source == TypeSource::Rule, all[i].function);
        QVERIFY2(row.rule == all[i].rule, all[i].function);
        QVERIFY2(row.type == all[i].type, all[i].function);
        QCOMPARE(row.casts.size(), all[i].casts);
    }
}

void TestFunctionTypes::castsOfALayer() {
    const LaneTypes lane =
        typesOf(configOf("Sequential(Linear(6, 8), ReLU(), Linear(8, 3))"), Precision::AmpBf16);
    const std::vector<InputCast> first{{"x", false, DType::F32, DType::BF16, 30},
                                       {"0.weight", true, DType::F32, DType::BF16, 48},
                                       {"0.bias", true, DType::F32, DType::BF16, 8}};
    QVERIFY(rowOf(lane, "Linear 0", "linear").casts == first);
    // what the layer before it made is in 16 bits already
    const std::vector<InputCast> second{{"2.weight", true, DType::F32, DType::BF16, 24},
                                        {"2.bias", true, DType::F32, DType::BF16, 3}};
    QVERIFY(rowOf(lane, "Linear 2", "linear").casts == second);
    const std::vector<InputCast> loss{{"Linear 2", false, DType::BF16, DType::F32, 15}};
    QVERIFY(rowOf(lane, "loss", "log_softmax").casts == loss);
}

void TestFunctionTypes::insideOfFunctions() {
    const LaneTypes lane =
        typesOf(configOf("Sequential(Linear(6, 8), BatchNorm1d(8), ReLU(), Linear(8, 3))"),
                Precision::AmpFp16);
    const FunctionTypes& linear = rowOf(lane, "Linear 0", "linear");
    QVERIFY(linear.product && !linear.insideF32 && !linear.tf32 && !linear.fp8);
    const FunctionTypes& norm = rowOf(lane, "BatchNorm1d 1", "batch_norm");
    QCOMPARE(norm.type, DType::F16); // what the running statistics take is no result
    QVERIFY(norm.insideF32 && !norm.product);
    QVERIFY(norm.casts.empty()); // its own, which no list asks for
    QVERIFY(!rowOf(lane, "ReLU 2", "relu").insideF32);
    const LaneTypes cpu = typesOf(
        configOf("Sequential(Unflatten(1, (1, 6)), Conv1d(1, 2, 3), Flatten(), Linear(8, 3))"),
        Precision::TorchCpuFp16);
    const FunctionTypes& conv = rowOf(cpu, "Conv1d 1", "conv1d");
    QCOMPARE(conv.type, DType::F16); // its bias is added before it is rounded
    QVERIFY(conv.product && !conv.insideF32);
    const LaneTypes full =
        typesOf(configOf("Sequential(Linear(6, 8), BatchNorm1d(8), ReLU(), Linear(8, 3))"),
                Precision::Fp32);
    for (const FunctionTypes& row : full.functions)
        QVERIFY2(!row.insideF32 && row.type == DType::F32, row.function.c_str());
}

/// The dropout of the weights is a part of the function, which does not end with it.
void TestFunctionTypes::dropoutInAttention() {
    constexpr std::string_view kName = "scaled_dot_product_attention";
    for (const char* dropout : {"0.1", "0.0"}) {
        const std::string layers = std::string("Sequential(Unflatten(1, (3, 2)), "
                                               "TransformerEncoderLayer(2, 1, 4, dropout=") +
                                   dropout + ", batch_first=True), Flatten(), Linear(6, 3))";
        const LaneTypes lane = typesOf(configOf(layers.c_str()), Precision::AmpFp16);
        const FunctionTypes& attention = rowOf(lane, "TransformerEncoderLayer 1.self_attn", kName);
        QCOMPARE(attention.type, DType::F16);
        QVERIFY(attention.insideF32 && attention.product);
        const auto calls =
            std::count_if(lane.functions.begin(), lane.functions.end(),
                          [&](const FunctionTypes& row) { return row.function == kName; });
        QCOMPARE(calls, std::ptrdiff_t{1});
    }
}

void TestFunctionTypes::layersOfTheirOwn() {
    const RunConfig config = configOf("Sequential(Linear(6, 8), ReLU(), Linear(8, 3))");
    const LaneTypes lane = typesOf(config, Precision::AmpFp16, "Linear 0=float32");
    const FunctionTypes& own = rowOf(lane, "Linear 0", "linear");
    QVERIFY(own.source == TypeSource::Layer);
    QCOMPARE(own.type, DType::F32);
    QVERIFY(own.casts.empty());
    QVERIFY(rowOf(lane, "Linear 2", "linear").source == TypeSource::Rule);
    QCOMPARE(rowOf(lane, "Linear 2", "linear").casts.size(), size_t(3)); // its input, too
    // without autocast, the other layers have none
    const LaneTypes plain = typesOf(config, Precision::Fp32, "Linear 0=bfloat16");
    QCOMPARE(plain.policy, std::string());
    QCOMPARE(rowOf(plain, "Linear 0", "linear").type, DType::BF16);
    QVERIFY(rowOf(plain, "Linear 2", "linear").source == TypeSource::NoAutocast);
}

void TestFunctionTypes::otherPrecisions() {
    const RunConfig config = configOf("Sequential(Linear(6, 8), ReLU(), Linear(8, 3))");
    const LaneTypes tf32 = typesOf(config, Precision::Tf32);
    QVERIFY(rowOf(tf32, "Linear 0", "linear").tf32);
    QVERIFY(!rowOf(tf32, "ReLU 1", "relu").tf32);
    QVERIFY(rowOf(tf32, "Linear 0", "linear").source == TypeSource::NoAutocast);
    const LaneTypes fp8 = typesOf(config, Precision::Fp8);
    QVERIFY(rowOf(fp8, "Linear 0", "linear").fp8);
    QVERIFY(!rowOf(fp8, "Linear 0", "linear").insideF32); // finding a scale is not the function
    QVERIFY(!rowOf(fp8, "ReLU 1", "relu").fp8);
    const LaneTypes half = typesOf(config, Precision::Fp16);
    QVERIFY(rowOf(half, "Linear 0", "linear").source == TypeSource::EveryLayer);
    QCOMPARE(rowOf(half, "Linear 0", "linear").type, DType::F16);
    QVERIFY(rowOf(half, "Linear 0", "linear").casts.empty()); // the weights are stored so
}

void TestFunctionTypes::outputsOfApex() {
    const LaneTypes lane =
        typesOf(configOf("Sequential(Linear(6, 8), ReLU(), Linear(8, 3))"), Precision::ApexO2);
    const FunctionTypes& outputs = rowOf(lane, "Linear 2", "to");
    QVERIFY(outputs.source == TypeSource::Outputs);
    QCOMPARE(outputs.type, DType::F32);
    QCOMPARE(rowOf(lane, "Linear 2", "linear").type, DType::F16);
}

/// They compute in float32 and return what they were given, where no list of autocast has them.
void TestFunctionTypes::normsInGroups() {
    const RunConfig config = configOf("Sequential(Unflatten(1, (2, 3)), Conv1d(2, 4, 1), "
                                      "GroupNorm(2, 4), InstanceNorm1d(4, affine=True), ReLU(), "
                                      "Flatten(), Linear(12, 3))");
    for (const Precision each : {Precision::Fp16, Precision::TorchCpuBf16}) {
        const DType low = each == Precision::Fp16 ? DType::F16 : DType::BF16;
        const LaneTypes lane = typesOf(config, each);
        for (const char* name : {"group_norm", "instance_norm"}) {
            const auto norm =
                std::find_if(lane.functions.begin(), lane.functions.end(),
                             [&](const FunctionTypes& row) { return row.function == name; });
            QVERIFY2(norm != lane.functions.end(), name);
            QVERIFY2(norm->type == low && norm->insideF32, name);
        }
    }
}

void TestFunctionTypes::lossesAndOtherSums() {
    const RunConfig config = configOf("Sequential(Linear(6, 8), ReLU(), Linear(8, 3))");
    const LaneTypes fp16 = typesOf(config, Precision::Fp16);
    const FunctionTypes& loss = rowOf(fp16, "loss", "cross_entropy");
    QVERIFY(loss.source == TypeSource::Loss);
    QCOMPARE(loss.type, DType::F32);
    // what belongs to no layer is listed where a precision casts by layers, too
    RunConfig two = presetNamed("recipe-two-optimizers").config;
    two.lanes = {defaultLane(Precision::AmpFp16), defaultLane(Precision::Fp16)};
    const std::vector<LaneTypes> lanes = laneTypes(two);
    QCOMPARE(rowOf(lanes[0], "mixtures", "add").type, DType::F16);
    const FunctionTypes& sum = rowOf(lanes[1], "mixtures", "add");
    QVERIFY(sum.source == TypeSource::NoAutocast);
    QCOMPARE(sum.type, DType::F16);
}

void TestFunctionTypes::unknownLayers() {
    const RunConfig config = configOf("Sequential(Linear(6, 8), ReLU(), Linear(8, 3))");
    QVERIFY_EXCEPTION_THROWN(typesOf(config, Precision::AmpFp16, "layer 99=float32"), InputError);
}

void TestFunctionTypes::lanesSideBySide() {
    const RunConfig config = configOf("Sequential(Linear(6, 8), ReLU(), Linear(8, 3))");
    const std::vector<LaneTypes> lanes{typesOf(config, Precision::Fp32),
                                       typesOf(config, Precision::ApexO2),
                                       typesOf(config, Precision::AmpFp16)};
    const std::vector<TypesRow> rows = typesRows(lanes);
    std::string order;
    for (const TypesRow& row : rows) {
        QCOMPARE(row.lanes.size(), size_t(3));
        order += row.label + ' ' + row.function + (row.lanes[0] ? "; " : " not in A; ");
        for (const FunctionTypes* each : row.lanes)
            if (each) QCOMPARE(each->function, row.function);
    }
    // a precision that casts every layer alike takes a loss for one function
    QCOMPARE(QString::fromStdString(order),
             QStringLiteral("Linear 0 linear; ReLU 1 relu; Linear 2 linear; Linear 2 to not in A; "
                            "loss cross_entropy not in A; loss log_softmax; loss nll_loss; "));
    QVERIFY(rows[3].lanes[1] && !rows[3].lanes[2]);
}

void TestFunctionTypes::castsAreThoseOfTheStep_data() {
    QTest::addColumn<QString>("preset");
    for (const char* name : {"checkerboard", "mnist-cnn", "transformer-tiny", "resnet-small", "gan",
                             "languages", "fp8", "policies"})
        QTest::newRow(name) << name;
}

/// Every cast that a policy asks for in the graph of the whole training step stands in the table,
/// with as many numbers; and there is no other.
void TestFunctionTypes::castsAreThoseOfTheStep() {
    QFETCH(const QString, preset);
    const RunConfig config = presetNamed(preset.toStdString()).config;
    const std::vector<LaneTypes> lanes = laneTypes(config);
    const BatchShape shape = batchShape(factsOf(config.task).tensors, epochPlanOf(config).batch);
    bool any = false;
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
        std::vector<int64_t> told, made;
        for (const FunctionTypes& row : lanes[lane].functions)
            for (const InputCast& cast : row.casts)
                told.push_back(cast.elements);
        const Graph step = buildStep(config, config.lanes[lane], shape);
        const std::string end = " (" + lanes[lane].policy + ")";
        for (NodeId id = 0; id < step.size(); ++id) {
            const Cause& cause = step[id].cause;
            const bool forward = cause.phase == Phase::Forward || cause.phase == Phase::Loss;
            if (step[id].op == Op::Cast && forward && cause.rule.ends_with(end))
                made.push_back(step[id].elements());
        }
        std::sort(told.begin(), told.end());
        std::sort(made.begin(), made.end());
        QCOMPARE(told, made);
        any |= !told.empty();
    }
    QVERIFY(any);
}

} // namespace tst_function_types

QTEST_GUILESS_MAIN(tst_function_types::TestFunctionTypes)
#include "tst_function_types.moc"
