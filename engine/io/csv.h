// Reads a csv file record by record, as RFC 4180 describes it: fields are separated by commas, and
// quoted ones may hold commas, line ends and doubled quotation marks. Tables of other programs may
// have semicolons or tabs instead of commas, and are read as TextInput reads them. The callers
// decide what the fields mean.
#pragma once

#include "engine/core/text.h"
#include "engine/io/text_input.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

inline constexpr Phrase kEndsWithCr =
    phrase("Files", "%1: the lines end with CR alone, as on old Macs; save the table with LF or CR "
                    "LF at the ends of its lines");

class CsvReader {
public:
    /// Every line of the program's files is shorter; a file without line ends must not fill the
    /// memory.
    static constexpr size_t kMostLineBytes = size_t{1} << 20;

    /// Whether the last line must have a line end: in a file that a program wrote row by row, a
    /// line without one was cut off.
    enum class LastLine : uint8_t { MustEnd, MayLackEnd };
    /// What separates fields. When the header decides, a byte order mark and empty lines before it
    /// are skipped. A first line such as sep=; names the separator, as Excel has it, and is no
    /// record.
    enum class Separator : uint8_t {
        Comma,
        /// The one of comma, tab and semicolon that the first record, the header, has most often
        /// outside quotation marks; on a tie, the first in this order. Spaces when it has none of
        /// them, and the next line that is not empty has as many fields between spaces: then any
        /// number of spaces and tabs separates fields. Likewise where tabs are most but fewer, and
        /// numbers stand between spaces in the first lines, which all have as many fields.
        AsHeader,
        /// Tabs when the header has any, else as AsHeader. For .tsv files: a comma there belongs to
        /// a column's name.
        TabFirst,
        /// As TabFirst, but a first line of tabs alone is a record of empty fields. For tables
        /// without a header in which each line counts.
        TabFirstKept
    };

    /// Throws InputError as TextInput does.
    explicit CsvReader(std::string path, LastLine = LastLine::MustEnd,
                       Separator = Separator::Comma);
    /// Reads a table that is in memory; `name` stands for it in messages.
    CsvReader(std::string name, std::string_view content, LastLine, Separator);

    /// Reads the fields of the next record, which are valid until the next call; returns false at
    /// the end of the file. Can be cancelled. A last line that lacks the end that it must have is
    /// not a record, see cutOff(). Throws InputError as TextInput does, and with path and line for
    /// a quotation mark without its pair and for a line of more than kMostLineBytes.
    bool next(std::vector<std::string_view>& fields);
    /// Whether the file ended in the middle of a line; known after next() returned false.
    bool cutOff() const { return m_cutOff; }
    /// Returns ',', '\t', ';' or ' '. It is known once next() has been called.
    char separator() const { return m_separator; }
    /// Whether the first line named the separator. Likewise.
    bool hasSeparatorLine() const { return m_hasSeparatorLine; }
    /// What has been read but not taken yet: the lines behind the last record, but seldom all.
    std::string_view ahead() const { return std::string_view(m_block).substr(m_at); }
    /// The last record as it stands in the file, without its line end.
    std::string_view text() const { return m_record; }
    /// Returns "PATH, line 4", the place where the last record begins; lines count from 1.
    std::string place() const { return pathText(m_path) + ", line " + std::to_string(m_firstLine); }
    /// Returns the share of the file that is read, 0 to 1.
    double share() const;

private:
    bool takeRecord();
    bool takeHeader();
    bool takeLine();
    bool appendLine();
    bool fill();
    void split(std::vector<std::string_view>& fields);
    void splitAtSpaces(std::vector<std::string_view>& fields);
    std::string quotedLine() const;
    std::string_view quotedField(size_t& at);

    std::string m_path;
    std::optional<TextInput> m_file; ///< none for a table in memory
    LastLine m_lastLine;
    Separator m_rule;
    char m_separator = ',';
    std::string m_block;     ///< read, and from m_at on not taken yet
    size_t m_at = 0;         ///< in m_block
    double m_before = 0;     ///< the share of the file before m_block
    double m_behind = 0;     ///< the share before its end
    int64_t m_lines = 0;     ///< taken
    int64_t m_firstLine = 0; ///< of the record
    bool m_cutOff = false;
    bool m_hasSeparatorLine = false;
    std::string m_record;            ///< the record without its line end
    size_t m_marks = 0;              ///< the number of quotation marks in it
    std::deque<std::string> m_texts; ///< fields without their quotation marks
};

} // namespace halfscope
