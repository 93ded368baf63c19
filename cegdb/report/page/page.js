// What the page of a CEG does. Texts of the survey are only ever set as text.
"use strict";
(() => {
  const model = JSON.parse(document.getElementById("model").textContent);
  const byId = (id) => document.getElementById(id);
  const HIDDEN = model.minN === null ? "\u2013" : "\u2026";
  const PALETTE = ["#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
    "#CC6677", "#332288", "#DDCC77", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933"];

  // ---- texts and elements -------------------------------------------------------------

  // With a symbol for each character that shows nothing.
  const visible = (text) => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (c) => {
    const code = c.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return code === 0x85 || code > 0xff ? "\u2424" : "\ufffd";
  });
  const count = (n) => (n === null ? HIDDEN : n.toLocaleString("en"));
  const PLURALS = { vertex: "vertices", person: "people" };
  const counted = (n, word) => `${count(n)} ${n === 1 ? word : PLURALS[word] || `${word}s`}`;
  const people = (n) => counted(n, "person");

  // All that the page says, but for its HTML and what comes with the model.
  const TEXT = {
    root: "everybody (the root)",
    position: (name) => `Position ${name}`,
    situation: (name) => `Situation ${name}`,
    leaf: (name) => `Leaf ${name}`,
    stageTitle: (name) => `Stage ${name}`,
    sink: "w\u221e, the sink",
    sinkSays: "Every path ends here.",
    severalVariables: "several variables",
    more: (n) => `and ${count(n)} more`,
    stage: (name) => `stage ${name}`,
    interval: (text) => `95 % ${text}`,
    intervalTip: (text) => `95 % interval ${text}`,
    reached: "Reached with probability ",
    reachedGiven: "; given the evidence ",
    given: "with evidence",
    tick: "tick: with evidence ",
    ticks: "Tick: before evidence.",
    before: (text) => `before evidence ${text}`,
    zoomOut: "Zoom out",
    zoomIn: "Zoom in",
    all: "all",
    showAll: "Show all",
    showStage: "Highlight this stage",
    nothing: "Nothing selected",
    howToSelect: "Click a position, a situation or a stage.",
    leave: "Nothing selected; press Tab to leave the graph",
    leads: "Leads to",
    itsPositions: "Its positions",
    itsSituations: "Its situations",
    probabilities: "Probabilities with 95 % intervals",
    noIntervals: "There are no intervals given evidence.",
    notDrawn: (n) => `${counted(n, "position")} not drawn`,
    notDrawnSays: "Edges that are drawn lead to these positions, which fewer people reach than the others. They are in "
      + "the tables and in SQL.",
    reachedBy: (n, situations) => `Reached by ${people(n)}, from ${counted(situations, "situation")}. `,
    reachedByPeople: (n) => `Reached by ${people(n)}. `,
    stageSize: (one) => `${people(one.n)}, ${counted(one.situations, "situation")} in ${counted(one.positions, "position")}.`,
    hidden: (n) => (n === 1 ? "This situation is not drawn further." : `${count(n)} situations, this one and those below `
      + "it, are not drawn further."),
    answer: (variable, label) => `${variable} = ${label}`,
    or: " or ",
    and: " and ",
    ofPosition: "Position ",
    toHidden: "\u2026",
    positionSpoken: (name, variable, stage, one, edges) => `Position ${name}: ${variable}, stage ${stage}, `
      + `${people(one.n)}, ${counted(one.situations, "situation")}; ${edges}`,
    headGiven: (head, evidence) => `${head}; given ${evidence}`,
    lastStep: "The numbers below are those after the last merge, not after the step shown.",
    stageSpoken: (name, n) => `Stage ${name}: ${counted(n, "situation")} highlighted; `,
    evidence: "Evidence",
    evidenceHelp: "Click answers to add evidence; all probabilities change. Several answers of a variable mean any of them. "
      + "People who are not asked count as \u201cnot applicable\u201d.",
    whiskers: (n) => ` Lines across the bars: 95\u00a0% intervals (n\u00a0=\u00a0${count(n)}).`,
    noWhiskers: " There are no intervals here with evidence: cegdb marginals with --given gives them.",
    remove: "Remove",
    clear: "Clear",
    impossible: "Impossible: no path agrees with ",
    probabilityOfEvidence: "Probability of this evidence: ",
    meansUseEvidence: ". Means use the evidence; n, share and interval do not.",
    stages: "Stages",
    stagesHelp: "The model gives situations of a stage the same probabilities of the next answer. White: stages of a single situation.",
    singles: (n) => `${counted(n, "stage")} of a single situation`,
    notFound: "nothing found",
    found: (vertices, edges) => `found ${counted(vertices, "vertex")}, ${counted(edges, "edge")}`,
    hides: (parts) => `hides ${parts.join(" and ")}; dashed vertices lead to hidden ones`,
    hidesNone: "hides none",
    hiddenStays: "; vertices without n stay",
    ofTotal: (n, total, word) => `${count(n)} of ${counted(total, word)}`,
    noTree: "The staged tree is not drawn.",
    merges: (n) => `The ${n === 1 ? "merge" : `${count(n)} merges`} that made the stages, step by step `,
    beforeMerges: (stages) => `Before the first merge: ${stages}.`,
    merged: (step, last, absorbed, kept, variable, factor, stages) => `Step ${step} of ${last}: the stage of ${absorbed} `
      + `joins that of ${kept} (${variable}), log Bayes factor ${factor}; ${stages}.`,
    stageNames: " Stages are named after their first situation, such as {s3}. The CEG is that after the last step.",
    copy: "Copy",
    copied: "Copied",
    copyByHand: "Select it and copy",
    settings: "Settings",
    conditioned: "This CEG is conditioned on ",
    conditionedSays: ". It has no priors and no intervals.",
    sql: "SQL of the tables",
    sqlHelp: "For cegdb sql, db.sql or any DuckDB client. The rows are under Tables and SQL.",
    sqlHidden: (minN) => `SQL shows every count. To print tables without counts below ${minN}: `
      + `cegdb show DB NAME --kind ceg --view positions --min-n ${minN}`,
    howToRead: "How to read this page",
    reading: (weighted) => [
      "A situation is a history of answers. A stage joins situations to which the model gives the same probabilities of the "
        + "next answer; a position joins situations to which it gives the same future. Each vertex of the CEG is a position, "
        + "and the last one is the sink w\u221e.",
      "Situations are joined if the data do not show that they differ, or if they were assumed to be alike. They may differ "
        + "all the same: the smaller n, the larger a difference that would go unnoticed.",
      `n: number of people who took an edge or reached a vertex${weighted ? "; shares and means are weighted" : ""}. `
        + "Share: n of the edge divided by n of its stage. Mean and 95 % interval: posterior distribution, conditional on "
        + "the stages; uncertainty about the stages is not included.",
      "Colours mark stages that several situations share; the name of the stage is shown below the vertex. Edges are wider "
        + "the more people took them, or, with evidence, the more probable they are.",
    ],
    rows: (first, last, total, held) => `rows ${count(first)} to ${count(last)} of ${count(total)}`
      + (held < total ? `; this page holds the first ${count(held)}` : ""),
    previous: "Previous",
    next: "Next",
  };

  function probability(value) {
    if (value === null || value === undefined) return HIDDEN;
    if (value === 0 || Math.abs(value - 1) < 1e-12) return value.toFixed(0);
    for (const digits of [3, 4]) {
      const text = value.toFixed(digits);
      if (Number(text) !== 0 && Number(text) !== 1) return text;
    }
    return value < 0.5 ? "<0.0001" : ">0.9999";
  }

  const interval = (one) => (one.low === null || one.low === undefined
    ? "" : `${probability(one.low)}\u2013${probability(one.high)}`);

  function el(tag, properties, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(properties || {})) {
      if (key === "class") made.className = value;
      else if (key === "on") made.addEventListener("click", value);
      else if (key.startsWith("aria-") || key.startsWith("data-") || key === "role") {
        made.setAttribute(key, value);
      } else made[key] = value;
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  // A text of the survey: isolated, since it may run from right to left.
  function surveyText(text, className) {
    const long = text.length > 120 ? " long" : "";
    const made = el("bdi", { class: (className || "") + long }, visible(text));
    if (long) made.title = visible(text);
    return made;
  }

  function textColour(colour) {
    const [r, g, b] = [1, 3, 5].map((at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
  }

  function swatch(colour) {
    const made = el("span", { class: "swatch" });
    made.style.background = colour;
    return made;
  }

  const announce = (text) => { byId("live").textContent = text; };

  // Exact numbers are in the tooltip, and in data-value for programs.
  function number(value, text) {
    const made = el("span", { class: "number" }, text);
    if (typeof value === "number") {
      made.title = String(value);
      made.dataset.value = String(value);
    }
    return made;
  }

  // ---- evidence: passes over the CEG, each edge once -------------------------------------

  const inference = typeof model.inference === "string" ? null : model.inference;
  const evidence = new Map(); // variable -> set of labels

  // Each path is weighed by its probability if it agrees with the evidence. The state is how
  // many of the known variables that some paths lack were met so far: all of them, at
  // the end, since a path has each at most once.
  function infer(known) {
    const { nodes, source, target, variable, label, probability: p, variables } = inference;
    const counts = new Int32Array(variables.length);
    const allowed = variables.map(() => null);
    let states = 1;
    for (const [at, labels] of known) {
      allowed[at] = variables[at].labels.map((text) => labels.has(text));
      if (!variables[at].occurs_always && !labels.has(inference.absent)) {
        counts[at] = 1;
        states += 1;
      }
    }
    const after = (e, s) => s + counts[variable[e]];
    const agrees = (e, s) => after(e, s) < states
      && (allowed[variable[e]] === null || allowed[variable[e]][label[e]]);
    const onward = new Float64Array(nodes * states);
    onward[nodes * states - 1] = 1;
    for (let e = source.length - 1; e >= 0; e -= 1) {
      for (let s = 0; s < states && agrees(e, s); s += 1) {
        onward[source[e] * states + s] += p[e] * onward[target[e] * states + after(e, s)];
      }
    }
    const ofEdge = (e, s) => {
      const before = onward[source[e] * states + s];
      if (!agrees(e, s) || !(before > 0)) return 0;
      return p[e] * onward[target[e] * states + after(e, s)] / before;
    };
    const reach = new Float64Array(nodes * states);
    const flow = new Float64Array(source.length);
    reach[0] = 1;
    if (!(onward[0] > 0)) return { impossible: true, probability: 0 };
    for (let e = 0; e < source.length; e += 1) {
      for (let s = 0; s < states && agrees(e, s); s += 1) {
        const passed = reach[source[e] * states + s] * ofEdge(e, s);
        reach[target[e] * states + after(e, s)] += passed;
        flow[e] += passed;
      }
    }
    const node = new Float64Array(nodes);
    for (let i = 0; i < reach.length; i += 1) node[Math.floor(i / states)] += reach[i];
    const marginals = variables.map((one) => one.labels.map(() => 0));
    for (let e = 0; e < source.length; e += 1) marginals[variable[e]][label[e]] += flow[e];
    variables.forEach((one, at) => {
      const absent = one.labels.indexOf(inference.absent);
      if (one.occurs_always || absent < 0) return;
      const rest = 1 - marginals[at].reduce((sum, x) => sum + x, 0);
      if (rest > 1e-12) marginals[at][absent] += rest;
    });
    return {
      probability: onward[0],
      node,
      edge: (e) => (node[source[e]] > 0 ? flow[e] / node[source[e]] : 0),
      flow: (e) => flow[e],
      marginals,
      // In the tree each vertex has one past, and so one state.
      ofTree: (edges) => {
        const state = new Map([[0, [0, 1]]]);
        const found = [];
        for (const one of edges) {
          const [s, before] = state.get(one.parent);
          const given = before > 0 ? ofEdge(one.edge, s) : 0;
          state.set(one.child, [after(one.edge, s), before * given]);
          found.push(given);
        }
        return { edge: found, vertex: (id) => state.get(id)[1] };
      },
    };
  }

  const prior = inference === null ? null : infer(new Map());
  let now = prior; // what holds given the evidence
  const isGiven = () => evidence.size > 0;

  // ---- the graphs --------------------------------------------------------------------------

  const STYLE = [
    { selector: "node", style: {
      shape: "round-rectangle", width: "data(w)", height: "data(h)",
      "background-color": "data(colour)", "border-width": 1, "border-color": "#404040",
      label: "data(label)", color: "data(ink)", "font-size": 10, "font-family": "Arial, sans-serif",
      "text-wrap": "wrap", "text-max-width": 9999, "text-valign": "center", "text-halign": "center",
      "min-zoomed-font-size": 4 } },
    { selector: "node.leaf", style: { "border-color": "#a0a0a0" } },
    { selector: "node.sink", style: { shape: "ellipse", "border-style": "double", "border-width": 3 } },
    { selector: "node.collapsed", style: { "border-style": "dashed", "background-color": "#f4f4f2" } },
    { selector: "node.column", style: {
      "background-opacity": 0, "border-width": 0, color: "#404040", "font-weight": "bold", events: "no",
      display: "none" } }, // on screen they stand above the graph, wherever it is moved: `heads`
    { selector: "node.column.paper", style: { display: "element" } },
    // The text of an edge is a vertex of its own: no other edge strikes through it.
    { selector: "node.text", style: {
      "background-opacity": 0, "border-width": 0, "underlay-opacity": 0, color: "#1b1b1b", events: "no",
      "text-background-color": "#ffffff", "text-background-opacity": 0.8 } },
    { selector: "edge", style: {
      "curve-style": "segments", "edge-distances": "endpoints",
      "segment-weights": (e) => e.data("weights"), "segment-distances": (e) => e.data("distances"),
      "source-endpoint": (e) => e.data("start"), "target-endpoint": (e) => e.data("end"),
      width: "data(width)", "line-color": "#7a7a7a", "target-arrow-color": "#7a7a7a",
      "target-arrow-shape": "triangle", "arrow-scale": 0.55 } },
    { selector: ".cut", style: { "border-style": "dashed", "border-width": 2 } },
    { selector: ".never, .past", style: { opacity: 0.25 } },
    { selector: ".dim", style: { opacity: 0.3 } },
    { selector: ".lit", style: {
      "border-width": 3, "border-color": "#000000", "underlay-color": "#0b57a4",
      "underlay-opacity": 0.25, "underlay-padding": 5, opacity: 1 } },
    { selector: "edge.lit", style: { "line-color": "#0b57a4", "target-arrow-color": "#0b57a4", opacity: 1 } },
    { selector: "node.chosen", style: {
      "border-width": 4, "border-color": "#000000", "underlay-color": "#0b57a4",
      "underlay-opacity": 0.6, "underlay-padding": 6, opacity: 1 } },
    { selector: "node.text.lit", style: {
      "background-opacity": 0, "border-width": 0, "underlay-opacity": 0, "font-weight": "bold" } },
    { selector: ".gone", style: { display: "none" } },
  ];

  const thickness = (width) => Math.max(0.9, width);

  const STEPS = model.ceg.edges.length + model.tree.edges.length > 800 ? 5 : 10;

  // Points along a spline of cubic pieces, the ends included.
  function sampled(points) {
    const found = [[points[0], points[1]]];
    for (let at = 0; at + 7 < points.length; at += 6) {
      const [ax, ay, bx, by, cx, cy, dx, dy] = points.slice(at, at + 8);
      for (let step = 1; step <= STEPS; step += 1) {
        const t = step / STEPS;
        const [w0, w1, w2, w3] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
        found.push([w0 * ax + w1 * bx + w2 * cx + w3 * dx, w0 * ay + w1 * by + w2 * cy + w3 * dy]);
      }
    }
    return found;
  }

  // The curve as Cytoscape.js takes it: relative to its ends.
  function bent(curve, from, to) {
    const points = sampled(curve.points);
    const [x1, y1] = points[0];
    const [x2, y2] = points[points.length - 1];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const inner = points.slice(1, -1);
    return {
      weights: inner.map(([x, y]) => ((x - x1) * ux + (y - y1) * uy) / length),
      distances: inner.map(([x, y]) => (y - y1) * ux - (x - x1) * uy),
      start: `${(x1 - from.x).toFixed(1)}px ${(y1 - from.y).toFixed(1)}px`,
      end: `${(x2 - to.x).toFixed(1)}px ${(y2 - to.y).toFixed(1)}px`,
    };
  }

  // The names of the variables over their columns; no longer than the columns are apart.
  function heads(drawing, box) {
    const columns = drawing.columns.map((one) => ({ x: one.x, text: one.lines.join("") }))
      .sort((a, b) => a.x - b.x);
    const spans = columns.map((one) => {
      const span = surveyText(one.text, "head");
      span.title = visible(one.text);
      return span;
    });
    box.before(el("div", { class: "heads" }, ...spans));
    return (zoom, pan) => columns.forEach(({ x }, at) => {
      const gaps = [columns[at - 1], columns[at + 1]].filter((one) => one).map((one) => Math.abs(one.x - x));
      const room = Math.min(...gaps, 400) * zoom - 4;
      const middle = x * zoom + pan;
      spans[at].hidden = room < 18;
      spans[at].style.maxWidth = `${room}px`;
      const half = spans[at].offsetWidth / 2; // a name whose column is in sight is whole
      const end = box.clientWidth - half;
      spans[at].style.left = `${middle < 0 || middle > box.clientWidth ? middle : Math.max(half, Math.min(end, middle))}px`;
    });
  }

  function makePane(name, part, looks) {
    const { drawing } = part;
    const box = byId(`graph-${name}`);
    if (drawing === null) {
      byId(`pane-${name}`).hidden = true;
      return null;
    }
    const elements = [];
    drawing.columns.forEach((column, at) => elements.push({
      group: "nodes", classes: "column", selectable: false, grabbable: false,
      position: { x: column.x, y: 6 * column.lines.length },
      data: { id: `c${at}`, label: column.lines.join("\n"), w: column.w, h: 12 * column.lines.length,
        colour: "#ffffff", ink: "#404040" },
    }));
    drawing.nodes.forEach((node, at) => {
      const { colour } = looks(at);
      elements.push({
        group: "nodes", classes: node.kind, grabbable: false, position: { x: node.x, y: node.y },
        data: { id: `n${at}`, at, label: node.lines.join("\n"), w: node.w, h: node.h, colour, ink: textColour(colour) },
      });
    });
    drawing.edges.forEach((edge, at) => elements.push({
      group: "edges",
      data: { id: `e${at}`, at, source: `n${edge.s}`, target: `n${edge.t}`, width: edge.width,
        ...bent(edge, drawing.nodes[edge.s], drawing.nodes[edge.t]) },
    }, {
      group: "nodes", classes: "text", selectable: false, position: { x: edge.x, y: edge.y },
      data: { id: `t${at}`, label: edge.lines.join("\n"), w: 1, h: 1, colour: "#ffffff", ink: "#1b1b1b" },
    }));
    const cy = cytoscape({
      container: box, elements, style: STYLE, layout: { name: "preset", fit: false }, minZoom: 0.02, maxZoom: 5,
      boxSelectionEnabled: false, autoungrabify: true, autounselectify: true,
    });
    const placeHeads = heads(drawing, box);
    cy.on("viewport resize", () => {
      byId(`pane-${name}`).classList.toggle("small", cy.zoom() < 0.55);
      placeHeads(cy.zoom(), cy.pan().x);
    });
    return { name, part, drawing, cy, box, cursor: -1, leaves: false };
  }

  const more = (n) => el("p", { class: "soft" }, TEXT.more(n));

  const stageLook = (stage) => ({
    colour: stage === null || stage === undefined || !model.stages[stage].shared
      ? "#ffffff" : model.stages[stage].colour,
  });
  const { positions } = model.ceg;
  const { vertices } = model.tree;
  const drawnVertices = vertices.filter((one) => one.drawn);
  const vertexOf = new Map(vertices.map((one) => [one.id, one]));
  const positionAt = new Map(positions.map((one, at) => [one.name, at]));
  const panes = {};

  // Vertices come after their parents; an edge of the tree has the numbers of its stage.
  for (const one of vertices) {
    const parent = vertexOf.get(one.parent);
    const step = parent === undefined ? "" : TEXT.answer(parent.variable, one.label);
    one.path = parent === undefined || !parent.path ? step : `${parent.path}, ${step}`;
  }
  (model.tree.drawing === null ? [] : model.tree.drawing.edges).forEach((drawn, at) => {
    const edge = model.tree.edges[at];
    const { share, probability: mean, low, high } = model.stages[drawnVertices[drawn.s].stage].edges[edge.of];
    Object.assign(edge, { share, probability: mean, low, high });
  });

  function refit(pane) {
    pane.cy.resize();
    pane.cy.fit(pane.cy.elements(":visible"), 12);
  }

  function makePanes() {
    panes.ceg = makePane("ceg", model.ceg, (at) => stageLook(at < positions.length ? positions[at].stage : null));
    panes.tree = makePane("tree", model.tree, (at) => stageLook(drawnVertices[at].stage));
    if (panes.tree) {
      // The ends of the tree's edges by vertex, for passes over it.
      panes.tree.links = panes.tree.drawing.edges.map((edge, at) => ({
        parent: drawnVertices[edge.s].id, child: drawnVertices[edge.t].id, edge: model.tree.edges[at].edge,
      }));
    }
    for (const pane of Object.values(panes)) {
      if (!pane) continue;
      pane.cy.on("tap", "node", (event) => choose(pane, event.target.data("at"), true));
      pane.cy.on("tap", "edge", (event) => choose(pane, pane.drawing.edges[event.target.data("at")].s, true));
      pane.cy.on("tap", (event) => { if (event.target === pane.cy) unselect(); });
      pane.box.addEventListener("keydown", (event) => onKey(pane, event));
      pane.box.addEventListener("mousedown", () => pane.box.focus({ preventScroll: true }));
      pane.box.addEventListener("blur", () => { pane.leaves = false; });
      const zoom = (by) => pane.cy.zoom({ level: pane.cy.zoom() * by,
        renderedPosition: { x: pane.box.clientWidth / 2, y: pane.box.clientHeight / 2 } });
      const buttons = pane.box.parentElement.querySelector(".zoom");
      const title = pane.box.getAttribute("aria-label");
      for (const [text, label, action] of [["\u2212", TEXT.zoomOut, () => zoom(0.8)],
        ["+", TEXT.zoomIn, () => zoom(1.25)], [TEXT.all, TEXT.showAll, () => refit(pane)]]) {
        buttons.append(el("button", { type: "button", title: label, "aria-label": `${label}: ${title}`, on: action }, text));
      }
      pane.zoom = zoom;
    }
  }

  // An edge with its text.
  const edgeAt = (pane, at) => pane.cy.getElementById(`e${at}`).union(pane.cy.getElementById(`t${at}`));

  const openPanes = () => Object.values(panes).filter((pane) => pane);

  // ---- what edges show -----------------------------------------------------------------------

  let isLastStep = true; // of the merge log; before it the probabilities are not those of the tree

  function edgeNumber(one, given, isCeg) {
    const info = byId("edge-info").value;
    if (!isLastStep && !isCeg && info !== "n") return "";
    if (info === "none") return "";
    if (info === "n") return one.n === undefined ? "" : count(one.n);
    if (info === "interval") return interval(one);
    if (info === "share") return one.share === null && model.minN === null ? "" : probability(one.share);
    return probability(isGiven() ? given : one.probability);
  }

  function refreshEdges() {
    const isPossible = isGiven() && now.node;
    for (const pane of openPanes()) {
      const isCeg = pane.name === "ceg";
      const { edges } = pane.part;
      const tree = isPossible && !isCeg ? now.ofTree(pane.links) : null;
      const reaches = (at) => {
        if (!isPossible) return isGiven() ? 0 : 1;
        if (!isCeg) return tree.vertex(drawnVertices[at].id);
        const { node } = positions[at] || {};
        return node === undefined ? 1 : now.node[node];
      };
      pane.cy.batch(() => {
        pane.drawing.edges.forEach((drawn, at) => {
          const one = edges[at];
          if (one === undefined) return; // leads from a collapsed node
          let given = null;
          let flow = 1;
          if (isPossible) {
            given = isCeg ? now.edge(one.edge) : tree.edge[at];
            flow = given * reaches(drawn.s);
          } else if (isGiven()) flow = 0;
          const text = edgeNumber(one, given, isCeg);
          pane.cy.getElementById(`t${at}`).data("label", [...drawn.lines, ...(text ? [text] : [])].join("\n"));
          pane.cy.getElementById(`e${at}`).data("width", thickness(isGiven() ? 5 * flow : drawn.width));
          edgeAt(pane, at).toggleClass("never", flow === 0);
        });
        pane.drawing.nodes.forEach((drawn, at) => {
          pane.cy.getElementById(`n${at}`).toggleClass("never", reaches(at) === 0);
        });
      });
    }
  }

  // ---- selection -----------------------------------------------------------------------------

  let selected = null; // { kind: "position" | "situation" | "stage" | "collapsed", ... }

  function mark() {
    for (const pane of openPanes()) {
      const isCeg = pane.name === "ceg";
      const all = isCeg ? positions : drawnVertices;
      pane.cy.batch(() => {
        pane.cy.elements().removeClass("lit chosen dim");
        pane.cursor = -1;
        if (selected === null) return;
        pane.drawing.nodes.forEach((node, at) => {
          const one = all[at];
          const element = pane.cy.getElementById(`n${at}`);
          if (selected.kind === "found") {
            element.toggleClass("lit", selected[pane.name].has(at));
            return;
          }
          if (one === undefined) {
            element.toggleClass("chosen", selected.pane === pane.name && selected.at === at);
            return;
          }
          const isOfPosition = selected.position !== undefined
            && (isCeg ? one.name : one.position) === selected.position && one.stage !== null;
          const isOfStage = selected.kind === "stage" && one.stage === selected.stage && one.stage !== null;
          element.toggleClass("lit", isOfPosition || isOfStage);
          const isIt = selected.pane === pane.name && selected.at === at;
          if (isIt) {
            element.addClass("chosen");
            pane.drawing.edges.forEach((edge, index) => {
              if (edge.s === at) edgeAt(pane, index).addClass("lit");
            });
            pane.cursor = at;
          }
        });
        if (selected.kind === "stage" || selected.kind === "found") {
          pane.cy.nodes().not(".lit").not(".column").addClass("dim");
          pane.cy.edges().addClass("dim");
        }
        if (selected.kind === "found" && selected.edges) {
          selected.edges[pane.name].forEach((at) => edgeAt(pane, at).removeClass("dim").addClass("lit"));
        }
      });
    }
  }

  // On a small screen a tap scrolls to the details; the keyboard stays in the graph.
  function choose(pane, at, isTap) {
    if (pane.name === "ceg") choosePosition(at);
    else chooseSituation(at);
    if (isTap) byId("selection").scrollIntoView({ block: "nearest" });
  }

  function choosePosition(at) {
    const one = positions[at];
    selected = one === undefined
      ? { kind: "collapsed", pane: "ceg", at }
      : { kind: "position", pane: "ceg", at, position: one.name };
    changed();
  }

  function chooseSituation(at) {
    selected = { kind: "situation", pane: "tree", at, position: drawnVertices[at].position || undefined };
    changed();
  }

  function chooseStage(stage) {
    selected = { kind: "stage", stage };
    changed();
  }

  function unselect() {
    selected = null;
    changed();
  }

  function changed() {
    mark();
    showSelection();
    document.querySelector("aside").scrollTop = 0;
  }

  // ---- details of what is selected --------------------------------------------------------

  // A bar with its interval, and a mark where it would be without evidence.
  function track(row) {
    const made = el("div", { class: "track" });
    const part = (className, left, width, title) => {
      const one = el("div", { class: className, title: title || "" });
      one.style.left = `${100 * left}%`;
      if (width !== null) one.style.width = `${100 * width}%`;
      made.append(one);
      return one;
    };
    if (typeof row.value === "number") {
      const bar = part("bar", 0, row.value);
      if (row.colour) bar.style.background = row.colour;
    }
    if (typeof row.low === "number") part("whisker", row.low, row.high - row.low, TEXT.intervalTip(interval(row)));
    if (typeof row.mark === "number") part("mark", row.mark, null, row.says);
    return made;
  }

  function edgeBar(one, colour, target, given) {
    const facts = [interval(one) ? TEXT.interval(interval(one)) : "", one.n === null || one.n === undefined ? "" : `n ${count(one.n)}`];
    const line = el("span", { class: "facts" }, facts.filter((fact) => fact).join(", "));
    if (given !== null) line.append(line.textContent ? "; " : "", TEXT.tick, number(given, probability(given)));
    else if (isGiven() && target) line.append(line.textContent ? "; " : "", `${TEXT.given} `, number(null, probability(null)));
    return el("li", { class: "answer" }, surveyText(one.label, "words"),
      target ? el("span", {}, "\u2192 ", target) : null, number(one.probability, probability(one.probability)),
      track({ value: one.probability, low: one.low, high: one.high, colour, mark: given, says: TEXT.given }), line);
  }

  const barColour = (stage) => (stage !== null && model.stages[stage].shared ? model.stages[stage].colour : "#bdbdbd");

  function stageBars(stage) {
    return el("ul", { class: "answers" }, ...model.stages[stage].edges.map((edge) => edgeBar(edge, barColour(stage), null, null)));
  }

  function stageButton(stage) {
    const one = model.stages[stage];
    return el("button", { type: "button", class: "chip", "data-stage": String(stage), on: () => chooseStage(stage),
      title: TEXT.showStage }, swatch(stageLook(stage).colour), surveyText(TEXT.stage(one.name)));
  }

  function positionButton(name) {
    const at = positionAt.get(name);
    if (at === undefined || !panes.ceg) return surveyText(name);
    return el("button", { type: "button", on: () => choosePosition(at) }, name === "w_inf" ? "w\u221e" : name);
  }

  function situationItem(one) {
    const at = drawnVertices.indexOf(one);
    return el("li", {},
      at < 0 || !panes.tree ? el("span", {}, one.name) : el("button", { type: "button", on: () => chooseSituation(at) }, one.name),
      surveyText(one.path || TEXT.root, "words"),
      one.n === null ? "" : el("span", { class: "number" }, `n ${count(one.n)}`));
  }

  // Where the edges of the selected one lead, with their numbers.
  function edgeList(pane, at, stage) {
    const list = el("ul", { class: "answers", "data-part": "leads" });
    const tree = pane.name === "tree" && isGiven() && now.node ? now.ofTree(pane.links) : null;
    pane.drawing.edges.forEach((drawn, index) => {
      const one = pane.part.edges[index];
      if (drawn.s !== at || one === undefined) return;
      let given = null;
      if (isGiven() && now.node) given = tree ? tree.edge[index] : now.edge(one.edge);
      const target = pane.name === "ceg"
        ? (positions[drawn.t] ? positionButton(positions[drawn.t].name) : el("span", {}, TEXT.toHidden))
        : el("button", { type: "button", on: () => chooseSituation(drawn.t) }, drawnVertices[drawn.t].name);
      list.append(edgeBar(one, barColour(stage), target, given));
    });
    return list;
  }

  function reachedLine(node, tree) {
    if (prior === null || node === null || node === undefined) return null;
    const line = el("p", {}, TEXT.reached);
    const before = tree ? prior.ofTree(panes.tree.links).vertex(tree) : prior.node[node];
    line.append(number(before, probability(before)));
    if (isGiven()) {
      let given = null;
      if (now.node) given = tree ? now.ofTree(panes.tree.links).vertex(tree) : now.node[node];
      const shown = number(given, probability(given));
      shown.id = "reached-given";
      line.append(TEXT.reachedGiven, shown);
    }
    return line;
  }

  function showSelection() {
    const box = byId("selection");
    const isInside = box.contains(document.activeElement);
    box.replaceChildren();
    if (isInside) box.focus({ preventScroll: true }); // the button pressed is gone
    if (selected === null || selected.kind === "found") {
      box.append(el("h2", {}, TEXT.nothing), el("p", { class: "soft" }, TEXT.howToSelect));
      return;
    }
    if (selected.kind === "stage") showStage(box, selected.stage);
    else if (selected.pane === "ceg") showPosition(box, selected.at);
    else showSituation(box, selected.at);
    announce(box.dataset.spoken);
  }

  function spoken(pane, at) {
    return pane.drawing.edges.map((drawn, index) => [drawn, pane.part.edges[index]])
      .filter(([drawn, one]) => drawn.s === at && one !== undefined)
      .map(([, one]) => `${visible(one.label)} ${probability(one.probability)}`).join(", ");
  }

  function showPosition(box, at) {
    const one = positions[at];
    if (one === undefined) {
      const hidden = panes.ceg.drawing.nodes[at].hides;
      box.append(el("h2", {}, TEXT.notDrawn(hidden)), el("p", {}, TEXT.notDrawnSays));
      box.dataset.spoken = TEXT.notDrawn(hidden);
      return;
    }
    if (one.stage === null) {
      box.append(el("h2", {}, TEXT.sink), el("p", {}, TEXT.sinkSays));
      box.dataset.spoken = `${TEXT.sink}: ${TEXT.sinkSays}`;
      return;
    }
    const stage = model.stages[one.stage];
    box.append(el("h2", {}, TEXT.position(one.name), one.variable === null ? "" : ": ", surveyText(one.variable || "")),
      el("p", {}, TEXT.reachedBy(one.n, one.situations), stageButton(one.stage)));
    const reached = reachedLine(one.node, null);
    if (reached) box.append(reached);
    box.append(el("h3", {}, TEXT.leads), edgeList(panes.ceg, at, one.stage));
    const members = one.members.map((id) => vertexOf.get(id));
    box.append(el("h3", {}, TEXT.itsSituations), el("ul", { class: "list" }, ...members.map(situationItem)));
    if (members.length < one.situations) box.append(more(one.situations - members.length));
    box.dataset.spoken = TEXT.positionSpoken(one.name, visible(one.variable || TEXT.severalVariables), visible(stage.name),
      one, spoken(panes.ceg, at));
  }

  function showSituation(box, at) {
    const one = drawnVertices[at];
    const { hides } = panes.tree.drawing.nodes[at];
    const isLeaf = one.variable === null;
    const title = isLeaf ? TEXT.leaf(one.name) : TEXT.situation(one.name);
    box.append(el("h2", {}, title, isLeaf ? "" : ": ", surveyText(one.variable || "")),
      el("p", {}, surveyText(one.path || TEXT.root)));
    warnOfStep(box);
    const line = el("p", {}, one.n === null ? "" : TEXT.reachedByPeople(one.n));
    if (one.position) line.append(TEXT.ofPosition, positionButton(one.position), " ");
    if (one.stage !== null) line.append(stageButton(one.stage));
    box.append(line);
    const reached = prior && panes.tree ? reachedLine(0, one.id) : null;
    if (reached) box.append(reached);
    if (hides) box.append(el("p", {}, TEXT.hidden(hides)));
    else if (!isLeaf) box.append(el("h3", {}, TEXT.leads), edgeList(panes.tree, at, one.stage));
    box.dataset.spoken = `${title}: ${visible(one.path || TEXT.root)}`
      + `${one.n === null ? "" : `, ${people(one.n)}`}; ${spoken(panes.tree, at)}`;
  }

  function warnOfStep(box) {
    if (!isLastStep) box.append(el("p", { class: "notice" }, TEXT.lastStep));
  }

  function showStage(box, stage) {
    const one = model.stages[stage];
    warnOfStep(box);
    box.append(el("h2", {}, swatch(stageLook(stage).colour), surveyText(TEXT.stageTitle(one.name)), one.variable === null ? "" : ": ", surveyText(one.variable || "")),
      el("p", {}, TEXT.stageSize(one)),
      el("h3", {}, TEXT.probabilities), stageBars(stage));
    if (one.average !== null) box.append(el("p", { "data-part": "average" }, surveyText(one.average)));
    if (model.given !== null) box.append(el("p", { class: "soft" }, TEXT.noIntervals));
    const members = vertices.filter((vertex) => vertex.stage === stage).slice(0, 200);
    const at = positions.filter((position) => position.stage === stage).slice(0, 200);
    box.append(el("h3", {}, TEXT.itsPositions), el("p", { class: "chips" }, ...at.map((position) => positionButton(position.name))));
    if (at.length < one.positions) box.append(more(one.positions - at.length));
    box.append(el("h3", {}, TEXT.itsSituations), el("ul", { class: "list" }, ...members.map(situationItem)));
    if (members.length < one.situations) box.append(more(one.situations - members.length));
    box.dataset.spoken = TEXT.stageSpoken(visible(one.name), one.situations)
      + one.edges.map((edge) => `${visible(edge.label)} ${probability(edge.probability)}`).join(", ");
  }

  // ---- evidence, as it is set and shown -------------------------------------------------------

  function toggle(at, label) {
    const labels = evidence.get(at) || new Set();
    if (!labels.delete(label)) labels.add(label);
    if (labels.size) evidence.set(at, labels);
    else evidence.delete(at);
    applyEvidence();
  }

  function evidenceWords() {
    return [...evidence].sort(([a], [b]) => a - b).map(([at, labels]) => {
      const { name, labels: all } = inference.variables[at];
      return TEXT.answer(visible(name), all.filter((text) => labels.has(text)).map(visible).join(TEXT.or));
    });
  }

  function applyEvidence() {
    now = isGiven() ? infer(evidence) : prior;
    if (isGiven()) byId("edge-info").value = "probability";
    refreshEdges();
    showEvidence();
    showSelection();
    const given = byId("given");
    if (given) announce(given.textContent);
  }

  function showEvidence() {
    const box = byId("evidence");
    const focus = document.activeElement && document.activeElement.dataset.toggle;
    const isKnown = byId("known").contains(document.activeElement);
    box.replaceChildren(el("h2", {}, TEXT.evidence));
    showGiven();
    if (inference === null) {
      box.append(el("p", { class: "notice", id: "evidence-off" }, model.inference));
      return;
    }
    const about = inference.n === null ? "" : isGiven() ? TEXT.noWhiskers : TEXT.whiskers(inference.n);
    box.append(el("p", { class: "soft" }, (isGiven() ? TEXT.ticks : TEXT.evidenceHelp) + about));
    inference.variables.forEach((variable, at) => {
      const known = evidence.get(at) || new Set();
      const rows = el("div", { class: "bars" });
      variable.labels.forEach((label, index) => {
        const before = prior.marginals[at][index];
        if (before === 0 && !known.has(label)) return;
        const value = now.marginals ? now.marginals[at][index] : null;
        const [low, high] = (!isGiven() && variable.limits[index]) || [];
        rows.append(el("button", { type: "button", class: "text", title: TEXT.answer(visible(variable.name), visible(label)),
          "aria-pressed": String(known.has(label)), "data-toggle": `${at}.${index}`, on: () => toggle(at, label) }, surveyText(label)),
        track({ value, low, high, mark: isGiven() ? before : undefined, says: TEXT.before(probability(before)) }),
        number(value, probability(value)));
      });
      if (rows.children.length) box.append(el("div", { class: "variable" }, surveyText(variable.name)), rows);
    });
    if (focus) {
      const again = box.querySelector(`[data-toggle="${focus}"]`);
      if (again) again.focus();
    }
    if (isKnown) (isGiven() ? byId("known") : box).querySelector("button").focus();
  }

  function showGiven() {
    const bar = byId("known");
    bar.replaceChildren();
    bar.hidden = !isGiven();
    if (bar.hidden) return;
    for (const [at, labels] of evidence) {
      for (const label of labels) {
        bar.append(el("button", { type: "button", class: "chip on", title: TEXT.remove, on: () => toggle(at, label) },
          surveyText(TEXT.answer(inference.variables[at].name, label)), " \u00d7"));
      }
    }
    bar.append(el("button", { type: "button", class: "chip", id: "clear", on: () => { evidence.clear(); applyEvidence(); } }, TEXT.clear));
    const known = evidenceWords().join(TEXT.and);
    const given = el("span", { id: "given", class: now.node ? "" : "wrong" });
    bar.append(given);
    if (now.impossible) given.append(TEXT.impossible, surveyText(known), ".");
    else given.append(TEXT.probabilityOfEvidence, number(now.probability, probability(now.probability)), TEXT.meansUseEvidence);
  }

  function showStages() {
    const shared = model.stages.map((one, at) => at).filter((at) => model.stages[at].shared);
    const single = model.stages.map((one, at) => at).filter((at) => !model.stages[at].shared);
    const box = byId("stages");
    box.append(el("h2", {}, TEXT.stages), el("p", { class: "soft" }, TEXT.stagesHelp));
    const chip = (at) => {
      const one = model.stages[at];
      return el("button", { type: "button", class: "chip", "data-stage": String(at), on: () => chooseStage(at) },
        swatch(stageLook(at).colour), surveyText(`${one.name} ${one.variable || ""}`), ` (${count(one.situations)})`);
    };
    box.append(el("div", { class: "chips" }, ...shared.slice(0, 300).map(chip)));
    if (single.length) {
      box.append(el("details", {}, el("summary", {}, TEXT.singles(single.length)),
        el("div", { class: "chips" }, ...single.slice(0, 300).map(chip))));
    }
  }

  // ---- search and collapse --------------------------------------------------------------------

  function search() {
    const sought = byId("search").value.trim().toLowerCase();
    if (!sought) {
      byId("found").textContent = "";
      if (selected && selected.kind === "found") unselect();
      return;
    }
    const has = (...texts) => texts.some((text) => text !== null && text !== undefined
      && visible(text).toLowerCase().includes(sought));
    const is = (...texts) => texts.some((text) => text && visible(text).toLowerCase() === sought);
    const isName = /^[wsul]\d+$|^w_inf$/.test(sought);
    const stageName = (one) => (one.stage === null ? null : model.stages[one.stage].name);
    selected = { kind: "found", edges: {} };
    let [nodes, edges] = [0, 0];
    for (const pane of openPanes()) {
      const all = pane.name === "ceg" ? positions : drawnVertices;
      selected[pane.name] = new Set(all.map((one, at) => at).filter((at) => (isName
        ? is(all[at].name, all[at].variable, stageName(all[at]))
        : has(all[at].name, all[at].variable, stageName(all[at])))));
      selected.edges[pane.name] = new Set(pane.part.edges.map((one, at) => at)
        .filter((at) => (isName ? is : has)(pane.part.edges[at].label)));
      nodes += selected[pane.name].size;
      edges += selected.edges[pane.name].size;
    }
    const result = nodes + edges === 0 ? TEXT.notFound : TEXT.found(nodes, edges);
    byId("found").textContent = result;
    announce(result);
    changed();
  }

  // Enter goes to the first vertex found that is in sight.
  function goToFound() {
    if (!selected || selected.kind !== "found") return;
    for (const pane of openPanes()) {
      const ends = [...selected.edges[pane.name]].map((edge) => pane.drawing.edges[edge].s);
      const at = [...selected[pane.name], ...ends]
        .find((one) => !pane.cy.getElementById(`n${one}`).hasClass("gone"));
      if (at !== undefined) {
        choose(pane, at);
        pane.cy.center(pane.cy.getElementById(`n${at}`));
        return;
      }
    }
  }

  function collapse() {
    const least = Math.max(0, Number(byId("collapse").value) || 0);
    const parts = [];
    for (const pane of openPanes()) {
      const isCeg = pane.name === "ceg";
      const all = isCeg ? positions : drawnVertices;
      const isGone = (at) => {
        const one = all[at];
        return at > 0 && one !== undefined && one.n !== null && one.n < least && !(isCeg && one.stage === null);
      };
      let hidden = 0;
      pane.cy.batch(() => {
        pane.cy.nodes().removeClass("gone cut");
        pane.drawing.nodes.forEach((node, at) => {
          if (!isGone(at)) return;
          pane.cy.getElementById(`n${at}`).addClass("gone");
          if (isCeg || all[at].variable !== null) hidden += 1;
        });
        pane.drawing.edges.forEach((edge, at) => {
          pane.cy.getElementById(`t${at}`).toggleClass("gone", isGone(edge.s) || isGone(edge.t));
          if (isGone(edge.t)) pane.cy.getElementById(`n${edge.s}`).addClass("cut");
        });
      });
      const total = isCeg ? positions.length - 1 : drawnVertices.filter((one) => one.variable !== null).length;
      if (hidden) parts.push(TEXT.ofTotal(hidden, total, isCeg ? "position" : "situation"));
    }
    const stays = model.minN === null ? "" : TEXT.hiddenStays;
    byId("collapsed").textContent = parts.length ? TEXT.hides(parts) + stays : (least > 0 ? TEXT.hidesNone + stays : "");
  }

  // ---- keyboard ---------------------------------------------------------------------------------

  function onKey(pane, event) {
    const pans = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (pans[event.key]) pane.cy.panBy({ x: pans[event.key][0], y: pans[event.key][1] });
    else if (event.key === "+" || event.key === "=") pane.zoom(1.25);
    else if (event.key === "-") pane.zoom(0.8);
    else if (event.key === "0") refit(pane);
    else if (event.key === "Enter") byId("selection").focus();
    else if (event.key === "Escape") {
      unselect();
      pane.leaves = true;
      announce(TEXT.leave);
    } else if (event.key === "Tab" && !pane.leaves) {
      const step = event.shiftKey ? -1 : 1;
      let at = pane.cursor + step;
      const isGone = (i) => pane.cy.getElementById(`n${i}`).hasClass("gone");
      while (at >= 0 && at < pane.drawing.nodes.length && isGone(at)) at += step;
      if (at < 0 || at >= pane.drawing.nodes.length) return;
      choose(pane, at);
      pane.cursor = at;
      show(pane, at);
    } else return;
    event.preventDefault();
  }

  // Move the graph if the vertex is out of sight.
  function show(pane, at) {
    const node = pane.cy.getElementById(`n${at}`);
    const { x1, y1, x2, y2 } = node.renderedBoundingBox();
    if (x1 < 0 || y1 < 0 || x2 > pane.box.clientWidth || y2 > pane.box.clientHeight) pane.cy.center(node);
  }

  // ---- the merge log -------------------------------------------------------------------------

  function showMerging() {
    const box = byId("merging");
    const log = model.merges;
    if (typeof log === "string" || !panes.tree) {
      box.append(el("p", { class: "soft", id: "no-merges" }, typeof log === "string" ? log : TEXT.noTree));
      return;
    }
    const last = log.steps.length;
    const slider = el("input", { type: "range", min: "0", max: String(last), value: String(last), id: "step" });
    const status = el("output", { id: "step-status" });
    box.append(el("label", {}, TEXT.merges(last), slider), status);
    const finals = new Set(drawnVertices.filter((one) => one.stage !== null).map((one) => groupAt(last).get(one.id)));
    const ownColour = new Map(); // of stages that another one absorbs later: those left over first
    const used = model.stages.filter((one) => one.shared).length;
    log.steps.forEach(([kept]) => {
      if (!finals.has(kept) && !ownColour.has(kept)) ownColour.set(kept, PALETTE[(used + ownColour.size) % PALETTE.length]);
    });
    const nameOf = (id) => vertexOf.get(id).name;
    const draw = () => {
      const step = Number(slider.value);
      const group = groupAt(step);
      const size = new Map();
      group.forEach((root) => size.set(root, (size.get(root) || 0) + 1));
      const isLast = step === last;
      isLastStep = isLast;
      refreshEdges();
      panes.tree.cy.batch(() => {
        panes.tree.drawing.nodes.forEach((node, at) => {
          const one = drawnVertices[at];
          if (one.stage === null) return;
          const root = group.get(one.id);
          const isShared = size.get(root) > 1;
          let { colour } = stageLook(one.stage);
          if (!isLast) colour = isShared ? ownColour.get(root) || stageLook(vertexOf.get(root).stage).colour : "#ffffff";
          const lines = isLast ? node.lines : [one.name, ...(isShared ? [`{${nameOf(root)}}`] : [])];
          const element = panes.tree.cy.getElementById(`n${at}`);
          element.data({ colour, ink: textColour(colour), label: lines.join("\n") });
        });
        if (panes.ceg) panes.ceg.cy.elements().toggleClass("past", !isLast);
      });
      const left = counted(size.size, "stage");
      if (step === 0) status.textContent = TEXT.beforeMerges(left);
      else {
        const [kept, absorbed, factor] = log.steps[step - 1];
        status.textContent = TEXT.merged(step, last, nameOf(absorbed), nameOf(kept), visible(log.variable[step - 1]),
          factor.toFixed(3), left) + (isLast ? "" : TEXT.stageNames);
      }
    };
    slider.addEventListener("input", draw);
    draw();
  }

  function groupAt(step) {
    const group = new Map(drawnVertices.filter((one) => one.stage !== null).map((one) => [one.id, one.id]));
    const parent = new Map(model.merges.start);
    model.merges.steps.slice(0, step).forEach(([kept, absorbed]) => parent.set(absorbed, kept));
    const root = (id) => { let at = id; while (parent.has(at)) at = parent.get(at); return at; };
    group.forEach((_, id) => group.set(id, root(id)));
    return group;
  }

  // ---- the other tabs --------------------------------------------------------------------------

  function copyButton(text) {
    const button = el("button", { type: "button", class: "copy" }, TEXT.copy);
    button.addEventListener("click", async () => {
      let done = false;
      try {
        await navigator.clipboard.writeText(text);
        done = true;
      } catch {
        const area = el("textarea", { value: text });
        document.body.append(area);
        area.select();
        done = document.execCommand("copy");
        area.remove();
      }
      button.textContent = done ? TEXT.copied : TEXT.copyByHand;
      announce(button.textContent);
      setTimeout(() => { button.textContent = TEXT.copy; }, 1500);
    });
    return button;
  }

  function showAbout() {
    const box = byId("about");
    if (model.given !== null) box.append(el("p", { class: "card" }, TEXT.conditioned, surveyText(model.given),
      TEXT.conditionedSays));
    for (const notice of model.notices) box.append(el("p", { class: "notice" }, notice));
    if (inference === null) box.append(el("p", { class: "notice" }, model.inference));
    if (typeof model.merges === "string") box.append(el("p", { class: "soft" }, model.merges));
    for (const one of model.about) {
      const card = el("div", { class: "card" }, el("h2", {}, visible(one.title)));
      if (one.lines.length) card.append(el("pre", {}, one.lines.map(visible).join("\n")));
      for (const note of one.notes) card.append(el("p", { class: "notice" }, visible(note)));
      if (one.settings.length) {
        card.append(el("details", {}, el("summary", {}, TEXT.settings), el("dl", {},
          ...one.settings.flatMap(([key, value]) => [el("dt", {}, visible(key)), el("dd", {}, visible(value))]))));
      }
      box.append(card);
    }
    const withSql = model.tables.filter((table) => table.sql);
    if (withSql.length) {
      const card = el("div", { class: "card", id: "about-sql" }, el("h2", {}, TEXT.sql),
        el("p", { class: "soft" }, TEXT.sqlHelp));
      for (const table of withSql) {
        card.append(el("details", {}, el("summary", {}, table.title), el("pre", { class: "sql" }, table.sql),
          el("div", { class: "bar-of-buttons" }, copyButton(table.sql))));
      }
      box.append(card);
    }
    box.append(el("div", { class: "card" }, el("h2", {}, TEXT.howToRead),
      ...TEXT.reading(model.weighted).map((text) => el("p", {}, text))));
  }

  function showTables() {
    const box = byId("tables");
    if (model.minN !== null) {
      box.append(el("p", { class: "notice" }, TEXT.sqlHidden(model.minN)));
    }
    for (const table of model.tables) box.append(tableCard(table));
  }

  function tableCard(table) {
    const card = el("div", { class: "card", "data-view": table.view }, el("h2", {}, table.title));
    if (table.sql) {
      card.append(el("pre", { class: "sql" }, table.sql), el("div", { class: "bar-of-buttons" }, copyButton(table.sql)));
    }
    const size = 25;
    let first = 0;
    const body = el("tbody");
    const range = el("span", { class: "soft" });
    const isNumber = table.columns.map((_, at) => table.rows.every((row) => row[at] === null || typeof row[at] === "number"));
    const show = () => {
      const rows = table.rows.slice(first, first + size);
      body.replaceChildren(...rows.map((row) => el("tr", {}, ...row.map((value, at) => cell(value, table.columns[at], isNumber[at])))));
      range.textContent = TEXT.rows(first + 1, first + rows.length, table.n_rows, table.rows.length);
    };
    const turn = (by) => {
      first = Math.min(Math.max(0, first + by * size), Math.floor((table.rows.length - 1) / size) * size);
      show();
    };
    card.append(el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {},
      ...table.columns.map((name, at) => el("th", { class: isNumber[at] ? "number" : "", scope: "col" }, name)))), body)));
    const pager = el("div", { class: "bar-of-buttons" }, range);
    if (table.rows.length > size) {
      pager.prepend(el("button", { type: "button", on: () => turn(-1) }, TEXT.previous),
        el("button", { type: "button", on: () => turn(1) }, TEXT.next));
    }
    card.append(pager);
    show();
    return card;
  }

  function cell(value, column, isNumber) {
    if (value === null) return el("td", { class: "soft" }, model.minN === null ? "" : "\u2026");
    if (!isNumber) return el("td", {}, surveyText(Array.isArray(value) ? value.join(", ") : String(value)));
    const isProbability = ["share", "probability", "low", "high"].includes(column);
    return el("td", { class: "number", title: String(value), "data-value": String(value) },
      isProbability ? probability(value) : value.toLocaleString("en", { maximumFractionDigits: 4 }));
  }

  // ---- on paper ------------------------------------------------------------------------------

  // Paper gets a picture of the whole of each graph: the canvas has the size of the screen.
  window.addEventListener("beforeprint", () => {
    for (const pane of openPanes()) {
      pane.cy.nodes(".column").addClass("paper");
      const image = pane.cy.png({ full: true, bg: "#ffffff", maxWidth: 2400, maxHeight: 3400 });
      pane.cy.nodes(".column").removeClass("paper");
      pane.box.after(el("img", { class: "printed", alt: pane.box.getAttribute("aria-label"), src: image }));
    }
  });
  window.addEventListener("afterprint", () => document.querySelectorAll(".printed").forEach((one) => one.remove()));

  // ---- tabs and start ------------------------------------------------------------------------

  const TABS = ["about", "graph", "tables"];

  function openTab(name) {
    for (const one of TABS) {
      byId(one).hidden = one !== name;
      byId(`tab-${one}`).setAttribute("aria-selected", String(one === name));
      byId(`tab-${one}`).tabIndex = one === name ? 0 : -1;
    }
    document.body.classList.toggle("graphing", name === "graph");
    if (name !== "graph") return;
    if (panes.ceg === undefined) start();
    for (const pane of openPanes()) pane.cy.resize();
  }

  function showPanes() {
    const shown = byId("show").value;
    for (const pane of openPanes()) {
      byId(`pane-${pane.name}`).hidden = shown !== "both" && shown !== pane.name;
    }
    byId("panes").classList.toggle("one", shown !== "both" || openPanes().length < 2);
    for (const pane of openPanes()) if (!byId(`pane-${pane.name}`).hidden) refit(pane);
  }

  function start() {
    makePanes();
    for (const notice of model.notices) byId("notices").append(el("p", { class: "notice" }, notice));
    showEvidence();
    showStages();
    showSelection();
    showMerging();
    refreshEdges();
    showPanes();
    byId("search").addEventListener("input", search);
    byId("tools").addEventListener("submit", (event) => event.preventDefault());
    byId("search").addEventListener("keydown", (event) => { if (event.key === "Enter") goToFound(); });
    byId("edge-info").addEventListener("change", refreshEdges);
    byId("collapse").addEventListener("input", collapse);
    byId("show").addEventListener("change", showPanes);
  }

  byId("title").append("CEG ", surveyText(model.name));
  byId("head").textContent = model.given === null ? model.head : TEXT.headGiven(model.head, visible(model.given));
  TABS.forEach((name, at) => {
    const tab = byId(`tab-${name}`);
    tab.addEventListener("click", () => openTab(name));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = TABS[(at + step + TABS.length) % TABS.length];
      openTab(next);
      byId(`tab-${next}`).focus();
    });
  });
  showAbout();
  showTables();
  openTab("graph");
})();
