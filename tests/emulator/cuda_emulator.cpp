// The emulator: compiles a text behind cuda_words.h, runs the threads of a block as fibers of one
// host thread, and says which barrier or exchange not all threads came to.
#define HS_EMULATOR_HOST 1
#include "tests/emulator/cuda_emulator.h"

#include "tests/emulator/compiled_text.h"
#include "tests/emulator/cuda_races.h"
#include "tests/emulator/cuda_words.h"
#include "tests/emulator/fibers.h"
#include "tests/emulator/ptx_module.h"
#include "tests/support/launch_order.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace halfscope::test {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kLanes = 32;
constexpr size_t kSlotBytes = 64;
constexpr size_t kGuardBytes = 256;
constexpr char kGuard = 0x5A;
constexpr char kGarbage = static_cast<char>(0xFF); ///< NaN in every float type, -1 in integers

using Entry = void (*)(char*, char*, unsigned*);

/// What a warp's lanes gave to one exchange, until each has come to its next one.
struct Snapshot {
    std::array<char, kLanes * kSlotBytes> slots{};
    unsigned readers = 0;
};

struct Thread {
    enum class State : uint8_t { Ready, AtBarrier, AtExchange, AtGroup, Done } state = State::Ready;
    int line = 0;
    unsigned mask = 0;
    std::array<char, kSlotBytes> given{};
    Snapshot* reading = nullptr;
};

/// The fibers of all texts, of which one runs at a time. Each of their stacks takes two of the
/// system's mappings, and a process may have about as many as 30 texts would need.
Fibers& fibersOfAll() {
    static Fibers fibers(kMaxThreads);
    return fibers;
}

} // namespace

struct EmulatedModule::Impl {
    std::unique_ptr<PtxModule> ptx; ///< runs the text instead
    std::unique_ptr<CompiledText> library;
    hs_emulated::State* state = nullptr;
    Fibers* fibers = nullptr; ///< null where PTX runs
    std::vector<Thread> threads;
    std::vector<std::vector<std::unique_ptr<Snapshot>>> snapshots; ///< by warp
    int current = 0;
    Entry entry = nullptr;
    char* arena = nullptr;
    char* scratch = nullptr;
    unsigned* tickets = nullptr;
    std::unique_ptr<Races> races;
    std::set<std::string> searched; ///< entries that ran once: the order of blocks says no more
    bool searches = false;          ///< for races, in this launch
    std::string misalignment;       ///< the first one
    AreaSizes sizes;                ///< of this launch
    std::string strayAhead;         ///< the first line asked for that is not in the arena
    std::set<std::ptrdiff_t>* asked = nullptr;

    Thread& running() { return threads[static_cast<size_t>(current)]; }
    void leave(int thread) {
        Thread& self = threads[static_cast<size_t>(thread)];
        if (self.reading != nullptr) self.reading->readers &= ~(1u << (thread % kLanes));
        self.reading = nullptr;
    }

    static void body(void* self, int thread);
    static void barrier(void* self, int line);
    static void meetGroup(void* self, int line);
    void pause(Thread::State until, int line) {
        running().state = until;
        running().line = line;
        fibers->yield(current);
    }
    static const char* exchange(void* self, unsigned mask, const void* mine, int bytes, int line);
    static void access(void* self, const void* at, size_t bytes, bool isWrite);
    static void atomic(void* self, const void* at);
    static void fence(void* self);
    static void misaligned(void* self, const void* at, int line);
    static void ahead(void* self, const void* at);
    void connect();
    void checkFaults() const;
    void runBlock(int threadCount, const std::vector<int>& order);
    bool releaseExchanges(int warp);
    bool releaseExchange(int warp, unsigned mask, int line);
    bool releaseGroup(int warp);
    bool releaseBarrier();
    [[noreturn]] void failStuck() const;
};

void EmulatedModule::Impl::body(void* self, int thread) {
    auto& impl = *static_cast<Impl*>(self);
    impl.entry(impl.arena, impl.scratch, impl.tickets);
    impl.leave(thread);
    impl.threads[static_cast<size_t>(thread)].state = Thread::State::Done;
}

void EmulatedModule::Impl::barrier(void* self, int line) {
    static_cast<Impl*>(self)->pause(Thread::State::AtBarrier, line);
}

void EmulatedModule::Impl::meetGroup(void* self, int line) {
    static_cast<Impl*>(self)->pause(Thread::State::AtGroup, line);
}

const char* EmulatedModule::Impl::exchange(void* self, unsigned mask, const void* mine, int bytes,
                                           int line) {
    auto& impl = *static_cast<Impl*>(self);
    impl.leave(impl.current);
    Thread& thread = impl.running();
    std::memcpy(thread.given.data(), mine, static_cast<size_t>(bytes));
    thread.state = Thread::State::AtExchange;
    thread.mask = mask;
    thread.line = line;
    impl.fibers->yield(impl.current);
    return impl.running().reading->slots.data();
}

void EmulatedModule::Impl::access(void* self, const void* at, size_t bytes, bool isWrite) {
    auto& impl = *static_cast<Impl*>(self);
    impl.races->access(impl.current, static_cast<const char*>(at), bytes, isWrite);
}

void EmulatedModule::Impl::atomic(void* self, const void* at) {
    auto& impl = *static_cast<Impl*>(self);
    impl.races->atomic(impl.current, static_cast<const char*>(at));
}

void EmulatedModule::Impl::fence(void* self) {
    auto& impl = *static_cast<Impl*>(self);
    impl.races->fence(impl.current);
}

void EmulatedModule::Impl::misaligned(void* self, const void* at, int line) {
    auto& impl = *static_cast<Impl*>(self);
    if (impl.misalignment.empty())
        impl.misalignment = "a misaligned pointer, arena + " +
                            std::to_string(static_cast<const char*>(at) - impl.arena) +
                            ", at line " + std::to_string(line);
}

void EmulatedModule::Impl::ahead(void* self, const void* at) {
    auto& impl = *static_cast<Impl*>(self);
    const std::ptrdiff_t offset = static_cast<const char*>(at) - impl.arena;
    if (impl.asked != nullptr) impl.asked->insert(offset);
    const bool isInside =
        offset >= 0 && (impl.sizes.arena == 0 || static_cast<size_t>(offset) < impl.sizes.arena);
    if (!isInside && impl.strayAhead.empty())
        impl.strayAhead = "asks for arena + " + std::to_string(offset) + " ahead, of " +
                          std::to_string(impl.sizes.arena) + " bytes";
}

/// Gives the text the functions that its words call.
void EmulatedModule::Impl::connect() {
    state->context = this;
    state->barrier = barrier;
    state->exchange = exchange;
    state->meetGroup = meetGroup;
    state->misaligned = misaligned;
    state->ahead = ahead;
    state->access = searches ? access : nullptr;
    state->atomic = searches ? atomic : nullptr;
    state->fence = searches ? fence : nullptr;
    state->stacks = fibers->stacks().data();
    state->stackBytes = fibers->stacks().size();
}

/// Faults that a thread cannot throw from its own stack.
void EmulatedModule::Impl::checkFaults() const {
    const std::string& fault = searches && !races->fault().empty() ? races->fault()
                               : misalignment.empty()              ? strayAhead
                                                                   : misalignment;
    if (!fault.empty()) throw std::runtime_error("emulator: " + fault);
}

/// All threads of one block, in turns between barriers and exchanges.
void EmulatedModule::Impl::runBlock(int threadCount, const std::vector<int>& order) {
    threads.assign(static_cast<size_t>(threadCount), Thread{});
    snapshots.resize(static_cast<size_t>((threadCount + kLanes - 1) / kLanes));
    for (auto& warp : snapshots)
        for (auto& snapshot : warp)
            snapshot->readers = 0;
    for (int thread = 0; thread < threadCount; ++thread)
        fibers->start(thread, body, this);
    for (;;) {
        for (int thread : order) {
            if (threads[static_cast<size_t>(thread)].state != Thread::State::Ready) continue;
            current = thread;
            state->thread.x = static_cast<unsigned>(thread);
            fibers->resume(thread);
        }
        checkFaults();
        bool released = false;
        for (int warp = 0; warp * kLanes < threadCount; ++warp)
            released = releaseExchanges(warp) || releaseGroup(warp) || released;
        if (released) continue;
        if (std::all_of(threads.begin(), threads.end(),
                        [](const Thread& t) { return t.state == Thread::State::Done; }))
            return;
        if (!releaseBarrier()) failStuck();
    }
}

bool EmulatedModule::Impl::releaseExchanges(int warp) {
    bool released = false;
    for (int lane = 0; lane < kLanes; ++lane) {
        const size_t index = static_cast<size_t>(warp * kLanes + lane);
        if (index >= threads.size() || threads[index].state != Thread::State::AtExchange) continue;
        released = releaseExchange(warp, threads[index].mask, threads[index].line) || released;
    }
    return released;
}

/// Lets the lanes of a mask go on once all of them wait at the same place.
bool EmulatedModule::Impl::releaseExchange(int warp, unsigned mask, int line) {
    const auto at = [&](int lane) -> Thread* {
        const size_t index = static_cast<size_t>(warp * kLanes + lane);
        return index < threads.size() ? &threads[index] : nullptr;
    };
    for (int lane = 0; lane < kLanes; ++lane) {
        if ((mask >> lane & 1u) == 0) continue;
        const Thread* thread = at(lane);
        if (thread == nullptr || thread->state != Thread::State::AtExchange ||
            thread->mask != mask || thread->line != line)
            return false;
    }
    auto& pool = snapshots[static_cast<size_t>(warp)];
    auto free = std::find_if(pool.begin(), pool.end(), [](const auto& s) { return !s->readers; });
    if (free == pool.end()) free = pool.insert(pool.end(), std::make_unique<Snapshot>());
    Snapshot& snapshot = **free;
    snapshot.readers = mask;
    if (searches && mask == ~0u) races->exchange(warp);
    // lanes outside the mask hold garbage, as on a device
    snapshot.slots.fill(kGarbage);
    for (int lane = 0; lane < kLanes; ++lane) {
        if ((mask >> lane & 1u) == 0) continue;
        Thread& thread = threads[static_cast<size_t>(warp * kLanes + lane)];
        std::memcpy(snapshot.slots.data() + static_cast<size_t>(lane) * kSlotBytes,
                    thread.given.data(), kSlotBytes);
        thread.reading = &snapshot;
        thread.state = Thread::State::Ready;
    }
    return true;
}

/// Only when every thread of the warpgroup that begins with this warp waits at the same line.
bool EmulatedModule::Impl::releaseGroup(int warp) {
    constexpr size_t kThreads = 4 * kLanes;
    const size_t begin = static_cast<size_t>(warp * kLanes);
    if (begin % kThreads != 0 || begin + kThreads > threads.size()) return false;
    const auto first = threads.begin() + static_cast<std::ptrdiff_t>(begin), end = first + kThreads;
    if (!std::all_of(first, end, [&](const Thread& thread) {
            return thread.state == Thread::State::AtGroup && thread.line == first->line;
        }))
        return false;
    std::for_each(first, end, [](Thread& thread) { thread.state = Thread::State::Ready; });
    return true;
}

/// Only when every thread of the block waits at the same line.
bool EmulatedModule::Impl::releaseBarrier() {
    const int line = threads.front().line;
    for (const Thread& thread : threads)
        if (thread.state != Thread::State::AtBarrier || thread.line != line) return false;
    for (Thread& thread : threads)
        thread.state = Thread::State::Ready;
    if (searches) races->barrier();
    return true;
}

void EmulatedModule::Impl::failStuck() const {
    std::map<std::string, std::pair<int, size_t>> places; // place -> threads there, the first
    for (size_t i = 0; i < threads.size(); ++i) {
        const Thread& thread = threads[i];
        std::string place = "ended";
        if (thread.state == Thread::State::AtBarrier)
            place = "at the barrier of line " + std::to_string(thread.line);
        else if (thread.state == Thread::State::AtExchange)
            place = "at the exchange of line " + std::to_string(thread.line);
        else if (thread.state == Thread::State::AtGroup)
            place = "at the meeting of its warpgroup in line " + std::to_string(thread.line);
        auto& [count, first] = places[place];
        if (count++ == 0) first = i;
    }
    std::string what =
        "emulator: not all threads reach a barrier (block " + std::to_string(state->block.x) + "):";
    for (const auto& [place, threadsThere] : places)
        what += " " + std::to_string(threadsThere.first) + " " + place + " (first: thread " +
                std::to_string(threadsThere.second) + ");";
    throw std::runtime_error(what);
}

namespace {

int& capabilityOfPtx() {
    static int capability = [] {
        const char* wanted = std::getenv("HALFSCOPE_EMULATED_PTX");
        return wanted == nullptr ? 0 : std::atoi(wanted);
    }();
    return capability;
}

} // namespace

void emulatePtx(int capability) { capabilityOfPtx() = capability; }
int emulatedCapability() { return capabilityOfPtx(); }

EmulatedModule::EmulatedModule(const std::string& text, Effort effort)
    : m_impl(std::make_unique<Impl>()) {
    if (emulatedCapability() != 0) {
        m_impl->ptx = std::make_unique<PtxModule>(text, emulatedCapability());
        return;
    }
    m_impl->fibers = &fibersOfAll();
    const std::string words = HALFSCOPE_SOURCE_DIR "/tests/emulator/cuda_words.h";
    std::string options = effort == Effort::ShortRun ? "-O1" : "-O0";
    if (effort != Effort::Unsearched) {
        m_impl->races = std::make_unique<Races>();
        options += " -fsanitize=thread";
    }
    // Bits: no contraction. Types: packs are read as words. -w: a text is made for another
    // compiler. Alignment: the words hold what the compiler then calls.
    options += " -fsanitize=alignment -std=c++20 -w -fPIC -ffp-contract=off "
               "-fno-strict-aliasing -fno-math-errno";
    m_impl->library = std::make_unique<CompiledText>(
        "#include \"" + words + "\"\n#line 1 \"text\"\n" + text, readFile(words), options);
    m_impl->state = static_cast<hs_emulated::State*>(m_impl->library->symbol("hs_emulated_state"));
    if (m_impl->state == nullptr) throw std::runtime_error("emulator: the text has no state");
}

EmulatedModule::~EmulatedModule() = default;

void EmulatedModule::watchAhead(std::set<std::ptrdiff_t>* asked) const { m_impl->asked = asked; }

void EmulatedModule::launch(const cuda::Launch& launch, std::byte* arena, std::byte* scratch,
                            unsigned* tickets, int order, AreaSizes sizes) const {
    Impl& impl = *m_impl;
    if (impl.ptx) {
        impl.ptx->launch(launch, arena, scratch, tickets, sizes, order);
        return;
    }
    void* entry = impl.library->symbol(launch.entry);
    if (entry == nullptr) throw std::runtime_error("emulator: no entry " + launch.entry);
    if (launch.threads < 1 || launch.threads > kMaxThreads)
        throw std::runtime_error("emulator: " + std::to_string(launch.threads) + " threads");
    impl.entry = reinterpret_cast<Entry>(entry);
    impl.arena = reinterpret_cast<char*>(arena);
    impl.scratch = reinterpret_cast<char*>(scratch);
    impl.tickets = tickets;
    hs_emulated::State& state = *impl.state;
    impl.misalignment.clear();
    impl.strayAhead.clear();
    impl.sizes = sizes;
    impl.searches = impl.races != nullptr && impl.searched.insert(launch.entry).second;
    impl.connect();
    if (impl.searches)
        impl.races->startLaunch(launch.blocks, launch.threads, impl.arena, impl.scratch);
    state.blockDim = {static_cast<unsigned>(launch.threads), 1, 1};
    state.gridDim = {static_cast<unsigned>(launch.blocks), 1, 1};
    std::vector<char> shared(launch.sharedBytes + 2 * kGuardBytes + kSlotBytes);
    const size_t skew = reinterpret_cast<uintptr_t>(shared.data()) % kSlotBytes;
    char* area = shared.data() + kGuardBytes + (kSlotBytes - skew) % kSlotBytes;
    state.shared = area;
    // Threads in another order too: who runs first between two barriers must not matter.
    const std::vector<int> threads = launchOrder(launch.threads, order);
    for (int block : launchOrder(launch.blocks, order)) {
        std::fill(shared.begin(), shared.end(), kGuard);
        std::fill_n(area, launch.sharedBytes, kGarbage);
        state.block = {static_cast<unsigned>(block), 0, 0};
        if (impl.searches) impl.races->startBlock(block, area, launch.sharedBytes);
        impl.runBlock(launch.threads, threads);
        const auto spoilt = [](char c) { return c != kGuard; };
        if (std::any_of(area + launch.sharedBytes, area + launch.sharedBytes + kGuardBytes,
                        spoilt) ||
            std::any_of(shared.data(), area, spoilt))
            throw std::runtime_error("emulator: " + launch.entry +
                                     " writes outside its shared memory");
    }
}

} // namespace halfscope::test
