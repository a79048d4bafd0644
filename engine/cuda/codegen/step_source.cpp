// Writes the text of a step: a device function for each kernel of the plan, an entry for each
// launch, and where each finds its scratch memory and tickets.
#include "engine/cuda/codegen/step_source.h"

#include "engine/core/error.h"
#include "engine/cuda/codegen/chain.h"
#include "engine/cuda/codegen/hazards.h"
#include "engine/cuda/codegen/launch_plan.h"
#include "engine/cuda/codegen/product_loops.h"
#include "engine/cuda/codegen/text_parts.h"

#include <algorithm>
#include <limits>
#include <map>

namespace halfscope::cuda {

namespace {

constexpr size_t kScratchAlignment = 256;
constexpr size_t kSharedAlignment = 16;
/// What an entry costs the compiler besides its length, in bytes of plain text.
constexpr size_t kEntryCompiling = 9 << 10;
constexpr int kBlocksUsually = 2; ///< on one multiprocessor: they may spend 128 registers a thread
constexpr int kBlocksEach = 8; ///< of kThreads on one multiprocessor: all that it can hold at once

size_t alignedTo(size_t bytes, size_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

/// A unit whose function is written.
struct Written {
    std::string name;
    int blocks = 1;
    size_t sharedBytes = 0;
    bool warpgroups = false;
    int blocksEach = kBlocksUsually;
    size_t compiling = 0; ///< what it costs the compiler, in bytes of plain text
};

class StepWriter {
public:
    StepWriter(StepSource& source, const LaunchPlan& plan, const DeviceTraits& traits,
               const SourceOptions& options)
        : m_source(source), m_parts(options.partBytes), m_program(source.program), m_plan(plan),
          m_traits(traits) {
        findLastPhases();
    }

    void run() {
        m_source.text = prelude();
        m_source.pointOfNoReturn = m_plan.launches.size();
        for (m_launch = 0; m_launch < m_plan.launches.size(); ++m_launch)
            addLaunch(m_plan.launches[m_launch]);
        m_source.parts = m_parts.parts(prelude());
        m_source.scratchBytes = m_scratchEnd;
    }

private:
    // ---- scratch: held from a kernel's first phase to its last ----------------------------------

    void findLastPhases() {
        for (size_t i = 0; i < m_plan.launches.size(); ++i)
            forEachUnit(m_plan.launches[i], [&](size_t unit) {
                if (const size_t kernel = m_plan.units[unit].kernel; kernel != Unit::kNoKernel)
                    m_lastLaunch[kernel] = i;
            });
    }
    template <class Visit>
    static void forEachUnit(const PlannedLaunch& launch, Visit visit) {
        const auto walk = [&](const Strand& strand) {
            for (const auto& phase : strand.phases)
                for (size_t unit : phase)
                    visit(unit);
        };
        for (const Strand& head : launch.heads)
            walk(head);
        walk(launch.tail);
    }
    /// Returns the first byte above all that is held: what a launch writes must not destroy another
    /// kernel's partial sums.
    size_t firstFreeScratch() const {
        size_t end = 0;
        for (const auto& [last, held] : m_held)
            if (last >= m_launch) end = std::max(end, held);
        return end;
    }
    void hold(size_t end, size_t lastLaunch) {
        end = alignedTo(end, kScratchAlignment);
        m_held.emplace_back(lastLaunch, end);
        m_scratchEnd = std::max(m_scratchEnd, end);
    }

    // ---- functions ------------------------------------------------------------------------------

    Written write(size_t index) {
        const Unit& unit = m_plan.units[index];
        if (unit.kernel == Unit::kNoKernel) return writeCommit(index);
        const Kernel& kernel = m_program.kernels[unit.kernel];
        const std::string name = "k" + std::to_string(unit.kernel);
        if (unit.phase > 0) {
            m_called.insert(m_functionOf.at(unit.kernel));
            const Written& later = m_laterPhase.at(unit.kernel);
            m_compiling += later.compiling;
            return later;
        }
        KernelSite site{m_program,
                        unit.kernel,
                        name,
                        unit.wide ? kBlocksEach * m_traits.multiprocessors : 1,
                        firstFreeScratch(),
                        m_source.tickets};
        std::vector<KernelText> texts;
        if (isChain(kernel))
            texts = writeChain(site, m_traits);
        else
            texts.push_back(kernel.loop && !isProductLoop(m_program.graph, kernel)
                                ? writeLoop(site, m_traits)
                                : writeNode(site, m_traits));
        std::string functions;
        for (const KernelText& text : texts) {
            functions += text.function + "\n";
            m_source.tickets += text.tickets;
        }
        m_functionOf[unit.kernel] =
            addFunction(functions, functions.size() + texts.front().compiling);
        if (texts.front().scratchBytes > 0)
            hold(site.scratchOffset + texts.front().scratchBytes, m_lastLaunch.at(unit.kernel));
        const auto written = [](const std::string& functionName, const KernelText& text) {
            return Written{functionName,    text.blocks,     text.sharedBytes,
                           text.warpgroups, text.blocksEach, text.function.size()};
        };
        if (texts.size() > 1) m_laterPhase[unit.kernel] = written(name + "_merge", texts[1]);
        return written(name, texts.front());
    }

    /// Adds what the launch that is being written calls.
    size_t addFunction(const std::string& text, size_t compiling) {
        m_source.text += text;
        const size_t function = m_parts.addFunction(text);
        m_called.insert(function);
        m_compiling += compiling;
        return function;
    }

    /// Writes a copy of states. One block copies many small states at once, one warp for each; many
    /// blocks copy one state after another.
    Written writeCommit(size_t index) {
        const Unit& unit = m_plan.units[index];
        const std::string name = "commit" + std::to_string(index);
        const int blocks = unit.wide ? m_traits.multiprocessors : 1;
        std::string body;
        for (size_t i = 0; i < unit.commits.size(); ++i) {
            const StateInfo& state = m_program.graph.states()[unit.commits[i]];
            const ByteRange to = rangeOf(m_program, state.node),
                            from = rangeOf(m_program, state.next);
            const std::string call = "hs::copyBytes(arena + " + std::to_string(to.begin) +
                                     ", arena + " + std::to_string(from.begin) + ", " +
                                     std::to_string(to.end - to.begin) + ", ";
            body += unit.wide
                        ? "    " + call + "block * hs::kThreads + thread, " +
                              std::to_string(blocks) + " * hs::kThreads);\n"
                        : "    if (thread / hs::kWarp == " + std::to_string(i % (kThreads / 32)) +
                              ") " + call + "thread % hs::kWarp, hs::kWarp);\n";
        }
        const std::string text =
            "__device__ void " + name + "(char* arena, char*, unsigned*, char*, int" +
            (unit.wide ? " block" : "") +
            ") {\n    const int thread = static_cast<int>(threadIdx.x);\n" + body + "}\n\n";
        addFunction(text, text.size());
        return {name, blocks, 0};
    }

    // ---- launches -------------------------------------------------------------------------------

    void addLaunch(const PlannedLaunch& planned) {
        Launch launch;
        launch.kind = planned.kind;
        forEachUnit(planned, [&](size_t unit) { note(launch, m_plan.units[unit]); });
        std::sort(launch.kernels.begin(), launch.kernels.end());
        if (planned.kind == LaunchKind::Generated) {
            writeEntry(launch, planned);
        } else {
            launch.node = m_program.kernels[launch.kernels.front()].members.front();
            launch.blocks = 0;
        }
        m_source.launches.push_back(std::move(launch));
    }

    void note(Launch& launch, const Unit& unit) {
        bool changesState = unit.kernel == Unit::kNoKernel;
        if (!changesState) {
            if (launch.kernels.empty() || launch.kernels.back() != unit.kernel)
                launch.kernels.push_back(unit.kernel);
            changesState = writesState(m_program.kernels[unit.kernel]);
        }
        if (changesState) m_source.pointOfNoReturn = std::min(m_source.pointOfNoReturn, m_launch);
    }
    bool writesState(const Kernel& kernel) const {
        const Access access = accessOf(m_program, kernel);
        const auto& states = m_program.graph.states();
        return std::any_of(states.begin(), states.end(), [&](const StateInfo& state) {
            const Access place{{}, {rangeOf(m_program, state.node)}};
            return conflict({{}, access.writes}, place);
        });
    }

    /// Returns the calls of a strand's units, with a barrier where one phase follows another or
    /// where the shared areas of a phase would not fit side by side.
    std::string chainText(const Strand& strand, size_t& sharedBytes, const char* indent) {
        std::string text;
        const std::string barrier = std::string(indent) + "__syncthreads();\n";
        for (const auto& phase : strand.phases) {
            size_t offset = 0;
            if (!text.empty()) text += barrier;
            for (size_t unit : phase) {
                const Written written = write(unit);
                require(written.blocks == 1 && !written.warpgroups,
                        "cuda: a unit of a chain wants many blocks, or all shared memory");
                const size_t bytes = alignedTo(written.sharedBytes, kSharedAlignment);
                if (offset > 0 && offset + bytes > m_traits.sharedBytes) {
                    text += barrier;
                    offset = 0;
                }
                text += indent + written.name + "(arena, scratch, tickets, shared + " +
                        std::to_string(offset) + ", 0);\n";
                offset += bytes;
                sharedBytes = std::max(sharedBytes, offset);
            }
        }
        return text;
    }

    std::string headText(const Strand& head, Launch& launch) {
        const size_t first = head.phases.front().front();
        const int begin = launch.blocks;
        std::string call;
        if (m_plan.units[first].wide) {
            const Written written = write(first);
            m_hasWarpgroups = m_hasWarpgroups || written.warpgroups;
            m_blocksEach =
                m_blocksEach == 0 ? written.blocksEach : std::min(m_blocksEach, written.blocksEach);
            launch.blocks += written.blocks;
            launch.sharedBytes = std::max(launch.sharedBytes, written.sharedBytes);
            call = "        " + written.name + "(arena, scratch, tickets, shared, block - " +
                   std::to_string(begin) + ");\n";
        } else {
            ++launch.blocks;
            call = chainText(head, launch.sharedBytes, "        ");
        }
        return (begin > 0 ? " else if" : "    if") + std::string(" (block < ") +
               std::to_string(launch.blocks) + ") {\n" + call + "    }";
    }

    void writeEntry(Launch& launch, const PlannedLaunch& planned) {
        launch.entry = "launch" + std::to_string(m_launch);
        launch.blocks = 0;
        m_hasWarpgroups = false;
        m_called.clear();
        m_compiling = kEntryCompiling;
        m_blocksEach = 0;
        std::string body;
        for (const Strand& head : planned.heads)
            body += headText(head, launch);
        body += "\n";
        if (!planned.tail.phases.empty()) {
            body += "    if (!hs::isLastBlock(tickets + " + std::to_string(m_source.tickets++) +
                    ", " + std::to_string(launch.blocks) + ", shared)) return;\n";
            launch.sharedBytes = std::max(launch.sharedBytes, kSharedAlignment);
            body += chainText(planned.tail, launch.sharedBytes, "    ");
        }
        if (m_blocksEach == 0) m_blocksEach = kBlocksUsually;
        // a single block may use all registers
        if (2 * (launch.sharedBytes + kReservedShared) > m_traits.sharedBytes + kReservedShared)
            m_blocksEach = 1;
        // The second number says that registers may be spent: without it, ptxas moves the loads of
        // a loop's batch to their uses and waits for them one by one (seen in SASS of sm_80 and
        // sm_90).
        const std::string text = "extern \"C\" __global__ void __launch_bounds__(" +
                                 std::to_string(kThreads) + ", " + std::to_string(m_blocksEach) +
                                 ") " + launch.entry +
                                 "(char* arena, char* scratch, unsigned* tickets) {\n"
                                 "    " +
                                 (m_hasWarpgroups ? "HS_GROUP_SHARED" : "HS_DYNAMIC_SHARED") +
                                 "(shared);\n"
                                 "    const int block = static_cast<int>(blockIdx.x);\n" +
                                 body + "}\n\n";
        m_source.text += text;
        launch.part = m_parts.addEntry(text, m_called, m_compiling + text.size());
    }

    StepSource& m_source;
    TextParts m_parts;
    const Program& m_program;
    const LaunchPlan& m_plan;
    const DeviceTraits& m_traits;
    size_t m_launch = 0, m_scratchEnd = 0;
    bool m_hasWarpgroups = false; ///< whether they multiply in the launch that is being written
    int m_blocksEach = 0; ///< of that launch, on one multiprocessor; 0: its small units do not care
    std::vector<std::pair<size_t, size_t>> m_held; ///< last launch, and end of its scratch
    std::map<size_t, size_t> m_lastLaunch;         ///< by kernel
    std::map<size_t, Written> m_laterPhase;        ///< by kernel
    std::map<size_t, size_t> m_functionOf;         ///< in m_parts, by kernel
    size_t m_compiling = 0;    ///< what that launch costs the compiler, in bytes of plain text
    std::set<size_t> m_called; ///< in m_parts, by that launch
};

} // namespace

StepSource writeStep(const Program& program, const DeviceTraits& device,
                     const SourceOptions& options) {
    DeviceTraits traits = device;
    traits.chainWay = options.chainWay;
    StepSource source;
    source.program = prepare(program, traits, options);
    const LaunchPlan plan = planLaunches(source.program, traits, options);
    source.plan = describe(source.program, plan);
    StepWriter(source, plan, traits, options).run();
    return source;
}

} // namespace halfscope::cuda
