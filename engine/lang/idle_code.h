// Statements that programs have around a model and that leave the model as it is, such as those
// that make an optimizer or print something.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace halfscope::lang {

/// Whether a method, such as "to", only moves a model, whatever its arguments: here the settings
/// choose the device, and a training sets its own mode.
bool movesModel(std::string_view method);
/// Whether a call, such as ".to(torch.float16)", gives a model another type of numbers than
/// PyTorch's default.
bool choosesType(std::string_view method, std::string_view call);

/// Returns the program with spaces in place of the statements that leave its one nn.Sequential(...)
/// as it is: behind it, and above it those that choose a device or a seed. The program as it was
/// where it has classes or functions.
std::string withoutIdleCode(std::string_view program);

/// Whether what follows a class makes models of it with "net = Net()", and leaves them as they are.
bool onlyMakesModels(std::string_view program, std::string_view ofClass);

} // namespace halfscope::lang
