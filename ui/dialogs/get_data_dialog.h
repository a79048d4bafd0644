// Downloads MNIST or Fashion-MNIST: asks which, shows the progress, and says in one sentence why it
// failed. A thread of its own fetches; what has arrived is kept, so that another try continues from
// there.
#pragma once

#include "engine/core/message.h"
#include "engine/data/public_data.h"

#include <QDialog>
#include <QString>

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

class QButtonGroup;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace halfscope {

class FileJob;

class GetDataDialog : public QDialog {
    Q_OBJECT
public:
    /// Offers the data sets, at least one of them; the first is chosen.
    explicit GetDataDialog(std::span<const PublicData> sets = publicData(),
                           QWidget* parent = nullptr);
    /// Stops the download. Does not wait for a server or a disk that does not answer.
    ~GetDataDialog() override;

    /// Chooses the data set of this name, if it is among them.
    void choose(std::string_view name);
    /// Returns the folder of the files once the dialog is accepted.
    QString folder() const;

private:
    void addChoices(QVBoxLayout&);
    QLayout* makeFolderRow();
    const PublicData& chosen() const;
    void showChosen();
    void setAsking(bool);
    void start();
    void conclude();
    void end(const Message& reason); ///< after a failed download
    void showProgress();

    const std::vector<PublicData> m_sets;
    QButtonGroup* m_choices = nullptr; ///< child; a button for each set, with its index as id
    QLabel* m_about = nullptr;         ///< child, as are those below
    QLineEdit* m_folder = nullptr;
    QString m_usual; ///< the folder that was proposed for the chosen set
    QProgressBar* m_bar = nullptr;
    QLabel* m_error = nullptr;
    QPushButton *m_browse = nullptr, *m_start = nullptr;
    /// The bytes downloaded so far; shared with the thread of this download.
    std::shared_ptr<std::atomic<int64_t>> m_have = std::make_shared<std::atomic<int64_t>>(0);
    std::unique_ptr<FileJob> m_job; ///< null while nothing is downloaded
};

} // namespace halfscope
