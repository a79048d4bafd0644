// Convolutions by oneDNN's kernels: some samples at a time, which are brought into the layout that
// a kernel wants and back while they are in cache. Each kernel runs on one thread; which samples go
// together depends on the sizes alone, so any number of threads gives the same bits.
#pragma once

#include "engine/cpu/conv_plan.h"
#include "engine/graph/op.h"

#include <functional>
#include <memory>

namespace halfscope {

/// Operands are planes: of Conv2d a is the image and b the weight, of Conv2dInputGrad a is the
/// gradient of the output and b the weight, of Conv2dWeightGrad a is the image and b the gradient
/// of the output. They are f32, or bfloat16 where takesPairs(). Results are f32.
class LibraryConv {
public:
    virtual ~LibraryConv() = default;

    /// Whether samples may come as bfloat16, whose operands both are stored so. The kernels use the
    /// instructions of pair_gemm.h: staysNormal must hold, and all values must be finite.
    virtual bool takesPairs() const = 0;

    /// Of scratch, for each thread and for all of them.
    virtual int64_t threadFloats() const = 0;
    virtual int64_t sharedFloats() const = 0;

    /// Brings the weight into the layout of the kernels for operands of that type, before the first
    /// task of that type.
    virtual void prepare(DType, const void* b, float* shared) const = 0;
    virtual int64_t tasks() const = 0;
    /// Samples [first, first + count) of a task of Conv2d or Conv2dInputGrad.
    virtual int64_t firstSample(int64_t task) const = 0;
    virtual int64_t samples(int64_t task) const = 0;
    /// The operands of some samples, both of that type.
    struct Operands {
        DType type;
        const void *a, *b;
    };
    /// `out`: the result's planes of the task's samples. Not of Conv2dWeightGrad.
    virtual void run(int64_t task, const Operands&, float* shared, float* thread,
                     float* out) const = 0;
    /// Conv2dWeightGrad: a partial sum, into `shared`. `samplesOf` is asked for one run of samples
    /// after another, at most samples(0) at a time.
    using SamplesOf = std::function<Operands(int64_t first, int64_t count)>;
    virtual void runPart(int64_t task, const SamplesOf& samplesOf, float* shared,
                         float* thread) const = 0;
    /// After the tasks of Conv2dWeightGrad: their sum as planes, which lie in `shared`.
    virtual const float* sum(float* shared) const = 0;
};

/// Null where the library has no kernels of its own for it or is not there, and where im2col does
/// better: 1x1 kernels, few samples and very large ones. From any thread.
std::shared_ptr<const LibraryConv> libraryConv(Op, const ConvPlan&);

} // namespace halfscope
