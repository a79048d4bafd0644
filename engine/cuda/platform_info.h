// What the driver tells about devices before one is opened, and its errors in words.
#pragma once

#include "engine/cuda/api.h"
#include "engine/cuda/codegen/kernel_text.h"
#include "engine/exec/executor.h"

namespace halfscope::cuda {

/// Returns "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)".
std::string resultText(const Api&, CUresult);
/// Returns "13.0" for 13000.
std::string versionText(int version);
/// Returns the driver and libraries with their versions, and which are missing.
std::string librariesText(const Api&);
/// Throws EngineError when the driver does not answer.
DeviceInfo deviceInfo(const Api&, int ordinal);
DeviceTraits deviceTraits(const Api&, int ordinal);

} // namespace halfscope::cuda
