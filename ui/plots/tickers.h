// Ticks for the plots' axes: whole steps, powers of two, decades that turn into 1-2-5 when zoomed,
// and short numbers with an SI prefix.
#pragma once

#include <qcustomplot.h>

namespace halfscope {

/// "0.0123", "1.2e-05": three significant digits.
QString shortNumber(double value);
/// "812", "1.93k", "12M".
QString withPrefix(double value);
/// "12 %" of a share from 0 to 1; a digit more below 10 %, "<0.1 %" where it is nearly none.
QString percentText(double share);
/// "2^16"; other numbers as shortNumber.
QString powerOfTwo(double value);

/// Whole numbers with the locale's thousands separators.
class StepTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange&) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;
};

/// The ticker of a value axis: leaves out ticks whose labels would touch.
class SpacedTicker : public QCPAxisTicker {
public:
    /// The share of the axis' length that a label needs; 0: any number fits.
    void setLabelShare(double share) { m_labelShare = share; }

protected:
    enum class Keep { Lowest, Highest }; ///< where two labels touch
    /// `place` tells where on the axis a tick lies, in any even unit. Of `ticks` in rising order.
    template <class Place>
    QVector<double> spaced(const QVector<double>& ticks, const QCPRange&, Keep, Place place) const;

private:
    double m_labelShare = 0;
};

/// From zero upwards, short labels.
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

/// For a logarithmic axis of base 2 or 10; about tickCount() labels.
class PowerTicker : public SpacedTicker {
public:
    explicit PowerTicker(int base) : m_base(base) {}

protected:
    QVector<double> createTickVector(double, const QCPRange&) override;
    double getTickStep(const QCPRange&) override { return 1; }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    QVector<double> powers(const QCPRange&);

    int m_base;
};

} // namespace halfscope
