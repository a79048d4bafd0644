// What PTX instructions work on: the registers of a warp, the memory of a block, and the faults
// that an access or an exchange can have.
#pragma once

#include "tests/emulator/ptx_program.h"

#include "tests/emulator/cuda_races.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace halfscope::test::ptx {

/// Memory that a launch may touch; nothing else.
struct Area {
    std::string name;
    char* begin = nullptr;
    size_t bytes = 0;
    bool isWritable = true;
    std::vector<uint8_t>* written = nullptr; ///< by byte, 0 or 1; none: all of it is
};

/// A copy that cp.async began: it lands when its thread waits.
struct Copy {
    uint64_t to = 0; ///< in shared memory
    int bytes = 0;
    std::array<char, 16> data{};
};
struct Copies {
    std::vector<Copy> open;               ///< since the last commit
    std::deque<std::vector<Copy>> groups; ///< oldest first
};

/// A product of a warpgroup that this warp has begun.
struct GroupProduct {
    const Instruction* instruction = nullptr;
    uint64_t a = 0, b = 0; ///< descriptors
    bool adds = false;     ///< to what the sums hold
};
struct GroupState {
    std::vector<GroupProduct> open;               ///< since the last commit
    std::deque<std::vector<GroupProduct>> groups; ///< oldest first
    /// By register: the columns of the product that has it, and when it was last used otherwise.
    std::vector<int> held;
    std::vector<uint64_t> touched;
    uint64_t now = 1, fenced = 0;
    std::vector<uint64_t> done; ///< since the last barrier: lines and descriptors

    /// What another instruction does to registers.
    void use(const Block&, const Instruction&);
};

struct Warp {
    int index = 0;
    std::vector<uint32_t> file;
    /// Lanes of each register that hold nothing, or what came of nothing.
    std::vector<uint32_t> wild;
    uint32_t carry = 0, wildCarry = kAllLanes; ///< by lane
    std::array<int, kLanes> pc{};
    uint32_t all = 0, live = 0, waiting = 0; ///< lanes: waiting at the barrier
    std::array<Copies, kLanes> copies;
    GroupState group;

    uint32_t* at(const Operand& operand) { return file.data() + operand.offset; }
    template <class T>
    T get(const Operand& operand, int lane) const {
        const uint32_t* from =
            file.data() + operand.offset +
            (operand.wide ? 2 * static_cast<uint32_t>(lane) : static_cast<uint32_t>(lane));
        T value;
        if constexpr (std::is_same_v<T, bool>) {
            return *from != 0;
        } else {
            std::memcpy(&value, from, sizeof value);
            return value;
        }
    }
    template <class T>
    void set(const Operand& operand, int lane, T value) {
        uint64_t bits = 0;
        if constexpr (std::is_same_v<T, bool>)
            bits = value ? 1 : 0;
        else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
            bits = static_cast<uint64_t>(static_cast<int64_t>(value));
        else
            std::memcpy(&bits, &value, sizeof value);
        uint32_t* to =
            file.data() + operand.offset +
            (operand.wide ? 2 * static_cast<uint32_t>(lane) : static_cast<uint32_t>(lane));
        std::memcpy(to, &bits, operand.wide ? 8 : 4);
    }
    uint64_t address(const Operand& operand, int lane) const {
        return operand.wide ? get<uint64_t>(operand, lane) : get<uint32_t>(operand, lane);
    }
    void mark(const Operand& operand, uint32_t lanes, uint32_t isWild) {
        uint32_t& word = wild[operand.index];
        word = (word & ~lanes) | (isWild & lanes);
    }
};

/// Bytes of an access, and where it is written which of them hold something (null: all do).
struct Bytes {
    char* at = nullptr;
    uint8_t* written = nullptr;
    bool mayChange = false; ///< while the kernel runs, by whatever is launched before it
};

/// One block of a grid while it runs.
class Block {
public:
    Block(const Program& program, const Kernel& kernel, std::vector<Area> areas,
          std::array<uint64_t, 3> parameters, size_t sharedBytes, Races* races);

    /// All its threads, warps in turn in the order given.
    void run(int index, int blocks, int threads, const std::vector<int>& warpOrder);

    /// Where the bytes of an access are. Throws for one that leaves the memory that the launch was
    /// given, or that its size does not divide, or that comes before the wait for the launch
    /// before. `thread`: of the block. An atomic is in no race.
    Bytes access(Space space, uint64_t address, int bytes, bool isWrite, int thread,
                 bool isAtomic = false);
    Races* races() { return m_races; }
    uint64_t parameter(uint64_t at) const { return m_parameters.at(at / 8); }
    [[noreturn]] void fault(const std::string& what, int thread = -1) const;
    /// The thread shows what it wrote to shared memory to products of warpgroups.
    void showWrites(int thread);
    /// Who wrote one of these bytes and has not shown it; -1: nobody.
    int unshownWriter(uint64_t address, size_t bytes) const;

private:
    void noteWrite(size_t at, size_t bytes, int thread);
    void checkGroups(bool isOver);
    void start(Warp& warp, int blocks, int threads);
    void runWarp(Warp& warp);
    void runGroup(Warp& warp, int pc, uint32_t mask, int until);
    bool canGo(const Warp& warp, const Instruction& instruction, uint32_t mask);
    uint32_t allowed(Warp& warp, const Instruction& instruction, uint32_t mask);

    const Program& m_program;
    const Kernel& m_kernel;
    std::vector<Area> m_areas;
    std::array<uint64_t, 3> m_parameters;
    std::vector<char> m_sharedMemory;
    std::vector<uint8_t> m_sharedWritten;
    char* m_shared = nullptr;
    size_t m_sharedBytes = 0;
    std::vector<char> m_local;
    std::vector<uint8_t> m_localWritten;
    std::vector<Warp> m_warps;
    std::vector<int> m_writers; ///< by byte of shared memory: thread + 1, until it shows it
    std::vector<std::vector<std::pair<size_t, size_t>>> m_unshown; ///< by thread
    Races* m_races;
    int m_index = 0;
    const Instruction* m_current = nullptr;
};

/// All lanes of the mask, lowest first.
template <class Do>
inline void eachLane(uint32_t mask, Do&& act) {
    for (; mask != 0; mask &= mask - 1)
        act(std::countr_zero(mask));
}

using Table = std::map<std::string, Meaning, std::less<>>;
void addLanes(Table&);       ///< what each lane does for itself: ptx_lanes.cpp
void addConversions(Table&); ///< ptx_conversions.cpp
void addCarries(Table&);     ///< ptx_carry.cpp
void addGroups(Table&);      ///< products of warpgroups: ptx_groups.cpp
void addWarps(Table&);       ///< what lanes do together, and branches: ptx_warps.cpp
/// Memory's names have too many forms for a table: ptx_memory.cpp. False: it is none of them.
bool memoryMeaning(std::string_view name, Meaning&);

} // namespace halfscope::test::ptx
