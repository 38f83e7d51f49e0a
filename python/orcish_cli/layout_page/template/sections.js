// Ranges of values, bloom filters and advice.

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
