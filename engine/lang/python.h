// Writes values and code as Python does, for programs that this program writes and for messages.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace halfscope::lang {

struct Value;

/// Returns a string in quotation marks, with everything escaped that would end it. Bytes that are
/// not UTF-8 become what Python makes of them in paths.
std::string pythonText(std::string_view);
/// Returns a number as repr() writes a float: in the fewest digits, with an exponent below 1e-4 and
/// from 1e16 on.
std::string pythonReal(double);
/// Returns True or False.
std::string pythonTruth(bool);

/// Returns the value as Python writes it: "nn.Linear(10, 20, bias=False)", cut after `most` bytes.
std::string textOf(const Value&, size_t most = 80);

/// Returns the text with names in braces, such as "{BATCH}", replaced by their values.
std::string filled(std::string_view text,
                   std::initializer_list<std::pair<std::string_view, std::string>> values);

} // namespace halfscope::lang
