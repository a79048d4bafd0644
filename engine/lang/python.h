// Values and code as Python writes them, for programs that this one hands out.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace halfscope::lang {

/// A string between quotes, with everything escaped that would end it. Bytes that are no UTF-8
/// become what Python makes of them in paths.
std::string pythonText(std::string_view);
/// A number as repr() writes a float: in the fewest digits, with an exponent below 1e-4 and from
/// 1e16 on.
std::string pythonReal(double);
/// True or False.
std::string pythonTruth(bool);

/// A text with the names that stand in it between braces, as "{BATCH}", replaced by their values.
std::string filled(std::string_view text,
                   std::initializer_list<std::pair<std::string_view, std::string>> values);

} // namespace halfscope::lang
