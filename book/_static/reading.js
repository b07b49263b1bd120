// Keyboard and print: what the theme leaves to a pointer or to a screen.
"use strict";

(() => {
  const BOXES = [
    ["pre", "Code or output"],
    [".pst-scrollable-table-container, .cell_output .output, .explore-table", "Table"],
    ["div.math, mjx-container[display]", "Formula"],
  ];

  // A box whose content is wider than itself fades at its right edge until it is scrolled to the
  // end, and is reached with the Tab key, to be scrolled with the arrow keys.
  function mark(box, label) {
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
    const wide = scrolls && box.scrollWidth > box.clientWidth;
    box.classList.toggle("scrolls-sideways", wide);
    if (wide) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", `${label}, scrolls sideways`);
      markEnd(box);
    } else if (box.getAttribute("role") === "region") {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  }

  function markEnd(box) {
    const end = box.scrollLeft + box.clientWidth >= box.scrollWidth - 1;
    box.classList.toggle("scrolled-to-end", end);
  }

  // A box's width changes with the screen's, with the menus beside it, and when it is unfolded.
  const labels = new Map();
  const widths = new ResizeObserver(changes => {
    for (const {target} of changes) mark(target, labels.get(target));
  });

  function watchAll() {
    for (const [selector, label] of BOXES) {
      for (const box of document.querySelectorAll(`.bd-main :is(${selector})`)) {
        labels.set(box, label);
        widths.observe(box);
      }
    }
  }

  function closeMenus(event) {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("input.sidebar-toggle:checked")) {
      menu.checked = false;
      const side = menu.id.includes("primary") ? "primary" : "secondary";
      document.querySelector(`button.${side}-toggle`)?.focus();
    }
  }

  // The search field lies over the page as a dialog: while it does, the Tab key stays in it, and
  // what had the focus before gets it back.
  function watchSearch() {
    const dialog = document.querySelector(".search-button__wrapper");
    if (!dialog) return;
    let opener = null;
    dialog.addEventListener("focusin", ({relatedTarget}) => {
      if (!dialog.contains(relatedTarget)) opener = relatedTarget ?? opener;
    });
    new MutationObserver(() => {
      const open = dialog.classList.contains("show");
      for (const part of document.body.children) if (part !== dialog) part.inert = open;
      if (!open && document.activeElement === document.body) opener?.focus();
    }).observe(dialog, {attributeFilter: ["class"]});
  }

  const FOLDED = ".bd-article details:not([open]):not(.figure-card details)";
  const root = document.documentElement;
  let opened = [];
  let theme;

  // Paper is white, and nothing on it can be unfolded.
  function prepareForPaper() {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    opened = [...document.querySelectorAll(FOLDED)];
    for (const details of opened) details.open = true;
  }

  function backToScreen() {
    root.dataset.theme = theme;
    for (const details of opened) details.open = false;
  }

  addEventListener("load", () => document.fonts.ready.then(watchAll));
  addEventListener("scroll", event => {
    if (event.target.classList?.contains("scrolls-sideways")) markEnd(event.target);
  }, {capture: true, passive: true});
  addEventListener("keydown", closeMenus);
  addEventListener("DOMContentLoaded", watchSearch);
  addEventListener("beforeprint", prepareForPaper);
  addEventListener("afterprint", backToScreen);
})();
