// What is offered where a checkpoint is damaged, and the one before it is whole.
#pragma once

#include <QCoreApplication>
#include <QString>

#include <functional>

namespace halfscope {

class Banner;
struct OpenedFile;

class OpenedCheckpoint {
    Q_DECLARE_TR_FUNCTIONS(OpenedCheckpoint)
public:
    /// Offers to open the one before, beside the text that the banner shows.
    static void offerEarlier(const OpenedFile&, Banner&, std::function<void(const QString&)> open);
};

} // namespace halfscope
