// Reads three numbers with one mark between them; which of them is the month is left open.
#include "engine/data/date_text.h"

#include "engine/core/text.h"

#include <algorithm>
#include <array>
#include <string>

namespace halfscope {

namespace {

constexpr std::string_view kDigits = "0123456789";

/// A whole number at the start of a text.
struct Number {
    int value = 0;
    size_t digits = 0;
};

/// Takes the digits at the start of the text, of which dates and times have at most four.
Number takeNumber(std::string_view& text) {
    constexpr size_t kMost = 4;
    Number number;
    number.digits = std::min(text.find_first_not_of(kDigits), text.size());
    for (const char c : text.substr(0, std::min(number.digits, kMost)))
        number.value = 10 * number.value + (c - '0');
    text.remove_prefix(number.digits);
    return number;
}

bool take(std::string_view& text, char wanted) {
    if (!text.starts_with(wanted)) return false;
    text.remove_prefix(1);
    return true;
}

bool isDayAndMonth(const Number& a, const Number& b) {
    constexpr int kDays = 31, kMonths = 12;
    const auto fits = [](const Number& number) {
        return (number.digits == 1 || number.digits == 2) && number.value >= 1 &&
               number.value <= kDays;
    };
    return fits(a) && fits(b) && std::min(a.value, b.value) <= kMonths;
}

/// Takes the date. A year of two digits stands last, behind dashes only after two digits each, and
/// never behind points: 10.12.10 is as likely the number of a version.
bool takeDate(std::string_view& text) {
    const Number first = takeNumber(text);
    const char mark = text.empty() ? '\0' : text.front();
    if (mark != '-' && mark != '/' && mark != '.') return false;
    text.remove_prefix(1);
    const Number second = takeNumber(text);
    if (!take(text, mark)) return false;
    const Number third = takeNumber(text);
    if (first.digits == 4) return isDayAndMonth(second, third);
    const bool full = first.digits == 2 && second.digits == 2;
    const bool shortYear = third.digits == 2 && (mark == '/' || (mark == '-' && full));
    return (third.digits == 4 || shortYear) && isDayAndMonth(first, second);
}

/// Whether the text is a time of day: "17:30", "17:30:00.25", "5:30 PM", "17:30:00+01:00".
bool isTime(std::string_view text) {
    const auto isPart = [](const Number& number, int end) {
        return (number.digits == 1 || number.digits == 2) && number.value < end;
    };
    constexpr int kHours = 25, kMinutes = 60, kSeconds = 61; // 24:00, and leap seconds
    if (!isPart(takeNumber(text), kHours) || !take(text, ':') ||
        !isPart(takeNumber(text), kMinutes))
        return false;
    if (take(text, ':') && !isPart(takeNumber(text), kSeconds)) return false;
    if (take(text, '.') || take(text, ',')) takeNumber(text);
    const std::string rest = lowerCase(std::string(trimmed(text)));
    constexpr std::array<std::string_view, 6> kEnds{"", "z", "am", "pm", "utc", "gmt"};
    const bool offset = rest.starts_with('+') || rest.starts_with('-');
    return std::ranges::find(kEnds, rest) != kEnds.end() ||
           (offset && rest.find_first_not_of("0123456789:", 1) == rest.npos);
}

} // namespace

bool isDate(std::string_view text) {
    if (!takeDate(text)) return false;
    if (text.empty()) return true;
    return (take(text, 'T') || take(text, ' ')) && isTime(trimmed(text));
}

} // namespace halfscope
