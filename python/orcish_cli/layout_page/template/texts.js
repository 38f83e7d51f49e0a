const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

// Texts. Everything of a file is set as text, never as markup.

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const number = (value) => value.toLocaleString("en-US");

function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  let value = bytes;
  while (value >= 1024 && at < units.length - 1) { value /= 1024; at += 1; }
  return at ? `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${units[at]}` : `${number(bytes)} bytes`;
}

function percent(share) {
  const value = share * 100;
  return value > 0 && value < 0.05 ? "< 0.1 %" : `${value.toFixed(1)} %`;
}

const signed = (share) => `${share >= 0.0005 ? "+" : share <= -0.0005 ? "\u2212" : ""}${Math.abs(share * 100).toFixed(1)} %`;
const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;
