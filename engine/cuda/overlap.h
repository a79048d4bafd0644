// Launches of a step that overlap: the blocks of a kernel start while the kernel before it is still
// running, and wait on the device for its end (CUDA's programmatic dependent launch). This saves
// the time between dependent launches, of which small steps consist; it changes no number.
#pragma once

#include <cstdint>

namespace halfscope::cuda {

/// Whether a launch may begin before the one ahead of it in the stream has ended. From compute
/// capability 9.0 on, every generated kernel begins with
///     griddepcontrol.launch_dependents   the next launch may start once all blocks have reached
///                                        this point or have ended
///     griddepcontrol.wait                until the launch before has ended and its memory is seen
/// in all threads, before it touches global memory (hs::awaitEarlierLaunch; PTX ISA, "Parallel
/// Synchronization and Communication Instructions"). Launched plainly, both do nothing. Launched
/// with CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, which a capture turns into a
/// programmatic edge, all memory accesses keep the order of plain launches:
///
/// - Each kernel waits for the one before it, and ends only when all its threads have waited. By
/// induction all earlier launches of the step have ended and are seen when a wait returns, however
/// many launches have blocks in place. So values, partial sums in scratch, and tickets, which a
/// kernel leaves at zero, may be reused by any later launch.
/// - Before the wait there is only arithmetic of indices and the addresses of shared memory, of
/// which a block has its own. No load is moved up across it: the instructions are volatile and
/// clobber memory, and no pointer of a kernel is const __restrict__, which would let the compiler
/// use ld.global.nc, whose bytes must not change from a kernel's launch on. The tests' interpreter
/// of PTX refuses both.
/// - Only a generated kernel right behind a generated kernel overlaps. A library's kernel may allow
/// an early start without ever waiting itself, so what follows one is launched plainly, after its
/// end. We launch a library's kernel plainly, too: it starts after ours has ended, and with it
/// everything before. Copies, fills and events are not among a step's launches; before and after a
/// graph the stream orders them, which waits for all nodes.
/// - The first kernel of a graph has no edge leading to it. Its launch waits for the end of the
/// graph before: steps do not overlap, and neither do the events around a graph that time it.
/// - Waiting blocks hold registers and shared memory, but none that a running kernel needs: they
/// start only when all its blocks are in place or have ended. So the oldest kernel that has not
/// ended can always proceed, and nothing waits for a younger one: there is no deadlock.
///
/// Stepwise runs, and timings of single launches, are plain.
enum class Overlap : uint8_t { No, Yes };

} // namespace halfscope::cuda
