// A step on a device: compiled kernels, library plans and scratch memory, in the order in which
// they are launched. Values are in an arena that the caller owns.
#pragma once

#include "engine/cuda/codegen/step_writer.h"
#include "engine/cuda/conv.h"
#include "engine/cuda/gemm.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace halfscope::cuda {

/// A kernel that is launched with a step but not written with it. One block runs it, with three
/// pointers like those of every kernel.
struct ExtraKernel {
    std::string text; ///< goes behind the step's text
    std::string entry;
    int threads = kThreads;
};

/// A step in the form that the compiler gets.
struct WrittenStep {
    StepSource source;
    std::optional<ExtraKernel> extra;
    std::string text() const { return source.text + (extra ? extra->text : ""); }
    /// Returns the text's parts; the extra kernel is in the last one.
    std::vector<std::string> parts() const {
        std::vector<std::string> parts = source.parts;
        if (extra) parts.back() += extra->text;
        return parts;
    }
};

class LoadedStep {
public:
    /// `code` is the compiled parts. Makes the libraries' plans. Throws NodesRefused with all nodes
    /// for which there is none.
    LoadedStep(Device&, const StepWriter&, WrittenStep, const std::vector<std::string>& code);

    /// The program as it is launched: its memory plan tells where values are.
    const Program& program() const { return m_source.program; }

    size_t launches() const { return m_source.launches.size(); }
    /// The first launch that overwrites a state.
    size_t pointOfNoReturn() const { return m_source.pointOfNoReturn; }
    const Launch& launch(size_t index) const { return m_source.launches[index]; }
    /// Returns what a launch does (describeLaunch), the least that it must move and multiply, and
    /// its registers and local bytes per thread; no time.
    const LaunchTime& cost(size_t index) const { return m_work[index].cost; }
    const std::string& what(size_t index) const { return cost(index).what; }
    /// Returns the bytes of scratch memory, counters and the libraries' workspace.
    size_t workspaceBytes() const;
    const std::string& text() const { return m_text; }
    /// The launches in words.
    const std::string& plan() const { return m_source.plan; }

    /// Allocates its memory and chooses the libraries' algorithms. Overwrites the arena. Throws
    /// NodesRefused when every algorithm of a node fails.
    void prepare(const FileCache&, CUdeviceptr arena);
    void enqueue(size_t index, CUdeviceptr arena, CUstream) const;
    /// Enqueues the extra kernel.
    void enqueueExtra(CUdeviceptr first, CUdeviceptr second, CUdeviceptr third, CUstream) const;

private:
    struct Work {
        LaunchTime cost;
        CUfunction function = nullptr;
        std::optional<MatmulPlan> matmul;
        std::optional<ConvolutionPlan> convolution;
    };
    CUfunction function(size_t part, const std::string& entry, size_t sharedBytes) const;
    int attribute(CUfunction_attribute, CUfunction) const;
    size_t libraryWorkspace() const;
    size_t scratchBytes() const; ///< the kernels' scratch, up to the libraries' workspace
    struct Start {
        CUfunction function = nullptr;
        int blocks = 1, threads = kThreads;
        size_t sharedBytes = 0;
        std::array<CUdeviceptr, 3> arguments{};
    };
    void start(const Start&, CUstream, const std::string& what) const;

    Device& m_device;
    StepSource m_source;
    std::string m_text;
    std::vector<ModuleHandle> m_modules; ///< by part
    std::vector<Work> m_work;
    CUfunction m_extra = nullptr;
    int m_extraThreads = kThreads;
    DeviceMemory m_scratch, m_tickets;
};

} // namespace halfscope::cuda
