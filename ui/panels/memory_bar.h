// What the memory of a lane's step is made of: a thin bar of one part for each cause, and the
// legend that all bars share. A pointer, the focus and a screen reader get the figures.
#pragma once

#include "engine/exec/executor.h"

#include <QString>
#include <QWidget>
#include <vector>

namespace halfscope {

/// "12.1 MiB": three digits, in a unit that leaves no more before the point.
QString memoryText(size_t bytes);

/// A part of a bar. Small causes that no setting changes much are one.
struct MemoryPart {
    QString name;
    size_t bytes = 0;
};
/// In the order of the legend; empty where the causes are not known.
std::vector<MemoryPart> memoryParts(const MemoryUse&);

class MemoryBar : public QWidget {
    Q_OBJECT
public:
    /// `lane`: "A".
    MemoryBar(const MemoryUse&, const QString& lane, QWidget* parent = nullptr);

    QSize sizeHint() const override { return minimumSizeHint(); }
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent*) override;
    void focusInEvent(QFocusEvent*) override;

private:
    std::vector<MemoryPart> m_parts;
};

class MemoryLegend : public QWidget {
    Q_OBJECT
public:
    explicit MemoryLegend(QWidget* parent = nullptr);

    QSize sizeHint() const override { return minimumSizeHint(); }
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent*) override;
};

} // namespace halfscope
