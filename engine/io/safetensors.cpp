// Reads and writes the header of a safetensors file and the values of its arrays.
#include "engine/io/safetensors.h"

#include "engine/core/error.h"
#include "engine/core/large_pages.h"
#include "engine/core/text.h"
#include "engine/io/array_limits.h"
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/io/strict_json.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace halfscope {

namespace {

static_assert(std::endian::native == std::endian::little, "files are read as they are");

constexpr size_t kMostHeader = kJsonOfArrays.bytes;
constexpr size_t kLengthBytes = 8;
constexpr size_t kMostAxes = 32;
constexpr const char* kMetadataKey = "__metadata__";
/// Indexed by ElementType.
constexpr const char* kTypeNames[] = {"BOOL", "U8",  "I8",  "U16",  "I16", "U32", "I32",
                                      "U64",  "I64", "F16", "BF16", "F32", "F64"};

[[noreturn]] void refuse(const std::string& path, const Message& what) {
    throw InputError(phrase("Files", "%1: cannot be read as a safetensors file, because %2"),
                     pathText(path), what);
}
[[noreturn]] void refuse(const std::string& path, std::string_view array, const Message& what) {
    refuse(path, {phrase("Files", "in the entry of %1, %2"), pathText(array), what});
}

void readAll(InputFile& file, const std::string& path, std::span<char> into) {
    while (!into.empty()) {
        const size_t count = file.read(into);
        if (count == 0) refuse(path, phrase("Files", "it was cut off"));
        into = into.subspan(count);
    }
}

int64_t wholeOf(const Json& value, const std::string& path, const std::string& array) {
    const bool fits =
        value.is_number_unsigned() && value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
    if (!fits)
        refuse(path, array, {phrase("Files", "%1 is not a whole number from 0 up"), shown(value)});
    return value.get<int64_t>();
}

const Json& memberOf(const Json& object, const char* key, const std::string& path,
                     const std::string& array) {
    const auto found = object.find(key);
    if (found == object.end()) refuse(path, array, {phrase("Files", "%1 is missing"), key});
    return *found;
}

ElementType typeOf(const Json& value, const std::string& path, const std::string& array) {
    for (size_t i = 0; i < std::size(kTypeNames); ++i)
        if (isText(value, kTypeNames[i])) return static_cast<ElementType>(i);
    if (value.is_string() && value.get_ref<const std::string&>().starts_with("F8_"))
        refuse(
            path, array,
            {phrase("Files", "the dtype %1 has 8 bits; x.float() in PyTorch makes float32 of it"),
             shown(value)});
    refuse(path, array, {phrase("Files", "the dtype %1 is not known"), shown(value)});
}

/// Reads an array's entry. Its offsets count from the end of the header; those returned count from
/// the file's start.
ArrayInfo arrayOf(const std::string& name, const Json& json, const std::string& path, int64_t start,
                  int64_t size) {
    if (!json.is_object() || json.size() != 3)
        refuse(path, name, phrase("Files", "there must be dtype, shape and data_offsets"));
    ArrayInfo info;
    info.name = name;
    info.type = typeOf(memberOf(json, "dtype", path, name), path, name);
    const Json& shape = memberOf(json, "shape", path, name);
    const Json& offsets = memberOf(json, "data_offsets", path, name);
    if (!shape.is_array() || shape.size() > kMostAxes)
        refuse(path, name, phrase("Files", "the shape must be a list of at most 32 numbers"));
    for (const Json& extent : shape)
        info.shape.push_back(wholeOf(extent, path, name));
    if (!offsets.is_array() || offsets.size() != 2)
        refuse(path, name, phrase("Files", "data_offsets must be a list of two numbers"));
    const int64_t begin = wholeOf(offsets[0], path, name), end = wholeOf(offsets[1], path, name);
    if (begin > end || end > size - start)
        refuse(path, name,
               {phrase("Files", "bytes %1 to %2 are outside the %3 bytes of values"), begin, end,
                size - start});
    const auto bytes = checkedBytes(info.type, info.shape);
    if (!bytes || *bytes != end - begin)
        refuse(path, name,
               {phrase("Files", "%1 bytes are not the shape %2 of %3"), end - begin,
                info.shapeText(), nameOf(info.type)});
    info.offset = start + begin;
    return info;
}

/// Checks what the format demands: the values of the arrays fill the file, one behind the other.
void checkPlaces(const std::vector<ArrayInfo>& arrays, const std::string& path, int64_t start,
                 int64_t size) {
    int64_t end = start;
    for (const ArrayInfo& each : arrays) {
        if (each.offset < end)
            refuse(path, each.name, phrase("Files", "the values overlap those of another array"));
        if (each.offset > end)
            refuse(path, each.name,
                   {phrase("Files", "%1 bytes before the values belong to no array"),
                    each.offset - end});
        end += *checkedBytes(each.type, each.shape);
    }
    if (end != size)
        refuse(path, {phrase("Files", "%1 bytes at its end belong to no array"), size - end});
}

SafetensorsMetadata metadataOf(const Json& json, const std::string& path) {
    SafetensorsMetadata metadata;
    if (!json.is_object()) refuse(path, phrase("Files", "__metadata__ must be an object of texts"));
    for (const auto& [key, value] : json.items()) {
        if (!value.is_string())
            refuse(path, phrase("Files", "__metadata__ must be an object of texts"));
        metadata[key] = value.get<std::string>();
    }
    return metadata;
}

/// Returns the arrays in the order of their values.
std::vector<const ArrayView*> placed(std::span<const ArrayView> arrays) {
    std::vector<const ArrayView*> order;
    for (const ArrayView& each : arrays)
        order.push_back(&each);
    std::stable_sort(order.begin(), order.end(), [](const ArrayView* a, const ArrayView* b) {
        return bytesOf(a->type) > bytesOf(b->type);
    });
    return order;
}

std::string quoted(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

struct Header {
    JsonTree tree; ///< its root is an object
    int64_t end;   ///< where the values begin
};

Header readHeader(InputFile& file, const std::string& path) {
    uint64_t length = 0;
    readAll(file, path, {reinterpret_cast<char*>(&length), sizeof length});
    if (length > kMostHeader ||
        static_cast<int64_t>(length) > file.size() - int64_t{kLengthBytes}) {
        char first = ' ';
        if (file.read({&first, 1}) == 0 || first != '{')
            refuse(path, phrase("Files", "it does not begin as one"));
        refuse(path, {phrase("Files", "a header of %1 bytes does not fit: the file has %2, and at "
                                      "most %3 are read"),
                      length, file.size(), kMostHeader});
    }
    std::string text(static_cast<size_t>(length), '\0');
    readAll(file, path, text);
    JsonTree tree = [&] {
        try {
            return parseStrictJson(text, kJsonOfArrays);
        } catch (const InputError& error) {
            refuse(path, {phrase("Files", "its header is wrong (%1)"), error.message()});
        }
    }();
    if (!tree.root().is_object()) refuse(path, phrase("Files", "its header must be an object"));
    return {std::move(tree), static_cast<int64_t>(kLengthBytes + length)};
}

} // namespace

const ArrayInfo* SafetensorsInfo::find(std::string_view name) const {
    const auto nameAt = [this](size_t i) -> std::string_view { return arrays[i].name; };
    const auto found = std::ranges::lower_bound(byName, name, {}, nameAt);
    return found == byName.end() || nameAt(*found) != name ? nullptr : &arrays[*found];
}

void SafetensorsInfo::sortNames() {
    byName.resize(arrays.size());
    std::iota(byName.begin(), byName.end(), size_t{0});
    std::ranges::sort(byName, {}, [this](size_t i) -> std::string_view { return arrays[i].name; });
}

SafetensorsInfo safetensorsInfo(const std::string& path) {
    InputFile file(path);
    const Header header = readHeader(file, path);
    SafetensorsInfo info;
    for (const auto& [name, value] : header.tree.root().items()) {
        if (name == kMetadataKey)
            info.metadata = metadataOf(value, path);
        else
            info.arrays.push_back(arrayOf(name, value, path, header.end, file.size()));
    }
    std::stable_sort(
        info.arrays.begin(), info.arrays.end(), [](const ArrayInfo& a, const ArrayInfo& b) {
            const auto bytes = [](const ArrayInfo& x) { return *checkedBytes(x.type, x.shape); };
            return a.offset != b.offset ? a.offset < b.offset : bytes(a) < bytes(b);
        });
    checkPlaces(info.arrays, path, header.end, file.size());
    info.sortNames();
    return info;
}

SafetensorsMetadata safetensorsMetadata(const std::string& path) {
    InputFile file(path);
    const Header header = readHeader(file, path);
    for (const auto& [name, value] : header.tree.root().items())
        if (name == kMetadataKey) return metadataOf(value, path);
    return {};
}

Array readSafetensor(const std::string& path, const ArrayInfo& info) {
    InputFile file(path);
    Array array{info, {}};
    const auto bytes = checkedBytes(info.type, info.shape);
    require(bytes.has_value(), "a shape that safetensorsInfo() found");
    if (*bytes > file.size() - info.offset) refuse(path, phrase("Files", "it was cut off"));
    checkFitsMemory(pathText(path), *bytes);
    file.skipTo(info.offset);
    const auto all = static_cast<size_t>(*bytes);
    array.bytes.reserve(all);
    adviseLargePages(array.bytes.data(), all);
    array.bytes.resize(all);
    readAll(file, path, {reinterpret_cast<char*>(array.bytes.data()), array.bytes.size()});
    return array;
}

std::string safetensorsHeader(std::span<const ArrayView> arrays,
                              const SafetensorsMetadata& metadata) {
    std::string text = "{";
    const auto next = [&text] { text += text.size() > 1 && text.back() != '{' ? "," : ""; };
    if (!metadata.empty()) {
        text += quoted(kMetadataKey) + ":{";
        for (const auto& [key, value] : metadata) {
            next();
            text += quoted(key) + ":" + quoted(value);
        }
        text += "}";
    }
    size_t offset = 0;
    for (const ArrayView* each : placed(arrays)) {
        const auto bytes = checkedBytes(each->type, each->shape);
        require(bytes && static_cast<size_t>(*bytes) == each->bytes.size(),
                each->name + " has the bytes that its shape wants");
        next();
        text += quoted(each->name) + ":{\"dtype\":\"" +
                kTypeNames[static_cast<size_t>(each->type)] + "\",\"shape\":[";
        for (size_t i = 0; i < each->shape.size(); ++i)
            text += (i == 0 ? "" : ",") + std::to_string(each->shape[i]);
        text += "],\"data_offsets\":[" + std::to_string(offset) + ",";
        offset += each->bytes.size();
        text += std::to_string(offset) + "]}";
    }
    text += "}";
    text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
    if (text.size() > kMostHeader)
        throw RunError(phrase("Files", "a safetensors header of %1 bytes cannot be written: %2 is "
                                       "the most that is read again"),
                       text.size(), kMostHeader);
    const uint64_t length = text.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

std::vector<std::string_view> safetensorsParts(std::string_view header,
                                               std::span<const ArrayView> arrays) {
    std::vector<std::string_view> parts{header};
    for (const ArrayView* each : placed(arrays))
        parts.emplace_back(reinterpret_cast<const char*>(each->bytes.data()), each->bytes.size());
    return parts;
}

void writeSafetensors(const std::string& path, std::span<const ArrayView> arrays,
                      const SafetensorsMetadata& metadata) {
    const std::string header = safetensorsHeader(arrays, metadata);
    writeFileAtomically(path, safetensorsParts(header, arrays));
}

} // namespace halfscope
