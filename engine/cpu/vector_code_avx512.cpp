// AVX-512: constants are in registers, results of comparisons in a mask register.
#include "engine/cpu/vector_code.h"

namespace halfscope {

namespace {

constexpr int kValues = 26;              ///< followed by a spare, then the constants
const Xbyak::Opmask kMask(1), kUpper(2); ///< mask register 0 means no mask; the upper 16 bits

class Avx512Code final : public VectorCode {
public:
    Avx512Code() : VectorCode(16, kValues) {
        for (int i = 0; i < kConstants; ++i)
            m_constants[static_cast<size_t>(i)] = Xbyak::Zmm(kValues + 1 + i);
    }

    void fillConstants() override {
        for (size_t i = 0; i < kConstants; ++i) {
            mov(eax, kBits[i]);
            vpbroadcastd(m_constants[i], eax);
        }
        mov(eax, 0xAAAAAAAAU);
        kmovd(kUpper, eax);
    }
    void placeConstants() override {}

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
                const Register& yes, const Register& no) override {
        vcmpps(kMask, a, b, predicate);
        vblendmps(out | kMask, no, yes);
    }
    void bfloat16Words(const Register& words, const Register& from, bool quiet) override {
        vpslld(words, from, 15);
        vpsrld(words, words, 31); // the lowest bit that remains
        vcmpps(kMask, from, from, kOrdered);
        vpaddd(words | kMask | T_z, words, constant(Constant::HalfUlp));
        vpaddd(words, words, from); // NaN stays as it is
        if (quiet) return;
        vcmpps(kMask, from, from, kUnordered);
        vpord(words | kMask, from, constant(Constant::Quiet));
    }
    void clearLower(const Register& out, const Register& words) override {
        vmovdqu16(out | kUpper | T_z, words);
    }
    void storeWords(const Xbyak::Address& to, const Register& words) override {
        vpmovdw(to, words);
    }

private:
    std::array<Xbyak::Zmm, kConstants> m_constants;
};

} // namespace

std::unique_ptr<VectorCode> makeAvx512Code() { return std::make_unique<Avx512Code>(); }

} // namespace halfscope
