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
    static QString nameOfType(DType type) {
        const std::string_view name = nameOf(type);
        return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
    }
    static QString next(const StoredNumber& n) {
        constexpr int kDigits = 3;
        return tr("Its neighbour is %1 away.")
            .arg(shown(QString::number(static_cast<double>(n.spacing), 'g', kDigits)));
    }

    static QString stored(const StoredNumber& n) {
        const FloatFormat& format = formatOf(n.type);
        switch (n.as) {
        case Stored::Exact: return tr("%1 exactly. %2").arg(number(n.value), next(n));
        case Stored::Rounded:
            return tr("%1, off by %2. %3").arg(about(n.value), percent(n.relativeError), next(n));
        case Stored::Subnormal:
            return tr("%1, off by %2: a subnormal number, which has fewer digits. %3")
                .arg(about(n.value), percent(n.relativeError), next(n));
        case Stored::Zero:
            return tr("0: the number underflows. The smallest %1 above 0 is %2.")
                .arg(nameOfType(n.type), about(static_cast<float>(format.minSubnormal)));
        case Stored::Infinite:
            return tr("inf: the number overflows. The largest finite %1 is %2.")
                .arg(nameOfType(n.type), about(static_cast<float>(format.maxFinite)));
        case Stored::NotFinite: return number(n.value);
        }
        return {};
    }

    static QString gradient(DType type, double x, double scale) {
        const StoredNumber n = halfscope::stored(type, x * scale);
        const QString name = nameOfType(type), factor = number(static_cast<float>(scale));
        switch (n.as) {
        case Stored::Zero:
            return tr("%1: multiplied by %2, it is still too small and becomes 0. The gradient is "
                      "lost.")
                .arg(name, factor);
        case Stored::Infinite:
        case Stored::NotFinite:
            return tr("%1: multiplied by %2, it is too large and becomes %3. The step is skipped.")
                .arg(name, factor, number(n.value));
        default: break;
        }
        const float unscaled = n.value / static_cast<float>(scale);
        const QString text = tr("%1: multiplied by %2, it is stored as %3. Divided by %2 again, in "
                                "float32, it is %4")
                                 .arg(name, factor, about(n.value), about(unscaled));
        return n.as == Stored::Exact ? tr("%1.").arg(text)
                                     : tr("%1, off by %2.").arg(text, percent(n.relativeError));
    }

    static QString weight(DType type, double x, double weight) {
        const StoredNumber before = halfscope::stored(type, weight);
        const QString name = nameOfType(type);
        if (!std::isfinite(before.value))
            return tr("%1: the weight itself overflows: it is %2.").arg(name, number(before.value));
        const StoredNumber after = halfscope::stored(type, static_cast<double>(before.value) + x);
        if (after.value == before.value && x != 0)
            return tr("%1: the weight stays %2, and the update is lost. %3")
                .arg(name, number(before.value), next(before));
        return tr("%1: the weight becomes %2.").arg(name, number(after.value));
    }
};

constexpr DType kFormats[] = {DType::F32, DType::F16, DType::BF16};

} // namespace

QList<FormatWords> storedWords(double x) {
    QList<FormatWords> all;
    for (const DType type : kFormats) {
        const StoredNumber number = stored(type, x);
        all.append({NumberWords::nameOfType(type), QString::fromStdString(bitsText(number)),
                    NumberWords::stored(number)});
    }
    return all;
}

QStringList gradientWords(double x, double scale) {
    return {NumberWords::gradient(DType::F16, x, scale),
            NumberWords::gradient(DType::BF16, x, scale)};
}

QStringList weightWords(double x, double weight) {
    QStringList all;
    for (const DType type : kFormats)
        all.append(NumberWords::weight(type, x, weight));
    return all;
}

} // namespace halfscope
