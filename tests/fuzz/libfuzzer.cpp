// The program that libFuzzer drives: HALFSCOPE_FUZZ names the target.
#include "tests/fuzz/targets.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

const halfscope::fuzz::Target& chosen() {
    const char* name = std::getenv("HALFSCOPE_FUZZ");
    for (const halfscope::fuzz::Target& target : halfscope::fuzz::targets())
        if (name != nullptr && target.name == name) return target;
    std::fputs("HALFSCOPE_FUZZ must be one of", stderr);
    for (const halfscope::fuzz::Target& target : halfscope::fuzz::targets())
        std::fprintf(stderr, " %s", target.name.data());
    std::fputs("\n", stderr);
    std::exit(2);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    static const halfscope::fuzz::Target& target = chosen();
    halfscope::fuzz::check(target, {reinterpret_cast<const char*>(bytes), size});
    return 0;
}
