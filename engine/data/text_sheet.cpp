// Letters as bits, laid out row by row.
#include "engine/data/text_sheet.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"

#include <algorithm>
#include <array>

namespace halfscope {

namespace {

using Colour = std::array<float, 3>;
constexpr Colour kPaper{1, 1, 1}, kInk{0, 0, 0}, kWrong{1.0f, 0.72f, 0.38f};
constexpr Colour kPrompt{0.86f, 0.86f, 0.86f}, kOtherText{0.72f, 0.85f, 1.0f};

constexpr int kGlyphWidth = 5, kGlyphHeight = 12;
constexpr int kCellWidth = kGlyphWidth + 1, kCellHeight = kGlyphHeight + 2;
constexpr int kScale = 2, kMargin = 3; // kMargin is in pixels of a letter

/// The characters from space to ~ of the font 6x13 of X11 (misc-fixed), which is in the public
/// domain. The highest of the 60 bits is the upper left pixel; each row has five.
constexpr std::array<uint64_t, 95> kAscii{
    0x000000000000000, 0x010842108401000, 0x0294a0000000000, 0x0014afabea50000, 0x011f4a38a5f1000,
    0x026aa1110aac800, 0x00114a229393400, 0x010840000000000, 0x110884210821040, 0x410821084221100,
    0x012aea900000000, 0x0000427c8400000, 0x000000000031100, 0x0000007c0000000, 0x000000000023880,
    0x004221110884000, 0x011518c63151000, 0x011942108427c00, 0x03a310888887c00, 0x07c22238218b800,
    0x0084652a5f10800, 0x07e10b64218b800, 0x03a3087a318b800, 0x07c221108842000, 0x03a318ba318b800,
    0x03a318bc218b800, 0x000047100023880, 0x000047100031100, 0x004444410410400, 0x00000f801f00000,
    0x041041044444000, 0x03a310888401000, 0x03a319d6b683c00, 0x011518c7f18c400, 0x079294b9294f800,
    0x03a30842108b800, 0x079294a5294f800, 0x07e1087a1087c00, 0x07e1087a1084000, 0x03a30842718b800,
    0x046318fe318c400, 0x038842108423800, 0x01c421084293000, 0x04632a62928c400, 0x042108421087c00,
    0x0463bad6318c400, 0x04739ad6738c400, 0x03a318c6318b800, 0x07a318fa1084000, 0x03a318c631ab820,
    0x07a318fa928c400, 0x03a30838218b800, 0x07c842108421000, 0x046318c6318b800, 0x046318a94a21000,
    0x046318d6b5aa800, 0x0462a5114a8c400, 0x0462a5108421000, 0x07c221110887c00, 0x7210842108421c0,
    0x042084104208400, 0x7084210842109c0, 0x011510000000000, 0x0000000000003e0, 0x208000000000000,
    0x00000705f19b400, 0x04210f46318f800, 0x00000746108b800, 0x004217c6318bc00, 0x00000747f08b800,
    0x019284790842000, 0x00000746317862e, 0x04210b66318c400, 0x000806108423800, 0x000403084214a4c,
    0x042109531494400, 0x030842108423800, 0x00000d56b5ac400, 0x00000b66318c400, 0x00000746318b800,
    0x00000f4631f4210, 0x000007c63178421, 0x00000b661084000, 0x00000745828b800, 0x00108f210849800,
    0x000008c6319b400, 0x000008c62a51000, 0x000008c6b5aa800, 0x000008a88454400, 0x000008c6336862e,
    0x00000f888887c00, 0x190842608421060, 0x010842108421000, 0xc108420c8421300, 0x026b20000000000};
constexpr uint64_t kLineEnd = 0x00001084a9fa080; // a hook to the left
constexpr uint64_t kOther = 0x07e318c6318fc00;   // a box

uint64_t glyphOf(const std::string& name) {
    if (name == "\u2423") return 0;
    if (name == "\u21b5") return kLineEnd;
    const bool ascii = name.size() == 1 && name[0] > ' ' && name[0] <= '~';
    return ascii ? kAscii[static_cast<size_t>(name[0] - ' ')] : kOther;
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
