// Reads IDX, the format of MNIST: unsigned bytes with a shape of one to four axes, plain or
// gzipped.
#pragma once

#include "engine/io/array.h"
#include "engine/io/gzip.h"

namespace halfscope {

/// Reads the header. Throws InputError in one sentence, with the path, for whatever is not an IDX
/// file of bytes, and for a shape that a file of this size cannot hold.
ArrayInfo idxInfo(UnpackedFile&);
inline ArrayInfo idxInfo(const std::string& path) {
    UnpackedFile file(path);
    return idxInfo(file);
}
/// Also reads the values. Can be cancelled; takes little more memory than the values that the file
/// has. Throws InputError when the file has fewer or more values than its shape.
Array readIdx(UnpackedFile&);
inline Array readIdx(const std::string& path) {
    UnpackedFile file(path);
    return readIdx(file);
}

} // namespace halfscope
