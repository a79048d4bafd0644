// Machine code of loops, for each instruction set: every op, rounding and place compared with the
// ops' own loops bit for bit; more values than registers; sums. Whole kernels are in
// tst_vector_kernels.
#include "engine/cpu/op_table.h"
#include "engine/ops/op_info.h"
#include "tests/support/vector_steps.h"

#include <algorithm>
#include <stdexcept>

#ifdef HALFSCOPE_XBYAK
#include "engine/cpu/vector_code.h"
#endif

#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace tst_vector_loop {

using namespace halfscope;
using namespace halfscope::test;

namespace {

using Walk = VectorPlace::Walk;

/// Enough for four vectors of each set side by side, and one that is left.
constexpr size_t kSomeColumns = 80;

constexpr Op kOps[] = {Op::Add,      Op::Sub,        Op::Mul,         Op::Div,        Op::Maximum,
                       Op::Minimum,  Op::Neg,        Op::Abs,         Op::Relu,       Op::Sqrt,
                       Op::Rsqrt,    Op::Reciprocal, Op::Less,        Op::LessEqual,  Op::Equal,
                       Op::NotEqual, Op::LogicalAnd, Op::LogicalOr,   Op::LogicalNot, Op::IsFinite,
                       Op::Where,    Op::Cast,       Op::StopGradient};

/// Where an input is read from or the result is written to.
struct Spot {
    const char* name;
    bool inArena;
    DType dtype;
    Walk walk;
};
constexpr Spot kSpots[] = {
    {"scratch", false, DType::F32, Walk::Elements}, {"columns", false, DType::F32, Walk::Columns},
    {"still", false, DType::F32, Walk::Still},      {"float32", true, DType::F32, Walk::Elements},
    {"float16", true, DType::F16, Walk::Elements},  {"bfloat16", true, DType::BF16, Walk::Elements},
};

/// One op on all pairs of special values: one input at a spot, the others in scratch by element,
/// the result at another spot.
class OpRun {
public:
    OpRun(Op op, DType rounded, size_t varied, const Spot& from, const Spot& to)
        : m_info(infoOf(op)), m_rounded(rounded), m_varied(varied), m_from(from), m_to(to),
          m_special(specialValues()), m_n(kRows * kColumns) {
        std::vector<VectorPlace> in;
        for (size_t i = 0; i < static_cast<size_t>(m_info.arity); ++i)
            in.push_back(i == varied ? placeAt(from, i) : scratchAt(i * m_n));
        m_step = step(op, in, placeAt(to, kOut), rounded);
    }

    /// Returns what is wrong, or nothing. A spot with a single value takes each of `stills` in
    /// turn.
    QByteArray run(VectorSet set, std::span<const float> stills) {
        const size_t wanted[] = {m_step.out.offset};
        const auto loop = VectorLoop::compile(set, std::span(&m_step, 1), wanted);
        if (!loop) return "not compiled";
        m_results.clear();
        for (const float still : stills) {
            fill(still);
            const std::vector<float> expected = this->expected();
            loop->run(Arena(m_arena.data()), m_scratch.data(), 0, kRows, kColumns);
            std::vector<float> result(m_n);
            if (m_to.inArena)
                loadAsFloat(m_to.dtype, m_arena.data() + m_step.out.offset, result.data(), m_n);
            else
                std::copy_n(m_scratch.data() + kOut * m_n, m_n, result.data());
            const QByteArray wrong = difference(result, expected);
            if (!wrong.isEmpty()) return wrong;
            m_results.insert(m_results.end(), result.begin(), result.end());
        }
        return {};
    }
    /// The results of all runs.
    const std::vector<float>& results() const { return m_results; }

    static constexpr size_t kRows = 13, kColumns = 208; ///< four times each value, all pairs

private:
    static constexpr size_t kOut = 3; ///< after the largest number of inputs
    VectorPlace placeAt(const Spot& spot, size_t index) const {
        const size_t offset = index * m_n * sizeof(float);
        return {!spot.inArena, offset, spot.dtype, spot.walk};
    }

    /// Writes values into scratch and the arena, and, as the op sees them, into m_inputs.
    void fill(float still) {
        m_scratch.assign((kOut + 1) * m_n, 0);
        m_arena.assign(m_scratch.size() * sizeof(float), std::byte{});
        for (size_t input = 0; input < kOut; ++input) {
            std::vector<float>& values = m_inputs[input];
            values.resize(m_n);
            const size_t inner = input % 2 == 0 ? 1 : m_special.size();
            for (size_t i = 0; i < m_n; ++i)
                values[i] = m_special[i / inner % m_special.size()];
            float* scratch = m_scratch.data() + input * m_n;
            std::copy(values.begin(), values.end(), scratch);
            if (input != m_varied) continue;
            for (size_t i = 0; i < m_n; ++i)
                values[i] = m_from.walk == Walk::Columns ? scratch[i % kColumns]
                            : m_from.walk == Walk::Still ? still
                                                         : values[i];
            if (m_from.walk == Walk::Still) std::fill_n(scratch, VectorLoop::kLanes, still);
            if (!m_from.inArena) continue;
            std::byte* stored = m_arena.data() + m_step.in[input].offset;
            storeFromFloat(m_from.dtype, values.data(), stored, m_n);
            loadAsFloat(m_from.dtype, stored, values.data(), m_n);
        }
    }

    std::vector<float> expected() const {
        std::vector<float> values(m_n);
        LoopArgs args;
        for (size_t i = 0; i < static_cast<size_t>(m_info.arity); ++i)
            args.in[i] = m_inputs[i].data();
        args.out = values.data();
        args.n = m_n;
        cpuOpOf(m_info.op).loop(args);
        roundInPlace(m_rounded, values.data(), m_n);
        roundInPlace(m_to.dtype, values.data(), m_n);
        return values;
    }

    const OpInfo& m_info;
    DType m_rounded;
    size_t m_varied;
    const Spot &m_from, &m_to;
    std::vector<float> m_special;
    size_t m_n;
    VectorStep m_step;
    std::vector<float> m_scratch, m_results;
    std::vector<float> m_inputs[3]; ///< by element, as the op sees them
    std::vector<std::byte> m_arena;
};

} // namespace

class TestVectorLoop : public QObject {
    Q_OBJECT
private slots:
    void initTestCase_data() { addSetRows(); }
    void initTestCase() {
#ifdef HALFSCOPE_XBYAK
        QVERIFY(!VectorLoop::available(VectorSet::Portable));
        QCOMPARE(VectorLoop::available(VectorSet::Avx2), __builtin_cpu_supports("avx2") != 0);
        QCOMPARE(VectorLoop::available(VectorSet::Avx512), __builtin_cpu_supports("avx512vl") != 0);
#else
        for (const VectorSet set : kVectorSets)
            QVERIFY(!VectorLoop::available(set));
#endif
    }
    void init() {
        if (const char* reason = missingCode(rowsSet())) QSKIP(reason);
    }
    void ops_data();
    void ops();
    void storage_data();
    void storage();
    void moreValuesThanRegisters();
    void columnsAndSums();
    void unwantedScratchIsNotWritten();
    void copies();
    void valuesByRow();
    void rootsByOneDivisor_data();
    void rootsByOneDivisor();
    void setsWithoutProductQuotients();
    void tinyValuesKeepTheirBits_data();
    void tinyValuesKeepTheirBits();
    void refusedPagesAreNoFault();
};

void TestVectorLoop::ops_data() {
    QTest::addColumn<int>("op");
    QTest::addColumn<int>("rounded");
    for (Op op : kOps)
        for (DType rounded : {DType::F32, DType::F16, DType::BF16})
            QTest::addRow("%s to %s", std::string(nameOf(op)).c_str(),
                          std::string(nameOf(rounded)).c_str())
                << int(op) << int(rounded);
}

void TestVectorLoop::ops() {
    QFETCH(int, op);
    QFETCH(int, rounded);
    const VectorSet set = rowsSet();
    const auto arity = static_cast<size_t>(infoOf(static_cast<Op>(op)).arity);
    for (size_t varied = 0; varied < arity; ++varied)
        for (const Spot& from : kSpots)
            for (const Spot& to : kSpots) {
                if (to.walk != Walk::Elements) continue;
                OpRun run(static_cast<Op>(op), static_cast<DType>(rounded), varied, from, to);
                const std::vector<float> stills =
                    from.walk == Walk::Still ? specialValues() : std::vector<float>{0};
                const QByteArray wrong = run.run(set, stills);
                QVERIFY2(wrong.isEmpty(), qPrintable(QString("input %1 from %2, to %3: %4")
                                                         .arg(varied)
                                                         .arg(from.name, to.name, wrong)));
                if (set == VectorSet::Avx2) continue;
                // Compared with each bit of a NaN, on which only the instruction sets agree.
                const std::vector<float> wide = run.results();
                run.run(VectorSet::Avx2, stills);
                QVERIFY(std::memcmp(wide.data(), run.results().data(),
                                    wide.size() * sizeof(float)) == 0);
            }
}

void TestVectorLoop::storage_data() {
    QTest::addColumn<int>("dtype");
    for (DType dtype : {DType::F16, DType::BF16})
        QTest::addRow("%s", std::string(nameOf(dtype)).c_str()) << int(dtype);
}

/// Every 16-bit pattern is loaded, and floats around each are stored, from an element that is not
/// the first.
void TestVectorLoop::storage() {
    QFETCH(int, dtype);
    const auto type = static_cast<DType>(dtype);
    constexpr size_t kCount = 1 << 16;
    constexpr int64_t kFirst = 32;
    std::vector<std::byte> arena((kCount + kFirst) * 2 * sizeof(uint16_t));
    const size_t second = (kCount + kFirst) * sizeof(uint16_t);
    for (size_t i = 0; i < kCount; ++i) {
        const auto bits = static_cast<uint16_t>(i);
        std::memcpy(arena.data() + (kFirst + i) * sizeof bits, &bits, sizeof bits);
    }
    std::vector<float> scratch(2 * kCount), loaded(kCount);
    // A factor slightly above 1 moves values to where the store must round.
    const float factor = 1.0F + std::ldexp(3.0F, -12);
    std::fill_n(scratch.data() + kCount, 16, factor);
    const std::vector steps{
        step(Op::Cast, {arenaAt(0, type)}, scratchAt(0)),
        step(Op::Mul, {scratchAt(0), scratchAt(kCount, Walk::Still)}, scratchAt(0)),
        step(Op::Cast, {scratchAt(0)}, arenaAt(second, type)),
    };
    const auto loop = VectorLoop::compile(rowsSet(), steps, {});
    QVERIFY(loop != nullptr);
    loop->run(Arena(arena.data()), scratch.data(), kFirst, 1, kCount);
    loadAsFloat(type, arena.data() + kFirst * 2, loaded.data(), kCount);
    for (float& value : loaded)
        value *= factor;
    roundInPlace(type, loaded.data(), kCount);
    std::vector<float> stored(kCount);
    loadAsFloat(type, arena.data() + second + kFirst * 2, stored.data(), kCount);
    QCOMPARE(difference(stored, loaded), QByteArray());
}

/// Squares that are all needed at the end: some must go to scratch and come back. Their code
/// outgrows the first page, so that it moves while it is written.
void TestVectorLoop::moreValuesThanRegisters() {
    constexpr size_t kValues = 400, kRows = 3, kN = kRows * kSomeColumns;
    std::vector<float> scratch((2 * kValues + 1) * kN);
    for (size_t i = 0; i < kValues * kN; ++i)
        scratch[i] = static_cast<float>(i % 97) - 40;
    std::vector<VectorStep> steps;
    for (size_t v = 0; v < kValues; ++v)
        steps.push_back(
            step(Op::Mul, {scratchAt(v * kN), scratchAt(v * kN)}, scratchAt((kValues + v) * kN)));
    const VectorPlace sum = scratchAt(2 * kValues * kN);
    steps.push_back(step(Op::Cast, {scratchAt(kValues * kN)}, sum));
    for (size_t v = 1; v < kValues; ++v)
        steps.push_back(step(Op::Sub, {scratchAt((kValues + v) * kN), sum}, sum));
    const size_t wanted[] = {sum.offset};
    const auto loop = VectorLoop::compile(rowsSet(), steps, wanted);
    QVERIFY(loop != nullptr);
    loop->run(Arena(), scratch.data(), 0, kRows, kSomeColumns);
    for (size_t i = 0; i < kN; ++i) {
        float expected = scratch[i] * scratch[i];
        for (size_t v = 1; v < kValues; ++v)
            expected = scratch[v * kN + i] * scratch[v * kN + i] - expected;
        QVERIFY(scratch[2 * kValues * kN + i] == expected); // QCOMPARE would be fuzzy
    }
}

/// One value a column, one for all elements, and sums over the rows.
void TestVectorLoop::columnsAndSums() {
    constexpr size_t kRows = 5, kColumns = kSomeColumns, kN = kRows * kColumns;
    std::vector<float> scratch(2 * kN + 3 * kColumns);
    for (size_t i = 0; i < scratch.size(); ++i)
        scratch[i] = 0.1F * static_cast<float>(i);
    const size_t row = 2 * kN, still = row + kColumns, sums = still + kColumns;
    std::fill_n(scratch.data() + still, 16, -3.0F);
    const std::vector before(scratch);
    const std::vector steps{
        step(Op::Add, {scratchAt(0), scratchAt(row, Walk::Columns)}, scratchAt(kN)),
        step(Op::Mul, {scratchAt(kN), scratchAt(still, Walk::Still)}, scratchAt(kN)),
        step(Op::Sum, {scratchAt(kN)}, scratchAt(sums, Walk::Columns)),
    };
    const size_t wanted[] = {kN * sizeof(float)};
    const auto loop = VectorLoop::compile(rowsSet(), steps, wanted);
    QVERIFY(loop != nullptr);
    loop->run(Arena(), scratch.data(), 0, kRows, kColumns);
    for (size_t c = 0; c < kColumns; ++c) {
        float sum = before[sums + c];
        for (size_t r = 0; r < kRows; ++r) {
            const float value = (before[r * kColumns + c] + before[row + c]) * -3.0F;
            QVERIFY(scratch[kN + r * kColumns + c] == value);
            sum += value;
        }
        QVERIFY(scratch[sums + c] == sum);
    }
}

/// Values that nobody reads stay in registers: this is what the code is for.
void TestVectorLoop::unwantedScratchIsNotWritten() {
    constexpr size_t kN = kSomeColumns;
    std::vector<float> scratch(3 * kN, 2.0F);
    const std::vector steps{step(Op::Add, {scratchAt(0), scratchAt(0)}, scratchAt(kN)),
                            step(Op::Mul, {scratchAt(kN), scratchAt(kN)}, scratchAt(2 * kN))};
    const size_t wanted[] = {2 * kN * sizeof(float)};
    const auto loop = VectorLoop::compile(rowsSet(), steps, wanted);
    QVERIFY(loop != nullptr);
    loop->run(Arena(), scratch.data(), 0, 1, kN);
    for (size_t i = 0; i < kN; ++i) {
        QCOMPARE(scratch[kN + i], 2.0F);
        QCOMPARE(scratch[2 * kN + i], 16.0F);
    }
}

/// A copy may be the value's own register, unless the value is still read or the copy is rounded.
void TestVectorLoop::copies() {
    constexpr size_t kN = kSomeColumns;
    constexpr float kThird = 1.0F / 3;
    std::vector<float> scratch(6 * kN, kThird);
    const auto at = [](size_t value) { return scratchAt(value * kN); };
    const std::vector steps{step(Op::Add, {at(0), at(0)}, at(1)), step(Op::Cast, {at(1)}, at(2)),
                            step(Op::Cast, {at(1)}, at(3), DType::BF16),
                            step(Op::Sub, {at(1), at(3)}, at(4)),
                            step(Op::Mul, {at(4), at(2)}, at(5))};
    const size_t wanted[] = {5 * kN * sizeof(float)};
    const auto loop = VectorLoop::compile(rowsSet(), steps, wanted);
    QVERIFY(loop != nullptr);
    loop->run(Arena(), scratch.data(), 0, 1, kN);
    float rounded = 2 * kThird;
    roundInPlace(DType::BF16, &rounded, 1);
    for (size_t i = 0; i < kN; ++i)
        QCOMPARE(scratch[5 * kN + i], (2 * kThird - rounded) * (2 * kThird));
}

/// One value a row is combined with each element of its row.
void TestVectorLoop::valuesByRow() {
    const std::vector<float> values = specialValues();
    constexpr size_t kColumns = kSomeColumns;
    const size_t rows = values.size(), n = rows * kColumns;
    const size_t still = 2 * n, first = still + VectorLoop::kLanes;
    const VectorPlace spread = scratchAt(still, Walk::Still);
    const std::vector steps{step(Op::Cast, {scratchAt(first + rows, Walk::Rows)}, spread),
                            step(Op::Mul, {scratchAt(0), spread}, scratchAt(n))};
    const size_t wanted[] = {n * sizeof(float)};
    const auto loop = VectorLoop::compile(rowsSet(), steps, wanted);
    QVERIFY(loop != nullptr);
    std::vector<float> scratch(first, 3), expected(n);
    scratch.insert(scratch.end(), values.begin(), values.end());
    for (size_t i = 0; i < n; ++i)
        expected[i] = 3 * values[i / kColumns];
    loop->run(Arena(), scratch.data(), 0, static_cast<int64_t>(rows), kColumns);
    QCOMPARE(difference(std::span(scratch).subspan(n, n), expected), QByteArray());
}

#ifdef __linux__
namespace {

/// Forbids executable pages from here on, as a hardened system does; returns false when that is
/// impossible.
bool refuseExecutablePages() {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program{static_cast<unsigned short>(std::size(rules)), rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

} // namespace
#endif

void TestVectorLoop::refusedPagesAreNoFault() {
#ifdef __linux__
    const VectorSet set = rowsSet();
    enum Outcome { NotCompiled, Compiled, NotRefused, Threw };
    const std::vector steps{step(Op::Add, {scratchAt(0), scratchAt(0)}, scratchAt(16))};
    const pid_t child = fork(); // in a child, because the prohibition lasts for the rest of a
                                // process
    if (child == 0) {
        Outcome outcome = NotRefused;
        try {
            if (refuseExecutablePages())
                outcome = VectorLoop::compile(set, steps, {}) ? Compiled : NotCompiled;
        } catch (...) {
            outcome = Threw;
        }
        _exit(outcome);
    }
    int status = 0;
    QCOMPARE(waitpid(child, &status, 0), child);
    QVERIFY(WIFEXITED(status));
    if (WEXITSTATUS(status) == NotRefused) QSKIP("this system does not let a process refuse");
    QCOMPARE(WEXITSTATUS(status), static_cast<int>(NotCompiled));
#else
    QSKIP("refusing needs Linux");
#endif
}

void TestVectorLoop::rootsByOneDivisor_data() {
    QTest::addColumn<float>("divisor");
    for (const float b : specialValues())
        QTest::addRow("%.9g %08x", static_cast<double>(b), std::bit_cast<uint32_t>(b)) << b;
    // Close to the limits of those that are multiplied by reciprocals, and with long mantissas.
    for (const float b : {0x1p-50F, 0x1.000002p-50F, 0x1.fffffep49F, 0x1p50F, 0x1.fffffep-1F,
                          0x1.000002p0F, 0x1.2ec6eap-6F, -0x1.83aa34p-3F})
        QTest::addRow("%a", static_cast<double>(b)) << b;
}

/// The quotient of a square root and a divisor that all elements share, as in Adam, is not divided
/// but has the bits of the division: for roots of special values, of the least and the greatest
/// floats, and of many in [1, 4), whose mantissas are all over the range.
void TestVectorLoop::rootsByOneDivisor() {
    QFETCH(float, divisor);
    constexpr size_t kRows = 2000, kN = kRows * kSomeColumns, kDivisor = 3 * kN;
    const std::vector steps{
        step(Op::Sqrt, {scratchAt(0)}, scratchAt(kN)),
        step(Op::Div, {scratchAt(kN), scratchAt(kDivisor, Walk::Still)}, scratchAt(2 * kN))};
    std::vector<float> scratch(kDivisor + VectorLoop::kLanes, divisor);
    const std::vector<float> special = specialValues();
    for (size_t i = 0; i < kN; ++i)
        scratch[i] = i % 4 == 0   ? special[i / 4 % special.size()]
                     : i % 4 == 1 ? std::bit_cast<float>(static_cast<uint32_t>(i * 13'409))
                                  : 1 + 3 * static_cast<float>(i) / static_cast<float>(kN);
    std::vector<float> expected(kN);
    for (size_t i = 0; i < kN; ++i)
        expected[i] = std::sqrt(scratch[i]) / divisor;
    const size_t wanted[] = {2 * kN * sizeof(float)};
    const auto loop = VectorLoop::compile(rowsSet(), steps, wanted);
    QVERIFY(loop);
    loop->run(Arena(nullptr), scratch.data(), 0, kRows, kSomeColumns);
    const QByteArray wrong = difference(std::span(scratch).subspan(2 * kN, kN), expected);
    QVERIFY2(wrong.isEmpty(), wrong.constData());
}

/// They have no code that stands in for such quotients: it would never run.
void TestVectorLoop::setsWithoutProductQuotients() {
#ifdef HALFSCOPE_XBYAK
    const auto code = VectorCode::make(rowsSet());
    const Xbyak::Address place = code->ptr[code->rax];
    bool writes = true;
    try {
        code->divideByProducts(code->value(0), code->value(1), place, place);
    } catch (const std::logic_error&) {
        writes = false;
    }
    QCOMPARE(writes, code->hasProductQuotients());
#endif
}

void TestVectorLoop::tinyValuesKeepTheirBits_data() {
    QTest::addColumn<int>("dtype");
    for (DType dtype : {DType::F32, DType::BF16})
        QTest::addRow("%s", std::string(nameOf(dtype)).c_str()) << int(dtype);
}

/// An update of two means and a weight in place, like Adam's: vectors with tiny values take another
/// way through the code, to the same bits. Some have tiny values in the first mean alone, some in
/// all, some in none, and all three come side by side.
void TestVectorLoop::tinyValuesKeepTheirBits() {
    QFETCH(int, dtype);
    const auto type = static_cast<DType>(dtype);
    constexpr size_t kRows = 30, kN = kRows * kSomeColumns, kPlaces = 4;
    const size_t bytes = bytesOf(type);
    const auto place = [&](size_t i) { return arenaAt(i * kN * bytes, type); };
    const VectorPlace mean = place(0), square = place(1), weight = place(2), gradient = place(3);
    const size_t kShare = 0, kKeep = 16, kRate = 32, kTemporary = 48;
    const auto still = [](size_t at) { return scratchAt(at, Walk::Still); };
    const auto temporary = [&](size_t i) { return scratchAt(kTemporary + i * kN); };
    const std::vector steps{
        step(Op::Sub, {gradient, mean}, temporary(0)),
        step(Op::Mul, {temporary(0), still(kShare)}, temporary(0)),
        step(Op::Add, {mean, temporary(0)}, mean, type),
        step(Op::Mul, {square, still(kKeep)}, temporary(1)),
        step(Op::Mul, {gradient, gradient}, temporary(2)),
        step(Op::Add, {temporary(1), temporary(2)}, square, type),
        step(Op::Div, {mean, square}, temporary(3)),
        step(Op::Mul, {temporary(3), still(kRate)}, temporary(3)),
        step(Op::Sub, {weight, temporary(3)}, weight, type),
    };
    std::vector<float> scratch(kTemporary + 4 * kN), values(kPlaces * kN);
    std::fill_n(scratch.begin() + kShare, 16, 0.1F);
    std::fill_n(scratch.begin() + kKeep, 16, 0.999F);
    std::fill_n(scratch.begin() + kRate, 16, 1e-3F);
    const std::vector<float> special = specialValues();
    for (size_t i = 0; i < values.size(); ++i) {
        const size_t vector = i % kN / 16 % 3, at = i / kN;
        const bool tiny = at < 3 && (vector == 2 || (vector == 1 && at == 0));
        values[i] =
            tiny ? std::ldexp(static_cast<float>(i % 101) - 50, -149 + static_cast<int>(i % 45))
                 : 0.01F * static_cast<float>(i % 89) + 0.003F;
        if (i % 7 == 0) values[i] = special[i / 7 % special.size()];
        if (at == 3 && i % 3 != 0) values[i] = 0;
    }
    std::vector<std::byte> before(values.size() * bytes);
    storeFromFloat(type, values.data(), before.data(), values.size());
    const auto after = [&](bool guarded) {
        std::vector<std::byte> arena(before);
        const auto loop = VectorLoop::compile(rowsSet(), steps, {}, guarded);
        for (int run = 0; loop && run < 3; ++run)
            loop->run(Arena(arena.data()), scratch.data(), 0, kRows, kSomeColumns);
        return arena;
    };
    const std::vector<std::byte> plain = after(false);
    QVERIFY(plain != before);
    QVERIFY(after(true) == plain);
}

} // namespace tst_vector_loop

QTEST_GUILESS_MAIN(tst_vector_loop::TestVectorLoop)
#include "tst_vector_loop.moc"
