// A table, a progress bar and one sentence; the window and a training continue meanwhile.
#include "ui/dialogs/verify_dialog.h"

#include "ui/look/owned.h"
#include "ui/models/translated.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QScreen>
#include <QTableView>
#include <QVBoxLayout>

namespace halfscope {

VerifyDialog::VerifyDialog(VerifyOptions options, QWidget* parent)
    : QDialog(parent), m_options(std::move(options)) {
    setWindowTitle(tr("Verify against PyTorch"));
    auto* about = make<QLabel>(tr("Compares results on this machine with values recorded from "
                                  "PyTorch, which are part of the program, and large matrix "
                                  "products with float64."),
                               this);
    about->setWordWrap(true);
    buildTable();
    m_progress = make<QProgressBar>(this);
    m_progress->setAccessibleName(tr("Progress"));
    m_summary = make<QPlainTextEdit>(this);
    m_summary->setReadOnly(true);
    m_summary->setTabChangesFocus(true);
    m_summary->setAccessibleName(tr("Result"));
    m_summary->setFixedHeight(6 * fontMetrics().lineSpacing());
    auto* buttons = make<QDialogButtonBox>(QDialogButtonBox::Close, this);
    m_again = buttons->addButton(tr("Stop"), QDialogButtonBox::ActionRole);
    m_again->setObjectName(QStringLiteral("verifyAgain"));
    connect(m_again, &QPushButton::clicked, this, &VerifyDialog::stopOrStart);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = make<QVBoxLayout>(this);
    column->addWidget(about);
    column->addWidget(m_table, 1);
    column->addWidget(m_progress);
    column->addWidget(m_summary);
    column->addWidget(buttons);
    // all suites can be seen
    constexpr int kWidth = 680, kLines = 30; // the width in pixels
    const QSize room = 9 * screen()->availableSize() / 10;
    resize(QSize(kWidth, kLines * fontMetrics().lineSpacing()).boundedTo(room));
    start();
}

VerifyDialog::~VerifyDialog() {
    if (m_job) VerifyJob::abandon(std::move(m_job));
}

void VerifyDialog::buildTable() {
    m_table = make<QTableView>(this);
    m_table->setModel(&m_model);
    m_table->setAccessibleName(tr("Suites"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setTabKeyNavigation(false);
    m_table->setShowGrid(false);
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

QString VerifyDialog::summary() const { return m_summary->toPlainText(); }

void VerifyDialog::start() {
    m_model.show({});
    m_again->setText(tr("Stop"));
    m_summary->setPlainText(tr("Comparing…"));
    m_progress->setRange(0, 0); // busy until the first case is done
    m_job = std::make_unique<VerifyJob>(m_options);
    connect(m_job.get(), &VerifyJob::progressed, this, &VerifyDialog::showProgress);
    connect(m_job.get(), &VerifyJob::done, this, [this](const VerifyReport& report) {
        m_model.show(report);
        finish(m_model.summary());
    });
    connect(m_job.get(), &VerifyJob::failed, this,
            [this](const Message& reason) { finish(translated(reason)); });
    m_job->start();
}

void VerifyDialog::stopOrStart() {
    if (m_job)
        m_job->stop();
    else
        start();
}

void VerifyDialog::showProgress(const QString& suite, int done, int cases) {
    m_progress->setRange(0, cases);
    m_progress->setValue(done);
    m_progress->setFormat(tr("%1: %v of %m").arg(suite));
}

void VerifyDialog::finish(const QString& summary) {
    m_job.release()->deleteLater(); // its own signal may have led here
    m_progress->setRange(0, 1);
    m_progress->setValue(1);
    m_progress->setFormat(tr("Done"));
    m_summary->setPlainText(summary);
    m_again->setText(tr("Again"));
    constexpr int kGap = 10; // pixels between numbers at the right and what follows them
    for (int column = 0; column < VerifyModel::WhatColumn; ++column) { // the last one stretches
        m_table->resizeColumnToContents(column);
        m_table->setColumnWidth(column, m_table->columnWidth(column) + kGap);
    }
}

} // namespace halfscope
