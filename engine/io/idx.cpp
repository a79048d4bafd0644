// Reads the header and the values of an IDX file.
#include "engine/io/idx.h"

#include "engine/core/error.h"
#include "engine/core/large_pages.h"
#include "engine/core/text.h"
#include "engine/io/array_limits.h"

#include <algorithm>
#include <array>

namespace halfscope {

namespace {

constexpr unsigned kUnsignedByte = 0x08;
constexpr size_t kMostAxes = 4;

[[noreturn]] void refuse(const UnpackedFile& file, Phrase what) {
    throw InputError(phrase("Files", "%1: not an IDX file: %2"), pathText(file.path()), what);
}

template <size_t kBytes>
std::array<unsigned char, kBytes> taken(UnpackedFile& file) {
    std::array<unsigned char, kBytes> bytes{};
    file.readAll({reinterpret_cast<char*>(bytes.data()), bytes.size()});
    return bytes;
}

} // namespace

ArrayInfo idxInfo(UnpackedFile& file) {
    const auto magic = taken<4>(file);
    if (magic[0] != 0 || magic[1] != 0)
        refuse(file, phrase("Files", "it must begin with two zeros"));
    if (magic[2] != kUnsignedByte)
        throw InputError(phrase("Files",
                                "%1: values of the IDX type %2 are not read: unsigned bytes "
                                "only, type 8"),
                         pathText(file.path()), int{magic[2]});
    if (magic[3] < 1 || magic[3] > kMostAxes)
        throw InputError(phrase("Files", "%1: an IDX file of %2 axes is not read: 1 to %3"),
                         pathText(file.path()), int{magic[3]}, kMostAxes);
    ArrayInfo info;
    info.type = ElementType::U8;
    for (int axis = 0; axis < magic[3]; ++axis) {
        int64_t extent = 0; // the highest byte comes first
        for (const unsigned char byte : taken<4>(file))
            extent = extent << 8 | byte;
        info.shape.push_back(extent);
    }
    info.offset = 4 + 4 * int64_t{magic[3]};
    const auto bytes = checkedBytes(info.type, info.shape);
    if (!bytes || *bytes > file.mostBytes())
        throw InputError(
            phrase("Files", "%1: too short for the shape %2 that its header announces"),
            pathText(file.path()), info.shapeText());
    checkFitsMemory(pathText(file.path()), *bytes);
    if (file.packed())
        checkUnpacked(pathText(file.path()), *bytes, file.size(),
                      phrase("Files", "gunzip unpacks the file."));
    return info;
}

Array readIdx(UnpackedFile& file) {
    Array array{idxInfo(file), {}};
    constexpr size_t kBlock = size_t{1} << 20; // a packed file may hold less than it announces
    const auto all = static_cast<size_t>(array.info.elements());
    array.bytes.reserve(all); // takes no memory until it is written to
    adviseLargePages(array.bytes.data(), all);
    while (array.bytes.size() < all) {
        const size_t have = array.bytes.size(), count = std::min(all - have, kBlock);
        array.bytes.resize(have + count);
        file.readAll({reinterpret_cast<char*>(array.bytes.data()) + have, count});
    }
    file.expectEnd();
    return array;
}

} // namespace halfscope
