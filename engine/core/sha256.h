// SHA-256 (FIPS 180-4): tells files apart that somebody may have made to look alike.
#pragma once

#include <string>
#include <string_view>

namespace halfscope {

/// 64 hexadecimal digits. Cancellable from the first MiB on, see core/cancel.h.
std::string sha256(std::string_view bytes);

} // namespace halfscope
