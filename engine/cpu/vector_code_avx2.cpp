// AVX2: it has half as many registers, so constants are in memory behind the code; results of
// comparisons are vectors of all ones and zeros.
#include "engine/cpu/vector_code.h"

#include <algorithm>

namespace halfscope {

namespace {

constexpr int kLanes = 8, kValues = 14; ///< followed by two spares

class Avx2Code final : public VectorCode {
public:
    Avx2Code() : VectorCode(kLanes, kValues) {
        for (int i = 0; i < kConstants; ++i)
            m_constants.push_back(ptr[rip + m_table + i * kBytes]);
        m_belowHalfUlp = ptr[rip + m_table + kConstants * kBytes];
    }

    void fillConstants() override {}
    void placeConstants() override {
        while (getSize() % kBytes != 0) // not align(): some Xbyaks refuse it where code may grow
            db(0);
        L(m_table);
        const auto place = [&](uint32_t bits) {
            for (int lane = 0; lane < kLanes; ++lane)
                dd(bits);
        };
        std::for_each(kBits.begin(), kBits.end(), place);
        place(kBelowHalfUlp);
        placeNumbers();
    }

protected:
    const Xbyak::Operand& constant(Constant c) const override {
        return m_constants[static_cast<size_t>(c)];
    }
    Register inRegister(Constant c) override {
        vmovups(spare(), constant(c));
        return spare();
    }
    void valueOrZero(const Register& out, const Register& a, const Xbyak::Operand& b,
                     uint8_t predicate, const Xbyak::Operand& value) override {
        vcmpps(out, a, b, predicate);
        vandps(out, out, value);
    }
    void choose(const Register& out, const Register& a, const Xbyak::Operand& b, uint8_t predicate,
                const Xbyak::Operand& yes, const Register& no) override {
        vcmpps(mask(), a, b, predicate);
        vblendvps(out, no, yes, mask());
    }
    void bfloat16Words(const Register& words, const Register& from, bool quiet) override {
        vpslld(words, from, 15);
        vpsrld(words, words, 31); // the lowest bit that remains
        vpaddd(words, words, from);
        vpaddd(words, words, m_belowHalfUlp);
        vcmpps(mask(), from, from, kUnordered);
        vblendvps(words, words, from, mask());
        if (quiet) return;
        vandps(mask(), mask(), constant(Constant::Quiet));
        vorps(words, words, mask());
    }
    void clearLower(const Register& out, const Register& words) override {
        constexpr uint8_t kEven = 0b01010101;
        vpblendw(out, words, constant(Constant::Zero), kEven);
    }
    void storeWords(const Xbyak::Address& to, const Register& words) override {
        const Xbyak::Ymm packed(spare().getIdx());
        constexpr uint8_t kEvenQuarters = 0b1000; // packing works within each half
        vpsrld(packed, words, 16);
        vpackusdw(packed, packed, packed);
        vpermq(packed, packed, kEvenQuarters);
        vmovups(to, Xbyak::Xmm(spare().getIdx()));
    }
    void jumpIfAnyAtMost(const Register& values, const Register& limit,
                         const Xbyak::Label& there) override {
        vpminud(mask(), values, limit);
        vpcmpeqd(values, values, mask());
        vptest(values, values);
        jnz(there, T_NEAR);
    }

private:
    static constexpr int kBytes = kLanes * sizeof(float);
    /// Returns the second spare register.
    Register mask() const { return vectorRegister(kValues + 1); }

    Xbyak::Label m_table;
    std::vector<Xbyak::Address> m_constants;
    Xbyak::Address m_belowHalfUlp{0};
};

} // namespace

std::unique_ptr<VectorCode> makeAvx2Code() { return std::make_unique<Avx2Code>(); }

} // namespace halfscope
