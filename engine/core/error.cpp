// The one way to report a broken rule inside the engine. Expected failures are thrown where they
// are found, as the types of error.h.
#include "engine/core/error.h"

namespace halfscope {

void failInvariant(const std::string& what) { throw std::logic_error("broken invariant: " + what); }

} // namespace halfscope
