// Makes PNG and JPEG files of every kind in memory: with the libraries' own writers, because ours
// writes only one kind.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <png.h>

namespace halfscope {

struct PngKind {
    int colour = PNG_COLOR_TYPE_GRAY;
    int depth = 8;
    bool interlaced = false;
    std::vector<png_color> palette{};
    std::vector<uint8_t> paletteAlpha{};
    bool transparentColour = false; ///< the colour `transparent` (grey or RGB) is transparent
    png_color_16 transparent{};

    int channels() const {
        switch (colour) {
        case PNG_COLOR_TYPE_GRAY_ALPHA: return 2;
        case PNG_COLOR_TYPE_RGB: return 3;
        case PNG_COLOR_TYPE_RGB_ALPHA: return 4;
        default: return 1;
        }
    }
};

/// `samples` holds a number of `depth` bits for each channel of each pixel, row by row.
inline std::string encodePng(const PngKind& kind, int width, int height,
                             const std::vector<uint16_t>& samples) {
    const auto onError = [](png_structp, png_const_charp text) { throw std::runtime_error(text); };
    std::string bytes;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, onError, nullptr);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(
        png, &bytes,
        [](png_structp writer, png_bytep data, size_t size) {
            static_cast<std::string*>(png_get_io_ptr(writer))
                ->append(reinterpret_cast<const char*>(data), size);
        },
        [](png_structp) {});
    png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height),
                 kind.depth, kind.colour,
                 kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (!kind.palette.empty())
        png_set_PLTE(png, info, kind.palette.data(), static_cast<int>(kind.palette.size()));
    if (!kind.paletteAlpha.empty())
        png_set_tRNS(png, info, kind.paletteAlpha.data(),
                     static_cast<int>(kind.paletteAlpha.size()), nullptr);
    if (kind.transparentColour) png_set_tRNS(png, info, nullptr, 0, &kind.transparent);
    png_write_info(png, info);

    const size_t rowSamples = static_cast<size_t>(width * kind.channels());
    const auto depth = static_cast<size_t>(kind.depth);
    const size_t rowBytes = (rowSamples * depth + 7) / 8;
    std::vector<uint8_t> packed(rowBytes * static_cast<size_t>(height), 0);
    std::vector<uint8_t*> rows;
    for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
        uint8_t* row = packed.data() + y * rowBytes;
        for (size_t i = 0; i < rowSamples; ++i) {
            const unsigned sample = samples[y * rowSamples + i];
            if (depth == 16) {
                row[2 * i] = static_cast<uint8_t>(sample >> 8);
                row[2 * i + 1] = static_cast<uint8_t>(sample & 255U);
            } else {
                const size_t shift = 8 - depth - i * depth % 8;
                const unsigned byte = row[i * depth / 8] | (sample << shift);
                row[i * depth / 8] = static_cast<uint8_t>(byte);
            }
        }
        rows.push_back(row);
    }
    png_write_image(png, rows.data());
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return bytes;
}

struct JpegKind {
    J_COLOR_SPACE colour = JCS_RGB;
    int channels = 3;
    bool progressive = false;
    bool manyScans = false; ///< as many as possible: one for each bit of one coefficient
};

/// Returns scans of the mean of all components, then of each other coefficient bit by bit: 2,080
/// scans for three components.
inline std::vector<jpeg_scan_info> manyScans(int components) {
    constexpr int kCoefficients = 64, kBits = 11;
    jpeg_scan_info first{};
    first.comps_in_scan = components;
    for (int i = 0; i < components; ++i)
        first.component_index[i] = i;
    std::vector<jpeg_scan_info> scans{first};
    for (int component = 0; component < components; ++component)
        for (int at = 1; at < kCoefficients; ++at)
            for (int bit = kBits - 1; bit >= 0; --bit) {
                jpeg_scan_info scan{};
                scan.comps_in_scan = 1;
                scan.component_index[0] = component;
                scan.Ss = scan.Se = at;
                scan.Ah = bit == kBits - 1 ? 0 : bit + 1;
                scan.Al = bit;
                scans.push_back(scan);
            }
    return scans;
}

/// Encodes at best quality without subsampling: blocks of 8 x 8 equal pixels come back nearly
/// exact.
inline std::string encodeJpeg(const JpegKind& kind, int width, int height,
                              const std::vector<uint8_t>& samples) {
    jpeg_compress_struct jpeg{};
    jpeg_error_mgr errors{};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    unsigned char* buffer = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&jpeg, &buffer, &size);
    jpeg.image_width = static_cast<JDIMENSION>(width);
    jpeg.image_height = static_cast<JDIMENSION>(height);
    jpeg.input_components = kind.channels;
    jpeg.in_color_space = kind.colour;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    for (int i = 0; i < jpeg.num_components; ++i)
        jpeg.comp_info[i].h_samp_factor = jpeg.comp_info[i].v_samp_factor = 1;
    if (kind.progressive) jpeg_simple_progression(&jpeg);
    const std::vector<jpeg_scan_info> scans = manyScans(kind.channels);
    if (kind.manyScans) {
        jpeg.scan_info = scans.data();
        jpeg.num_scans = static_cast<int>(scans.size());
    }
    jpeg_start_compress(&jpeg, TRUE);
    std::vector<uint8_t> row(static_cast<size_t>(width * kind.channels));
    while (jpeg.next_scanline < jpeg.image_height) {
        const size_t from = jpeg.next_scanline * row.size();
        row.assign(samples.begin() + static_cast<std::ptrdiff_t>(from),
                   samples.begin() + static_cast<std::ptrdiff_t>(from + row.size()));
        JSAMPROW pointer = row.data();
        jpeg_write_scanlines(&jpeg, &pointer, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    std::string bytes(reinterpret_cast<const char*>(buffer), size);
    std::free(buffer); // jpeg_mem_dest allocates it with malloc
    return bytes;
}

} // namespace halfscope
