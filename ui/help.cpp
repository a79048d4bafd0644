// The sentences of the help window.
#include "ui/help.h"

#include <QCoreApplication>
#include <QStringList>

namespace halfscope {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Help", text); }

} // namespace

QString helpText() {
    const std::pair<QString, QString> keys[] = {
        {tr("Space"), tr("Play or pause")},
        {tr("."), tr("One step of every lane")},
        {tr("R"), tr("Reset: start again with the settings at the left")},
        {tr("F"), tr("Plots follow the newest step")},
        {tr("Left, Right"), tr("In the plots: move the crosshair by a step")},
        {tr("Ctrl+O, Ctrl+S"), tr("Open or save an experiment")},
        {tr("Ctrl+E"), tr("Save a picture of the plots")},
        {tr("F1"), tr("This help")},
        {tr("Ctrl+Q"), tr("Quit")}};
    QStringList rows;
    for (const auto& [key, what] : keys)
        rows << QStringLiteral("<tr><td><b>%1</b>&nbsp;&nbsp;</td><td>%2</td></tr>").arg(key, what);
    return QStringLiteral("<p>%1</p><p>%2</p><p>%3</p><table cellpadding='3'>%4</table>")
        .arg(tr("The program trains the same network in each lane, from the same weights with the "
                "same batches. Lane A is FP32, lane B is mixed precision (AMP)."),
             tr("Settings marked “live” act at the next step, the others when the run starts "
                "again. Drop a picture on the window to let the networks paint it, or an "
                "experiment file to open it."),
             tr("A red mark under the plots is a step that was skipped, because a gradient was "
                "too large for half precision. Click it to go there."),
             rows.join(QString()));
}

QString aboutText() {
    return QStringLiteral("<h3>Halfscope %1</h3><p>%2</p><p>%3</p>")
        .arg(QCoreApplication::applicationVersion(),
             tr("Watch what half precision does to training."),
             tr("Free software under the GNU General Public License, version 3 or later. It comes "
                "without any warranty. The window uses Qt and QCustomPlot."));
}

} // namespace halfscope
