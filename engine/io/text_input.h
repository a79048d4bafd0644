// Reads a text file of another program as UTF-8, however that program saved it: packed by gzip, or
// in UTF-16 with a byte order mark, which spreadsheet programs call Unicode text.
#pragma once

#include "engine/io/gzip.h"

#include <cstdint>
#include <string>

namespace halfscope {

/// A file that is read from start to end with a few blocks of memory. Bytes of other encodings, and
/// the byte order mark of UTF-8, stay as they are.
class TextInput {
public:
    /// Reads the first block. Throws InputError as UnpackedFile does, and for UTF-16 without a byte
    /// order mark.
    explicit TextInput(std::string path);

    bool packed() const { return m_file.packed(); }
    bool isUtf16() const { return m_form != Form::Bytes; }
    /// Replaces `text` with what follows and returns whether anything does. Can be cancelled.
    /// Throws InputError for a gzip file that is damaged, ends early or unpacks to far more than a
    /// table would, and for UTF-16 that has half of a character.
    bool next(std::string& text);
    /// Returns the share of the file that next() has returned, 0 to 1.
    double share() const { return m_file.share(); }

private:
    enum class Form : uint8_t { Bytes, LittleEndian, BigEndian };

    void fill();
    void tellForm();
    unsigned unitAt(size_t at) const;
    void convert(std::string& text);

    UnpackedFile m_file;
    Form m_form = Form::Bytes;
    std::string m_bytes;     ///< read but not returned
    int64_t m_converted = 0; ///< bytes of UTF-16 before them
};

} // namespace halfscope
