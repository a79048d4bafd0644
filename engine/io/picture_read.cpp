// Decodes PNG (libpng) and JPEG (libjpeg) to floats. Both libraries report errors by a jump, so the
// functions that call them hold nothing that has a destructor, and rows are turned into floats
// outside of them.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/input_file.h"
#include "engine/io/picture.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

// These two need <cstdio> before them.
#include <jpeglib.h>

#include <jerror.h>
#include <png.h>

namespace halfscope {
namespace {

constexpr uint32_t kMaxSide = 16384;
constexpr Phrase kDamagedPng = phrase("Files", "damaged PNG: %1");
constexpr Phrase kDamagedJpeg = phrase("Files", "damaged JPEG: %1");

struct Source {
    const std::string& path;
    std::FILE* file;
    uint64_t bytes;
};

[[noreturn]] void failRead(const std::string& path, const Message& reason) {
    throw InputError(within(pathText(path), reason));
}

void checkSize(const std::string& path, uint32_t width, uint32_t height) {
    if (width > kMaxSide || height > kMaxSide)
        failRead(path, {phrase("Files", "%1 x %2 pixels; at most 16384 x 16384"), width, height});
}

/// What is known of a decoded file before any of its rows.
struct Layout {
    uint32_t width = 0, height = 0;
    int channels = 0;  ///< of a decoded row: 1 or 3, plus one for alpha
    bool wide = false; ///< 16-bit samples, big-endian; otherwise 8-bit
    bool alpha = false;
    bool inverted = false; ///< four inks, stored as 255 - ink
    uint64_t stored = 0;   ///< the least bytes that a PNG's data expand to

    size_t rowBytes() const {
        return size_t{width} * static_cast<size_t>(channels) * (wide ? 2 : 1);
    }
};

// Turns one row into floats in [0, 1]: alpha over white, four inks to RGB.
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
                picture.values.push_back(value * last); // the light that both inks let through
            else
                picture.values.push_back(value);
        }
}

/// Takes the rows of a picture as they are decoded: either all of it, or its middle square with
/// rows of `side` pixels, for which no more memory is needed than for the result.
class Rows {
public:
    explicit Rows(std::optional<int> side) : m_side(side) {}

    bool whole() const { return !m_side; }
    void start(const Layout& layout) {
        m_layout = layout;
        m_block.width = static_cast<int>(layout.width);
        m_block.channels = layout.channels >= 3 ? 3 : 1;
        const int height = static_cast<int>(layout.height);
        const int shorter = std::min(m_block.width, height);
        m_left = whole() ? 0 : (m_block.width - shorter) / 2;
        m_top = whole() ? 0 : (height - shorter) / 2;
        m_end = whole() ? height : m_top + shorter;
        m_picture = {m_side.value_or(m_block.width), 0, m_block.channels, {}};
        m_picture.values.reserve(size_t(m_picture.width) * size_t(m_end - m_top) *
                                 size_t(m_picture.channels));
    }
    void take(const uint8_t* row) {
        const int y = m_y++;
        if (y < m_top || y >= m_end) return;
        if (whole()) {
            appendRow(m_layout, row, m_picture);
            ++m_picture.height;
            return;
        }
        appendRow(m_layout, row, m_block);
        if (++m_block.height == kBlockRows || y + 1 == m_end) narrow();
    }
    Picture result() {
        return whole() ? std::move(m_picture) : resized(m_picture, *m_side, *m_side);
    }

private:
    static constexpr int kBlockRows = 16;

    /// Narrows the rows of the block and hands them to the picture.
    void narrow() {
        const Picture rows =
            resized(columns(m_block, m_left, m_end - m_top), *m_side, m_block.height);
        m_picture.values.insert(m_picture.values.end(), rows.values.begin(), rows.values.end());
        m_picture.height += rows.height;
        m_block.height = 0;
        m_block.values.clear();
    }
    static Picture columns(const Picture& rows, int left, int width) {
        Picture cut{width, rows.height, rows.channels, {}};
        const auto at = [&rows](int y, int x) {
            return rows.values.begin() + (std::ptrdiff_t{y} * rows.width + x) * rows.channels;
        };
        for (int y = 0; y < rows.height; ++y)
            cut.values.insert(cut.values.end(), at(y, left), at(y, left + width));
        return cut;
    }

    std::optional<int> m_side;
    Layout m_layout;
    Picture m_picture, m_block;
    int m_left = 0, m_top = 0, m_end = 0; ///< what is kept: columns from m_left, rows up to m_end
    int m_y = 0;                          ///< the next row
};

class PngReader {
public:
    /// `bytes` is the size of the file.
    explicit PngReader(uint64_t bytes) : m_most(std::max(uint64_t{2 * kMostText}, bytes)) {
        m_png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, this, onError, onWarning, this,
                                         memory, nullptr);
        if (m_png != nullptr) m_info = png_create_info_struct(m_png);
        if (m_info == nullptr) {
            png_destroy_read_struct(&m_png, nullptr, nullptr);
            throw std::bad_alloc();
        }
        png_set_chunk_malloc_max(m_png, kMostText);
        png_set_chunk_cache_max(m_png, kMostTexts + 2); // libpng keeps two fewer
    }
    ~PngReader() { png_destroy_read_struct(&m_png, &m_info, nullptr); }
    PngReader(const PngReader&) = delete;
    PngReader& operator=(const PngReader&) = delete;

    // Each returns false on an error, for which error() has the words.
    bool readSize(std::FILE* file, Layout& layout) {
        if (setjmp(png_jmpbuf(m_png)) != 0) return false;
        png_init_io(m_png, file);
        png_read_info(m_png, m_info);
        layout.width = png_get_image_width(m_png, m_info);
        layout.height = png_get_image_height(m_png, m_info);
        const uint64_t bits =
            uint64_t{png_get_bit_depth(m_png, m_info)} * png_get_channels(m_png, m_info);
        layout.stored = uint64_t{layout.width} * layout.height * bits / 8;
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
    /// Returns the caption from the texts before the pixels.
    std::string caption() const {
        for (const png_text& each : texts()) {
            if (std::string_view(each.key) != "Description" || !each.text) continue;
            const std::string_view text = each.text;
            if (text.size() <= kMostCaption && isPlainText(text)) return std::string(text);
        }
        return {};
    }
    /// Returns the first text "Shares" likewise, whatever it holds.
    std::string shares() const {
        for (const png_text& each : texts())
            if (std::string_view(each.key) == "Shares" && each.text) return each.text;
        return {};
    }
    const char* error() const { return m_error.data(); }

private:
    // A file of a few MiB may have a thousand texts that expand to gigabytes together.
    static constexpr size_t kMostText = size_t{16} << 20; // the shares of 1000 classes take 12
    static constexpr uint32_t kMostTexts = 14;

    std::span<const png_text> texts() const {
        png_textp first = nullptr;
        const int count = png_get_text(m_png, m_info, &first, nullptr);
        return {first, static_cast<size_t>(std::max(count, 0))};
    }
    static void onError(png_structp png, png_const_charp text) {
        auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
        std::snprintf(self->m_error.data(), self->m_error.size(), "%s", text);
        png_longjmp(png, 1);
    }
    static void onWarning(png_structp, png_const_charp) {}
    /// Refuses what no chunk that is read needs: for some, libpng fills as many bytes as the chunk
    /// says that it has, whatever png_set_chunk_malloc_max() allows. A chunk that the file does
    /// have gets them: without them, libpng takes its bytes for the next chunks.
    static png_voidp memory(png_structp png, png_alloc_size_t bytes) {
        const auto* self = static_cast<const PngReader*>(png_get_mem_ptr(png));
        return bytes > self->m_most ? nullptr : std::malloc(bytes);
    }

    uint64_t m_most; ///< bytes that libpng may take at once
    png_structp m_png = nullptr;
    png_infop m_info = nullptr;
    int m_passes = 1;
    std::array<char, 200> m_error{};
};

constexpr uint64_t kDeflateRatio = 1032; // 258 bytes from two bits
// A block of 8 x 8 samples takes at least one bit in each of up to four planes; a plane may have a
// quarter of the rows and of the columns.
constexpr uint64_t kJpegRatio = 8 * 64 * 16;
// For a picture that is read as a whole: one bit of a file may become a pixel of three floats. A
// blank JPEG has fewer samples than kDeflateRatio for each of its bytes, too: with colours at half
// the size, 768 of them take six blocks of at least one bit.
constexpr uint64_t kFreeSamples = uint64_t{1} << 26;
/// The most bytes of rows or coefficients that are held while all passes over a picture are read.
constexpr uint64_t kMostHeld = uint64_t{512} << 20;

/// Refuses a file that is too short for its own header, before memory is allocated for it. `bytes`
/// is how many bytes it must expand to, `ratio` how many a decoder can make of one byte.
void checkBytes(const Source& source, Phrase damaged, uint64_t bytes, uint64_t ratio) {
    if (bytes > ratio * source.bytes)
        failRead(source.path, {damaged, phrase("Files", "the file is cut off")});
}

/// Refuses small files that expand to gigabytes.
void checkMemory(const Source& source, const Layout& layout, uint64_t samples) {
    const uint64_t most = std::max(kFreeSamples, kDeflateRatio * source.bytes);
    if (samples > most)
        failRead(source.path,
                 {phrase("Files", "%1 x %2 pixels in %3 bytes are not allowed: such a file may "
                                  "have %4 samples"),
                  layout.width, layout.height, source.bytes, most});
}

/// Refuses a picture that comes in several passes and takes too much memory until the last one.
void checkHeld(const Source& source, const Layout& layout, uint64_t bytes) {
    if (bytes > kMostHeld)
        failRead(source.path,
                 {phrase("Files", "%1 x %2 pixels, interlaced or progressive, take %3 while they "
                                  "are read; at most %4 is allowed"),
                  layout.width, layout.height, Message::number(sizeText(bytes)),
                  Message::number(sizeText(kMostHeld))});
}

/// `shares` takes the text of this name unless it is null.
Picture readPng(const Source& source, Rows rows, std::string* shares) {
    PngReader reader(source.bytes);
    Layout layout;
    const auto check = [&](bool good) {
        if (!good) failRead(source.path, {kDamagedPng, reader.error()});
    };
    check(reader.readSize(source.file, layout));
    checkSize(source.path, layout.width, layout.height);
    check(reader.start(layout));
    checkBytes(source, kDamagedPng, layout.stored, kDeflateRatio);
    // An interlaced picture comes in several passes over all of its rows.
    const bool all = reader.passes() > 1;
    const size_t rowBytes = layout.rowBytes();
    if (rows.whole() || all) checkMemory(source, layout, uint64_t{rowBytes} * layout.height);
    if (all) checkHeld(source, layout, uint64_t{rowBytes} * layout.height);
    rows.start(layout);
    std::vector<uint8_t> bytes(rowBytes * (all ? layout.height : 1));
    for (int pass = 0; pass < reader.passes(); ++pass)
        for (uint32_t y = 0; y < layout.height; ++y) {
            checkCancelled();
            uint8_t* row = bytes.data() + (all ? y * rowBytes : 0);
            check(reader.readRow(row));
            if (pass + 1 == reader.passes()) rows.take(row);
        }
    check(reader.finish());
    Picture picture = rows.result();
    picture.caption = reader.caption();
    if (shares) *shares = reader.shares();
    return picture;
}

class JpegReader {
public:
    /// `bytes` is the size of the file, which decides how much work it is worth.
    explicit JpegReader(uint64_t bytes) : m_left(kFreeBlocks + kBlocksOfByte * bytes) {
        m_jpeg.err = jpeg_std_error(&m_errors.base);
        m_errors.base.error_exit = onError;
        m_errors.base.emit_message = onMessage;
        m_errors.base.output_message = [](j_common_ptr) {};
    }
    ~JpegReader() { jpeg_destroy_decompress(&m_jpeg); }
    JpegReader(const JpegReader&) = delete;
    JpegReader& operator=(const JpegReader&) = delete;

    // Each returns false on an error, for which error() has the words.
    bool readSize(std::FILE* file, Layout& layout) {
        if (setjmp(m_errors.jump) != 0) return false;
        jpeg_create_decompress(&m_jpeg);
        m_jpeg.client_data = this;
        m_progress.progress_monitor = onProgress;
        m_jpeg.progress = &m_progress;
        jpeg_stdio_src(&m_jpeg, file);
        jpeg_read_header(&m_jpeg, TRUE);
        layout.width = m_jpeg.image_width;
        layout.height = m_jpeg.image_height;
        layout.channels = m_jpeg.num_components;
        m_several = jpeg_has_multiple_scans(&m_jpeg) != 0;
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
        m_starts = true;
        jpeg_start_decompress(&m_jpeg); // reads all scans, if there are several
        m_starts = false;
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
    /// Whether rows come only after several scans, until which libjpeg holds the whole picture.
    bool severalScans() const { return m_several; }
    /// Returns how many bytes of coefficients those are.
    uint64_t coefficientBytes() const {
        uint64_t blocks = 0;
        for (int i = 0; i < m_jpeg.num_components; ++i)
            blocks += uint64_t{m_jpeg.comp_info[i].width_in_blocks} *
                      m_jpeg.comp_info[i].height_in_blocks;
        return blocks * sizeof(JBLOCK);
    }
    const char* error() const { return m_errors.text; }

private:
    struct Errors {
        jpeg_error_mgr base; ///< first, so that a pointer to it is a pointer to this
        std::jmp_buf jump;
        char text[JMSG_LENGTH_MAX];
    };
    static void onError(j_common_ptr jpeg) {
        auto* errors = reinterpret_cast<Errors*>(jpeg->err);
        jpeg->err->format_message(jpeg, errors->text);
        std::longjmp(errors->jump, 1);
    }
    // libjpeg paints what is missing grey and only warns. Stray bytes between the parts of a file
    // do no harm, and cameras write them.
    static void onMessage(j_common_ptr jpeg, int level) {
        if (level < 0 && jpeg->err->msg_code != JWRN_EXTRANEOUS_DATA) onError(jpeg);
    }

    // Called for each row of blocks of each scan, because a scan that changes nothing takes only a
    // few bytes. Also called for each row of samples that is read; those are few.
    static void onProgress(j_common_ptr common) {
        auto* self = static_cast<JpegReader*>(common->client_data);
        const jpeg_decompress_struct& jpeg = self->m_jpeg;
        uint64_t blocks = 0;
        for (int i = 0; self->m_starts && i < jpeg.comps_in_scan; ++i)
            blocks += uint64_t{jpeg.cur_comp_info[i]->width_in_blocks} *
                      static_cast<uint64_t>(jpeg.cur_comp_info[i]->v_samp_factor);
        if (isCancelled() || blocks > self->m_left) {
            std::snprintf(self->m_errors.text, sizeof self->m_errors.text,
                          "decoding it takes too long for a file of its size");
            std::longjmp(self->m_errors.jump, 1);
        }
        self->m_left -= blocks;
    }

    // Blocks are 8 x 8 samples. Photographs take one per byte, a blank picture in ten scans 200;
    // 2^26 blocks take a second or two.
    static constexpr uint64_t kFreeBlocks = uint64_t{1} << 26, kBlocksOfByte = 64;

    Errors m_errors{};
    uint64_t m_left;       ///< blocks that may still be decoded
    bool m_starts = false; ///< while scans are read
    bool m_several = false;
    jpeg_progress_mgr m_progress{};
    jpeg_decompress_struct m_jpeg{};
};

Picture readJpeg(const Source& source, Rows rows) {
    JpegReader reader(source.bytes);
    Layout layout;
    const auto check = [&](bool good) {
        if (good) return;
        checkCancelled();
        failRead(source.path, {kDamagedJpeg, reader.error()});
    };
    check(reader.readSize(source.file, layout));
    checkSize(source.path, layout.width, layout.height);
    const uint64_t samples = uint64_t{layout.rowBytes()} * layout.height;
    checkBytes(source, kDamagedJpeg, samples, kJpegRatio);
    if (rows.whole() || reader.severalScans()) checkMemory(source, layout, samples);
    if (reader.severalScans()) checkHeld(source, layout, reader.coefficientBytes());
    check(reader.start(layout));
    rows.start(layout);
    std::vector<uint8_t> row(layout.rowBytes());
    for (uint32_t y = 0; y < layout.height; ++y) {
        checkCancelled();
        check(reader.readRow(row.data()));
        rows.take(row.data());
    }
    check(reader.finish());
    return rows.result();
}

Picture readRows(const Source& source, Rows rows, std::string* shares = nullptr) {
    const std::string& path = source.path;
    const auto fail = [&path] {
        failRead(path, {phrase("Files", "cannot read: %1"),
                        std::error_code(errno, std::generic_category()).message()});
    };
    constexpr std::array<uint8_t, 8> kPngStart{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    constexpr std::array<uint8_t, 3> kJpegStart{0xFF, 0xD8, 0xFF};
    std::array<uint8_t, 8> start{};
    const size_t count = std::fread(start.data(), 1, start.size(), source.file);
    if (count == 0 && std::ferror(source.file) != 0) fail();
    if (std::fseek(source.file, 0, SEEK_SET) != 0) fail();
    try {
        if (start == kPngStart) return readPng(source, std::move(rows), shares);
        if (std::equal(kJpegStart.begin(), kJpegStart.end(), start.begin()))
            return readJpeg(source, std::move(rows));
    } catch (const std::bad_alloc&) {
        failRead(path, phrase("Files", "the picture is too large for the memory of this machine"));
    }
    failRead(path, count == 0 ? phrase("Files", "the file is empty")
                              : phrase("Files", "neither a PNG nor a JPEG picture"));
}

Picture readRows(const std::string& path, Rows rows, std::string* shares = nullptr) {
    InputFile input(path);
    const auto size = static_cast<uint64_t>(input.size());
    const auto file = input.stream();
    return readRows(Source{path, file.get(), size}, std::move(rows), shares);
}

} // namespace

Picture readPicture(const std::string& path) { return readRows(path, Rows(std::nullopt)); }

std::pair<Picture, std::string> readWithShares(const std::string& path) {
    std::pair<Picture, std::string> read;
    read.first = readRows(path, Rows(std::nullopt), &read.second);
    return read;
}

Picture readSquare(const std::string& path, int side) {
    require(side > 0, "a picture read to nothing");
    return readRows(path, Rows(side));
}

Picture readSquare(const std::string& name, std::string_view bytes, int side) {
    require(side > 0, "a picture read to nothing");
    if (bytes.empty()) failRead(name, phrase("Files", "the file is empty"));
    void* const memory = const_cast<char*>(bytes.data()); // "rb" does not change it
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        ::fmemopen(memory, bytes.size(), "rb"), std::fclose);
    if (!file) throw std::bad_alloc();
    return readRows(Source{name, file.get(), bytes.size()}, Rows(side));
}

} // namespace halfscope
