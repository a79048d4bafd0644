// Letters as bits, laid out row by row.
#include "engine/data/text_sheet.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/data/letters.h"

#include <algorithm>
#include <array>

namespace halfscope {

namespace {

using Colour = std::array<float, 3>;
constexpr Colour kPaper{1, 1, 1}, kInk{0, 0, 0}, kWrong{1.0f, 0.72f, 0.38f};
constexpr Colour kPrompt{0.86f, 0.86f, 0.86f}, kOtherText{0.72f, 0.85f, 1.0f};

constexpr int kGlyphWidth = kLetterWidth, kGlyphHeight = kLetterHeight;
constexpr int kCellWidth = kGlyphWidth + 1, kCellHeight = kGlyphHeight + 2;
constexpr int kScale = 2, kMargin = 3; // kMargin is in pixels of a letter

constexpr uint64_t kLineEnd = 0x00001084a9fa080; // a hook to the left
constexpr uint64_t kOther = 0x07e318c6318fc00;   // a box

uint64_t glyphOf(const std::string& name) {
    if (name == "\u2423") return 0;
    if (name == "\u21b5") return kLineEnd;
    return name.size() == 1 && name[0] != ' ' && isLetter(name[0]) ? letterBits(name[0]) : kOther;
}

class Sheet {
public:
    explicit Sheet(int columns = kTextColumns, int rows = kTextRows)
        : m_columns(columns), m_picture{(columns * kCellWidth + 2 * kMargin) * kScale,
                                        (rows * kCellHeight + 2 * kMargin) * kScale,
                                        3,
                                        {}} {
        m_picture.values.assign(static_cast<size_t>(m_picture.width) *
                                    static_cast<size_t>(m_picture.height) * kPaper.size(),
                                1.0f);
    }

    void cell(int at, uint64_t glyph, const Colour& paper) {
        const int left = kMargin + at % m_columns * kCellWidth;
        const int top = kMargin + at / m_columns * kCellHeight;
        fill(left, top, kCellWidth, kCellHeight, paper);
        for (int y = 0; y < kGlyphHeight; ++y)
            for (int x = 0; x < kGlyphWidth; ++x) {
                const int bit = kGlyphWidth * kGlyphHeight - 1 - (y * kGlyphWidth + x);
                if (glyph >> bit & 1) fill(left + x, top + 1 + y, 1, 1, kInk);
            }
    }

    void underline(int at) {
        const int left = kMargin + at % m_columns * kCellWidth;
        const int top = kMargin + at / m_columns * kCellHeight;
        fill(left, top + kCellHeight - 1, kCellWidth, 1, kInk);
    }

    /// Draws a line at half the height of a row.
    void line(int row) {
        fill(kMargin, kMargin + row * kCellHeight + kCellHeight / 2, m_columns * kCellWidth, 1,
             kInk);
    }

    Picture take() { return std::move(m_picture); }

private:
    void fill(int left, int top, int wide, int high, const Colour& colour) {
        for (int y = top * kScale; y < (top + high) * kScale; ++y)
            for (int x = left * kScale; x < (left + wide) * kScale; ++x)
                std::copy(colour.begin(), colour.end(),
                          m_picture.values.begin() +
                              (static_cast<std::ptrdiff_t>(y) * m_picture.width + x) * 3);
    }

    int m_columns;
    Picture m_picture;
};

/// Returns the letters of a text, at most so many.
std::vector<uint64_t> lettersOf(std::string_view text, int most) {
    std::vector<uint64_t> letters;
    while (!text.empty() && letters.size() < static_cast<size_t>(most)) {
        const size_t length = std::max<size_t>(sequenceLength(text), 1);
        const std::string_view letter = text.substr(0, length);
        letters.push_back(letter == " " ? 0 : glyphOf(std::string(letter)));
        text.remove_prefix(length);
    }
    return letters;
}

/// Returns how many of the letters stand in a row of so many columns, which ends with a whole word
/// if it can.
size_t endOfRow(const std::vector<uint64_t>& letters, size_t columns) {
    if (letters.size() <= columns) return letters.size();
    const auto begin = letters.rbegin() + static_cast<std::ptrdiff_t>(letters.size() - columns);
    const auto space = std::find(begin, letters.rend(), uint64_t{0});
    return space == letters.rend() ? columns : static_cast<size_t>(letters.rend() - space);
}

uint64_t glyphAt(std::span<const std::string> names, int32_t place) {
    const auto at = static_cast<size_t>(place);
    return at < names.size() ? glyphOf(names[at]) : kOther;
}

/// Draws characters, beginning at a cell; wrong ones have an orange background.
void drawJudged(Sheet& sheet, int from, std::span<const std::string> names,
                std::span<const int32_t> shown, std::span<const int32_t> right) {
    require(shown.size() == right.size(), "a character for each that is right");
    for (size_t i = 0; i < shown.size(); ++i)
        sheet.cell(from + static_cast<int>(i), glyphAt(names, shown[i]),
                   shown[i] == right[i] ? kPaper : kWrong);
}

template <class T>
std::span<const T> upTo(int most, std::span<const T> values) {
    return values.first(std::min(values.size(), static_cast<size_t>(most)));
}

} // namespace

Picture textSheet(std::span<const std::string> names, std::span<const int32_t> shown,
                  std::span<const int32_t> right) {
    Sheet sheet;
    drawJudged(sheet, 0, names, upTo(kTextCharacters, shown), upTo(kTextCharacters, right));
    return sheet.take();
}

Picture classedSheet(std::span<const ClassedText> texts, size_t longest) {
    constexpr int kColumns = 40, kLeastColumns = 20, kShortColumns = 25, kDots = 3;
    texts = upTo(kClassedTexts, texts);
    longest = std::min<size_t>(longest, kLongestClass);
    size_t widest = 0, names = longest;
    for (const ClassedText& each : texts) {
        widest = std::max(widest, lettersOf(each.text, kColumns).size());
        if (!each.truth.empty()) names = 2 * longest + 1;
    }
    const auto needed = static_cast<int>(widest + 1 + names);
    const bool brief = needed <= kShortColumns;
    const int columns = brief ? std::max(needed, kLeastColumns) : kColumns, rows = brief ? 1 : 2;
    Sheet sheet(columns, rows * kClassedTexts);
    int row = 0;
    for (const ClassedText& each : texts) {
        const std::vector<uint64_t> name = lettersOf(each.name, kLongestClass);
        const int last = (row + rows - 1) * columns; // where its last row begins
        int at = last + columns - static_cast<int>(name.size());
        const std::vector<uint64_t> truth = lettersOf(each.truth, kLongestClass);
        const int start = at - (truth.empty() ? 0 : static_cast<int>(truth.size()) + 1);
        const int inLast = start - 1 - last;
        for (size_t i = 0; i < truth.size(); ++i)
            sheet.cell(start + static_cast<int>(i), truth[i], kPrompt);
        for (const uint64_t letter : name)
            sheet.cell(at++, letter, each.right ? kPrompt : kWrong);
        const std::vector<uint64_t> text = lettersOf(each.text, rows * columns);
        const auto letters = static_cast<int>(text.size());
        const int first =
            brief ? 0 : static_cast<int>(endOfRow(text, static_cast<size_t>(columns)));
        const int end = std::min(letters, first + inLast);
        for (int i = 0; i < end; ++i) {
            const bool dot = end < letters && i >= end - kDots;
            at = i < first ? row * columns + i : last + i - first;
            sheet.cell(at, dot ? glyphOf(".") : text[static_cast<size_t>(i)], kPaper);
        }
        row += rows;
    }
    return sheet.take();
}

Picture writtenSheet(std::span<const std::string> names, const WrittenText& text) {
    constexpr int kLineRow = 1 + kWrittenCharacters / kTextColumns;
    static_assert((kLineRow + 1) * kTextColumns + kJudgedCharacters == kTextCharacters);
    require(text.written.size() == text.first.size(), "a character of lane A for each");
    Sheet sheet;
    const auto prompt =
        text.prompt.last(std::min<size_t>(text.prompt.size(), size_t{kTextColumns}));
    int at = kTextColumns - static_cast<int>(prompt.size());
    for (const int32_t place : prompt)
        sheet.cell(at++, glyphAt(names, place), kPrompt);
    const auto written = upTo(kWrittenCharacters, text.written);
    for (size_t i = 0; i < written.size(); ++i, ++at) {
        const bool same = written[i] == text.first[i];
        sheet.cell(at, glyphAt(names, written[i]), same ? kPaper : kOtherText);
        if (!same) sheet.underline(at);
    }
    sheet.line(kLineRow);
    drawJudged(sheet, (kLineRow + 1) * kTextColumns, names, upTo(kJudgedCharacters, text.shown),
               upTo(kJudgedCharacters, text.right));
    return sheet.take();
}

} // namespace halfscope
