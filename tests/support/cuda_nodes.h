// Kernels of single nodes in the emulator, each fed with the values that the CPU engine has there.
// Every output is compared with the CPU's or, when sums or functions may differ, with the double
// reference, and every byte beside it must be unchanged.
#pragma once

#include "engine/exec/executor.h"
#include "engine/ops/op_info.h"
#include "engine/passes/fuse.h"
#include "tests/emulator/cuda_emulator.h"
#include "tests/support/node_truth.h"

#include <cstring>
#include <regex>
#include <set>

namespace halfscope::test {

/// The bytes between the areas of an arena, which no kernel may touch.
inline constexpr size_t kGapBytes = 256;

class NodeCheck : public NodeTruth {
public:
    using NodeTruth::NodeTruth;

    /// Returns all kernels as a text to compile, each for `maxBlocks` blocks.
    std::string text(int maxBlocks) {
        std::string text = cuda::prelude();
        for (size_t kernel = 0; kernel < m_program.kernels.size(); ++kernel) {
            const Layout layout = place(kernel);
            write(kernel, maxBlocks, layout, text);
        }
        return text;
    }

    /// Runs the kernels with each of these numbers of blocks, in three orders of their blocks.
    /// Returns what is wrong, or nothing. Leaves out kernels whose text is in `seen`.
    std::string run(std::span<const int> maxBlocks, std::set<std::string>* seen = nullptr) {
        std::string text = cuda::prelude();
        std::vector<Case> cases;
        for (size_t kernel = 0; kernel < m_program.kernels.size(); ++kernel) {
            const Layout layout = place(kernel);
            if (seen != nullptr && !seen->insert(signature(kernel)).second) continue;
            int last = 0;
            for (const int blocks : maxBlocks) {
                const int taken = textOf(kernel, "name", blocks).blocks;
                if (taken == last) continue; // the kernel uses no more
                cases.push_back(write(kernel, blocks, layout, text));
                last = taken;
            }
        }
        if (cases.empty()) return {};
        const EmulatedModule module(text);
        for (const Case& c : cases) {
            const std::string wrong = runCase(module, c);
            if (!wrong.empty()) return wrong;
        }
        return {};
    }

    /// Returns the last kernel's result with an input that the CPU would refuse.
    std::vector<double> resultWith(const std::string& input, const std::vector<double>& values) {
        const Graph& graph = m_program.graph;
        const NodeId id = graph.input(input);
        m_values[id] = toBytes(graph[id], values);
        const size_t kernel = m_program.kernels.size() - 1;
        std::string text = cuda::prelude();
        const Layout layout = place(kernel);
        const Case c = write(kernel, 8, layout, text);
        std::string wrong;
        const auto bytes = launch(EmulatedModule(text), c, 0, wrong);
        if (!wrong.empty()) throw std::runtime_error(wrong);
        return fromBytes(graph[layout.out], bytes);
    }

private:
    struct Layout {
        size_t bytes = 0;
        std::vector<NodeId> inputs;
        NodeId out = kNoNode;
    };
    struct Case {
        size_t kernel = 0;
        Layout layout;
        std::vector<size_t> offsets; ///< of the inputs, then of the output
        cuda::KernelText text;
        cuda::Launch launch;
    };
    static constexpr size_t kScratchOffset = 512;
    static constexpr int kFirstTicket = 3;

    /// Gives each of the kernel's values a place of its own, with gaps between them.
    Layout place(size_t kernel) {
        Layout layout;
        layout.bytes = kGapBytes;
        std::vector<size_t>& offset = m_program.memory.offset;
        std::fill(offset.begin(), offset.end(), MemoryPlan::kNowhere);
        const auto add = [&](NodeId id) {
            offset[static_cast<size_t>(id)] = layout.bytes;
            layout.bytes += (m_program.graph[id].bytes() + 63) / 64 * 64 + kGapBytes;
        };
        layout.out = m_program.kernels[kernel].members.front();
        for (const NodeId id : m_program.graph[layout.out].in) {
            if (std::count(layout.inputs.begin(), layout.inputs.end(), id)) continue;
            layout.inputs.push_back(id);
            add(id);
        }
        add(layout.out);
        return layout;
    }

    cuda::KernelText textOf(size_t kernel, const std::string& name, int maxBlocks) const {
        const cuda::KernelSite site{m_program, kernel,         name,
                                    maxBlocks, kScratchOffset, kFirstTicket};
        return cuda::writeNode(site, cuda::DeviceTraits{});
    }
    /// Returns the kernel's text without the node's number: kernels that differ by nothing else are
    /// one.
    std::string signature(size_t kernel) const {
        return std::regex_replace(textOf(kernel, "name", 64).function, std::regex("// %\\d+"), "");
    }

    Case write(size_t kernel, int maxBlocks, const Layout& layout, std::string& text) const {
        Case c{kernel, layout, {}, {}, {}};
        const std::string name = "k" + std::to_string(kernel) + "_" + std::to_string(maxBlocks);
        c.text = textOf(kernel, name, maxBlocks);
        for (const NodeId id : layout.inputs)
            c.offsets.push_back(m_program.memory.offset[static_cast<size_t>(id)]);
        c.offsets.push_back(m_program.memory.offset[static_cast<size_t>(layout.out)]);
        c.launch.entry = "run_" + name;
        c.launch.blocks = c.text.blocks;
        c.launch.sharedBytes = c.text.sharedBytes;
        text += c.text.function + "extern \"C\" __global__ void run_" + name +
                "(char* arena, char* scratch, unsigned* tickets) {\n"
                "    HS_DYNAMIC_SHARED(shared);\n    " +
                name + "(arena, scratch, tickets, shared, blockIdx.x);\n}\n";
        // a kernel that runs alone has nothing to share with other blocks
        if (maxBlocks == 1 && c.text.scratchBytes + static_cast<size_t>(c.text.tickets) != 0)
            throw std::runtime_error(name + ": one block, and scratch or tickets");
        if (c.text.blocks > maxBlocks) throw std::runtime_error(name + ": too many blocks");
        return c;
    }

    /// The areas of a launch. The gaps hold NaN in every float type, so that a read outside an area
    /// shows, too.
    struct Areas {
        std::vector<std::byte> arena, scratch;
        std::vector<unsigned> tickets;
    };
    Areas areasOf(const Case& c) const {
        Areas areas;
        areas.arena.assign(c.layout.bytes, std::byte{0xFF});
        for (size_t i = 0; i < c.layout.inputs.size(); ++i) {
            const auto& bytes = m_values.at(c.layout.inputs[i]);
            std::copy(bytes.begin(), bytes.end(),
                      areas.arena.begin() + static_cast<ptrdiff_t>(c.offsets[i]));
        }
        areas.scratch.assign(kScratchOffset + c.text.scratchBytes + kGapBytes, std::byte{0xFF});
        areas.tickets.assign(static_cast<size_t>(kFirstTicket + c.text.tickets) + 4, 0);
        return areas;
    }

    /// Runs one launch and returns the output's bytes; `wrong` receives what else it changed.
    std::vector<std::byte> launch(const EmulatedModule& module, const Case& c, int order,
                                  std::string& wrong) const {
        const Areas before = areasOf(c);
        Areas after = before;
        module.launch(
            c.launch, after.arena.data(), after.scratch.data(), after.tickets.data(), order,
            {after.arena.size(), after.scratch.size(), sizeof(unsigned) * after.tickets.size()});
        const auto at = static_cast<ptrdiff_t>(c.offsets.back());
        const auto bytes = static_cast<ptrdiff_t>(m_program.graph[c.layout.out].bytes());
        const auto same = [](const auto& a, const auto& b, ptrdiff_t begin, ptrdiff_t end) {
            return std::equal(a.begin() + begin, a.begin() + end, b.begin() + begin);
        };
        const auto arenaEnd = static_cast<ptrdiff_t>(c.layout.bytes);
        if (!same(before.arena, after.arena, 0, at) ||
            !same(before.arena, after.arena, at + bytes, arenaEnd))
            wrong = "writes outside its output";
        const auto scratchEnd = static_cast<ptrdiff_t>(kScratchOffset + c.text.scratchBytes);
        if (!same(before.scratch, after.scratch, 0, kScratchOffset) ||
            !same(before.scratch, after.scratch, scratchEnd, scratchEnd + ptrdiff_t{kGapBytes}))
            wrong = "writes outside its scratch";
        if (after.tickets != before.tickets) wrong = "leaves a ticket behind";
        return {after.arena.begin() + at, after.arena.begin() + at + bytes};
    }

    std::string runCase(const EmulatedModule& module, const Case& c) const {
        const Node& node = m_program.graph[c.layout.out];
        const std::string where = "%" + std::to_string(c.layout.out) + " " +
                                  std::string(nameOf(node.op)) + " " +
                                  std::string(nameOf(node.dtype)) + " " + node.shape.text() +
                                  ", blocks " + std::to_string(c.text.blocks) + ": ";
        std::vector<std::byte> first;
        // large kernels run in one order: other numbers of blocks are other orders of the same work
        const bool large = cuda::workOf(m_program, c.kernel) > 1 << 20;
        for (const int order : large ? std::vector{7} : std::vector{0, 1, 7}) {
            std::string wrong;
            const std::vector<std::byte> got = launch(module, c, order, wrong);
            if (!wrong.empty()) return where + wrong;
            if (first.empty()) {
                first = got;
                wrong = compare(c.layout.out, got);
                if (!wrong.empty()) return where + wrong;
            } else if (got != first) {
                return where + "other bits in another order of the blocks";
            }
        }
        // the bits must be the same however many blocks share the work
        auto& bits = m_bits[c.kernel];
        if (bits.empty()) bits = first;
        return bits == first ? "" : where + "other bits with another number of blocks";
    }

    mutable std::map<size_t, std::vector<std::byte>> m_bits; ///< by kernel: its first result
};

} // namespace halfscope::test
