// AVX-512: constants are in registers, results of comparisons in a mask register.
#include "engine/cpu/vector_code.h"

namespace halfscope {

namespace {

constexpr int kValues = 24; ///< followed by a spare, then the constants
constexpr int kLanes = 16;
const Xbyak::Opmask kMask(1), kUpper(2); ///< mask register 0 means no mask; the upper 16 bits

class Avx512Code final : public VectorCode {
public:
    Avx512Code() : VectorCode(kLanes, kValues) {
        for (int i = 0; i < kConstants; ++i)
            m_constants[static_cast<size_t>(i)] = Xbyak::Zmm(kValues + 1 + i);
    }

    void fillConstants() override {
        const auto fill = [&](const Xbyak::Zmm& to, uint32_t bits) {
            mov(eax, bits);
            vpbroadcastd(to, eax);
        };
        for (size_t i = 0; i < kConstants; ++i)
            fill(m_constants[i], kBits[i]);
        fill(m_one, 1);
        fill(m_evenBelowHalfUlp, kBelowHalfUlp - 1);
        mov(eax, 0xAAAAAAAAU);
        kmovd(kUpper, eax);
        vmovups(Xbyak::Ymm(m_upperWords.getIdx()), ptr[rip + m_table]);
    }
    void placeConstants() override {
        L(m_table); // the numbers of the upper words
        for (uint16_t lane = 0; lane < kLanes; ++lane)
            dw(static_cast<uint16_t>(2 * lane + 1));
        placeNumbers();
    }
    bool hasProductQuotients() const override { return true; }
    // The first correction brings the quotient to within one unit in the last place, from where the
    // second gives the nearest float, as 1 / b is rounded to nearest (P. Markstein, "Computation of
    // elementary functions on the IBM RISC System/6000 processor", 1990). A remainder of 0 means
    // that the quotient is exact, which keeps the sign of a zero, and NaN that it is no finite one.
    void divideByProducts(const Register& out, const Register& a, const Xbyak::Address& b,
                          const Xbyak::Address& reciprocal) override {
        constexpr uint8_t kOrderedNotEqual = 12;
        const Register remainder = spare();
        const auto subtractProduct = [&] {
            vmovaps(remainder, a);
            vfnmadd231ps(remainder, out, b);
        };
        vmulps(out, a, reciprocal);
        subtractProduct();
        vcmpps(kMask, remainder, constant(Constant::Zero), kOrderedNotEqual);
        for (int correction = 0; correction < 2; ++correction) {
            if (correction > 0) subtractProduct();
            vfmadd231ps(out | kMask, remainder, reciprocal);
        }
    }

protected:
    const Xbyak::Operand& constant(Constant c) const override {
        return m_constants[static_cast<size_t>(c)];
    }
    Register inRegister(Constant c) override { return m_constants[static_cast<size_t>(c)]; }
    void valueOrZero(const Register& out, const Register& a, const Xbyak::Operand& b,
                     uint8_t predicate, const Xbyak::Operand& value) override {
        vcmpps(kMask, a, b, predicate);
        vmovaps(out | kMask | T_z, value);
    }
    void choose(const Register& out, const Register& a, const Xbyak::Operand& b, uint8_t predicate,
                const Xbyak::Operand& yes, const Register& no) override {
        vcmpps(kMask, a, b, predicate);
        vblendmps(out | kMask, no, yes);
    }
    void bfloat16Words(const Register& words, const Register& from, bool quiet) override {
        // Adds the lowest bit that remains and 0x7FFF: x - ~y is x + y + 1. NaN stays as it is.
        constexpr uint8_t kNeitherBothNorThird = 0b00010101;
        vpsrld(words, from, 16);
        vcmpps(kMask, from, from, kOrdered);
        vpternlogd(words | kMask | T_z, m_one, m_evenBelowHalfUlp, kNeitherBothNorThird);
        vpsubd(words, from, words);
        if (quiet) return;
        vcmpps(kMask, from, from, kUnordered);
        vpord(words | kMask, from, constant(Constant::Quiet));
    }
    void clearLower(const Register& out, const Register& words) override {
        vmovdqu16(out | kUpper | T_z, words);
    }
    void storeWords(const Xbyak::Address& to, const Register& words) override {
        const Xbyak::Ymm packed(spare().getIdx());
        vpermw(spare(), m_upperWords, words);
        vmovups(to, packed);
    }
    void jumpIfAnyAtMost(const Register& values, const Register& limit,
                         const Xbyak::Label& there) override {
        constexpr uint8_t kLessEqual = 2;
        vpcmpud(kMask, values, limit, kLessEqual);
        kortestw(kMask, kMask);
        jnz(there, T_NEAR);
    }

private:
    std::array<Xbyak::Zmm, kConstants> m_constants;
    static constexpr int kOwn = kValues + 1 + kConstants; ///< the first of those below
    const Xbyak::Zmm m_one{kOwn}, m_evenBelowHalfUlp{kOwn + 1}, m_upperWords{kOwn + 2};
    Xbyak::Label m_table;
};

} // namespace

std::unique_ptr<VectorCode> makeAvx512Code() { return std::make_unique<Avx512Code>(); }

} // namespace halfscope
