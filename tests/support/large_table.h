// A table that takes long to read.
#pragma once

#include <QFile>

namespace halfscope::test {

/// Writes `lines` thousand lines with five columns of numbers, a to e, below their names. Returns
/// false when the file cannot be written.
inline bool writeTable(const QString& path, int lines) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return false;
    QByteArray block;
    for (int i = 0; i < 1000; ++i)
        block += "0.125,17.25,3.5,-0.75," + QByteArray::number(i) + '\n';
    file.write("a,b,c,d,e\n");
    for (int i = 0; i < lines / 1000; ++i)
        file.write(block);
    return file.flush();
}

} // namespace halfscope::test
