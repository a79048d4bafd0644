// Turns float pictures into images, and tells how far two pictures are apart. No widgets.
#pragma once

#include "engine/io/picture_error.h"

#include <QColor>
#include <QImage>
#include <QRgb>
#include <QString>

namespace halfscope {

/// Returns the colour map's colour, from 0 (dark violet) to 1 (yellow), even in lightness; finite
/// values outside are clamped.
QRgb viridis(double value);

/// Returns an RGB32 image; values are clamped to [0, 1], inf and nan become magenta.
QImage pictureImage(const Picture&);
/// Returns a grey drawing in two colours: black becomes ink, white becomes paper. Other pictures
/// are as in pictureImage().
QImage inkImage(const Picture&, const QColor& ink, const QColor& paper);
/// Returns a table of shares likewise. Where the paper is dark, small shares are drawn lighter than
/// in proportion: dark greys cannot be told from black, least of all on a wall.
QImage cellImage(const Picture&, const QColor& ink, const QColor& paper);
/// Returns a coloured drawing on white, such as a text with marks: white becomes paper and black
/// ink; other colours keep their hue and are about as far from the paper as they were from white.
QImage markedImage(const Picture&, const QColor& ink, const QColor& paper);
/// Returns the mean of the channels times gain through viridis; inf and nan become magenta.
QImage mappedImage(const Picture&, double gain);
/// Returns the highest finite mean of a pixel's channels; 0 when no pixel has one above 0.
double highestMean(const Picture&);
/// Returns an image that is opaque white where a channel is inf or nan, else clear; null when all
/// values are finite.
QImage notFiniteMask(const Picture&);
inline constexpr QRgb kNotFiniteColor = 0xffff00ff;

/// Returns |a - b| by channel, nan where either is nan; empty when the shapes differ.
Picture absoluteDifference(const Picture& a, const Picture& b);

/// Forms of "MAE 0.0123, PSNR 28.1 dB" (peak 1; short forms "PSNR 28.1 dB", "28.1 dB"), "equal", "5
/// not finite" (shortest form "not finite"), or empty for different shapes.
enum class ErrorText { Full, Short, Shortest };
QString errorText(const PictureError&, ErrorText form);
QString errorText(const Picture& a, const Picture& b, ErrorText form = ErrorText::Full);
/// Returns "0.981" or "0.98 0.12 0.5"; "nan", "inf".
QString pixelText(const Picture&, int x, int y);

} // namespace halfscope
