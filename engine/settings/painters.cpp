// Settings as far as the publications give them; the manual lists where the presets are smaller.
#include "engine/settings/painters.h"

namespace halfscope {

namespace {

/// A network that knows a picture by its coordinates.
Preset coordinates(const char* name, Phrase title, Phrase about, const char* layers, double lr) {
    Preset made = preset(name, kExamples, title, about, "fp32,amp-fp16");
    made.config.task.kind = TaskKind::Image;
    made.config.model.layers = layers;
    made.config.optimizer.lr = lr;
    made.config.steps = 500;
    return made;
}

/// A generator and its critic on random numbers and digits, with Adam for both.
Preset adversaries(const char* name, Phrase title, Phrase about, Adversary adversary) {
    Preset made = preset(name, kExamples, title, about, "fp32,amp-fp16");
    made.config.task.kind = TaskKind::Generate;
    made.config.task.samples = 32000;
    made.config.model.adversary = adversary;
    made.config.model.layers = R"(nn.Sequential(
    nn.Linear(64, 3136), nn.Unflatten(1, (64, 7, 7)), nn.BatchNorm2d(64), nn.ReLU(),
    nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1), nn.Sigmoid(), nn.Flatten()))";
    made.config.model.critic = R"(nn.Sequential(
    nn.Unflatten(1, (1, 28, 28)),
    nn.Conv2d(1, 32, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
    nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
    nn.Flatten(), nn.Linear(3136, 1)))";
    made.config.second.kind = OptimizerKind::Adam;
    made.config.epochs = 1;
    return made;
}

} // namespace

Preset preset(const char* name, Phrase group, Phrase title, Phrase about, std::string_view lanes) {
    Preset made{name, group, title, about, defaultConfig()};
    made.config.title = title.text();
    made.config.lanes = parseLanes(lanes);
    return made;
}

/// Sitzmann et al., "Implicit Neural Representations with Periodic Activation Functions" (2020),
/// with its omega_0 = 30 and initial weights, which are for coordinates from -1 to 1. A first
/// omega_0 of 60 was tried: it takes float32 to a third of the last loss, and AMP to the same.
Preset siren() {
    return coordinates(
        "siren", phrase("Presets", "SIREN"),
        phrase("Presets",
               "Sines in place of ReLU, as in SIREN (Sitzmann and others, 2020) but in a smaller "
               "network, paint a picture in a few hundred steps so closely that no difference is "
               "seen."),
        R"(nn.Sequential(
    SineLayer(2, 128, is_first=True),
    SineLayer(128, 128),
    SineLayer(128, 128),
    SineLayer(128, 3, is_last=True)))",
        1e-3);
}

/// Tancik et al., "Fourier Features Let Networks Learn High Frequency Functions in Low Dimensional
/// Domains" (2020): 256 frequencies of deviation 10, three ReLU layers of 256 units and a sigmoid,
/// here half as large; Adam at 1e-4 on every second row and column of 512 x 512 pixels.
Preset fourier() {
    return coordinates(
        "fourier", phrase("Presets", "Fourier features"),
        phrase("Presets",
               "Random Fourier features in front of a ReLU network, smaller than that of Tancik "
               "and others (2020). Float16 rounds their angles: compare the losses at the end."),
        R"(nn.Sequential(
    FourierFeatures(2, 128, scale=10.0),
    nn.Linear(256, 128), nn.ReLU(),
    nn.Linear(128, 128), nn.ReLU(),
    nn.Linear(128, 128), nn.ReLU(),
    nn.Linear(128, 3), nn.Sigmoid()))",
        1e-3);
}

/// Radford et al., "Unsupervised Representation Learning with Deep Convolutional Generative
/// Adversarial Networks" (2015): batch norm, and Adam with beta 1 = 0.5 at 2e-4. There the
/// generator steps after the critic has; here, where both step at once, it draws digits sooner at
/// 1e-3.
Preset gan() {
    Preset made = adversaries(
        "gan", phrase("Presets", "GAN"),
        phrase("Presets", "A generator learns to draw digits by deceiving a critic, as in a small "
                          "DCGAN (Radford and others, 2015): two networks, two optimizers, one "
                          "loss scale."),
        Adversary::Gan);
    made.config.model.critic = R"(nn.Sequential(
    nn.Unflatten(1, (1, 28, 28)),
    nn.Conv2d(1, 32, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
    nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.BatchNorm2d(64), nn.LeakyReLU(0.2),
    nn.Flatten(), nn.Linear(3136, 1)))";
    made.config.optimizer.lr = 1e-3;
    made.config.second.lr = 2e-4;
    made.config.optimizer.beta1 = 0.5;
    made.config.epochs = 2;
    return made;
}

/// Gulrajani et al., "Improved Training of Wasserstein GANs" (2017), algorithm 1: beta 1 = 0, beta
/// 2 = 0.9 and a penalty of 10. In place of five steps, the critic takes one at twice the
/// generator's rate, as in Heusel et al., "GANs Trained by a Two Time-Scale Update Rule" (2017).
Preset wganGp() {
    Preset made = adversaries(
        "wgan-gp", phrase("Presets", "WGAN-GP"),
        phrase("Presets", "The critic's slope is kept near 1, as in WGAN-GP (Gulrajani and others, "
                          "2017) but with one critic step, not five, and larger rates: a second "
                          "backward pass through scaled gradients."),
        Adversary::WganGp);
    made.config.optimizer.lr = 5e-4;
    made.config.second.lr = 1e-3;
    made.config.optimizer.beta1 = 0;
    made.config.optimizer.beta2 = 0.9;
    return made;
}

} // namespace halfscope
