// Numbers as bytes, the lowest byte first.
#pragma once

#include <bit>
#include <string>
#include <type_traits>

namespace halfscope {

template <class Value>
void appendBytes(std::string& to, Value value) {
    static_assert(std::endian::native == std::endian::little && std::is_arithmetic_v<Value>);
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

} // namespace halfscope
