// Shows what the memory of a lane's step consists of: a thin bar with a part for each cause, and
// the legend that all bars share. The pointer, the focus and a screen reader give the figures.
#pragma once

#include "engine/exec/executor.h"

#include <QString>
#include <QWidget>
#include <vector>

namespace halfscope {

/// Returns "12.1 MiB": three digits, in a unit with at most three before the point.
QString memoryText(size_t bytes);

/// A part of a bar. Small causes that no setting changes much are combined into one.
struct MemoryPart {
    QString name;
    size_t bytes = 0;
};
/// Returns the parts in the order of the legend; empty when the causes are not known.
std::vector<MemoryPart> memoryParts(const MemoryUse&);

class MemoryBar : public QWidget {
    Q_OBJECT
public:
    /// `lane` is the lane's letter, "A".
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
