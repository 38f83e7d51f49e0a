// The map: rectangles whose areas are bytes.

const GAP = 2;
const HEAD = 20;
const LEVELS = 2;

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
