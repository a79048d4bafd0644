// Ticks for the plots' axes: whole steps, powers of two, decades that turn into 1-2-5 when zoomed,
// and short numbers with an SI prefix.
#pragma once

#include <qcustomplot.h>

namespace halfscope {

/// Returns three significant digits, as in the user's locale: "0.0123", "1.2e-05".
QString shortNumber(double value);
/// Returns "812", "1.93k", "12M".
QString withPrefix(double value);
/// Returns "2^16" for a power of two; formats other numbers as shortNumber() does.
QString powerOfTwo(double value);

/// Labels whole numbers with the locale's thousands separators.
class StepTicker : public QCPAxisTicker {
public:
    /// Sets the share of the axis' length that a label needs; 0: any number of labels fits.
    void setLabelShare(double share) { m_labelShare = share; }

protected:
    double getTickStep(const QCPRange&) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    double m_labelShare = 0;
};

/// Shows a range of steps on an axis that is laid out and has a StepTicker, with as many labels as
/// fit without touching.
void showSteps(QCPAxis&, double from, double to);

/// The ticker of a value axis: leaves out ticks whose labels would touch.
class SpacedTicker : public QCPAxisTicker {
public:
    /// Sets the share of the axis' length that a label needs; 0: any number of labels fits.
    void setLabelShare(double share) { m_labelShare = share; }
    /// Leaves room, on an axis of such a height, for as many labels as fit without touching. In a
    /// low plot they are closer together, so that there are two: what a line has above and below
    /// its digits stays empty.
    void fitIn(int height, const QFont&);

protected:
    double labelShare() const { return m_labelShare; }
    enum class Keep { Lowest, Highest }; ///< which tick stays when two labels touch
    /// Returns those of `ticks`, which rise, that stay. `place` tells where on the axis a tick
    /// lies, in any linear unit.
    template <class Place>
    QVector<double> spaced(const QVector<double>& ticks, const QCPRange&, Keep, Place place) const;
    /// Returns `ticks(step)`, with a smaller step, down to `least`, where it gives fewer than two
    /// ticks: one label does not say how far apart two values are.
    template <class Ticks>
    static QVector<double> atLeastTwo(double step, double least, Ticks ticks);
    /// Writes all numbers but 0 and 1 as powers of ten where one of them is: "1e+05" beside
    /// "1e+10".
    QVector<QString> createLabelVector(const QVector<double>& ticks, const QLocale&, QChar,
                                       int) override;

private:
    double m_labelShare = 0;
};

/// Ticks from zero upwards, with short labels.
class PrefixTicker : public SpacedTicker {
public:
    explicit PrefixTicker(bool wholeNumbers) : m_wholeNumbers(wholeNumbers) {}

protected:
    QVector<double> createTickVector(double, const QCPRange&) override;
    double getTickStep(const QCPRange&) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    bool m_wholeNumbers;
};

/// Ticks of shares from 0 to 1, which have labels in percent.
class PercentTicker : public PrefixTicker {
public:
    PercentTicker() : PrefixTicker(false) {}

protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;
};

/// Ticks of a logarithmic axis of base 2 or 10, with about tickCount() labels.
class PowerTicker : public SpacedTicker {
public:
    explicit PowerTicker(int base) : m_base(base) {}
    /// Gives the lowest and the highest value labels in any case, if they are powers of two: where
    /// a loss scale begins and ends is what a reader looks for.
    void setEnds(double lowest, double highest);

protected:
    QVector<double> createTickVector(double, const QCPRange&) override;
    double getTickStep(const QCPRange&) override { return 1; }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    QVector<double> powers(int stride, double low, double high) const;
    QVector<double> withEnds(const QVector<double>& ticks, const QCPRange&) const;

    int m_base;
    QVector<double> m_ends; ///< powers of two
};

} // namespace halfscope
