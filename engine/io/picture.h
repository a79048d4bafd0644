// Pictures: floats in memory, PNG and JPEG in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfscope {

/// A caption of a file has at most so many bytes: enough for the names of 1000 classes.
inline constexpr size_t kMostCaption = size_t{64} << 10;

/// Row-major with interleaved channels: values[(y * width + x) * channels + c]; 0 is black, 1 is
/// white. A network may paint outside [0, 1], and nan; files clamp.
struct Picture {
    int width = 0, height = 0;
    int channels = 1; ///< 1 grey, 3 RGB
    std::vector<float> values;
    std::string caption{}; ///< one line of text about what it shows; may be empty
};

/// Reads PNG or JPEG, which its content tells (any depth, palette, alpha over white), of at most
/// 16384 x 16384. Throws InputError that names the file and what is wrong; also for a small file
/// that expands to more than 2^26 samples. The caption is a PNG's text "Description" if it is one
/// line of at most kMostCaption bytes.
Picture readPicture(const std::string& path);
/// Does the same, and returns the text "Shares" of a PNG besides, as it is; empty when there is
/// none, or when it takes more than 16 MiB.
std::pair<Picture, std::string> readWithShares(const std::string& path);
/// Returns resized(centreSquare(readPicture(path)), side, side) bit for bit, in little more memory
/// than the result takes.
Picture readSquare(const std::string& path, int side);
/// Does the same for a file's bytes; `name` replaces its path in errors.
Picture readSquare(const std::string& name, std::string_view bytes, int side);
/// Resizes with a box filter.
Picture resized(const Picture&, int width, int height);
Picture centreSquare(Picture);
/// Returns a value as files of 8 bits hold it; those outside [0, 1] are clamped.
uint8_t byteOf(float value);
/// Whether no value is inf or nan.
bool holdsOnlyFinite(const Picture&);
/// Returns the bytes of an 8-bit PNG file. Inf and nan are drawn magenta, for which grey pictures
/// become RGB. The caption is its text "Description". What its 8 bits cannot tell may stand in a
/// text of ASCII, "Shares".
std::string pngBytes(const Picture&, const std::string& shares = {});
/// Writes the same as a file, atomically. Throws RunError with path and reason when it cannot.
void writePng(const Picture&, const std::string& path);

} // namespace halfscope
