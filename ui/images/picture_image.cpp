// Conversion and comparison of pictures.
#include "ui/images/picture_image.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include <algorithm>
#include <array>
#include <cmath>

namespace halfscope {

namespace {

// Ten evenly spaced colours of the viridis colour map (S. van der Walt and N. Smith, CC0).
constexpr std::array<QRgb, 10> kViridis{0xff440154, 0xff482878, 0xff3e4989, 0xff31688e, 0xff26828e,
                                        0xff1f9e89, 0xff35b779, 0xff6dcd59, 0xffb4de2c, 0xfffde725};

const float* pixel(const Picture& picture, int x, int y) {
    const auto index =
        (static_cast<size_t>(y) * static_cast<size_t>(picture.width) + static_cast<size_t>(x)) *
        static_cast<size_t>(picture.channels);
    return picture.values.data() + index;
}

bool allFiniteIn(const float* values, int channels) {
    return std::all_of(values, values + channels, [](float v) { return std::isfinite(v); });
}

double meanOf(const float* values, int channels) {
    double sum = 0;
    for (int c = 0; c < channels; ++c)
        sum += static_cast<double>(values[c]);
    return sum / channels;
}

int byte(float value) {
    return static_cast<int>(std::lround(std::clamp(value, 0.0f, 1.0f) * 255.0f));
}

int mix(int from, int to, float share) {
    return static_cast<int>(std::lround(
        static_cast<float>(from) + static_cast<float>(to - from) * std::clamp(share, 0.0f, 1.0f)));
}

/// Calls color(pixel values) for each pixel that holds neither inf nor nan.
template <class F>
QImage painted(const Picture& picture, F color) {
    QImage image(picture.width, picture.height, QImage::Format_RGB32);
    for (int y = 0; y < picture.height; ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < picture.width; ++x) {
            const float* values = pixel(picture, x, y);
            line[x] = allFiniteIn(values, picture.channels) ? color(values) : kNotFiniteColor;
        }
    }
    return image;
}

} // namespace

QRgb viridis(double value) {
    if (!std::isfinite(value)) return kNotFiniteColor;
    constexpr auto kLast = kViridis.size() - 1;
    const double place = std::clamp(value, 0.0, 1.0) * static_cast<double>(kLast);
    const auto low = std::min(static_cast<size_t>(place), kLast - 1);
    const double share = place - static_cast<double>(low);
    const auto mix = [share](int a, int b) {
        return static_cast<int>(std::lround(a + (b - a) * share));
    };
    const QRgb a = kViridis[low], b = kViridis[low + 1];
    return qRgb(mix(qRed(a), qRed(b)), mix(qGreen(a), qGreen(b)), mix(qBlue(a), qBlue(b)));
}

QImage pictureImage(const Picture& picture) {
    if (picture.channels >= 3)
        return painted(picture,
                       [](const float* v) { return qRgb(byte(v[0]), byte(v[1]), byte(v[2])); });
    return painted(picture,
                   [](const float* v) { return qRgb(byte(v[0]), byte(v[0]), byte(v[0])); });
}

QImage inkImage(const Picture& picture, const QColor& ink, const QColor& paper) {
    if (picture.channels >= 3) return pictureImage(picture);
    return painted(picture, [&](const float* v) {
        return qRgb(mix(ink.red(), paper.red(), v[0]), mix(ink.green(), paper.green(), v[0]),
                    mix(ink.blue(), paper.blue(), v[0]));
    });
}

QImage cellImage(const Picture& picture, const QColor& ink, const QColor& paper) {
    if (picture.channels >= 3 || paper.lightness() > ink.lightness())
        return inkImage(picture, ink, paper);
    constexpr float kLighter = 0.42f; // a power; 14 % stand out from the paper by 3:1
    return painted(picture, [&](const float* v) {
        const float share = std::pow(std::clamp(1 - v[0], 0.0f, 1.0f), kLighter);
        return qRgb(mix(paper.red(), ink.red(), share), mix(paper.green(), ink.green(), share),
                    mix(paper.blue(), ink.blue(), share));
    });
}

QImage markedImage(const Picture& picture, const QColor& ink, const QColor& paper) {
    if (picture.channels < 3) return inkImage(picture, ink, paper);
    const bool dark = paper.lightness() < ink.lightness();
    const QColor &low = dark ? paper : ink, &high = dark ? ink : paper;
    constexpr float kDarker = 1.2f; // a power, so that the ink can be read on orange, too
    return painted(picture, [&](const float* v) {
        std::array<float, 3> share{v[0], v[1], v[2]};
        // the lightness of HSL upside down: the same amount more in each channel
        const auto [least, most] = std::minmax({v[0], v[1], v[2]});
        for (float& each : share)
            if (dark) each = std::pow(std::max(0.0f, each + 1 - least - most), kDarker);
        return qRgb(mix(low.red(), high.red(), share[0]), mix(low.green(), high.green(), share[1]),
                    mix(low.blue(), high.blue(), share[2]));
    });
}

QImage mappedImage(const Picture& picture, double gain) {
    return painted(picture,
                   [&](const float* v) { return viridis(gain * meanOf(v, picture.channels)); });
}

double highestMean(const Picture& picture) {
    double highest = 0;
    for (int y = 0; y < picture.height; ++y)
        for (int x = 0; x < picture.width; ++x) {
            const double mean = meanOf(pixel(picture, x, y), picture.channels);
            if (std::isfinite(mean)) highest = std::max(highest, mean); // others have no colour
        }
    return highest;
}

QImage notFiniteMask(const Picture& picture) {
    if (allFiniteIn(picture.values.data(), static_cast<int>(picture.values.size()))) return {};
    QImage mask(picture.width, picture.height, QImage::Format_ARGB32_Premultiplied);
    for (int y = 0; y < picture.height; ++y) {
        auto* line = reinterpret_cast<QRgb*>(mask.scanLine(y));
        for (int x = 0; x < picture.width; ++x)
            line[x] = allFiniteIn(pixel(picture, x, y), picture.channels) ? 0 : 0xffffffff;
    }
    return mask;
}

Picture absoluteDifference(const Picture& a, const Picture& b) {
    Picture result;
    if (!sameShape(a, b)) return result;
    result = {a.width, a.height, a.channels, std::vector<float>(a.values.size())};
    for (size_t i = 0; i < a.values.size(); ++i)
        result.values[i] = std::abs(a.values[i] - b.values[i]);
    return result;
}

QString errorText(const Picture& a, const Picture& b, ErrorText form) {
    return errorText(errorBetween(a, b), form);
}

QString errorText(const PictureError& error, ErrorText form) {
    if (!error.comparable) return {};
    if (error.notFinite > 0)
        return form == ErrorText::Shortest
                   ? QCoreApplication::translate("PictureError", "not finite")
                   : QCoreApplication::translate("PictureError", "%1 not finite")
                         .arg(QLocale().toString(static_cast<qlonglong>(error.notFinite)));
    if (error.meanSquare == 0) return QCoreApplication::translate("PictureError", "equal");
    const QLocale locale;
    const QString ratio = locale.toString(error.psnr(), 'f', 1);
    if (form == ErrorText::Shortest)
        return QCoreApplication::translate("PictureError", "%1 dB").arg(ratio);
    if (form == ErrorText::Short)
        return QCoreApplication::translate("PictureError", "PSNR %1 dB").arg(ratio);
    // zeros at the end stay, or the text would change its width from step to step
    QString mean = QString::asprintf("%#.3g", error.meanAbsolute);
    if (mean.endsWith(u'.')) mean.chop(1); // of 100 and more
    mean.replace(QLatin1String("."), locale.decimalPoint());
    return QCoreApplication::translate("PictureError", "MAE %1, PSNR %2 dB").arg(mean, ratio);
}

QString pixelText(const Picture& picture, int x, int y) {
    if (x < 0 || y < 0 || x >= picture.width || y >= picture.height) return {};
    QStringList parts;
    const float* values = pixel(picture, x, y);
    for (int c = 0; c < picture.channels; ++c)
        parts << QLocale().toString(static_cast<double>(values[c]), 'g', 4);
    return parts.join(u' ');
}

} // namespace halfscope
