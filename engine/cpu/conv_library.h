// Convolutions by oneDNN's kernels. A few samples at a time are brought into the layout that a
// kernel wants, and back, while they are in cache. Each kernel runs on one thread; which samples go
// together depends only on the sizes, so any number of threads gives the same bits.
#pragma once

#include "engine/cpu/conv_plan.h"
#include "engine/graph/op.h"

#include <functional>
#include <memory>

namespace halfscope {

/// Operands are planes. For Conv2d, a is the image and b the weight; for Conv2dInputGrad, a is the
/// gradient of the output and b the weight; for Conv2dWeightGrad, a is the image and b the gradient
/// of the output. They are f32, or bfloat16 where takesPairs(). Results are f32.
class LibraryConv {
public:
    virtual ~LibraryConv() = default;

    /// Whether samples may come as bfloat16 when both operands are stored so. The kernels use the
    /// instructions of pair_gemm.h: staysNormal must hold, and all values must be finite.
    virtual bool takesPairs() const = 0;

    /// Floats of scratch that each thread needs, and that all threads share.
    virtual int64_t threadFloats() const = 0;
    virtual int64_t sharedFloats() const = 0;

    /// Brings the weight into the layout of the kernels for operands of that type. Comes before the
    /// first task of that type.
    virtual void prepare(DType, const void* b, float* shared) const = 0;
    virtual int64_t tasks() const = 0;
    /// The first sample of a task of Conv2d or Conv2dInputGrad, and how many samples it has.
    virtual int64_t firstSample(int64_t task) const = 0;
    virtual int64_t samples(int64_t task) const = 0;
    /// The operands of some samples, both of that type.
    struct Operands {
        DType type;
        const void *a, *b;
    };
    /// Runs a task; not for Conv2dWeightGrad. `out` is the planes of the result for the task's
    /// samples.
    virtual void run(int64_t task, const Operands&, float* shared, float* thread,
                     float* out) const = 0;
    /// Computes a partial sum of Conv2dWeightGrad into `shared`. `samplesOf` is asked for one run
    /// of samples after another, at most samples(0) at a time.
    using SamplesOf = std::function<Operands(int64_t first, int64_t count)>;
    virtual void runPart(int64_t task, const SamplesOf& samplesOf, float* shared,
                         float* thread) const = 0;
    /// The floats of a partial sum. They are in `shared` one after another.
    virtual int64_t sumFloats() const = 0;
    /// Returns the sum of all parts as planes, which are in `shared`. Comes after the parts have
    /// been added into the first.
    virtual const float* planes(float* shared) const = 0;
};

/// Returns null when the library is not there or has no kernels of its own for the convolution, and
/// when im2col does better: for most large 1x1 kernels, few samples and very large ones, and for
/// gradients where images have few channels. Any thread may call it.
std::shared_ptr<const LibraryConv> libraryConv(Op, const ConvPlan&);

} // namespace halfscope
