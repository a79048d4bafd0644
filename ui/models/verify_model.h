// The result of a verification as a table: a row for each suite with its cases, how many passed,
// how many the precision cannot decide, the worst deviation and its bound. Tool tips explain the
// columns.
#pragma once

#include "engine/verify/verify.h"

#include <QAbstractTableModel>

namespace halfscope {

class VerifyModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        SuiteColumn,
        CasesColumn,
        PassedColumn,
        FailedColumn,
        IllPosedColumn,
        WorstColumn,
        BoundColumn,
        WhatColumn,
        Columns
    };
    /// PassedRole: whether all cases of the row's suite passed.
    enum Role { PassedRole = Qt::UserRole + 1 };

    explicit VerifyModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void show(const VerifyReport&);
    const VerifyReport& report() const { return m_report; }
    /// Says whether all passed, on which device, what was skipped and which cases failed.
    QString summary() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex&, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation, int role = Qt::DisplayRole) const override;

private:
    VerifyReport m_report;
};

} // namespace halfscope
