// The tree of what is drawn: {key, label, bytes, kind, about, children()}.

const INDEXES = new Set(["ROW_INDEX", "BLOOM_FILTER", "BLOOM_FILTER_UTF8"]);
const STREAMS = {
  PRESENT: "which values are null", DATA: "values", LENGTH: "lengths of values", SECONDARY: "fractions, or scales of decimals",
  DICTIONARY_DATA: "texts of the dictionary", DICTIONARY_COUNT: "counts of dictionary entries",
  ROW_INDEX: "bounds and positions of row groups", BLOOM_FILTER: "bloom filters of row groups",
  BLOOM_FILTER_UTF8: "bloom filters of row groups",
};

// A function whose result is made once.
function once(make) {
  let made;
  return () => made || (made = make());
}

function fileNode(at) {
  const file = data.shown[at];
  const encrypted = file.encrypted.length ? `; encrypted columns, drawn as their masks: ${file.encrypted.join(", ")}` : "";
  return {
    key: `file/${at}`, label: file.label, bytes: file.bytes, kind: "file",
    about: (file.label === file.name ? "" : `${file.name}: `) + `${plural(file.rows, "row")} in ${plural(file.stripe_count, "stripe")}; compression ${file.compression}` +
      (file.chunk ? ` in chunks of up to ${size(file.chunk)}` : "") +
      (file.stride ? `; row groups of ${number(file.stride)} rows` : "; no row index") +
      `; format ${file.version || "unknown"}, written by ${file.writer}${encrypted}`,
    children: once(() => [
      ...file.stripes.map((stripe) => stripeNode(stripe)),
      leaf("tail", "tail", file.tail, "footer", "Statistics of stripes and of the file, types, user metadata, and gaps between stripes."),
    ]),
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
      children: once(() => columnNodes(kind, new Map(own), bytes, stripe.others[kind])),
    };
  };
  return {
    key: `stripe/${stripe.first}`, label, bytes: stripe.index + stripe.data + stripe.footer, kind: "stripe", inOrder: true,
    about: `${plural(stripe.rows, "row")} from row ${number(stripe.first_row)} on; at byte ${number(stripe.offset)}`,
    children: once(() => [
      part("index", stripe.index), part("data", stripe.data),
      leaf("footer", "footer", stripe.footer, "footer", "Streams and encodings of the columns of the stripe."),
    ]),
  };
}

// Columns by the column that they are in.
const below = new Map();
data.columns.forEach((column, at) => {
  if (!below.has(column.parent)) below.set(column.parent, []);
  below.get(column.parent).push(at);
});

function columnNodes(kind, streams, bytes, others) {
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
    children: once(() => {
      const nodes = data.shown.map((_, at) => fileNode(at));
      const { files, bytes, rows } = data.hidden_files;
      if (files) nodes.push(leaf("hidden", plural(files, "more file"), bytes, "rest", `${plural(rows, "row")}.`));
      return nodes;
    }),
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
