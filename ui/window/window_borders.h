// Places the borders between pictures and plots, and between counters and events, until the user
// moves them.
#pragma once

#include "ui/window/window_parts.h"

#include <QList>
#include <QObject>
#include <QVariantMap>

namespace halfscope {

/// Of settings, middle and right column at first.
inline QList<int> columnWidths(int window) {
    constexpr int kSetup = 334, kRight = 280;
    return {kSetup, window - kSetup - kRight, kRight};
}

class WindowBorders : public QObject {
    Q_OBJECT
public:
    explicit WindowBorders(const WindowParts&, QObject* parent = nullptr);

    /// Between pictures and plots: no more for the pictures than they fill.
    void divideCentre();
    /// Between counters and events: what the counters need.
    void divideRight();
    void restore(const QVariantMap&);
    void save(QVariantMap&) const;

protected:
    bool eventFilter(QObject*, QEvent*) override;

private:
    WindowParts m_parts;
    bool m_centreByHand = false, m_rightByHand = false;
};

} // namespace halfscope
