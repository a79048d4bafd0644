// Downloads MNIST: asks, shows the progress, and says in one sentence why it failed. A thread of
// its own fetches; what has arrived is kept, so that another try continues from there.
#pragma once

#include "engine/core/message.h"
#include "engine/io/download.h"

#include <QDialog>
#include <QString>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

class QDialogButtonBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace halfscope {

class FileJob;

class GetMnistDialog : public QDialog {
    Q_OBJECT
public:
    explicit GetMnistDialog(QWidget* parent = nullptr);
    /// Stops the download. Does not wait for a server or a disk that does not answer.
    ~GetMnistDialog() override;

    /// Replaces the public files and mirrors.
    void setSource(std::vector<RemoteFile> files, std::vector<std::string> addresses);
    /// Returns the folder of the files once the dialog is accepted.
    QString folder() const;

private:
    void setAsking(bool);
    void start();
    void conclude();
    void end(const Message& reason); ///< after a failed download
    void showProgress();

    int64_t bytes() const;

    std::vector<RemoteFile> m_files;
    std::vector<std::string> m_addresses;
    QLabel* m_about = nullptr;
    QLineEdit* m_folder = nullptr;
    QProgressBar* m_bar = nullptr;
    QLabel* m_error = nullptr;
    QPushButton *m_browse = nullptr, *m_start = nullptr;
    /// The bytes downloaded so far; shared with the thread.
    std::shared_ptr<std::atomic<int64_t>> m_have = std::make_shared<std::atomic<int64_t>>(0);
    std::unique_ptr<FileJob> m_job; ///< null while nothing is downloaded
};

} // namespace halfscope
