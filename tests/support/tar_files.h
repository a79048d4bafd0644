// Bytes of tar archives, whole and damaged, as tests need them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace halfscope {

/// A header's fields; a field that is not set is as a good program writes it.
struct TarHeader {
    std::string name;
    std::string size; ///< octal digits, or 12 bytes as they are; empty: the content's size
    char type = '0';
    std::string prefix{};
    std::string magic{"ustar\0"
                      "00",
                      8};
};

inline std::string tarHeader(const TarHeader& header, size_t contentBytes) {
    std::string block(512, '\0');
    const auto put = [&block](size_t at, std::string_view text) {
        block.replace(at, text.size(), text);
    };
    char digits[16];
    std::snprintf(digits, sizeof digits, "%011o", static_cast<unsigned>(contentBytes));
    put(0, header.name.substr(0, 100));
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, header.size.empty() ? std::string(digits) : header.size);
    put(136, "00000000000");
    block[156] = header.type;
    put(257, header.magic);
    put(345, header.prefix);
    put(148, "        ");
    unsigned sum = 0;
    for (const char byte : block)
        sum += static_cast<unsigned char>(byte);
    std::snprintf(digits, sizeof digits, "%06o", sum);
    put(148, std::string_view(digits, 7)); // with its zero
    return block;
}

inline std::string tarFile(const TarHeader& header, std::string_view content) {
    std::string bytes = tarHeader(header, content.size()).append(content);
    bytes.resize((bytes.size() + 511) / 512 * 512, '\0');
    return bytes;
}

inline std::string tarFile(const std::string& name, std::string_view content) {
    return tarFile(TarHeader{name, {}}, content);
}

/// Returns a record of a pax header.
inline std::string paxRecord(const std::string& text) {
    size_t length = text.size() + 3;
    while (std::to_string(length).size() + text.size() + 2 != length)
        ++length;
    return std::to_string(length) + ' ' + text + '\n';
}

inline std::string tarEnd() { return std::string(1024, '\0'); }

} // namespace halfscope
