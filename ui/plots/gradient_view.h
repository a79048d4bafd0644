// How large the gradients of each lane are: a histogram by power of two, with the zones that fp16
// cannot hold. Only shows the counts; the session makes them.
#pragma once

#include "engine/runs/run.h"

#include <QRect>
#include <QStringList>
#include <QWidget>

#include <memory>
#include <optional>

class QPainter;

namespace halfscope {

struct Colors;

class GradientView : public QWidget {
    Q_OBJECT
public:
    explicit GradientView(QWidget* parent = nullptr);

    /// Shows the last counted gradients of a run; null: none. `anew` tells that they belong to new
    /// networks, whose training would replace the run that is shown.
    void setRun(std::shared_ptr<const Run>, bool anew = false);
    /// Takes what came since the last call.
    void refresh();
    /// Sets the lanes and forgets what was shown.
    void setLanes(const QStringList& names);
    /// Changes the names of the same lanes.
    void renameLanes(const QStringList& names);
    /// Sets the counts, one for each lane. `anew` is as in setRun().
    void setRanges(std::vector<GradientRange>, bool anew = false);
    bool empty() const { return m_ranges.empty(); }
    /// Sets a sentence that is shown when there are no gradients, or instead of the legend when
    /// they were counted earlier; empty: none.
    void setNote(const QString& text);
    QString note() const { return m_note; }
    /// Returns "0.1 % zero, 12 % subnormal in fp16" for a lane, or fewer words; empty before there
    /// are gradients.
    QString figures(int lane, bool brief = false) const;
    /// What stands above the bars, by lane.
    struct Captions {
        QStringList labels, figures;
    };
    /// Returns as many words as there is room for. All lanes are named in the same form, or one
    /// would look like another kind of lane.
    Captions captions() const;
    QString heading() const;
    /// Returns the heading in as many words as fit into so many pixels of a font.
    QString headingIn(int width, const QFontMetrics&) const;
    /// Returns what the drawing means, in two lines.
    QString legend() const;
    /// Returns the font in which its lines fit into the width.
    QFont legendFont() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent*) override;

private:
    /// Whether a lane's gradients have a loss scale that was set by hand since the last step.
    bool hasNewScale() const;
    int heightFor(int barHeight) const;
    void describe();
    /// Returns what the view shows of these lanes, in whole sentences.
    QString about() const;
    /// Returns the left edge of 2^exponent in a row.
    double placeOf(int exponent, const QRectF& bars) const;
    std::optional<QString> figuresBeside(const QString& label, int lane, int room) const;
    void paintRow(QPainter&, const Colors&, int lane, const Captions&, const QRectF& bars) const;
    void paintZones(QPainter&, const Colors&, const GradientRange&, const QRectF& bars) const;
    void paintBars(QPainter&, const Colors&, int lane, const QRectF& bars) const;
    void paintAxis(QPainter&, const Colors&, const QRectF& bars, int top) const;

    std::shared_ptr<const Run> m_run;
    uint64_t m_seen = 0;                                      ///< the run's version + 1; 0: not
                                                              ///< looked at yet
    std::shared_ptr<const std::vector<GradientRange>> m_last; ///< the run's counts that are shown
    QStringList m_names;
    std::vector<GradientRange> m_ranges;
    QString m_note;
    bool m_anew = false;
};

} // namespace halfscope
