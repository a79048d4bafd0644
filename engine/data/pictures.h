// What is said about folders whose pictures cannot be samples.
#pragma once

#include "engine/core/message.h"

#include <string>

namespace halfscope {

/// Returns a sentence about a folder that holds pictures of classes in another form than data.kind
/// pictures takes: in other formats, or a folder too deep. Empty where none are found; looks at
/// names only, and only at the first 1,000 folders.
Message unusualPictures(const std::string& folder);

} // namespace halfscope
