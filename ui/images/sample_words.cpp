// Finds the sample by its place on the sheet, whose caption has the classes.
#include "ui/images/sample_words.h"

#include "engine/data/class_counts.h"
#include "ui/look/theme.h"

#include <QCoreApplication>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace halfscope {
namespace {

std::optional<SampleClasses> sampleAt(const Picture& sheet, QPoint pixel) {
    const QSize cell = sampleCell(sheet);
    if (cell.isEmpty() || pixel.x() >= sheet.width || pixel.y() >= sheet.height)
        return std::nullopt;
    const TableCaption told = tableCaption(sheet.caption);
    const auto at =
        static_cast<size_t>(pixel.y() / cell.height() * told.columns + pixel.x() / cell.width());
    return at < told.samples.size() ? std::optional(told.samples[at]) : std::nullopt;
}

QString nameOf(int32_t classOf, const QStringList& classes) {
    if (classOf == SampleClasses::kNone)
        return QCoreApplication::translate("CompareView", "no class (nan)");
    return classOf < classes.size() ? classes[classOf] : QString::number(classOf);
}

} // namespace

QString shownCaption(const std::string& caption) {
    const std::string_view right = tableCaption(caption).right;
    return QString::fromUtf8(right.data(), static_cast<qsizetype>(right.size()));
}

QSize sampleCell(const Picture& sheet) {
    const TableCaption told = tableCaption(sheet.caption);
    // a caption may be anybody's: so many columns cannot be seen, and the sum would overflow
    if (told.columns < 1 || told.columns > sheet.width || told.samples.empty()) return {};
    const auto samples = static_cast<int>(told.samples.size());
    const int rows = (samples + told.columns - 1) / told.columns;
    return {sheet.width / told.columns, sheet.height / rows};
}

const Picture& tallestSheet(std::span<const Picture> sheets) {
    const auto height = [](const Picture& sheet) {
        return sampleCell(sheet).isEmpty() ? 0 : sheet.height;
    };
    return *std::ranges::max_element(sheets, {}, height);
}

QStringList sampleWords(std::span<const Picture> lanes, const Picture& truth, QPoint pixel,
                        const QStringList& classes) {
    const auto sample = sampleAt(truth, pixel);
    if (!sample) return {};
    QStringList words{QCoreApplication::translate("CompareView", "True: %1.")
                          .arg(nameOf(sample->label, classes))};
    for (size_t lane = 0; lane < lanes.size(); ++lane)
        if (const auto taken = sampleAt(lanes[lane], pixel))
            words << laneLetter(static_cast<int>(lane)) + u' ' + nameOf(taken->taken, classes);
    return words;
}

QStringList mistakeWordsAt(std::span<const Picture> lanes, QPoint pixel,
                           const QStringList& classes) {
    QStringList words;
    for (size_t lane = 0; lane < lanes.size(); ++lane)
        if (const auto sample = sampleAt(lanes[lane], pixel))
            words << laneLetter(static_cast<int>(lane)) + u' ' +
                         QCoreApplication::translate("CompareView", "True: %1. Predicted: %2.")
                             .arg(nameOf(sample->label, classes), nameOf(sample->taken, classes));
    return words;
}

} // namespace halfscope
