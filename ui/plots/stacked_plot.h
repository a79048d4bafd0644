// What every plot of the stack has: a place over the shared step axis, a header, and words for
// screen readers. PlotStack lays the plots out and moves them together.
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
    /// Shows the header alone; without margins, nothing.
    void setFolded(bool);
    bool folded() const { return m_folded; }
    /// Takes the plot away, header included; it needs new margins when it comes back.
    virtual void setHidden(bool);
    bool hidden() const { return m_hidden; }

    /// Marks the plot that the user has made room for: others fold before it does.
    void setWanted(bool wanted) { m_wanted = wanted; }
    bool wanted() const { return m_wanted; }

    virtual QString title() const = 0;
    /// Returns the share of the height that the plot gets, relative to the other plots.
    virtual double stretch() const = 0;
    /// Whether it gives up its room before the others do. The throughput does: the strip above
    /// tells the speed, too.
    virtual bool foldsFirst() const { return false; }
    /// Whether it gives up its room after the others that do not keep theirs. The skipped steps do:
    /// they are what a loss scale costs.
    virtual bool foldsLate() const { return false; }
    /// Whether the other plots give up their room until its curves can be read.
    virtual bool keepsRoom() const { return false; }
    /// Whether there is nothing to draw, so that its header, which says so, is enough.
    virtual bool isBlank() const { return false; }
    /// Explains what is plotted to readers who do not know the term.
    virtual QString explanation() const = 0;
    /// Changes the labels of the same lanes; what is plotted stays.
    virtual void renameLanes(const QStringList& labels) = 0;
    /// Draws the steps in [from, to]. Returns whether all is drawn; a long run that was just opened
    /// takes more calls.
    virtual bool update(double from, double to, int pixels) = 0;
    virtual void setColors(const Colors&) = 0;
    /// Shows the values at a step, or the newest ones.
    virtual void showValues(std::optional<qint64> step) = 0;
    /// Returns "B amp-fp16 0.0123" for each lane with a value, for screen readers.
    virtual QString spoken(std::optional<qint64> step) const = 0;

protected:
    /// Sets up ticks and grid as all plots have them.
    void setUpAxes();

    QCPAxisRect& m_rect;

private:
    bool m_folded = false, m_hidden = false, m_wanted = false;
};

} // namespace halfscope
