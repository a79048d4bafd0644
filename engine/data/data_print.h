// Tells whether training data are still what they were when a network was trained on them.
#pragma once

#include "engine/data/dataset.h"

#include <string>

namespace halfscope {

/// Returns two checksums, one behind the other. The first is of what a prediction takes from the
/// training data: of tables and arrays, of the files' contents, and of others, of their classes, by
/// their numbers where these are fixed, and of the means and deviations of pictures. The second is
/// of all samples; of tables and arrays it is of those to validate on that have files of their own,
/// and left out where none have. `data` was made from the settings. Empty when nothing is taken
/// from files, or when a file is gone. Of large files and of many, it sees the names, sizes and
/// some pieces. Can be cancelled.
std::string dataPrint(const TaskConfig&, const Dataset& data);

/// Returns where the data are, as messages show it.
std::string shownPlaceOfData(const TaskConfig&);

/// Whether two results differ in what predictions take from the data; false when one is empty.
bool predictsOtherwise(const std::string& print, const std::string& other);
/// Returns a sentence without its full stop for a training that goes on when the results for its
/// data, as it began and now, differ; else an empty message. Results of earlier versions lack the
/// second checksum, which is not compared then.
Message changeSince(const std::string& began, const std::string& now, const TaskConfig&);

} // namespace halfscope
