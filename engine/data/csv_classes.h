// Numbers the classes that a column of a table names.
#pragma once

#include "engine/core/message.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

inline constexpr size_t kMostClasses = 100'000;

struct CsvClasses {
    std::vector<std::string> names; ///< by class
    bool whole = false;             ///< all names are whole numbers
    Message equal{};                ///< the first two names that are equal as numbers, so one class
};

/// Whether both texts name the same class: "1" and "1.0" do, but no different texts from 2^53 on,
/// where doubles do not tell all whole numbers apart. `commas`: see CsvFile::commas().
bool isSameClass(std::string_view text, std::string_view name, bool commas);

/// Returns "Rome and ROME", the first two of some words that differ only in capitals; empty when no
/// two do.
Message alikeButForCapitals(std::span<const std::string> words);

/// Sorts classes by value when all are numbers, else by name, so that their order does not depend
/// on the order of the lines. Equal numbers are one class, such as 1 and 1.0, see isSameClass(), by
/// the name that was met first. `indices` are the numbers that the classes have in `labels`, which
/// get the new ones.
CsvClasses sortClasses(const std::map<std::string, int32_t>& indices, bool commas,
                       std::span<int32_t> labels);

} // namespace halfscope
