// How each op is computed on a vector of floats, written with Xbyak: once for all sets of
// instructions, except for what one set does in its own way (vector_code_avx2, vector_code_avx512).
// vector_loop decides which values are in which registers. Included only where the build has Xbyak.
#pragma once

#include "engine/core/vector_set.h"
#include "engine/graph/op.h"

#include <array>
#include <memory>
#include <span>
#include <utility>

#include <xbyak/xbyak.h>
#include <xbyak/xbyak_util.h>

namespace halfscope {

/// Code in pages of its own: they are first written, then executed (readyRE), never both at a time.
class VectorCode : public Xbyak::CodeGenerator {
public:
    using Register = Xbyak::Xmm; ///< of the set's width, which Xbyak keeps in the value

    /// What is known of a register's values before they are computed. It saves work and changes no
    /// bit.
    struct Known {
        DType type = DType::F32; ///< the type that can hold them
        bool quiet = false;      ///< no NaN is a signalling one
    };

    ~VectorCode() override = default;
    /// The set must have code: it is not Portable.
    static std::unique_ptr<VectorCode> make(VectorSet);
    /// Whether compute(), or the caller for a sum, can do the op. The same for all sets.
    static bool has(Op);

    int lanes() const { return m_lanes; } ///< floats in a register
    /// Returns the number of the caller's registers: value(0) and those after it.
    int values() const { return m_reserved ? m_values - kCarefulSpares : m_values; }
    Register value(int number) const { return vectorRegister(number); }

    /// fillConstants() loads what the functions below need, comes before them and overwrites rax;
    /// the other goes behind the end of the code.
    virtual void fillConstants() = 0;
    virtual void placeConstants() = 0;
    /// Load and store a register's values by storage: f32, fp16 or bfloat16; they round to nearest
    /// even.
    void load(DType, const Register& to, const Xbyak::Address& from);
    void store(DType, const Xbyak::Address& to, const Register& from, Known);
    /// Fills a register's worth of floats with the one value at `from`.
    void spread(const Xbyak::Address& from, const Xbyak::Address& to);
    /// An op's inputs, as many as it has. The second may be in memory.
    struct Inputs {
        Register first;
        const Xbyak::Operand* second;
        Register third;
    };
    /// Computes out = op(in); `out` is none of `in`.
    void compute(Op, const Register& out, const Inputs& in);
    /// Keeps some of the caller's registers for careful code, or gives them back.
    void reserveForCare(bool reserve) { m_reserved = reserve; }
    /// From now on, products and quotients are computed as doubles and rounded once: the bits are
    /// the same, and subnormal floats do not delay them (subnormalsAreSlow). Their inputs must be
    /// in registers.
    void setCareful(bool careful) { m_careful = careful; }
    bool isCareful() const { return m_careful; }
    /// Jumps if one of the vectors at `places` has a value other than 0 below 2^-100, of which
    /// products could be subnormal. Overwrites the first registers.
    void jumpIfTiny(std::span<const std::pair<DType, Xbyak::Address>> places,
                    const Xbyak::Label& there);
    /// Whether the set divides faster by divideByProducts().
    virtual bool hasProductQuotients() const { return false; }
    /// Computes out = a / b, with the bits of the division, for b between 2^-50 and 2^50 and for a
    /// square root a; `reciprocal` is where 1 / b is, rounded to nearest. `out` is not `a`. Only
    /// for sets that hasProductQuotients().
    virtual void divideByProducts(const Register& out, const Register& a, const Xbyak::Address& b,
                                  const Xbyak::Address& reciprocal);
    /// Stores 1 / b. Overwrites the first register.
    void storeReciprocal(const Xbyak::Address& to, const Xbyak::Address& b);
    /// Rounds to the nearest value of the type, ties to even.
    void round(DType, const Register&, Known);
    /// Returns what is known of an op's result before it is rounded; `in` is what is known of its
    /// inputs.
    static Known knownOf(Op, const std::array<Known, 3>& in);

protected:
    enum class Constant : uint8_t {
        Zero,
        Ones,
        Sign,
        Quiet, ///< makes a NaN quiet
    };
    static constexpr int kConstants = 4;
    static constexpr std::array<uint32_t, kConstants> kBits{0, 0x3F800000U, 0x80000000U, 0x400000U};
    /// Half a unit in the last place of bfloat16, less one in that of f32.
    static constexpr uint32_t kBelowHalfUlp = 0x7FFFU;
    static constexpr uint8_t kUnordered = 3, kOrdered = 7; ///< of a comparison: one is NaN, none is

    VectorCode(int lanes, int values);
    Register vectorRegister(int number) const {
        return m_lanes == 16 ? Register(Xbyak::Zmm(number)) : Register(Xbyak::Ymm(number));
    }
    /// Returns the first register above the caller's, for what lasts no longer than one of the
    /// functions above.
    Register spare() const { return vectorRegister(m_values); }
    /// Places what jumpIfTiny() compares with; a part of placeConstants().
    void placeNumbers();

    /// Returns a register, or where the constant is in memory.
    virtual const Xbyak::Operand& constant(Constant) const = 0;
    /// Returns the constant in a register, perhaps the spare one.
    virtual Register inRegister(Constant) = 0;
    /// Computes out = `value` where the comparison holds, else 0; `out` may be `a`.
    virtual void valueOrZero(const Register& out, const Register& a, const Xbyak::Operand& b,
                             uint8_t predicate, const Xbyak::Operand& value) = 0;
    /// Computes out = the comparison holds ? yes : no; `out` may be `no`.
    virtual void choose(const Register& out, const Register& a, const Xbyak::Operand& b,
                        uint8_t predicate, const Xbyak::Operand& yes, const Register& no) = 0;
    /// Puts the nearest bfloat16 into the upper half of each lane, with NaN made quiet; the lower
    /// half has no meaning. `words` is not `from`.
    virtual void bfloat16Words(const Register& words, const Register& from, bool quiet) = 0;
    /// Computes out = words with 0 in the lower half of each lane.
    virtual void clearLower(const Register& out, const Register& words) = 0;
    /// Stores the upper half of each lane; may overwrite the spare register.
    virtual void storeWords(const Xbyak::Address& to, const Register& words) = 0;
    /// Jumps if a lane is at most `limit`, as whole numbers without a sign; may overwrite `values`.
    virtual void jumpIfAnyAtMost(const Register& values, const Register& limit,
                                 const Xbyak::Label& there) = 0;

private:
    struct OpCode; ///< a row of the table of ops
    static const OpCode* codeOf(Op);
    /// Computes 1 where the comparison holds, else 0.
    void truth(const Register& out, const Register& a, const Xbyak::Operand& b, uint8_t predicate);
    /// Keeps a NaN: the machine's maximum takes the second operand when either is NaN, but the op
    /// wants the NaN.
    void keepNan(const Register& out, const Register& first);
    void multiply(const Register& out, const Register& a, const Xbyak::Operand& b);
    void divide(const Register& out, const Register& a, const Xbyak::Operand& b);
    /// Widens one half of a register to doubles.
    void widenHalf(const Register& to, const Register& from, int half);
    /// Rounds doubles to floats, in the lower half of the register.
    void narrowHalf(const Register&);
    Register halfOf(const Register& r) const {
        return m_lanes == 16 ? Register(Xbyak::Ymm(r.getIdx())) : Xbyak::Xmm(r.getIdx());
    }
    template <class Compute>
    void asDoubles(const Register& out, const Register& a, const Register& b, Compute compute);

    static constexpr int kCarefulSpares = 2;
    int m_lanes, m_values;
    bool m_reserved = false, m_careful = false;
    Xbyak::Label m_numbers;
};

// One for each file of a set.
std::unique_ptr<VectorCode> makeAvx2Code();
std::unique_ptr<VectorCode> makeAvx512Code();

} // namespace halfscope
