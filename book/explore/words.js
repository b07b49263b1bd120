/** What the page says in words, and how it writes numbers. */
(function () {
  "use strict";
  const mfcLb = (window.mfcLb = window.mfcLb || {});

  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
  const plain = (value) =>
    value > 0 && value < 0.001 ? powerOfTen(value, 1) : value.toFixed(value < 1 ? 4 : 2);
  const short = (value) => String(Number(value.toFixed(4)));
  const percent = (share) => `${(100 * share).toFixed(1)}\u00a0%`;

  /** Write a number below one with a power of ten, with all its digits or so many decimals. */
  function powerOfTen(value, decimals) {
    const [digits, exponent] = value.toExponential(decimals).split("e-");
    return `${digits}·10⁻${exponent.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit])}`;
  }

  /** Return a policy's name for readers. */
  function label(name, { beta }) {
    const names = { random: "random", softmin: `softmin(${beta})`, jsq: "JSQ(2)" };
    return names[name] || "learned";
  }

  /** Return the change from one number of drops to another, in percent. */
  function change(from, to) {
    const percents = (100 * (to / from - 1)).toFixed(1);
    const sign = percents > 0 ? "+" : "−";
    return from > 0 && Number(percents) !== 0
      ? `${sign}${percents.replace("-", "")}\u00a0%`
      : "±0\u00a0%";
  }

  /** Say how many packets are lost on the whole path. */
  function totalInWords({ settings, levels, runs }) {
    const { dt, policy } = settings;
    const [lost, reference] = [policy, "random"].map((name) => sum(runs[name].drops));
    const all =
      `With news every Δt = ${dt}, ${label(policy, settings)} loses ${plain(lost)} packets per ` +
      `queue in ${levels.length} epochs (${short(levels.length * dt)} units of time).`;
    const versus = `${plain(reference)} on the same demand (${change(reference, lost)} from there).`;
    return policy === "random" ? all : `${all} Random routing loses ${versus}`;
  }

  /** Say what happens in the epoch that is shown. */
  function epochInWords({ settings, levels, runs }) {
    const { dt, policy, epoch, high, low } = settings;
    const { arrivalRates, drops } = runs[policy];
    const demand = levels[epoch] === 0 ? `high demand, λ = ${high}` : `low demand, λ = ${low}`;
    const [empty, full] = [arrivalRates[epoch][0], arrivalRates[epoch].at(-1)].map(plain);
    return (
      `Epoch ${epoch} begins at time ${short(epoch * dt)} with ${demand}. In it, a queue that was ` +
      `reported empty receives ${empty} packets per unit of time, and one that was reported full ` +
      `receives ${full}; ${plain(drops[epoch])} packets per queue are lost.`
    );
  }

  /** Sum up the page in a few sentences. */
  function summary(state) {
    return `${totalInWords(state)} ${epochInWords(state)}`;
  }

  /** Say for which system the learned policy was trained, and what it does not know of this one. */
  function learnedNote({ dt, high, low }) {
    const { deltaT, rates } = mfcLb.nearestLearned(dt);
    const trained = `The learned policy shown was trained for Δt = ${deltaT}`;
    const [sameDelay, sameRates] = [deltaT === dt, rates[0] === high && rates[1] === low];
    if (sameDelay && sameRates) return `${trained} and these arrival rates.`;
    const nearest = sameDelay ? "" : " (the nearest delay for which there is one)";
    const unseen = " It sees only whether demand is high or low, not the two rates.";
    return (
      `${trained}${nearest} and the rates ${rates.join(" and ")}: here it is used outside its ` +
      `training.${sameRates ? "" : unseen}`
    );
  }

  /** Say what of an address is not shown as it stands there, if anything. */
  function refusal({ outside, unknown, crossed }, { high }) {
    const sentences = [
      outside.length > 0 && `Not in its range, so the default is shown: ${outside.join(", ")}.`,
      unknown.length > 0 && `Not a setting of this page: ${unknown.join(", ")}.`,
      crossed && `The rate in low demand cannot be above that in high demand: both are ${high}.`,
    ];
    return sentences.filter(Boolean).join(" ");
  }

  /** Say that what was typed into a field of whole numbers is none of them. */
  function notTaken({ min, max }, kept) {
    return `A seed is a whole number from ${min} to ${max}; it stays ${kept}.`;
  }

  Object.assign(mfcLb, { sum, plain, short, percent, change, label, summary, learnedNote });
  Object.assign(mfcLb, { refusal, notTaken, powerOfTen });
})();
