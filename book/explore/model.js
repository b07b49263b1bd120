/**
 * The mean-field system, as in the library's `mfc_lb.systems.mean_field`: one server class, d = 2.
 *
 * A distribution is an array of the fractions of queues with 0, 1, ..., B packets. A policy maps
 * such a distribution and the arrival level (0 is high, 1 is low) to the relative arrival rates
 * λ(z)/λ of the fillings. The equations are those of the page on the mean-field limit.
 */
(function () {
  "use strict";
  const mfcLb = (window.mfcLb = window.mfcLb || {});

  const { bufferSize, serviceRate } = window.mfcLbData.parameters;
  const NUM_FILLINGS = bufferSize + 1;
  const HORIZON = 500;

  /** Replace p by (I + Q/Λ) p, with the chances `up` and `down` of an event at the rate Λ. */
  function jump(p, up, down) {
    const full = up * p[bufferSize];
    p[NUM_FILLINGS] += full;
    let arrived = down * p[0]; // at an empty queue, nothing is served
    for (let filling = 0; filling < bufferSize; filling += 1) {
      const risen = up * p[filling];
      p[filling] = arrived + down * p[filling + 1];
      arrived = risen;
    }
    p[bufferSize] = arrived + full;
  }

  /**
   * Return exp(Q t) p for the extended rate matrix Q of a queue, by uniformisation: a sum over the
   * number of events in a Poisson process of rate Λ = r + α. All terms are positive, so nothing
   * cancels; terms are left out once they are below rounding.
   * @param {number[]} start - Fractions of the fillings, and in the last entry the drops.
   * @param {number} rate - Arrival rate r.
   * @param {number} duration - Time t, with Λ t < 700.
   * @returns {number[]} The same after that time.
   */
  function advance(start, rate, duration) {
    const uniform = rate + serviceRate;
    const [up, down] = [rate / uniform, serviceRate / uniform];
    const mean = uniform * duration;
    const term = start.slice();
    let weight = Math.exp(-mean);
    const sum = term.map((entry) => weight * entry);
    for (let events = 1; events <= mean || weight * events > 1e-18; events += 1) {
      jump(term, up, down);
      weight *= mean / events;
      for (let entry = 0; entry < sum.length; entry += 1) sum[entry] += weight * term[entry];
    }
    return sum;
  }

  /** Return a vector of zeros but for one entry. */
  function unitVector(length, entry, value) {
    const vector = new Array(length).fill(0);
    vector[entry] = value;
    return vector;
  }

  /** Return the queues as columns, one for each arrival rate: those with the same move alike. */
  function byRate(nu, arrivalRates) {
    const columns = new Map();
    nu.forEach((fraction, filling) => {
      const rate = arrivalRates[filling];
      if (!columns.has(rate)) columns.set(rate, unitVector(NUM_FILLINGS + 1, filling, fraction));
      else columns.get(rate)[filling] = fraction;
    });
    return [...columns];
  }

  /** Return the sum of columns: the fractions of all queues, and the drops in the last entry. */
  function total(columns) {
    return columns.reduce((sum, column) => sum.map((entry, index) => entry + column[index]));
  }

  /**
   * Follow all queues through one epoch.
   * @param {number[]} nu - Distribution at its beginning.
   * @param {number[]} arrivalRates - Arrival rate λ(z) of each filling.
   * @param {number} deltaT - Length of the epoch.
   * @param {number} [parts] - Number of times, evenly spaced, at which to look.
   * @returns {{nu: number[], drops: number}[]} Distribution, and drops since the beginning.
   */
  function epoch(nu, arrivalRates, deltaT, parts = 1) {
    let columns = byRate(nu, arrivalRates);
    return Array.from({ length: parts }, () => {
      columns = columns.map(([rate, column]) => [rate, advance(column, rate, deltaT / parts)]);
      const all = total(columns.map(([, column]) => column));
      return { nu: all.slice(0, NUM_FILLINGS), drops: all[NUM_FILLINGS] };
    });
  }

  /** Relative rates of random routing: 1 for every filling. */
  function randomRates(nu) {
    return nu.map(() => 1);
  }

  /** Relative rates of JSQ(2): T(z) + T(z+1), with T(z) the fraction with at least z packets. */
  function shortestQueueRates(nu) {
    const rates = nu.slice();
    let tail = 0;
    for (let z = bufferSize; z >= 0; z -= 1) {
      rates[z] = tail + (tail + nu[z]);
      tail += nu[z];
    }
    return rates;
  }

  /** Relative rates of a score rule: 2 Σ ν(i) / (1 + exp(g(i) − g(z))). */
  function scoreRates(scores, nu) {
    const wins = (own) => (sum, fraction, i) => sum + fraction / (1 + Math.exp(scores[i] - own));
    return nu.map((_, z) => 2 * nu.reduce(wins(scores[z]), 0));
  }

  /** Return the tensors in a safetensors file: a header in JSON, and float64 numbers. */
  function readTensors(bytes) {
    const start = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
    const tensors = {};
    for (const [
      name,
      {
        shape,
        data_offsets: [from, to],
      },
    ] of Object.entries(header)) {
      const values = new Float64Array(bytes.buffer.slice(start + from, start + to));
      tensors[name] = { shape, values };
    }
    return tensors;
  }

  /** Return one row of a tensor. */
  function row({ shape, values }, index) {
    return values.subarray(index * shape[1], (index + 1) * shape[1]);
  }

  /** Return offset + vector · matrix. */
  function affine(offset, vector, matrix) {
    const sum = Array.from(offset);
    vector.forEach((factor, index) => {
      const weights = row(matrix, index);
      for (let entry = 0; entry < sum.length; entry += 1) sum[entry] += factor * weights[entry];
    });
    return sum;
  }

  /** Return a trained network's scores of the fillings. */
  function networkScores(weights, nu, level) {
    const base = row(weights.base, level);
    if (!weights.out) return base;
    const seen = affine(row(weights.from_level, level), nu, weights.from_distribution);
    const first = seen.map(Math.tanh);
    const second = affine(weights.hidden_bias.values, first, weights.hidden).map(Math.tanh);
    return affine(base, second, weights.out);
  }

  const learned = window.mfcLbData.policies.map(({ file, ...card }) => {
    const bytes = Uint8Array.from(atob(file), (character) => character.charCodeAt(0));
    return { ...card, weights: readTensors(bytes) };
  });

  /**
   * Return the learned policy whose delay is nearest; of two equally near, that of the longer one.
   * @param {number} deltaT - Delay Δt.
   */
  function nearestLearned(deltaT) {
    const distance = (one) => Math.abs(one.deltaT - deltaT);
    return learned.reduce((best, next) => (distance(next) <= distance(best) ? next : best));
  }

  /**
   * Return a policy: a function of a distribution and an arrival level.
   * @param {"random"|"softmin"|"jsq"|"learned"} name
   * @param {{deltaT: number, beta: number}} settings - Delay, which chooses a learned policy, and
   *     sharpness of softmin.
   * @returns {function(number[], number): number[]} Relative arrival rates λ(z)/λ.
   */
  function policy(name, { deltaT, beta }) {
    const { weights } = nearestLearned(deltaT);
    const softminScores = Array.from({ length: NUM_FILLINGS }, (_, z) => -beta * z);
    return {
      random: randomRates,
      jsq: shortestQueueRates,
      softmin: (nu) => scoreRates(softminScores, nu),
      learned: (nu, level) => scoreRates(networkScores(weights, nu, level), nu),
    }[name];
  }

  /**
   * Return the number of epochs in 500 units of time; like Python's `round`, halves go to even.
   * @param {number} deltaT - Delay Δt.
   */
  function numEpochs(deltaT) {
    const exact = HORIZON / deltaT;
    const half = exact % 1 === 0.5;
    return Math.max(1, half ? 2 * Math.round(exact / 2) : Math.round(exact));
  }

  /**
   * Simulate the mean field from empty queues.
   * @param {function(number[], number): number[]} relativeRates - A policy.
   * @param {number[]} levels - Arrival level in each epoch.
   * @param {number[]} rates - Arrival rate λ of each level.
   * @param {number} deltaT - Delay Δt.
   * @returns {{distributions: number[][], arrivalRates: number[][], drops: number[]}}
   *     Distributions at the beginning of each epoch and at the end; rates λ(z) and drops per queue
   *     in each epoch.
   */
  function simulate(relativeRates, levels, rates, deltaT) {
    const distributions = [unitVector(NUM_FILLINGS, 0, 1)];
    const arrivalRates = [];
    const drops = [];
    for (const level of levels) {
      const present = distributions.at(-1);
      arrivalRates.push(relativeRates(present, level).map((share) => rates[level] * share));
      const [end] = epoch(present, arrivalRates.at(-1), deltaT);
      distributions.push(end.nu);
      drops.push(end.drops);
    }
    return { distributions, arrivalRates, drops };
  }

  Object.assign(mfcLb, { advance, epoch, policy, nearestLearned, numEpochs, simulate });
})();
