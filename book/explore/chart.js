/** Panels in SVG, in the look of the book's figures: a white face in light and dark mode alike. */
(function () {
  "use strict";
  const mfcLb = (window.mfcLb = window.mfcLb || {});

  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { top: 12, right: 16, bottom: 44, left: 52 };
  const [TICK_GAP, NAME_SPACE] = [7, 22]; // beside the numbers of the y-axis, and for its name
  const { grey } = window.mfcLbData;

  /** Outlines of the markers, by matplotlib's letters, in a square of side 2. */
  const MARKERS = {
    o: "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z",
    s: "M-0.9,-0.9H0.9V0.9H-0.9Z",
    "^": "M0,-1L1,0.9H-1Z",
    P: "M-0.4,-1H0.4V-0.4H1V0.4H0.4V1H-0.4V0.4H-1V-0.4H-0.4Z",
  };

  /** Round to tenths of a pixel. */
  function tenths(pixels) {
    return Math.round(10 * pixels) / 10;
  }

  /** Return an SVG element. */
  function element(name, attributes, ...children) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  /** Return a policy's marker around a point. */
  function marker({ color, marker: shape }, x, y, size = 4.5) {
    const transform = `translate(${x},${y}) scale(${size})`;
    return element("path", { class: "marker", d: MARKERS[shape], fill: color, transform });
  }

  /** Return at most `count` + 1 round numbers in a range. */
  function ticks(from, to, count) {
    const rough = (to - from) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9));
    const first = Math.ceil(from / step - 1e-9);
    const number = Math.floor(to / step + 1e-9) - first + 1;
    const tick = (_, index) => Number(((first + index) * step).toPrecision(6));
    return Array.from({ length: number }, tick);
  }

  /** Write a number at a tick; a very small one with a power of ten. */
  function tickLabel(value) {
    return value === 0 || Math.abs(value) >= 0.001 ? String(value) : mfcLb.powerOfTen(value);
  }

  const pen = document.createElement("canvas").getContext("2d");
  pen.font = "12px sans-serif"; // of all text in figures

  /** Return how far from the left edge the y-axis has to be for its numbers and its name. */
  function leftMargin(values) {
    const widest = Math.max(...values.map((value) => pen.measureText(tickLabel(value)).width));
    return Math.max(MARGIN.left, Math.ceil(widest) + TICK_GAP + NAME_SPACE);
  }

  /** A panel with axes: `x` and `y` map data to its pixels; the rest draws into it. */
  class Panel {
    /**
     * @param {HTMLElement} host - Is emptied.
     * @param {object} options
     * @param {number} options.width - In pixels.
     * @param {number} options.height - In pixels.
     * @param {number[]} options.xRange - First and last value on the x-axis.
     * @param {number} options.yMax - Upper end of the y-axis, which starts at 0.
     * @param {number[]} options.yTicks - Values with a number beside the y-axis.
     * @param {string} options.description - Text alternative.
     * @param {string} options.xLabel
     * @param {string} options.yLabel
     */
    constructor(host, { width, height, xRange, yMax, yTicks, description, xLabel, yLabel }) {
      const [left, right, bottom] = [
        leftMargin(yTicks),
        width - MARGIN.right,
        height - MARGIN.bottom,
      ];
      const [from, to] = xRange;
      Object.assign(this, { left, right, yTicks });
      this.x = (value) => left + ((value - from) / (to - from)) * (right - left);
      this.y = (value) => bottom - (value / yMax) * (bottom - MARGIN.top);
      const viewBox = `0 0 ${width} ${height}`;
      this.svg = element("svg", { viewBox, role: "img", "aria-label": description });
      this.svg.append(element("rect", { width, height, fill: "white" }));
      this.labels(xLabel, yLabel, (MARGIN.top + bottom) / 2, height);
      host.replaceChildren(this.svg);
    }

    /** Draw an element. */
    draw(name, attributes, ...children) {
      return this.svg.appendChild(element(name, attributes, ...children));
    }

    /** Write the names of the axes. */
    labels(xLabel, yLabel, middle, height) {
      const centre = (this.left + this.right) / 2;
      this.draw("text", { x: centre, y: height - 6, "text-anchor": "middle" }, xLabel);
      const transform = `translate(13,${middle}) rotate(-90)`;
      this.draw("text", { transform, "text-anchor": "middle" }, yLabel);
    }

    /** Draw both axes, the x-axis with ticks at the given values. */
    axes(xTicks) {
      const [bottom, top] = [this.y(0), MARGIN.top];
      this.draw("path", { class: "axis", d: `M${this.left},${top}V${bottom}H${this.right}` });
      for (const value of xTicks) {
        const x = this.x(value);
        this.draw("path", { class: "axis", d: `M${x},${bottom}v4` });
        this.draw("text", { x, y: bottom + 21, "text-anchor": "middle" }, String(value));
      }
      for (const value of this.yTicks) {
        const y = this.y(value);
        this.draw("path", { class: "axis", d: `M${this.left},${y}h-4` });
        const place = { x: this.left - TICK_GAP, y: y + 4, "text-anchor": "end" };
        this.draw("text", place, tickLabel(value));
      }
    }

    /** Draw a line through points [x, y]. */
    line(points, style) {
      const places = points.map(([x, y]) => `${tenths(this.x(x))},${tenths(this.y(y))}`);
      return this.draw("path", { fill: "none", ...style, d: `M${places.join("L")}` });
    }

    /** Draw lines of y-values over the same x-values, on top of each other, as filled bands. */
    bands(xs, layers, colors) {
      let lower = xs.map(() => 0);
      layers.forEach((layer, index) => {
        const upper = layer.map((value, place) => lower[place] + value);
        const edge = (ys) => xs.map((x, place) => [x, Math.min(ys[place], 1)]);
        const outline = [...edge(upper), ...edge(lower).reverse()];
        this.line(outline, { class: "band", fill: colors[index] });
        lower = upper;
      });
    }

    /** Draw a line across the panel at a time, with a triangle between it and the ticks' numbers. */
    pointer(x) {
      const [at, bottom] = [this.x(x), this.y(0)];
      this.draw("path", { class: "pointer", d: `M${at},${bottom}V${MARGIN.top}` });
      this.draw("path", { class: "pointer-head", d: `M${at},${bottom}l5,9h-10Z` });
    }

    /** Draw a reference line across the panel, and its name at the right end. */
    reference(y, name) {
      this.draw("path", {
        class: "reference",
        stroke: grey,
        d: `M${this.left},${this.y(y)}H${this.right}`,
      });
      this.draw("text", { x: this.right, y: this.y(y) - 4, "text-anchor": "end" }, name);
    }
  }

  Object.assign(mfcLb, { Panel, element, marker, ticks });
})();
