// Reads the lines of a csv table and tells what a field's text means: a number, a truth or a
// missing value.
#pragma once

#include "engine/core/message.h"
#include "engine/data/task_spec.h"
#include "engine/io/csv.h"

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// The texts that spreadsheets, R and pandas write for a missing value.
inline constexpr std::array<std::string_view, 21> kMissingWords{
    "",     "NA",       "N/A",  "n/a",     "#N/A",   "NaN",      "nan",
    "NAN",  "-nan",     "-NaN", "null",    "NULL",   "None",     "?",
    "<NA>", "#N/A N/A", "#NA",  "-1.#IND", "1.#IND", "-1.#QNAN", "1.#QNAN"};
bool isMissing(std::string_view text);
/// What people write where they have no number, in lower case. In a column of words, such a text
/// may well be a word like any other.
inline constexpr std::array<std::string_view, 35> kGapWords{
    "-",         "--",      "---",     "\u2013",  "\u2014",       ".",       "..",
    "...",       "k.a.",    "k. a.",   "ka",      "keine angabe", "na",      "keine angaben",
    "n/a",       "n.a.",    "n. a.",   "n.v.",    "n. v.",        "none",    "null",
    "unbekannt", "fehlt",   "missing", "unknown", "no answer",    "no data", "not available",
    "#nv",       "#div/0!", "#wert!",  "#zahl!",  "#value!",      "#num!",   "#ref!"};
/// Whether the text is one of them, in upper or lower case. See CsvLayout::lacks().
bool isGapWord(std::string_view text);
/// Returns 1 for true and yes, 0 for false and no, in upper or lower case; nothing for other texts.
std::optional<float> truthOf(std::string_view text);

/// Whether the text is a number that is not read as one, because it has thousands separators, a
/// percent sign or a sign of currency: "1.234,56", "$5", "12 %".
bool isFormattedNumber(std::string_view text);

/// Whether the text is a number that is not read as one, for that or because it has a decimal comma
/// where none are read. `commas`: see CsvFile::commas().
bool isUnreadNumber(std::string_view text, bool commas);

/// What helps users of spreadsheet programs with such numbers.
inline constexpr Phrase kFormatAsNumber =
    phrase("Data", "format their cells as plain numbers in a spreadsheet program, and save the "
                   "table as CSV again");
/// What helps with a file, %1, of a spreadsheet program.
inline constexpr Phrase kSpreadsheet =
    phrase("Data", "%1: this is a spreadsheet, not a csv table; open it in Excel, LibreOffice or "
                   "the like, and save the sheet as CSV (UTF-8)");

/// Whether the text is a number with points between its thousands and a decimal comma, 1.234,5:
/// nobody means another number by it.
bool hasPointsAndComma(std::string_view text);

/// The minus sign that some programs write in place of a hyphen.
inline constexpr std::string_view kMinus = "\u2212";

/// A field's text in the form that from_chars reads.
struct NumberText {
    std::string_view text;
    char mark = 0;     ///< the decimal mark, '.' or ','; 0 when there is none
    std::string own{}; ///< holds the text when it differs from the field's

    /// Replaces a decimal comma by a point when `commas` allows it: in 1,5 and, without its point,
    /// in 1.234,5, but not in 1,234.5. Replaces the minus sign of typesetters, too.
    NumberText(std::string_view field, bool commas) : text(field) {
        if (text.starts_with(kMinus)) text = own = '-' + std::string(text.substr(kMinus.size()));
        if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
        if (!commas) return;
        const size_t comma = text.find(',');
        if (text.find('.') != text.npos && !hasPointsAndComma(text)) mark = '.';
        if (comma == text.npos || mark != 0) return;
        mark = ',';
        own = text;
        std::erase(own, '.');
        own[own.find(',')] = '.';
        text = own;
    }
    NumberText(const NumberText&) = delete;
    NumberText& operator=(const NumberText&) = delete;

    /// Reads the number. Returns invalid_argument unless all of the text is one number, and
    /// result_out_of_range as std::from_chars does.
    template <class Number>
    std::errc read(Number& value) const {
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
        return end == text.data() + text.size() ? code : std::errc::invalid_argument;
    }
    bool isNumber() const {
        float value = 0;
        return read(value) != std::errc::invalid_argument;
    }
};

/// Returns the number in the text; nan when it is not a number.
double numberOf(std::string_view text, bool commas);

/// Whether the text is a number that float32 does not hold, such as 1e300 or inf.
bool isBeyondFloat(std::string_view text, bool commas);

/// Numbers the names that stand there again, as pandas does: "size.1". Returns the names that got a
/// number.
std::vector<std::string> tellApart(std::vector<std::string>& names);

/// Whether commas are decimal in a table with this separator where they are in the one trained on:
/// those of a table of another kind may separate thousands. A table with tabs may be of either.
bool mayTakeCommas(char separator, char trained);

/// Reads a file from its header to its last line.
class CsvFile {
public:
    /// What becomes of lines of separators alone, which spreadsheet programs write.
    enum class BlankLines : uint8_t { LeftOut, Kept };
    /// Without a header, the first line is a sample. Throws InputError as CsvReader does.
    CsvFile(std::string path, bool header, BlankLines = BlankLines::LeftOut);
    /// Reads a table that comes with the program; `name` stands for it in messages.
    CsvFile(std::string name, std::string_view content);

    /// Returns the names of the columns; without a header these are c1, c2 ... A name that stands
    /// there again gets a number, as pandas gives it: "size.1", and one of several lines is put on
    /// one, so that settings can name it. It is called once, before next().
    /// Throws InputError when the file is empty, has more than kMostColumns columns, or begins as
    /// no table does that could be read (a spreadsheet, for example).
    std::vector<std::string> readHeader();
    /// The names that got a number.
    const std::vector<std::string>& renamed() const { return m_renamed; }
    /// Whether the first line has all names as readHeader() returned them.
    bool hasNamesAsRead() const { return m_namesAsRead; }
    /// Reads the next line; returns false after the last one. Throws InputError when a line has
    /// more or fewer fields than the first one, or a zero byte. Empty lines are left out.
    bool next();
    /// Whether all fields of the current line are empty.
    bool isBlank() const;

    std::string_view text(size_t column) const { return trimmed(fields[column]); }
    bool lacks(size_t column) const { return isMissing(text(column)); }
    char separator() const { return m_reader.separator(); }
    /// Whether the first line named the separator, and is no part of the table: sep=;
    bool hasSeparatorLine() const { return m_reader.hasSeparatorLine(); }
    /// Whether numbers may have decimal commas: true when the columns are separated by semicolons,
    /// or by tabs and more numbers of the first lines have decimal commas than points, or by commas
    /// and all numbers of a column there are such as "0,5", in quotation marks, while none in the
    /// table has a point, and no column has such as "12,500" alone, which may be whole.
    bool commas() const { return m_commas; }
    /// Allows decimal commas, whatever the first lines have: another table like this one has them.
    /// It is called behind readHeader().
    void takeCommas() { m_commas = true; }
    /// The current line as it stands in the file, without its line end.
    std::string_view record() const { return m_reader.text(); }
    /// Returns the file and the current line: "PATH, line 4".
    std::string place() const { return m_reader.place(); }

    std::vector<std::string_view> fields; ///< of the current line

    static constexpr size_t kMostColumns = 100'000;

private:
    /// What the first line of scikit-learn's own tables counts, before it names the classes:
    /// "150,4,setosa,versicolor,virginica".
    struct Counts {
        size_t samples = 0, features = 0;

        static Counts of(const std::vector<std::string>& names);
    };
    void checkFollows(const Counts&) const;
    bool findsCommas() const;
    bool findsQuotedCommas() const;

    std::string m_path;
    bool m_ships;  ///< it is no file of the user's
    bool m_header; ///< the first line names the columns
    BlankLines m_blank = BlankLines::LeftOut;
    bool m_isAhead = false; ///< the next line has been read already
    CsvReader m_reader;
    size_t m_columns = 0;
    std::vector<std::string> m_renamed;
    bool m_namesAsRead = true;
    bool m_commas = false;
    Counts m_counts; ///< in the first line
};

/// Whether the file's name ends as that of a table: in .csv, .tsv, or .data, as in the UCI
/// repository. Behind that, .gz may follow.
bool namesTable(const std::string& path);
/// Whether the file is what Excel saves as Unicode text: a .txt in UTF-16 with tabs in its first
/// line. Returns false for files that cannot be read.
bool isUnicodeTable(const std::string& path);
/// The name of the words that come with the program.
inline constexpr const char* kWordsFile = "words.csv";
/// Opens task.path. Texts with classes are those words where it is empty.
CsvFile tableOf(const TaskConfig&);
/// Whether numbers of that table may have decimal commas, see CsvFile::commas().
bool readsCommas(const TaskConfig&);
/// Opens task.predictFile, a table like task.path. Its lines of separators alone are kept, so that
/// the table with predictions has the same lines.
CsvFile predictedTableOf(const TaskConfig&);
/// Lets the numbers of that table, whose header was read, have decimal commas where those of
/// task.path may, see mayTakeCommas().
void takeCommasOfTrained(const TaskConfig&, CsvFile& predicted);

} // namespace halfscope
