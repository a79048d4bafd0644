// Decoding PNG (libpng) and JPEG (libjpeg) to floats. Both libraries report errors by a jump: what
// calls them holds nothing that has a destructor, and rows are turned into floats outside.
#include "engine/core/error.h"
#include "engine/io/picture.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <memory>
#include <new>
#include <system_error>

#include <sys/stat.h>

// These two want <cstdio> before them.
#include <jpeglib.h>

#include <jerror.h>
#include <png.h>

namespace halfscope {
namespace {

constexpr uint32_t kMaxSide = 16384;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void failRead(const std::string& path, const Message& reason) {
    throw InputError(within(path, reason));
}

void checkSize(const std::string& path, uint32_t width, uint32_t height) {
    if (width > kMaxSide || height > kMaxSide)
        failRead(path, {phrase("Files", "%1 x %2 pixels; at most 16384 x 16384"), width, height});
}

/// A decoded file, before any row of it.
struct Layout {
    uint32_t width = 0, height = 0;
    int channels = 0;  ///< of a decoded row: 1 or 3, plus one for alpha
    bool wide = false; ///< 16-bit samples, big-endian; otherwise 8-bit
    bool alpha = false;
    bool inverted = false; ///< four inks, stored as 255 - ink

    size_t rowBytes() const {
        return size_t{width} * static_cast<size_t>(channels) * (wide ? 2 : 1);
    }
};

// One row to floats in [0, 1]: alpha over white, four inks to RGB.
void appendRow(const Layout& layout, const uint8_t* row, Picture& picture) {
    const auto channels = static_cast<size_t>(layout.channels);
    const auto sample = [&](size_t i) {
        if (!layout.wide) return static_cast<float>(row[i]) / 255.0F;
        return static_cast<float>(row[2 * i] * 256 + row[2 * i + 1]) / 65535.0F;
    };
    for (size_t pixel = 0; pixel < size_t{layout.width} * channels; pixel += channels)
        for (size_t c = 0; c < static_cast<size_t>(picture.channels); ++c) {
            const float value = sample(pixel + c);
            const float last = sample(pixel + channels - 1);
            if (layout.alpha)
                picture.values.push_back(value * last + (1.0F - last));
            else if (layout.inverted)
                picture.values.push_back(value * last); // what either ink leaves of the light
            else
                picture.values.push_back(value);
        }
}

Picture pictureFor(const Layout& layout) {
    Picture picture;
    picture.width = static_cast<int>(layout.width);
    picture.height = static_cast<int>(layout.height);
    picture.channels = layout.channels >= 3 ? 3 : 1;
    picture.values.reserve(size_t{layout.width} * layout.height *
                           static_cast<size_t>(picture.channels));
    return picture;
}

class PngReader {
public:
    PngReader() {
        m_png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, onError, onWarning);
        if (m_png != nullptr) m_info = png_create_info_struct(m_png);
        if (m_info == nullptr) {
            png_destroy_read_struct(&m_png, nullptr, nullptr);
            throw std::bad_alloc();
        }
    }
    ~PngReader() { png_destroy_read_struct(&m_png, &m_info, nullptr); }
    PngReader(const PngReader&) = delete;
    PngReader& operator=(const PngReader&) = delete;

    // Each is false on an error, which error() then names.
    bool readSize(std::FILE* file, Layout& layout) {
        if (setjmp(png_jmpbuf(m_png)) != 0) return false;
        png_init_io(m_png, file);
        png_read_info(m_png, m_info);
        layout.width = png_get_image_width(m_png, m_info);
        layout.height = png_get_image_height(m_png, m_info);
        return true;
    }
    bool start(Layout& layout) {
        if (setjmp(png_jmpbuf(m_png)) != 0) return false;
        png_set_expand(m_png); // palette, fewer than 8 bits, transparent colour
        m_passes = png_set_interlace_handling(m_png);
        png_read_update_info(m_png, m_info);
        layout.channels = png_get_channels(m_png, m_info);
        layout.wide = png_get_bit_depth(m_png, m_info) == 16;
        layout.alpha = layout.channels == 2 || layout.channels == 4;
        return true;
    }
    bool readRow(uint8_t* row) {
        if (setjmp(png_jmpbuf(m_png)) != 0) return false;
        png_read_row(m_png, row, nullptr);
        return true;
    }
    bool finish() {
        if (setjmp(png_jmpbuf(m_png)) != 0) return false;
        png_read_end(m_png, nullptr);
        return true;
    }
    int passes() const { return m_passes; }
    const char* error() const { return m_error.data(); }

private:
    static void onError(png_structp png, png_const_charp text) {
        auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
        std::snprintf(self->m_error.data(), self->m_error.size(), "%s", text);
        png_longjmp(png, 1);
    }
    static void onWarning(png_structp, png_const_charp) {}

    png_structp m_png = nullptr;
    png_infop m_info = nullptr;
    int m_passes = 1;
    std::array<char, 200> m_error{};
};

// A file that is too short for its own header is refused before memory is taken for it. `ratio` is
// how many bytes a decoder can make of one.
bool canHold(const Layout& layout, std::FILE* file, uint64_t ratio) {
    struct stat status {};
    if (::fstat(::fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) return true;
    return uint64_t{layout.rowBytes()} * layout.height <=
           ratio * static_cast<uint64_t>(status.st_size);
}
constexpr uint64_t kDeflateRatio = 1032; // 258 bytes from two bits
// A block of 8 x 8 samples takes a bit at least, in each of up to four planes; a plane may have a
// quarter of the rows and of the columns.
constexpr uint64_t kJpegRatio = 8 * 64 * 16;

const char* const kTooShort = "the file is cut off";

Picture readPng(const std::string& path, std::FILE* file) {
    PngReader reader;
    Layout layout;
    const auto check = [&](bool good) {
        if (!good) failRead(path, {phrase("Files", "damaged PNG: %1"), reader.error()});
    };
    check(reader.readSize(file, layout));
    checkSize(path, layout.width, layout.height);
    check(reader.start(layout));
    if (!canHold(layout, file, kDeflateRatio))
        failRead(path, {phrase("Files", "damaged PNG: %1"), kTooShort});

    Picture picture = pictureFor(layout);
    const size_t rowBytes = layout.rowBytes();
    // An interlaced picture comes in several passes over all of its rows.
    const bool whole = reader.passes() > 1;
    std::vector<uint8_t> rows(rowBytes * (whole ? layout.height : 1));
    for (int pass = 0; pass < reader.passes(); ++pass)
        for (uint32_t y = 0; y < layout.height; ++y) {
            uint8_t* row = rows.data() + (whole ? y * rowBytes : 0);
            check(reader.readRow(row));
            if (pass + 1 == reader.passes()) appendRow(layout, row, picture);
        }
    check(reader.finish());
    return picture;
}

class JpegReader {
public:
    JpegReader() {
        m_jpeg.err = jpeg_std_error(&m_errors.base);
        m_errors.base.error_exit = onError;
        m_errors.base.emit_message = onMessage;
        m_errors.base.output_message = [](j_common_ptr) {};
    }
    ~JpegReader() { jpeg_destroy_decompress(&m_jpeg); }
    JpegReader(const JpegReader&) = delete;
    JpegReader& operator=(const JpegReader&) = delete;

    // Each is false on an error, which error() then names.
    bool readSize(std::FILE* file, Layout& layout) {
        if (setjmp(m_errors.jump) != 0) return false;
        jpeg_create_decompress(&m_jpeg);
        jpeg_stdio_src(&m_jpeg, file);
        jpeg_read_header(&m_jpeg, TRUE);
        layout.width = m_jpeg.image_width;
        layout.height = m_jpeg.image_height;
        layout.channels = m_jpeg.num_components;
        return true;
    }
    bool start(Layout& layout) {
        if (setjmp(m_errors.jump) != 0) return false;
        const bool grey = m_jpeg.jpeg_color_space == JCS_GRAYSCALE;
        layout.inverted = m_jpeg.num_components == 4; // Adobe stores the inks inverted
        if (layout.inverted)
            m_jpeg.out_color_space = JCS_CMYK;
        else
            m_jpeg.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
        jpeg_start_decompress(&m_jpeg);
        layout.channels = m_jpeg.output_components;
        return true;
    }
    bool readRow(uint8_t* row) {
        if (setjmp(m_errors.jump) != 0) return false;
        jpeg_read_scanlines(&m_jpeg, &row, 1);
        return true;
    }
    bool finish() {
        if (setjmp(m_errors.jump) != 0) return false;
        jpeg_finish_decompress(&m_jpeg);
        return true;
    }
    const char* error() const { return m_errors.text; }

private:
    struct Errors {
        jpeg_error_mgr base; ///< first, so that a pointer to it is one to this
        std::jmp_buf jump;
        char text[JMSG_LENGTH_MAX];
    };
    static void onError(j_common_ptr jpeg) {
        auto* errors = reinterpret_cast<Errors*>(jpeg->err);
        jpeg->err->format_message(jpeg, errors->text);
        std::longjmp(errors->jump, 1);
    }
    // libjpeg paints what is missing grey and only warns of it. Stray bytes between the parts of a
    // file hurt nothing, and cameras write them.
    static void onMessage(j_common_ptr jpeg, int level) {
        if (level < 0 && jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA) onError(jpeg);
    }

    Errors m_errors{};
    jpeg_decompress_struct m_jpeg{};
};

Picture readJpeg(const std::string& path, std::FILE* file) {
    JpegReader reader;
    Layout layout;
    const auto check = [&](bool good) {
        if (!good) failRead(path, {phrase("Files", "damaged JPEG: %1"), reader.error()});
    };
    check(reader.readSize(file, layout));
    checkSize(path, layout.width, layout.height);
    if (!canHold(layout, file, kJpegRatio))
        failRead(path, {phrase("Files", "damaged JPEG: %1"), kTooShort});
    check(reader.start(layout));
    Picture picture = pictureFor(layout);
    std::vector<uint8_t> row(layout.rowBytes());
    for (uint32_t y = 0; y < layout.height; ++y) {
        check(reader.readRow(row.data()));
        appendRow(layout, row.data(), picture);
    }
    check(reader.finish());
    return picture;
}

} // namespace

Picture readPicture(const std::string& path) {
    const File file(std::fopen(path.c_str(), "rbe"), std::fclose);
    const auto systemReason = [] {
        return std::error_code(errno, std::generic_category()).message();
    };
    if (!file) failRead(path, {phrase("Files", "cannot read: %1"), systemReason()});
    constexpr std::array<uint8_t, 8> kPngStart{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    constexpr std::array<uint8_t, 3> kJpegStart{0xFF, 0xD8, 0xFF};
    std::array<uint8_t, 8> start{};
    const size_t count = std::fread(start.data(), 1, start.size(), file.get());
    if (count == 0 && std::ferror(file.get()) != 0)
        failRead(path, {phrase("Files", "cannot read: %1"), systemReason()});
    if (std::fseek(file.get(), 0, SEEK_SET) != 0)
        failRead(path, {phrase("Files", "cannot read: %1"), systemReason()});
    try {
        if (start == kPngStart) return readPng(path, file.get());
        if (std::equal(kJpegStart.begin(), kJpegStart.end(), start.begin()))
            return readJpeg(path, file.get());
    } catch (const std::bad_alloc&) {
        failRead(path, phrase("Files", "the picture is too large for the memory of this machine"));
    }
    failRead(path, count == 0 ? phrase("Files", "the file is empty")
                              : phrase("Files", "neither a PNG nor a JPEG picture"));
}

} // namespace halfscope
