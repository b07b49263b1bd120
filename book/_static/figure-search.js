// Figures whose number is searched, or whose captions or alternatives have all the words that are,
// above the pages that Sphinx finds.
"use strict";

// Browsers do not let a page read other files, which Sphinx's excerpts need.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

addEventListener("DOMContentLoaded", () => {
  const FIGURE = /^fig(ure)?s?$/;
  const NUMBER = /^\d+(\.\d+)*$/;
  // What captions call it.
  const SYNONYMS = {"δt": "delay", "length": "filling", "loss": "drops", "lost": "drops"};

  const data = document.getElementById("figure-captions");
  if (!data) return;
  const stemmer = new Stemmer(); // Sphinx's, so that "dropped" finds "drops" here, too
  const words = wordsOf(new URLSearchParams(location.search).get("q") || "");
  const byNumber = words.some(word => FIGURE.test(word)) && words.some(word => NUMBER.test(word));
  const asked = words.filter(word => !FIGURE.test(word));
  if (asked.length === 0) return;
  const found = JSON.parse(data.textContent).filter(isAskedFor);
  if (found.length === 0) return;

  const heading = document.createElement("h2");
  heading.textContent = "Figures";
  const list = document.createElement("ul");
  list.className = "found-figures";
  list.append(...found.map(item));
  data.after(heading, list);

  // Superscripts and subscripts are searched as they are typed.
  function wordsOf(text) {
    const typed = text.normalize("NFKC").toLowerCase().replace(/[_^]/g, "");
    const parts = typed.split(/[^\p{L}\p{N}.]+/u).map(word => word.replace(/^\.+|\.+$/g, ""));
    return parts.filter(word => word !== "");
  }

  function isAskedFor(figure) {
    const text = wordsOf(`${figure.caption} ${figure.alternative}`);
    const stems = new Set(text.map(word => stemmer.stemWord(word)));
    const number = figure.number.match(/[\d.]+$/)?.[0] ?? "";
    const says = word => stems.has(stemmer.stemWord(word)) || text.some(one => one.includes(word));
    const has = word =>
      NUMBER.test(word)
        ? `${number}.`.startsWith(`${word}.`) || (!byNumber && text.includes(word))
        : says(word) || (SYNONYMS[word] !== undefined && says(SYNONYMS[word]));
    return asked.every(has);
  }

  function item(figure) {
    const entry = document.createElement("li");
    const link = document.createElement("a");
    const picture = document.createElement("img");
    link.href = figure.address;
    picture.src = figure.picture;
    picture.alt = "";
    link.append(picture, `${figure.number}: ${figure.caption}`);
    entry.append(link);
    return entry;
  }
});
