// What is said about folders whose pictures cannot be samples.
#pragma once

#include "engine/core/message.h"

#include <string>

namespace halfscope {

/// Returns a sentence about a folder that holds pictures of classes in another form than data.kind
/// pictures takes: in other formats, in one folder only, in parts, or in a folder inside. Empty
/// where none are found; looks at names only, and only at the first 1,000 folders.
Message unusualPictures(const std::string& folder);
/// Whether a note of a data set counts pictures in folders below that of their class, which earlier
/// versions left out.
bool tellsNested(const Message& note);
/// Says that a folder's pictures, such as this one, are in a format that is not read.
Message otherFormats(const std::string& folder, const std::string& picture);

} // namespace halfscope
