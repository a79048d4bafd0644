// SHA-256 (FIPS 180-4), which tells files apart even if somebody made them to look alike.
#pragma once

#include <string>
#include <string_view>

namespace halfscope {

/// Returns 64 hexadecimal digits. Cancellable beyond the first MiB, see core/cancel.h.
std::string sha256(std::string_view bytes);

} // namespace halfscope
