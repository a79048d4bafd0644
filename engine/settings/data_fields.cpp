// Rows of the table of settings for samples from files: where they come from, and how they are
// made.
#include "engine/data/channel_values.h"
#include "engine/data/dataset.h"
#include "engine/data/own_files.h"
#include "engine/data/targets.h"
#include "engine/data/test_split.h"
#include "engine/settings/field_parts.h"

namespace halfscope {

using namespace field_parts;

Field field_parts::ofDataSets(Field field) {
    return when([key = field.key](const RunConfig& c) { return infoOf(c.task.kind).has(key); },
                field);
}

namespace {

template <class Access>
Field pathField(const Words& words, Access at) {
    Field field = ofDataSets(ofRun(words, at));
    field.kind = FieldKind::Path;
    return field;
}

template <class Access>
Field channelValues(const Words& words, Access at) {
    Field field = ofDataSets(ofRun(words, at));
    field.check = [key = field.key](const std::string& text) { checkChannelValues(key, text); };
    field.allowed =
        phrase("Settings", "a number, three numbers separated by commas, auto, or nothing");
    return field;
}

bool hasOwn(const RunConfig& c, const char* key, const std::string& path) {
    return infoOf(c.task.kind).has(key) && !path.empty();
}

} // namespace

std::vector<Field> fileFields() {
    return {
        pathField(
            {"data.path", phrase("Settings", "Data"), kNoUnit,
             phrase(
                 "Settings",
                 "Where the samples come from. Digits or clothes: the folder with the four files "
                 "of MNIST or Fashion-MNIST, plain "
                 "or .gz; empty: 2,000 digits to train on and 500 to validate on, which "
                 "come with the program. CIFAR: the folder with the files of CIFAR-10 or CIFAR-100 "
                 "in the binary form, such as data_batch_1.bin. Table: the table, plain or .gz, in "
                 "which commas, semicolons, tabs or spaces stand between the columns. Texts with "
                 "classes: "
                 "likewise; empty: words of six languages, which come with the program. "
                 "Folders of pictures: a folder that has a folder of pictures for each class, or "
                 "folders train and val with those. Shards: a .tar file, or a folder of them, in "
                 "which each sample has a picture and its class, such as 000001.png and "
                 "000001.cls. Text: a text in UTF-8; empty: the GNU General Public License, "
                 "version 3, which comes with the program. A relative path starts at the folder of "
                 "the experiment file.")},
            [](auto& c) -> auto& { return c.task.path; }),
        pathField(
            {"data.validation_path", phrase("Settings", "Validation data"), kNoUnit,
             phrase("Settings", "A table of the samples to validate on, with the columns of the "
                                "table to train on, told by their names; what is learnt from that "
                                "table, such as classes and means, is applied to it. Empty: a "
                                "share of the samples to train on is held back.")},
            [](auto& c) -> auto& { return c.task.validationPath; }),
        pathField(
            {"data.test_path", phrase("Settings", "Test data"), kNoUnit,
             phrase("Settings", "A table, likewise, of samples that no validation sees; each lane "
                                "is judged on them once, at the end of the run. Empty: the share "
                                "data.test_share of the samples to validate on, or no test.")},
            [](auto& c) -> auto& { return c.task.testPath; }),
    };
}

std::vector<Field> arrayFields() {
    return {
        pathField(
            {"data.x", phrase("Settings", "Inputs"), kNoUnit,
             phrase("Settings", "An .npy file whose first axis counts the samples, or an .npz or "
                                ".safetensors file: its array x, or the only one.")},
            [](auto& c) -> auto& { return c.task.x; }),
        pathField(
            {"data.y", phrase("Settings", "Targets"), kNoUnit,
             phrase("Settings",
                    "The file with the targets: an .npy file, or the array y of an .npz or "
                    ".safetensors file. With cross entropy it has one whole number from "
                    "0 for each sample, its class. Empty: in the same .npz or .safetensors "
                    "file.")},
            [](auto& c) -> auto& { return c.task.y; }),
        pathField(
            {"data.x_val", phrase("Settings", "Validation inputs"), kNoUnit,
             phrase("Settings", "The inputs of samples to validate on: an .npy file, or an .npz or "
                                ".safetensors file, which may be that of data.x: its array x_val, "
                                "x_valid or x_validation or, in a file of its own, x or the only "
                                "one. Empty: a share of the samples to train on is held back.")},
            [](auto& c) -> auto& { return c.task.xVal; }),
        when([](const RunConfig& c) { return hasOwn(c, "data.x_val", c.task.xVal); },
             pathField(
                 {"data.y_val", phrase("Settings", "Validation targets"), kNoUnit,
                  phrase("Settings",
                         "The targets y_val of the samples to validate on. Empty: in the .npz or "
                         ".safetensors file of data.x_val.")},
                 [](auto& c) -> auto& { return c.task.yVal; })),
        pathField(
            {"data.x_test", phrase("Settings", "Test inputs"), kNoUnit,
             phrase("Settings", "The inputs x_test of samples that no validation sees; "
                                "each lane is judged on them once, at the end of the run. Empty: "
                                "the share data.test_share of the samples to validate on, or no "
                                "test.")},
            [](auto& c) -> auto& { return c.task.xTest; }),
        when([](const RunConfig& c) { return hasOwn(c, "data.x_test", c.task.xTest); },
             pathField(
                 {"data.y_test", phrase("Settings", "Test targets"), kNoUnit,
                  phrase("Settings",
                         "The targets y_test of the samples of the test. Empty: in the .npz or "
                         ".safetensors file of data.x_test.")},
                 [](auto& c) -> auto& { return c.task.yTest; })),
    };
}

std::vector<Field> sampleFields() {
    return {
        ofDataSets(
            in(ofRun(
                   {"data.latent", phrase("Settings", "Random inputs"), kNoUnit,
                    phrase("Settings", "The number of random inputs from which the network makes "
                                       "one picture, each with mean 0 and deviation 1.")},
                   [](auto& c) -> auto& { return c.task.latent; }),
               {1, 1e5, Bound::Closed, true})),
        ofDataSets(in(
            ofRun(
                {"data.context", phrase("Settings", "Context"), phrase("Settings", "tokens"),
                 phrase("Settings", "The number of tokens in a sample. Text: of characters, and "
                                    "the network learns which character comes next. "
                                    "Texts with classes: of words or characters; longer texts are "
                                    "cut, and shorter ones are padded.")},
                [](auto& c) -> auto& { return c.task.context; }),
            {1, 4096, Bound::Closed, true})),
        ofDataSets(oneOf(
            ofRun(
                {"data.predict", phrase("Settings", "Predict"), kNoUnit,
                 phrase("Settings",
                        "What is predicted of a text. last: the character that follows a sample. "
                        "every: at each position of the "
                        "sample the next character, as a language model learns them; the network "
                        "makes a score for each class at each position and must not look ahead, "
                        "see CausalTransformerEncoderLayer.")},
                [](auto& c) -> auto& { return c.task.predicted; }),
            namesUpTo(Predicted::Every))),
        ofDataSets(
            oneOf(ofRun(
                      {"data.tokens", phrase("Settings", "Tokens"), kNoUnit,
                       phrase("Settings",
                              "What a text is cut into. words: a text is a row of words and signs, "
                              "in which A to Z count "
                              "as a to z. characters: it is a row of characters, which is better "
                              "for names and other short texts.")},
                      [](auto& c) -> auto& { return c.task.tokens; }),
                  namesUpTo(Tokens::Characters))),
        ofDataSets(
            in(ofRun(
                   {"data.vocabulary", phrase("Settings", "Vocabulary"), kNoUnit,
                    phrase("Settings", "The most tokens that get a vector of their own: the most "
                                       "frequent ones of the training texts that occur more than "
                                       "once. Padding and all unknown tokens count as one each.")},
                   [](auto& c) -> auto& { return c.task.vocabulary; }),
               {3, 1e6, Bound::Closed, true})),
        ofDataSets(ofRun(
            {"data.header", phrase("Settings", "Names in the first line"), kNoUnit,
             phrase("Settings", "On: the first line of the table names its columns. Off: it is a "
                                "sample like the others, and the columns are called c1, c2 "
                                "and so on.")},
            [](auto& c) -> auto& { return c.task.header; })),
        ofDataSets(ofRun(
            {"data.text", phrase("Settings", "Text column"), kNoUnit,
             phrase("Settings", "The name of the column of texts; empty: the longest one.")},
            [](auto& c) -> auto& { return c.task.textColumn; })),
        ofDataSets(ofRun(
            {"data.target", phrase("Settings", "Target column"), kNoUnit,
             phrase("Settings", "The name of the column to predict; empty: the last one. With "
                                "cross entropy its values are classes, else numbers.")},
            [](auto& c) -> auto& { return c.task.target; })),
        ofDataSets(ofRun(
            {"data.drop", phrase("Settings", "Columns left out"), kNoUnit,
             phrase("Settings", "Names of columns that are not inputs, with commas between them; a "
                                "name that has a comma stands in double quotation marks.")},
            [](auto& c) -> auto& { return c.task.drop; })),
    };
}

std::vector<Field> pictureFields() {
    return {
        ofDataSets(in(
            ofRun(
                {"data.side", phrase("Settings", "Side of a sample"), phrase("Settings", "pixels"),
                 phrase("Settings", "The centre square of each picture is scaled to side x side "
                                    "pixels, each the mean of the area that it covers.")},
                [](auto& c) -> auto& { return c.task.pictureSide; }),
            {4, 512, Bound::Closed, true})),
        ofDataSets(ofRun(
            {"data.grey", phrase("Settings", "Grey"), kNoUnit,
             phrase("Settings", "One channel of luminance in place of red, green and blue.")},
            [](auto& c) -> auto& { return c.task.grey; })),
        ofDataSets(ofRun(
            {"data.flip", phrase("Settings", "Mirror"), kNoUnit,
             phrase("Settings", "In each epoch, a random half of the training pictures is mirrored "
                                "left to right; the seed decides which.")},
            [](auto& c) -> auto& { return c.task.flip; })),
        ofDataSets(
            in(ofRun(
                   {"data.crop", phrase("Settings", "Move by"), phrase("Settings", "pixels"),
                    phrase("Settings", "Training pictures are shifted by up to this many pixels, "
                                       "differently in each epoch, and the edge is filled with "
                                       "black, as torchvision's RandomCrop does with this "
                                       "padding.")},
                   [](auto& c) -> auto& { return c.task.crop; }),
               {0, 256})),
        channelValues(
            {"data.mean", phrase("Settings", "Mean"), kNoUnit,
             phrase("Settings", "Subtracted from a picture's values, which go from 0 to 1: a "
                                "number, one for each channel such as 0.485, 0.456, 0.406, or "
                                "auto: measured on up to 1,000 of the samples to train on.")},
            [](auto& c) -> auto& { return c.task.mean; }),
        channelValues(
            {"data.std", phrase("Settings", "Deviation"), kNoUnit,
             phrase("Settings", "After the mean is subtracted, the values are divided by this: a "
                                "number, one for each channel, or auto.")},
            [](auto& c) -> auto& { return c.task.deviation; }),
        ofDataSets(oneOf(
            ofRun(
                {"data.damaged", phrase("Settings", "Damaged pictures"), kNoUnit,
                 phrase("Settings", "What happens at a damaged picture. refuse ends the run at a "
                                    "picture that cannot be decoded and "
                                    "names it; skip names it in the events, and the next sample of "
                                    "the epoch takes its place. A shard that ends early is "
                                    "refused, or the samples before its end are used.")},
                [](auto& c) -> auto& { return c.task.damaged; }),
            namesUpTo(Damaged::Skip))),
        ofDataSets(in(ofRun(
                          {"data.shard_readers", phrase("Settings", "Readers of a shard"), kNoUnit,
                           phrase("Settings",
                                  "Shows what happens where workers do not share the shards: this "
                                  "many readers each read every shard, so that an epoch contains "
                                  "each sample that many times. The right number is 1.")},
                          [](auto& c) -> auto& { return c.task.shardReaders; }),
                      {1, 64, Bound::Closed, true})),
    };
}

namespace {

bool holdsBack(const RunConfig& c) {
    return infoOf(c.task.kind).has("data.validation") && !validatesOwn(c.task);
}

bool choosesHeld(const RunConfig& c) {
    return holdsBack(c) && c.task.validation > 0 && infoOf(c.task.kind).has("data.held_back");
}

} // namespace

std::vector<Field> preparationFields() {
    return {
        ofDataSets(oneOf(
            ofRun(
                {"data.missing", phrase("Settings", "Missing values"), kNoUnit,
                 phrase("Settings",
                        "What happens to missing values: fields that are empty, NA, N/A, #N/A, "
                        "NaN, null, None or a question mark. "
                        "refuse names the first one; drop leaves out lines that have one; mean "
                        "puts the mean of the column over the training samples in its place and "
                        "leaves out lines without a target.")},
                [](auto& c) -> auto& { return c.task.missing; }),
            namesUpTo(Missing::Mean))),
        ofDataSets(ofRun(
            {"data.standardise", phrase("Settings", "Standardise"), kNoUnit,
             phrase("Settings", "Each input column is moved and scaled to mean 0 and "
                                "standard deviation 1 over the training samples.")},
            [](auto& c) -> auto& { return c.task.standardise; })),
        ofDataSets(ofRun(
            {"data.standardise_x", phrase("Settings", "Standardise x"), kNoUnit,
             phrase("Settings", "Each column of x is moved and scaled to mean 0 and standard "
                                "deviation 1 over the training samples; of pictures, each "
                                "channel.")},
            [](auto& c) -> auto& { return c.task.standardiseX; })),
        when([](const RunConfig& c) { return canStandardiseTarget(c.task); },
             ofRun(
                 {"data.standardise_target", phrase("Settings", "Standardise target"), kNoUnit,
                  phrase("Settings",
                         "The numbers to predict are moved and scaled to mean 0 and standard "
                         "deviation 1 over the training samples. The loss then has no unit; mean "
                         "absolute errors and predictions are in the units of the data.")},
                 [](auto& c) -> auto& { return c.task.standardiseTarget; })),
        when([](const RunConfig& c) { return canValidateTestArrays(c.task); },
             ofRun(
                 {"data.test", phrase("Settings", "Validate on test arrays"), kNoUnit,
                  phrase("Settings", "The arrays x_test and y_test of an .npz or .safetensors "
                                     "file are the samples to validate on, and none are held "
                                     "back.")},
                 [](auto& c) -> auto& { return c.task.test; })),
        when(holdsBack, in(ofRun(
                               {"data.validation", phrase("Settings", "Validation share"), kNoUnit,
                                phrase("Settings",
                                       "The share of the samples that is kept for validation and "
                                       "not trained on. Which samples these are does not depend on "
                                       "the seed; of a text, it is the end.")},
                               [](auto& c) -> auto& { return c.task.validation; }),
                           {0, 1, Bound::BelowMaximum})),
        ofDataSets(in(
            ofRun(
                {"task.validation_samples", phrase("Settings", "Samples to validate on"), kNoUnit,
                 phrase("Settings", "Number of samples that are drawn beside those to train on, "
                                    "which stay the same. The lanes are validated on them. 0: "
                                    "there is no validation.")},
                [](auto& c) -> auto& { return c.task.validationSamples; }),
            {0, 1e7, Bound::Closed, true})),
        when(choosesHeld,
             oneOf(ofRun(
                       {"data.held_back", phrase("Settings", "Validation samples"), kNoUnit,
                        phrase("Settings",
                               "random: samples that chance chooses once for all seeds. last: "
                               "the last ones, for samples in the order of time, such as "
                               "windows of a series, whose neighbours are much alike.")},
                       [](auto& c) -> auto& { return c.task.held; }),
                   namesUpTo(Held::Last))),
        when([](const RunConfig& c) { return choosesHeld(c) && c.task.held == Held::Last; },
             in(ofRun(
                    {"data.gap", phrase("Settings", "Gap before them"), kNoUnit,
                     phrase("Settings",
                            "The samples before those that are held back which are not trained "
                            "on, so that none of them shares values with one that is held "
                            "back: of windows that begin one value after the other, the length "
                            "less 1.")},
                    [](auto& c) -> auto& { return c.task.gap; }),
                {0, 1e6, Bound::Closed})),
        when([](const RunConfig& c) { return canStratify(c.task); },
             ofRun(
                 {"data.stratify", phrase("Settings", "Stratify"), kNoUnit,
                  phrase("Settings",
                         "The same share of each class is held back, so that a class of two "
                         "samples or more is both trained on and judged, unless fewer samples are "
                         "held back than there are such classes. Otherwise chance may hold back "
                         "none of a rare class, or all of it.")},
                 [](auto& c) -> auto& { return c.task.stratify; })),
        when([](const RunConfig& c) { return canTest(c.task); },
             in(ofRun(
                    {"data.test_share", phrase("Settings", "Test share"), kNoUnit,
                     phrase("Settings",
                            "The share of the samples to validate on that is kept for a test: no "
                            "validation sees them, and each lane is judged on them once, at the "
                            "end of the run. Validation looks too good once settings have been "
                            "chosen by it; the test does not.")},
                    [](auto& c) -> auto& { return c.task.testShare; }),
                {0, 1, Bound::BelowMaximum})),
    };
}

} // namespace halfscope
