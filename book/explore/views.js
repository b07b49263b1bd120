/** What the page shows of a state: `settings`, `levels`, and a `run` of each policy by name. */
(function () {
  "use strict";
  const mfcLb = (window.mfcLb = window.mfcLb || {});

  const { sum, plain, short, percent, change, label } = mfcLb;
  const { looks, fillings: COLORS, grey } = window.mfcLbData;
  const POLICIES = Object.keys(looks);
  const WINDOW = 100; // units of time that the first figure shows
  const MIN_WIDTH = 200; // a place that is not laid out yet has none
  const TIME = "time (mean service times)";

  const PANELS = ["fractions", "fractions-random", "rates", "epoch-drops", "total-drops"];

  const widths = {};
  const host = (name) => document.getElementById(`explore-${name}`);

  /** Return the row of a policy in the table of drops. */
  function policyRow(name, { settings, levels, runs }) {
    const lost = sum(runs[name].drops);
    const arrived = settings.dt * sum(levels.map((level) => [settings.high, settings.low][level]));
    const swatch = mfcLb.element("svg", { viewBox: "-6 -6 12 12", "aria-hidden": "true" });
    swatch.append(mfcLb.marker(looks[name], 0, 0));
    const versus = name === "random" ? "–" : change(sum(runs.random.drops), lost);
    const cells = [plain(lost), versus, arrived > 0 ? percent(lost / arrived) : "–"];
    const row = tableRow([label(name, settings), ...cells]);
    row.firstChild.prepend(swatch);
    row.classList.toggle("chosen", name === settings.policy);
    return row;
  }

  /** Return a table's row whose first cell is its header. */
  function tableRow([header, ...cells]) {
    const row = document.createElement("tr");
    const cell = (text, name) => Object.assign(document.createElement(name), { textContent: text });
    row.append(cell(header, "th"), ...cells.map((text) => cell(text, "td")));
    row.firstChild.scope = "row";
    return row;
  }

  /** Fill both tables. */
  function showTables(state) {
    const { policy, epoch } = state.settings;
    const run = state.runs[policy];
    host("totals").replaceChildren(...POLICIES.map((name) => policyRow(name, state)));
    const rows = Array.from(run.distributions[epoch], (fraction, filling) =>
      tableRow([String(filling), fraction.toFixed(4), run.arrivalRates[epoch][filling].toFixed(4)]),
    );
    host("epoch-table").replaceChildren(...rows);
  }

  /** Return the first epoch of the window that is shown, and the one after its last. */
  function shownEpochs({ settings: { dt, epoch }, levels }) {
    const length = Math.max(1, Math.round(WINDOW / dt));
    // The last window is as long as the others: it begins earlier.
    const last = Math.max(0, levels.length - length);
    const first = Math.min(Math.floor(epoch / length) * length, last);
    return [first, Math.min(first + length, levels.length)];
  }

  /** Return times, and the fractions of each filling at them, within the shown epochs. */
  function fractionsOverTime(run, dt, [first, end]) {
    const parts = Math.max(1, Math.round(2 * dt));
    const seen = [{ time: first * dt, nu: run.distributions[first] }];
    for (let epoch = first; epoch < end; epoch += 1) {
      const inside = mfcLb.epoch(run.distributions[epoch], run.arrivalRates[epoch], dt, parts);
      inside.forEach(({ nu }, part) => seen.push({ time: dt * (epoch + (part + 1) / parts), nu }));
    }
    return [seen.map(({ time }) => time), COLORS.map((_, z) => seen.map(({ nu }) => nu[z]))];
  }

  /** Measure the places of the panels; reading a width makes the browser lay out the page. */
  function measure() {
    for (const name of PANELS) widths[name] = Math.max(MIN_WIDTH, host(name).clientWidth);
  }

  /** Return a new, empty panel as wide as its place on the page. */
  function openPanel(name, options) {
    return new mfcLb.Panel(host(name), { width: widths[name], ...options });
  }

  /** Draw how full the queues are over time, under one policy. */
  function showFractions(name, panelName, height, state) {
    const { settings, runs } = state;
    const { dt, epoch } = settings;
    const shown = shownEpochs(state);
    const xRange = shown.map((boundary) => boundary * dt);
    const nu = runs[name].distributions[epoch];
    const panel = openPanel(panelName, {
      height,
      xRange,
      yMax: 1,
      yTicks: [0, 0.5, 1],
      xLabel: TIME,
      yLabel: panelName === "fractions" ? "fraction of queues" : "random",
      description:
        `Stacked bands over time: fractions of the queues with 0 to ${nu.length - 1} packets, ` +
        `${label(name, settings)}, time ${xRange.map(short).join(" to ")}. At time ` +
        `${short(epoch * dt)}, ${percent(nu[0])} are empty and ${percent(nu.at(-1))} full.`,
    });
    panel.bands(...fractionsOverTime(runs[name], dt, shown), COLORS);
    drawNews(panel, shown, dt);
    drawDemand(panel, shown, state);
    panel.pointer(epoch * dt);
    panel.axes(mfcLb.ticks(...xRange, 5));
  }

  /** Mark the times of news, unless they are too many to be told apart. */
  function drawNews(panel, [first, end], dt) {
    if (panel.x(dt) - panel.x(0) < 8) return;
    for (let epoch = first + 1; epoch < end; epoch += 1) {
      panel.line(
        [
          [epoch * dt, 0],
          [epoch * dt, 1],
        ],
        { class: "news" },
      );
    }
  }

  /** Draw a strip above the panel: dark while demand is high, light while it is low. */
  function drawDemand(panel, [first, end], { settings: { dt }, levels }) {
    for (let epoch = first; epoch < end; epoch += 1) {
      const [x, until] = [panel.x(epoch * dt), panel.x((epoch + 1) * dt)];
      const fill = levels[epoch] === 0 ? grey : "#cccccc";
      panel.draw("rect", { class: "demand", x, width: until - x, y: 2, height: 6, fill });
    }
  }

  /** Draw the arrival rate of each filling in the epoch, over bars of the fractions. */
  function showRates({ settings, levels, runs }) {
    const { policy, epoch, high, low } = settings;
    const { distributions, arrivalRates } = runs[policy];
    const [nu, rates] = [distributions[epoch], Array.from(arrivalRates[epoch])];
    const yMax = Math.max(1.1, 2 * high);
    const panel = openPanel("rates", {
      height: 250,
      xRange: [-0.5, nu.length - 0.5],
      yMax,
      yTicks: mfcLb.ticks(0, yMax, 4),
      xLabel: "packets at the last news",
      yLabel: "arrival rate",
      description:
        `Arrival rates of queues with 0 to ${nu.length - 1} packets at the last news, ` +
        `${label(policy, settings)}, epoch ${epoch}: ${rates.map(plain).join(", ")}.`,
    });
    drawBars(panel, nu);
    panel.reference(1, "service rate");
    drawMarkedLine(
      panel,
      runs.random.arrivalRates[epoch].map(() => [high, low][levels[epoch]]),
      "random",
      0.6,
    );
    drawMarkedLine(panel, rates, policy, 1);
    panel.axes([...nu.keys()]);
  }

  /** Draw the fractions of the queues as bars. */
  function drawBars(panel, nu) {
    nu.forEach((fraction, z) => {
      const [x, y] = [panel.x(z - 0.35), panel.y(fraction)];
      const size = { width: panel.x(z + 0.35) - x, height: panel.y(0) - y };
      panel.draw("rect", { class: "bar", x, y, ...size, fill: "#dddddd" });
    });
  }

  /** Draw values by filling in a policy's colour, with its markers. */
  function drawMarkedLine(panel, values, name, opacity) {
    const points = Array.from(values, (value, z) => [z, value]);
    panel.line(points, { stroke: looks[name].color, "stroke-width": 1.8, opacity });
    for (const [x, y] of points) {
      panel.svg.append(mfcLb.marker(looks[name], panel.x(x), panel.y(y)));
    }
  }

  /** Return where an axis ends for values that are not negative. */
  function endAbove(values) {
    return 1.05 * Math.max(...values) || 1;
  }

  /** Draw the drops of each epoch, of the chosen policy and of random routing. */
  function showEpochDrops({ settings, levels, runs }) {
    const { policy, dt, epoch } = settings;
    const end = levels.length * dt;
    const yMax = endAbove([...runs[policy].drops, ...runs.random.drops]);
    const panel = openPanel("epoch-drops", {
      height: 190,
      xRange: [0, end],
      yMax,
      yTicks: mfcLb.ticks(0, yMax, 4),
      xLabel: TIME,
      yLabel: "drops per epoch",
      description:
        `Drops per queue in each epoch, ${label(policy, settings)} and random routing. In epoch ` +
        `${epoch}: ${plain(runs[policy].drops[epoch])} and ${plain(runs.random.drops[epoch])}.`,
    });
    for (const name of new Set(["random", policy])) {
      const steps = runs[name].drops.flatMap((lost, at) => [
        [at * dt, lost],
        [(at + 1) * dt, lost],
      ]);
      panel.line(steps, lineStyle(name, policy));
    }
    panel.pointer(epoch * dt);
    panel.axes(mfcLb.ticks(0, end, 5));
  }

  /** The chosen policy's line is strong, the others' are faint. */
  function lineStyle(name, chosen) {
    const strong = name === chosen;
    return {
      stroke: looks[name].color,
      "stroke-width": strong ? 2.2 : 1.2,
      opacity: strong ? 1 : 0.6,
    };
  }

  /** Draw the drops so far, of all policies. */
  function showTotalDrops({ settings, levels, runs }) {
    const { policy, dt, epoch } = settings;
    const totals = POLICIES.map((name) => sum(runs[name].drops));
    const [end, yMax] = [levels.length * dt, endAbove(totals)];
    const panel = openPanel("total-drops", {
      height: 250,
      xRange: [0, end],
      yMax,
      yTicks: mfcLb.ticks(0, yMax, 4),
      xLabel: TIME,
      yLabel: "drops so far",
      description:
        "Drops per queue since the beginning. At the end: " +
        `${POLICIES.map((name, index) => `${label(name, settings)} ${plain(totals[index])}`).join(", ")}.`,
    });
    for (const name of [...POLICIES.filter((other) => other !== policy), policy]) {
      let lost = 0;
      const points = [
        [0, 0],
        ...runs[name].drops.map((more, at) => [(at + 1) * dt, (lost += more)]),
      ];
      panel.line(points, lineStyle(name, policy));
      panel.svg.append(mfcLb.marker(looks[name], panel.x(end), panel.y(lost)));
    }
    panel.pointer(epoch * dt);
    panel.axes(mfcLb.ticks(0, end, 5));
  }

  /** Write what the bands' colours mean. */
  function showLegend() {
    const entries = COLORS.map((color, filling) => {
      const swatch = document.createElement("i");
      swatch.style.backgroundColor = color;
      const entry = document.createElement("span");
      entry.append(swatch, ` ${filling}`);
      return entry;
    });
    host("legend").append(...entries);
  }

  /** Draw all figures. */
  function showFigures(state) {
    showFractions(state.settings.policy, "fractions", 250, state);
    showFractions("random", "fractions-random", 130, state);
    showRates(state);
    showEpochDrops(state);
    showTotalDrops(state);
  }

  Object.assign(mfcLb, {
    POLICIES,
    showLegend,
    measure,
    showTables,
    showFigures,
  });
})();
