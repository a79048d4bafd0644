// From a Program to launches: which kernels run side by side in one launch, which run one after the
// other in one block, and which need a launch of their own. The text is written by step_source.cpp.
#pragma once

#include "engine/cuda/codegen/step_source.h"

#include <string>
#include <vector>

namespace halfscope::cuda {

/// What is scheduled: a kernel of the program (a fused chain may have two phases, the second after
/// all blocks of the first), or copies of next values into their states.
struct Unit {
    static constexpr size_t kNoKernel = ~size_t{0};
    size_t kernel = kNoKernel;
    int phase = 0;
    std::vector<size_t> commits; ///< indices of Graph::states(), when kernel is kNoKernel
    LaunchKind kind = LaunchKind::Generated;
    double work = 0;    ///< element operations
    double bytes = 0;   ///< read and written
    bool wide = false;  ///< worth many blocks; otherwise one block does it
    bool alone = false; ///< large, or a library's: shares a launch only with a light tail
    bool light = false; ///< uses few registers: costs a large kernel of the same launch nothing
};

/// Units of one block (or one wide unit of many): phases run one after the other with a barrier
/// between them, and the units of a phase in any order.
struct Strand {
    std::vector<std::vector<size_t>> phases; ///< indices in LaunchPlan::units
};

struct PlannedLaunch {
    LaunchKind kind = LaunchKind::Generated;
    std::vector<Strand> heads; ///< side by side
    Strand tail;               ///< run by the block that ends last, after all heads
    double microseconds = 0;   ///< as CostModel estimates
};

struct LaunchPlan {
    std::vector<Unit> units;
    std::vector<PlannedLaunch> launches;
};

/// The costs that the plan weighs, in microseconds, for a launch inside a CUDA graph on a large
/// GPU. Only their order of magnitude matters: they decide between a chain in one block and a
/// launch.
struct CostModel {
    double launch = 1.1;      ///< one more dependent launch
    double ticket = 0.6;      ///< finding out which block ends last, before a tail
    double unit = 0.25;       ///< one small unit of a chain: loads to wait for, and a barrier
    double wideUnit = 0.6;    ///< start and end of a kernel of many blocks
    double blockWork = 40e3;  ///< element operations per microsecond of one block
    double workBytes = 3;     ///< that one block moves in the time of an element operation
    double blocksWorth = 4;   ///< a full multiprocessor against one block, which waits for loads
    double library = 10;      ///< a library's products compared with one thread per element
    double bytes = 4.3e6;     ///< of memory per microsecond, for fused chains
    double tensorFlops = 4e8; ///< per microsecond
    double aloneFrom = 8;     ///< a unit that takes this long gets a launch of its own
    int multiprocessors = 132;

    double narrow(const Unit&) const; ///< in one block
    double wide(const Unit&) const;   ///< in many
    double of(const Unit&) const;
    double workIn(double microseconds) const; ///< of a wide unit
};

/// Returns the program that is launched: chains are fused if the options say so, and memory is
/// planned so that small values keep their own bytes. It has the same graph with the same node
/// numbers.
Program prepare(const Program&, const DeviceTraits&, const SourceOptions&);

/// Plans the launches of a program that prepare() made (any other works, too, with fewer merges).
LaunchPlan planLaunches(const Program&, const DeviceTraits&, const SourceOptions&);

/// Returns one line per launch: time, kernels, and what they are.
std::string describe(const Program&, const LaunchPlan&);

} // namespace halfscope::cuda
