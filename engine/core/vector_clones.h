// Hints that tell compilers about loops. HALFSCOPE_VECTOR compiles a function for several vector
// widths and picks one at load time. The results have the same bits on each, because contraction to
// fused multiply-add is off.
#pragma once

// Sanitizers do not work with the choice at load time.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HALFSCOPE_VECTOR                                                                           \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define HALFSCOPE_VECTOR
#endif

// HALFSCOPE_INDEPENDENT tells the compiler that no iteration of the next loop reads what another
// one writes, so that it needs no overlap check. HALFSCOPE_UNROLL has it run four iterations of the
// next loop for each test of the end.
#ifdef __clang__
#define HALFSCOPE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define HALFSCOPE_UNROLL _Pragma("clang loop unroll_count(4)")
#else
#define HALFSCOPE_INDEPENDENT _Pragma("GCC ivdep")
#define HALFSCOPE_UNROLL _Pragma("GCC unroll 4")
#endif
