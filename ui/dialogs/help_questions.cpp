// Questions that people ask who train with AMP, in the words of the messages that they saw, and
// short answers. Where an experiment of the list shows what the answer says, it links to it.
#include "ui/dialogs/help.h"

#include "engine/settings/fields.h"

#include <QCoreApplication>
#include <QStringList>

namespace halfscope {
namespace {

struct Question {
    QString asked, answer;
    const char* preset = ""; ///< shows it; empty: none does
};

QString tr(const char* text) { return QCoreApplication::translate("Help", text); }

/// Of the loss scale and what it does.
QList<Question> aboutScales() {
    return {
        {tr("\u201cGradient overflow. Skipping step\u201d: is that normal?"),
         tr("Yes, in the first steps, until the loss scale has come down to where gradients fit, "
            "and once after a growth, which tries twice the scale. No, where steps are skipped "
            "again and again without a growth before, or the loss is nan. The tool tip of "
            "\u201cSkipped steps\u201d says which it is."),
         "overflow"},
        {tr("Which settings should the scaler have?"),
         tr("PyTorch\u2019s will do: 65536, doubled after 2000 clean steps, halved after an "
            "overflow. In a short run, a first scale near the one where it settles saves the skips "
            "at the start. A shorter growth interval follows the limit more closely and skips "
            "more. Change them at the lane while it trains.")},
        {tr("The loss scale falls to 1, to 0, to its minimum"),
         tr("The network\u2019s own values are inf or nan, or its gradients are huge: no loss "
            "scale cures that. Lower the learning rate, clip gradients, take bf16, or force the "
            "layer that the event names to float32 (\u201cChoose\u2026\u201d at the lane). To see "
            "it, set Clipping to none:"),
         "recipe-clip"},
        {tr("fp16 learns worse, and nothing complains"),
         tr("Small gradients round to zero without a word. Key G shows how many; a larger loss "
            "scale saves them."),
         "static-scales"},
        {tr("Does bf16 need a loss scale?"),
         tr("No: it has the range of FP32. It has fewer digits than fp16 instead."),
         "checkerboard-bf16"},
        {tr("Was this step skipped?"),
         tr("PyTorch does not say; but then the scale is smaller after update() than before. Here "
            "red marks tell it, the list of events, and a column of the saved steps.csv.")},
        {tr("After resuming, steps are skipped again"),
         tr("The scaler began anew at 65536. Save and load scaler.state_dict() beside those of the "
            "model and the optimizer.")},
        {tr("Two losses: one scale or two?"),
         tr("One GradScaler for both. An overflow in one optimizer\u2019s gradients skips that "
            "optimizer alone, and the scale falls for both."),
         "recipe-two-optimizers"}};
}

/// Of PyTorch's messages and the order of its calls.
QList<Question> aboutCalls() {
    return {
        {tr("\u201clr_scheduler.step() before optimizer.step()\u201d"),
         tr("The first step was skipped, so the schedule moved before any optimizer did. It is "
            "ahead by the skipped steps, no more. \u201cHold the schedule on a skip\u201d makes "
            "it wait."),
         "recipe-schedule-linear"},
        {tr("\u201cAttempting to unscale FP16 gradients\u201d"),
         tr("The weights themselves are fp16, as after model.half(). Autocast wants them in FP32: "
            "small updates vanish otherwise."),
         "pure-fp16"},
        {tr("Adam in fp16 gives inf or nan"),
         tr("Its epsilon of 1e-8 is zero there, and so are small squares: it divides by zero. With "
            "AMP the optimizer computes in FP32."),
         "pure-fp16"},
        {tr("\u201cunscale_() has already been called\u201d"),
         tr("Once for each optimizer between two update() calls. With accumulation, unscale, step "
            "and update come after the last batch alone."),
         "recipe-accumulate"},
        {tr("\u201cNo inf checks were recorded\u201d"),
         tr("No parameter of that optimizer had a gradient: its loss was not part of the backward "
            "pass, or its parameters are frozen.")},
        {tr("Where does clipping belong?"),
         tr("After scaler.unscale_(optimizer) and before scaler.step(optimizer); else the limit "
            "would be one of scaled gradients."),
         "recipe-clip"}};
}

/// Of results.
QList<Question> aboutResults() {
    return {
        {tr("AMP is slower than FP32"),
         tr("Half precision gains on a GPU\u2019s tensor cores, in matrices that are large and "
            "whose sizes are multiples of 8. In small networks casts cost more than products "
            "gain. A CPU imitates half precision here: its speed says nothing about a GPU\u2019s."),
         "checkerboard-seed"},
        {tr("AMP\u2019s losses are not those of FP32"),
         tr("They need not be: each rounding leads both a little farther apart, as another seed "
            "would. Compare trends (\u201cSmooth\u201d) and where they end.")},
        {tr("Which operation runs in which dtype, and why?"),
         tr("halfscope-cli describe --preset checkerboard --lane amp-fp16 prints each with its "
            "rule; in the window, a lane\u2019s precision and layers.")}};
}

} // namespace

QString questionsText() {
    QStringList lines;
    for (const Question& each : aboutScales() + aboutCalls() + aboutResults()) {
        QString answer = each.answer;
        if (each.preset[0] != '\0')
            answer += QStringLiteral(" <a href='%1:%2'>%3</a>")
                          .arg(QLatin1String(kPresetScheme), QLatin1String(each.preset),
                               tr("Open \u201c%1\u201d")
                                   .arg(QString::fromStdString(presetNamed(each.preset).title)));
        lines << QStringLiteral("<p><b>%1</b><br>%2</p>").arg(each.asked, answer);
    }
    return lines.join(QString());
}

} // namespace halfscope
