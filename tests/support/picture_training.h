// Short trainings of one layer on digits, and on pictures that are written for the test.
#pragma once

#include "engine/io/picture.h"
#include "engine/settings/fields.h"

#include <QDir>
#include <QString>

#include <string>
#include <vector>

namespace halfscope {

/// Returns a training on digits with one layer, so that it has weights, an ONNX model and
/// predictions.
inline RunConfig digits(int64_t steps) {
    RunConfig config = presetNamed("mnist-mlp").config;
    config.model.layers = "nn.Sequential(nn.Flatten(), nn.Linear(784, 10))";
    config.steps = steps;
    config.epochs = 0;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

/// Writes pictures, 16 of them to train on in epochs of 8 steps, and returns a training on them.
inline RunConfig onPictures(const QString& folder, int64_t steps) {
    for (int i = 0; i < 20; ++i) {
        const QString part = folder + (i < 16 ? "/train/" : "/val/") + QString::number(i % 2);
        QDir().mkpath(part);
        writePng(Picture{4, 4, 3, std::vector<float>(48, static_cast<float>(i) / 20)},
                 QStringLiteral("%1/%2.png").arg(part).arg(i).toStdString());
    }
    RunConfig config = digits(steps);
    config.task.kind = TaskKind::Pictures;
    config.task.path = folder.toStdString();
    config.task.pictureSide = 4;
    config.task.batch = 2;
    config.model.layers = "nn.Sequential(nn.Flatten(), nn.Linear(48, 2))";
    return config;
}

} // namespace halfscope
