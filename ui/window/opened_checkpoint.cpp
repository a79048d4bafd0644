// The text above the button tells what is damaged, and names the file that the button opens.
#include "ui/window/opened_checkpoint.h"

#include "ui/panels/banner.h"
#include "ui/window/opened_file.h"

#include <QLocale>

#include <utility>

namespace halfscope {

void OpenedCheckpoint::offerEarlier(const OpenedFile& opened, Banner& banner,
                                    std::function<void(const QString&)> open) {
    if (!opened.earlier || banner.isHidden()) return;
    const auto step = static_cast<qlonglong>(opened.earlier->step);
    banner.offer(tr("Go on from step %1").arg(QLocale().toString(step)),
                 tr("Opens the checkpoint before this one, which is whole"),
                 [path = QString::fromStdString(opened.earlier->path), open = std::move(open)] {
                     open(path);
                 });
}

} // namespace halfscope
