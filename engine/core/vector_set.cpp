// Asks the processor and the environment which vector sets may be used.
#include "engine/core/vector_set.h"

#include "engine/core/error.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace halfscope {

namespace {

/// Returns null when the environment sets no limit.
const char* wantedSet() {
    const char* wanted = std::getenv(kVectorVariable);
    return wanted != nullptr && *wanted != '\0' ? wanted : nullptr;
}

std::optional<VectorSet> setNamed(std::string_view name) {
    for (const VectorSet set : kVectorSets)
        if (name == nameOf(set)) return set;
    return std::nullopt;
}

#if defined(__x86_64__)
// Features whose names older compilers do not know.
bool hasF16C() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned kF16CBit = 1U << 29; // leaf 1, ecx
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & kF16CBit) != 0;
}
bool hasBf16Pairs() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned kBf16Bit = 1U << 5; // leaf 7, part 1, eax
    return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & kBf16Bit) != 0;
}
/// Tiles need the processor, and the system's permission: they make each thread's state larger.
bool hasTiles() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned kBf16Bit = 1U << 22, kTileBit = 1U << 24; // leaf 7, edx
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & kBf16Bit) == 0 ||
        (edx & kTileBit) == 0)
        return false;
#if defined(__linux__)
    // See Documentation/arch/x86/xstate.rst of the kernel. The permission holds for all threads
    // from now on.
    constexpr int kRequestPermission = 0x1023, kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
    return false;
#endif
}
#endif

std::atomic<bool> tilesAssumed = false;

VectorSet widestWithoutTiles() {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !hasF16C())
        return VectorSet::Portable;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return VectorSet::Avx2;
    return hasBf16Pairs() ? VectorSet::Avx512Bf16 : VectorSet::Avx512;
#else
    return VectorSet::Portable;
#endif
}

} // namespace

const char* nameOf(VectorSet set) {
    switch (set) {
    case VectorSet::Amx: return "amx";
    case VectorSet::Avx512Bf16: return "avx512bf16";
    case VectorSet::Avx512: return "avx512";
    case VectorSet::Avx2: return "avx2";
    default: return "portable";
    }
}

bool hasVectorSet(VectorSet set) {
    // Kept, because in a virtual machine each question makes the processor leave the guest.
    static const VectorSet widest = widestWithoutTiles();
    if (set <= VectorSet::Avx512Bf16) return set <= widest;
    static const bool tiles = tilesAssumed || (widest == VectorSet::Avx512Bf16 && hasTiles());
    return tiles;
}

void assumeTiles() { tilesAssumed = true; }

bool subnormalsAreSlow() {
#if defined(__x86_64__)
    return __builtin_cpu_is("intel") != 0;
#else
    return false;
#endif
}

bool pairsAreSlow() {
#if defined(__x86_64__)
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned kFp16Bit = 1U << 23; // leaf 7, edx
    return __builtin_cpu_is("intel") && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
           (edx & kFp16Bit) != 0;
#else
    return false;
#endif
}

VectorSet chooseVectorSet(VectorSet widest, bool slowPairs, std::optional<VectorSet> wanted) {
    if (wanted) return std::min(widest, *wanted);
    return widest == VectorSet::Avx512Bf16 && slowPairs ? VectorSet::Avx512 : widest;
}

VectorSet usedVectorSet() {
    static const VectorSet used = [] {
        VectorSet widest = VectorSet::Portable;
        for (const VectorSet set : kVectorSets)
            if (hasVectorSet(set)) widest = set;
        const char* wanted = wantedSet();
        return chooseVectorSet(widest, pairsAreSlow(), setNamed(wanted != nullptr ? wanted : ""));
    }();
    return used;
}

void checkVectorVariable() {
    const char* wanted = wantedSet();
    if (wanted != nullptr && !setNamed(wanted))
        throw EngineError(
            phrase("Devices",
                   "%1: \"%2\" is not one of portable, avx2, avx512, avx512bf16 and amx"),
            kVectorVariable, wanted);
}

} // namespace halfscope
