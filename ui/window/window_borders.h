// Places the borders between pictures and plots, and between counters and events, until the user
// moves them.
#pragma once

#include "ui/window/window_parts.h"

#include <QList>
#include <QObject>
#include <QVariantMap>

namespace halfscope {

/// Returns the first widths of the columns, in pixels: settings, middle and right.
inline QList<int> columnWidths(int window) {
    constexpr int kSetup = 334, kRight = 280;
    return {kSetup, window - kSetup - kRight, kRight};
}

class WindowBorders : public QObject {
    Q_OBJECT
public:
    explicit WindowBorders(const WindowParts&, QObject* parent = nullptr);

    /// Places the border between pictures and plots: the pictures get no more than they fill.
    void divideCentre();
    /// In front of an audience the pictures lie beside the plots where they are larger there; the
    /// border is placed anew each time.
    void present(bool on);
    bool presents() const { return m_presents; }
    /// Places the border between counters and events: the counters get what they need, up to a
    /// share of the height, or to what the parts below them have no use for. It is less beside a
    /// list of runs, which shows some of them also in a low window.
    void divideRight();
    void restore(const QVariantMap&);
    void save(QVariantMap&) const;

protected:
    bool eventFilter(QObject*, QEvent*) override;

private:
    int fewRunsHeight() const;
    int usefulBelow() const;
    void divideLower(int height);
    /// Lowers the gradients' bars in a low window, so that some events can be seen below them.
    void fitGradients();

    WindowParts m_parts;
    bool m_centreByHand = false, m_rightByHand = false;
    bool m_presents = false;
    bool m_otherByHand = false; ///< m_centreByHand of the view that is not shown
};

} // namespace halfscope
