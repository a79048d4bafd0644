// The ops at the end of a step: the count of non-finite values and the loss scaler's update. The
// rule itself is in engine/scaler/grad_scaler.h; the optimizers are elementwise composites.
#include "engine/core/error.h"
#include "engine/ops/families.h"
#include "engine/scaler/grad_scaler.h"

#include <cmath>

namespace halfscope {
namespace {

NodeType inferCount(std::span<const NodeType> in, const Attrs&) {
    require(isFloat(in[0].dtype), "count_non_finite: the input must be a float tensor");
    return {Shape{}, DType::F32};
}

void refCount(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    double count = 0;
    for (const double x : in[0].values)
        count += std::isfinite(x) ? 0.0 : 1.0;
    out.values[0] = count;
}

NodeType inferScaler(std::span<const NodeType> in, const Attrs&) {
    require(in[0].shape == Shape{kScalerSlots} && in[0].dtype == DType::F64,
            "scaler_update: the state must be float64 [kScalerSlots]");
    require(in[1].shape == Shape{kRuleSlots} && in[1].dtype == DType::F64,
            "scaler_update: the rules must be float64 [kRuleSlots]");
    require(in[2].shape.empty() && in[2].dtype == DType::F32,
            "scaler_update: foundInf must be a float32 scalar");
    return in[0];
}

void refScaler(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    nextSlots(in[0].values, in[1].values, in[2].values[0] != 0, out.values);
}

const OpInfo kRows[] = {
    {Op::CountNonFinite, "count_non_finite", 1, OpFlags(OpFlag::NoGradient), inferCount, nullptr,
     refCount},
    {Op::ScalerUpdate, "scaler_update", 3, OpFlags(OpFlag::NoGradient), inferScaler, nullptr,
     refScaler},
};

} // namespace

std::span<const OpInfo> updateOps() { return kRows; }

} // namespace halfscope
