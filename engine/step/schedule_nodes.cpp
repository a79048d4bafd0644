// Emits the schedule's counting and reading. All of it is exact in F32: no tick is above 2^24.
#include "engine/step/schedule_nodes.h"

#include "engine/step/schedule.h"

namespace halfscope {

NodeId ScheduleEmitter::tick() {
    if (m_tick == kNoNode) m_tick = m_b.state("schedule.tick", {1}, DType::F32, StateRole::Counter);
    return m_tick;
}

NodeId ScheduleEmitter::following() {
    const NodeId ahead = m_b.shift(tick(), 1); // at 2^24 the sum is 2^24 again
    if (m_config.kind != ScheduleKind::Cosine) return ahead;
    const int64_t warmup = warmupOf(m_config);
    const auto end = static_cast<double>(2 * m_config.totalSteps - warmup);
    const NodeId ends = m_b.emit(Op::LessEqual, {m_b.constantLike(end, ahead), ahead});
    return m_b.where(ends, m_b.constantLike(static_cast<double>(warmup), ahead), ahead);
}

/// Returns the place in a table. Past the end it stays at the last value; for a cosine it goes back
/// from there to the first one after the warm-up.
NodeId ScheduleEmitter::placeInTable(int64_t length) {
    const NodeId last = m_b.constantLike(static_cast<double>(length - 1), tick());
    if (m_config.kind != ScheduleKind::Cosine) return m_b.emit(Op::Minimum, {tick(), last});
    return m_b.sub(last, m_b.unary(Op::Abs, m_b.sub(last, tick())));
}

NodeId ScheduleEmitter::valueOf(const char* table, const char* label) {
    LabelScope scope(m_b, label);
    const int64_t length = scheduleLength(m_config);
    const NodeId values = m_b.state(table, {length}, DType::F32, StateRole::Setting);
    if (length == 1) return m_b.reshape(values, {});
    const NodeId index = m_b.cast(placeInTable(length), DType::I32);
    return m_b.reshape(m_b.emit(Op::Gather, {values, index}, AxisAttrs{0, 0}), {});
}

} // namespace halfscope
