// Pooling on the CPU over images whose channels are last: all channels of a pixel at once.
#pragma once

#include "engine/cpu/support.h"

namespace halfscope {

/// The kernels of MaxPool2dIndex, AvgPool2d and AvgPool2dGrad for PoolAttrs::channelsLast. Values
/// are those of planes, bit for bit.
void channelPoolIndex(const CpuCall&);
void channelAvgPool(const CpuCall&);
void channelAvgPoolGrad(const CpuCall&);
/// Returns the floats of scratch that each thread needs.
int64_t channelPoolFloats(const Node&, const Shape& in, DType operand);

} // namespace halfscope
