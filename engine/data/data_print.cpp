// Joins what is seen of the data to one text, of which the checksum is made.
#include "engine/data/data_print.h"

#include "engine/core/error.h"
#include "engine/core/sha256.h"
#include "engine/core/text.h"
#include "engine/io/input_file.h"

#include <algorithm>

namespace halfscope {

namespace {

constexpr int64_t kPieces = 64, kPiece = int64_t{256} << 10;

/// Returns the size and the bytes of a file, or of pieces from its start to its end.
std::string contentOf(const std::string& path) {
    InputFile file(path);
    const int64_t size = file.size();
    const bool whole = size <= kPieces * kPiece;
    std::string bytes = std::to_string(size) + "\n";
    for (int64_t piece = 0; piece < (whole ? 1 : kPieces); ++piece) {
        if (!whole) file.skipTo((size - kPiece) / (kPieces - 1) * piece);
        const size_t start = bytes.size();
        bytes.resize(start + static_cast<size_t>(whole ? size : kPiece));
        std::span<char> left = std::span(bytes).subspan(start);
        while (!left.empty()) {
            const size_t count = file.read(left);
            if (count == 0) break; // it was cut off meanwhile
            left = left.subspan(count);
        }
    }
    return bytes;
}

} // namespace

std::string dataPrint(const TaskConfig& task, const Dataset& data) {
    const DataSetInfo& info = infoOf(task.kind);
    if (!info.fromFiles) return {};
    std::string seen;
    try {
        if (info.targets == Targets::AsTheLoss)
            for (const std::string* path : {&task.path, &task.x, &task.y})
                if (!path->empty()) seen += contentOf(*path) + "\n";
    } catch (const InputError&) {
        return {};
    }
    for (const std::string& name : data.view().classes)
        seen += quotedText(name) + "\n";
    for (const ChannelScale& each : data.channelScales())
        seen += numberText(each.mean) + " " + numberText(each.deviation) + "\n";
    return sha256(seen);
}

} // namespace halfscope
