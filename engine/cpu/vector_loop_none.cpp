// Replaces vector_loop.cpp where the build has no Xbyak: no loop is compiled, so that all are
// interpreted.
#include "engine/cpu/vector_loop.h"

#include "engine/core/error.h"

namespace halfscope {

class VectorCode {};

VectorLoop::VectorLoop() = default;
VectorLoop::~VectorLoop() = default;

bool VectorLoop::available(VectorSet) { return false; }
bool VectorLoop::supports(const VectorStep&) { return false; }

std::unique_ptr<VectorLoop> VectorLoop::compile(VectorSet, std::span<const VectorStep>,
                                                std::span<const size_t>, bool) {
    return nullptr;
}

void VectorLoop::run(const Arena&, float*, int64_t, int64_t, int64_t) const {
    failInvariant("vector loop: none can be compiled");
}

} // namespace halfscope
