// Random numbers inside a step: uniform in [0, 1) from Philox, by the node's seed and stream number
// and by a counter that is a state. The same step gives the same numbers on every device and in
// every gradient, and two nodes never share a stream.
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/ops/families.h"

#include <cmath>

namespace halfscope {
namespace {

NodeType inferRandom(std::span<const NodeType> in, const Attrs& attrs) {
    const auto& how = attrsOf<RandomAttrs>(attrs);
    require(in[0].shape.empty() && in[0].dtype != DType::Bool, "the counter must be one number");
    // Numbers below 2^32 are the streams of weights and batches.
    require(how.stream >= 1 && how.stream >> 32 == 0, "the stream must be 1 to 2^32 - 1");
    return {how.shape, DType::F32};
}

void refRandom(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const auto& how = attrsOf<RandomAttrs>(attrs);
    const Philox random(how.seed, randomStream(how, in[0].values[0]));
    for (size_t i = 0; i < out.values.size(); ++i)
        out.values[i] = static_cast<double>(random.uniform(i));
}

const OpInfo kRows[] = {
    {Op::Random, "random", 1, OpFlags(OpFlag::NoGradient), inferRandom, nullptr, refRandom},
};

} // namespace

std::span<const OpInfo> randomOps() { return kRows; }

uint64_t randomStream(const RandomAttrs& how, double counter) {
    // For values that are not a count (inf, NaN, beyond 2^53) any stream will do: only the
    // conversion must be defined.
    const bool counts = std::fabs(counter) <= 0x1p53;
    return how.stream << 32 | static_cast<uint32_t>(static_cast<int64_t>(counts ? counter : 0));
}

} // namespace halfscope
