// Convolutions in a build without cuDNN: they are never asked for, because the step is then written
// with generated ones (Api::noDnn).
#include "engine/core/error.h"
#include "engine/cuda/conv.h"

namespace halfscope::cuda {

struct ConvolutionPlan::Impl {
    std::string what;
};

ConvolutionPlan::ConvolutionPlan(Device& device, const Program&, NodeId) {
    throw NoConvolution(phrase("Devices", "convolution: %1"), device.api().noDnn);
}
ConvolutionPlan::~ConvolutionPlan() = default;
ConvolutionPlan::ConvolutionPlan(ConvolutionPlan&&) noexcept = default;
size_t ConvolutionPlan::workspaceBytes() const { return 0; }
void ConvolutionPlan::tune(const FileCache&, CUdeviceptr, CUdeviceptr) {}
void ConvolutionPlan::enqueue(CUdeviceptr, CUdeviceptr, CUstream) const {}
const std::string& ConvolutionPlan::what() const { return m_impl->what; }

} // namespace halfscope::cuda
