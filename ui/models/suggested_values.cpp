// Multiples of the present value; what is not allowed is left out.
#include "ui/models/suggested_values.h"

#include "engine/core/error.h"
#include "engine/settings/lane_titles.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

bool isPowerOfTwo(double number) {
    int exponent = 0;
    return std::frexp(number, &exponent) == 0.5;
}

bool isPower(const std::string& text) { return text.starts_with("2^"); }

/// Returns a multiple by a power of ten without the digits that rounding leaves behind.
double timesPowerOfTen(double number, int power) {
    constexpr int kDigits = 6;
    const double value = number * std::pow(10.0, power);
    if (value == 0) return 0;
    const double places = std::pow(10.0, kDigits - std::floor(std::log10(std::abs(value))));
    return std::round(value * places) / places;
}

/// Units and layers are thought of in powers of two, steps in powers of ten; of few possible values
/// each is worth a try.
int64_t wholeAround(const Field& field, int64_t now, int step) {
    constexpr double kFew = 64;
    if (field.maximum <= kFew) return now + step;
    const double from = static_cast<double>(step > 0 ? std::max<int64_t>(now, 1) : now);
    return static_cast<int64_t>(from * std::pow(isPowerOfTwo(from) ? 2.0 : 10.0, step));
}

/// Loss scales are powers of two, learning rates are thought of in powers of ten.
double realAround(const Field& field, double now, int step) {
    if (now == 0 && step > 0) return std::min(1.0, field.maximum) / 2 * step; // has no multiples
    if (!field.logarithmic) return now * std::pow(2.0, step);
    return isPowerOfTwo(now) ? now * std::pow(256.0, step) : timesPowerOfTen(now, step);
}

/// Returns the present number, so many steps of a factor away from it.
std::vector<FieldValue> numbersAround(const Field& field, const FieldValue& now, int around) {
    std::vector<FieldValue> values;
    for (int step = -around; step <= around; ++step) {
        if (const auto* whole = std::get_if<int64_t>(&now))
            values.emplace_back(wholeAround(field, *whole, step));
        else if (const auto* number = std::get_if<double>(&now))
            values.emplace_back(realAround(field, *number, step));
    }
    return values;
}

} // namespace

int firstLaneOf(const Field& field, const RunConfig& config) {
    int lane = 0;
    while (field.applies && !field.applies(config, lane))
        ++lane;
    return lane;
}

QStringList suggestedValues(const Field& field, const RunConfig& config, int lane, size_t most,
                            int around, std::optional<double> scale) {
    std::vector<FieldValue> values, allowed;
    // a scale can have grown to inf, of which there are no multiples
    const bool found =
        scale && *scale > 0 && std::isfinite(*scale) && field.key == "scaler.init_scale";
    if (field.kind == FieldKind::Choice)
        values.assign(field.choices.begin(), field.choices.end());
    else if (field.kind == FieldKind::Bool)
        values = {false, true};
    else
        values = numbersAround(field, found ? FieldValue(*scale) : field.get(config, lane), around);
    for (const FieldValue& value : values) {
        if (allowed.size() == most) break;
        try {
            checkValue(field, value);
        } catch (const InputError&) {
            continue; // 10 times the present number may be too many
        }
        if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
            allowed.push_back(value);
    }
    const std::vector<std::string> written = axisTexts(allowed);
    const bool powers = field.logarithmic && std::all_of(written.begin(), written.end(), isPower);
    QStringList texts;
    for (size_t i = 0; i < allowed.size(); ++i)
        texts << QString::fromStdString(powers ? written[i] : valueText(allowed[i]));
    return texts;
}

} // namespace halfscope
