// Each array of an archive is an .npy file inside it.
#include "engine/io/npz.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/array_limits.h"
#include "engine/io/npy.h"
#include "engine/io/zip.h"

#include <algorithm>
#include <utility>

namespace halfscope {

namespace {

constexpr std::string_view kEnding = ".npy";

/// Calls `call` with the array's bytes and returns its result. Throws InputError when there is no
/// such array.
template <class Call>
auto withArray(const std::string& path, std::string_view name, const Call& call) {
    ZipFile zip(path);
    const auto entries = zip.entries();
    const auto isIt = [file = std::string(name).append(kEnding)](const ZipEntry& each) {
        return each.name == file;
    };
    const auto found = std::find_if(entries.begin(), entries.end(), isIt);
    if (found == entries.end())
        throw InputError(phrase("Files", "%1: there is no array %2 in it"), pathText(path),
                         quotedText(name));
    if (std::any_of(found + 1, entries.end(), isIt)) // NumPy would take the last
        throw InputError(phrase("Files", "%1: the array %2 is in it more than once"),
                         pathText(path), quotedText(name));
    ZipReader reader(zip, *found);
    const std::string place = path + "/" + found->name;
    checkUnpacked(pathText(place), found->bytes, found->packed,
                  phrase("Files", "numpy.savez, without compression, saves arrays that can be "
                                  "read."));
    const NpySource source{place, found->bytes,
                           [&reader](std::span<char> into) { return reader.read(into); }};
    return call(source);
}

} // namespace

std::vector<std::string> npzNames(const std::string& path) {
    std::vector<std::string> names;
    const ZipFile zip(path);
    for (const ZipEntry& each : zip.entries())
        if (each.name.ends_with(kEnding))
            names.push_back(each.name.substr(0, each.name.size() - kEnding.size()));
    return names;
}

ArrayInfo npzInfo(const std::string& path, std::string_view name) {
    ArrayInfo info = withArray(path, name, [](const NpySource& source) { return npyInfo(source); });
    info.name = name;
    return info;
}

Array readNpz(const std::string& path, std::string_view name) {
    Array array = withArray(path, name, [](const NpySource& source) { return readNpy(source); });
    array.info.name = name;
    return array;
}

} // namespace halfscope
