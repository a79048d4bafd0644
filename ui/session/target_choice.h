// Chooses the column of a table that is predicted. The other settings that depend on it follow: a
// loss for classes does not fit numbers. Reads the table on a thread of its own.
#pragma once

#include "ui/models/config_model.h"

#include <QStringList>
#include <memory>

namespace halfscope {

class FileJob;

class TargetChoice : public QObject {
    Q_OBJECT
public:
    /// The model must outlive this object.
    explicit TargetChoice(ConfigModel&, QObject* parent = nullptr);
    ~TargetChoice() override;

    /// Reads the names of the columns; named() brings them.
    void readNames();
    /// Sets data.target, and with it the loss and what else depends on it, as one edit. A column
    /// that cannot be predicted is set alone, so that the settings say why.
    void choose(const QString& column);

signals:
    /// Empty when the table cannot be read: the settings say why.
    void named(const QStringList& columns);

private:
    void start(const std::function<void()>& work, const std::function<void()>& then);
    void apply(const RunConfig& from, const std::optional<RunConfig>& chosen,
               const QString& column);

    ConfigModel& m_model;
    std::unique_ptr<FileJob> m_job; ///< null when nothing is being read
};

} // namespace halfscope
