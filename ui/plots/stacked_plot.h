// What every plot of the stack has: a place over the shared step axis, a header, and words for
// screen readers. PlotStack lays them out and moves them together.
#pragma once

#include <QString>
#include <QStringList>

#include <optional>

class QCPAxisRect;

namespace halfscope {

struct Colors;

class StackedPlot {
public:
    /// The rect belongs to the plot's layout.
    explicit StackedPlot(QCPAxisRect& rect) : m_rect(rect) {}
    virtual ~StackedPlot() = default;
    StackedPlot(const StackedPlot&) = delete;
    StackedPlot& operator=(const StackedPlot&) = delete;

    QCPAxisRect& rect() const { return m_rect; }
    /// Shows the header alone, for where there is no room for more.
    void setFolded(bool);
    bool folded() const { return m_folded; }

    /// The share of the height, beside the others'.
    virtual double stretch() const = 0;
    /// Whether it gives its room to the others first: how fast a lane trains says the strip above.
    virtual bool foldsFirst() const { return false; }
    /// What is plotted, for who does not know the word.
    virtual QString explanation() const = 0;
    /// Other labels for the same lanes; what is plotted stays.
    virtual void renameLanes(const QStringList& labels) = 0;
    /// Draws what there is of the steps in [from, to].
    virtual void update(double from, double to, int pixels) = 0;
    virtual void setColors(const Colors&) = 0;
    /// Values at a step, or the newest ones.
    virtual void showValues(std::optional<qint64> step) = 0;
    /// "B amp-fp16 0.0123" for each lane with a value, for screen readers.
    virtual QString spoken(std::optional<qint64> step) const = 0;

protected:
    /// Ticks and grid as all plots have them.
    void setUpAxes();

    QCPAxisRect& m_rect;

private:
    bool m_folded = false;
};

} // namespace halfscope
