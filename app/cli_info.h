// The commands that only print: presets, devices, describe, pytorch, recorder, settings.
#pragma once

#include "app/cli_options.h"

#include <string>

namespace halfscope::cli {

enum class DescribeForm : uint8_t { Text, Dot, Json };
struct DescribeOptions {
    ExperimentOptions experiment;
    std::string lane; ///< empty: the first lane that is not fp32, or else the first
    DescribeForm form = DescribeForm::Text;
};

enum class PresetForm : uint8_t { Text, Markdown };
/// Prints names and sentences of the presets, under the headings of their groups.
void tellPresets(PresetForm);
void tellDevices();
/// Prints the graph of one lane's training step and, when the command names a CUDA device, the ways
/// to run it that the device compares. Throws InputError for an unknown lane, and EngineError for a
/// device that is not there.
void describe(const DescribeOptions&);
/// Prints what each function of the network computes in, in all lanes.
void tellTypes(const ExperimentOptions&);
struct PyTorchOptions {
    ExperimentOptions experiment;
    std::string weightsOut; ///< the file for the weights that lanes start from; empty: none
    std::string samplesOut; ///< the file for the batches that steps take; empty: none
};
/// Prints the experiment as a Python program for PyTorch. Before that, writes the weights and the
/// batches, if they are asked for. Throws InputError when their files cannot be written or would
/// overwrite one that the command reads, and when the batches are too large for a file.
void tellPyTorch(const PyTorchOptions&);
extern const char* const kRecorderSource; ///< resources/pytorch/halfscope_recorder.py
/// Prints the Python module that records a PyTorch training.
void tellRecorder();
/// Prints the reference of settings as Markdown.
void tellSettings();

} // namespace halfscope::cli
