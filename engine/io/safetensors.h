// Reads and writes safetensors, Hugging Face's file of named arrays: the length of a JSON header in
// 8 bytes, the header, then the values. Nothing in such a file is code.
#pragma once

#include "engine/io/array.h"

#include <map>
#include <string_view>

namespace halfscope {

/// What the metadata "format" is of a run's checkpoint, see train/checkpoint.h.
inline constexpr const char* kCheckpointFormat = "halfscope checkpoint";

using SafetensorsMetadata = std::map<std::string, std::string>;

struct SafetensorsInfo {
    std::vector<ArrayInfo> arrays; ///< in the order of their values
    std::vector<size_t> byName;    ///< their indices in the order of their names
    SafetensorsMetadata metadata;

    /// Returns nullptr when there is no array of that name.
    const ArrayInfo* find(std::string_view name) const;
    void sortNames(); ///< renews byName after a change of the arrays
};

/// Reads the header. Throws InputError in one sentence, with the path and the array's name, for a
/// header that is not JSON or too long, an unknown type, and values that lie outside the file,
/// overlap, leave a gap or do not match their shape.
SafetensorsInfo safetensorsInfo(const std::string& path);
/// Reads only what the file says about itself, also of one whose values were cut off. Throws
/// InputError for a header that is not JSON or too long.
SafetensorsMetadata safetensorsMetadata(const std::string& path);
/// Reads the values of one of the arrays. Can be cancelled. Throws InputError when the file has
/// changed since.
Array readSafetensor(const std::string& path, const ArrayInfo&);

/// An array to be written, whose values are kept elsewhere.
struct ArrayView {
    std::string name;
    ElementType type = ElementType::F32;
    std::vector<int64_t> shape;
    std::span<const std::byte> bytes; ///< row-major, as many as the shape has
};
/// Returns what comes before the values; its length is a multiple of 8 bytes. The widest types come
/// first, so that every array begins at a multiple of its element's size. Names must differ. Throws
/// RunError for a header that is too long to be read again.
std::string safetensorsHeader(std::span<const ArrayView>, const SafetensorsMetadata&);
/// Returns the whole file in pieces: the header, then the values in its order.
std::vector<std::string_view> safetensorsParts(std::string_view header, std::span<const ArrayView>);
/// Writes a file, which is there completely or not at all. Throws RunError "PATH: cannot write:
/// REASON".
void writeSafetensors(const std::string& path, std::span<const ArrayView>,
                      const SafetensorsMetadata&);

} // namespace halfscope
