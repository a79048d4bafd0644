// The choice, the folder, the progress bar, and a sentence if the download fails.
#include "ui/dialogs/get_data_dialog.h"

#include "engine/core/error.h"
#include "ui/dialogs/ask.h"
#include "ui/look/owned.h"
#include "ui/models/translated.h"
#include "ui/session/file_job.h"

#include <QButtonGroup>
#include <QDialogButtonBox>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QRadioButton>
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

GetDataDialog::GetDataDialog(std::span<const PublicData> sets, QWidget* parent)
    : QDialog(parent), m_sets(sets.begin(), sets.end()) {
    constexpr std::chrono::milliseconds kRedraw{100};
    setWindowTitle(tr("Get data"));
    auto* all = make<QVBoxLayout>(this);
    addChoices(*all);
    m_about = make<QLabel>(this);
    m_about->setWordWrap(true);
    m_about->setTextFormat(Qt::PlainText);
    all->addWidget(m_about);
    all->addLayout(makeFolderRow());
    m_bar = make<QProgressBar>(this);
    m_bar->setTextVisible(true);
    m_bar->setAccessibleName(tr("Downloaded"));
    m_bar->hide();
    all->addWidget(m_bar);
    m_error = make<QLabel>(this);
    m_error->setWordWrap(true);
    m_error->setTextFormat(Qt::PlainText);
    m_error->hide();
    all->addWidget(m_error);
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Cancel, this);
    m_start = buttons->addButton(tr("Download"), QDialogButtonBox::ActionRole);
    m_start->setObjectName(QStringLiteral("download"));
    m_start->setDefault(true);
    buttons->button(QDialogButtonBox::Cancel)
        ->setAutoDefault(false); // Enter in the folder never stops a download
    connect(m_start, &QPushButton::clicked, this, &GetDataDialog::start);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    all->addWidget(buttons);
    auto* timer = make<QTimer>(this);
    connect(timer, &QTimer::timeout, this, &GetDataDialog::showProgress);
    timer->start(kRedraw);
    connect(m_choices, &QButtonGroup::idToggled, this, [this](int, bool on) {
        if (on) showChosen();
    });
    showChosen();
}

GetDataDialog::~GetDataDialog() = default;

/// Adds the data sets, each with what it has; the arrow keys go from one to the next.
void GetDataDialog::addChoices(QVBoxLayout& all) {
    auto* box = make<QGroupBox>(tr("Data set"), this);
    auto* column = make<QVBoxLayout>(box);
    m_choices = make<QButtonGroup>(this);
    for (size_t i = 0; i < m_sets.size(); ++i) {
        const PublicData& each = m_sets[i];
        auto* choice = make<QRadioButton>(
            tr("%1: %2").arg(QString::fromStdString(each.title), translated(each.contents)), box);
        choice->setObjectName(QString::fromStdString(each.name));
        choice->setChecked(i == 0);
        m_choices->addButton(choice, static_cast<int>(i));
        column->addWidget(choice);
    }
    all.addWidget(box);
}

QLayout* GetDataDialog::makeFolderRow() {
    m_folder = make<QLineEdit>(this);
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
    auto* row = make<QHBoxLayout>();
    row->addWidget(m_folder, 1);
    row->addWidget(m_browse);
    return row;
}

const PublicData& GetDataDialog::chosen() const {
    return m_sets.at(static_cast<size_t>(m_choices->checkedId()));
}

void GetDataDialog::choose(std::string_view name) {
    for (size_t i = 0; i < m_sets.size(); ++i)
        if (m_sets[i].name == name) m_choices->button(static_cast<int>(i))->setChecked(true);
}

/// Says what is downloaded, and from where. A folder that somebody has named stays.
void GetDataDialog::showChosen() {
    const PublicData& set = chosen();
    const QString usual = QString::fromStdString(usualFolder(set));
    if (m_folder->text() == m_usual) m_folder->setText(usual);
    m_usual = usual;
    m_about->setText(tr("%1 in four files will be downloaded from %2 into this folder:")
                         .arg(megabytes(set.bytes()),
                              QUrl(QString::fromStdString(set.addresses.front())).host()));
    m_have = std::make_shared<std::atomic<int64_t>>(0);
    m_bar->setRange(0, static_cast<int>(set.bytes() / 1000));
    m_bar->hide();
    m_error->hide();
    m_start->setText(tr("Download"));
    setAsking(true);
}

QString GetDataDialog::folder() const { return m_folder->text(); }

void GetDataDialog::setAsking(bool asks) {
    m_start->setEnabled(asks && !m_folder->text().trimmed().isEmpty());
    m_folder->setEnabled(asks);
    m_browse->setEnabled(asks);
    for (QAbstractButton* choice : m_choices->buttons())
        choice->setEnabled(asks);
}

void GetDataDialog::start() {
    setAsking(false);
    m_error->hide();
    m_bar->show();
    const std::string folder = m_folder->text().toStdString();
    try {
        m_job = std::make_unique<FileJob>(
            [folder, data = chosen(), to = m_have] {
                getData(data, folder, [to](int64_t have) { *to = have; });
            },
            FileJob::Leaving::Abandons);
    } catch (const RunError& error) {
        return end(error.message());
    }
    connect(m_job.get(), &FileJob::done, this, &GetDataDialog::conclude);
}

void GetDataDialog::conclude() {
    const std::unique_ptr<FileJob> job = std::exchange(m_job, nullptr);
    try {
        job->result();
    } catch (const std::exception& error) {
        return end(messageOf(error));
    }
    accept();
}

void GetDataDialog::end(const Message& reason) {
    setAsking(true);
    m_start->setText(tr("Try again"));
    m_error->setText(translated(reason));
    m_error->show();
    m_start->setFocus(); // it was disabled, so the keyboard is elsewhere
}

void GetDataDialog::showProgress() {
    const int64_t have = *m_have;
    m_bar->setValue(static_cast<int>(have / 1000));
    m_bar->setFormat(tr("%1 of %2").arg(megabytes(have), megabytes(chosen().bytes())));
}

} // namespace halfscope
