// The text of the About box.
#include "ui/dialogs/help.h"

#include <QCoreApplication>

namespace halfscope {

QString aboutText() {
    return QStringLiteral("<h3>Halfscope %1</h3><p>%2</p><p>%3</p>")
        .arg(QCoreApplication::applicationVersion(),
             QCoreApplication::translate("Help", "Watch what half precision does to training."),
             QCoreApplication::translate(
                 "Help",
                 "Free software under the GNU General Public License, version 3 or later. It comes "
                 "without any warranty. The window uses Qt and QCustomPlot."));
}

} // namespace halfscope
