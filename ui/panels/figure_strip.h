// The figures that an audience must be able to read: the step, and each lane's loss scale and
// skipped steps; and how the training stands. Beside them are the ways back, to the newest step and
// to the usual view. Shows the longest form that fits, because half a
// number would be another number, and makes the letters smaller before it leaves out a lane.
#pragma once

#include <QList>
#include <QStringList>
#include <QWidget>

#include <optional>

class QLabel;
class QToolButton;

namespace halfscope {

class Run;

class FigureStrip : public QWidget {
    Q_OBJECT
public:
    explicit FigureStrip(QWidget* parent = nullptr);

    /// Shows the figures of a step, the newest one by default. `titles` are the lanes' names;
    /// `speeds` compares them, and may be empty.
    void showFigures(const Run*, const QStringList& titles, std::optional<qint64> step,
                     const QString& speeds = {});
    /// Shows how the training stands, in a word or two.
    void showState(const QString&);
    /// Shows or hides the button to the newest step.
    void offerNewest(bool offers);

signals:
    void leaveAsked();
    void newestAsked();

protected:
    void showEvent(QShowEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void changeEvent(QEvent*) override;
    bool eventFilter(QObject*, QEvent*) override;

private:
    /// The figures in more or fewer words.
    struct Form {
        QString text;     ///< with mark-up
        double least = 1; ///< how small the letters may get for it, relative to the usual size
    };
    void fit();
    /// Explains the loss scale and its skips where one points or clicks, in letters that are read
    /// from afar.
    void explain();
    QToolButton* newButton(const QString& name, const QString& text);

    QList<Form> m_forms; ///< from the fullest to the shortest
    int m_lanes = 0;
    bool m_scales = false;    ///< a lane has a loss scale
    QLabel* m_text = nullptr; ///< child, as are all below
    QLabel* m_state = nullptr;
    QToolButton* m_newest = nullptr;
    QToolButton* m_leave = nullptr;
};

} // namespace halfscope
