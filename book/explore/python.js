/** The same computation with the library, as a script, and what it prints. */
(function () {
  "use strict";
  const mfcLb = (window.mfcLb = window.mfcLb || {});

  /** Return the names to import and the lines that define `policy`. */
  function policyLines({ policy, dt, beta, high, low }) {
    const constant = (rule) => `policy = ConstantPolicy(${rule})`;
    const { name, rates } = mfcLb.nearestLearned(dt);
    const file = `"data/policies/${name}"`;
    const trained = rates[0] === high && rates[1] === low;
    const learned = trained
      ? [`policy = load_policy(${file}, parameters)`]
      : [
          `learned = load_policy(${file})`,
          "policy = lambda nu, level: learned(nu, level)  # other rates than in its training",
        ];
    return {
      random: ["ConstantPolicy, random_choice", constant("random_choice(parameters)")],
      softmin: ["ConstantPolicy, softmin", constant(`softmin(parameters, beta=${beta})`)],
      jsq: ["ConstantPolicy, join_shortest_queue", constant("join_shortest_queue(parameters)")],
      learned: ["load_policy", ...learned],
    }[policy];
  }

  /**
   * Return the script.
   * @param {object} settings - Of the page.
   * @returns {string} To be run from the repository's top folder.
   */
  function pythonScript(settings) {
    const { dt, high, low, demand, seed, epoch } = settings;
    const [names, ...policy] = policyLines(settings);
    const levels = {
      drawn: `arrivals.sample_levels(num_epochs, np.random.default_rng(${seed}))`,
      high: "np.zeros(num_epochs, dtype=int)  # always high",
      low: "np.ones(num_epochs, dtype=int)  # always low",
    }[demand];
    return `import numpy as np

from mfc_lb import ArrivalProcess, MeanFieldSystem, SystemParameters
from mfc_lb import ${names}

arrivals = ArrivalProcess(rates=(${high}, ${low}))
parameters = SystemParameters(delta_t=${dt}, arrivals=arrivals)
num_epochs = parameters.num_epochs(500)
levels = ${levels}
${policy.join("\n")}
path = MeanFieldSystem(parameters).simulate(policy, levels)
print(f"drops per queue in all epochs: {path.drops.sum():.6f}")

epoch = ${epoch}
nu, level = path.distributions[epoch], levels[epoch]
rates = policy(nu, level).arrival_rates(nu, arrivals.rates[level])
print(f"drops per queue in epoch {epoch}: {path.drops[epoch]:.6f}")
for z in range(len(nu)):
    print(f"{z} packets: fraction {nu[z]:.6f}, arrival rate {rates[z]:.6f}")
`;
  }

  /**
   * Return what the script prints.
   * @param {object} run - Of `simulate`.
   * @param {number} epoch
   */
  function pythonOutput(run, epoch) {
    const six = (value) => value.toFixed(6);
    const [nu, rates] = [run.distributions[epoch], run.arrivalRates[epoch]];
    const row = (z) => `${z} packets: fraction ${six(nu[z])}, arrival rate ${six(rates[z])}`;
    return [
      `drops per queue in all epochs: ${six(run.drops.reduce((sum, lost) => sum + lost, 0))}`,
      `drops per queue in epoch ${epoch}: ${six(run.drops[epoch])}`,
      ...Array.from(nu, (_, z) => row(z)),
    ].join("\n");
  }

  Object.assign(mfcLb, { pythonScript, pythonOutput });
})();
