// Small files in the binary form of CIFAR-10 and CIFAR-100, for tests.
#pragma once

#include "tests/support/array_files.h"

#include <QDir>
#include <QString>

#include <string>

namespace halfscope::test {

constexpr int kCifarPlane = 32 * 32;

/// The byte of a sample at a place in its three planes; no two samples or planes are alike.
constexpr int cifarByte(int sample, int place) {
    return (31 * sample + 7 * place + 5 * (place / kCifarPlane)) % 256;
}

/// Returns a sample with these bytes of labels before it.
inline std::string cifarSample(const std::string& labels, int sample) {
    std::string bytes = labels;
    for (int place = 0; place < 3 * kCifarPlane; ++place)
        bytes += static_cast<char>(cifarByte(sample, place));
    return bytes;
}

/// Writes CIFAR-10 with two samples in each batch, 0 to 9 in their order, and with four to validate
/// on, 10 to 13. The class of a sample is the last digit of 3 x its number.
inline void writeCifar10(const QString& folder) {
    QDir().mkpath(folder);
    const std::string start = folder.toStdString() + "/";
    const auto sample = [](int number) {
        return cifarSample(std::string(1, static_cast<char>(3 * number % 10)), number);
    };
    for (int batch = 0; batch < 5; ++batch)
        writeBytes(start + "data_batch_" + std::to_string(batch + 1) + ".bin",
                   sample(2 * batch) + sample(2 * batch + 1));
    writeBytes(start + "test_batch.bin", sample(10) + sample(11) + sample(12) + sample(13));
    writeBytes(start + "batches.meta.txt", "plane\ncar\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\n"
                                           "lorry\n\n");
}

/// Writes CIFAR-100 with three samples to train on, 0 to 2, and with two to validate on, 3 and 4.
/// The class of a sample is 99 less its number, and 7 is the coarse one.
inline void writeCifar100(const QString& folder) {
    QDir().mkpath(folder);
    const std::string start = folder.toStdString() + "/";
    const auto sample = [](int number) {
        return cifarSample(std::string{7, static_cast<char>(99 - number)}, number);
    };
    writeBytes(start + "train.bin", sample(0) + sample(1) + sample(2));
    writeBytes(start + "test.bin", sample(3) + sample(4));
    std::string names;
    for (int number = 0; number < 100; ++number)
        names += "kind " + std::to_string(number) + "\r\n";
    writeBytes(start + "fine_label_names.txt", names);
}

} // namespace halfscope::test
