// Runs the loop kernels of a program one by one in the emulator, each on the values that the CPU
// executor had before it, and compares what it stores with what the CPU stored.
#pragma once

#include "engine/exec/executor.h"
#include "engine/ops/op_info.h"
#include "engine/passes/fuse.h"
#include "engine/verify/run_graph.h"
#include "tests/emulator/cuda_emulator.h"
#include "tests/support/loop_bounds.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace halfscope::test {

enum class Agreement : uint8_t { Bits, Bounds };

inline constexpr size_t kScratchLead = 512; ///< bytes that belong to others
inline constexpr int kTicketLead = 3;

/// The text of all loop kernels, kernel i with the entry e<i>. `maxBlocks` and `processors` are how
/// they are cut.
inline std::string loopTexts(const Program& program, int maxBlocks, int processors,
                             std::map<size_t, cuda::KernelText>* texts = nullptr) {
    cuda::DeviceTraits traits;
    traits.multiprocessors = processors;
    std::string text = cuda::prelude();
    if (texts != nullptr) texts->clear();
    for (size_t i = 0; i < program.kernels.size(); ++i) {
        if (!program.kernels[i].loop) continue;
        const std::string number = std::to_string(i);
        const cuda::KernelSite site{program, i, "k" + number, maxBlocks, kScratchLead, kTicketLead};
        const cuda::KernelText kernel = cuda::writeLoop(site, traits);
        text += kernel.function + "extern \"C\" __global__ void __launch_bounds__(256, 2) e" +
                number +
                "(char* arena, char* scratch, unsigned* tickets) {\n"
                "    HS_DYNAMIC_SHARED(shared);\n"
                "    k" +
                number + "(arena, scratch, tickets, shared, blockIdx.x);\n}\n";
        if (texts != nullptr) (*texts)[i] = kernel;
    }
    return text;
}

class LoopEmulation {
public:
    /// `executor` has the program loaded and every leaf uploaded: one step is run.
    LoopEmulation(const Program& program, Executor& executor) : m_program(program) {
        const Graph& graph = program.graph;
        const auto keep = [&](NodeId id) {
            m_values[id].resize(graph[id].bytes());
            executor.download(id, m_values[id]);
        };
        for (const StateInfo& state : graph.states())
            keep(state.node);
        for (const InputInfo& input : graph.inputs())
            keep(input.node);
        executor.run(RunMode::Stepwise, [&](NodeId id, std::span<const std::byte> bytes) {
            m_values[id].assign(bytes.begin(), bytes.end());
        });
    }

    /// loopTexts() of the program; what they need is kept for firstFault().
    std::string write(int maxBlocks, int processors = 132) {
        return loopTexts(m_program, maxBlocks, processors, &m_texts);
    }
    const std::map<size_t, cuda::KernelText>& texts() const { return m_texts; }

    /// The first thing that is wrong, or nothing.
    std::string firstFault(const EmulatedModule& module, Agreement agreement, int order) const {
        for (const auto& [index, text] : m_texts) {
            const std::string fault = faultOf(module, index, text, agreement, order);
            if (!fault.empty())
                return "kernel " + std::to_string(index) + ": " + fault + "\n" + text.function;
        }
        return "";
    }

private:
    static constexpr size_t kGuard = 4096;
    static constexpr std::byte kFill{0xC3};

    RefTensor tensorOf(NodeId id) const {
        const Node& node = m_program.graph[id];
        return {node.shape, recorded::fromBytes(node, bytesOf(id))};
    }
    const std::vector<std::byte>& bytesOf(NodeId id) const {
        return m_values.at(storageOf(m_program.graph, id));
    }
    size_t placeOf(NodeId id) const {
        return kGuard + m_program.memory.offset[static_cast<size_t>(id)];
    }

    /// The same bits, but for what a NaN carries.
    static bool sameValue(double a, double b) {
        return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
    }

    std::string faultOf(const EmulatedModule& module, size_t index, const cuda::KernelText& text,
                        Agreement agreement, int order) const {
        const Kernel& kernel = m_program.kernels[index];
        // Only what the kernel may read is there; the rest, and what lies around, must stay.
        std::vector<std::byte> arena(m_program.memory.arenaBytes + 2 * kGuard, kFill);
        for (NodeId load : kernel.loads)
            std::copy(bytesOf(load).begin(), bytesOf(load).end(),
                      arena.begin() + static_cast<ptrdiff_t>(placeOf(load)));
        std::vector<std::byte> expected = arena;
        std::vector<std::byte> scratch(kScratchLead + text.scratchBytes + kGuard, kFill);
        std::vector<unsigned> tickets(static_cast<size_t>(kTicketLead + text.tickets + 1), 0);
        cuda::Launch launch;
        launch.entry = "e" + std::to_string(index);
        launch.blocks = text.blocks;
        launch.sharedBytes = text.sharedBytes;
        module.launch(launch, arena.data() + kGuard, scratch.data(), tickets.data(), order);
        if (std::any_of(tickets.begin(), tickets.end(), [](unsigned t) { return t != 0; }))
            return "tickets are left";
        for (size_t i = 0; i < scratch.size(); ++i)
            if ((i < kScratchLead || i >= kScratchLead + text.scratchBytes) && scratch[i] != kFill)
                return "writes outside its scratch at " + std::to_string(i);
        const std::string values = differenceOf(kernel, arena, agreement);
        if (!values.empty()) return values;
        for (NodeId store : kernel.stores) // taken over: they are compared already
            std::copy_n(arena.begin() + static_cast<ptrdiff_t>(placeOf(store)),
                        m_program.graph[store].bytes(),
                        expected.begin() + static_cast<ptrdiff_t>(placeOf(store)));
        if (arena != expected) return "writes outside its stores";
        return "";
    }

    std::string differenceOf(const Kernel& kernel, const std::vector<std::byte>& arena,
                             Agreement agreement) const {
        std::optional<LoopBounds> bounds;
        if (agreement == Agreement::Bounds) {
            std::map<NodeId, RefTensor> loads;
            for (NodeId load : kernel.loads)
                loads[load] = tensorOf(load);
            bounds.emplace(m_program, kernel, loads);
        }
        for (NodeId store : kernel.stores) {
            const Node& node = m_program.graph[store];
            const auto at = arena.begin() + static_cast<ptrdiff_t>(placeOf(store));
            const std::vector<double> got =
                recorded::fromBytes(node, {at, at + static_cast<ptrdiff_t>(node.bytes())});
            const std::vector<double> wanted = tensorOf(store).values;
            for (size_t i = 0; i < got.size(); ++i) {
                if (sameValue(got[i], wanted[i])) continue;
                const double error = bounds ? bounds->of(store).error[i] : 0;
                // both engines lie within the bound of the same value
                if (error != 0 && std::fabs(got[i] - wanted[i]) <= 2 * error) continue;
                return std::string(nameOf(node.op)) + " %" + std::to_string(store) + "[" +
                       std::to_string(i) + "] is " + std::to_string(got[i]) + ", the CPU has " +
                       std::to_string(wanted[i]) + ", off by " +
                       std::to_string(std::fabs(got[i] - wanted[i])) + ", bound " +
                       std::to_string(2 * error);
            }
        }
        return "";
    }

    const Program& m_program;
    std::map<NodeId, std::vector<std::byte>> m_values;
    std::map<size_t, cuda::KernelText> m_texts;
};

} // namespace halfscope::test
