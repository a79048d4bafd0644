// What can be done about a file that could not be opened as it is: the banner, which says why, gets
// a button that does it.
#pragma once

#include "ui/window/opened_file.h"
#include "ui/window/opened_weights.h"
#include "ui/window/run_models.h"
#include "ui/window/window_parts.h"

#include <QObject>

#include <functional>

namespace halfscope {

class FileOffers : public QObject {
    Q_OBJECT
public:
    /// The models and the parts must outlive it.
    FileOffers(RunModels&, const WindowParts&);
    /// Adds the button to the banner, which says why the file was refused. Does nothing where there
    /// is nothing to offer.
    void offer(const OpenedFile& refused);
    /// Likewise, where the banner says that the user's network does not fit data that were opened.
    void offerNetworkOn(const OpenedFile& data);

signals:
    /// The user wants all lanes to start from these weights.
    void weightsAccepted(const OpenedFile& weights, WeightsTaken);
    /// The user wants a network with its last layer changed: that of a program, or their own beside
    /// data.
    void networkAccepted(const OpenedFile& network);
    /// The settings are others by now: another offer may be the right one.
    void outdated(const QString& path);
    /// A sentence for the status bar.
    void told(const QString& text);

private:
    void offerCommand(const OpenedFile&);
    void offerPart(const OpenedFile&);
    void offerNetwork(const OpenedFile&);
    void offerProgram(const OpenedFile& program);
    void offerChanged(const ChangedEnd&, std::function<void()> take);
    void offerEditor(const OpenedFile& refused);
    /// Returns what calls `take`, as long as the settings stay as they are now.
    std::function<void()> taking(const QString& path, std::function<void()> take);
    std::function<void()> taking(const OpenedFile& weights, WeightsTaken);

    RunModels& m_models;
    WindowParts m_parts;
};

} // namespace halfscope
