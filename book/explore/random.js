/**
 * Random paths of arrival levels: NumPy's default generator, so that a seed means the same path
 * here as in the library. A seed is spread over the state by NumPy's SeedSequence; the numbers come
 * from PCG64 (a linear congruential generator of 128 bits with a permuted output).
 */
(function () {
  "use strict";
  const mfcLb = (window.mfcLb = window.mfcLb || {});

  const MASK = (1n << 128n) - 1n;
  const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
  const POOL_SIZE = 4;

  /** Return a function that scrambles 32-bit words, each with the next of a series of constants. */
  function hashing(constant, multiplier) {
    return (word) => {
      const mixed = word ^ constant;
      constant = Math.imul(constant, multiplier);
      const product = Math.imul(mixed, constant);
      return product ^ (product >>> 16);
    };
  }

  /** Combine two scrambled words. */
  function mix(one, other) {
    const sum = Math.imul(0xca01f9dd, one) - Math.imul(0x4973f715, other);
    return sum ^ (sum >>> 16);
  }

  /** Spread a seed below 2^32 over a pool of words, every one of which depends on all of it. */
  function fillPool(seed) {
    const hash = hashing(0x43b0d7e5, 0x931e8875);
    const pool = Array.from({ length: POOL_SIZE }, (_, index) => hash(index === 0 ? seed : 0));
    for (let source = 0; source < POOL_SIZE; source += 1) {
      for (let target = 0; target < POOL_SIZE; target += 1) {
        if (source !== target) pool[target] = mix(pool[target], hash(pool[source]));
      }
    }
    return pool;
  }

  /** Return two numbers of 128 bits: where the generator starts, and which of its streams it is. */
  function seedNumbers(seed) {
    const pool = fillPool(seed);
    const hash = hashing(0x8b51f9dd, 0x58f38ded);
    const words = Array.from({ length: 8 }, (_, index) =>
      BigInt(hash(pool[index % POOL_SIZE]) >>> 0),
    );
    const joined = (first) =>
      (words[first + 1] << 96n) |
      (words[first] << 64n) |
      (words[first + 3] << 32n) |
      words[first + 2];
    return [joined(0), joined(4)];
  }

  /**
   * Return NumPy's `default_rng(seed).random`.
   * @param {number} seed - An integer from 0 to 2^32 - 1.
   * @returns {function(): number} Draws uniformly from [0, 1).
   */
  function uniformDraws(seed) {
    const [start, stream] = seedNumbers(seed);
    const increment = ((stream << 1n) | 1n) & MASK;
    const next = (state) => (state * MULTIPLIER + increment) & MASK;
    let state = next((increment + start) & MASK);
    return () => {
      state = next(state);
      const folded = ((state >> 64n) ^ state) & 0xffffffffffffffffn;
      const rotated = (folded >> (state >> 122n)) | (folded << (64n - (state >> 122n)));
      return Number((rotated & 0xffffffffffffffffn) >> 11n) / 2 ** 53;
    };
  }

  /**
   * Draw a path of arrival levels, as the library's `ArrivalProcess.sample_levels` does.
   * @param {number} seed - Seed of the path.
   * @param {number} count - Number of epochs.
   * @returns {number[]} The level in each epoch, 0 or 1.
   */
  function drawLevels(seed, count) {
    const { initial, kernel } = window.mfcLbData.parameters;
    const draw = uniformDraws(seed);
    const levels = [];
    for (let chances = initial; levels.length < count; chances = kernel[levels.at(-1)]) {
      levels.push(draw() < chances[0] ? 0 : 1);
    }
    return levels;
  }

  Object.assign(mfcLb, { uniformDraws, drawLevels });
})();
