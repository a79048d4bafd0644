// Compares the classes' names as numbers, or as bytes.
#include "engine/data/csv_classes.h"

#include "engine/data/csv_fields.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

bool isSameClass(std::string_view text, std::string_view name, bool commas) {
    return text == name || numberOf(text, commas) == numberOf(name, commas);
}

CsvClasses sortClasses(const std::map<std::string, int32_t>& indices, bool commas,
                       std::span<int32_t> labels) {
    const auto number = [commas](const std::string& name) { return numberOf(name, commas); };
    CsvClasses classes;
    std::vector<std::string>& names = classes.names;
    for (const auto& [name, index] : indices)
        names.push_back(name); // the map is sorted by name
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return std::isnan(number(name)); }))
        std::stable_sort(
            names.begin(), names.end(),
            [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
    classes.whole = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return number(name) == std::trunc(number(name));
    });
    std::vector<int32_t> sorted(indices.size());
    for (size_t i = 0; i < names.size(); ++i)
        sorted[static_cast<size_t>(indices.at(names[i]))] = static_cast<int32_t>(i);
    for (int32_t& label : labels)
        label = sorted[static_cast<size_t>(label)];
    return classes;
}

} // namespace halfscope
