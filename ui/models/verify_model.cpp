// A verification's rows and sentences.
#include "ui/models/verify_model.h"

#include "ui/models/run_model.h"
#include "ui/models/translated.h"

#include <QLocale>
#include <QStringList>

namespace halfscope {
namespace {

constexpr size_t kMostLines = 10; // of each suite and kind; halfscope-cli verify --json has all

QString count(size_t number) { return QLocale().toString(static_cast<qulonglong>(number)); }

/// Aligns numbers and their headings at the right, words at the left.
QVariant verdictAlignment(int column) {
    const bool number = column != VerifyModel::SuiteColumn && column != VerifyModel::WhatColumn;
    return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
}

QString headingOf(int column) {
    switch (column) {
    case VerifyModel::SuiteColumn: return VerifyModel::tr("Suite");
    case VerifyModel::CasesColumn: return VerifyModel::tr("Cases");
    case VerifyModel::PassedColumn: return VerifyModel::tr("Passed");
    case VerifyModel::FailedColumn: return VerifyModel::tr("Failed");
    case VerifyModel::IllPosedColumn: return VerifyModel::tr("Ill-posed");
    case VerifyModel::WorstColumn: return VerifyModel::tr("Worst");
    case VerifyModel::BoundColumn: return VerifyModel::tr("Bound");
    default: return VerifyModel::tr("Compared");
    }
}

QString explanationOf(int column) {
    switch (column) {
    case VerifyModel::SuiteColumn: return VerifyModel::tr("A group of cases");
    case VerifyModel::CasesColumn: return VerifyModel::tr("Cases that were compared");
    case VerifyModel::PassedColumn: return VerifyModel::tr("Cases within their bound");
    case VerifyModel::FailedColumn:
        return VerifyModel::tr("Cases beyond their bound: this machine computes something else");
    case VerifyModel::IllPosedColumn:
        return VerifyModel::tr(
            "Cases that this precision cannot decide: a unit or a sum comes so close to zero that "
            "one rounding changes its sign, and with other roundings the same case exceeds its "
            "bound just as far. They count as neither passed nor failed.");
    case VerifyModel::WorstColumn:
        return VerifyModel::tr(
            "The deviation of the case that came closest to its bound, or exceeded it most");
    case VerifyModel::BoundColumn:
        return VerifyModel::tr("The largest deviation that passes for this case");
    default:
        return VerifyModel::tr(
            "What is compared: with values from PyTorch, and large products with float64");
    }
}

QStringList linesOf(const SuiteResult& suite, const QString& state,
                    const std::vector<std::string>& cases) {
    const QString name = QString::fromStdString(suite.name);
    QStringList lines;
    for (size_t i = 0; i < std::min(cases.size(), kMostLines); ++i)
        lines << VerifyModel::tr("%1 %2: %3").arg(name, state, QString::fromStdString(cases[i]));
    if (cases.size() > kMostLines)
        lines << VerifyModel::tr("%1: %2 more %3 (halfscope-cli verify --json lists all)")
                     .arg(name, count(cases.size() - kMostLines), state);
    return lines;
}

} // namespace

void VerifyModel::show(const VerifyReport& report) {
    beginResetModel();
    m_report = report;
    endResetModel();
}

QString VerifyModel::summary() const {
    const QString device = QString::fromStdString(m_report.device);
    QStringList lines;
    if (m_report.stopped)
        lines << tr("Stopped. The table shows what was finished.");
    else if (m_report.passed() && m_report.illPosed() > 0)
        lines << tr("Nothing failed on %1. Ill-posed cases: %2. They cannot be decided in float32 "
                    "and count as neither passed nor failed.")
                     .arg(device, count(m_report.illPosed()));
    else if (m_report.passed())
        lines << tr("All passed: on %1, the engine agrees with PyTorch within the bounds.")
                     .arg(device);
    else
        lines << tr("Some cases failed: on %1, the engine does not agree with PyTorch within the "
                    "bounds.")
                     .arg(device);
    for (const Message& suite : m_report.leftOut)
        lines << tr("Skipped: %1").arg(translated(suite));
    for (const SuiteResult& suite : m_report.suites) // failures come first: they matter most
        lines << linesOf(suite, tr("failed"), suite.failed);
    for (const SuiteResult& suite : m_report.suites)
        lines << linesOf(suite, tr("ill-posed"), suite.illPosed);
    return lines.join(u'\n');
}

int VerifyModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_report.suites.size());
}

int VerifyModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : Columns;
}

QVariant VerifyModel::data(const QModelIndex& index, int role) const {
    // a table asks this way for what Ctrl+C copies while no row is chosen
    if (!index.isValid() || !checkIndex(index)) return {};
    const SuiteResult& suite = m_report.suites[static_cast<size_t>(index.row())];
    if (role == PassedRole) return suite.failed.empty();
    if (role == Qt::TextAlignmentRole) return verdictAlignment(index.column());
    if (role == Qt::ToolTipRole || role == Qt::AccessibleDescriptionRole)
        return explanationOf(index.column());
    if (role != Qt::DisplayRole) return {};
    const bool exact = suite.bound == 0;
    switch (index.column()) {
    case SuiteColumn: return QString::fromStdString(suite.name);
    case CasesColumn: return count(suite.cases);
    case PassedColumn: return count(suite.passed);
    case FailedColumn: return count(suite.failed.size());
    case IllPosedColumn: return count(suite.illPosed.size());
    case WorstColumn: return exact && suite.worst == 0 ? tr("equal") : shownNumber(suite.worst, 3);
    case BoundColumn: return exact ? tr("equal") : shownNumber(suite.bound, 3);
    default: return translated(suite.what);
    }
}

QVariant VerifyModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= Columns) return {};
    if (role == Qt::TextAlignmentRole) return verdictAlignment(section);
    if (role == Qt::ToolTipRole || role == Qt::AccessibleDescriptionRole)
        return explanationOf(section);
    return role == Qt::DisplayRole ? headingOf(section) : QVariant();
}

} // namespace halfscope
