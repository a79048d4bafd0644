// Compiles vector steps: assigns registers to values, loads what is read, and stores what others
// read. vector_loop_none.cpp replaces it where there is no Xbyak.
#include "engine/cpu/vector_loop.h"

#include "engine/core/error.h"
#include "engine/cpu/vector_code.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace halfscope {

namespace {

using Register = VectorCode::Register;

/// The arguments of the code.
struct Frame {
    float* scratch;
    int64_t rows, columns;
    std::array<std::byte*, VectorLoop::kMaxPointers> pointers;
};

/// The most vectors side by side: more are no faster.
constexpr int kMostCopies = 4;

bool isStored(DType type) {
    return type == DType::F32 || type == DType::F16 || type == DType::BF16;
}

} // namespace

class VectorCompiler {
public:
    enum class Quotients { ByDivision, ByProducts };
    /// `copies` is how many vectors the code computes side by side.
    VectorCompiler(VectorSet set, std::span<const VectorStep> steps, std::span<const size_t> wanted,
                   bool guarded, int copies, Quotients quotients)
        : m_steps(steps), m_wanted(wanted), m_code(VectorCode::make(set)), m_copies(copies) {
        for (const VectorStep& s : m_steps) {
            for (int i = 0; i < s.inputs; ++i)
                addStream(s.in[i]);
            addStream(s.out);
            if (guarded) addKept(s.out);
        }
        if (quotients == Quotients::ByProducts && m_asm.hasProductQuotients()) addDivisors();
        require(m_streams.size() <= VectorLoop::kMaxPointers, "vector loop: too many pointers");
    }

    /// Returns null when there are too few registers for so many vectors.
    std::unique_ptr<VectorLoop> run() {
        Xbyak::util::StackFrame frame(
            &m_asm, 1, kLoopRegisters + static_cast<int>(m_streams.size()),
            static_cast<int>(m_divisors.size() * kVectorBytes), kNoEpilogue);
        begin(frame);
        Xbyak::Label rowStart;
        m_asm.L(rowStart);
        for (const VectorStep& s : m_steps)
            if (isByRow(s)) m_asm.spread(addressOf(s.in[0]), addressOf(s.out));
        m_asm.xor_(m_column, m_column);
        const Xbyak::Reg64 next = frame.p[0]; // of no more use
        if (m_copies > 1) columns(m_copies, next);
        columns(1, next);
        m_asm.L(m_rowDone);
        m_asm.inc(m_rowsLeft);
        m_asm.jnz(rowStart, VectorCode::T_NEAR);
        m_asm.vzeroupper(); // otherwise narrow code after it is slow
        frame.close();
        if (m_spilled && m_copies > 1) return nullptr;
        m_asm.placeConstants();
        m_asm.readyRE();
        std::unique_ptr<VectorLoop> loop(new VectorLoop);
        loop->m_streams = std::move(m_streams);
        for (const VectorPlace& divisor : m_divisors)
            loop->m_divisors.push_back(divisor.offset);
        loop->m_code = std::move(m_code);
        return loop;
    }

private:
    /// A value in a register; `clean` when its place in memory also holds it.
    struct Held {
        VectorPlace place;
        bool clean = true;
        VectorCode::Known known;
    };
    static constexpr int kLoopRegisters = 4; ///< column, columns, scratch, rows left (negative)
    static constexpr bool kNoEpilogue = false;
    static constexpr size_t kVectorBytes = VectorLoop::kLanes * sizeof(float);

    /// Names the general registers, and fills those that do not change.
    void begin(const Xbyak::util::StackFrame& frame) {
        m_column = frame.t[0];
        m_columns = frame.t[1];
        m_scratch = frame.t[2];
        m_rowsLeft = frame.t[3];
        m_asm.fillConstants(); // uses rax, so it comes before m_element holds something
        const auto loadFrom = [&](const Xbyak::Reg64& to, size_t offset) {
            m_asm.mov(to, m_asm.ptr[frame.p[0] + offset]);
        };
        loadFrom(m_scratch, offsetof(Frame, scratch));
        loadFrom(m_rowsLeft, offsetof(Frame, rows));
        m_asm.neg(m_rowsLeft);
        loadFrom(m_columns, offsetof(Frame, columns));
        for (size_t i = 0; i < m_streams.size(); ++i) {
            m_pointers[i] = frame.t[kLoopRegisters + i];
            loadFrom(m_pointers[i], offsetof(Frame, pointers) + i * sizeof(std::byte*));
        }
        m_asm.xor_(m_element, m_element);
        for (const VectorPlace& divisor : m_divisors)
            m_asm.storeReciprocal(reciprocalOf(divisor), addressOf(divisor));
    }

    /// Writes the loop over as many columns as can be computed by `copies` vectors side by side.
    /// The steps on one vector wait for each other, and are too many for the processor to look
    /// beyond them: those on other vectors must stand between them. Where one of several vectors
    /// has a tiny value, the first of them is computed alone, and carefully if that value is its
    /// own: what is computed from the first kept place, as that of Adam's mean of gradients shrinks
    /// soonest, or from any of them.
    void columns(int copies, const Xbyak::Reg64& next) {
        Xbyak::Label start, advance;
        std::array<Xbyak::Label, 2> careful; // of the first kept place, and of all
        const auto floats = static_cast<uint32_t>(copies * m_asm.lanes());
        const bool last = copies == 1;
        m_asm.L(start);
        if (copies == m_copies) m_asm.L(m_next);
        if (last) m_asm.L(m_alone);
        m_asm.lea(next, m_asm.ptr[m_column + floats]);
        m_asm.cmp(next, m_columns);
        m_asm.ja(last ? m_rowDone : m_alone, VectorCode::T_NEAR);
        if (!last)
            jumpIfTiny(m_kept, copies, m_alone);
        else if (!m_kept.empty()) {
            jumpIfTiny(std::span(m_kept).subspan(1), 1, careful[1]);
            jumpIfTiny(std::span(m_kept).first(1), 1, careful[0]);
        }
        vectors(copies, {});
        m_asm.L(advance);
        m_asm.add(m_element, floats);
        m_asm.mov(m_column, next);
        m_asm.jmp(m_kept.empty() ? start : m_next, VectorCode::T_NEAR);
        if (!last || m_kept.empty()) return;
        m_asm.reserveForCare(true);
        for (size_t i = 0; i < std::min(m_kept.size(), careful.size()); ++i) {
            m_asm.L(careful[i]);
            vectors(1, std::span(m_kept).first(i == 0 ? 1 : m_kept.size()));
            m_asm.jmp(advance, VectorCode::T_NEAR);
        }
        m_asm.reserveForCare(false);
    }

    /// Writes all steps on vectors side by side, with care for what depends on the tiny places.
    void vectors(int copies, std::span<const VectorPlace> tiny) {
        m_tiny.assign(tiny.begin(), tiny.end());
        m_registers = m_asm.values() / copies;
        m_held.assign(static_cast<size_t>(copies), {});
        for (auto& held : m_held)
            held.resize(static_cast<size_t>(m_registers));
        for (m_at = 0; m_at < m_steps.size(); ++m_at)
            for (m_copy = 0; m_copy < copies && !isByRow(m_steps[m_at]); ++m_copy)
                stepWithCare(m_steps[m_at]);
        m_copy = 0;
    }
    void stepWithCare(const VectorStep& s) {
        const auto isOf = [&](const VectorPlace& place) {
            return std::find_if(m_tiny.begin(), m_tiny.end(),
                                [&](const VectorPlace& tiny) { return tiny.sameAs(place); });
        };
        const bool tiny = std::any_of(
            s.in, s.in + s.inputs, [&](const VectorPlace& in) { return isOf(in) != m_tiny.end(); });
        m_asm.setCareful(tiny);
        step(s);
        m_asm.setCareful(false);
        const auto out = isOf(s.out);
        if (tiny && out == m_tiny.end()) m_tiny.push_back(s.out);
        if (!tiny && out != m_tiny.end()) m_tiny.erase(out);
    }

    /// Notes what square roots are divided by, where it is the same for all elements: Adam's second
    /// bias correction. Division takes longer than all products that give the same quotient.
    void addDivisors() {
        for (m_at = 0; m_at < m_steps.size(); ++m_at)
            if (const VectorStep& s = m_steps[m_at]; dividesRoot(s) && !indexOf(s.in[1]))
                m_divisors.push_back(s.in[1]);
    }
    bool dividesRoot(const VectorStep& s) const {
        const auto writes = [](const VectorPlace& place) {
            return [&place](const VectorStep& other) { return other.out.sameAs(place); };
        };
        if (s.op != Op::Div || s.in[1].walk != VectorPlace::Walk::Still ||
            std::any_of(m_steps.begin(), m_steps.end(), writes(s.in[1])))
            return false;
        const auto before = m_steps.first(m_at);
        const auto root = std::find_if(before.rbegin(), before.rend(), writes(s.in[0]));
        return root != before.rend() && root->op == Op::Sqrt && root->rounded == DType::F32 &&
               root->out.dtype == DType::F32;
    }
    /// Returns the number of a place among the divisors.
    std::optional<size_t> indexOf(const VectorPlace& divisor) const {
        for (size_t i = 0; i < m_divisors.size(); ++i)
            if (m_divisors[i].sameAs(divisor)) return i;
        return std::nullopt;
    }
    Xbyak::Address reciprocalOf(const VectorPlace& divisor) const {
        return m_asm.ptr[m_asm.rsp + *indexOf(divisor) * kVectorBytes];
    }

    /// Notes a place in the arena that the steps read before they write it.
    void addKept(const VectorPlace& place) {
        if (place.scratch || place.dtype == DType::F16 || place.walk != VectorPlace::Walk::Elements)
            return;
        const auto reads = [&](const VectorStep& s) {
            return std::any_of(s.in, s.in + s.inputs,
                               [&](const VectorPlace& in) { return in.sameAs(place); });
        };
        if (std::any_of(m_steps.begin(), m_steps.end(), reads)) m_kept.push_back(place);
    }
    /// Jumps if one of the next vectors has a tiny value at one of the places; never without
    /// places.
    void jumpIfTiny(std::span<const VectorPlace> places, int copies, const Xbyak::Label& there) {
        if (places.empty()) return;
        std::vector<std::pair<DType, Xbyak::Address>> all;
        for (const VectorPlace& place : places)
            for (m_copy = 0; m_copy < copies; ++m_copy)
                all.emplace_back(place.dtype, addressOf(place));
        m_copy = 0;
        m_asm.jumpIfTiny(all, there);
    }

    static bool isByRow(const VectorStep& s) { return s.in[0].walk == VectorPlace::Walk::Rows; }
    void addStream(const VectorPlace& place) {
        if (!place.scratch && streamOf(place) == m_streams.size())
            m_streams.push_back({place.offset, bytesOf(place.dtype)});
    }
    size_t streamOf(const VectorPlace& place) const {
        const auto found = std::find_if(m_streams.begin(), m_streams.end(), [&](const auto& s) {
            return s.offset == place.offset && s.bytes == bytesOf(place.dtype);
        });
        return static_cast<size_t>(found - m_streams.begin());
    }
    Xbyak::Address addressOf(const VectorPlace& place) const {
        const auto bytes = static_cast<int>(bytesOf(place.dtype));
        if (place.walk == VectorPlace::Walk::Rows)
            return m_asm.ptr[m_scratch + m_rowsLeft * bytes + place.offset];
        if (place.walk == VectorPlace::Walk::Still) return m_asm.ptr[m_scratch + place.offset];
        const auto first = static_cast<size_t>(m_copy * m_asm.lanes() * bytes);
        if (!place.scratch)
            return m_asm.ptr[m_pointers[streamOf(place)] + m_element * bytes + first];
        const bool byColumn = place.walk == VectorPlace::Walk::Columns;
        return m_asm
            .ptr[m_scratch + (byColumn ? m_column : m_element) * bytes + place.offset + first];
    }

    // ---- registers ----

    /// Of the vector that is written.
    std::optional<Held>& heldAt(int r) {
        return m_held[static_cast<size_t>(m_copy)][static_cast<size_t>(r)];
    }
    const std::optional<Held>& heldAt(int r) const {
        return m_held[static_cast<size_t>(m_copy)][static_cast<size_t>(r)];
    }
    Register value(int r) const { return m_asm.value(m_copy * m_registers + r); }
    int heldIn(const VectorPlace& place) const {
        for (int r = 0; r < m_registers; ++r)
            if (const auto& held = heldAt(r); held && held->place.sameAs(place)) return r;
        return -1;
    }
    /// Returns the index of the step after `at` that next reads the place before any writes it, or
    /// the number of steps when none does.
    size_t nextRead(const VectorPlace& place, size_t at) const {
        for (size_t i = at + 1; i < m_steps.size(); ++i) {
            const VectorStep& s = m_steps[i];
            for (int k = 0; k < s.inputs; ++k)
                if (s.in[k].sameAs(place)) return i;
            if (s.out.sameAs(place)) break;
        }
        return m_steps.size();
    }
    bool isReadHere(const VectorPlace& place) const {
        const VectorStep& s = m_steps[m_at];
        return std::any_of(s.in, s.in + s.inputs,
                           [&](const VectorPlace& in) { return in.sameAs(place); });
    }
    /// Returns a free register or, when there is none, that of the value which is read last. A
    /// value that only the register holds is written to its slot in scratch.
    int take() {
        int best = -1;
        size_t bestRead = 0;
        for (int r = 0; r < m_registers; ++r) {
            const auto& held = heldAt(r);
            if (!held) return r;
            if (isReadHere(held->place)) continue;
            const size_t read = nextRead(held->place, m_at);
            if (best < 0 || read > bestRead) {
                best = r;
                bestRead = read;
            }
        }
        m_spilled = true;
        if (best < 0) best = 0; // all are read here: the code is given up for one of fewer vectors
        auto& held = heldAt(best);
        if (!held->clean) m_asm.store(DType::F32, addressOf(held->place), value(best), held->known);
        held.reset();
        return best;
    }
    int registerOf(const VectorPlace& place) {
        if (const int held = heldIn(place); held >= 0) return held;
        const int r = take();
        m_asm.load(place.dtype, value(r), addressOf(place));
        heldAt(r) = Held{place, true, {place.dtype, false}};
        return r;
    }
    void releaseRead(const VectorPlace& place) {
        const int r = heldIn(place);
        if (r >= 0 && nextRead(place, m_at) == m_steps.size()) heldAt(r).reset();
    }

    /// Forgets the value of a place, which is about to change.
    void forget(const VectorPlace& place) {
        if (const int old = heldIn(place); old >= 0) heldAt(old).reset();
    }

    // ---- steps ----

    void step(const VectorStep& s) {
        if (passesOn(s)) return;
        std::array<Register, 3> in;
        std::array<VectorCode::Known, 3> knownIn;
        std::optional<Xbyak::Address> second;
        const bool byProducts = !m_asm.isCareful() && !m_divisors.empty() && dividesRoot(s);
        for (size_t i = 0; i < static_cast<size_t>(s.inputs); ++i) {
            if (i == 1 && (byProducts || (!m_asm.isCareful() && isReadOnce(s)))) {
                second = addressOf(s.in[i]);
                continue;
            }
            const int number = registerOf(s.in[i]);
            in[i] = value(number);
            knownIn[i] = heldAt(number)->known;
        }
        const bool storeRounds = s.rounded == DType::F32 || s.rounded == s.out.dtype;
        if (s.op == Op::Cast && !s.out.scratch && storeRounds) {
            forget(s.out);
            m_asm.store(s.out.dtype, addressOf(s.out), in[0], knownIn[0]);
            releaseRead(s.in[0]);
            return;
        }
        if (s.op == Op::Sum) {
            const Register sum = value(registerOf(s.out));
            m_asm.vaddps(sum, sum, in[0]);
            m_asm.vmovups(addressOf(s.out), sum);
            forget(s.out);
            releaseRead(s.in[0]);
            return;
        }
        const int number = take();
        const Register out = value(number);
        const Xbyak::Operand* const operand =
            second ? &*second : static_cast<Xbyak::Operand*>(&in[1]);
        if (byProducts)
            m_asm.divideByProducts(out, in[0], *second, reciprocalOf(s.in[1]));
        else
            m_asm.compute(s.op, out, {in[0], operand, in[2]});
        VectorCode::Known known = VectorCode::knownOf(s.op, knownIn);
        if (s.rounded != DType::F32) {
            m_asm.round(s.rounded, out, known);
            known = {s.rounded, true};
        }
        for (int i = 0; i < s.inputs; ++i)
            releaseRead(s.in[i]);
        forget(s.out);
        const bool read = nextRead(s.out, m_at) != m_steps.size();
        const bool stores = !s.out.scratch || isLastWanted(s.out);
        if (stores) m_asm.store(s.out.dtype, addressOf(s.out), out, known);
        if (read) heldAt(number) = Held{s.out, stores, known};
    }
    /// Whether the second input is in memory as the instruction wants it, and no later step reads
    /// it: then it needs no register.
    bool isReadOnce(const VectorStep& s) const {
        return s.in[1].dtype == DType::F32 && heldIn(s.in[1]) < 0 && !s.in[1].sameAs(s.in[0]) &&
               !(s.inputs > 2 && s.in[1].sameAs(s.in[2])) &&
               nextRead(s.in[1], m_at) == m_steps.size();
    }
    /// Gives the register of a value that is copied as it is, and read no more, to the copy.
    /// Returns whether that was all there is to do.
    bool passesOn(const VectorStep& s) {
        if (s.op != Op::Cast || !s.out.scratch || isLastWanted(s.out)) return false;
        const int number = registerOf(s.in[0]);
        std::optional<Held>& held = heldAt(number);
        const bool rounds =
            s.rounded != DType::F32 && !(s.rounded == held->known.type && held->known.quiet);
        if (rounds || nextRead(s.in[0], m_at) != m_steps.size()) return false;
        const Held copy{s.out, false, held->known};
        held.reset();
        forget(s.out);
        if (nextRead(s.out, m_at) != m_steps.size()) held = copy;
        return true;
    }
    bool isLastWanted(const VectorPlace& place) const {
        if (std::find(m_wanted.begin(), m_wanted.end(), place.offset) == m_wanted.end())
            return false;
        return std::none_of(m_steps.begin() + static_cast<std::ptrdiff_t>(m_at) + 1, m_steps.end(),
                            [&](const VectorStep& later) { return later.out.sameAs(place); });
    }

    std::span<const VectorStep> m_steps;
    std::span<const size_t> m_wanted;
    std::unique_ptr<VectorCode> m_code;
    VectorCode& m_asm = *m_code;
    const Xbyak::Reg64 m_element = m_asm.rax;
    Xbyak::Reg64 m_column, m_columns, m_scratch, m_rowsLeft;
    std::array<Xbyak::Reg64, VectorLoop::kMaxPointers> m_pointers;
    std::vector<VectorLoop::Stream> m_streams;
    std::vector<VectorPlace> m_kept;     ///< whose values stay from step to step
    std::vector<VectorPlace> m_divisors; ///< whose reciprocals are on the stack
    std::vector<VectorPlace> m_tiny;     ///< with values that may be tiny where the next step is
    /// Where the next vectors begin, where a single one does, and where a row ends.
    Xbyak::Label m_next, m_alone, m_rowDone;
    std::vector<std::vector<std::optional<Held>>> m_held; ///< by vector, then by register
    size_t m_at = 0;
    int m_copies, m_copy = 0; ///< vectors side by side, and the one that is written
    int m_registers = 0;      ///< for each of them
    bool m_spilled = false;   ///< a value had to give its register away
};

VectorLoop::VectorLoop() = default;
VectorLoop::~VectorLoop() = default;

bool VectorLoop::available(VectorSet set) {
    return set != VectorSet::Portable && hasVectorSet(set);
}

bool VectorLoop::supports(const VectorStep& step) {
    return VectorCode::has(step.op) && isStored(step.out.dtype) && isStored(step.rounded) &&
           std::all_of(step.in, step.in + step.inputs,
                       [](const VectorPlace& in) { return isStored(in.dtype); });
}

std::unique_ptr<VectorLoop> VectorLoop::compile(VectorSet set, std::span<const VectorStep> steps,
                                                std::span<const size_t> wanted, bool guarded) {
    if (!available(set)) return nullptr;
    using Quotients = VectorCompiler::Quotients;
    const auto fastest = [&](Quotients quotients) -> std::unique_ptr<VectorLoop> {
        for (int copies = kMostCopies; copies > 1; --copies)
            if (auto loop = VectorCompiler(set, steps, wanted, guarded, copies, quotients).run())
                return loop;
        return VectorCompiler(set, steps, wanted, guarded, 1, quotients).run();
    };
    try {
        auto loop = fastest(Quotients::ByProducts);
        if (!loop->m_divisors.empty()) loop->m_dividing = fastest(Quotients::ByDivision);
        return loop;
    } catch (const Xbyak::Error& error) {
        const int code = error;
        if (code == Xbyak::ERR_CANT_ALLOC || code == Xbyak::ERR_CANT_PROTECT)
            return nullptr; // the system gives no executable pages
        failInvariant(std::string("vector loop: ") + error.what());
    }
}

void VectorLoop::run(const Arena& arena, float* scratch, int64_t element, int64_t rows,
                     int64_t columns) const {
    const auto isFar = [scratch](size_t divisor) { // or NaN
        const float b = std::abs(scratch[divisor / sizeof(float)]);
        return !(b > 0x1p-50F && b < 0x1p50F);
    };
    if (std::any_of(m_divisors.begin(), m_divisors.end(), isFar))
        return m_dividing->run(arena, scratch, element, rows, columns);
    Frame frame{scratch, rows, columns, {}};
    for (size_t i = 0; i < m_streams.size(); ++i) {
        const auto& [offset, bytes] = m_streams[i];
        frame.pointers[i] = arena.at(offset) + static_cast<size_t>(element) * bytes;
    }
    m_code->getCode<void (*)(const Frame*)>()(&frame);
}

} // namespace halfscope
