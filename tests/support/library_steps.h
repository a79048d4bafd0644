// Steps whose products are computed by a library, on the fake CUDA machine.
#pragma once

#include "engine/ops/builder.h"
#include "tests/support/cuda_lane.h"

#include <cmath>

namespace halfscope::test {

inline bool isProduct(Op op) {
    return op == Op::Matmul || op == Op::Conv2d || op == Op::Conv2dInputGrad ||
           op == Op::Conv2dWeightGrad;
}

/// Writes steps in which the libraries compute every product, however small.
inline cuda::StepSource writeForLibraries(const Program& program, const cuda::DeviceTraits& traits,
                                          const cuda::SourceOptions& options) {
    cuda::SourceOptions plain = options;
    plain.libraries = cuda::Libraries::Unused;
    plain.merge = cuda::Merge::OneByOne;
    plain.chains = cuda::Chains::Unfused;
    cuda::StepSource source = cuda::writeStep(program, traits, plain);
    for (cuda::Launch& launch : source.launches) {
        if (launch.kernels.size() != 1 || options.libraries == cuda::Libraries::Unused) continue;
        const NodeId node = source.program.kernels[launch.kernels.front()].members.front();
        const Op op = source.program.graph[node].op;
        if (!isProduct(op)) continue;
        if (op != Op::Matmul && options.convolutions == cuda::Libraries::Unused) continue;
        if (options.refused.contains(node)) continue;
        launch.kind = op == Op::Matmul ? cuda::LaunchKind::Matmul : cuda::LaunchKind::Convolution;
        launch.node = node;
    }
    return source;
}

inline std::unique_ptr<Executor>
executorOf(cuda::Platform& platform, const std::string& cache = {},
           cuda::StepSource (*write)(const Program&, const cuda::DeviceTraits&,
                                     const cuda::SourceOptions&) = writeForLibraries) {
    return std::make_unique<cuda::CudaExecutor>(platform.open(0),
                                                cuda::StepWriter{write, cuda::describeLaunch},
                                                cuda::SourceOptions{}, cuda::FileCache(cache));
}

enum class Bias : uint8_t { No, Yes };

/// Returns a program of one product with inputs "a", "b" and perhaps "bias", and output "y".
inline std::shared_ptr<const Program> productOf(Op op, const Shape& a, const Shape& b, DType dtype,
                                                const Attrs& attrs, MathMode math = MathMode::F32,
                                                Bias bias = Bias::No) {
    Graph graph;
    Builder builder(graph);
    builder.setMathMode(math);
    builder.setLabel("layer 1");
    const NodeId x = builder.input("a", a, dtype), w = builder.input("b", b, dtype);
    std::vector<NodeId> in{x, w};
    if (bias == Bias::Yes) {
        const bool turned = std::get<MatmulAttrs>(attrs).transposeB;
        in.push_back(builder.input("bias", {turned ? b[b.rank() - 2] : b.back()}, dtype));
    }
    graph.addOutput("y", builder.emit(op, in, attrs));
    return std::make_shared<const Program>(compile(graph));
}

/// Returns a product of 16-bit operands with large enough extents.
inline std::shared_ptr<const Program> smallProduct(bool convolution) {
    if (convolution)
        return productOf(Op::Conv2d, {1, 2, 5, 5}, {2, 2, 3, 3}, DType::F16, ConvAttrs{});
    return productOf(Op::Matmul, {5, 7}, {7, 3}, DType::F16, MatmulAttrs{});
}

/// Returns output "y" on normally distributed inputs.
inline std::vector<float> resultOf(Executor& executor,
                                   const std::shared_ptr<const Program>& program) {
    const Graph& graph = program->graph;
    executor.load(program);
    uint64_t stream = 1;
    for (const InputInfo& input : graph.inputs()) {
        std::vector<float> values(static_cast<size_t>(graph[input.node].elements()));
        Philox(9, stream++).fillNormal(values);
        uploadFloats(executor, graph, input.node, values);
    }
    executor.run(RunMode::Captured);
    return downloadFloats(executor, graph, graph.output("y"));
}

/// Bounds a sum of `terms` products in f32, in any order, and then one rounding to the dtype. The
/// error is relative to the sum of the terms' sizes, which normal inputs keep below `terms` (a mean
/// of 2/pi each).
inline double boundOf(DType dtype, int64_t terms, double value) {
    const double f32 = formatOf(DType::F32).unitRoundoff();
    return 2 * static_cast<double>(terms) * static_cast<double>(terms) * f32 +
           2 * formatOf(dtype).unitRoundoff() * std::abs(value);
}

} // namespace halfscope::test
