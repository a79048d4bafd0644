// The sentences of the help window, but for its questions (help_questions.cpp).
#include "ui/dialogs/help.h"

#include <QCoreApplication>
#include <QStringList>

#include <span>
#include <utility>

namespace halfscope {
namespace {

using Row = std::pair<QString, QString>;

QString tr(const char* text) { return QCoreApplication::translate("Help", text); }

QString table(std::span<const Row> rows) {
    QStringList lines;
    for (const auto& [name, text] : rows)
        lines
            << QStringLiteral("<tr><td><b>%1</b>&nbsp;&nbsp;</td><td>%2</td></tr>").arg(name, text);
    return QStringLiteral("<table cellpadding='2'>%1</table>").arg(lines.join(QString()));
}

QString words() {
    const Row rows[] = {
        {tr("AMP"), tr("Automatic mixed precision: matrix products in half precision (fp16 or "
                       "bf16), and in FP32 what half precision would harm.")},
        {tr("Lane"), tr("One training of the network in its own precision. All lanes start from "
                        "the same weights and see the same batches.")},
        {tr("Loss scale"), tr("The loss is multiplied by it, so that small gradients do not round "
                              "to zero in fp16; they are divided by it before they are used.")},
        {tr("Overflow"), tr("A scaled gradient was too large for fp16 (above 65504) and became "
                            "infinite. The step is skipped and the loss scale falls.")},
        {tr("Underflow"), tr("A gradient too small for fp16 (below about 6e-8) rounds to zero and "
                             "teaches nothing. A larger loss scale saves it.")},
        {tr("Subnormal"), tr("Below 2^-14 fp16 has fewer and fewer digits, down to one at 2^-24.")},
        {tr("Growth"), tr("After enough clean steps in a row (the growth interval) the loss scale "
                          "rises, as a trial. An overflow soon after a growth is normal.")},
        {tr("Backoff"), tr("After an overflow the loss scale is multiplied by the backoff factor, "
                           "a half as a rule.")},
        {tr("fp16, bf16"), tr("The two half formats: fp16 has 11 significant bits and ends at "
                              "65504; bf16 has 8 and the range of fp32, so it needs no loss "
                              "scale.")},
        {tr("Autocast"), tr("The rules by which each operation runs in half precision, in FP32, or "
                            "as its inputs come.")},
        {tr("Master weights"), tr("The FP32 copy of the weights, which takes updates that are too "
                                  "small for half precision to hold.")},
        {tr("PSNR, MAE"), tr("How close a picture is to its target: signal to noise in decibels "
                             "(more is closer), mean absolute error (less is closer).")}};
    return table(rows);
}

QString marks() {
    const Row rows[] = {{QStringLiteral("\u25bc"), tr("red: overflow, a skipped step")},
                        {QStringLiteral("\u25b2"), tr("green: the loss scale grew")},
                        {QStringLiteral("\u25ac"), tr("amber: the loss scale fell")},
                        {QStringLiteral("\u25c6"), tr("the loss itself was not finite: no loss "
                                                      "scale cures that")},
                        {QStringLiteral("\u2691"), tr("blue: a setting that was changed")}};
    return table(rows);
}

QString keys() {
    const Row rows[] = {
        {tr("Space"), tr("Play or pause")},
        {tr("."), tr("One step of every lane")},
        {tr("R"), tr("Reset: start again with the settings at the left")},
        {tr("Shift+R"), tr("Bring back the run that a reset or another experiment took the place "
                           "of, but for its weights")},
        {tr("Ctrl+Z, Ctrl+Shift+Z"), tr("Undo or redo a change of the settings")},
        {tr("1, 2, 3"),
         tr("The last picture: target, difference, or swipe from one lane to another")},
        {tr("4"), tr("Only the last picture, as large as can be")},
        {tr("Ctrl++, Ctrl+-, Ctrl+0"), tr("Zoom the pictures; show all of them")},
        {tr("F"), tr("Plots follow the newest step")},
        {tr("B"), tr("The losses of the run before, faint behind those of now: change a setting, "
                     "reset, compare")},
        {tr("G"), tr("Gradients by size, of the newest step and over time: what fp16 rounds to "
                     "zero or makes infinite")},
        {tr("Arrows, +, -"), tr("In the plots: crosshair and zoom. In the pictures: the pixel that "
                                "is read, and zoom")},
        {tr("Enter, Esc"), tr("In the plots: pin the crosshair, as a click does; take it away")},
        {tr("Ctrl+O, Ctrl+S, Ctrl+E"), tr("Open a file; save the experiment; save the plots")},
        {tr("Ctrl+Shift+S"), tr("Save tables, pictures and plots of the run in a folder")},
        {tr("F9, F11"), tr("Hide the settings; full screen")},
        {tr("F1, Ctrl+Q"), tr("This help; quit")}};
    return table(rows);
}

} // namespace

QString helpText() {
    const std::pair<const char*, QString> parts[] = {
        {kHelpWords, tr("Words")},
        {kHelpQuestions, tr("Questions")},
        {kHelpMarks, tr("Marks under the plots (click one to go there)")},
        {kHelpKeys, tr("Keys")}};
    const QString texts[] = {words(), questionsText(), marks(), keys()};
    QStringList links;
    QString body;
    for (size_t i = 0; i < std::size(parts); ++i) {
        const QLatin1String name(parts[i].first);
        links << QStringLiteral("<a href='#%1'>%2</a>")
                     .arg(name, parts[i].second.section(u' ', 0, 0));
        body +=
            QStringLiteral("<h4><a name='%1'></a>%2</h4>%3").arg(name, parts[i].second, texts[i]);
    }
    return QStringLiteral("<p>%1</p><p>%2</p><p>%3</p>%4")
        .arg(
            tr("The same network is trained in each lane, with another precision in each. Settings "
               "marked \u201clive\u201d act at the next step, the others when the run starts "
               "again."),
            tr("Drop a picture on the window to let the networks paint it, an experiment file to "
               "open it, or the folder of a saved run to see its curves again."),
            links.join(QStringLiteral(" \u00b7 ")), body);
}

QString aboutText() {
    return QStringLiteral("<h3>Halfscope %1</h3><p>%2</p><p>%3</p>")
        .arg(QCoreApplication::applicationVersion(),
             tr("Watch what half precision does to training."),
             tr("Free software under the GNU General Public License, version 3 or later. It comes "
                "without any warranty. The window uses Qt and QCustomPlot."));
}

} // namespace halfscope
