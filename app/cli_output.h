// Standard output and standard error of the command line, safe against closed pipes and full disks.
#pragma once

#include <string>
#include <string_view>

namespace halfscope::cli {

/// A broken pipe or a limit on the size of files must not kill a training that writes files: the
/// write at hand fails instead.
void letWritesFail();

/// To standard output. Failures are remembered for finishOutput().
void print(std::string_view);
/// Flushes. RunError when something could not be written, except to a reader that has gone
/// (`halfscope-cli presets | head -1` is no error).
void finishOutput();

/// To standard error, at once and in one piece; a failure has nowhere to be told.
void printNote(std::string_view);
/// Whether standard error is a terminal that can redraw a line, and how wide.
bool noteIsTerminal();
size_t noteWidth();

/// Draws that line again, cut to its width, or removes it.
void redrawNote(std::string_view);
void clearNote();
/// "[####......]".
std::string barText(double share, size_t width);

/// "4.1 MiB", "512 B".
std::string bytesText(size_t bytes);
/// "%.<digits>g" of a number.
std::string shortNumber(double x, int digits = 4);
/// "9151", "41.3": a rate, without an exponent.
std::string rateText(double perSecond);
/// "2^16" for a power of two but 1, else the number.
std::string scaleText(float scale);
/// Padded with spaces to the right.
std::string padded(std::string text, size_t width);

} // namespace halfscope::cli
