// Shows what each layer of the network computes in, lane beside lane, and why; a layer can be given
// a type of its own, which goes to the lane's setting precision.layers at once. Follows the edited
// settings. Reads data and policy files on a thread of its own.
#pragma once

#include "engine/settings/layers.h"
#include "ui/dialogs/figure_dialog.h"
#include "ui/models/config_model.h"
#include "ui/models/types_model.h"
#include "ui/session/file_job.h"

#include <memory>
#include <string>
#include <vector>

class QComboBox;
class QLabel;
class QPushButton;
class QTableView;
class QVBoxLayout;

namespace halfscope {

class TypesDialog : public FigureDialog {
    Q_OBJECT
public:
    /// `lane` is the one whose column has the cursor first.
    explicit TypesDialog(ConfigModel&, int lane, QWidget* parent = nullptr);
    /// Shows the window's dialog, with the cursor in this lane; makes it if there is none.
    static TypesDialog& open(ConfigModel&, int lane, QWidget& window);
    /// With the cursor in the first lane that casts, if any: it has something to tell.
    static TypesDialog& open(ConfigModel&, QWidget& window);
    ~TypesDialog() override;

    const TypesModel& model() const { return m_model; }
    QList<QWidget*> figure() const override;
    /// Returns what is told of the current cell, or why nothing is known.
    QString told() const;
    /// Puts the cursor on a cell.
    void choose(int row, int lane);

protected:
    void changeEvent(QEvent*) override;
    void fitFigure() override;

private:
    /// What a job finds; it may outlive the dialog.
    struct Found {
        std::vector<LaneTypes> lanes;
        std::vector<std::string> layers; ///< that a type can be given to
    };
    QTableView* makeTable();
    void addControls(QVBoxLayout&);
    void fit();
    void fitRows();
    void read();
    void take();
    void span();
    void showCell();
    void force(int choice);
    void reset();
    /// Returns the row of precision.layers of the current lane; invalid where none is chosen.
    QModelIndex setting() const;
    void put(const LayerTypes&);

    ConfigModel& m_config;
    TypesModel m_model;
    std::vector<std::string> m_layers;
    QLabel* m_heading = nullptr; ///< child, as are all that follow
    QTableView* m_table = nullptr;
    QLabel* m_about = nullptr;
    QLabel* m_totals = nullptr;
    QLabel* m_label = nullptr; ///< of the choice
    QComboBox* m_type = nullptr;
    QPushButton* m_reset = nullptr;
    int m_row = 0, m_lane = 0;      ///< the current cell; kept while the settings change
    bool m_fitted = false;          ///< to what is shown first
    QString m_problem;              ///< why nothing is shown; empty when something is
    std::shared_ptr<Found> m_found; ///< what the job finds; null when nothing is being read,
    std::unique_ptr<FileJob> m_job; ///< as the job then
    bool m_again = false;           ///< the settings have changed since the job began
};

} // namespace halfscope
