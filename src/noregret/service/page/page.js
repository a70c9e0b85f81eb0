"use strict";
// Figures so far come as marks; what happened between two of them is their difference. Names are set as text, never as markup.
const at = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");
const BASE = { majority_label: "most frequent label", last_label: "previous label", mean_label: "mean of the labels so far" };
let told = null, stream = null, drawn = 0;

const number = (x) => x === null || x === undefined ? "–" : Number.isInteger(x) ? x.toLocaleString("en") : x.toPrecision(5);
const percent = (x) => x === null || !isFinite(x) ? "–" : (100 * x).toFixed(2) + " %";
const millis = (x) => x === null ? "–" : (1000 * x).toFixed(2) + " ms";
const ratio = (a, b) => b > 0 ? a / b : null;

async function get(path) {
  const answer = await fetch(path);
  if (answer.status === 401) { location = "/login.html"; }
  if (!answer.ok) { throw new Error((await answer.json()).error); }
  return answer.json();
}

function say(text, alarm = false) {
  at("state").textContent = text;
  at("state").className = alarm ? "alarm" : "";
}

function tiles() {
  const now = told.now, classes = told.task !== "regression";
  const shown = [
    ["Rows predicted", number(now.predicted)], ["Labels learned", number(now.labelled)], ["Waiting", number(now.waiting)],
    classes ? ["Error", percent(ratio(now.mistakes, now.labelled))] : ["Loss per row", number(ratio(now.loss, now.labelled))],
    ["Loss", number(now.loss)], ["Staleness cost", number(now.staleness)],
    ["Updates before a label", number(ratio(now.delay, now.labelled))],
    ["Prediction, median", millis(now.pace.predict.p50)], ["Prediction, 99 %", millis(now.pace.predict.p99)],
    ["Label on disk, median", millis(now.pace.label.p50)], ["Label on disk, 99 %", millis(now.pace.label.p99)],
    ["Events on disk", number(now.on_disk.written)],
  ];
  if (now.decisions) {
    const d = now.decisions;
    shown.push(classes ? ["Error of decisions", percent(ratio(d.mistakes, d.rounds))] : ["Loss of decisions", number(ratio(d.loss, d.rounds))]);
    shown.push(classes ? ["Error on the same rows", percent(ratio(d.own_mistakes, d.rounds))] : ["Loss on the same rows", number(ratio(d.own_loss, d.rounds))]);
  }
  at("tiles").replaceChildren(...shown.map(([name, value]) => {
    const box = document.createElement("div"), term = document.createElement("dt"), said = document.createElement("dd");
    term.textContent = name;
    said.textContent = value;
    box.append(term, said);
    return box;
  }));
}

function draw(id, lines, format) {
  const style = getComputedStyle(document.documentElement), ink = style.getPropertyValue("--ink").trim();
  const axis = { gridcolor: style.getPropertyValue("--line").trim(), zeroline: false, color: ink };
  const traces = lines.map(([name, x, y, dash, color]) => ({
    name, x, y, mode: "lines", line: { dash, width: dash ? 1.5 : 2, color }, hovertemplate: "%{y:" + format + "}",
  }));
  Plotly.react(id, traces, {
    margin: { l: 55, r: 10, t: 5, b: 35 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, size: 12 }, xaxis: { ...axis, type: "date" }, yaxis: { ...axis, tickformat: format, rangemode: "tozero" },
    legend: { orientation: "h", y: -0.18 }, hovermode: "x unified", showlegend: lines.length > 1,
  }, { displaylogo: false, responsive: true, displayModeBar: false });
}

function charts() {
  const span = Number(at("span").value), now = Date.now() / 1000;
  const all = told.marks.concat([{ time: now, figures: told.now }]).filter((one) => one.figures.labelled > 0);
  const marks = span ? all.filter((one) => one.time >= now - span) : all;
  const x = marks.map((one) => new Date(1000 * one.time));
  const sofar = (name) => marks.map((one) => ratio(one.figures[name], one.figures.labelled));
  const recent = (name) => marks.map((one, i) => {
    const before = i ? marks[i - 1].figures : null;
    return before && one.figures.labelled > before.labelled
      ? (one.figures[name] - before[name]) / (one.figures.labelled - before.labelled) : null;
  });
  const classes = told.task !== "regression", blue = "#2f7ed8", grey = "#8a949e", orange = "#d9822b";
  const baselines = Object.keys(BASE).filter((name) => "baseline_" + name in told.now)
    .map((name, i) => ["baseline: " + BASE[name], x, sofar("baseline_" + name), i ? "dot" : "dash", grey]);
  const judged = classes ? "mistakes" : "loss";
  at("score-title").textContent = classes ? "Error" : "Loss against both baselines";
  draw("score", [["so far", x, sofar(judged), null, blue], ["recent window", x, recent(judged), null, orange], ...baselines], classes ? ".1%" : ".4~g");
  draw("loss", [["so far", x, sofar("loss"), null, blue], ["recent window", x, recent("loss"), null, orange],
    ["by the learner, as labels came", x, sofar("fresh_loss"), "dash", grey]], ".4~g");
  draw("waiting", [["waiting", x, marks.map((one) => one.figures.waiting), null, blue]], ",d");
  draw("staleness", [["staleness cost", x, marks.map((one) => one.figures.staleness), null, blue]], ".4~g");
}

function receipts() {
  at("receipts").replaceChildren(...told.receipts.slice().reverse().map((one) => {
    const row = document.createElement("tr");
    for (const text of [one.place, number(one.events), number(one.labelled), one.digest.slice(0, 16) + "…"]) {
      const cell = document.createElement("td");
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  }));
  at("head").textContent = told.now.log || "no event yet";
}

function show() {
  tiles();
  receipts();
  const failed = told.now.on_disk.failed;
  say(failed || told.learner + " · loss " + told.loss + " · " + new Date().toLocaleTimeString(), Boolean(failed));
  if (performance.now() - drawn > 1000) { // the charts are drawn once a second at most
    drawn = performance.now();
    charts();
  }
}

async function open(name) {
  if (stream) { stream.close(); }
  const path = "/v1/models/" + encodeURIComponent(name);
  told = await get(path + "/windows");
  drawn = 0;
  show();
  stream = new EventSource(path + "/live");
  stream.onmessage = (event) => { told.now = JSON.parse(event.data); show(); };
  stream.onerror = () => say("the service does not answer; trying again", true);
}

async function refresh() { // marks and receipts that came meanwhile
  try {
    const name = at("model").value, found = name && await get("/v1/models/" + encodeURIComponent(name) + "/windows");
    if (found) { told = found; show(); }
  } catch (error) { say(error.message, true); }
}

async function begin() {
  const { models } = await get("/v1/models");
  at("model").replaceChildren(...models.map((name) => {
    const one = document.createElement("option");
    one.textContent = one.value = name;
    return one;
  }));
  at("model").onchange = () => open(at("model").value).catch((error) => say(error.message, true));
  at("span").onchange = charts;
  dark.onchange = charts;
  if (models.length) { await open(models[0]); } else { say("no model is served", true); }
  setInterval(refresh, 5000);
}

begin().catch((error) => say(error.message, true));
