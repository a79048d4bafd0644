// Launches of a step that overlap: a kernel's blocks come while the kernel before it still runs,
// and wait on the device for its end (CUDA's programmatic dependent launch). Saves the time between
// dependent launches, of which small steps consist; changes no number.
#pragma once

#include <cstdint>

namespace halfscope::cuda {

/// Whether a launch may begin before the one ahead of it in the stream has ended. From compute
/// capability 9.0 on every generated kernel begins with
///     griddepcontrol.launch_dependents   the next launch may come once all blocks are at this
///                                        point or over
///     griddepcontrol.wait                until the launch before is over and its memory is seen
/// in all threads, before it touches global memory (hs::awaitEarlierLaunch; PTX ISA, "Parallel
/// Synchronization and Communication Instructions"). Launched plainly, both do nothing. Launched
/// with CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, which a capture turns into a
/// programmatic edge, the order of all memory accesses stays that of plain launches:
///
/// - Each kernel waits for the one before it, and is over only when all its threads have waited: by
///   induction all earlier launches of the step are over and seen when a wait returns, however many
///   launches have blocks in place. So values, partial sums in scratch, and tickets, which a kernel
///   leaves at zero, may be used again by any later launch.
/// - What comes before the wait is arithmetic of indices and the addresses of shared memory, which
///   a block has for itself. No load is moved up over it: the instructions are volatile and clobber
///   memory, and no pointer of a kernel is const __restrict__, which would let the compiler take
///   ld.global.nc, whose bytes must not change from a kernel's launch on. The tests' interpreter of
///   PTX refuses both.
/// - Only a generated kernel right behind a generated kernel overlaps. A library's kernel may give
///   leave to start early and never wait itself, so what follows one is launched plainly: after its
///   end. A library's kernel is launched plainly by us too: after ours, and with it all before.
///   Copies, fills and events are not among a step's launches; before and behind a graph they are
///   ordered by the stream, which waits for all nodes.
/// - The first kernel of a graph has no edge to it. Its launch waits for the end of the graph
///   before: steps do not overlap, and neither do the events around a graph that time it.
/// - Waiting blocks hold registers and shared memory, but none that a running kernel needs: they
///   come only when all its blocks are in place or over. So the oldest kernel that is not over can
///   always go on, and nothing waits for a younger one: no deadlock.
///
/// Stepwise runs, and times of single launches, are plain.
enum class Overlap : uint8_t { No, Yes };

} // namespace halfscope::cuda
