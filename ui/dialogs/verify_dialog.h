// Runs the comparison with PyTorch's recorded values and shows its progress and its table. The
// engine compares, on the thread of a VerifyJob.
#pragma once

#include "ui/models/verify_model.h"
#include "ui/session/verify_job.h"

#include <QDialog>
#include <memory>

class QPlainTextEdit;
class QProgressBar;
class QPushButton;
class QTableView;

namespace halfscope {

class VerifyDialog : public QDialog {
    Q_OBJECT
public:
    /// Starts the comparison at once.
    explicit VerifyDialog(VerifyOptions, QWidget* parent = nullptr);
    /// Does not wait for the case in progress.
    ~VerifyDialog() override;

    const VerifyModel& model() const { return m_model; }
    bool running() const { return m_job != nullptr; }
    QString summary() const;

private:
    void buildTable();
    void start();
    void stopOrStart();
    void showProgress(const QString& suite, int done, int cases);
    void finish(const QString& summary);

    VerifyOptions m_options;
    VerifyModel m_model;
    QTableView* m_table = nullptr; ///< child, as all below
    QProgressBar* m_progress = nullptr;
    QPlainTextEdit* m_summary = nullptr;
    QPushButton* m_again = nullptr;   ///< reads Stop while the comparison runs
    std::unique_ptr<VerifyJob> m_job; ///< null when nothing is being compared
};

} // namespace halfscope
