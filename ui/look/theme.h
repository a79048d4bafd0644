// The light and dark theme of the whole window, and the colours that plots and pictures draw with.
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

/// Sets OutlinedStyle and a palette. Auto follows the lightness that the desktop's palette had
/// before the first call.
void applyTheme(QApplication&, Theme);

/// Parses "auto", "light" or "dark"; anything else is Auto.
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

    /// Returns a hue after Okabe and Ito for lanes A to F, lighter on a dark background, darker on
    /// a light one; repeats after six.
    QColor lane(int index) const;
    /// Returns the lane's colour, dark or light enough to read as text (4.5:1).
    QColor laneText(int index) const;
    /// Returns the lane's colour as text on a button.
    QColor laneOnButton(int index) const;
    /// Returns the colour of the filled part of a bar, at 3:1 against the grid colour of the empty
    /// part.
    QColor laneBar(int index) const;
    /// Returns the colour itself, or one as much darker or lighter as it needs to be readable.
    QColor asText(const QColor&) const;
    /// Returns a pen one pixel wide, in the lane's colour and dash pattern.
    QPen lanePen(int index) const;
    /// These are for other runs behind the one that is shown: a colour by run, repeating after six;
    /// a pen in a shade of it that tells lanes apart, with the lane's dash pattern.
    QColor run(int color) const;
    QPen runPen(int color, int lane) const;
    /// Returns the same pen in a colour near the background, for a curve that another one lies
    /// over.
    QPen faint(QPen) const;
};

Colors colorsFor(const QPalette&);
/// Returns the colours of the light theme, for what is printed, whatever theme the window has.
Colors paperColors();
/// Returns a palette with these colours for widgets that draw a figure, on the background of plots.
QPalette figurePalette(const Colors&);

/// Returns the dash pattern of a lane in pen widths; empty for a solid line. Colour is never the
/// only sign.
QVector<qreal> laneDash(int index);
/// Returns "A" to "F".
QString laneLetter(int index);
/// Returns "A fp32".
QString laneLabel(int index, const QString& name);
QStringList laneLabels(const QStringList& names);
/// Returns the contrast ratio of WCAG 2, 1 to 21.
double contrast(const QColor&, const QColor&);
/// Returns the colour itself, or one as little darker or lighter as the contrast needs.
QColor readable(const QColor&, const QColor& background, double ratio);

/// Gives a widget a colour of its own in a copy of the palette that it has. A newly made palette
/// would count as another one, even with equal colours: a style would draw its pictures of the
/// widget again, and keep both.
void setOwnColor(QWidget&, QPalette::ColorRole, const QColor&);

} // namespace halfscope
