// Pictures: floats in memory, PNG and JPEG in files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Row-major, channels interleaved: values[(y * width + x) * channels + c]; 0 is black, 1 is white.
/// A network may paint outside [0, 1], and nan; files clamp.
struct Picture {
    int width = 0, height = 0;
    int channels = 1; ///< 1 grey, 3 RGB
    std::vector<float> values;
    std::string caption{}; ///< what it shows, in one line of text; may be empty
};

/// Reads PNG or JPEG by content (any depth, palette, alpha over white), at most 16384 x 16384.
/// InputError names the file and what is wrong; also for a small file that expands to more than
/// 2^26 samples. The caption is a PNG's text "Description", if it is one short line.
Picture readPicture(const std::string& path);
/// resized(centreSquare(readPicture(path)), side, side) with the same bits, in little more memory
/// than the result's.
Picture readSquare(const std::string& path, int side);
/// The same of a file's bytes; `name` stands for its path in errors.
Picture readSquare(const std::string& name, std::string_view bytes, int side);
/// Box filter to another size.
Picture resized(const Picture&, int width, int height);
Picture centreSquare(Picture);
/// 8-bit PNG as bytes of a file. nan is drawn magenta (grey pictures become RGB if they hold one).
/// The caption is its text "Description".
std::string pngBytes(const Picture&);
/// The same as a file, atomically. RunError with path and reason when it cannot write.
void writePng(const Picture&, const std::string& path);

} // namespace halfscope
