// Compares the classes' names as numbers, or as bytes.
#include "engine/data/csv_classes.h"

#include "engine/core/text.h"
#include "engine/data/csv_fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {

namespace {

/// Doubles tell such numbers apart. Ids beyond them may differ and be one double.
bool isExact(double number) { return std::abs(number) < 0x1p53; }

} // namespace

bool isSameClass(std::string_view text, std::string_view name, bool commas) {
    const double number = numberOf(text, commas);
    return text == name || (isExact(number) && number == numberOf(name, commas));
}

Message alikeButForCapitals(std::span<const std::string> words) {
    std::map<std::string, std::string> seen; // by their lower case
    for (const std::string& word : words) {
        const auto [other, added] = seen.try_emplace(lowerCase(word), word);
        if (!added)
            return {phrase("Data", "%1 and %2"), quotedText(other->second), quotedText(word)};
    }
    return {};
}

CsvClasses sortClasses(const std::map<std::string, int32_t>& indices, bool commas,
                       std::span<int32_t> labels) {
    const auto number = [commas](const std::string& name) { return numberOf(name, commas); };
    CsvClasses classes;
    std::vector<std::string>& names = classes.names;
    for (const auto& [name, index] : indices)
        names.push_back(name); // the map is sorted by name
    const bool numbers = std::none_of(names.begin(), names.end(), [&](const std::string& name) {
        return std::isnan(number(name));
    });
    if (numbers)
        std::stable_sort(
            names.begin(), names.end(),
            [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
    classes.whole = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return number(name) == std::trunc(number(name));
    });
    std::vector<int32_t> sorted(indices.size());
    std::vector<std::string> apart;
    for (const std::string& name : names) {
        const int32_t index = indices.at(name);
        if (!numbers || apart.empty() || !isSameClass(apart.back(), name, commas)) {
            apart.push_back(name);
        } else {
            if (classes.equal.empty())
                classes.equal = {phrase("Data", "%1 and %2"), quotedText(apart.back()),
                                 quotedText(name)};
            if (index < indices.at(apart.back())) apart.back() = name;
        }
        sorted[static_cast<size_t>(index)] = static_cast<int32_t>(apart.size()) - 1;
    }
    names = std::move(apart);
    for (int32_t& label : labels)
        label = sorted[static_cast<size_t>(label)];
    return classes;
}

} // namespace halfscope
