// Light and dark theme of the whole window, and the colours that plots and pictures draw with.
// Widgets call colorsFor(palette()) again on QEvent::PaletteChange.
#pragma once

#include <QColor>
#include <QPalette>
#include <QPen>
#include <QString>
#include <QVector>

class QApplication;
class QWidget;

namespace halfscope {

enum class Theme { Auto, Light, Dark };

/// OutlinedStyle and a palette. Auto follows the lightness of the desktop's palette as it was
/// before the first call.
void applyTheme(QApplication&, Theme);

/// "auto", "light", "dark"; anything else is Auto.
Theme themeNamed(const QString& name);
QString nameOf(Theme);

/// Text colours reach a contrast of 4.5:1 against plots and panels, lane colours 3:1 as lines.
struct Colors {
    bool dark = false;
    QColor background; ///< of plots, lists and boxes
    QColor window;     ///< of panels
    QColor button;     ///< the brightest part of a button
    QColor text, muted, grid;
    QColor accent;  ///< the one coloured button, user edits
    QColor good;    ///< growth
    QColor warning; ///< backoff
    QColor error;   ///< overflow, nan

    /// Okabe-Ito hues for lanes A to F, lighter on a dark background; repeats after six.
    QColor lane(int index) const;
    /// The lane's colour, dark or light enough to read as text (4.5:1).
    QColor laneText(int index) const;
    /// The same on a button.
    QColor laneOnButton(int index) const;
    /// Of the filled part of a bar that is grid-coloured where it is empty (3:1).
    QColor laneBar(int index) const;
    /// The colour itself, or as much darker or lighter as makes it readable.
    QColor asText(const QColor&) const;
    /// One pixel wide, in the lane's colour and dash pattern.
    QPen lanePen(int index) const;
    /// Of another run behind those of the run that is shown: a colour by run, repeating after six,
    /// in the lane's dash pattern.
    QColor run(int color) const;
    QPen runPen(int color, int lane) const;
    /// The same pen in a colour near the background, for what another curve lies over.
    QPen faint(QPen) const;
};

Colors colorsFor(const QPalette&);

/// Dash pattern of a lane in pen widths; empty for a solid line. Colour is never the only sign.
QVector<qreal> laneDash(int index);
/// "A" to "F".
QString laneLetter(int index);
/// "A fp32".
QString laneLabel(int index, const QString& name);
QStringList laneLabels(const QStringList& names);
/// Contrast ratio of WCAG 2, 1 to 21.
double contrast(const QColor&, const QColor&);
/// The colour itself, or as little darker or lighter as the contrast needs.
QColor readable(const QColor&, const QColor& background, double ratio);

/// Gives a widget a colour of its own in the palette that it has. In a new palette it would be as
/// good as another colour: a style would draw its pictures of the widget again, and keep both.
void setOwnColor(QWidget&, QPalette::ColorRole, const QColor&);

} // namespace halfscope
