// PTX as it is run: the kernels of a text as decoded instructions whose operands are rows of a
// warp's registers. Parsing alone; what an instruction does is in ptx_lanes.cpp, ptx_memory.cpp and
// ptx_warps.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope::test::ptx {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xFFFFFFFFu;
/// Addresses of state spaces, as the spaces' own instructions have them. The start of dynamic
/// shared memory is a multiple of 16 and of nothing more: no text may count on more.
inline constexpr uint64_t kSharedStart = 0x410, kLocalStart = 0x100;
/// Generic addresses of those spaces begin here; below, addresses are the host's.
inline constexpr uint64_t kSharedWindow = uint64_t{1} << 62, kLocalWindow = uint64_t{1} << 61;

/// A register's place in a warp's file: 32 values side by side, of 8 bytes (wide) or 4.
struct Operand {
    uint32_t offset = 0; ///< in units of 4 bytes
    uint32_t index = 0;  ///< among all registers: where its lanes are marked as never written
    bool wide = false;
    bool sink = false; ///< "_": a result that nobody wants
};

enum class Space : uint8_t { Generic, Global, Shared, Local, Param };

class Block;
struct Warp;
struct Instruction;
/// Runs an instruction for the lanes in the mask.
using Handler = void (*)(Block&, Warp&, const Instruction&, uint32_t mask);

/// What decides who goes on after an instruction.
enum class Flow : uint8_t {
    Next,    ///< the lanes that execute it, alone
    Branch,  ///< to `target`
    Exit,    ///< ends the thread
    Barrier, ///< of the block
    Warp,    ///< of all lanes of the warp (.aligned)
    Group,   ///< ... and of the warps of its warpgroup: whoever waits for them, it is not the warp
    Members  ///< of the lanes of a mask: the last operand
};

struct Instruction {
    Handler run = nullptr;
    Flow flow = Flow::Next;
    bool guarded = false, negated = false;
    Operand guard;
    std::vector<Operand> operands; ///< results first, vectors laid out one after another
    int64_t offset = 0;            ///< added to an address
    int target = -1;
    Space space = Space::Generic;
    int bytes = 0; ///< of an element in memory
    int count = 1; ///< elements of a vector in memory
    bool isSigned = false;
    bool isCoherent = true; ///< false: of memory that must not change (ld.global.nc)
    int packed = 0;         ///< operands of the first part: more than one are in braces
    int line = 0;           ///< of the PTX
};

/// A register's value before the first instruction.
struct Constant {
    Operand at;
    uint64_t bits = 0;
};
enum class Special : uint8_t {
    TidX,
    TidY,
    TidZ,
    NtidX,
    NtidOne,
    CtaidX,
    CtaidZero,
    NctaidX,
    LaneId,
    WarpId
};

struct Kernel {
    std::string name;
    std::vector<std::string> parameters;
    std::vector<Instruction> code;
    std::vector<Constant> constants;
    std::vector<std::pair<Operand, Special>> specials;
    uint32_t words = 0;                       ///< of a warp's registers, in units of 4 bytes
    uint32_t registers = 0;                   ///< counted, constants included
    uint64_t localBytes = 0, sharedBytes = 0; ///< static ones
    uint64_t dynamicStart = 0; ///< of the dynamic ones behind them, as far as it is aligned to
    bool hasGroups = false;    ///< products of warpgroups
    int maxThreads = 1024;
};

struct Program {
    std::map<std::string, Kernel> kernels;
    std::vector<std::string> lines; ///< for messages
    /// Module variables, by name.
    std::map<std::string, std::vector<uint64_t>> variables;
    std::map<std::string, size_t> variableBytes;
};

/// What an instruction's name says: filled by the tables of instructions.
struct Meaning {
    Handler run = nullptr;
    Flow flow = Flow::Next;
    Space space = Space::Generic;
    int bytes = 0, count = 1;
    bool isSigned = false;
    bool isCoherent = true;
};
/// Throws std::runtime_error for a name that no table has.
Meaning meaningOf(const std::string& name);

/// Throws std::runtime_error with the line that is not understood.
std::unique_ptr<Program> parse(std::string_view text);

} // namespace halfscope::test::ptx
