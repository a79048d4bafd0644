// Asks for one or two settings with their values, trains the map of all combinations beside the
// window's training, and shows it. Cells of the map can become lanes of the window.
#pragma once

#include "ui/dialogs/figure_dialog.h"
#include "ui/dialogs/grid_view.h"
#include "ui/models/config_model.h"
#include "ui/models/grid_model.h"
#include "ui/models/suggested_values.h"
#include "ui/session/grid_job.h"

#include <QElapsedTimer>

#include <functional>
#include <memory>
#include <optional>
#include <string>

class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace halfscope {

class GridDialog : public FigureDialog {
    Q_OBJECT
public:
    /// Follows the edits of the model's lanes; at least one setting can be swept now.
    /// `titleNow` returns the title of the experiment as the window shows it, for pictures of the
    /// map.
    explicit GridDialog(ConfigModel&, QWidget* parent = nullptr, PresentScale scaleOf = {},
                        std::function<QString()> titleNow = {});
    /// Stops the training of the map without waiting for its step.
    ~GridDialog() override;

    const GridModel& model() const { return m_model; }
    bool running() const { return m_job != nullptr; }
    QList<QWidget*> figure() const override;
    /// Stops the training; the map stays, and is there when the dialog is shown again.
    void done(int result) override;
    /// The sentence about the settings that are chosen, or about what was done last.
    QString note() const;
    /// Puts another sentence there; `wrong`: about an error.
    void tell(const QString& text, bool wrong = false);

signals:
    /// The user wants lanes of these cells. A receiver may throw InputError, which the dialog
    /// tells.
    void lanesChosen(const halfscope::SettingGrid& grid, const std::vector<size_t>& cells);
    /// The user wants to save the map, which is this csv table. A receiver may throw RunError,
    /// which the dialog tells.
    void saveAsked(const std::string& csv);

protected:
    void changeEvent(QEvent*) override;
    bool eventFilter(QObject*, QEvent*) override;
    void keyPressEvent(QKeyEvent*) override;
    void showEvent(QShowEvent*) override;

private:
    /// A setting and its values.
    struct Axis {
        QComboBox* field = nullptr; ///< children of the dialog
        QLineEdit* values = nullptr;
    };
    QWidget* makeChoices();
    Axis addAxis(QGridLayout&, int row, const QString& label, const QString& valuesLabel);
    void addMap(QVBoxLayout&);
    void keepRoomForCell();
    void addButtons(QVBoxLayout&);
    void refreshLanes();
    void refreshFields();
    /// Offers the measures that the cells have, except while their list is open.
    void offerMeasures();
    /// Shows the one that the user has chosen, if it is offered, else what decides which cell is
    /// the best. Waits while the list is open.
    void decideMeasure();
    void suggest(const Axis&);
    int lane() const;
    /// Throws InputError where no map can be trained.
    SettingGrid chosenGrid() const;
    QString laneOf(const SettingGrid&) const;
    QString trainingOf(const SettingGrid&) const;
    QString caption() const;
    void check();
    void startOrStop();
    void start();
    void showCell();
    void takeResult(int cell, const GridCell&);
    void showProgress(int cell, qint64 steps);
    void conclude(const QString& note, bool wrong);
    void updateButtons();
    void makeLanes();
    void save();
    void copy();

    ConfigModel& m_config;
    PresentScale m_scaleOf;              ///< may be empty
    std::function<QString()> m_titleNow; ///< likewise
    GridModel m_model;
    QComboBox* m_lane = nullptr; ///< child, as are all that follow
    QLabel* m_laneLabel = nullptr;
    Axis m_first, m_second;
    QSpinBox* m_steps = nullptr;
    QPushButton* m_start = nullptr; ///< reads Stop while the map is trained
    QLabel* m_note = nullptr;
    QProgressBar* m_progress = nullptr;
    QComboBox* m_measure = nullptr;
    std::optional<GridModel::Measure> m_chosen; ///< by the user; also for the maps that follow
    bool m_undecided = false;                   ///< decideMeasure() waits
    QLabel* m_axes = nullptr;
    QString m_trained; ///< says what the map was trained on, for its pictures
    GridView* m_view = nullptr;
    GridLegend* m_legend = nullptr;
    QLabel* m_cell = nullptr; ///< tells the current cell
    QPushButton* m_lanes = nullptr;
    QPushButton* m_copy = nullptr;
    QPushButton* m_save = nullptr;
    QString m_checked;              ///< what was told last about the settings that are chosen
    bool m_wrong = false;           ///< m_note tells an error
    bool m_stopHadFocus = false;    ///< while it waits for the step to end
    bool m_otherExperiment = false; ///< the window has opened another one since the map was begun
    QElapsedTimer m_clock;          ///< since the start
    std::unique_ptr<GridJob> m_job; ///< null when nothing is trained
};

} // namespace halfscope
