// An executor whose launches run in the emulator: whole training steps as the text of a CUDA step,
// on the CPU. Guard bands surround the arena, the scratch area and the tickets.
#pragma once

#include "tests/emulator/cuda_emulator.h"

#include "engine/core/error.h"
#include "engine/exec/executor.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace halfscope::test {

struct EmulationOptions {
    cuda::SourceOptions source{.libraries = cuda::Libraries::Unused};
    cuda::DeviceTraits traits{};
    bool shuffled = false; ///< each launch takes blocks and threads in another order
};

class EmulatedExecutor final : public Executor {
public:
    explicit EmulatedExecutor(EmulationOptions options) : m_options(options) {
        m_device.kind = "emulator";
        m_device.name = "CUDA text on the CPU";
    }

    const DeviceInfo& device() const override { return m_device; }
    const cuda::StepSource& source() const { return m_source; }

    void load(std::shared_ptr<const Program> program) override {
        m_source = cuda::writeStep(*program, m_options.traits, m_options.source);
        m_module = moduleOf(m_source.text);
        m_arena.assign(m_source.program.memory.arenaBytes + 2 * kGuard, kPattern);
        std::fill_n(m_arena.begin() + kGuard, m_source.program.memory.arenaBytes, std::byte{0});
        m_scratch.assign(m_source.scratchBytes + 2 * kGuard, kPattern);
        m_tickets.assign(static_cast<size_t>(m_source.tickets) + 2 * kGuardTickets, kTicket);
        std::fill_n(m_tickets.begin() + kGuardTickets, m_source.tickets, 0u);
    }
    RunResult run(RunMode, const Visitor& visitor) override {
        runLaunches(0, m_source.launches.size(), visitor);
        return RunResult::Done;
    }
    /// Runs the launches [first, end) of a step.
    void runLaunches(size_t first, size_t end, const Visitor& visitor = {}) {
        for (size_t i = first; i < end; ++i) {
            const cuda::Launch& launch = m_source.launches[i];
            const int order = m_options.shuffled ? ++m_order : 0;
            m_module->launch(launch, m_arena.data() + kGuard, m_scratch.data() + kGuard,
                             m_tickets.data() + kGuardTickets, order,
                             {m_source.program.memory.arenaBytes, m_source.scratchBytes,
                              sizeof(unsigned) * static_cast<size_t>(m_source.tickets)});
            checkGuards(launch.entry);
            for (size_t kernel : launch.kernels)
                for (NodeId id : m_source.program.kernels[kernel].stores)
                    if (visitor) visitor(id, {at(id), graph()[id].bytes()});
        }
    }
    void upload(NodeId id, std::span<const std::byte> bytes) override {
        require(graph()[id].bytes() == bytes.size(), "emulator: a wrong number of bytes");
        std::memcpy(at(id), bytes.data(), bytes.size());
    }
    void download(NodeId id, std::span<std::byte> bytes) override {
        require(graph()[id].bytes() == bytes.size(), "emulator: a wrong number of bytes");
        std::memcpy(bytes.data(), at(id), bytes.size());
    }
    void requestStop() override {}
    /// Swaps two launches, to see that tests notice a broken order.
    void swapLaunches(size_t first) {
        std::swap(m_source.launches.at(first), m_source.launches.at(first + 1));
    }
    double lastStepSeconds() const override { return 0; }

private:
    static constexpr size_t kGuard = 4096, kGuardTickets = 16;
    static constexpr std::byte kPattern{0xA5}; ///< a small negative number, never zero
    static constexpr unsigned kTicket = 0xA5A5A5A5u;

    /// Returns one module for equal texts, so that a repeated training is not compiled again. Keeps
    /// only the last few, because each holds the stacks of a thousand threads.
    static std::shared_ptr<EmulatedModule> moduleOf(const std::string& text) {
        using Key = std::pair<int, std::string>;
        static std::deque<std::pair<Key, std::shared_ptr<EmulatedModule>>> modules;
        const Key key{emulatedCapability(), text};
        for (const auto& [known, module] : modules)
            if (known == key) return module;
        modules.emplace_back(key, std::make_shared<EmulatedModule>(text, Effort::ShortBuild));
        if (modules.size() > 4) modules.pop_front();
        return modules.back().second;
    }

    const Graph& graph() const { return m_source.program.graph; }
    std::byte* at(NodeId id) {
        const size_t offset = m_source.program.memory.offset[static_cast<size_t>(id)];
        require(offset != MemoryPlan::kNowhere, "emulator: a value is not stored");
        return m_arena.data() + kGuard + offset;
    }
    void checkGuards(const std::string& entry) const {
        const auto intact = [](const auto& area, size_t guard, auto pattern) {
            const auto is = [&](auto x) { return x == pattern; };
            const auto width = static_cast<std::ptrdiff_t>(guard);
            return std::all_of(area.begin(), area.begin() + width, is) &&
                   std::all_of(area.end() - width, area.end(), is);
        };
        if (!intact(m_arena, kGuard, kPattern) || !intact(m_scratch, kGuard, kPattern) ||
            !intact(m_tickets, kGuardTickets, kTicket))
            throw std::runtime_error("emulator: " + entry + " writes outside its areas");
        if (!std::all_of(m_tickets.begin() + kGuardTickets, m_tickets.end() - kGuardTickets,
                         [](unsigned ticket) { return ticket == 0; }))
            throw std::runtime_error("emulator: " + entry + " leaves a ticket drawn");
    }

    EmulationOptions m_options;
    DeviceInfo m_device;
    cuda::StepSource m_source;
    std::shared_ptr<EmulatedModule> m_module;
    std::vector<std::byte> m_arena, m_scratch;
    std::vector<unsigned> m_tickets;
    int m_order = 1;
};

} // namespace halfscope::test
