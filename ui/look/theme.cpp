// The palettes of the two themes, and colours derived from them by contrast, so that they are
// readable on any palette.
#include "ui/look/theme.h"

#include "ui/look/style.h"

#include <QApplication>
#include <QGuiApplication>
#include <QVariant>
#include <QWidget>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

namespace halfscope {

namespace {

constexpr int kLaneColors = 6;
// Okabe and Ito's colours, which stay apart for the common kinds of colour blindness. Their
// vermilion is darker here, because on white their orange is darkened and would come too near to
// it; so would their yellow, which is paler here. Their sky blue is left out: darkened, it would be
// lane A's blue.
constexpr std::array<QRgb, kLaneColors> kLaneHues{0xff0072b2, 0xffe69f00, 0xff009e73,
                                                  0xffcc79a7, 0xffb04a00, 0xfffce484};
// Differ from the lanes' hues and from each other; a tag at each curve's end tells them apart, too.
constexpr int kRunColors = 6;
constexpr std::array<QRgb, kRunColors> kRunHues{0xff7b6fd0, 0xff8a8f1f, 0xffc0567f,
                                                0xff2f8f9d, 0xff8c6d4f, 0xff7d8791};
// WCAG 2 asks for 4.5 and 3; these are a little more, because pixels have 8 bits a channel.
constexpr double kTextContrast = 4.6, kLineContrast = 3.05;
constexpr int kFusionLight = 150; // %: Fusion paints the top of a dark button so much brighter
constexpr const char* kDesktopDark = "halfscope_desktop_dark";

/// Returns the relative luminance of WCAG 2.
double luminance(const QColor& color) {
    const auto linear = [](double v) {
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) +
           0.0722 * linear(color.blueF());
}

bool isDark(const QPalette& palette) {
    return luminance(palette.color(QPalette::Window)) <
           luminance(palette.color(QPalette::WindowText));
}

QColor mixed(const QColor& a, const QColor& b, double share) {
    const auto mix = [share](float x, float y) { return static_cast<float>(x + (y - x) * share); };
    return QColor::fromRgbF(mix(a.redF(), b.redF()), mix(a.greenF(), b.greenF()),
                            mix(a.blueF(), b.blueF()));
}

QPalette palette(bool dark) {
    const QColor window = dark ? QColor(0x26, 0x29, 0x2d) : QColor(0xf3, 0xf4, 0xf6);
    const QColor base = dark ? QColor(0x1b, 0x1d, 0x20) : QColor(0xff, 0xff, 0xff);
    const QColor text = dark ? QColor(0xe6, 0xe8, 0xea) : QColor(0x1c, 0x1f, 0x23);
    const QColor button = dark ? QColor(0x2a, 0x2e, 0x32) : QColor(0xfb, 0xfb, 0xfc);
    const QColor highlight = dark ? QColor(0x2f, 0x77, 0xb9) : QColor(0x0b, 0x62, 0xa8);
    QPalette result(button, window);
    for (const auto& [role, color] :
         {std::pair(QPalette::Window, window), std::pair(QPalette::WindowText, text),
          std::pair(QPalette::Base, base),
          std::pair(QPalette::AlternateBase, mixed(base, window, 0.6)),
          std::pair(QPalette::Text, text), std::pair(QPalette::Button, button),
          std::pair(QPalette::ButtonText, text), std::pair(QPalette::ToolTipBase, button),
          std::pair(QPalette::ToolTipText, text),
          std::pair(QPalette::BrightText, QColor(Qt::white)),
          std::pair(QPalette::Highlight, highlight),
          std::pair(QPalette::HighlightedText, QColor(Qt::white)),
          std::pair(QPalette::Link, readable(highlight, base, kTextContrast)),
          std::pair(QPalette::PlaceholderText,
                    readable(mixed(text, base, 0.4), base, kTextContrast)),
          std::pair(QPalette::Mid, mixed(window, text, 0.3)),
          std::pair(QPalette::Midlight, mixed(window, text, 0.1))})
        result.setColor(role, color);
    const QColor off = mixed(text, window, 0.55);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        result.setColor(QPalette::Disabled, role, off);
    result.setColor(QPalette::Disabled, QPalette::Highlight, mixed(window, text, 0.3));
    return result;
}

} // namespace

QColor readable(const QColor& color, const QColor& background, double ratio) {
    const QColor end = luminance(background) < 0.18 ? QColor(Qt::white) : QColor(Qt::black);
    QColor result = color;
    for (int share = 1; share <= 20 && contrast(result, background) < ratio; ++share)
        result = mixed(color, end, share / 20.0);
    return result;
}

double contrast(const QColor& a, const QColor& b) {
    const auto [low, high] = std::minmax({luminance(a), luminance(b)});
    return (high + 0.05) / (low + 0.05);
}

void applyTheme(QApplication& app, Theme theme) {
    if (!app.property(kDesktopDark).isValid())
        app.setProperty(kDesktopDark, isDark(QGuiApplication::palette()));
    const bool dark =
        theme == Theme::Dark || (theme == Theme::Auto && app.property(kDesktopDark).toBool());
    app.setStyle(std::make_unique<OutlinedStyle>().release()); // the application owns it
    QApplication::setPalette(palette(dark));
}

Theme themeNamed(const QString& name) {
    if (name == QLatin1String("light")) return Theme::Light;
    return name == QLatin1String("dark") ? Theme::Dark : Theme::Auto;
}

QString nameOf(Theme theme) {
    switch (theme) {
    case Theme::Light: return QStringLiteral("light");
    case Theme::Dark: return QStringLiteral("dark");
    case Theme::Auto: break;
    }
    return QStringLiteral("auto");
}

Colors colorsFor(const QPalette& from) {
    Colors colors;
    colors.background = from.color(QPalette::Base);
    colors.dark = luminance(colors.background) < 0.18;
    colors.window = from.color(QPalette::Window);
    colors.button = from.color(QPalette::Button).lighter(kFusionLight);
    colors.text = colors.asText(from.color(QPalette::Text));
    colors.muted = colors.asText(mixed(colors.text, colors.background, 0.4));
    colors.grid = mixed(colors.background, colors.text, 0.13);
    colors.accent = colors.asText(QColor(0x1f, 0x6f, 0xd0));
    colors.good = colors.asText(QColor(0x1a, 0x8f, 0x3c));
    colors.warning = colors.asText(QColor(0xc9, 0x86, 0x00));
    colors.error = colors.asText(QColor(0xd6, 0x2b, 0x2b));
    return colors;
}

Colors paperColors() { return colorsFor(palette(false)); }

QPalette figurePalette(const Colors& colors) {
    QPalette figure(colors.button, colors.background);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        figure.setColor(role, colors.text);
    figure.setColor(QPalette::Base, colors.background);
    figure.setColor(QPalette::Mid, colors.grid);
    return figure;
}

QColor Colors::asText(const QColor& color) const {
    // plots lie on the background, panels on the window
    return readable(readable(color, background, kTextContrast), window, kTextContrast);
}

QColor Colors::lane(int index) const {
    const QColor hue(kLaneHues[static_cast<size_t>(index % kLaneColors)]);
    // thin bright lines on a dark ground need more than the 3:1 that suffices on white
    const QColor line = readable(hue, background, dark ? kTextContrast : kLineContrast);
    return readable(line, window, kLineContrast); // for the swatches on the window
}

QColor Colors::laneOnButton(int index) const {
    return readable(laneText(index), button, kTextContrast);
}

QColor Colors::laneBar(int index) const { return readable(lane(index), grid, kLineContrast); }

QColor Colors::laneText(int index) const {
    return asText(QColor(kLaneHues[static_cast<size_t>(index % kLaneColors)]));
}

QPen Colors::lanePen(int index) const {
    // QCustomPlot draws width 1 as a hairline: thicker pens are 20 to 60 times slower
    QPen pen(lane(index), 1);
    if (const auto dash = laneDash(index); !dash.isEmpty()) pen.setDashPattern(dash);
    pen.setCapStyle(Qt::FlatCap); // square ends would close the gaps of thicker pens
    return pen;
}

QColor Colors::run(int color) const {
    return readable(QColor(kRunHues[static_cast<size_t>(color % kRunColors)]), background,
                    kLineContrast);
}

QPen Colors::runPen(int color, int lane) const {
    // of the text's colour: far enough apart to be seen in two lines that cross, and far enough
    // from it that a curve still has the colour of its run
    constexpr std::array kLaneShades{0.0, 0.55, 0.28};
    QPen pen = lanePen(lane);
    pen.setColor(
        mixed(run(color), text, kLaneShades[static_cast<size_t>(lane) % kLaneShades.size()]));
    return pen;
}

QPen Colors::faint(QPen pen) const {
    constexpr double kShare = 0.6; // of the background
    pen.setColor(mixed(pen.color(), background, kShare));
    pen.setStyle(Qt::SolidLine);
    return pen;
}

QVector<qreal> laneDash(int index) {
    switch (index % kLaneColors) {
    case 1: return {7, 3};
    case 2: return {3, 2};
    case 3: return {9, 3, 2, 3};
    case 4: return {14, 4};
    case 5: return {9, 3, 2, 3, 2, 3};
    default: return {};
    }
}

QString laneLetter(int index) { return QString(QChar(u'A' + index % 26)); }

QString laneLabel(int index, const QString& name) {
    return name.isEmpty() ? laneLetter(index) : laneLetter(index) + u' ' + name;
}

QStringList laneLabels(const QStringList& names) {
    QStringList labels;
    for (int i = 0; i < static_cast<int>(names.size()); ++i)
        labels << laneLabel(i, names[i]);
    return labels;
}

void setOwnColor(QWidget& widget, QPalette::ColorRole role, const QColor& color) {
    QPalette own = widget.palette();
    own.setColor(role, color);
    widget.setPalette(own);
}

} // namespace halfscope
