// The file of what a lane has drawn last: a PNG, which rounds to 8 bits. That of a table of classes
// holds the exact shares besides, see class_shares.h. It has neither inf nor nan: pngBytes() draws
// them magenta.
#pragma once

#include "engine/data/task_spec.h"
#include "engine/io/picture.h"

#include <string>

namespace halfscope {

std::string outputPng(const TaskConfig&, const Picture&);

/// Returns a table of classes as text: a line for each true class, with its name, how many samples
/// it has, and how many of them were taken for each class. The names come from the target. Empty
/// for other pictures, for a table that does not tell how many samples its rows have, and where
/// classes may share rows.
std::string classesCsv(const TaskConfig&, const Picture& output, const Picture& target);

struct OutputFile {
    Picture picture;
    bool damagedShares = false; ///< it has a text of shares that are not those of the picture
};

/// Throws InputError as readPicture() does. A table whose file lacks the shares, as those of
/// earlier versions do, is what the 8 bits tell. Magenta becomes nan again, and a picture that was
/// grey becomes grey, except where the target has colours: a network may paint magenta.
OutputFile readOutput(const TaskConfig&, const Picture& target, const std::string& path);

} // namespace halfscope
