// cuDNN descriptors and algorithms, by the functions that each name one algorithm. cuDNN 9 marks
// them as old, but they do all that is needed here.
#include "engine/cuda/conv.h"

#include "engine/core/error.h"

#include <algorithm>
#include <optional>

namespace halfscope::cuda {
namespace {

constexpr int kMostCandidates = 8;
constexpr size_t kMostConvolutionWorkspace = size_t{128} << 20;

using TensorDesc = Owned<cudnnTensorDescriptor_t, cudnnStatus_t>;
using FilterDesc = Owned<cudnnFilterDescriptor_t, cudnnStatus_t>;
using ConvDesc = Owned<cudnnConvolutionDescriptor_t, cudnnStatus_t>;

/// One of cuDNN's algorithms; the enum of its direction is kept as a number.
struct Candidate {
    int algorithm = 0;
    cudnnMathType_t math = CUDNN_DEFAULT_MATH;
    size_t workspace = 0;
};

cudnnDataType_t typeOf(DType dtype) {
    switch (dtype) {
    case DType::F16: return CUDNN_DATA_HALF;
    case DType::BF16: return CUDNN_DATA_BFLOAT16;
    case DType::F32: return CUDNN_DATA_FLOAT;
    default: failInvariant("cuda: a convolution of " + std::string(nameOf(dtype)));
    }
}

std::string_view nameOfOp(Op op) {
    return op == Op::Conv2d            ? "convolution"
           : op == Op::Conv2dInputGrad ? "input gradient of convolution"
                                       : "weight gradient of convolution";
}

int narrow(int64_t value) {
    require(value >= 0 && value < int64_t{1} << 31, "cuda: an extent beyond cuDNN's range");
    return static_cast<int>(value);
}

/// Whether an algorithm uses only products and sums: transforms (FFT, Winograd) round in between.
bool isPlain(Op op, int algorithm) {
    if (op == Op::Conv2d) return algorithm <= CUDNN_CONVOLUTION_FWD_ALGO_GEMM;
    return algorithm == (op == Op::Conv2dInputGrad ? int{CUDNN_CONVOLUTION_BWD_DATA_ALGO_1}
                                                   : int{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1});
}

bool isStrict(const Node& node) { return node.dtype == DType::F32 && node.math != MathMode::TF32; }

/// Returns the math type with which an algorithm is run. Strict f32 uses no tensor cores: an
/// algorithm that is offered for them is not used, and one of the default kind, which may use them,
/// is told not to.
std::optional<cudnnMathType_t> mathFor(const Node& node, cudnnMathType_t offered) {
    if (!isStrict(node)) return offered;
    if (offered != CUDNN_FMA_MATH && offered != CUDNN_DEFAULT_MATH) return std::nullopt;
    return CUDNN_FMA_MATH;
}

template <class Perf>
std::vector<Candidate> takeFrom(const Node& node, const std::vector<Perf>& found, int count) {
    std::vector<Candidate> candidates;
    for (int i = 0; i < count; ++i) {
        const Perf& perf = found[static_cast<size_t>(i)];
        const std::optional<cudnnMathType_t> math = mathFor(node, perf.mathType);
        if (perf.status == CUDNN_STATUS_SUCCESS && perf.determinism == CUDNN_DETERMINISTIC &&
            perf.memory <= kMostConvolutionWorkspace && isPlain(node.op, perf.algo) && math)
            candidates.push_back({static_cast<int>(perf.algo), *math, perf.memory});
    }
    return candidates;
}

} // namespace

struct ConvolutionPlan::Impl {
    Device& device;
    Node node;
    std::string what;
    NodeId imageNode, weightNode, outputNode;
    CUdeviceptr imageAt = 0, weightAt = 0, outputAt = 0; ///< in the arena
    std::array<Trial::Operand, 2> operands;              ///< in the arena
    TensorDesc image, output;
    FilterDesc weight;
    ConvDesc conv;
    std::vector<Candidate> candidates;
    size_t chosen = 0, workspaceBytes = 0;

    Impl(Device& usedDevice, const Program& program, NodeId id);
    TensorDesc tensor(const Node& of) const;
    void describe(const Graph&);
    std::vector<Candidate> ask() const;
    cudnnStatus_t call(const Candidate&, CUdeviceptr arena, CUdeviceptr workspace, CUstream) const;
    cudnnStatus_t callOnItsStream(const Candidate&, CUdeviceptr arena, CUdeviceptr workspace) const;
};

ConvolutionPlan::Impl::Impl(Device& usedDevice, const Program& program, NodeId id)
    : device(usedDevice), node(program.graph[id]) {
    const NodeId a = node.in[0], b = node.in[1];
    imageNode = node.op == Op::Conv2dInputGrad ? id : a;
    weightNode = node.op == Op::Conv2dWeightGrad ? id : b;
    outputNode = node.op == Op::Conv2d ? id : node.op == Op::Conv2dInputGrad ? a : b;
    const Graph& graph = program.graph;
    const auto& how = std::get<ConvAttrs>(node.attrs);
    // Seen on an H200 with cuDNN 9.19: some results are a whole step of float16 off, as if parts of
    // their sums were rounded.
    if (node.op == Op::Conv2dInputGrad && node.dtype == DType::F16 &&
        (how.stride[0] > 1 || how.stride[1] > 1))
        throw NoConvolution(
            phrase("Devices", "%1: cuDNN rounds parts of its sums where float16 has a stride"),
            nameOfOp(node.op));
    const auto offset = [&](NodeId of) {
        return static_cast<CUdeviceptr>(program.memory.offset[static_cast<size_t>(of)]);
    };
    imageAt = offset(imageNode);
    weightAt = offset(weightNode);
    outputAt = offset(outputNode);
    for (size_t i = 0; i < 2; ++i)
        operands[i] = {offset(node.in[i]), graph[node.in[i]].bytes(), graph[node.in[i]].dtype};
    what = std::string(nameOfOp(node.op)) + " '" + node.cause.label + "' " + graph[a].shape.text() +
           " and " + graph[b].shape.text() + ", " + std::string(nameOf(node.dtype));
    describe(graph);
    candidates = ask();
    if (candidates.empty())
        throw NoConvolution(
            phrase("Devices", "%1: cuDNN has no deterministic algorithm for it on %2"), what,
            device.info().name);
    for (const Candidate& candidate : candidates)
        workspaceBytes = std::max(workspaceBytes, candidate.workspace);
}

TensorDesc ConvolutionPlan::Impl::tensor(const Node& of) const {
    const DnnApi& dnn = device.api().dnn;
    cudnnTensorDescriptor_t made = nullptr;
    device.check(dnn.cudnnCreateTensorDescriptor(&made), what);
    TensorDesc owned(made, dnn.cudnnDestroyTensorDescriptor);
    const Shape& s = of.shape;
    device.check(dnn.cudnnSetTensor4dDescriptor(made, CUDNN_TENSOR_NCHW, typeOf(of.dtype),
                                                narrow(s[0]), narrow(s[1]), narrow(s[2]),
                                                narrow(s[3])),
                 what);
    return owned;
}

void ConvolutionPlan::Impl::describe(const Graph& graph) {
    const DnnApi& dnn = device.api().dnn;
    image = tensor(graph[imageNode]);
    output = tensor(graph[outputNode]);
    cudnnFilterDescriptor_t filter = nullptr;
    device.check(dnn.cudnnCreateFilterDescriptor(&filter), what);
    weight = FilterDesc(filter, dnn.cudnnDestroyFilterDescriptor);
    const Node& w = graph[weightNode];
    device.check(dnn.cudnnSetFilter4dDescriptor(filter, typeOf(w.dtype), CUDNN_TENSOR_NCHW,
                                                narrow(w.shape[0]), narrow(w.shape[1]),
                                                narrow(w.shape[2]), narrow(w.shape[3])),
                 what);
    cudnnConvolutionDescriptor_t made = nullptr;
    device.check(dnn.cudnnCreateConvolutionDescriptor(&made), what);
    conv = ConvDesc(made, dnn.cudnnDestroyConvolutionDescriptor);
    const auto& how = std::get<ConvAttrs>(node.attrs);
    device.check(dnn.cudnnSetConvolution2dDescriptor(
                     made, narrow(how.padding[0]), narrow(how.padding[1]), narrow(how.stride[0]),
                     narrow(how.stride[1]), narrow(how.dilation[0]), narrow(how.dilation[1]),
                     CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                 what);
    if (how.groups > 1)
        device.check(dnn.cudnnSetConvolutionGroupCount(made, narrow(how.groups)), what);
    device.check(dnn.cudnnSetConvolutionMathType(made, isStrict(node) ? CUDNN_FMA_MATH
                                                                      : CUDNN_TENSOR_OP_MATH),
                 what);
}

std::vector<Candidate> ConvolutionPlan::Impl::ask() const {
    const DnnApi& dnn = device.api().dnn;
    cudnnHandle_t handle = device.dnn();
    int count = 0;
    if (node.op == Op::Conv2d) {
        std::vector<cudnnConvolutionFwdAlgoPerf_t> found(kMostCandidates);
        device.check(dnn.cudnnGetConvolutionForwardAlgorithm_v7(
                         handle, image.get(), weight.get(), conv.get(), output.get(),
                         kMostCandidates, &count, found.data()),
                     what);
        return takeFrom(node, found, count);
    }
    if (node.op == Op::Conv2dInputGrad) {
        std::vector<cudnnConvolutionBwdDataAlgoPerf_t> found(kMostCandidates);
        device.check(dnn.cudnnGetConvolutionBackwardDataAlgorithm_v7(
                         handle, weight.get(), output.get(), conv.get(), image.get(),
                         kMostCandidates, &count, found.data()),
                     what);
        return takeFrom(node, found, count);
    }
    std::vector<cudnnConvolutionBwdFilterAlgoPerf_t> found(kMostCandidates);
    device.check(dnn.cudnnGetConvolutionBackwardFilterAlgorithm_v7(
                     handle, image.get(), output.get(), conv.get(), weight.get(), kMostCandidates,
                     &count, found.data()),
                 what);
    return takeFrom(node, found, count);
}

cudnnStatus_t ConvolutionPlan::Impl::call(const Candidate& candidate, CUdeviceptr arena,
                                          CUdeviceptr workspace, CUstream stream) const {
    const DnnApi& dnn = device.api().dnn;
    cudnnStatus_t status = dnn.cudnnSetStream(device.dnn(), stream);
    if (status == CUDNN_STATUS_SUCCESS)
        status = dnn.cudnnSetConvolutionMathType(conv.get(), candidate.math);
    if (status == CUDNN_STATUS_SUCCESS) status = callOnItsStream(candidate, arena, workspace);
    if (stream == device.stream()) return status;
    // The handle outlives a captured stream, and waits for its stream when it is destroyed.
    const cudnnStatus_t restored = dnn.cudnnSetStream(device.dnn(), device.stream());
    return status != CUDNN_STATUS_SUCCESS ? status : restored;
}

cudnnStatus_t ConvolutionPlan::Impl::callOnItsStream(const Candidate& candidate, CUdeviceptr arena,
                                                     CUdeviceptr workspace) const {
    const DnnApi& dnn = device.api().dnn;
    const float one = 1, zero = 0; // read by the call, not by the device
    const auto at = [&](CUdeviceptr offset) { return reinterpret_cast<void*>(arena + offset); };
    void* const scratch = reinterpret_cast<void*>(workspace);
    cudnnHandle_t handle = device.dnn();
    if (node.op == Op::Conv2d)
        return dnn.cudnnConvolutionForward(
            handle, &one, image.get(), at(imageAt), weight.get(), at(weightAt), conv.get(),
            static_cast<cudnnConvolutionFwdAlgo_t>(candidate.algorithm), scratch,
            candidate.workspace, &zero, output.get(), at(outputAt));
    if (node.op == Op::Conv2dInputGrad)
        return dnn.cudnnConvolutionBackwardData(
            handle, &one, weight.get(), at(weightAt), output.get(), at(outputAt), conv.get(),
            static_cast<cudnnConvolutionBwdDataAlgo_t>(candidate.algorithm), scratch,
            candidate.workspace, &zero, image.get(), at(imageAt));
    return dnn.cudnnConvolutionBackwardFilter(
        handle, &one, image.get(), at(imageAt), output.get(), at(outputAt), conv.get(),
        static_cast<cudnnConvolutionBwdFilterAlgo_t>(candidate.algorithm), scratch,
        candidate.workspace, &zero, weight.get(), at(weightAt));
}

ConvolutionPlan::ConvolutionPlan(Device& device, const Program& program, NodeId id)
    : m_impl(std::make_unique<Impl>(device, program, id)) {}
ConvolutionPlan::~ConvolutionPlan() = default;
ConvolutionPlan::ConvolutionPlan(ConvolutionPlan&&) noexcept = default;

size_t ConvolutionPlan::workspaceBytes() const { return m_impl->workspaceBytes; }
const std::string& ConvolutionPlan::what() const { return m_impl->what; }

void ConvolutionPlan::tune(const FileCache& cache, CUdeviceptr arena, CUdeviceptr workspace) {
    Impl& impl = *m_impl;
    const auto& how = std::get<ConvAttrs>(impl.node.attrs);
    Trial trial;
    trial.what = impl.what;
    trial.key = "choice cuDNN " + std::to_string(impl.device.api().dnn.cudnnGetVersion()) + " " +
                impl.device.info().name + " " + std::string(nameOfOp(impl.node.op)) + " " +
                impl.what.substr(impl.what.rfind('\'') + 1) + " " + impl.node.shape.text() +
                (impl.node.math == MathMode::TF32 ? " tf32" : "");
    for (const int64_t value : {how.stride[0], how.stride[1], how.padding[0], how.padding[1],
                                how.dilation[0], how.dilation[1], how.groups})
        trial.key += " " + std::to_string(value);
    trial.count = static_cast<int>(impl.candidates.size());
    trial.run = [&](int candidate) {
        return impl.call(impl.candidates[static_cast<size_t>(candidate)], arena, workspace,
                         impl.device.stream()) == CUDNN_STATUS_SUCCESS;
    };
    for (Trial::Operand operand : impl.operands) {
        operand.data += arena;
        trial.operands.push_back(operand);
    }
    trial.result = arena + (impl.node.op == Op::Conv2d            ? impl.outputAt
                            : impl.node.op == Op::Conv2dInputGrad ? impl.imageAt
                                                                  : impl.weightAt);
    trial.resultBytes = impl.node.bytes();
    const int chosen = chooseCandidate(impl.device, cache, trial);
    if (chosen < 0)
        throw NoConvolution(
            phrase("Devices", "%1: cuDNN rejected every algorithm that it had offered"), impl.what);
    impl.chosen = static_cast<size_t>(chosen);
}

void ConvolutionPlan::enqueue(CUdeviceptr arena, CUdeviceptr workspace, CUstream stream) const {
    const Impl& impl = *m_impl;
    impl.device.check(impl.call(impl.candidates[impl.chosen], arena, workspace, stream), impl.what);
}

} // namespace halfscope::cuda
