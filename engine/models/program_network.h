// The one network of a Python program, such as a file with a training: finds it, reads it, and
// tells what the program does with it that is not taken.
#pragma once

#include "engine/core/message.h"
#include "engine/lang/found_models.h"

#include <string>
#include <string_view>

namespace halfscope {

/// A network that stands in a program and can be read.
struct ProgramNetwork {
    lang::ModelText text;
    int firstLine = 1, lastLine = 1; ///< in the program
    /// Why it may not be all of the network, or another one than is meant: forward() of its class
    /// does more than run it, or the program has other classes that may be networks. Else empty.
    Message doubt{};
};

/// Returns the network of a program: that of its class where ClassNetwork reads it, else its one
/// nn.Sequential(...). Throws InputError where there is none or more than one, or where it cannot
/// be read: the message names its line in the program.
ProgramNetwork networkIn(std::string_view program);

/// Whether a file is a short text (.txt) that holds a network and nothing else: no text to train
/// on.
bool isNetworkFile(const std::string& path);

} // namespace halfscope
