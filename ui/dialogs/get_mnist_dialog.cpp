// The question, the folder, the progress bar, and a sentence if the download fails.
#include "ui/dialogs/get_mnist_dialog.h"

#include "engine/core/error.h"
#include "engine/data/get_mnist.h"
#include "ui/dialogs/ask.h"
#include "ui/look/owned.h"
#include "ui/models/translated.h"
#include "ui/session/file_job.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>

#include <chrono>
#include <exception>
#include <utility>

namespace halfscope {
namespace {
QString megabytes(int64_t bytes) {
    return QLocale().formattedDataSize(static_cast<qint64>(bytes), 1, QLocale::DataSizeSIFormat);
}
} // namespace

GetMnistDialog::GetMnistDialog(QWidget* parent) : QDialog(parent) {
    constexpr std::chrono::milliseconds kRedraw{100};
    setWindowTitle(tr("Get MNIST"));
    m_about = make<QLabel>(this);
    m_about->setWordWrap(true);
    m_about->setTextFormat(Qt::PlainText);
    m_folder = make<QLineEdit>(QString::fromStdString(usualMnistFolder()), this);
    m_folder->setAccessibleName(tr("Folder"));
    m_folder->setMinimumWidth(360);
    connect(m_folder, &QLineEdit::textChanged, this, [this] { setAsking(true); });
    m_browse = make<QPushButton>(tr("Browse…"), this);
    m_browse->setAutoDefault(false);
    connect(m_browse, &QPushButton::clicked, this, [this] {
        const QString chosen =
            chooseSourceFolder(this, FilesOf::Data, tr("Choose a folder"), m_folder->text());
        if (!chosen.isEmpty()) m_folder->setText(chosen);
    });
    m_bar = make<QProgressBar>(this);
    m_bar->setTextVisible(true);
    m_bar->setAccessibleName(tr("Downloaded"));
    m_bar->hide();
    m_error = make<QLabel>(this);
    m_error->setWordWrap(true);
    m_error->setTextFormat(Qt::PlainText);
    m_error->hide();
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Cancel, this);
    m_start = buttons->addButton(tr("Download"), QDialogButtonBox::ActionRole);
    m_start->setObjectName(QStringLiteral("download"));
    m_start->setDefault(true);
    connect(m_start, &QPushButton::clicked, this, &GetMnistDialog::start);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* row = make<QHBoxLayout>();
    row->addWidget(m_folder, 1);
    row->addWidget(m_browse);
    auto* all = make<QVBoxLayout>(this);
    for (QWidget* widget : {static_cast<QWidget*>(m_about), static_cast<QWidget*>(m_bar),
                            static_cast<QWidget*>(m_error), static_cast<QWidget*>(buttons)}) {
        all->addWidget(widget);
        if (widget == m_about) all->addLayout(row);
    }
    auto* timer = make<QTimer>(this);
    connect(timer, &QTimer::timeout, this, &GetMnistDialog::showProgress);
    timer->start(kRedraw);
    setSource({mnistFiles().begin(), mnistFiles().end()},
              {mnistAddresses().begin(), mnistAddresses().end()});
    setAsking(true); // there may be no usual folder
}

GetMnistDialog::~GetMnistDialog() = default;

int64_t GetMnistDialog::bytes() const {
    int64_t all = 0;
    for (const RemoteFile& file : m_files)
        all += file.bytes;
    return all;
}

void GetMnistDialog::setSource(std::vector<RemoteFile> files, std::vector<std::string> addresses) {
    m_files = std::move(files);
    m_addresses = std::move(addresses);
    m_bar->setRange(0, static_cast<int>(bytes() / 1000));
    m_about->setText(
        tr("70,000 handwritten digits, %1 in four files, will be downloaded from %2 "
           "into this folder:")
            .arg(megabytes(bytes()), QUrl(QString::fromStdString(m_addresses.front())).host()));
}

QString GetMnistDialog::folder() const { return m_folder->text(); }

void GetMnistDialog::setAsking(bool asks) {
    m_start->setEnabled(asks && !m_folder->text().trimmed().isEmpty());
    m_folder->setEnabled(asks);
    m_browse->setEnabled(asks);
}

void GetMnistDialog::start() {
    setAsking(false);
    m_error->hide();
    m_bar->show();
    const std::string folder = m_folder->text().toStdString();
    try {
        m_job = std::make_unique<FileJob>(
            [folder, files = m_files, addresses = m_addresses, to = m_have] {
                getMnist(folder, files, addresses, [to](int64_t have) { *to = have; });
            },
            FileJob::Leaving::Abandons);
    } catch (const RunError& error) {
        return end(error.message());
    }
    connect(m_job.get(), &FileJob::done, this, &GetMnistDialog::conclude);
}

void GetMnistDialog::conclude() {
    const std::unique_ptr<FileJob> job = std::exchange(m_job, nullptr);
    try {
        job->result();
        accept();
    } catch (const std::exception& error) {
        end(messageOf(error));
    }
}

void GetMnistDialog::end(const Message& reason) {
    setAsking(true);
    m_start->setText(tr("Try again"));
    m_error->setText(translated(reason));
    m_error->show();
}

void GetMnistDialog::showProgress() {
    const int64_t have = *m_have;
    m_bar->setValue(static_cast<int>(have / 1000));
    m_bar->setFormat(tr("%1 of %2").arg(megabytes(have), megabytes(bytes())));
}

} // namespace halfscope
