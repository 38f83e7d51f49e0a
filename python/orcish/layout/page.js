"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const INDEXES = new Set(["ROW_INDEX", "BLOOM_FILTER", "BLOOM_FILTER_UTF8"]);
const STREAMS = {
  PRESENT: "which values are null", DATA: "values", LENGTH: "lengths of values", SECONDARY: "fractions, or scales of decimals",
  DICTIONARY_DATA: "texts of the dictionary", DICTIONARY_COUNT: "counts of dictionary entries",
  ROW_INDEX: "bounds and positions of row groups", BLOOM_FILTER: "bloom filters of row groups",
  BLOOM_FILTER_UTF8: "bloom filters of row groups",
};

const MAX_ROWS = 200;
const MAX_PARTS = 25;
const GAP = 2;
const HEAD = 20;
const LEVELS = 2;

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

// The tree of what is drawn: {key, label, bytes, kind, about, children()}.

function fileNode(at) {
  const file = data.shown[at];
  const encrypted = file.encrypted.length ? `; encrypted columns, drawn as their masks: ${file.encrypted.join(", ")}` : "";
  return {
    key: `file/${at}`, label: file.label, bytes: file.bytes, kind: "file",
    about: (file.label === file.name ? "" : `${file.name}: `) + `${plural(file.rows, "row")} in ${plural(file.stripe_count, "stripe")}; compression ${file.compression}` +
      (file.chunk ? ` in chunks of up to ${size(file.chunk)}` : "") +
      (file.stride ? `; row groups of ${number(file.stride)} rows` : "; no row index") +
      `; format ${file.version || "unknown"}, written by ${file.writer}${encrypted}`,
    children: () => [
      ...file.stripes.map((stripe) => stripeNode(stripe)),
      leaf("tail", "tail", file.tail, "footer", "Statistics of stripes and of the file, types, user metadata, and gaps between stripes."),
    ],
  };
}

function stripeNode(stripe) {
  const last = stripe.first + stripe.count - 1;
  const label = stripe.count > 1 ? `stripes ${stripe.first}\u2013${last}` : `stripe ${stripe.first}`;
  const part = (kind, bytes) => {
    const own = stripe.columns.map(([at, kinds]) => [at, Object.entries(kinds).filter(([name]) => INDEXES.has(name) === (kind === "index"))]);
    return {
      key: kind, label: kind, bytes, kind,
      about: kind === "index" ? "Row indexes and bloom filters: what lets a filter skip row groups." : "Streams of the values of all columns.",
      children: () => columnNodes(kind, new Map(own), bytes, stripe.others[kind]),
    };
  };
  return {
    key: `stripe/${stripe.first}`, label, bytes: stripe.index + stripe.data + stripe.footer, kind: "stripe", inOrder: true,
    about: `${plural(stripe.rows, "row")} from row ${number(stripe.first_row)} on; at byte ${number(stripe.offset)}`,
    children: () => [
      part("index", stripe.index), part("data", stripe.data),
      leaf("footer", "footer", stripe.footer, "footer", "Streams and encodings of the columns of the stripe."),
    ],
  };
}

function columnNodes(kind, streams, bytes, others) {
  const below = new Map();
  data.columns.forEach((column, at) => {
    if (!below.has(column.parent)) below.set(column.parent, []);
    below.get(column.parent).push(at);
  });
  const make = (at) => {
    const column = data.columns[at];
    const own = (streams.get(at) || []).map(([name, length]) =>
      leaf(`stream/${name}`, name, length, kind, STREAMS[name] ? `A stream: ${STREAMS[name]}.` : "A stream."));
    const nested = (below.get(at) || []).map(make).filter((node) => node.bytes);
    const children = [...nested, ...own];
    return {
      key: `column/${at}`, label: column.name, bytes: children.reduce((sum, child) => sum + child.bytes, 0), kind,
      about: `${column.path}: ${column.type}` + (column.encodings ? `; encodings of all stripes: ${column.encodings}` : ""),
      children: () => children,
    };
  };
  const roots = (below.get(null) || []).map(make);
  // The columns of a table are those below its root.
  const nodes = roots.flatMap((root) => root.children().map((child) =>
    child.key.startsWith("stream/") ? { ...child, label: `(root) ${child.label}` } : child)).filter((node) => node.bytes);
  if (others) nodes.push(leaf("others", plural(data.hidden_columns, "more column"), others, "rest", "Columns that are too many to be drawn."));
  const rest = bytes - nodes.reduce((sum, node) => sum + node.bytes, 0);
  if (rest > 0) nodes.push(leaf("rest", "other bytes", rest, "rest", "Encrypted streams, or bytes that belong to no column."));
  return nodes;
}

function leaf(key, label, bytes, kind, about) {
  return { key, label, bytes, kind, about, children: () => [] };
}

function rootNode() {
  if (data.shown.length === 1 && !data.hidden_files.files) return { ...fileNode(0), key: "" };
  return {
    key: "", label: data.title, bytes: data.bytes, kind: "file",
    about: `${plural(data.files, "file")}, ${plural(data.rows, "row")}`,
    children: () => {
      const nodes = data.shown.map((_, at) => fileNode(at));
      const { files, bytes, rows } = data.hidden_files;
      if (files) nodes.push(leaf("hidden", plural(files, "more file"), bytes, "rest", `${plural(rows, "row")}; these files are smaller than those that are drawn.`));
      return nodes;
    },
  };
}

const root = rootNode();

function pathOf(hash) {
  // The nodes from the root to the one that a hash names.
  let rest = hash.replace(/^#?\/?/, "");
  const found = [root];
  while (rest) {
    const next = found[found.length - 1].children().find((child) => rest === child.key || rest.startsWith(`${child.key}/`));
    if (!next) break;
    found.push(next);
    rest = rest.slice(next.key.length + 1);
  }
  return found;
}

const hashOf = (nodes) => `#/${nodes.slice(1).map((node) => node.key).join("/")}`;

// The map.

function squarified(nodes, box) {
  // Rectangles of about square shape, by the order of the nodes.
  const total = nodes.reduce((sum, node) => sum + node.bytes, 0);
  const scale = total ? (box.width * box.height) / total : 0;
  const placed = [];
  let { x, y, width, height } = box;
  let at = 0;
  while (at < nodes.length) {
    const side = Math.min(width, height);
    let row = [];
    let area = 0;
    let worst = Infinity;
    while (at + row.length < nodes.length) {
      const next = nodes[at + row.length].bytes * scale;
      const sum = area + next;
      const areas = [...row, next];
      const most = Math.max(...areas);
      const least = Math.min(...areas);
      const ratio = side && least ? Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least)) : Infinity;
      if (row.length && ratio > worst) break;
      worst = ratio;
      row = areas;
      area = sum;
    }
    const thick = side ? area / side : 0;
    let along = 0;
    row.forEach((each, index) => {
      const length = thick ? each / thick : 0;
      placed.push(width >= height
        ? { x, y: y + along, width: thick, height: length, node: nodes[at + index] }
        : { x: x + along, y, width: length, height: thick, node: nodes[at + index] });
      along += length;
    });
    if (width >= height) { x += thick; width -= thick; } else { y += thick; height -= thick; }
    at += row.length;
  }
  return placed;
}

function strips(nodes, box) {
  // Rectangles in rows, from left to right, as a text is read.
  const total = nodes.reduce((sum, node) => sum + node.bytes, 0);
  const count = Math.max(1, Math.min(nodes.length, Math.round(Math.sqrt((nodes.length * box.height) / (box.width || 1)))));
  const placed = [];
  let y = box.y;
  let at = 0;
  let done = 0;
  for (let row = 1; row <= count; row += 1) {
    const line = [];
    let bytes = 0;
    // A node belongs to the row in which its middle is.
    while (at < nodes.length && (row === count || done + bytes + nodes[at].bytes / 2 <= (total * row) / count)) {
      line.push(nodes[at]);
      bytes += nodes[at].bytes;
      at += 1;
    }
    const height = total ? (box.height * bytes) / total : 0;
    let x = box.x;
    for (const node of line) {
      const width = bytes ? (box.width * node.bytes) / bytes : 0;
      placed.push({ x, y, width, height, node });
      x += width;
    }
    y += height;
    done += bytes;
  }
  return placed;
}

function arranged(node, box) {
  const nodes = node.children().filter((child) => child.bytes > 0);
  // Files, and stripes within a file, are in their order. Index and data are side by side.
  if (node.kind === "file") return strips(nodes, box);
  return squarified(node.inOrder ? nodes : nodes.sort((a, b) => b.bytes - a.bytes), box);
}

function place(made, box) {
  made.style.left = `${box.x}px`;
  made.style.top = `${box.y}px`;
  made.style.width = `${Math.max(box.width, 1)}px`;
  made.style.height = `${Math.max(box.height, 1)}px`;
}

function named(node, total, isWide) {
  const made = element("span", { class: "name" }, element("b", {}, node.label));
  if (isWide) made.append(element("i", {}, `${size(node.bytes)}, ${percent(node.bytes / total)}`));
  return made;
}

function draw(nodes) {
  const map = byId("map");
  const node = nodes[nodes.length - 1];
  map.replaceChildren();
  const box = { x: 0, y: 0, width: map.clientWidth, height: map.clientHeight };
  if (!node.children().length) {
    const whole = element("div", { class: `tile leaf ${node.kind}` }, named(node, node.bytes, true));
    place(whole, box);
    map.append(whole);
    return;
  }
  let isFirst = true;
  for (const placed of arranged(node, box)) {
    if (placed.width < 0.5 || placed.height < 0.5) continue;
    const child = placed.node;
    const hasMore = child.children().length > 0;
    const text = `${child.label}: ${size(child.bytes)}, ${percent(child.bytes / node.bytes)} of ${node.label}`;
    const tile = element("button", {
      type: "button", class: `tile ${child.kind}${hasMore ? "" : " leaf"}`, title: text, "aria-label": text,
      "data-hash": hashOf([...nodes, child]), tabindex: isFirst ? "0" : "-1",
    });
    isFirst = false;
    place(tile, placed);
    if (placed.width > 30 && placed.height > 18) tile.append(named(child, node.bytes, placed.width > 190));
    if (hasMore && placed.width > 60 && placed.height > 60) inner(tile, [...nodes, child], placed, node.bytes, LEVELS);
    map.append(tile);
  }
}

function inner(tile, nodes, outer, total, levels) {
  const box = { x: GAP, y: HEAD, width: outer.width - 3 * GAP, height: outer.height - HEAD - 2 * GAP };
  for (const placed of arranged(nodes[nodes.length - 1], box)) {
    if (placed.width < 2 || placed.height < 2) continue;
    const child = placed.node;
    const made = element("span", {
      class: `inner ${child.kind}`, "aria-hidden": "true",
      title: `${child.label}: ${size(child.bytes)}`,
    });
    place(made, placed);
    if (placed.width > 34 && placed.height > 15) made.append(named(child, total, placed.width > 170));
    if (levels > 1 && placed.width > 50 && placed.height > 50 && child.children().length) inner(made, [...nodes, child], placed, total, levels - 1);
    tile.append(made);
  }
}

function crumbs(nodes) {
  byId("crumbs").replaceChildren(...nodes.map((node, at) => at === nodes.length - 1
    ? element("b", { "aria-current": "location" }, node.label)
    : element("a", { href: hashOf(nodes.slice(0, at + 1)) }, node.label)));
}

// Tables.

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
  if (table.parentNode.nextElementSibling && table.parentNode.nextElementSibling.className === "more") table.parentNode.nextElementSibling.remove();
  table.parentNode.after(more);
  show();
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
    if (table.parentNode.nextElementSibling && table.parentNode.nextElementSibling.className === "more") table.parentNode.nextElementSibling.remove();
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

// Ranges.

const ORDERS = {
  single: "One part: there is nothing to skip.", constant: "All parts have the same single value.",
  ascending: "Sorted, ascending.", descending: "Sorted, descending.",
  clustered: "Clustered: a filter skips most parts.", "partly ordered": "Partly ordered.",
  unordered: "Not sorted: a filter on a range skips few parts.",
};

function ranges() {
  const hint = byId("ranges-hint");
  if (!data.ranges.length) {
    hint.textContent = "No column has minima and maxima of its stripes.";
    return;
  }
  hint.textContent = "A bar for each part of the file, from the first rows (above) to the last ones (below), from its minimum to its maximum. Bars that do not overlap let filters skip parts." +
    (data.ranges.length >= data.max_ranges ? ` Only the ${data.max_ranges} largest columns are drawn.` : "");
  byId("ranges").replaceChildren(...data.ranges.map(rangeCard));
}

function rangeCard(range) {
  const column = data.columns[range.column];
  const plot = element("div", { class: "plot", role: "img", "aria-label": `${column.path}: ${ORDERS[range.order]} ${range.low} to ${range.high}` });
  const height = Math.max(40, Math.min(200, range.bars.length * 12));
  const step = height / range.bars.length;
  plot.style.height = `${height}px`;
  range.bars.forEach(([label, start, end, low, high], at) => {
    const bar = element("div", { title: `${label}: ${low} \u2013 ${high}` });
    bar.style.left = `min(${start * 100}%, 100% - 2px)`;
    bar.style.width = `${(end - start) * 100}%`;
    bar.style.top = `${at * step + (step > 4 ? 1 : 0)}px`;
    bar.style.height = `${Math.max(1, step - (step > 4 ? 2 : 0))}px`;
    plot.append(bar);
  });
  const notes = [`${ORDERS[range.order]} A value is in the range of ${range.depth.toFixed(1)} of ${plural(range.parts, range.level)}, in the mean.`];
  if (range.unknown) notes.push(`${plural(range.unknown, range.level)} without bounds left out.`);
  if (range.together > 1) notes.push(`A bar is up to ${plural(range.together, range.level)}.`);
  return element("figure", { class: "card" }, element("h3", {}, column.path), plot,
    element("div", { class: "ends" }, element("span", {}, range.low), element("span", {}, range.high)),
    element("p", {}, notes.join(" ")));
}

function blooms() {
  byId("blooms-section").hidden = !data.blooms.length;
  if (!data.blooms.length) return;
  fill(byId("blooms"), [
    ["column", "text", (bloom) => data.columns[bloom.column].path],
    ["bytes", "bytes", (bloom) => bloom.bytes],
    ["filters", "text", (bloom) => bloom.filters === null ? "" : `${number(bloom.filters)} of ${plural(bloom.row_groups, "row group")}`, (bloom) => bloom.filters],
    ["bits", "number", (bloom) => bloom.bits || null],
    ["hash functions", "text", (bloom) => bloom.hash_functions.join(", ")],
    ["fill", "share", (bloom) => bloom.fill],
    ["least and most", "text", (bloom) => bloom.fill === null ? "" : `${percent(bloom.least)} to ${percent(bloom.most)}`, (bloom) => bloom.most],
    ["false positives", "text", (bloom) => bloom.fill === null ? "" : percent(bloom.false_positives), (bloom) => bloom.false_positives],
  ], data.blooms);
}

function advice() {
  const found = data.advice;
  byId("advice-section").hidden = !found;
  if (!found) return;
  const share = found.all_stored_bytes ? found.stored_bytes / found.all_stored_bytes : 0;
  const texts = [
    `Measured on ${number(found.rows)} of ${plural(found.all_rows, "row")}, in ${number(found.stripes.length)} of ${plural(found.all_stripes, "stripe")} (${percent(share)} of the bytes), seed ${found.seed}. ` +
      `Times are medians of ${plural(found.runs, "run")}` + (found.noise === null ? "." : `, which differ by up to ${percent(found.noise)}.`) +
      ` The sample has ${number(found.stored_bytes)} bytes, and ${number(found.rewritten_bytes)} when it is written again with the present options, which the changes are compared with.`,
    ...found.notes.map((note) => `Note: ${note}.`),
  ];
  const advised = found.trials.filter((trial) => trial.advised);
  byId("advice").replaceChildren(...texts.map((text) => element("p", { class: "hint" }, text)),
    element("p", {}, advised.length ? `Advised: ${advised.map((trial) => `${trial.kind} ${trial.label}${trial.column ? ` of ${trial.column}` : ""}`).join("; ")}.` : "No option is worth a change."));
  if (found.command) byId("advice").append(element("p", {}, element("code", {}, found.command)));
  const looked = (trial) => trial.lookups.filter((each) => Math.abs(each.after - each.before) >= 0.01)
    .map((each) => `${each.filters}: ${percent(each.before)} \u2192 ${percent(each.after)}`).join("; ");
  fill(byId("trials"), [
    ["advised", "text", (trial) => trial.advised ? "yes" : ""],
    ["option", "text", (trial) => `${trial.kind}: ${trial.label}`],
    ["column", "text", (trial) => trial.column],
    ["bytes", "bytes", (trial) => trial.bytes],
    ["change", "text", (trial) => signed(trial.bytes_change), (trial) => trial.bytes_change],
    ["write", "text", (trial) => signed(trial.write_change), (trial) => trial.write_change, "Change of the time of writing"],
    ["read", "text", (trial) => signed(trial.read_change), (trial) => trial.read_change, "Change of the time of reading all rows"],
    ["rows that lookups look at", "text", looked],
  ], found.trials);
}

// Page.

function head() {
  byId("title").textContent = data.title;
  byId("facts").textContent = `${size(data.bytes)} (${number(data.bytes)} bytes), ${plural(data.rows, "row")}, ${plural(data.files, "file")}, ` +
    plural(data.shown.reduce((sum, file) => sum + file.stripe_count, 0), "stripe") + (data.hidden_files.files ? " in the files that are drawn" : "");
  const notes = [];
  if (data.hidden_files.files) notes.push(`The ${number(data.shown.length)} largest files are drawn; ${plural(data.hidden_files.files, "smaller file")} of ${size(data.hidden_files.bytes)} are one tile. The table of columns and the order of values are those of the files that are drawn.`);
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
})();
