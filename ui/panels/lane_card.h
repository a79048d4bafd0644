// The counters of one lane as a card: loss, memory by cause, loss scale, progress to the next
// growth, skipped steps, and the last event.
#pragma once

#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"
#include "ui/panels/figure_label.h"

#include <QFrame>
#include <QStringList>

#include <cstdint>
#include <vector>

class QGridLayout;
class QLabel;
class QProgressBar;
class QToolButton;

namespace halfscope {

/// What was set for a lane since the end of its run, and waits until the run goes on.
struct HeldEdits {
    double scale = 0;     ///< the next loss scale; 0: none was set
    bool atLeast = false; ///< the scale grows also at more clean steps than the interval
};

class LaneCard : public QFrame {
    Q_OBJECT
public:
    LaneCard(int lane, const LaneFacts&, QWidget* parent = nullptr);
    /// `smallBatch` and `nextValidation`: see RunModel. The one is told beside the loss, the other
    /// in place of a validation that is still to come.
    void show(const LaneStatus&, int64_t smallBatch = 0, const HeldEdits& held = {},
              int64_t nextValidation = 0);
    bool scales() const { return m_scales; }
    /// Whether another loss scale can be set now.
    bool takesScale() const;
    /// Sets why none can be set now; empty where one can. Without a reason, the card of a saved run
    /// has no button.
    void setScaleObstacle(const QString& reason);
    /// The loss scale of the next step; 0 where it is not known.
    double scale() const { return m_lastScale; }
    /// Shows the loss beside the title, and leaves out the memory and the last event, which the
    /// tool tip has, too: when room is short, the figures of several lanes are worth more.
    void setCompact(bool);

signals:
    /// The user asks for another loss scale; `scale` is the present one.
    void scaleEditRequested(double scale);
    /// The user asks that the scale grow also at more clean steps than the interval.
    void atLeastRequested();

protected:
    void changeEvent(QEvent*) override;
    void resizeEvent(QResizeEvent*) override;

private:
    void explain(FigureLabel* figure, const QString& tip);
    void takeLoss(const LaneStatus&, int64_t smallBatch);
    void showCounts(const LaneStatus&);
    void showSkipVerdict(const LaneStatus&);
    void fitWords();
    QStringList compactLosses() const;
    void fitTitle();
    void fitScale();
    void fitLossAndJudged();
    int leastFigure() const;
    void fitUnchanged();
    FigureLabel* addFigure(QGridLayout&, int row, const QString& name, int columns = 2);
    /// `half`: see LaneFacts.
    void addMemory(QGridLayout&, const MemoryUse&, bool half);
    void addJudged(QGridLayout&, LaneFacts::Judged);
    void showJudged(const LaneStatus&, int64_t nextValidation);
    void addZeros(QGridLayout&);
    void showZeros(const LaneStatus&);
    void addUnchanged(QGridLayout&);
    void showUnchanged(const LaneStatus&);
    void addScaler(QGridLayout&, int row);
    void addScale(QGridLayout&, int row);
    void addStuck(QGridLayout&);
    void applyColors();
    void showTips(const LaneStatus&);
    void showScale(const LaneStatus&, const HeldEdits&);
    void tellSetScale();
    void showLoss();
    void showClean(bool grows);
    /// Returns the label beside a figure.
    QLabel* nameOf(const FigureLabel*) const;

    int m_lane;
    bool m_scales, m_live, m_compact = false;
    std::vector<QWidget*> m_extras; ///< what a compact card leaves out; children
    QStringList m_unchangedForms;   ///< from long to short
    QStringList m_unchangedNames;   ///< from long to short
    QString m_unchangedTip;         ///< its tool tip, without the figures
    int m_unchangedRoom = 0;        ///< pixels that the longest form wants
    QString m_memoryText;
    QString m_lossName, m_lossAbout;  ///< see LaneFacts
    QString m_about, m_label, m_news; ///< the full texts
    QString m_obstacle;               ///< see setScaleObstacle()
    double m_lastScale = 0;           ///< 0 where it is not known
    int m_lossRoom = 0;        ///< pixels kept for the loss beside the title of a compact card
    QLabel* m_title = nullptr; ///< child, as all below; the scaler's are null when the lane
                               ///< has none
    FigureLabel* m_loss = nullptr;
    FigureLabel* m_judged = nullptr; ///< null when nothing is validated
    /// The whole figure first, then shorter ones; those beside the title of a compact card.
    QStringList m_lossForms{QStringLiteral("–")}, m_compactForms = m_lossForms, m_judgedForms;
    QString m_judgedTip;            ///< its tool tip, without the test
    FigureLabel* m_zeros = nullptr; ///< null when gradients are not 16 bits, or not counted here
    FigureLabel* m_unchanged = nullptr; ///< null when weights are not watched
    FigureLabel* m_scale = nullptr;
    QToolButton* m_setScale = nullptr;
    FigureLabel* m_skipped = nullptr;
    FigureLabel* m_clean = nullptr;
    QProgressBar* m_progress = nullptr;
    QLabel* m_stuck = nullptr;
    QToolButton* m_atLeast = nullptr;
    QLabel* m_noScale = nullptr;
    FigureLabel* m_event = nullptr;
    QWidget* m_swatch = nullptr;
};

} // namespace halfscope
