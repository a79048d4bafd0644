// Multiples of the present value; what is not allowed is left out.
#include "ui/models/suggested_values.h"

#include "engine/core/error.h"
#include "engine/settings/lane_titles.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

/// Returns the present number, so many steps of a factor away from it.
std::vector<FieldValue> numbersAround(const Field& field, const FieldValue& now, int around) {
    std::vector<FieldValue> values;
    for (int step = -around; step <= around; ++step) {
        if (const auto* whole = std::get_if<int64_t>(&now)) {
            const double from =
                static_cast<double>(step > 0 ? std::max<int64_t>(*whole, 1) : *whole);
            values.emplace_back(static_cast<int64_t>(from * std::pow(10.0, step)));
        } else if (const auto* number = std::get_if<double>(&now)) {
            const double factor = field.logarithmic ? 256 : 2;
            const double zeroInstead = std::min(1.0, field.maximum) / 2; // has no multiples
            const bool above = *number == 0 && step > 0;
            values.emplace_back(above ? zeroInstead * step : *number * std::pow(factor, step));
        }
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
                            int around) {
    std::vector<FieldValue> values;
    if (field.kind == FieldKind::Choice)
        values.assign(field.choices.begin(), field.choices.end());
    else if (field.kind == FieldKind::Bool)
        values = {false, true};
    else
        values = numbersAround(field, field.get(config, lane), around);
    QStringList texts;
    for (const FieldValue& value : values) {
        if (static_cast<size_t>(texts.size()) == most) break;
        try {
            checkValue(field, value);
        } catch (const InputError&) {
            continue; // 10 times the present number may be too many
        }
        const std::string text = field.logarithmic ? briefValue(value) : valueText(value);
        if (!texts.contains(QString::fromStdString(text))) texts << QString::fromStdString(text);
    }
    return texts;
}

} // namespace halfscope
