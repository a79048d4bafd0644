// Reads IDX, the format of MNIST: unsigned bytes with a shape of one to four axes, plain or packed
// by gzip.
#pragma once

#include "engine/io/array.h"
#include "engine/io/gzip.h"

namespace halfscope {

/// Of its header. InputError in one sentence, with the path, for whatever is no IDX file of bytes,
/// and for a shape that a file of this size cannot hold.
ArrayInfo idxInfo(UnpackedFile&);
inline ArrayInfo idxInfo(const std::string& path) {
    UnpackedFile file(path);
    return idxInfo(file);
}
/// The values too. Cancellable; takes little more memory than the values that the file has. Refuses
/// a file that has fewer or more values than its shape.
Array readIdx(UnpackedFile&);
inline Array readIdx(const std::string& path) {
    UnpackedFile file(path);
    return readIdx(file);
}

} // namespace halfscope
