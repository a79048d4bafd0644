// A launch: areas, blocks one after the other, warps in turn between barriers.
#include "tests/emulator/ptx_module.h"

#include "tests/emulator/nvrtc.h"
#include "tests/emulator/ptx_machine.h"
#include "tests/support/launch_order.h"

#include <algorithm>
#include <set>

namespace halfscope::test {
namespace ptx {

Block::Block(const Program& program, const Kernel& kernel, std::vector<Area> areas,
             std::array<uint64_t, 3> parameters, size_t sharedBytes, Races* races)
    : m_program(program), m_kernel(kernel), m_areas(std::move(areas)), m_parameters(parameters),
      m_sharedBytes(std::max((kernel.sharedBytes + 15) / 16 * 16, kernel.dynamicStart) +
                    sharedBytes),
      m_races(races) {
    m_sharedMemory.resize(m_sharedBytes + 64);
    m_sharedWritten.resize(m_sharedBytes);
    const size_t skew = reinterpret_cast<uintptr_t>(m_sharedMemory.data()) % 64;
    m_shared = m_sharedMemory.data() + (64 - skew) % 64;
    for (const auto& [name, words] : program.variables)
        m_areas.push_back({name, const_cast<char*>(reinterpret_cast<const char*>(words.data())),
                           program.variableBytes.at(name), false, nullptr});
}

void Block::fault(const std::string& what, int thread) const {
    std::string place;
    if (m_current != nullptr) {
        const auto line = static_cast<size_t>(m_current->line);
        place = ", line " + std::to_string(line);
        constexpr size_t kMost = 120; // a product names 128 registers
        if (line - 1 < m_program.lines.size())
            place += ":" + m_program.lines[line - 1].substr(0, kMost);
    }
    throw std::runtime_error("PTX: " + m_kernel.name + ", block " + std::to_string(m_index) +
                             (thread >= 0 ? ", thread " + std::to_string(thread) : "") + place +
                             ": " + what);
}

void Block::start(Warp& warp, int blocks, int threads) {
    const int first = warp.index * kLanes, lanes = std::min(kLanes, threads - first);
    warp.all = lanes == kLanes ? kAllLanes : (1u << lanes) - 1;
    warp.live = warp.all;
    warp.waiting = 0;
    warp.wildCarry = kAllLanes;
    warp.pc.fill(0);
    warp.copies.fill({});
    warp.file.assign(m_kernel.words, 0xFFFFFFFFu); // NaN in every type of float
    warp.wild.assign(m_kernel.registers, kAllLanes);
    warp.group = {};
    if (m_kernel.hasGroups) {
        warp.group.held.assign(m_kernel.registers, 0);
        warp.group.touched.assign(m_kernel.registers, 0);
    }
    const auto put = [&](const Operand& at, auto valueOf) {
        for (int lane = 0; lane < kLanes; ++lane)
            warp.set<uint64_t>(at, lane, static_cast<uint64_t>(valueOf(lane)));
        warp.wild[at.index] = 0;
    };
    for (const Constant& constant : m_kernel.constants)
        put(constant.at, [&](int) { return constant.bits; });
    for (const auto& [at, special] : m_kernel.specials)
        put(at, [&](int lane) {
            switch (special) {
            case Special::TidX: return first + lane;
            case Special::NtidX: return threads;
            case Special::CtaidX: return m_index;
            case Special::NctaidX: return blocks;
            case Special::LaneId: return lane;
            case Special::WarpId: return warp.index;
            case Special::NtidOne: return 1;
            case Special::TidY:
            case Special::TidZ:
            case Special::CtaidZero: break;
            }
            return 0;
        });
}

void Block::run(int index, int blocks, int threads, const std::vector<int>& warpOrder) {
    m_index = index;
    m_current = nullptr;
    if (threads > m_kernel.maxThreads) fault("more threads than it is compiled for");
    std::fill(m_sharedMemory.begin(), m_sharedMemory.end(), static_cast<char>(0xFF));
    std::fill(m_sharedWritten.begin(), m_sharedWritten.end(), uint8_t{0});
    const size_t localBytes = m_kernel.localBytes * static_cast<size_t>(threads);
    m_local.assign(localBytes, static_cast<char>(0xFF));
    m_localWritten.assign(localBytes, 0);
    m_warps.resize(warpOrder.size());
    m_unshown.assign(static_cast<size_t>(threads), {});
    if (m_kernel.hasGroups) m_writers.assign(m_sharedBytes, 0);
    if (m_races != nullptr) m_races->startBlock(index, m_shared, m_sharedBytes);
    for (size_t w = 0; w < m_warps.size(); ++w) {
        m_warps[w].index = static_cast<int>(w);
        start(m_warps[w], blocks, threads);
    }
    const auto none = [&](auto lanes) {
        return std::all_of(m_warps.begin(), m_warps.end(),
                           [&](const Warp& warp) { return lanes(warp) == 0; });
    };
    while (!none([](const Warp& warp) { return warp.live; })) {
        for (const int w : warpOrder)
            runWarp(m_warps[static_cast<size_t>(w)]);
        if (m_races != nullptr && !m_races->fault().empty()) fault(m_races->fault());
        if (m_kernel.hasGroups) checkGroups(none([](const Warp& warp) { return warp.live; }));
        if (none([](const Warp& warp) { return warp.waiting; })) continue; // all have ended
        for (Warp& warp : m_warps) {
            if (warp.waiting != warp.all)
                fault("warp " + std::to_string(warp.index) + " ends before a barrier of others");
            warp.waiting = 0;
        }
        if (m_races != nullptr) m_races->barrier();
    }
}

} // namespace ptx

struct PtxModule::Impl {
    std::unique_ptr<ptx::Program> program;
    Races races;
    std::set<std::string> searched; ///< for races: entries that ran once
    std::byte* scratch = nullptr;
    std::vector<uint8_t> scratchWritten;
};

PtxModule::PtxModule(const std::string& text, int capability)
    : m_impl(std::make_unique<Impl>()), m_ptx(Nvrtc().ptx(text, capability)) {
    m_impl->program = ptx::parse(m_ptx);
}
PtxModule::~PtxModule() = default;

void PtxModule::launch(const cuda::Launch& launch, std::byte* arena, std::byte* scratch,
                       unsigned* tickets, AreaSizes sizes, int order) {
    Impl& impl = *m_impl;
    const auto found = impl.program->kernels.find(launch.entry);
    if (found == impl.program->kernels.end())
        throw std::runtime_error("PTX: no entry " + launch.entry);
    constexpr size_t kAny = size_t{1} << 40;
    const auto area = [&](const char* name, void* at, size_t bytes, std::vector<uint8_t>* written) {
        return ptx::Area{name, static_cast<char*>(at), bytes == 0 ? kAny : bytes, true, written};
    };
    if (impl.scratch != scratch || impl.scratchWritten.size() != sizes.scratch)
        impl.scratchWritten.assign(sizes.scratch, 0);
    impl.scratch = scratch;
    std::vector<ptx::Area> areas = {area("the arena", arena, sizes.arena, nullptr),
                                    area("the scratch area", scratch, sizes.scratch,
                                         sizes.scratch == 0 ? nullptr : &impl.scratchWritten),
                                    area("the tickets", tickets, sizes.tickets, nullptr)};
    const bool searches = impl.searched.insert(launch.entry).second;
    if (searches)
        impl.races.startLaunch(launch.blocks, launch.threads, reinterpret_cast<char*>(arena),
                               reinterpret_cast<char*>(scratch));
    ptx::Block block(*impl.program, found->second, std::move(areas),
                     {reinterpret_cast<uint64_t>(arena), reinterpret_cast<uint64_t>(scratch),
                      reinterpret_cast<uint64_t>(tickets)},
                     launch.sharedBytes, searches ? &impl.races : nullptr);
    const int warps = (launch.threads + ptx::kLanes - 1) / ptx::kLanes;
    for (const int index : launchOrder(launch.blocks, order))
        block.run(index, launch.blocks, launch.threads, launchOrder(warps, order));
}

} // namespace halfscope::test
