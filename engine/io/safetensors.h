// Reads and writes safetensors, Hugging Face's file of named arrays: the length of a JSON header in
// 8 bytes, the header, then the values. Nothing in such a file is code.
#pragma once

#include "engine/io/array.h"

#include <map>
#include <string_view>

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

/// An array to be written, whose values are kept elsewhere.
struct ArrayView {
    std::string name;
    ElementType type = ElementType::F32;
    std::vector<int64_t> shape;
    std::span<const std::byte> bytes; ///< row-major, as many as the shape wants
};
using SafetensorsMetadata = std::map<std::string, std::string>;

/// What comes before the values, a multiple of 8 bytes. The widest types come first, so that every
/// array begins at a multiple of its element's size. Names must differ. RunError for a header that
/// is too long to be read again.
std::string safetensorsHeader(std::span<const ArrayView>, const SafetensorsMetadata&);
/// The whole file in pieces: the header, then the values in its order.
std::vector<std::string_view> safetensorsParts(std::string_view header, std::span<const ArrayView>);
/// The file is there completely or not at all. RunError "PATH: cannot write: REASON".
void writeSafetensors(const std::string& path, std::span<const ArrayView>,
                      const SafetensorsMetadata&);

} // namespace halfscope
