// Resizes pictures of floats and writes them as PNG. Reading files is in picture_read.cpp.
#include "engine/io/picture.h"

#include "engine/core/error.h"
#include "engine/io/atomic_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <new>
#include <span>

#include <png.h>

namespace halfscope {
namespace {

constexpr const char* kCaptionKey = "Description"; // a keyword of the PNG specification
constexpr const char* kSharesKey = "Shares";

size_t index(const Picture& picture, int x, int y) {
    return (static_cast<size_t>(y) * static_cast<size_t>(picture.width) + static_cast<size_t>(x)) *
           static_cast<size_t>(picture.channels);
}

Picture emptyPicture(int width, int height, int channels) {
    Picture picture{width, height, channels, {}};
    picture.values.resize(static_cast<size_t>(width) * static_cast<size_t>(height) *
                          static_cast<size_t>(channels));
    return picture;
}

void checkPicture(const Picture& picture) {
    require(picture.width > 0 && picture.height > 0, "a picture without pixels");
    require(picture.channels == 1 || picture.channels == 3,
            "a picture of neither 1 nor 3 channels");
    require(picture.values.size() == index(picture, 0, picture.height),
            "a picture whose size is not that of its values");
}

/// How much of each source cell one target cell covers along one axis.
struct Coverage {
    int first = 0;
    std::vector<double> weights; ///< their sum is 1
};

std::vector<Coverage> coverages(int source, int target) {
    std::vector<Coverage> all(static_cast<size_t>(target));
    const double width = static_cast<double>(source) / target;
    for (int i = 0; i < target; ++i) {
        // The ends come from integers, so they are exact when the sizes divide.
        const double begin = static_cast<double>(int64_t{i} * source) / target;
        const double end = static_cast<double>((int64_t{i} + 1) * source) / target;
        Coverage& coverage = all[static_cast<size_t>(i)];
        coverage.first = std::min(static_cast<int>(begin), source - 1);
        for (int cell = coverage.first; cell < source && cell < end; ++cell) {
            const double overlap = std::min(end, cell + 1.0) - std::max(begin, double(cell));
            coverage.weights.push_back(overlap / width);
        }
    }
    return all;
}

Picture resizedRows(const Picture& picture, int width) {
    Picture result = emptyPicture(width, picture.height, picture.channels);
    const std::vector<Coverage> columns = coverages(picture.width, width);
    for (int y = 0; y < picture.height; ++y)
        for (int x = 0; x < width; ++x) {
            const Coverage& coverage = columns[static_cast<size_t>(x)];
            for (int c = 0; c < picture.channels; ++c) {
                double sum = 0;
                size_t from = index(picture, coverage.first, y) + static_cast<size_t>(c);
                for (const double weight : coverage.weights) {
                    sum += weight * static_cast<double>(picture.values[from]);
                    from += static_cast<size_t>(picture.channels);
                }
                result.values[index(result, x, y) + static_cast<size_t>(c)] =
                    static_cast<float>(sum);
            }
        }
    return result;
}

Picture resizedColumns(const Picture& picture, int height) {
    Picture result = emptyPicture(picture.width, height, picture.channels);
    const size_t rowSize = index(picture, 0, 1);
    const std::vector<Coverage> rows = coverages(picture.height, height);
    std::vector<double> sums(rowSize);
    for (int y = 0; y < height; ++y) {
        const Coverage& coverage = rows[static_cast<size_t>(y)];
        std::fill(sums.begin(), sums.end(), 0.0);
        size_t from = index(picture, 0, coverage.first);
        for (const double weight : coverage.weights)
            for (size_t i = 0; i < rowSize; ++i)
                sums[i] += weight * static_cast<double>(picture.values[from++]);
        std::transform(sums.begin(), sums.end(),
                       result.values.begin() + std::ptrdiff_t(index(result, 0, y)),
                       [](double sum) { return static_cast<float>(sum); });
    }
    return result;
}

// Returns 8-bit samples; a pixel with inf or nan in any channel is magenta.
std::vector<uint8_t> samplesOf(const Picture& picture, int channels) {
    constexpr std::array<uint8_t, 3> kMagenta{255, 0, 255};
    const auto stored = static_cast<size_t>(picture.channels);
    std::vector<uint8_t> samples;
    samples.reserve(picture.values.size() / stored * static_cast<size_t>(channels));
    for (size_t pixel = 0; pixel < picture.values.size(); pixel += stored) {
        const float* values = picture.values.data() + pixel;
        const bool bad =
            std::any_of(values, values + stored, [](float v) { return !std::isfinite(v); });
        for (size_t c = 0; c < static_cast<size_t>(channels); ++c)
            samples.push_back(bad ? kMagenta[c] : byteOf(values[std::min(c, stored - 1)]));
    }
    return samples;
}

/// Encodes to memory. libpng reports errors by a jump, so the functions that call it hold nothing
/// that has a destructor.
class PngWriter {
public:
    PngWriter() {
        m_png = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, onError, onWarning);
        if (m_png != nullptr) m_info = png_create_info_struct(m_png);
        if (m_info == nullptr) {
            png_destroy_write_struct(&m_png, nullptr);
            throw std::bad_alloc();
        }
    }
    ~PngWriter() { png_destroy_write_struct(&m_png, &m_info); }
    PngWriter(const PngWriter&) = delete;
    PngWriter& operator=(const PngWriter&) = delete;

    /// Returns false on an error, for which error() has the words.
    bool encode(const uint8_t* samples, int width, int height, int channels,
                std::span<const png_text> texts) {
        if (setjmp(png_jmpbuf(m_png)) != 0) return false;
        const size_t rowBytes = static_cast<size_t>(width) * static_cast<size_t>(channels);
        png_set_write_fn(m_png, this, onData, onFlush);
        png_set_IHDR(m_png, m_info, static_cast<png_uint_32>(width),
                     static_cast<png_uint_32>(height), 8,
                     channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        if (!texts.empty())
            png_set_text(m_png, m_info, texts.data(), static_cast<int>(texts.size()));
        png_write_info(m_png, m_info);
        for (int y = 0; y < height; ++y)
            png_write_row(m_png, samples + static_cast<size_t>(y) * rowBytes);
        png_write_end(m_png, m_info);
        return true;
    }
    const std::string& bytes() const { return m_bytes; }
    const char* error() const { return m_error.data(); }

private:
    static void onError(png_structp png, png_const_charp text) {
        auto* self = static_cast<PngWriter*>(png_get_error_ptr(png));
        std::snprintf(self->m_error.data(), self->m_error.size(), "%s", text);
        png_longjmp(png, 1);
    }
    static void onWarning(png_structp, png_const_charp) {}
    static void onFlush(png_structp) {}
    static void onData(png_structp png, png_bytep data, size_t size) {
        if (!static_cast<PngWriter*>(png_get_io_ptr(png))->take(data, size))
            png_error(png, "out of memory");
    }
    bool take(const uint8_t* data, size_t size) {
        try {
            m_bytes.append(reinterpret_cast<const char*>(data), size);
            return true;
        } catch (const std::bad_alloc&) {
            return false; // becomes an error of libpng, because exceptions do not pass through C
        }
    }

    png_structp m_png = nullptr;
    png_infop m_info = nullptr;
    std::string m_bytes;
    std::array<char, 200> m_error{};
};

} // namespace

Picture resized(const Picture& picture, int width, int height) {
    checkPicture(picture);
    require(width > 0 && height > 0, "a picture resized to nothing");
    const Picture narrow = width == picture.width ? picture : resizedRows(picture, width);
    return height == narrow.height ? narrow : resizedColumns(narrow, height);
}

Picture centreSquare(Picture picture) {
    checkPicture(picture);
    if (picture.width == picture.height) return picture; // no copy, because it may take gigabytes
    const int side = std::min(picture.width, picture.height);
    const int left = (picture.width - side) / 2;
    const int top = (picture.height - side) / 2;
    Picture square = emptyPicture(side, side, picture.channels);
    for (int y = 0; y < side; ++y) {
        const auto from = picture.values.begin() + std::ptrdiff_t(index(picture, left, top + y));
        std::copy(from, from + std::ptrdiff_t(index(square, 0, 1)),
                  square.values.begin() + std::ptrdiff_t(index(square, 0, y)));
    }
    return square;
}

uint8_t byteOf(float value) {
    const float clamped = std::min(std::max(value, 0.0F), 1.0F);
    return static_cast<uint8_t>(clamped * 255.0F + 0.5F);
}

bool holdsOnlyFinite(const Picture& picture) {
    return std::all_of(picture.values.begin(), picture.values.end(),
                       [](float value) { return std::isfinite(value); });
}

std::string pngBytes(const Picture& picture, const std::string& shares) {
    checkPicture(picture);
    const int channels = holdsOnlyFinite(picture) ? picture.channels : 3;
    const std::vector<uint8_t> samples = samplesOf(picture, channels);
    std::vector<png_text> texts;
    const auto add = [&texts](const char* key, const std::string& content, int compression) {
        if (content.empty()) return;
        png_text& text = texts.emplace_back();
        text.compression = compression;
        text.key = const_cast<char*>(key); // libpng copies both
        text.text = const_cast<char*>(content.data());
        (compression == PNG_ITXT_COMPRESSION_NONE ? text.itxt_length : text.text_length) =
            content.size();
    };
    add(kCaptionKey, picture.caption, PNG_ITXT_COMPRESSION_NONE);
    add(kSharesKey, shares, PNG_TEXT_COMPRESSION_zTXt);
    PngWriter writer;
    if (!writer.encode(samples.data(), picture.width, picture.height, channels, texts))
        throw RunError(phrase("Files", "a picture cannot be made a PNG: %1"), writer.error());
    return writer.bytes();
}

void writePng(const Picture& picture, const std::string& path) {
    writeFileAtomically(path, pngBytes(picture));
}

} // namespace halfscope
