// The values in a summary of TensorBoard's event files: a scalar, a picture, and how the gradients
// of a step are spread. For their tags see tensorboard.h.
#pragma once

#include "engine/io/picture.h"
#include "engine/io/protobuf.h"
#include "engine/runs/gradient_counts.h"
#include "engine/runs/gradient_history.h"

#include <string_view>

namespace halfscope {

ProtoMessage boardScalar(std::string_view tag, float value);

/// TensorBoard shows pictures in their own size, so small ones are enlarged by a whole factor.
ProtoMessage boardPicture(const Picture&);

/// Return a whole summary. A histogram has the number of gradients in each bucket; where only
/// shares are known it has these, and no layers.
ProtoMessage boardGradients(const GradientRange&);
ProtoMessage boardGradients(const GradientShares&);

} // namespace halfscope
