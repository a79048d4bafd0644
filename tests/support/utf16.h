// Encodes texts as spreadsheet programs do that save "Unicode text".
#pragma once

#include <QString>

#include <string>
#include <string_view>

namespace halfscope::test {

enum class ByteOrder : bool { Little, Big };

/// Returns a text that is in UTF-8 in UTF-16, without a byte order mark.
inline std::string utf16Bytes(std::string_view text, ByteOrder order = ByteOrder::Little) {
    std::string bytes;
    const QString units = QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
    for (const QChar unit : units) {
        const char low = static_cast<char>(unit.cell()), high = static_cast<char>(unit.row());
        bytes += order == ByteOrder::Little ? low : high;
        bytes += order == ByteOrder::Little ? high : low;
    }
    return bytes;
}

/// Returns the same behind the byte order mark.
inline std::string markedUtf16(std::string_view text, ByteOrder order = ByteOrder::Little) {
    return (order == ByteOrder::Little ? "\xFF\xFE" : "\xFE\xFF") + utf16Bytes(text, order);
}

} // namespace halfscope::test
