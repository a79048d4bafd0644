// Files that torch.save() writes. Loading one can run any code, so none is opened; users are told
// how to convert them instead.
#pragma once

#include "engine/core/message.h"

#include <string>

namespace halfscope {

/// Whether a file is one by its name, which ends in .pt, .pth, .ckpt or .bin in any case or has no
/// ending, and by its first bytes: Portuguese texts are called .pt, too, and any zip archive may
/// have the other endings. False for a folder and for what is not there. Throws InputError for a
/// file of such a name that cannot be read.
bool isTorchFile(const std::string& path);
/// Whether a file is one by its first bytes, old or new. Throws InputError for a file that cannot
/// be read.
bool beginsAsTorchFile(const std::string& path);
/// Returns the command line that writes what a file holds, samples or weights, as a safetensors
/// file beside it. Of a training checkpoint it takes the weights.
std::string torchFileCommand(const std::string& path);
/// Returns why a file is not opened, and that command with a path that is fit to be shown. The
/// sentence begins with the path.
Message torchFileRefusal(const std::string& path);

} // namespace halfscope
