// The plot of one lane's scaled gradients over the steps, in the stack of plots: its axis, header,
// and what it says at a step. GradientMapItem draws the picture.
#pragma once

#include "engine/runs/run.h"
#include "ui/look/theme.h"
#include "ui/plots/stacked_plot.h"

#include <QSharedPointer>

#include <memory>

class QCPAxisTickerText;
class QCPLayer;
class QCustomPlot;

namespace halfscope {

class GradientMapItem;
class ReadoutItem;

/// Returns "mostly 2^-6 to 2^4", "0.2 % inf or nan", "3 % subnormal in fp16", "42 % zero", the most
/// telling first: where most are zero, "97 % zero", "the rest mostly 2^-24 to 2^-16". Nine tenths
/// of the values that are neither zero nor inf or nan lie between the two powers. `half` true: the
/// gradients are stored in fp16; false: says what fp16 would make of them; nothing: their dtype is
/// not known.
QStringList gradientFigures(const GradientShares&, std::optional<bool> half);

class GradientMap : public StackedPlot {
public:
    /// Both must outlive this object.
    GradientMap(QCustomPlot&, QCPAxisRect&, QCPLayer& overlay);
    /// Removes its picture and header from the plot; the rect stays.
    ~GradientMap() override;

    /// Sets the lane that is shown, by its number and label.
    void setLane(std::shared_ptr<const Run>, int lane, const QString& label);
    /// Keeps so many pixels free at the right end of the header, because something else covers
    /// them.
    void keepFree(int width);

    double stretch() const override { return 3.6; } // fifty rows need it
    bool keepsRoom() const override { return !isBlank(); }
    /// Whether it is of a saved run whose gradients were not counted.
    bool isBlank() const override { return m_run && history().isSaved() && history().empty(); }
    QString title() const override;
    QString explanation() const override;
    void renameLanes(const QStringList& labels) override;
    bool update(double from, double to, int pixels) override;
    void setColors(const Colors&) override;
    void showValues(std::optional<qint64> step) override;
    QString spoken(std::optional<qint64> step) const override;

private:
    /// Returns the texts at a step in ever fewer words; none when there is nothing to tell.
    QStringList textsAt(std::optional<qint64> step) const;
    /// Says why the picture is empty, where steps were trained; none where it is not.
    QStringList noteOfEmpty() const;
    /// Returns the count that the view of the gradients shows, too; null when there is none.
    const GradientRange* lastCount() const;
    const GradientHistory& history() const { return m_run->now().gradients(m_lane); }
    void placeTicks();

    QCustomPlot& m_plot;
    GradientMapItem* m_item = nullptr; ///< owned by the plot, as is the next one
    ReadoutItem* m_readout = nullptr;
    QSharedPointer<QCPAxisTickerText> m_ticker;
    std::shared_ptr<const Run> m_run; ///< null before there is one
    int m_lane = 0;
    QString m_label;
    Colors m_colors;
};

} // namespace halfscope
