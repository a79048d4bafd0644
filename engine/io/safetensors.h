// Reads safetensors, Hugging Face's file of named arrays: the length of a JSON header in 8 bytes,
// the header, then the values. Nothing in such a file is code.
#pragma once

#include "engine/io/array.h"

#include <map>

namespace halfscope {

struct SafetensorsInfo {
    std::vector<ArrayInfo> arrays; ///< in the order of their values
    std::map<std::string, std::string> metadata;

    /// nullptr when there is none of that name.
    const ArrayInfo* find(std::string_view name) const;
};

/// Of the header. InputError in one sentence, with the path and the array's name: a header that is
/// no JSON or too long, a type that is not known, values that lie outside the file, overlap, leave
/// a gap or are not what their shape wants.
SafetensorsInfo safetensorsInfo(const std::string& path);
/// The values of one of them. Cancellable. InputError where the file has changed since.
Array readSafetensor(const std::string& path, const ArrayInfo&);

} // namespace halfscope
