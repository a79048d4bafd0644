// Rounds as the engine stores, and chooses the sentence.
#include "ui/models/number_words.h"

#include "engine/core/stored_number.h"
#include "ui/models/translated.h"

#include <QCoreApplication>

#include <cmath>

namespace halfscope {

namespace {

struct NumberWords {
    Q_DECLARE_TR_FUNCTIONS(NumberWords)

public:
    static QString shown(const QString& number) {
        return translated(Message::number(number.toStdString()));
    }
    /// All digits of a value that someone may want to check.
    static QString number(float value) { return translated(Message::number(value)); }
    /// Few digits of a value that is rounded anyway.
    static QString about(float value) {
        constexpr int kDigits = 6;
        return shown(QString::number(static_cast<double>(value), 'g', kDigits));
    }
    static QString percent(double share) {
        constexpr double kFewDigits = 10; // from here on, two digits are whole numbers
        const double value = 100 * share;
        return tr("%1 %").arg(shown(value < kFewDigits ? QString::number(value, 'g', 2)
                                                       : QString::number(value, 'f', 0)));
    }
    static QString nameOfFormat(NumberFormat format) { return QString::fromLatin1(nameOf(format)); }
    static QString next(const StoredNumber& n) {
        constexpr int kDigits = 3;
        return tr("The next number is %1 away.")
            .arg(shown(QString::number(static_cast<double>(n.spacing), 'g', kDigits)));
    }

    static QString stored(const StoredNumber& n) {
        const FloatFormat& facts = formatOf(n.format);
        switch (n.as) {
        case Stored::Exact: return tr("%1 exactly. %2").arg(number(n.value), next(n));
        case Stored::Rounded:
            return tr("%1, off by %2. %3").arg(about(n.value), percent(n.relativeError), next(n));
        case Stored::Subnormal:
            return tr("%1, off by %2: a subnormal number, which has fewer digits. %3")
                .arg(about(n.value), percent(n.relativeError), next(n));
        case Stored::Zero:
            return tr("0: the number underflows. The smallest %1 number above 0 is %2.")
                .arg(nameOfFormat(n.format), about(static_cast<float>(facts.minSubnormal)));
        case Stored::Infinite:
            return tr("inf: the number overflows. The largest finite %1 number is %2.")
                .arg(nameOfFormat(n.format), about(static_cast<float>(facts.maxFinite)));
        case Stored::Largest:
            return tr("%1: the number is too large, and becomes the largest %2 number.")
                .arg(about(n.value), nameOfFormat(n.format));
        case Stored::NotFinite: return number(n.value);
        }
        return {};
    }

    /// FP8 has scales of its own beside the loss scale.
    static QString nameAsGradient(NumberFormat format) {
        const QString name = nameOfFormat(format);
        return format == NumberFormat::Fp8E5m2 ? tr("%1 without a scale of its own").arg(name)
                                               : name;
    }

    static QString gradient(NumberFormat format, double x, double scale) {
        const StoredNumber n = halfscope::stored(format, x * scale);
        const QString name = nameAsGradient(format), factor = number(static_cast<float>(scale));
        switch (n.as) {
        case Stored::Zero:
            return tr("%1: multiplied by %2, it is still too small and becomes 0. The gradient is "
                      "lost.")
                .arg(name, factor);
        case Stored::Infinite:
        case Stored::NotFinite:
            return tr("%1: multiplied by %2, it is too large and becomes %3. The step is skipped.")
                .arg(name, factor, number(n.value));
        case Stored::Largest:
            return tr("%1: multiplied by %2, it is too large and becomes the largest number, %3. "
                      "No step is skipped.")
                .arg(name, factor, about(n.value));
        default: break;
        }
        const float unscaled = n.value / static_cast<float>(scale);
        const QString text = tr("%1: multiplied by %2, it is stored as %3. Divided by %2 again, in "
                                "float32, it is %4")
                                 .arg(name, factor, about(n.value), about(unscaled));
        return n.as == Stored::Exact ? tr("%1.").arg(text)
                                     : tr("%1, off by %2.").arg(text, percent(n.relativeError));
    }

    static QString weight(NumberFormat format, double x, double weight) {
        const StoredNumber before = halfscope::stored(format, weight);
        const QString name = nameOfFormat(format);
        if (!std::isfinite(before.value))
            return tr("%1: the weight itself overflows: it is %2.").arg(name, number(before.value));
        const StoredNumber after = halfscope::stored(format, static_cast<double>(before.value) + x);
        if (after.value == before.value && x != 0)
            return tr("%1: the weight stays %2, and the update is lost. %3")
                .arg(name, number(before.value), next(before));
        return tr("%1: the weight becomes %2.").arg(name, number(after.value));
    }

    /// Whether the format holds the weight, and another one after the update.
    static bool keeps(NumberFormat format, double x, double weight) {
        const float before = halfscope::stored(format, weight).value;
        const float after = halfscope::stored(format, static_cast<double>(before) + x).value;
        return std::isfinite(before) && std::isfinite(after) && after != before;
    }

    /// Says that no format loses the update, and which ones move the sum to a number of theirs.
    static QString allKeep(double x, double weight) {
        QStringList rounding;
        for (const NumberFormat format : {NumberFormat::Float16, NumberFormat::Bfloat16}) {
            const auto before = static_cast<double>(halfscope::stored(format, weight).value);
            if (static_cast<double>(halfscope::stored(format, before + x).value) != before + x)
                rounding << nameOfFormat(format);
        }
        if (rounding.isEmpty()) return tr("All three keep this update.");
        if (rounding.size() == 1)
            return tr("All three keep this update, but %1 rounds the sum.").arg(rounding.first());
        return tr("All three keep this update, but %1 and %2 round the sum.")
            .arg(rounding.first(), rounding.last());
    }

    static QString conclusion(double x, double weight) {
        if (x == 0) return tr("An update of 0 changes no weight.");
        const double sum =
            static_cast<double>(halfscope::stored(NumberFormat::Float32, weight).value) + x;
        if (!std::isfinite(halfscope::stored(NumberFormat::Float32, sum).value))
            return tr("Even float32 overflows here: its largest number is about 3.4e38.");
        if (!keeps(NumberFormat::Float32, x, weight))
            return tr("Not even float32 keeps this update. It keeps much smaller ones than float16 "
                      "and bfloat16: that is why AMP keeps the weights in float32.");
        const bool half = keeps(NumberFormat::Float16, x, weight);
        const bool brain = keeps(NumberFormat::Bfloat16, x, weight);
        if (half && brain) {
            const QString kept = allKeep(x, weight);
            return tr("%1 Most updates are smaller relative to their weights, and AMP keeps the "
                      "weights in float32 because of those.")
                .arg(kept);
        }
        const QString others = half    ? nameOfFormat(NumberFormat::Bfloat16)
                               : brain ? nameOfFormat(NumberFormat::Float16)
                                       : tr("%1 and %2")
                                             .arg(nameOfFormat(NumberFormat::Float16),
                                                  nameOfFormat(NumberFormat::Bfloat16));
        return tr("float32 keeps this update, unlike %1. That is why AMP keeps the weights in "
                  "float32.")
            .arg(others);
    }
};

constexpr NumberFormat kFp8[] = {NumberFormat::Fp8E4m3, NumberFormat::Fp8E5m2};
constexpr NumberFormat kStored[] = {NumberFormat::Float32, NumberFormat::Float16,
                                    NumberFormat::Bfloat16};

FormatWords wordsFor(NumberFormat format, double x) {
    const StoredNumber number = stored(format, x);
    return {NumberWords::nameOfFormat(format), QString::fromStdString(bitsText(number)),
            NumberWords::stored(number)};
}

} // namespace

QList<FormatWords> storedWords(double x) {
    QList<FormatWords> all;
    for (const NumberFormat format : kStored)
        all.append(wordsFor(format, x));
    for (const NumberFormat format : kFp8)
        all.append(wordsFor(format, x));
    return all;
}

QStringList gradientWords(double x, double scale) {
    return {NumberWords::gradient(NumberFormat::Float16, x, scale),
            NumberWords::gradient(NumberFormat::Bfloat16, x, scale),
            NumberWords::gradient(NumberFormat::Fp8E5m2, x, scale)};
}

QStringList weightWords(double x, double weight) {
    QStringList all;
    for (const NumberFormat format : kStored)
        all.append(NumberWords::weight(format, x, weight));
    return all;
}

QString conclusion(double x, double weight) { return NumberWords::conclusion(x, weight); }

} // namespace halfscope
