// Convolutions and pools of images whose channels are last, beside the same ones on planes.
#include "engine/core/vector_set.h"
#include "engine/cpu/cpu_kernels.h"
#include "engine/ops/functional.h"
#include "engine/passes/autodiff.h"
#include "tests/support/gradient_check.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/run_program.h"

#include <QTest>

#include <cmath>
#include <limits>

namespace tst_channel_images {

using namespace halfscope;
using Values = std::vector<double>;

namespace {

constexpr uint64_t kSeed = 4431;

/// Brings values of planes (n, c, h, w) into (n, h, w, c), or back.
Values moved(const Values& values, const Shape& planes, bool last) {
    Values to(values.size());
    const int64_t places = planes[2] * planes[3];
    for (int64_t n = 0; n < planes[0]; ++n)
        for (int64_t c = 0; c < planes[1]; ++c)
            for (int64_t at = 0; at < places; ++at) {
                const auto plane = static_cast<size_t>((n * planes[1] + c) * places + at);
                const auto pixel = static_cast<size_t>((n * places + at) * planes[1] + c);
                to[last ? pixel : plane] = values[last ? plane : pixel];
            }
    return to;
}

/// An operand or result of rank 4, and how it is stored.
struct Image {
    Shape planes;
    bool last = false;
    Shape stored() const { return last ? channelsLast(planes) : planes; }
    RefTensor tensor(const Values& ofPlanes) const {
        return {stored(), last ? moved(ofPlanes, planes, true) : ofPlanes};
    }
    Values ofPlanes(const Values& values) const {
        return last ? moved(values, planes, false) : values;
    }
};

/// Runs one op on the CPU and returns the planes of its result.
Values run(Op op, std::span<const Image> in, std::span<const Values> values, const Image& out,
           DType dtype, const Attrs& attrs) {
    Graph graph;
    Builder b(graph);
    std::vector<NodeId> ids;
    std::map<NodeId, RefTensor> leaves;
    for (size_t i = 0; i < in.size(); ++i) {
        ids.push_back(b.input("in" + std::to_string(i), in[i].stored(), dtype));
        leaves[ids.back()] = in[i].tensor(values[i]);
    }
    graph.addOutput("y", b.emit(op, ids, attrs));
    return out.ofPlanes(test::runSteps(graph, leaves, FuseOptions::Full, 2, 1).at("y"));
}

Values drawn(const Shape& shape, DType dtype, uint64_t stream) {
    Values values = test::randomTensor(shape, kSeed, stream, -1, 1).values;
    for (double& v : values)
        v = roundTo(dtype, v);
    return values;
}

constexpr std::array kTypes{DType::F32, DType::F16, DType::BF16};

struct Convolution {
    Shape image, weight;
    ConvAttrs how;
};
const std::vector<Convolution>& convolutions() {
    static const std::vector<Convolution> all{
        {{9, 16, 9, 11}, {32, 16, 3, 3}, {{1, 1}, {1, 1}, {}}},
        {{8, 20, 7, 7}, {24, 20, 3, 3}, {{2, 2}, {1, 1}, {}}},
        {{17, 1, 12, 12}, {16, 1, 3, 3}, {{1, 1}, {1, 1}, {}}},
        {{8, 32, 5, 5}, {16, 32, 1, 1}, {{2, 2}, {0, 0}, {}}},
    };
    return all;
}

} // namespace

class TestChannelImages : public QObject {
    Q_OBJECT

private slots:
    void convolve_data() {
        QTest::addColumn<int>("which");
        QTest::addColumn<int>("op");
        QTest::addColumn<int>("dtype");
        for (size_t i = 0; i < convolutions().size(); ++i)
            for (const Op op : {Op::Conv2d, Op::Conv2dInputGrad, Op::Conv2dWeightGrad})
                for (const DType type : kTypes)
                    QTest::addRow("%s of %s in %s", nameOf(op).data(),
                                  convolutions()[i].image.text().c_str(), nameOf(type).data())
                        << static_cast<int>(i) << static_cast<int>(op) << static_cast<int>(type);
    }

    /// With the image, the output, or both channels last; each is compared with planes.
    void convolve() {
        QFETCH(int, which);
        QFETCH(int, op);
        QFETCH(int, dtype);
        const auto type = static_cast<DType>(dtype);
        const auto kind = static_cast<Op>(op);
        const Convolution& of = convolutions()[static_cast<size_t>(which)];
        ConvAttrs attrs = of.how;
        const Shape output = test::outOf(of.image, of.weight, attrs);
        if (kind == Op::Conv2dInputGrad) attrs.target = {of.image[2], of.image[3]};
        if (kind == Op::Conv2dWeightGrad) attrs.target = {of.weight[2], of.weight[3]};
        const auto result = [&](bool imageLast, bool outputLast) {
            const Image image{of.image, imageLast}, y{output, outputLast}, weight{of.weight};
            const Image &a = kind == Op::Conv2dInputGrad ? y : image,
                        &b = kind == Op::Conv2dWeightGrad ? y : weight,
                        &out = kind == Op::Conv2d            ? y
                               : kind == Op::Conv2dInputGrad ? image
                                                             : weight;
            attrs.imageLast = imageLast;
            attrs.outputLast = outputLast;
            const std::array values{drawn(a.planes, type, 1), drawn(b.planes, type, 2)};
            return run(kind, std::array{a, b}, values, out, type, attrs);
        };
        if (!isTaken(of, kind, type)) {
            QVERIFY2(usedVectorSet() < VectorSet::Avx512 || !gemmLibrary().starts_with("oneDNN"),
                     "the library has kernels for channels last here");
            QSKIP("no library with kernels for channels last");
        }
        const Values wanted = result(false, false);
        // A sum of n terms below 1 in another order, and one rounding of each.
        const double terms =
            static_cast<double>(kind == Op::Conv2d            ? of.weight.elements() / of.weight[0]
                                : kind == Op::Conv2dInputGrad ? of.weight.elements() / of.weight[1]
                                                              : output.elements() / output[1]);
        for (const auto& [imageLast, outputLast] :
             {std::pair{true, false}, std::pair{false, true}, std::pair{true, true}}) {
            const Values got = result(imageLast, outputLast);
            for (size_t i = 0; i < got.size(); ++i) {
                const double bound = 2 * terms * terms * formatOf(DType::F32).unitRoundoff() +
                                     2 * formatOf(type).unitRoundoff() * std::fabs(wanted[i]);
                QVERIFY2(std::fabs(got[i] - wanted[i]) <= bound,
                         qPrintable(QString("%1: %2, not %3").arg(i).arg(got[i]).arg(wanted[i])));
            }
        }
    }

    void pool_data() {
        QTest::addColumn<int>("which");
        QTest::addColumn<int>("dtype");
        for (int i = 0; i < static_cast<int>(pools().size()); ++i)
            for (const DType type : kTypes)
                QTest::addRow("%d %s", i, nameOf(type).data()) << i << static_cast<int>(type);
    }

    /// All three ops have the bits of planes, equal values and NaN included.
    void pool() {
        QFETCH(int, which);
        QFETCH(int, dtype);
        const auto type = static_cast<DType>(dtype);
        PoolAttrs how = pools()[static_cast<size_t>(which)];
        const Shape image{3, 5, 7, 9};
        Values values = drawn(image, type, 3);
        for (size_t i = 0; i < values.size(); i += 3)
            values[i] = std::round(2 * values[i]) / 2; // many are equal, some are -0
        values[40] = values[41] = values[200] = std::numeric_limits<double>::quiet_NaN();
        const Shape pooled{image[0], image[1],
                           (image[2] + 2 * how.padding[0] - how.kernel[0]) / how.stride[0] + 1,
                           (image[3] + 2 * how.padding[1] - how.kernel[1]) / how.stride[1] + 1};
        const auto same = [&](Op op, const Shape& from, const Shape& to, const Values& in) {
            how.target = op == Op::AvgPool2dGrad ? Shape{image[2], image[3]} : Shape{};
            how.channelsLast = false;
            const std::array ofValues{in};
            const Values planes = run(op, std::array{Image{from}}, ofValues, Image{to}, type, how);
            how.channelsLast = true;
            const Values last =
                run(op, std::array{Image{from, true}}, ofValues, Image{to, true}, type, how);
            for (size_t i = 0; i < planes.size(); ++i)
                if (std::isnan(planes[i])
                        ? !std::isnan(last[i])
                        : planes[i] != last[i] || std::signbit(planes[i]) != std::signbit(last[i]))
                    return false;
            return planes.size() == last.size();
        };
        QVERIFY(same(Op::MaxPool2dIndex, image, pooled, values));
        QVERIFY(same(Op::AvgPool2d, image, pooled, values));
        QVERIFY(same(Op::AvgPool2dGrad, pooled, image, drawn(pooled, type, 4)));
    }

    void steps_data() {
        QTest::addColumn<int>("dtype");
        for (const DType type : kTypes)
            QTest::newRow(nameOf(type).data()) << static_cast<int>(type);
    }

    /// A step between whose convolutions images have their channels last has the same bits on any
    /// number of threads, and the values of the step on planes.
    void steps() {
        QFETCH(int, dtype);
        const auto type = static_cast<DType>(dtype);
        Graph graph;
        Builder b(graph);
        std::map<NodeId, RefTensor> leaves;
        const auto input = [&](const char* name, const Shape& shape, DType of) {
            const NodeId id = b.input(name, shape, of);
            leaves[id] = {shape, drawn(shape, of, leaves.size() + 10)};
            return id;
        };
        const ConvAttrs same{{1, 1}, {1, 1}, {}};
        const NodeId x = input("x", {9, 1, 12, 12}, type);
        const NodeId first = input("first", {16, 1, 3, 3}, type);
        const NodeId second = input("second", {20, 16, 3, 3}, type);
        const auto norm = [&](NodeId y, const char* name) {
            const int64_t channels = b.shapeOf(y)[1];
            const NodeId weight = input(name, {channels}, DType::F32);
            return fn::batchNorm(b, y, weight, weight, 1, 1e-5).y;
        };
        NodeId y = b.unary(Op::Relu, norm(b.emit(Op::Conv2d, {x, first}, same), "one"));
        y = fn::maxPool2d(b, y, {{2, 2}, {2, 2}, {0, 0}, {}});
        y = norm(b.emit(Op::Conv2d, {y, second}, same), "two");
        y = b.cast(fn::avgPool2d(b, y, {{2, 2}, {2, 2}, {0, 0}, {}}), DType::F32);
        const NodeId loss = b.sumAll(b.mul(y, y));
        graph.addOutput("loss", loss);
        const std::array wrt{first, second};
        const auto found = gradients(b, loss, wrt);
        graph.addOutput("gradient 0", *found[0]);
        graph.addOutput("gradient 1", *found[1]);

        const auto executor = makeCpuExecutor(1);
        CompileOptions options = executor->compileOptions();
        const Program program = compile(graph, options);
        int last = 0;
        for (NodeId id = 0; id < program.graph.size(); ++id)
            last += hasChannelsLast(program.graph[id].attrs) ? 1 : 0;
        if (usedVectorSet() >= VectorSet::Avx512 && gemmLibrary().starts_with("oneDNN"))
            QVERIFY2(last >= 5, std::to_string(last).c_str());
        const auto one = recorded::runGraph(*executor, graph, leaves, options);
        QVERIFY(one == recorded::runGraph(*makeCpuExecutor(3), graph, leaves, options));
        options.takesChannelsLast = nullptr;
        const auto planes = recorded::runGraph(*executor, graph, leaves, options);
        for (const auto& [name, wanted] : planes) {
            double largest = 0;
            for (const double v : wanted)
                largest = std::max(largest, std::fabs(v));
            // Roundings of either step go through two norms and back: some tens of them.
            const double bound = 64 * formatOf(type).unitRoundoff() * largest;
            for (size_t i = 0; i < wanted.size(); ++i)
                QVERIFY2(std::fabs(one.at(name)[i] - wanted[i]) <= bound,
                         qPrintable(QString("%1[%2]: %3, not %4")
                                        .arg(QString::fromStdString(name))
                                        .arg(i)
                                        .arg(one.at(name)[i])
                                        .arg(wanted[i])));
        }
    }

private:
    static const std::vector<PoolAttrs>& pools() {
        static const std::vector<PoolAttrs> all{{{2, 2}, {2, 2}, {0, 0}, {}},
                                                {{3, 3}, {2, 2}, {1, 1}, {}},
                                                {{3, 2}, {1, 3}, {1, 0}, {}},
                                                {{7, 9}, {1, 1}, {0, 0}, {}}};
        return all;
    }
    static bool isTaken(const Convolution& of, Op op, DType type) {
        Graph graph;
        Builder b(graph);
        ConvAttrs attrs = of.how;
        const Shape output = test::outOf(of.image, of.weight, attrs);
        if (op == Op::Conv2dInputGrad) attrs.target = {of.image[2], of.image[3]};
        if (op == Op::Conv2dWeightGrad) attrs.target = {of.weight[2], of.weight[3]};
        const NodeId a = b.input("a", op == Op::Conv2dInputGrad ? output : of.image, type);
        const NodeId w = b.input("b", op == Op::Conv2dWeightGrad ? output : of.weight, type);
        return cpuTakesChannelsLast(graph, b.emit(op, {a, w}, attrs));
    }
};

} // namespace tst_channel_images

QTEST_GUILESS_MAIN(tst_channel_images::TestChannelImages)
#include "tst_channel_images.moc"
