// Qt's Fusion style, with outlines that can be seen: Fusion takes them darker than the window,
// which leaves boxes and check boxes of a dark theme without any.
#pragma once

#include <QProxyStyle>

namespace halfscope {

class OutlinedStyle : public QProxyStyle {
    Q_OBJECT
public:
    OutlinedStyle();

    /// At least 3:1 against the window, as WCAG 2 asks of what a control is recognised by.
    static QColor outline(const QPalette&);

    void drawPrimitive(PrimitiveElement, const QStyleOption*, QPainter*,
                       const QWidget* = nullptr) const override;
    void drawComplexControl(ComplexControl, const QStyleOptionComplex*, QPainter*,
                            const QWidget* = nullptr) const override;
};

} // namespace halfscope
