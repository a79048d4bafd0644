// Data that are chosen in the settings keep the loss, the columns and the network of the data
// before: the banner offers to open them as File > Open would, which chooses all of these anew.
#pragma once

#include "ui/window/run_models.h"
#include "ui/window/window_parts.h"

#include <QObject>

namespace halfscope {

class DataOffer : public QObject {
    Q_OBJECT
public:
    /// The models and the parts must outlive it.
    DataOffer(RunModels&, const WindowParts&);

signals:
    void accepted(const QString& path);

private:
    void offer(const QString& path);

    RunModels& m_models;
    WindowParts m_parts;
};

} // namespace halfscope
