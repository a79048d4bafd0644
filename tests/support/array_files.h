// Bytes of files that hold arrays, as other programs write them, and ways for tests to write them.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

namespace halfscope {

inline std::string writeBytes(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
}

template <class T>
std::string bytesOfValues(std::initializer_list<T> values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    std::memcpy(bytes.data(), values.begin(), bytes.size());
    return bytes;
}

inline std::string bigEndian(uint32_t x) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes += static_cast<char>(x >> shift & 0xff);
    return bytes;
}

inline std::string idxBytes(std::initializer_list<uint32_t> shape, std::string_view values,
                            char type = 8) {
    std::string bytes{0, 0, type, static_cast<char>(shape.size())};
    for (const uint32_t extent : shape)
        bytes += bigEndian(extent);
    return bytes.append(values);
}

inline std::string npyBytes(std::string_view dict, std::string_view values, char version = 1) {
    std::string header(dict);
    const size_t head = version == 1 ? 10 : 12;
    header.append(63 - (head + header.size()) % 64, ' ');
    header += '\n';
    std::string bytes = std::string("\x93NUMPY") + version + '\0';
    const auto length = static_cast<uint32_t>(header.size());
    bytes.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
    return bytes.append(header).append(values);
}

/// Returns an .npy file as NumPy writes it, for example of the type "<f4" and the shape "(2, 3)".
inline std::string npy(const std::string& type, const std::string& shape, std::string_view values) {
    return npyBytes("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }",
                    values);
}

/// A file of an archive, deflated when `packed` is true.
struct ZipPart {
    std::string name, content;
    bool packed = false;
};
/// Returns an archive as numpy.savez and numpy.savez_compressed write it, with `comment` at its
/// end.
inline std::string zipBytes(const std::vector<ZipPart>& parts, std::string_view comment = {}) {
    std::string files, list;
    const auto add = [](std::string& to, uint64_t value, size_t bytes) {
        for (size_t i = 0; i < bytes; ++i)
            to += static_cast<char>(value >> 8 * i & 0xff);
    };
    for (const ZipPart& part : parts) {
        std::string data = part.content;
        if (part.packed) {
            z_stream z{};
            deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
            data.resize(deflateBound(&z, static_cast<uLong>(part.content.size())));
            z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.content.data()));
            z.avail_in = static_cast<uInt>(part.content.size());
            z.next_out = reinterpret_cast<Bytef*>(data.data());
            z.avail_out = static_cast<uInt>(data.size());
            deflate(&z, Z_FINISH);
            data.resize(z.total_out);
            deflateEnd(&z);
        }
        const uLong checksum = crc32(0, reinterpret_cast<const Bytef*>(part.content.data()),
                                     static_cast<uInt>(part.content.size()));
        const size_t start = files.size();
        const auto describe = [&](std::string& to) {
            add(to, 20, 2);
            add(to, 0, 2);
            add(to, part.packed ? 8U : 0U, 2);
            add(to, 0, 4); // time and date of the last change
            add(to, checksum, 4);
            add(to, data.size(), 4);
            add(to, part.content.size(), 4);
            add(to, part.name.size(), 2);
        };
        files += "PK\3\4";
        describe(files);
        add(files, 4, 2); // length of an extra field, which NumPy has here but not in the list
        files.append(part.name).append("more").append(data);
        list += "PK\1\2";
        add(list, 20, 2);
        describe(list);
        add(list, 3, 2); // lengths of an extra field and of a comment, which other programs write
        add(list, 2, 2);
        add(list, 0, 8); // the first disk, attributes
        add(list, start, 4);
        list += part.name + "extra";
    }
    std::string end = "PK\5\6";
    add(end, 0, 4);
    add(end, parts.size(), 2);
    add(end, parts.size(), 2);
    add(end, list.size(), 4);
    add(end, files.size(), 4);
    add(end, comment.size(), 2);
    return files + list + end.append(comment);
}

inline std::string safetensorsBytes(std::string_view header, std::string_view values) {
    const uint64_t length = header.size();
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
    return bytes.append(header).append(values);
}

inline std::string gzipBytes(std::string_view bytes) {
    z_stream z{};
    deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
    std::string packed(deflateBound(&z, bytes.size()) + 64, '\0');
    std::string from(bytes);
    z.next_in = reinterpret_cast<Bytef*>(from.data());
    z.avail_in = static_cast<uInt>(from.size());
    z.next_out = reinterpret_cast<Bytef*>(packed.data());
    z.avail_out = static_cast<uInt>(packed.size());
    deflate(&z, Z_FINISH);
    packed.resize(z.total_out);
    deflateEnd(&z);
    return packed;
}

} // namespace halfscope
