// The strip at the top. From left to right: the experiment, start and stop, progress, speed, and
// the device. It only emits signals; the window decides.
#pragma once

#include "ui/look/theme.h"
#include "ui/models/run_model.h"
#include "ui/session/session_channel.h"

#include <QStringList>
#include <QWidget>

class QAction;
class QActionGroup;
class QHBoxLayout;
class QLabel;
class QMenu;
class QPushButton;
class QToolButton;

namespace halfscope {

class PaceSlider;
class PresetBox;
class StopBox;

class TransportBar : public QWidget {
    Q_OBJECT
public:
    explicit TransportBar(QWidget* parent = nullptr);

    /// Selects a preset by name; for anything else the title is shown as an entry of its own.
    void showExperiment(const QString& preset, const QString& title);
    /// What is known of a start with the present settings.
    enum class Start : uint8_t {
        Possible,
        Over,    ///< at step 1, in place of the run that is shown
        Further, ///< a run has ended, but the settings let it go on
        Kept,    ///< an error has ended a run that can go on from what is kept of it
        Failed,  ///< it has failed, and may be tried again
        Never,   ///< of a training that was recorded elsewhere
    };
    /// `playWaits` tells that a requested Play waits until the run is built; `reads`, that a file
    /// is read before that.
    void setState(SessionState, bool playWaits = false, qint64 nextStop = 0,
                  Start = Start::Possible, bool reads = false);
    /// `unknown` holds words that are shown instead of a number that is not known yet, else it is
    /// empty; the number is kept.
    void setStopStep(qint64 steps, const QString& unknown = {});
    /// The box of the last step.
    StopBox* stopAt() const { return m_stopAt; }
    /// The button that plays and pauses.
    QPushButton* play() const { return m_play; }
    PaceSlider* pace() const { return m_pace; }
    /// Sets the step after which a run without earlier rows begins, as one from a checkpoint does.
    void setBegin(qint64 step) { m_begin = step; }
    void setFigures(const RunModel&);
    /// Shows the device; null when it is not known. `tip` tells more.
    void setDevice(const DeviceInfo*, const QString& tip);
    /// Returns how much faster the second of the two lanes is that are compared, as "speed B/A
    /// ×1.80"; empty while that is not known, and at a pace that makes the lanes wait: each step
    /// then finds cold caches.
    QString speedRatio() const { return m_speedForms.value(m_speedForms.size() - 1); }
    void setTheme(Theme);
    /// Returns the menu of the experiments that come with the program, in groups.
    QMenu* presetMenu() const;
    /// Returns the menu with what the buttons and the pace do, and their keys, for those who look
    /// for them there. Its entries are enabled with the buttons.
    QMenu* trainingMenu() const { return m_trainingMenu; }
    QMenu* themeMenu() const { return m_themeMenu; }
    /// Returns the menu of the pairs of lanes whose speeds can be compared.
    QMenu* speedMenu() const { return m_speedMenu; }
    /// Returns the size with no more than a narrow window needs.
    QSize minimumSizeHint() const override;

signals:
    void presetChosen(const QString& name);
    void resetRequested();
    /// Asks to play when the run stands, and to pause when it runs.
    void playRequested();
    void stepRequested();
    void stopStepChosen(qint64 steps);
    void themeChosen(halfscope::Theme theme);
    void helpRequested();
    /// The user chose two other lanes: setFigures() shows them.
    void speedsChosen();

protected:
    void changeEvent(QEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    bool eventFilter(QObject*, QEvent*) override;

private:
    void buildPresets();
    void buildButtons();
    void buildTrainingMenu();
    void buildFigures();
    void buildRight();
    QPushButton* newButton(const QString& name, const QString& text, const QString& tip);
    void applyColors();
    void showSpeeds();
    void keepRoomForSpeeds(const QString& lines);
    int widthOfSpeeds(const QString& form) const;
    /// The speeds by lane, in two lengths; briefly those of the compared lanes; how much faster the
    /// second of them is, and what kind of speeds they are, if that must be said.
    struct SpeedTexts {
        QStringList full, brief, pair;
        QString ratio, note;
    };
    void writeSpeeds(const RunModel&);
    void writeForms(SpeedTexts);
    QString speedsTip(const RunModel&, bool comparable) const;
    static QString noteOn(const RunModel&);
    void fillSpeedMenu();
    struct Pair {
        int base, other; ///< lanes
    };
    Pair comparedIn(int lanes) const;
    void showEpoch(const QString& text, const QString& longest);
    /// The forms that the bar can take, from the fullest to the tightest.
    enum class Form {
        Full,
        Icons, ///< without words on Reset and Step
        Brief, ///< like Icons, and without the device, which the status bar names, too
        Tight, ///< like Brief, and without what a menu, the status bar or a tool tip has, too
        Bare,  ///< like Tight, and without what the settings tell: pace and last step
    };
    void take(Form);
    int leastWidth(Form);
    void fit();

    QHBoxLayout* m_row = nullptr;   ///< owned by this widget
    PresetBox* m_presets = nullptr; ///< child, as all below
    QPushButton* m_reset = nullptr;
    QPushButton* m_play = nullptr;
    QPushButton* m_step = nullptr;
    PaceSlider* m_pace = nullptr;
    QMenu* m_trainingMenu = nullptr;
    QAction* m_playEntry = nullptr; ///< in that menu, as the next two
    QAction* m_stepEntry = nullptr;
    QAction* m_resetEntry = nullptr;
    QLabel* m_stopLabel = nullptr;
    StopBox* m_stopAt = nullptr;
    QLabel* m_counter = nullptr;
    QLabel* m_epoch = nullptr; ///< hidden when every step is an epoch
    QLabel* m_speeds = nullptr;
    QToolButton* m_device = nullptr;
    QToolButton* m_theme = nullptr;
    QToolButton* m_help = nullptr;
    QMenu* m_themeMenu = nullptr;
    QActionGroup* m_themes = nullptr;
    QMenu* m_speedMenu = nullptr;
    Pair m_compared{0, 1};    ///< the lanes whose speeds are shown, as the user chose them
    int m_lanes = 0;          ///< of the run that is shown
    QStringList m_speedForms; ///< the same figures, from the fullest form to the shortest
    bool m_stops = false;     ///< the large button means Pause
    int m_least = 0;          ///< the width of the tightest form, in pixels
    int m_leastSpeeds = 0;    ///< the width of both speeds one above the other; only grows
    qint64 m_begin = 0;
};

} // namespace halfscope
