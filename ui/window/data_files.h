// Files of one data set that were chosen or dropped in place of their folder. Touches nothing of
// the window, so that any thread can read.
#pragma once

#include "engine/settings/run_config.h"

#include <QString>
#include <QStringList>

#include <optional>

namespace halfscope {

/// The data set of such files, as it is opened.
struct DataOfFiles {
    QString path; ///< of the folder, or of the file that leads to the others
    RunConfig config;
    bool onlySome = false; ///< the folder was opened, which has more files of the set
};

/// Returns the folder of a file of MNIST or CIFAR; nothing where it is none of these, or where its
/// folder opens as other data. Throws InputError when files are missing or cannot be read.
std::optional<DataOfFiles> folderOfFile(const QString& path);
/// Returns the data set of several files in one folder; texts beside them, such as a README, do not
/// count. Nothing where they are no data by their names. Throws InputError when they are not all of
/// one data set, or cannot be read.
std::optional<DataOfFiles> dataOfFiles(const QStringList& paths);

} // namespace halfscope
