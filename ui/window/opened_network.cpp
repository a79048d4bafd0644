// Sets one setting, and names lines of a file.
#include "ui/window/opened_network.h"

#include "engine/settings/fields.h"
#include "ui/models/config_model.h"
#include "ui/models/safe_text.h"
#include "ui/models/shown_numbers.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"
#include "ui/window/opened_file.h"

#include <QStringList>

namespace halfscope {

/// Says which lines were taken, and what else is used of the program.
QStringList OpenedNetwork::ofProgram(const OpenedFile& program) {
    const QString place = program.modelEnd > program.modelLine
                              ? tr("lines %1 to %2").arg(program.modelLine).arg(program.modelEnd)
                              : tr("line %1").arg(program.modelLine);
    QStringList names;
    for (const std::string& each : program.numbers)
        names << QString::fromStdString(each);
    return {
        tr("The network in %1 of %2 was taken.").arg(place, safeText(program.path.toStdString())),
        names.isEmpty()
            ? tr("Nothing else in the file is used.")
            : tr("Nothing else in the file is used but the values of %1.").arg(listedTags(names))};
}

std::string OpenedNetwork::ownOf(const ConfigModel& config) {
    const std::string& now = config.config().model.layers;
    return now == config.preset().model.layers ? std::string() : now;
}

void OpenedNetwork::set(ConfigModel& config, const OpenedFile& opened) {
    ConfigModel::Edits edits = config.edits();
    setField(edits.config, -1, "model.layers",
             opened.changed ? opened.changed->layers : opened.model);
    config.restore(edits);
}

QString OpenedNetwork::tell(const OpenedFile& program, bool stays, Banner& banner) {
    QStringList said;
    if (program.modelLine > 0)
        said << ofProgram(program);
    else
        said << (stays ? tr("Your network is used with these data at the next restart.")
                       : tr("Your network is used with these data."));
    if (program.changed)
        said << tr("Its last layer was changed to %1.")
                    .arg(QString::fromStdString(program.changed->last));
    if (stays) said << tr("The run that is shown keeps its own network.");
    said << tr("Ctrl+Z brings back the network before it.");
    const bool whole = program.doubt.empty();
    if (!whole)
        said.push_front(
            tr("This may not be the network that is meant: %1.").arg(translated(program.doubt)));
    const QString text = said.join(u' ');
    whole ? void(banner.showNotice(text)) : banner.showText(text);
    return text;
}

QString OpenedNetwork::onData(const OpenedFile& data, const QString& before) {
    const QString told =
        data.doubt.empty()
            ? tr("Your network fits these data and was kept. Ctrl+Z takes the network that was "
                 "made for them instead.")
            : tr("Your network does not fit these data and is not used: %1.")
                  .arg(translated(data.doubt));
    return before.isEmpty() ? told : before + u'\n' + told;
}

} // namespace halfscope
