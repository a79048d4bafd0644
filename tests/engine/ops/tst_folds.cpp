// What emission simplifies: folds that are exact for every value happen, and folds that would not
// be exact do not.
#include "engine/ops/builder.h"
#include "engine/ops/inspect.h"
#include "tests/support/graph_bench.h"

#include <QtTest>

#include <functional>
#include <limits>

namespace tst_folds {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// A fold: the built node must be the wanted one.
struct Fold {
    const char* name;
    std::function<NodeId(Bench&)> build, wanted;
};

NodeId inputX(Bench& t) { return t.x; }

std::vector<Fold> arithmeticFolds() {
    return {
        {"x * 1", [](Bench& t) { return t.b.scale(t.x, 1); }, inputX},
        {"1 * x", [](Bench& t) { return t.b.mul(t.like(t.x, 1), t.x); }, inputX},
        {"x + -0", [](Bench& t) { return t.b.shift(t.x, -0.0); }, inputX},
        {"-0 + x", [](Bench& t) { return t.b.add(t.like(t.x, -0.0), t.x); }, inputX},
        {"x - 0", [](Bench& t) { return t.b.sub(t.x, t.like(t.x, 0)); }, inputX},
        {"x / 1", [](Bench& t) { return t.b.div(t.x, t.like(t.x, 1)); }, inputX},
        {"x ^ 1",
         [](Bench& t) {
             return t.b.emit(Op::Pow, {t.x, t.like(t.x, 1)});
         },
         inputX},
        {"neg neg", [](Bench& t) { return t.b.neg(t.b.neg(t.x)); }, inputX},
        {"equal branches", [](Bench& t) { return t.b.where(t.mask, t.x, t.x); }, inputX},
        {"known condition",
         [](Bench& t) {
             return t.b.where(t.b.constant(1, {2, 3}, DType::Bool), t.x, t.like(t.x, 2));
         },
         inputX},
        {"same dtype", [](Bench& t) { return t.b.cast(t.x, DType::F32); }, inputX},
        {"up and down", [](Bench& t) { return t.b.cast(t.b.cast(t.h, DType::F32), DType::F16); },
         [](Bench& t) { return t.h; }},
        {"up and across", [](Bench& t) { return t.b.cast(t.b.cast(t.h, DType::F32), DType::BF16); },
         [](Bench& t) { return t.b.cast(t.h, DType::BF16); }},
        {"constants", [](Bench& t) { return t.b.mul(t.like(t.h, 3), t.like(t.h, 0.5)); },
         [](Bench& t) { return t.like(t.h, 1.5); }},
        {"constant rounds once",
         [](Bench& t) { return t.b.add(t.like(t.h, 2048), t.like(t.h, 1)); },
         [](Bench& t) { return t.like(t.h, 2048); }},
        {"constant overflows", [](Bench& t) { return t.b.scale(t.like(t.h, 65504), 2); },
         [](Bench& t) { return t.like(t.h, kInf); }},
        {"constant mask",
         [](Bench& t) {
             return t.b.emit(Op::Less, {t.like(t.x, 1), t.like(t.x, 2)});
         },
         [](Bench& t) {
             return t.b.constant(1, {2, 3}, DType::Bool);
         }},
        {"constant cast", [](Bench& t) { return t.b.cast(t.like(t.x, -2.7), DType::I32); },
         [](Bench& t) {
             return t.b.constant(-2, {2, 3}, DType::I32);
         }},
    };
}

std::vector<Fold> movementFolds() {
    return {
        {"reshape to itself",
         [](Bench& t) {
             return t.b.reshape(t.x, {2, 3});
         },
         inputX},
        {"reshape back",
         [](Bench& t) {
             return t.b.reshape(t.b.reshape(t.x, {6}), {2, 3});
         },
         inputX},
        {"reshape twice",
         [](Bench& t) {
             return t.b.reshape(t.b.reshape(t.x, {6}), {3, 2});
         },
         [](Bench& t) {
             return t.b.reshape(t.x, {3, 2});
         }},
        {"identity permutation",
         [](Bench& t) {
             return t.b.transpose(t.x, {0, 1});
         },
         inputX},
        {"transpose back",
         [](Bench& t) {
             return t.b.transpose(t.b.transpose(t.x, {1, 0}), {1, 0});
         },
         inputX},
        {"transpose twice",
         [](Bench& t) {
             const NodeId cube = t.b.expand(t.x, {4, 2, 3});
             return t.b.transpose(t.b.transpose(cube, {1, 2, 0}), {0, 2, 1});
         },
         [](Bench& t) {
             return t.b.transpose(t.b.expand(t.x, {4, 2, 3}), {1, 0, 2});
         }},
    };
}

std::vector<Fold> expansionFolds() {
    return {
        {"expand to itself",
         [](Bench& t) {
             return t.b.expand(t.x, {2, 3});
         },
         inputX},
        {"expand twice",
         [](Bench& t) {
             return t.b.expand(t.b.expand(t.column, {2, 3}), {4, 2, 3});
         },
         [](Bench& t) {
             return t.b.expand(t.column, {4, 2, 3});
         }},
        {"expand a constant",
         [](Bench& t) { return t.b.expand(t.b.constant(2, {}, DType::F16), {5}); },
         [](Bench& t) { return t.b.constant(2, {5}, DType::F16); }},
        {"slice all", [](Bench& t) { return t.b.slice(t.x, 0, 0, 2); }, inputX},
        {"pad nothing",
         [](Bench& t) {
             return t.b.emit(Op::Pad, {t.x}, PadAttrs{{0, 0}, {0, 0}, {0, 0}, 0});
         },
         inputX},
        {"concat one", [](Bench& t) { return t.b.concat(std::vector{t.x}, 0); }, inputX},
        {"sum over extent 1", [](Bench& t) { return t.b.sum(t.column, {1}); },
         [](Bench& t) { return t.column; }},
        {"sum over nothing", [](Bench& t) { return t.b.sum(t.x, {}); }, inputX},
        {"sumTo itself",
         [](Bench& t) {
             return t.b.sumTo(t.x, {2, 3});
         },
         inputX},
    };
}

/// Returns what must stay because the fold would not be exact.
std::vector<Fold> keptNodes() {
    return {
        {"x + 0", [](Bench& t) { return t.b.shift(t.x, 0); }, inputX},
        {"x - -0", [](Bench& t) { return t.b.sub(t.x, t.like(t.x, -0.0)); }, inputX},
        {"0 - x", [](Bench& t) { return t.b.sub(t.like(t.x, 0), t.x); }, inputX},
        {"x * 0", [](Bench& t) { return t.b.scale(t.x, 0); },
         [](Bench& t) { return t.like(t.x, 0); }},
        {"1 / x", [](Bench& t) { return t.b.div(t.like(t.x, 1), t.x); }, inputX},
        {"down and up", [](Bench& t) { return t.b.cast(t.b.cast(t.x, DType::F16), DType::F32); },
         inputX},
        {"half over bfloat16",
         [](Bench& t) { return t.b.cast(t.b.cast(t.h, DType::BF16), DType::F16); },
         [](Bench& t) { return t.h; }},
        {"int over f32",
         [](Bench& t) { return t.b.cast(t.b.cast(t.index, DType::F32), DType::I32); },
         [](Bench& t) { return t.index; }},
        {"every second", [](Bench& t) { return t.b.slice(t.x, 1, 0, 3, 2); }, inputX},
    };
}

std::vector<Fold> allFolds() {
    std::vector<Fold> all = arithmeticFolds();
    for (const auto& more : {movementFolds(), expansionFolds()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

void addRows(const std::vector<Fold>& rows) {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < rows.size(); ++i)
        QTest::newRow(rows[i].name) << static_cast<int>(i);
}

} // namespace

class TestFolds : public QObject {
    Q_OBJECT

private slots:
    void folds_data() { addRows(allFolds()); }
    void folds();
    void keeps_data() { addRows(keptNodes()); }
    void keeps();
};

void TestFolds::folds() {
    QFETCH(int, index);
    const Fold row = allFolds()[static_cast<size_t>(index)];
    Bench bench;
    const NodeId built = row.build(bench), wanted = row.wanted(bench);
    QVERIFY2(built == wanted, graphText(bench.graph).c_str());
    validate(bench.graph);
}

void TestFolds::keeps() {
    QFETCH(int, index);
    const Fold row = keptNodes()[static_cast<size_t>(index)];
    Bench bench;
    QVERIFY(row.build(bench) != row.wanted(bench));
}

} // namespace tst_folds

QTEST_GUILESS_MAIN(tst_folds::TestFolds)
#include "tst_folds.moc"
