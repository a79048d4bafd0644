// TensorBoard's event files, as far as tests look into them.
#pragma once

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QList>

#include <cstdint>
#include <cstring>

namespace halfscope {

/// Returns the event file of a lane; empty unless there is exactly one.
inline QByteArray eventsOf(const QString& folder, const QString& lane) {
    const QDir there(folder + '/' + lane);
    const QStringList names = there.entryList({"*tfevents*"}, QDir::Files);
    QFile file(there.filePath(names.value(0)));
    return names.size() == 1 && file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Splits a file into records: 8 bytes of length, 4 of its checksum, the data, and 4 of the data's
/// checksum. The first record tells the version.
inline QList<QByteArray> recordsOf(const QByteArray& file) {
    QList<QByteArray> records;
    for (qsizetype at = 0; at + 16 <= file.size();) {
        uint64_t length = 0;
        std::memcpy(&length, file.constData() + at, sizeof length);
        records << file.mid(at, static_cast<qsizetype>(length) + 16);
        at += static_cast<qsizetype>(length) + 16;
    }
    return records;
}

} // namespace halfscope
