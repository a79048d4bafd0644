// Asks for several values of a lane's setting, each of which becomes a lane. A wrong one is
// reported in the dialog, which stays open.
#pragma once

#include "engine/settings/sweep.h"
#include "ui/models/suggested_values.h"

#include <QDialog>

#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace halfscope {

class SweepDialog : public QDialog {
    Q_OBJECT
public:
    /// The lanes are those of `config`, in which at least one setting can be swept.
    explicit SweepDialog(const RunConfig& config, QWidget* parent = nullptr,
                         PresentScale scaleOf = {});

    void accept() override;

signals:
    void chosen(const halfscope::Sweep& sweep);

private:
    Sweep sweep() const;
    /// Returns values to try, as many as make no more lanes than a run has.
    QStringList suggested(const Field&) const;
    /// Says which lanes become the same ones; empty where none do. `from` is what applySweeps()
    /// returned.
    QString merged(const Sweep&, const std::vector<size_t>& from) const;
    void suggest();
    void preview();

    RunConfig m_config;
    PresentScale m_scaleOf;       ///< may be empty
    QComboBox* m_field = nullptr; ///< child, as are the others
    QLineEdit* m_values = nullptr;
    QPushButton* m_make = nullptr;
    QLabel* m_result = nullptr; ///< the lanes to be, or why there are none
};

} // namespace halfscope
