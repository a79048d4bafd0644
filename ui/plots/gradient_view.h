// How large the gradients of each lane are: a histogram by power of two, with the zones that fp16
// cannot hold. Shows what it is given; the session counts.
#pragma once

#include "engine/runs/run.h"

#include <QRect>
#include <QStringList>
#include <QWidget>

#include <memory>

class QPainter;

namespace halfscope {

struct Colors;

class GradientView : public QWidget {
    Q_OBJECT
public:
    explicit GradientView(QWidget* parent = nullptr);

    /// Shows the last counted gradients of a run; null: none. `anew`: it is a training that would
    /// take the place of the run that is shown.
    void setRun(std::shared_ptr<const Run>, bool anew = false);
    /// Takes what came since the last call.
    void refresh();
    /// Forgets what was shown.
    void setLanes(const QStringList& names);
    /// Other names for the same lanes.
    void renameLanes(const QStringList& names);
    /// By lane. `anew`: of a training that would take the place of the run that is shown.
    void setRanges(std::vector<GradientRange>, bool anew = false);
    bool empty() const { return m_ranges.empty(); }
    /// A sentence in place of gradients that are not there, or of the legend of those that were
    /// counted before; empty: none.
    void setNote(const QString& text);
    QString note() const { return m_note; }
    /// "0.1 % zero, 12 % subnormal" of a lane; empty before there are gradients.
    QString figures(int lane) const;
    QString heading() const;
    /// What is drawn, in two lines.
    QString legend() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent*) override;

private:
    int heightFor(int barHeight) const;
    void describe();
    /// The left edge of 2^exponent in a row.
    double placeOf(int exponent, const QRectF& bars) const;
    void paintRow(QPainter&, const Colors&, int lane, const QRectF& bars) const;
    void paintZones(QPainter&, const Colors&, const GradientRange&, const QRectF& bars) const;
    void paintBars(QPainter&, const Colors&, int lane, const QRectF& bars) const;
    void paintAxis(QPainter&, const Colors&, const QRectF& bars, int top) const;

    std::shared_ptr<const Run> m_run;
    uint64_t m_seen = 0;                                      ///< its version, and 1
    std::shared_ptr<const std::vector<GradientRange>> m_last; ///< of the run, that are shown
    QStringList m_names;
    std::vector<GradientRange> m_ranges;
    QString m_note;
    bool m_anew = false;
};

} // namespace halfscope
