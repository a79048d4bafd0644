// Files that torch.save() writes. Loading one can run any code, so none is opened; users are told
// how to convert them instead.
#pragma once

#include "engine/core/message.h"

#include <string>

namespace halfscope {

/// Whether a file is one by its name, .pt or .pth in any case, and by its first bytes: Portuguese
/// texts are called .pt, too. False for a folder. Throws InputError for a file of such a name that
/// cannot be read.
bool isTorchFile(const std::string& path);
/// Whether a file is one by its first bytes, old or new. Throws InputError for a file that cannot
/// be read.
bool beginsAsTorchFile(const std::string& path);
/// Returns why a file is not opened and the command that converts it, whether it holds samples or
/// weights. The sentence begins with the path.
Message torchFileRefusal(const std::string& path);

} // namespace halfscope
