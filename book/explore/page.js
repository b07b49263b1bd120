/**
 * The live page: from controls to numbers to figures, whenever a control moves.
 *
 * In the console, `mfcLb.shown()` returns what the page shows, and `mfcLb.compute(settings)` what
 * it would show of other settings.
 */
(function () {
  "use strict";
  const mfcLb = (window.mfcLb = window.mfcLb || {});

  const QUIET = 500; // milliseconds without a change, after which a screen reader is told
  const form = document.getElementById("explore");
  const part = (name) => document.getElementById(`explore-${name}`);

  let state;
  let announcement;

  /** Return the path of arrival levels that the settings ask for. */
  function pathOfLevels({ demand, seed, dt }) {
    const count = mfcLb.numEpochs(dt);
    if (demand === "drawn") return mfcLb.drawLevels(seed, count);
    return new Array(count).fill(demand === "high" ? 0 : 1);
  }

  /**
   * Simulate all policies on the same path of arrival levels.
   * @param {object} settings - `dt`, `high`, `low`, `beta`, `demand`, `seed` and, for what is shown
   *     only, `policy` and `epoch`.
   * @returns {{settings: object, levels: number[], runs: Object<string, object>}} See `simulate`.
   */
  function compute(settings) {
    const { dt, high, low, beta } = settings;
    const levels = pathOfLevels(settings);
    const run = (name) =>
      mfcLb.simulate(mfcLb.policy(name, { deltaT: dt, beta }), levels, [high, low], dt);
    const runs = Object.fromEntries(mfcLb.POLICIES.map((name) => [name, run(name)]));
    return { settings, levels, runs };
  }

  /** Write each slider's value beside it. */
  function showValues() {
    for (const output of form.querySelectorAll("output")) {
      output.value = document.getElementById(output.htmlFor).value;
    }
  }

  /** Tell a screen reader the summary once the controls rest. */
  function announce(text) {
    clearTimeout(announcement);
    announcement = setTimeout(() => (part("status").textContent = text), QUIET);
  }

  /** Compute and show what the controls say. */
  function update() {
    mfcLb.limitEpoch(form);
    showValues();
    state = compute(mfcLb.readSettings(form));
    const { settings, runs } = state;
    const text = mfcLb.summary(state);
    part("summary").textContent = text;
    announce(text);
    part("learned").textContent = mfcLb.learnedNote(settings);
    part("shown-policy").textContent = mfcLb.label(settings.policy, settings);
    part("python").textContent = mfcLb.pythonScript(settings);
    part("output").textContent = mfcLb.pythonOutput(runs[settings.policy], settings.epoch);
    mfcLb.showTables(state);
    mfcLb.showFigures(state);
  }

  /** Keep the settings in the page's address, for a reader to share. */
  function keepInAddress() {
    history.replaceState(history.state, "", `#${mfcLb.fragmentOf(form)}`);
  }

  /** Tell what was not taken; an empty text takes it back. */
  function refuse(text) {
    part("refused").hidden = text === "";
    part("refused").textContent = text;
  }

  /** Set the controls as a fragment says, and tell what it says that cannot be. */
  function load(fragment) {
    const refused = mfcLb.applyFragment(form, fragment);
    refuse(mfcLb.refusal(refused, mfcLb.readSettings(form)));
    update();
  }

  /** Return the settings in an address of the page; its fragment may also lead to a heading. */
  function settingsIn(address) {
    const fragment = new URL(address).hash.slice(1);
    return fragment.includes("=") ? fragment : "";
  }

  /** Follow an address with settings; one that leads to a heading must not lose them. */
  function follow({ oldURL, newURL }) {
    if (settingsIn(newURL)) load(settingsIn(newURL));
    else if (settingsIn(oldURL)) keepInAddress();
  }

  /** Show one of the things to try. */
  function tryOut({ currentTarget }) {
    load(currentTarget.dataset.setting);
    keepInAddress();
    form.scrollIntoView({ behavior: "instant" });
    form.focus({ preventScroll: true });
  }

  form.addEventListener("input", ({ target }) => {
    if (!target.checkValidity()) return; // a seed that is being typed
    refuse("");
    mfcLb.orderRates(form, target.name);
    update();
  });
  form.addEventListener("change", ({ target }) => {
    const kept = state.settings[target.name];
    if (!target.checkValidity()) refuse(mfcLb.notTaken(target, kept));
    if (target.type === "number") target.value = kept; // "007" is 7
    keepInAddress();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  part("reset").addEventListener("click", () => {
    load("");
    history.replaceState(history.state, "", location.pathname + location.search);
  });
  for (const button of document.querySelectorAll("button[data-setting]")) {
    button.addEventListener("click", tryOut);
    button.hidden = false;
  }
  window.addEventListener("hashchange", follow);

  /** Draw the figures as wide as the page, so that their letters have one size on all screens. */
  function fit() {
    mfcLb.measure();
    if (state) mfcLb.showFigures(state);
  }

  form.hidden = false;
  mfcLb.showLegend();
  fit();
  load(settingsIn(location.href));
  new ResizeObserver(fit).observe(form);

  Object.assign(mfcLb, { compute, shown: () => state });
})();
