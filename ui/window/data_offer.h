// Data that are chosen in the settings keep the loss, the columns and the network of the data
// before: the banner offers to open them as File > Open would, which chooses all of these anew. It
// also offers the folders of pictures around one that was opened to be painted.
#pragma once

#include "engine/data/data_around.h"
#include "ui/window/run_models.h"
#include "ui/window/window_parts.h"

#include <QObject>

namespace halfscope {

class DataOffer : public QObject {
    Q_OBJECT
public:
    /// The models and the parts must outlive it.
    DataOffer(RunModels&, const WindowParts&);

    /// Offers them in place of the one picture of them that was opened, to be painted.
    void offerClasses(const PictureClasses&);

signals:
    void accepted(const QString& path);

private:
    void offer(const QString& path);

    RunModels& m_models;
    WindowParts m_parts;
};

} // namespace halfscope
