// The page: its state is its address.

function head() {
  byId("title").textContent = data.title;
  byId("facts").textContent = `${size(data.bytes)} (${number(data.bytes)} bytes), ${plural(data.rows, "row")}, ${plural(data.files, "file")}, ` +
    plural(data.shown.reduce((sum, file) => sum + file.stripe_count, 0), "stripe") + (data.hidden_files.files ? " in the files that are drawn" : "");
  const notes = [];
  if (data.hidden_files.files) notes.push(`The ${number(data.shown.length)} largest files are drawn; ${plural(data.hidden_files.files, "other file")} of ${size(data.hidden_files.bytes)} are one tile. The table of columns and the order of values are those of the files that are drawn.`);
  for (const { name, error } of data.failed.slice(0, 20)) notes.push(`Not in this report: ${error.includes(name) ? "" : `${name}: `}${error}`);
  if (data.failed.length > 20) notes.push(`${plural(data.failed.length - 20, "more file")} cannot be read.`);
  for (const fault of data.faults.slice(0, 20)) notes.push(`A row index cannot be read: ${fault}`);
  if (data.hidden_columns) notes.push(`The ${number(data.columns.length)} largest columns are drawn; ${plural(data.hidden_columns, "smaller column")} are one tile.`);
  if (data.shown.some((file) => file.stripes.some((stripe) => stripe.count > 1))) notes.push("Adjacent stripes are drawn together, as there are many.");
  byId("notes").replaceChildren(...notes.map((note) => element("li", {}, note)));
  byId("made").textContent = `Made by orcish ${data.version}.`;
  byId("legend").replaceChildren(...[["data", "data of columns"], ["index", "indexes: hatched"], ["footer", "footers: dotted"], ["rest", "what is not drawn in detail: lined"]]
    .map(([kind, text]) => element("li", {}, element("span", { class: kind }), text)));
}

function show() {
  const nodes = pathOf(location.hash);
  crumbs(nodes);
  draw(nodes);
  inside(nodes);
}

function neighbour(tile, key) {
  const box = tile.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
  let best = null;
  let least = Infinity;
  for (const other of byId("map").querySelectorAll("button.tile")) {
    if (other === tile) continue;
    const at = other.getBoundingClientRect();
    const [dx, dy] = [at.left + at.width / 2 - x, at.top + at.height / 2 - y];
    const along = dx * way[0] + dy * way[1];
    const across = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    if (along > 0.5 && along + 2 * across < least) { best = other; least = along + 2 * across; }
  }
  return best;
}

byId("map").addEventListener("click", (event) => {
  const tile = event.target.closest("button.tile");
  if (tile && !tile.classList.contains("leaf")) location.hash = tile.dataset.hash;
});

document.addEventListener("keydown", (event) => {
  const isTile = document.activeElement && document.activeElement.classList.contains("tile");
  if (event.key === "Escape" && (isTile || document.activeElement === document.body)) {
    const nodes = pathOf(location.hash);
    if (nodes.length > 1) location.hash = hashOf(nodes.slice(0, -1));
  } else if (isTile && event.key.startsWith("Arrow")) {
    const next = neighbour(document.activeElement, event.key);
    if (next) {
      document.activeElement.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    }
    event.preventDefault();
  }
});

let wasInMap = false;
window.addEventListener("hashchange", () => {
  wasInMap = byId("map").contains(document.activeElement);
  show();
  const first = byId("map").querySelector("button.tile");
  if (wasInMap && first) first.focus();
});
let waiting = 0;
window.addEventListener("resize", () => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => draw(pathOf(location.hash)));
});

head();
columnTable();
ranges();
blooms();
advice();
show();
