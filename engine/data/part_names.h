// The parts of a data set, by the usual names of their files and folders.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halfscope {

enum class DataPart : uint8_t { None, Train, Validation, Test };

/// Returns the part of which a name tells, in upper or lower case: "train-000.tar", "seg_train" and
/// "Test1" do, "trains" does not. Where there are several, the first counts.
DataPart partNamed(std::string_view name);
/// Does the same in Python: a regular expression whose first group is the word that tells.
inline constexpr std::string_view kPythonPart =
    R"((?:^|[-_. ])(training|train|validation|valid|val|testing|test)(?![a-z]))";

} // namespace halfscope
