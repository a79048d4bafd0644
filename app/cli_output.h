// Standard output and standard error of the command line, safe against closed pipes and full disks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope::cli {

/// Makes a write to a broken pipe or beyond a limit on file sizes fail: by default it would kill a
/// training that writes files.
void letWritesFail();

/// Prints to standard output. Failures are remembered for finishOutput().
void print(std::string_view);
/// Flushes standard output. Throws RunError when something could not be written, except when the
/// reader has gone (`halfscope-cli presets | head -1` is no error).
void finishOutput();

/// Prints to standard error, at once and in one piece; a failure cannot be reported and is ignored.
void printNote(std::string_view);
/// Whether standard error is a terminal that can redraw a line, and how many columns it has.
bool noteIsTerminal();
size_t noteWidth();

/// Draws that line again, cut to the terminal's width; clearNote() removes it.
void redrawNote(std::string_view);
void clearNote();
/// Returns "[####......]".
std::string barText(double share, size_t width);

/// Returns a number as printf's "%.<digits>g" writes it.
std::string shortNumber(double x, int digits = 4);
/// Returns a share from 0 to 1 as "97.5 %". Nearly all is never "100 %": it is ">99.9 %", with as
/// many digits as there are.
std::string percentText(double share, int digits);
/// Returns a rate without an exponent: "9151", "41.3".
std::string rateText(double perSecond);
/// Returns a time of minutes or hours: "0:07", "1:02:09".
std::string timeText(double seconds);
/// Returns "2^16" for a power of two other than 1, else the number.
std::string scaleText(float scale);
/// Returns how many characters a text in UTF-8 has, which is as wide as a terminal shows it in most
/// scripts.
size_t charactersIn(std::string_view text);
/// Pads a text with spaces to the right, to so many characters.
std::string padded(std::string text, size_t width);
/// Returns rows of as many cells each as lines with aligned columns.
std::string tableText(std::span<const std::vector<std::string>> rows);
/// Pads a text with spaces to the left.
std::string paddedLeft(const std::string& text, size_t width);

} // namespace halfscope::cli
