// BatchNorm1d and 2d, SyncBatchNorm, LayerNorm, RMSNorm, GroupNorm, InstanceNorm1d and 2d,
// LocalResponseNorm. Statistics are computed in F32, whatever dtype the network computes in.
#include "engine/models/layer_context.h"
#include "engine/ops/functional.h"

#include <optional>

namespace halfscope {

namespace {

constexpr double kMostChannels = 1 << 20;
constexpr InitialValue kZero{InitialValue::Kind::Constant, 0};
constexpr InitialValue kOne{InitialValue::Kind::Constant, 1};

/// Returns weight and bias. `wanted` is the argument that asks for them.
std::vector<ParameterInfo> affine(const LayerSpec& layer, std::string_view wanted,
                                  const Shape& shape) {
    std::vector<ParameterInfo> all;
    if (!layer.truth(wanted)) return all;
    all.push_back({"weight", shape, ParameterRole::NormWeight, kOne});
    if (layer.truth("bias")) all.push_back({"bias", shape, ParameterRole::NormBias, kZero});
    return all;
}

/// Given only by name: PyTorch 2.15 added it to norms that are older.
constexpr ArgInfo kBias{
    .name = "bias", .kind = ArgKind::Truth, .standard = "True", .byName = true, .with = "affine"};

constexpr ArgInfo kMomentum{.name = "momentum",
                            .kind = ArgKind::Real,
                            .standard = "0.1",
                            .least = 0,
                            .most = 1,
                            .orNone = true};

constexpr ArgInfo kBatchArgs[] = {
    {"num_features", ArgKind::Whole, "", ArgShown::Bare, 1, kMostChannels},
    {"eps", ArgKind::Real, "1e-05", ArgShown::Named, 0, 1},
    kMomentum,
    {"affine", ArgKind::Truth, "True"},
    kBias,
    {"track_running_stats", ArgKind::Truth, "True"},
};

bool tracksStatistics(const LayerSpec& layer) { return layer.truth("track_running_stats"); }
bool lacksStatistics(const LayerSpec& layer) { return !tracksStatistics(layer); }

/// On one device there is no group to choose.
constexpr ArgInfo kSyncArgs[] = {
    kBatchArgs[0],
    kBatchArgs[1],
    kBatchArgs[2],
    kBatchArgs[3],
    kBatchArgs[4],
    kBatchArgs[5],
    {"process_group", ArgKind::Whole, "None", ArgShown::Never, 0, 0, "None"},
};

std::vector<ParameterInfo> batchParameters(const LayerSpec& layer) {
    const Shape channels{layer.whole("num_features")};
    std::vector<ParameterInfo> all = affine(layer, "affine", channels);
    if (lacksStatistics(layer)) return all;
    all.push_back({"running_mean", channels, ParameterRole::RunningStatistic, kZero});
    all.push_back({"running_var", channels, ParameterRole::RunningStatistic, kOne});
    return all;
}

constexpr Phrase kFeatures = phrase("Model", "the input has %1 features");
constexpr Phrase kChannels = phrase("Model", "the input has %1 channels");

void requireChannels(const LayerSpec& layer, const NodeType& in, std::string_view arg,
                     Phrase wrong) {
    if (in.shape[1] != layer.whole(arg)) layer.refuse({wrong, in.shape[1]});
}

/// Refuses a batch without a variance of its own. Only evaluation by running statistics does
/// without it.
void checkBatch(const LayerSpec& layer, const NodeType& in) {
    if (in.shape.elements() / in.shape[1] < 2)
        layer.refuse(
            {phrase("Model",
                    "the input, %1, has one value a channel, and a variance needs at least two"),
             shapeText(in.shape)});
}

NodeType batchOutput(const LayerSpec& layer, const NodeType& in, Phrase wrong) {
    requireChannels(layer, in, "num_features", wrong);
    if (lacksStatistics(layer)) checkBatch(layer, in); // in evaluation, too
    return in;
}

constexpr LayerInfo ofBatches(LayerInfo row) {
    row.checkTraining = checkBatch;
    row.usesBatch = lacksStatistics;
    row.countsBatches = true;
    return row;
}

NodeType batch1dOutput(const LayerSpec& layer, const NodeType& in) {
    if (in.shape.rank() != 2 && in.shape.rank() != 3)
        layer.refuse(
            {phrase(
                 "Model",
                 "the input is %1; (samples, features) or (samples, channels, length) is expected"),
             shapeText(in.shape)});
    return batchOutput(layer, in, in.shape.rank() == 2 ? kFeatures : kChannels);
}

NodeType batch2dOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    return batchOutput(layer, in, kChannels);
}

/// Returns the weight of a batch in running statistics, 0 where none is given.
double momentumOf(const LayerSpec& layer) {
    return layer.value("momentum").isNone ? 0 : layer.real("momentum");
}

/// Of SyncBatchNorm, which on one device is a batch norm for any number of axes.
NodeType batchAnyOutput(const LayerSpec& layer, const NodeType& in) {
    requirePlaces(layer, in, 2);
    return batchOutput(layer, in, kChannels);
}

NodeId emitWithRunning(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const NodeId weight = c.parameter("weight"), bias = c.parameter("bias");
    const NodeId mean = c.b.cast(c.statistic("running_mean"), DType::F32);
    const NodeId variance = c.b.cast(c.statistic("running_var"), DType::F32);
    return fn::batchNormWith(c.b, x, weight, bias, mean, variance, 1, layer.real("eps"));
}

/// Without a momentum, running statistics are means over all batches.
NodeId emitBatchNorm(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const bool tracks = tracksStatistics(layer);
    if (tracks && !c.trains()) return emitWithRunning(c, layer, x);
    const NodeId weight = c.parameter("weight"), bias = c.parameter("bias");
    const double eps = layer.real("eps");
    const fn::BatchNormResult r = fn::batchNorm(c.b, x, weight, bias, 1, eps);
    if (!tracks) return r.y;
    const NodeId counter = layer.value("momentum").isNone ? c.batches() : kNoNode;
    c.moveOn("running_mean", r.mean, momentumOf(layer), counter);
    c.moveOn("running_var", r.unbiasedVariance, momentumOf(layer), counter);
    return r.y;
}

/// Without autocast a layer keeps its dtype; under autocast PyTorch's norms return F32.
NodeId asLayer(Builder& b, NodeId y, NodeId x) { return b.policy() ? y : b.cast(y, b.dtypeOf(x)); }

constexpr ArgInfo kLayerArgs[] = {
    {"normalized_shape", ArgKind::Extents, "", ArgShown::Bare, 1, kMostChannels},
    {"eps", ArgKind::Real, "1e-05", ArgShown::Named, 0, 1},
    {"elementwise_affine", ArgKind::Truth, "True"},
    {.name = "bias", .kind = ArgKind::Truth, .standard = "True", .with = "elementwise_affine"},
};

std::vector<ParameterInfo> layerParameters(const LayerSpec& layer) {
    return affine(layer, "elementwise_affine", layer.extents("normalized_shape"));
}

NodeType layerOutput(const LayerSpec& layer, const NodeType& in) {
    const Shape wanted = layer.extents("normalized_shape");
    const int first = in.shape.rank() - wanted.rank();
    bool fits = first >= 0;
    for (int axis = 0; fits && axis < wanted.rank(); ++axis)
        fits = in.shape[first + axis] == wanted[axis];
    if (!fits)
        layer.refuse(
            {phrase("Model", "the input, %1, does not end in this shape"), shapeText(in.shape)});
    return in;
}

/// The input as rows of the axes that are normalised, and a parameter of them as one row.
Shape rowsOf(const LayerSpec& layer, const Shape& whole) {
    const Shape normed = layer.extents("normalized_shape");
    Shape rows;
    for (int axis = 0; axis < whole.rank() - normed.rank(); ++axis)
        rows.push(whole[axis]);
    rows.push(normed.elements());
    return rows;
}
NodeId rowOf(LayerContext& c, std::string_view parameter) {
    const NodeId p = c.parameter(parameter);
    return p == kNoNode ? p : c.b.reshape(p, {c.b.shapeOf(p).elements()});
}

NodeId emitLayerNorm(LayerContext& c, const LayerSpec& layer, NodeId x) {
    Builder& b = c.b;
    const Shape whole = b.shapeOf(x);
    const NodeId weight = rowOf(c, "weight"), bias = rowOf(c, "bias");
    const NodeId rows = b.reshape(x, rowsOf(layer, whole));
    const NodeId y = fn::layerNorm(b, rows, weight, bias, layer.real("eps"));
    return asLayer(b, b.reshape(y, whole), x);
}

constexpr ArgInfo kRmsArgs[] = {
    {"normalized_shape", ArgKind::Extents, "", ArgShown::Bare, 1, kMostChannels},
    {"eps", ArgKind::Real, "None", ArgShown::Named, 0, 1},
    {"elementwise_affine", ArgKind::Truth, "True"},
};

std::vector<ParameterInfo> rmsParameters(const LayerSpec& layer) {
    if (!layer.truth("elementwise_affine")) return {};
    return {{"weight", layer.extents("normalized_shape"), ParameterRole::NormWeight, kOne}};
}

NodeId emitRmsNorm(LayerContext& c, const LayerSpec& layer, NodeId x) {
    Builder& b = c.b;
    const Shape whole = b.shapeOf(x);
    const ArgValue& eps = layer.value("eps");
    const NodeId y = fn::rmsNorm(b, b.reshape(x, rowsOf(layer, whole)), rowOf(c, "weight"),
                                 eps.isNone ? std::nullopt : std::optional(eps.numbers.at(0)));
    return b.reshape(y, whole);
}

constexpr ArgInfo kResponseArgs[] = {
    {"size", ArgKind::Whole, "", ArgShown::Bare, 1, kMostChannels},
    {"alpha", ArgKind::Real, "0.0001"},
    {"beta", ArgKind::Real, "0.75"},
    {"k", ArgKind::Real, "1.0"},
};

NodeType responseOutput(const LayerSpec& layer, const NodeType& in) {
    requirePlaces(layer, in, 3);
    Shape widened = in.shape;
    widened[1] += layer.whole("size") - 1;
    requireRoom(layer, widened);
    return in;
}

NodeId emitResponseNorm(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::localResponseNorm(
        c.b, x, {layer.whole("size"), layer.real("alpha"), layer.real("beta"), layer.real("k")});
}

constexpr ArgInfo kGroupArgs[] = {
    {"num_groups", ArgKind::Whole, "", ArgShown::Bare, 1, kMostChannels},
    {"num_channels", ArgKind::Whole, "", ArgShown::Bare, 1, kMostChannels},
    {"eps", ArgKind::Real, "1e-05", ArgShown::Named, 0, 1},
    {"affine", ArgKind::Truth, "True"},
    kBias,
};

std::vector<ParameterInfo> groupParameters(const LayerSpec& layer) {
    return affine(layer, "affine", {layer.whole("num_channels")});
}

void completeGroups(LayerSpec& layer) {
    if (layer.whole("num_channels") % layer.whole("num_groups") != 0)
        layer.refuse(phrase("Model", "num_channels must be a multiple of num_groups"));
}

NodeType groupOutput(const LayerSpec& layer, const NodeType& in) {
    requirePlaces(layer, in, 2);
    requireChannels(layer, in, "num_channels", kChannels);
    return in;
}

NodeId emitGroupNorm(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const NodeId weight = c.parameter("weight"), bias = c.parameter("bias");
    const NodeId y =
        fn::groupNorm(c.b, x, layer.whole("num_groups"), weight, bias, layer.real("eps"));
    return asLayer(c.b, y, x);
}

constexpr ArgInfo kInstanceArgs[] = {
    {"num_features", ArgKind::Whole, "", ArgShown::Bare, 1, kMostChannels},
    {"eps", ArgKind::Real, "1e-05", ArgShown::Named, 0, 1},
    kMomentum,
    {"affine", ArgKind::Truth, "False"},
    kBias,
    {"track_running_stats", ArgKind::Truth, "False"},
};

NodeType instanceOutput(const LayerSpec& layer, const NodeType& in) {
    requireChannels(layer, in, "num_features", kChannels);
    if (in.shape.elements() / in.shape[0] / in.shape[1] < 2)
        layer.refuse({phrase("Model", "the input, %1, has one value in each channel of a sample, "
                                      "and a variance needs at least two"),
                      shapeText(in.shape)});
    return in;
}

NodeType instance1dOutput(const LayerSpec& layer, const NodeType& in) {
    requireSequence(layer, in);
    return instanceOutput(layer, in);
}

NodeType instance2dOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    return instanceOutput(layer, in);
}

/// Without a momentum, running statistics stay as they are: PyTorch takes it as 0 here and keeps no
/// count.
NodeId emitInstanceNorm(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const bool tracks = tracksStatistics(layer);
    if (tracks && !c.trains()) return emitWithRunning(c, layer, x);
    if (tracks) {
        const fn::InstanceStatistics seen = fn::instanceStatistics(c.b, x);
        c.moveOn("running_mean", seen.mean, momentumOf(layer));
        c.moveOn("running_var", seen.unbiasedVariance, momentumOf(layer));
    }
    const NodeId weight = c.parameter("weight"), bias = c.parameter("bias");
    return fn::instanceNorm(c.b, x, weight, bias, layer.real("eps"));
}

constexpr LayerInfo kRows[] = {
    ofBatches({"BatchNorm1d", Wants::Features, kBatchArgs, batch1dOutput, emitBatchNorm,
               batchParameters}),
    ofBatches({"BatchNorm2d", Wants::Images, kBatchArgs, batch2dOutput, emitBatchNorm,
               batchParameters, anyLayout}),
    ofBatches({"SyncBatchNorm", Wants::Anything, kSyncArgs, batchAnyOutput, emitBatchNorm,
               batchParameters, anyLayout}),
    {"LayerNorm", Wants::Features, kLayerArgs, layerOutput, emitLayerNorm, layerParameters},
    {"RMSNorm", Wants::Features, kRmsArgs, layerOutput, emitRmsNorm, rmsParameters},
    {"GroupNorm", Wants::Images, kGroupArgs, groupOutput, emitGroupNorm, groupParameters, nullptr,
     completeGroups},
    {"InstanceNorm1d", Wants::Samples, kInstanceArgs, instance1dOutput, emitInstanceNorm,
     batchParameters},
    {"InstanceNorm2d", Wants::Images, kInstanceArgs, instance2dOutput, emitInstanceNorm,
     batchParameters},
    {"LocalResponseNorm", Wants::Images, kResponseArgs, responseOutput, emitResponseNorm},
};

} // namespace

std::span<const LayerInfo> normLayers() { return kRows; }

} // namespace halfscope
