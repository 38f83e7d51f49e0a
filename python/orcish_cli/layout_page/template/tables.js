// Tables.

const MAX_ROWS = 200;
const MAX_PARTS = 25;

function meter(share) {
  const bar = element("span", {});
  bar.style.width = `${Math.min(100, share * 100)}%`;
  return element("span", { class: "meter", "aria-hidden": "true" }, bar);
}

function cell(kind, value) {
  if (kind === "share" && value === null) return element("td", { class: "share" }, "not read");
  if (kind === "share") return element("td", { class: "share" }, meter(value), percent(value));
  if (kind === "bytes") return element("td", { class: "number", title: size(value) }, number(value));
  if (value === null || value === undefined || value === "") return element("td", { class: kind }, kind === "number" ? "\u2013" : "");
  if (kind === "number") return element("td", { class: kind }, number(value));
  return element("td", { class: kind }, element("span", {}, value instanceof Node ? value : String(value)));
}

function fill(table, columns, rows, first = MAX_ROWS) {
  // A table that is sorted by a click on the name of a column.
  const body = element("tbody", {});
  let most = first;
  let sorted = null;
  const more = element("button", { type: "button", class: "more" });
  const show = () => {
    const list = sorted ? [...rows].sort((a, b) => sorted.sign * compare(sorted.of(a), sorted.of(b))) : rows;
    body.replaceChildren(...list.slice(0, most).map((row) => element("tr", {}, ...columns.map(([, kind, of]) => cell(kind, of(row))))));
    more.textContent = `Show ${plural(Math.max(0, rows.length - most), "more row")}`;
    more.hidden = rows.length <= most;
  };
  const heads = columns.map(([name, kind, of, by, hint]) => {
    const button = element("button", { type: "button", title: hint }, name);
    const head = element("th", { scope: "col", class: kind === "bytes" || kind === "number" ? "number" : kind }, button);
    button.addEventListener("click", () => {
      const value = by || of;
      const sign = sorted && sorted.head === head ? -sorted.sign : (kind === "text" || kind === "about" ? 1 : -1);
      sorted = { head, sign, of: value };
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      show();
    });
    return head;
  });
  more.addEventListener("click", () => { most = rows.length; show(); });
  table.replaceChildren(element("thead", {}, element("tr", {}, ...heads)), body);
  removeMore(table);
  table.parentNode.after(more);
  show();
}

// Removes the button below a table that shows more rows.
function removeMore(table) {
  const next = table.parentNode.nextElementSibling;
  if (next && next.className === "more") next.remove();
}

function compare(a, b) {
  // Unknown values are last.
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : -Infinity;
  if (b === null || b === undefined) return Infinity;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

function inside(nodes) {
  const node = nodes[nodes.length - 1];
  const children = node.children();
  byId("inside-title").textContent = `${node.label}: ${size(node.bytes)}` +
    (nodes.length > 1 ? ` (${percent(node.bytes / root.bytes)} of everything)` : "");
  byId("about").textContent = node.about || "";
  const table = byId("inside");
  if (!children.length) {
    removeMore(table);
    table.replaceChildren();
    return;
  }
  const rows = node.kind === "file" || node.inOrder ? children : [...children].sort((a, b) => b.bytes - a.bytes);
  fill(table, [
    ["part", "text", (child) => child.children().length ? element("a", { href: hashOf([...nodes, child]) }, child.label) : child.label, (child) => child.label],
    ["bytes", "bytes", (child) => child.bytes],
    ["share", "share", (child) => node.bytes ? child.bytes / node.bytes : 0],
    ["", "about", (child) => child.about],
  ], rows, MAX_PARTS);
}

function columnTable() {
  const columns = [
    ["column", "text", (column) => column.path],
    ["type", "text", (column) => column.type.split("<")[0]],
    ["bytes", "bytes", (column) => column.bytes, null, "Stored bytes of data and indexes, with nested columns"],
    ["share", "share", (column) => column.share, null, "Share of the bytes of all columns"],
    ["data", "bytes", (column) => column.data, null, "Stored bytes of the values, without nested columns"],
    ["indexes", "bytes", (column) => column.index, null, "Stored bytes of row indexes and bloom filters, without nested columns"],
    ["encodings", "text", (column) => column.encodings, null, "Encodings, with their numbers of stripes"],
    ["dictionary", "number", (column) => column.dictionary || null, null, "Entries of the dictionaries of all stripes"],
    ["ratio", "text", (column) => column.ratio === null ? "" : `${number(Number(column.ratio.toFixed(column.ratio < 100 ? 1 : 0)))} : 1`, (column) => column.ratio, "Bytes of the values in Arrow for each stored byte of data"],
    ["values", "number", (column) => column.values],
    ["nulls", "number", (column) => column.nulls],
    ["min", "text", (column) => column.min],
    ["max", "text", (column) => column.max],
  ];
  if (data.is_distinct) columns.splice(11, 0, ["distinct", "number", (column) => column.distinct, null, "An estimate, with a standard error of 0.81 %"]);
  if (data.files > 1) columns.splice(2, 0, ["files", "number", (column) => column.files]);
  fill(byId("columns"), columns, data.columns);
  byId("columns-hint").textContent = "Nested columns are counted in the bytes and shares of those that they are in. The ratio compares the values in Arrow with their stored data, where types and statistics tell. A click on the name of a column of the table sorts it." +
    (data.is_distinct ? "" : " The number of distinct values is read with --distinct.");
}
