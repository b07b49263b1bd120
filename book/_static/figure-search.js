// Figures whose caption has all the words that are searched, above the pages that Sphinx finds.
"use strict";

addEventListener("DOMContentLoaded", () => {
  const data = document.getElementById("figure-captions");
  const words = (new URLSearchParams(location.search).get("q") || "").toLowerCase().split(/\s+/);
  const asked = words.filter(word => word !== "");
  if (!data || asked.length === 0) return;
  const has = caption => asked.every(word => caption.toLowerCase().includes(word));
  const found = JSON.parse(data.textContent).filter(figure => has(figure.caption));
  if (found.length === 0) return;

  const heading = document.createElement("h2");
  heading.textContent = "Figures";
  const list = document.createElement("ul");
  list.className = "found-figures";
  list.append(...found.map(item));
  data.after(heading, list);

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
