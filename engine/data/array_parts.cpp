// Compares headers alone: what the values are is found out by whoever reads them.
#include "engine/data/array_parts.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/held_back.h"
#include "engine/data/losses.h"
#include "engine/data/own_files.h"

#include <optional>

namespace halfscope {

namespace {

/// Throws InputError when an array does not have samples like those of the array to train on.
void checkFits(const ArrayPlace& place, const ArrayInfo& info, const ArrayPlace& trained,
               const ArrayInfo& all) {
    if (sampleShape(place, info) != sampleShape(trained, all))
        throw InputError(phrase("Data", "%1: the shape %2 does not fit the samples of %3, %4"),
                         place.shown(), info.shapeText(), trained.key, all.shapeText());
}

std::optional<ArrayPart> partOf(const TaskConfig& task, OwnPart of, const ArrayInfo& x,
                                const ArrayInfo& y) {
    ArrayPart part{of, placeOfX(task, of), placeOfY(task, of), {}, {}};
    if (part.xPlace.path.empty()) return std::nullopt;
    part.x = infoAt(part.xPlace);
    part.y = infoAt(part.yPlace);
    checkFits(part.xPlace, part.x, placeOfX(task), x);
    checkFits(part.yPlace, part.y, placeOfY(task), y);
    if (holdsIndices(task, x) && !isWhole(part.x.type)) // classes may be stored as floats
        throw InputError(phrase("Data", "%1: %2 does not fit %3, which is %4: both must be whole "
                                        "numbers"),
                         part.xPlace.shown(), nameOf(part.x.type), placeOfX(task).key,
                         nameOf(x.type));
    if (part.x.shape[0] != part.y.shape[0])
        throw InputError(phrase("Data", "%1: %2 samples do not fit the %3 of %4"),
                         part.yPlace.shown(), part.y.shape[0], part.x.shape[0], part.xPlace.key);
    checkSampleCount(part.xPlace.shown(), x.shape[0] + part.x.shape[0]);
    return part;
}

} // namespace

std::vector<ArrayPart> ownPartsOf(const TaskConfig& task, const ArrayInfo& x, const ArrayInfo& y) {
    checkOwnFiles(task);
    std::vector<ArrayPart> parts;
    int64_t samples = x.shape[0];
    for (const OwnPart of : {OwnPart::Validation, OwnPart::Test})
        if (auto part = partOf(task, of, x, y)) {
            samples += part->x.shape[0];
            parts.push_back(*std::move(part));
        }
    checkSampleCount(placeOfX(task).shown(), samples);
    const bool both = parts.size() == 2;
    if (both && isSameFile(parts[0].xPlace.path, parts[1].xPlace.path) &&
        parts[0].x.name == parts[1].x.name)
        throw InputError(phrase("Data", "%1: the array %2 is validated on; the test needs others, "
                                        "such as x_test and y_test"),
                         parts[1].xPlace.shown(), quotedText(parts[1].x.name));
    return parts;
}

/// Returns the shape of one sample; a plain number is a list of one.
Shape sampleShape(const ArrayPlace& place, const ArrayInfo& info) {
    constexpr size_t kMostAxes = kMaxRank - 1; // a batch has one more
    if (info.shape.empty() || info.shape.size() - 1 > kMostAxes || info.elements() == 0)
        throw InputError(phrase("Data", "%1: the shape %2 is not allowed: samples first, at most "
                                        "%3 axes after them, and no extent of 0"),
                         place.shown(), info.shapeText(), kMostAxes);
    if (info.shape.size() == 1) return {1};
    return Shape(std::span(info.shape).subspan(1));
}

/// Whether an array of inputs holds indices for the Embedding with which the network begins.
bool holdsIndices(const TaskConfig& task, const ArrayInfo& x) {
    return task.indices > 0 && isWhole(x.type) && x.type != ElementType::Bool;
}

bool wantsClasses(const TaskConfig& task) { return infoOf(task.loss.kind).ofLabels; }

} // namespace halfscope
