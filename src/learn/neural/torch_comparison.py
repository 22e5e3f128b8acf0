"""What PyTorch makes of the networks that torch_comparison_test.cc writes.

    torch_comparison.py dense|vae FOLDER CASES

For each case N reads FOLDER/N.given and writes FOLDER/N.answer: a matrix a line, its name, rows, columns and values,
row by row. Everything is computed in double, so that what differs is the rounding of perfcast's floats. Exit status 77:
PyTorch is not installed.
"""
import itertools
import sys

try:
    import torch
    from torch.distributions import Normal, kl_divergence
except ImportError as error:
    print(error)
    sys.exit(77)


def read(path):
    matrices = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            name, rows, columns, *values = line.split()
            matrices[name] = torch.tensor([float(v) for v in values]).reshape(int(rows), int(columns))
    return matrices


def write(path, matrices):
    with open(path, "w", encoding="ascii") as file:
        for name, matrix in matrices.items():
            matrix = torch.atleast_2d(matrix)  # of a scalar
            values = " ".join(repr(v) for v in matrix.detach().flatten().tolist())
            file.write(f"{name} {matrix.shape[0]} {matrix.shape[1]} {values}\n")


def network(given, name):
    modules = []
    for i in itertools.count():
        weights = given.get(f"{name}.{i}.weights")
        if weights is None:
            return torch.nn.Sequential(*modules[:-1])  # the output is linear
        linear = torch.nn.Linear(*weights.shape)
        linear.weight.data = weights.T.contiguous()
        linear.bias.data = given[f"{name}.{i}.bias"].flatten()
        modules += [linear, torch.nn.ReLU()]


def layers(net, name, of):
    """Weights (inputs x outputs) and biases, or, by `of`, their gradients."""
    found = {}
    for i, linear in enumerate(m for m in net if isinstance(m, torch.nn.Linear)):
        found[f"{name}.{i}.weights"] = of(linear.weight).T
        found[f"{name}.{i}.bias"] = of(linear.bias).reshape(-1, 1)
    return found


def gradient_of(parameter):
    return parameter.grad.clone()


def dense(given):
    net = network(given, "network")
    rate, first_decay, second_decay, epsilon, weight_decay, steps = given["adam"].flatten().tolist()
    decayed = {"params": [p for p in net.parameters() if p.dim() == 2], "weight_decay": weight_decay}
    plain = {"params": [p for p in net.parameters() if p.dim() == 1], "weight_decay": 0}
    adam = torch.optim.AdamW([decayed, plain], lr=rate, betas=(first_decay, second_decay), eps=epsilon)
    answer = {}
    for _ in range(int(steps)):
        adam.zero_grad()
        output = net(given["inputs"])
        squares = torch.nn.functional.mse_loss(output, given["targets"], reduction="none")
        loss = 0.5 * (given["weights"] * squares).sum() / given["weights"].sum()
        loss.backward()
        if not answer:
            answer = {"output": output, "loss": loss, **layers(net, "gradient", gradient_of)}
        adam.step()
    return {**answer, "stepped.loss": loss, **layers(net, "stepped", lambda parameter: parameter)}


def vae(given):
    encoder, decoder = network(given, "encoder"), network(given, "decoder")
    inputs, noise = given["inputs"], given["noise"]
    fixed_sigma, kl_weight = given["options"].flatten().tolist()
    rows = len(inputs)
    x, mask = inputs.chunk(2, dim=1)
    present = mask == 1

    mean, raw = encoder(inputs).chunk(2, dim=1)
    posterior = Normal(mean, torch.exp(0.5 * 12 * torch.tanh(raw / 12)))
    latent = posterior.mean + posterior.stddev * noise
    output = decoder(latent)
    if fixed_sigma > 0:
        sigma = torch.tensor(fixed_sigma)
    else:  # calibrated: the gradient flows through it
        log_sigma = torch.nn.functional.mse_loss(output[present], x[present]).sqrt().log()
        sigma = torch.exp(-6 + torch.nn.functional.softplus(log_sigma + 6))
    reconstruction = -Normal(output[present], sigma).log_prob(x[present]).sum() / rows
    kl = kl_divergence(posterior, Normal(0.0, 1.0)).sum() / rows
    (reconstruction + kl_weight * kl + (given["latent_gradient"] * latent).sum()).backward()
    return {"latent": latent, "output": output, "reconstruction": reconstruction, "kl": kl,
            "sigma": sigma, **layers(encoder, "encoder", gradient_of),
            **layers(decoder, "decoder", gradient_of)}


def main():
    task, folder, cases = sys.argv[1], sys.argv[2], int(sys.argv[3])
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    for case in range(cases):
        write(f"{folder}/{case}.answer", {"dense": dense, "vae": vae}[task](read(f"{folder}/{case}.given")))


main()
