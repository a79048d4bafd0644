// Numbers as all views write them, in the user's language.
#pragma once

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>

namespace halfscope {

/// Returns "A", "A and B" or "A, B and C".
QString listedTags(QStringList tags);
/// Returns "65536 = 2^16"; other scales to four digits.
QString scaleText(double scale);
/// Returns a number to `digits` significant digits, in the user's language, or "not a number" or
/// "infinite". Large ones are written as prices are: "14,108".
QString shownNumber(double value, int digits = 4);
/// Returns "12 %" for a share from 0 to 1, with one more digit below 10 % and where it would round
/// to 100 %: "<0.1 %" is almost nothing, ">99.9 %" almost all.
QString percentText(double share);
/// Returns a share that is compared with others, such as an accuracy, with two decimals: "97.30 %",
/// so that one figure reads the same wherever it stands. Almost nothing is "<0.01 %", almost all
/// ">99.99 %". With one decimal for where there is no room for two.
QString finePercentText(double share, int decimals = 2);
/// What is shown in place of an accuracy of 0 that says nothing, see outputIsNan().
QString nanOutputText();
/// Returns finePercentText() of an accuracy, or nanOutputText() where the loss that was measured
/// with it tells that the accuracy says nothing.
QString shownAccuracy(double accuracy, std::optional<double> loss);
/// Returns a count: "1,140".
QString countText(int64_t count);
/// Returns "3 samples".
QString samplesText(int64_t samples);

} // namespace halfscope
