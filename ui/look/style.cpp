// Draws with Fusion, then draws over Fusion's own what it leaves too faint.
#include "ui/look/style.h"

#include "ui/look/theme.h"

#include <QPainter>
#include <QStyleOption>
#include <QVariant>
#include <QWidget>

namespace halfscope {
namespace {

constexpr double kControlContrast = 3;
constexpr char kWrongProperty[] = "framedAsWrong";

void drawWrong(const QStyleOption& option, QPainter& painter, double radius) {
    constexpr double kWidth = 2, kHalf = kWidth / 2;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, radius > 0);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colorsFor(option.palette).error, kWidth));
    const QRectF middle = QRectF(option.rect).adjusted(kHalf, kHalf, -kHalf, -kHalf); // of the line
    painter.drawRoundedRect(middle, radius, radius);
    painter.restore();
}

void drawOutline(const QStyleOption& option, QPainter& painter, double radius,
                 const QWidget* widget = nullptr) {
    if (widget && OutlinedStyle::isFramedAsWrong(*widget))
        return drawWrong(option, painter, radius);
    // a focused control has Fusion's ring in the highlight colour
    const bool focused = option.state & QStyle::State_HasFocus;
    const bool enabled = option.state & QStyle::State_Enabled;
    if (focused || !enabled) return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, radius > 0);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(OutlinedStyle::outline(option.palette));
    painter.translate(0.5, 0.5); // to the middle of pixels
    painter.drawRoundedRect(QRectF(option.rect.adjusted(0, 0, -1, -1)), radius, radius);
    painter.restore();
}

/// Draws over the frame of a control that has the keyboard: Fusion's is hard to see on a flat one.
void drawRing(const QStyleOption& option, QPainter& painter) {
    const QPalette& palette = option.palette;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(readable(palette.color(QPalette::Highlight), palette.color(QPalette::Window),
                            kControlContrast));
    painter.translate(0.5, 0.5); // to the middle of pixels
    painter.drawRoundedRect(QRectF(option.rect.adjusted(0, 0, -1, -1)), 2, 2);
    painter.restore();
}

/// Draws a bar along the bottom of a button that is switched on.
void drawSwitchedOn(const QStyleOption& option, QPainter& painter) {
    constexpr int kBar = 2, kBeside = 4;                 // pixels
    constexpr double kOnShades = 1.5 * kControlContrast; // Fusion paints buttons in lighter shades
    const QColor bar = readable(option.palette.color(QPalette::Highlight),
                                option.palette.color(QPalette::Button), kOnShades);
    const QRect& button = option.rect;
    painter.fillRect(
        QRect(button.left() + kBeside, button.bottom() - kBar, button.width() - 2 * kBeside, kBar),
        bar);
}

} // namespace

OutlinedStyle::OutlinedStyle() : QProxyStyle(QStringLiteral("Fusion")) {}

QColor OutlinedStyle::outline(const QPalette& palette) {
    const QColor window = palette.color(QPalette::Window);
    return readable(palette.color(QPalette::Mid), window, kControlContrast);
}

void OutlinedStyle::frameAsWrong(QWidget& control, bool wrong) {
    if (wrong == isFramedAsWrong(control)) return;
    control.setProperty(kWrongProperty, wrong);
    control.update();
}

bool OutlinedStyle::isFramedAsWrong(const QWidget& control) {
    return control.property(kWrongProperty).toBool();
}

void OutlinedStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option,
                                  QPainter* painter, const QWidget* widget) const {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    if (element == PE_IndicatorCheckBox) drawOutline(*option, *painter, 0, widget);
    // a cell has marks of its own, and Qt sets State_KeyboardFocusChange for it after a click, too
    const State cell = option->state & State_Item,
                byKey = option->state & State_KeyboardFocusChange;
    if (element == PE_FrameFocusRect && byKey && !cell) drawRing(*option, *painter);
    if (element == PE_FrameLineEdit) drawOutline(*option, *painter, 2, widget);
    if (element == PE_PanelMenu) { // a dark menu has no shadow
        QStyleOption menu = *option;
        menu.state = State_Enabled; // menus tell no state
        drawOutline(menu, *painter, 0);
    }
    if (element == PE_PanelButtonTool && (option->state & State_On))
        drawSwitchedOn(*option, *painter);
}

void OutlinedStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                                       QPainter* painter, const QWidget* widget) const {
    QProxyStyle::drawComplexControl(control, option, painter, widget);
    if (control == CC_SpinBox || control == CC_ComboBox) drawOutline(*option, *painter, 2, widget);
    if (control == CC_Slider) {
        QStyleOption handle = *option;
        handle.rect = subControlRect(CC_Slider, option, SC_SliderHandle, widget);
        drawOutline(handle, *painter, 2);
    }
}

} // namespace halfscope
