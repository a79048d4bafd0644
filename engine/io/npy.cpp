// The header of an .npy file is the text of a Python dict with three keys.
#include "engine/io/npy.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/large_pages.h"
#include "engine/core/text.h"
#include "engine/io/array_limits.h"
#include "engine/io/input_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

namespace halfscope {

namespace {

static_assert(std::endian::native == std::endian::little, "files are read as they are");

constexpr size_t kMostHeader = 65536; ///< bytes; NumPy itself writes a few hundred
constexpr size_t kMostAxes = 32;

[[noreturn]] void refuse(const std::string& path, const Message& what) {
    throw InputError(phrase("Files", "%1: cannot be read as an .npy file, because %2"),
                     pathText(path), what);
}

/// Reads the dict from left to right.
class HeaderText {
public:
    HeaderText(std::string_view text, const std::string& path) : m_rest(text), m_path(path) {}

    void skipSpace() {
        const size_t next = m_rest.find_first_not_of(" \t\n");
        m_rest.remove_prefix(std::min(next, m_rest.size()));
    }
    bool take(char c) {
        skipSpace();
        if (!m_rest.starts_with(c)) return false;
        m_rest.remove_prefix(1);
        return true;
    }
    void expect(char c) {
        if (!take(c))
            refuse(m_path, {phrase("Files", "its header lacks %1 before %2"),
                            quotedText(std::string(1, c)), quotedText(m_rest.substr(0, 20))});
    }
    std::string_view quoted() {
        skipSpace();
        const char mark = m_rest.empty() ? ' ' : m_rest.front();
        const size_t end = mark == '\'' || mark == '"' ? m_rest.find(mark, 1) : m_rest.npos;
        if (end == m_rest.npos)
            refuse(m_path, {phrase("Files", "its header lacks a quoted word at %1"),
                            quotedText(m_rest.substr(0, 20))});
        const std::string_view word = m_rest.substr(1, end - 1);
        m_rest.remove_prefix(end + 1);
        return word;
    }
    bool truth() {
        skipSpace();
        for (const bool value : {true, false}) {
            const std::string_view word = value ? "True" : "False";
            if (!m_rest.starts_with(word)) continue;
            m_rest.remove_prefix(word.size());
            return value;
        }
        refuse(m_path, phrase("Files", "fortran_order must be True or False"));
    }
    std::vector<int64_t> shape() {
        std::vector<int64_t> extents;
        expect('(');
        while (!take(')')) {
            skipSpace();
            int64_t extent = 0;
            const auto [end, code] =
                std::from_chars(m_rest.data(), m_rest.data() + m_rest.size(), extent);
            if (extents.size() == kMostAxes)
                refuse(m_path, {phrase("Files", "its shape has more than %1 axes"), kMostAxes});
            if (code != std::errc{} || extent < 0)
                refuse(m_path,
                       {phrase("Files", "its shape is not a list of whole numbers from 0 up: %1"),
                        quotedText(m_rest.substr(0, 20))});
            m_rest.remove_prefix(static_cast<size_t>(end - m_rest.data()));
            extents.push_back(extent);
            if (take(',')) continue;
            expect(')');
            break;
        }
        return extents;
    }
    void expectEnd() {
        skipSpace();
        if (!m_rest.empty())
            refuse(m_path, {phrase("Files", "its header goes on after the dict: %1"),
                            quotedText(m_rest.substr(0, 20))});
    }

private:
    std::string_view m_rest;
    const std::string& m_path;
};

/// What the header says.
struct Header {
    ArrayInfo info;
    bool swapped = false;      ///< the byte order is not this machine's
    bool columnsFirst = false; ///< Fortran order
};

/// Returns the array's name in the file's: "y" of "data.npz/y.npy"; "x" where it is no name.
std::string nameIn(const std::string& path) {
    const size_t slash = path.find_last_of('/');
    std::string name = path.substr(slash == path.npos ? 0 : slash + 1);
    name.resize(std::min(name.find('.'), name.size()));
    const auto isLetter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto fits = [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); };
    const bool plain = !name.empty() && isLetter(name.front()) && std::ranges::all_of(name, fits);
    return plain ? name : "x";
}

/// Refuses an array of another type, with what makes numbers of it.
[[noreturn]] void refuseType(std::string_view descr, const std::string& path) {
    const std::string name = nameIn(path);
    const char kind = descr.size() > 1 ? descr[1] : ' ';
    if (kind == 'c')
        refuse(path, {phrase("Files", "its type %1 is complex numbers; numpy.stack([%2.real, "
                                      "%2.imag], 1) makes numbers of them"),
                      quotedText(descr), name});
    if (kind == 'f') // of 16 bytes, or of 12
        refuse(path, {phrase("Files", "its type %1 is numpy.longdouble; of such numbers float16, "
                                      "float32 and float64 are read, and "
                                      "%2.astype(numpy.float64) makes them so"),
                      quotedText(descr), name});
    const bool words = kind == 'U' || kind == 'S' || kind == 'O';
    refuse(path,
           {words ? phrase("Files", "its type %1 is neither numbers nor bool; "
                                    "numpy.unique(%2, return_inverse=True)[1] numbers classes, and "
                                    "%2.astype(numpy.float32) makes numbers of it where it can")
                  : phrase("Files", "its type %1 is neither numbers nor bool; "
                                    "%2.astype(numpy.float32) makes numbers of it where it can"),
            quotedText(descr), name});
}

ElementType typeOf(std::string_view descr, const std::string& path) {
    constexpr std::array<std::pair<std::string_view, ElementType>, 12> kTypes{
        {{"b1", ElementType::Bool},
         {"u1", ElementType::U8},
         {"i1", ElementType::I8},
         {"u2", ElementType::U16},
         {"i2", ElementType::I16},
         {"u4", ElementType::U32},
         {"i4", ElementType::I32},
         {"u8", ElementType::U64},
         {"i8", ElementType::I64},
         {"f2", ElementType::F16},
         {"f4", ElementType::F32},
         {"f8", ElementType::F64}}};
    const bool ordered = descr.starts_with('<') || descr.starts_with('>') || descr.starts_with('|');
    for (const auto& [name, type] : kTypes)
        if (ordered && descr.substr(1) == name) return type;
    refuseType(descr, path);
}

void parseHeader(std::string_view text, const std::string& path, Header& to) {
    HeaderText header(text, path);
    bool descr = false, order = false, shape = false;
    header.expect('{');
    while (!header.take('}')) {
        const std::string_view key = header.quoted();
        header.expect(':');
        if (key == "descr" && !descr) {
            if (header.take('['))
                refuse(path,
                       phrase("Files", "it holds records, not numbers; x['name'] is the array "
                                       "of one of their fields"));
            const std::string_view type = header.quoted();
            to.info.type = typeOf(type, path);
            to.swapped = type.starts_with('>');
            descr = true;
        } else if (key == "fortran_order" && !order) {
            order = true;
            to.columnsFirst = header.truth();
        } else if (key == "shape" && !shape) {
            to.info.shape = header.shape();
            shape = true;
        } else {
            const bool known = key == "descr" || key == "fortran_order" || key == "shape";
            refuse(path, {known ? phrase("Files", "its header has the key %1 twice")
                                : phrase("Files", "its header has the key %1, which is not known"),
                          quotedText(key)});
        }
        if (header.take(',')) continue;
        header.expect('}');
        break;
    }
    header.expectEnd();
    if (!descr || !order || !shape)
        refuse(path, phrase("Files", "its header lacks descr, fortran_order or shape"));
}

void readAll(const NpySource& file, std::span<char> into) {
    while (!into.empty()) {
        const size_t count = file.read(into);
        if (count == 0) refuse(file.name, phrase("Files", "it was cut off"));
        into = into.subspan(count);
    }
}

Header headerOf(const NpySource& file) {
    const std::string& path = file.name;
    std::array<char, 8> magic{};
    readAll(file, magic);
    if (std::memcmp(magic.data(), "\x93NUMPY", 6) != 0)
        refuse(path, phrase("Files", "it does not begin as one"));
    const int version = static_cast<unsigned char>(magic[6]);
    if (version < 1 || version > 3)
        refuse(path, {phrase("Files", "version %1 is not known: 1 to 3"), version});
    std::array<unsigned char, 4> length{};
    const size_t lengthBytes = version == 1 ? 2 : 4;
    readAll(file, {reinterpret_cast<char*>(length.data()), lengthBytes});
    const size_t bytes =
        length[0] | size_t{length[1]} << 8 | size_t{length[2]} << 16 | size_t{length[3]} << 24;
    if (bytes > kMostHeader)
        refuse(path, {phrase("Files", "a header of %1 bytes is not allowed: at most %2"), bytes,
                      kMostHeader});
    std::string text(bytes, '\0');
    readAll(file, text);
    Header header;
    parseHeader(text, path, header);
    ArrayInfo& info = header.info;
    info.offset = static_cast<int64_t>(magic.size() + lengthBytes + bytes);
    const auto wanted = checkedBytes(info.type, info.shape);
    if (!wanted || *wanted != file.bytes - info.offset)
        refuse(path, {phrase("Files", "%1 bytes of values are not the shape %2 of %3"),
                      file.bytes - info.offset, info.shapeText(), nameOf(info.type)});
    checkFitsMemory(pathText(path), *wanted);
    return header;
}

/// Reverses the bytes of each value of `size` bytes.
void swapBytes(std::span<std::byte> bytes, size_t size) {
    for (size_t at = 0; at < bytes.size(); at += size)
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
}

/// Reads the values of an array in Fortran order into their places in C order.
void readColumnsFirst(const NpySource& file, Array& to) {
    constexpr size_t kBlock = 65536; // values
    const std::vector<int64_t>& shape = to.info.shape;
    const size_t size = bytesOf(to.info.type);
    std::vector<size_t> strides(shape.size(), size), lengths(shape.size());
    for (size_t axis = shape.size(); axis-- > 0;) {
        lengths[axis] = strides[axis] * static_cast<size_t>(shape[axis]);
        if (axis > 0) strides[axis - 1] = lengths[axis];
    }
    std::vector<size_t> at(shape.size(), 0); // by axis, in bytes
    size_t place = 0;                        // their sum
    const auto advance = [&] {
        for (size_t axis = 0; axis < at.size(); ++axis) {
            at[axis] += strides[axis];
            place += strides[axis];
            if (at[axis] < lengths[axis]) return;
            place -= std::exchange(at[axis], 0);
        }
    };
    std::vector<char> block(std::min(to.bytes.size(), kBlock * size));
    for (size_t left = to.bytes.size(); left > 0;) {
        const std::span<char> values = std::span(block).first(std::min(left, block.size()));
        readAll(file, values);
        for (size_t from = 0; from < values.size(); from += size, advance())
            std::memcpy(to.bytes.data() + place, values.data() + from, size);
        left -= values.size();
    }
}

NpySource sourceOf(InputFile& file, const std::string& path) {
    return {path, file.size(), [&file](std::span<char> into) { return file.read(into); }};
}

} // namespace

ArrayInfo npyInfo(const NpySource& source) { return headerOf(source).info; }

Array readNpy(const NpySource& source) {
    Header header = headerOf(source);
    Array array{std::move(header.info), {}};
    const auto all = static_cast<size_t>(*checkedBytes(array.info.type, array.info.shape));
    array.bytes.reserve(all);
    adviseLargePages(array.bytes.data(), all);
    array.bytes.resize(all);
    if (header.columnsFirst && array.info.shape.size() > 1)
        readColumnsFirst(source, array);
    else
        readAll(source, {reinterpret_cast<char*>(array.bytes.data()), array.bytes.size()});
    if (header.swapped) swapBytes(array.bytes, bytesOf(array.info.type));
    return array;
}

ArrayInfo npyInfo(const std::string& path) {
    InputFile file(path);
    return npyInfo(sourceOf(file, path));
}

Array readNpy(const std::string& path) {
    InputFile file(path);
    return readNpy(sourceOf(file, path));
}

namespace {

/// Returns the file of these values, which have the type that NumPy calls `descr`.
std::string fileOf(std::span<const int64_t> shape, ElementType type, const char* descr,
                   std::span<const std::byte> values) {
    constexpr size_t kAligned = 64, kHead = 10; // in bytes; values begin at a multiple of kAligned
    ArrayInfo info;
    info.shape.assign(shape.begin(), shape.end());
    const auto bytes = checkedBytes(type, shape);
    require(bytes && static_cast<size_t>(*bytes) == values.size(),
            "an array has the values that its shape wants");
    std::string header = std::string("{'descr': '") + descr +
                         "', 'fortran_order': False, 'shape': " + info.shapeText() + ", }";
    header.append(kAligned - 1 - (kHead + header.size()) % kAligned, ' ');
    header += '\n';
    std::string file("\x93NUMPY\x01\0", 8);
    file += static_cast<char>(header.size() & 0xff);
    file += static_cast<char>(header.size() >> 8);
    file += header;
    return file.append(reinterpret_cast<const char*>(values.data()), values.size());
}

} // namespace

std::string npyBytes(std::span<const int64_t> shape, std::span<const float> values) {
    return fileOf(shape, ElementType::F32, "<f4", std::as_bytes(values));
}

std::string npyBytes(std::span<const int64_t> shape, std::span<const double> values) {
    return fileOf(shape, ElementType::F64, "<f8", std::as_bytes(values));
}

} // namespace halfscope
