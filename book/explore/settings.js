/**
 * The settings: what the form's controls say, and how the page's address says the same. Names,
 * ranges, steps and defaults stand in the form alone.
 */
(function () {
  "use strict";
  const mfcLb = (window.mfcLb = window.mfcLb || {});

  const WORDS = new Set(["policy", "demand"]);

  /**
   * Return the settings by name; numbers are numbers.
   * @param {HTMLFormElement} form
   */
  function readSettings(form) {
    const entries = [...new FormData(form)];
    const value = ([name, text]) => [name, WORDS.has(name) ? text : Number(text)];
    return Object.fromEntries(entries.map(value));
  }

  /** Return the settings as the part of an address behind `#`. */
  function fragmentOf(form) {
    return new URLSearchParams(new FormData(form)).toString();
  }

  /** Set a control to a text; return whether it took it. */
  function accept(form, name, text) {
    const control = form.elements.namedItem(name);
    const before = control.value;
    const plain = text === "" || Number.isNaN(Number(text)) ? text : String(Number(text));
    control.value = plain;
    const taken = control.value === plain || (text !== "" && Number(control.value) === Number(text));
    const valid = taken && (!control.checkValidity || control.checkValidity());
    if (!valid) control.value = before;
    return valid;
  }

  /** Let the slider of epochs end at the last one. */
  function limitEpoch(form) {
    form.elements.epoch.max = mfcLb.numEpochs(readSettings(form).dt) - 1;
  }

  /**
   * Keep the high rate at least as large as the low one: the slider that was not moved gives way.
   * @param {HTMLFormElement} form
   * @param {string} moved - Name of the control that was moved.
   * @returns {boolean} Whether one had to.
   */
  function orderRates(form, moved) {
    const { high, low } = form.elements;
    const crossed = Number(high.value) < Number(low.value);
    if (crossed && moved === "low") high.value = low.value;
    else if (crossed) low.value = high.value;
    return crossed;
  }

  /**
   * Set the controls: those that a fragment names to its values, all others to their defaults.
   * @param {HTMLFormElement} form
   * @param {string} fragment - Such as `dt=10&policy=jsq`.
   * @returns {{outside: string[], unknown: string[], crossed: boolean}} Names whose value is not
   *     allowed, names that are none of a setting, and whether the low rate was above the high one.
   */
  function applyFragment(form, fragment) {
    form.reset();
    const given = new Map(new URLSearchParams(fragment));
    const outside = [];
    for (const name of Object.keys(readSettings(form))) {
      limitEpoch(form);
      if (given.has(name) && !accept(form, name, given.get(name))) outside.push(name);
      given.delete(name);
    }
    const unknown = [...given.keys()].filter((name) => name !== "");
    return { outside, unknown, crossed: orderRates(form, "high") };
  }

  Object.assign(mfcLb, { readSettings, fragmentOf, limitEpoch, orderRates, applyFragment });
})();
