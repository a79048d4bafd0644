// Decides by a trial: zero gradients alone prove nothing. An FP32 lane would not prove more, as it
// has other weights; the same update at a larger loss scale does. If its gradients are not zero
// there, rounding has lost them, and the larger scale is the advice, also to an fp16 lane
// that has none. Lanes with neither fp16 nor FP8 are left out: bf16 has the range of FP32.
#include "engine/train/underflow.h"

#include "engine/runs/lane_totals.h"
#include "engine/scaler/grad_scaler.h"

namespace halfscope {

namespace {

Event eventOf(const StepRecord& record, UnderflowWatch::Scaling scaling, float enough,
              const FaultScale& fault) {
    Event event;
    event.kind = EventKind::Underflow;
    event.step = record.step;
    event.lane = record.lane;
    event.scaleBefore = record.scale;
    event.scaleAfter = scaling.after;
    if (scaling.on && fault.explains(record.scale))
        event.text = {kUnderflowOfFault, record.step, scaleText(record.scale),
                      scaleText(fault.scale())};
    else if (scaling.on)
        event.text = {phrase("Events",
                             "Step %1: all gradients rounded to zero at loss scale %2 "
                             "(underflow), so nothing is learned. Raise the loss scale: at %3 they "
                             "are not zero, and the step fits."),
                      record.step, scaleText(record.scale), scaleText(enough)};
    else
        event.text = {phrase("Events",
                             "Step %1: all gradients rounded to zero (underflow), so nothing is "
                             "learned: this lane does not scale its loss. At a loss scale of %2 "
                             "they are not zero, and the step fits."),
                      record.step, scaleText(enough)};
    return event;
}

} // namespace

bool gradientsVanished(const StepRecord& record) {
    constexpr uint32_t kUnclean = kSkipped | kSteppedOnOverflow | kLossNotFinite;
    return record.gradientNorm == 0 && record.loss != 0 && (record.flags & kUnclean) == 0;
}

bool losesSmallNumbers(const Graph& graph) {
    for (NodeId id = 0; id < graph.size(); ++id)
        if (graph[id].dtype == DType::F16 || graph[id].op == Op::QuantizeFp8) return true;
    return false;
}

bool UnderflowWatch::look(const StepRecord& record, Scaling scaling, int64_t batches,
                          const std::function<std::optional<float>()>& keeps,
                          std::vector<Event>& events) {
    if (m_lastStep == 0 || record.step - m_lastStep > kUnderflowsApart * batches) {
        const std::optional<float> enough = keeps();
        if (!enough) return false;
        if (*enough > record.scale) events.push_back(eventOf(record, scaling, *enough, m_fault));
    }
    m_lastStep = record.step;
    return true;
}

} // namespace halfscope
