// Qt's Fusion style with visible outlines, and a bar on buttons that are switched on: Fusion makes
// both darker than the window, so that nobody sees them in a dark theme. It also frames controls
// whose value is not allowed: a style sheet with a frame would take away the arrows of a number.
#pragma once

#include <QProxyStyle>

namespace halfscope {

class OutlinedStyle : public QProxyStyle {
    Q_OBJECT
public:
    OutlinedStyle();

    /// Returns a colour with a contrast of at least 3:1 to the window, as WCAG 2 asks of what
    /// identifies a control.
    static QColor outline(const QPalette&);

    /// Frames a control in the colour of errors, or no longer.
    static void frameAsWrong(QWidget&, bool wrong);
    static bool isFramedAsWrong(const QWidget&);

    void drawPrimitive(PrimitiveElement, const QStyleOption*, QPainter*,
                       const QWidget* = nullptr) const override;
    void drawComplexControl(ComplexControl, const QStyleOptionComplex*, QPainter*,
                            const QWidget* = nullptr) const override;
};

} // namespace halfscope
