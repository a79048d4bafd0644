// The learning-rate schedule inside the step's graph: the tick, and the tables' values at the tick.
// What the tables hold is left to schedule, and whether a step advances the tick to step_graph.
#pragma once

#include "engine/ops/builder.h"
#include "engine/settings/run_config.h"

namespace halfscope {

class ScheduleEmitter {
public:
    ScheduleEmitter(Builder& b, const ScheduleConfig& config) : m_b(b), m_config(config) {}

    /// Returns the state "schedule.tick", F32, shape (1): the iteration whose rate is used next.
    /// For cosine it counts to the end of the period and begins again behind the warm-up; otherwise
    /// it stops at 2^24, past the end of any table.
    NodeId tick();
    /// Returns the tick of the next iteration.
    NodeId following();
    /// Returns a table's value at the tick, F32, rank 0. `table` is a state that scheduleTables()
    /// fills.
    NodeId valueOf(const char* table, const char* label);

private:
    NodeId placeInTable(int64_t length);

    Builder& m_b;
    const ScheduleConfig& m_config;
    NodeId m_tick = kNoNode;
};

} // namespace halfscope
