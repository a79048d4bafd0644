// How sentences name the tensors and layers of events. Event::tensor itself stays as files and
// checkpoints have it.
#pragma once

#include "engine/core/message.h"

#include <string_view>

namespace halfscope {

/// Event::tensor where a gradient on its way back through a layer overflowed.
inline constexpr Phrase kBackwardPass = phrase("Events", "backward pass of %1");

/// What is wrong where settingOfLargeInput(); fittingAdvice() says what to do.
inline constexpr Phrase kInputDoesNotFit =
    phrase("Events", "values of the input do not fit into fp16, which ends at 65,504");

/// Returns "the output layer", "layer 0 of the critic" for "critic layer 0", likewise for the
/// second network, and names like "layer 0" or "Linear 2" as they are.
Message layerInWords(std::string_view layer);
/// Returns "the forward pass of layer 0" for "forward pass of layer 0", likewise for backward
/// passes, and other tensors as they are.
Message tensorInWords(const Message& tensor);

} // namespace halfscope
