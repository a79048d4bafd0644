// The commands that only tell: presets, devices, describe, pytorch,
// settings.
#pragma once

#include "app/cli_options.h"

#include <string>

namespace halfscope::cli {

enum class DescribeForm : uint8_t { Text, Dot, Json };
struct DescribeOptions {
    ExperimentOptions experiment;
    std::string lane; ///< empty: the first that is not fp32, or the first
    DescribeForm form = DescribeForm::Text;
};

enum class PresetForm : uint8_t { Text, Markdown };
/// Names and sentences, under the headings of their groups.
void tellPresets(PresetForm);
void tellDevices();
/// The graph of one lane's training step and, where the command names a CUDA device, the ways to
/// run it that the device compares. InputError for an unknown lane, EngineError for a device that
/// is not there.
void describe(const DescribeOptions&);
/// The experiment as a Python program for PyTorch.
void tellPyTorch(const ExperimentOptions&);
/// The reference of settings as Markdown.
void tellSettings();

} // namespace halfscope::cli
