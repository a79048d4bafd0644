// One row a setting that PyTorch has, too. A setting without a row is Halfscope's own.
#include "engine/settings/pytorch_names.h"

#include <algorithm>
#include <array>

namespace halfscope {
namespace {

struct PyTorchName {
    std::string_view key, name;
};

constexpr std::array kPyTorchNames{
    PyTorchName{"task.batch", "`batch_size` of `torch.utils.data.DataLoader`"},
    PyTorchName{"data.last_batch", "`drop_last` of `torch.utils.data.DataLoader`"},
    PyTorchName{"data.shuffle", "`shuffle` of `torch.utils.data.DataLoader`"},
    PyTorchName{"data.workers", "`num_workers` of `torch.utils.data.DataLoader`, which are "
                                "processes there"},
    PyTorchName{"data.grey", "`torchvision.transforms.Grayscale`"},
    PyTorchName{"data.flip", "`torchvision.transforms.RandomHorizontalFlip`"},
    PyTorchName{"data.crop", "`padding` of `torchvision.transforms.RandomCrop`"},
    PyTorchName{"data.mean", "`mean` of `torchvision.transforms.Normalize`"},
    PyTorchName{"data.std", "`std` of `torchvision.transforms.Normalize`"},
    PyTorchName{"task.loss", "a module such as `torch.nn.MSELoss` or `torch.nn.CrossEntropyLoss`"},
    PyTorchName{"task.loss_delta", "`delta` of `torch.nn.HuberLoss`, `beta` of "
                                   "`torch.nn.SmoothL1Loss`"},
    PyTorchName{"task.label_smoothing", "`label_smoothing` of `torch.nn.CrossEntropyLoss`"},
    PyTorchName{"task.class_weights", "`weight` of `torch.nn.CrossEntropyLoss`"},
    PyTorchName{"model.width", "`out_features` of each hidden `torch.nn.Linear`"},
    PyTorchName{"model.norm", "`torch.nn.BatchNorm1d`, `torch.nn.LayerNorm`"},
    PyTorchName{"model.activation", "a module such as `torch.nn.ReLU`"},
    PyTorchName{"model.layers", "`torch.nn.Sequential`"},
    PyTorchName{"model.critic", "`torch.nn.Sequential`"},
    PyTorchName{"model.weights", "`load_state_dict()` of the network"},
    PyTorchName{"model.partial_weights", "`strict=False` of `load_state_dict()`"},
    PyTorchName{"optimizer.kind", "a class of `torch.optim`"},
    PyTorchName{"optimizer.lr", "`lr` of the optimizer"},
    PyTorchName{"optimizer.beta1", "the first of the optimizer's `betas`"},
    PyTorchName{"optimizer.beta2", "the second of the optimizer's `betas`"},
    PyTorchName{"optimizer.eps", "`eps` of the optimizer"},
    PyTorchName{"optimizer.weight_decay", "`weight_decay` of the optimizer"},
    PyTorchName{"optimizer.momentum", "`momentum` of the optimizer"},
    PyTorchName{"optimizer.dampening", "`dampening` of `torch.optim.SGD`"},
    PyTorchName{"optimizer.nesterov", "`nesterov` of `torch.optim.SGD`"},
    PyTorchName{"optimizer.amsgrad", "`amsgrad` of `torch.optim.Adam` and `torch.optim.AdamW`"},
    PyTorchName{"optimizer.alpha",
                "`alpha` of `torch.optim.RMSprop`, `rho` of `torch.optim.Adadelta`"},
    PyTorchName{"optimizer.centered", "`centered` of `torch.optim.RMSprop`"},
    PyTorchName{"optimizer.second_kind", "a class of `torch.optim`"},
    PyTorchName{"optimizer.second_lr", "`lr` of the second optimizer"},
    PyTorchName{"schedule.kind", "a class of `torch.optim.lr_scheduler`"},
    PyTorchName{"schedule.max_lr", "`max_lr` of `OneCycleLR`"},
    PyTorchName{"schedule.total_steps", "`total_steps` of `OneCycleLR`, `T_max` of "
                                        "`CosineAnnealingLR`, `total_iters` of `LinearLR` and "
                                        "`PolynomialLR`"},
    PyTorchName{"schedule.warmup_steps", "`LinearLR` before the schedule in a `SequentialLR`"},
    PyTorchName{"schedule.pct_start", "`pct_start` of `OneCycleLR`"},
    PyTorchName{"schedule.div_factor", "`div_factor` of `OneCycleLR`"},
    PyTorchName{"schedule.final_div_factor", "`final_div_factor` of `OneCycleLR`"},
    PyTorchName{"schedule.anneal", "`anneal_strategy` of `OneCycleLR`"},
    PyTorchName{"schedule.three_phase", "`three_phase` of `OneCycleLR`"},
    PyTorchName{"schedule.cycle_momentum", "`cycle_momentum` of `OneCycleLR`"},
    PyTorchName{"schedule.base_momentum", "`base_momentum` of `OneCycleLR`"},
    PyTorchName{"schedule.max_momentum", "`max_momentum` of `OneCycleLR`"},
    PyTorchName{"schedule.start_factor", "`start_factor` of `LinearLR`"},
    PyTorchName{"schedule.end_factor", "`end_factor` of `LinearLR`"},
    PyTorchName{"schedule.step_size", "`step_size` of `StepLR`"},
    PyTorchName{"schedule.milestones", "`milestones` of `MultiStepLR`"},
    PyTorchName{"schedule.gamma", "`gamma` of `StepLR`, `MultiStepLR` and `ExponentialLR`, "
                                  "`factor` of `ReduceLROnPlateau`"},
    PyTorchName{"schedule.power", "`power` of `PolynomialLR`"},
    PyTorchName{"schedule.min_lr", "`eta_min` of `CosineAnnealingLR` and "
                                   "`CosineAnnealingWarmRestarts`, `min_lr` of "
                                   "`ReduceLROnPlateau`"},
    PyTorchName{"schedule.period", "`T_0` of `CosineAnnealingWarmRestarts`"},
    PyTorchName{"schedule.period_factor", "`T_mult` of `CosineAnnealingWarmRestarts`"},
    PyTorchName{"schedule.patience", "`patience` of `ReduceLROnPlateau`"},
    PyTorchName{"schedule.threshold", "`threshold` of `ReduceLROnPlateau`"},
    PyTorchName{"schedule.cooldown", "`cooldown` of `ReduceLROnPlateau`"},
    PyTorchName{"gradients.clip", "`torch.nn.utils.clip_grad_norm_()`, `clip_grad_value_()`"},
    PyTorchName{"gradients.clip_limit", "`max_norm` of `clip_grad_norm_()`, `clip_value` of "
                                        "`clip_grad_value_()`"},
    PyTorchName{"gradients.accumulate", "this many calls of `backward()` before `step()`"},
    PyTorchName{"gradients.penalty", "`torch.autograd.grad()` with `create_graph=True`"},
    PyTorchName{"gradients.critic_penalty", "`torch.autograd.grad()` with `create_graph=True`"},
    PyTorchName{"run.seed", "`torch.manual_seed()`, which draws other numbers"},
    PyTorchName{"run.device", "`torch.device`"},
    PyTorchName{"run.threads", "`torch.set_num_threads()`"},
    PyTorchName{"precision", "`dtype` of `torch.autocast` for amp-fp16 and amp-bf16, "
                             "`model.half()` for fp16, `model.bfloat16()` for bf16"},
    PyTorchName{"scaler.mode", "`enabled` of `torch.amp.GradScaler`: off is `False`"},
    PyTorchName{"scaler.init_scale", "`init_scale` of `torch.amp.GradScaler`"},
    PyTorchName{"scaler.growth_factor", "`growth_factor` of `torch.amp.GradScaler`"},
    PyTorchName{"scaler.backoff_factor", "`backoff_factor` of `torch.amp.GradScaler`"},
    PyTorchName{"scaler.growth_interval", "`growth_interval` of `torch.amp.GradScaler`"},
};

} // namespace

std::string_view nameInPyTorch(std::string_view key) {
    const auto row = std::find_if(kPyTorchNames.begin(), kPyTorchNames.end(),
                                  [key](const PyTorchName& each) { return each.key == key; });
    if (row != kPyTorchNames.end()) return row->name;
    // readers come from GradScaler and look for the same settings
    return key.starts_with("scaler.") ? "`torch.amp.GradScaler` has no such setting" : "";
}

} // namespace halfscope
