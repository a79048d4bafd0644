// The building blocks for rows of the table of settings: words, ranges, conditions. The rows are in
// field_table, data_fields, training_fields and scaler_fields.
#pragma once

#include "engine/core/message.h"
#include "engine/settings/fields.h"
#include "engine/settings/milestones.h"

#include <algorithm>
#include <type_traits>

namespace halfscope {

/// The most updates of a schedule, see scheduleFields().
inline constexpr double kLongestSchedule = 8e6;

/// Returns the rows of the group "Task" for samples from files: where they come from, and how they
/// are made.
std::vector<Field> fileFields();
std::vector<Field> arrayFields();
std::vector<Field> sampleFields();
std::vector<Field> pictureFields();
std::vector<Field> preparationFields();
/// Returns the rows of the groups "Optimizer", "Schedule", "Gradients", and of the scaler.
std::vector<Field> optimizerFields();
std::vector<Field> specialOptimizerFields();
std::vector<Field> secondOptimizerFields();
std::vector<Field> scheduleFields();
std::vector<Field> cycleFields();
std::vector<Field> decayFields();
std::vector<Field> cosineFields();
std::vector<Field> plateauFields();
std::vector<Field> specialScheduleFields();
std::vector<Field> gradientFields();
std::vector<Field> scalerFields();

} // namespace halfscope

namespace halfscope::field_parts {

inline constexpr Phrase kNoUnit;

/// The texts of a field.
struct Words {
    const char* key;
    Phrase label;
    Phrase unit;
    Phrase help;
};

enum class Bound : uint8_t { Closed, AboveMinimum, BelowMaximum, Open };
struct Range {
    double minimum = 0, maximum = 0;
    Bound bound = Bound::Closed;
    bool logarithmic = false;
};

template <class T>
FieldValue toValue(const T& x) {
    if constexpr (std::is_enum_v<T>) {
        return std::string(nameOf(x));
    } else if constexpr (std::is_same_v<T, uint64_t>) {
        return static_cast<int64_t>(x);
    } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
        return milestonesText(x);
    } else {
        return x;
    }
}

template <class Enum>
std::vector<std::string> namesUpTo(Enum last) {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(last); ++i)
        names.emplace_back(nameOf(Enum(i)));
    return names;
}

template <class T>
void fromValue(T& to, const FieldValue& value) {
    if constexpr (std::is_enum_v<T>) {
        const auto& name = std::get<std::string>(value);
        int i = 0;
        while (name != nameOf(T(i)) && *nameOf(T(i)) != '\0')
            ++i;
        to = T(i);
    } else if constexpr (std::is_same_v<T, bool>) {
        to = std::get<bool>(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
        to = std::get<std::string>(value);
    } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
        to = milestonesOf(std::get<std::string>(value));
    } else if (const auto* whole = std::get_if<int64_t>(&value)) {
        to = static_cast<T>(*whole);
    } else {
        to = static_cast<T>(std::get<double>(value));
    }
}

/// Makes a field; `at` takes a RunConfig, const or not, and a lane, and returns the member.
template <class Access>
Field bound(FieldScope scope, const Words& words, Access at) {
    Field field;
    field.key = words.key;
    field.label = words.label;
    field.unit = words.unit;
    field.help = words.help;
    field.scope = scope;
    field.applies = [](const RunConfig&, int) { return true; };
    field.get = [at](const RunConfig& config, int lane) { return toValue(at(config, lane)); };
    field.set = [at](RunConfig& config, int lane, const FieldValue& value) {
        fromValue(at(config, lane), value);
    };
    using Member = std::remove_cvref_t<decltype(at(std::declval<RunConfig&>(), 0))>;
    if constexpr (std::is_integral_v<Member>) field.kind = FieldKind::Integer;
    if constexpr (std::is_same_v<Member, bool>) field.kind = FieldKind::Bool;
    if constexpr (std::is_enum_v<Member>) field.kind = FieldKind::Choice;
    if constexpr (std::is_same_v<Member, std::string> ||
                  std::is_same_v<Member, std::vector<int64_t>>)
        field.kind = FieldKind::Text;
    return field;
}

/// Makes a field of the run; `at` takes the RunConfig.
template <class Access>
Field ofRun(const Words& words, Access at) {
    return bound(
        FieldScope::Run, words, [at](auto& config, int) -> auto& { return at(config); });
}

/// Makes a field of a lane; `at` takes the LaneConfig. A negative lane reads the first lane.
template <class Access>
Field ofLane(const Words& words, Access at) {
    return bound(
        FieldScope::Lane, words, [at](auto& config, int lane) -> auto& {
            return at(config.lanes.at(static_cast<size_t>(std::max(lane, 0))));
        });
}

inline Field in(Field field, const Range& range) {
    field.minimum = range.minimum;
    field.maximum = range.maximum;
    field.exclusiveMinimum = range.bound == Bound::AboveMinimum || range.bound == Bound::Open;
    field.exclusiveMaximum = range.bound == Bound::BelowMaximum || range.bound == Bound::Open;
    field.logarithmic = range.logarithmic;
    return field;
}

inline Field oneOf(Field field, std::vector<std::string> choices) {
    field.choices = std::move(choices);
    return field;
}

/// Tells what each choice is. `rows` has one row per choice, with `name` and `about`.
template <class Rows>
Field explaining(const Rows& rows, Field field) {
    for (const auto& row : rows)
        field.meanings.push_back({phrase("Settings", "%1: %2"), row.name, row.about});
    return field;
}

/// Likewise, and adds it to the end of the help: "mse: mean of squared errors; l1: ...".
template <class Rows>
Field describing(const Rows& rows, Field field) {
    field = explaining(rows, std::move(field));
    field.help = {phrase("Settings", "%1 %2."), field.help,
                  listed(field.meanings, phrase("Settings", "%1; %2"))};
    return field;
}

/// Tells which choices the other settings do not allow.
inline Field refusing(Message (*obstacle)(const RunConfig&, std::string_view), Field field) {
    field.obstacle = obstacle;
    return field;
}

/// Tells what titles say of a check box that is on or off.
inline Field saying(const Phrase& whenOn, const Phrase& whenOff, Field field) {
    field.whenOn = whenOn;
    field.whenOff = whenOff;
    return field;
}

inline Field live(FieldApply apply, Field field) {
    field.effect = FieldEffect::Live;
    field.apply = apply;
    return field;
}

/// Makes the field apply only if `test`, which takes the RunConfig, holds.
template <class Test>
Field when(Test test, Field field) {
    field.applies = [test](const RunConfig& config, int) { return test(config); };
    return field;
}

/// Makes the field apply only to the data sets whose rows name it.
Field ofDataSets(Field);

/// Makes the field apply only if `test`, which takes a LaneConfig, holds; for a negative lane, if
/// it holds for any lane.
template <class Test>
Field whenLane(Test test, Field field) {
    field.applies = [test](const RunConfig& config, int lane) {
        if (lane < 0) return std::any_of(config.lanes.begin(), config.lanes.end(), test);
        return test(config.lanes.at(static_cast<size_t>(lane)));
    };
    return field;
}

} // namespace halfscope::field_parts
