// Finds the charts of a page and draws them from the tables that stand under them (templates/_chart.html), anew when a
// table is replaced, or day becomes night. Without scripts, or where drawing fails, the table is all there is.

import { drawBars, drawLine } from "./chart.js";
import { replace } from "./dom.js";

const FIRM = 10; // games; a rating from fewer is provisional
const KINDS = { line: drawHistory, bars: drawTimes };
const drawn = new Map();

function draw(figure) {
  const place = figure.querySelector(".plot");
  const readout = figure.querySelector(".readout");
  drawn.get(figure)?.end();
  const tell = (text) => replace(readout, text ?? "\u00a0");
  drawn.set(figure, KINDS[figure.dataset.chart](replace(place), rowsOf(figure), tell));
}

function drawHistory(place, rows, tell) {
  const points = rows
    .map(([at, version, rating, low, high, games]) => ({
      at: at.value,
      name: version.text,
      value: rating.value,
      low: low.value,
      high: high.value,
      isFirm: Number(games.text) >= FIRM,
      said: `${at.text}: ${rating.text} (${low.text} to ${high.text}), version ${version.text}, ${games.text} games`,
    }))
    .reverse();
  return drawLine(place, points, { tell: (point) => tell(point?.said) });
}

function drawTimes(place, rows, tell) {
  const bars = rows.map(([from, to, count, share]) => ({
    label: from.text,
    value: count.value,
    said: `${from.text} to ${to.text}: ${count.text} decisions, ${share.text}`,
  }));
  return drawBars(place, bars, { end: rows.at(-1)[1].text, tell: (bar) => tell(bar?.said) });
}

/** Read a table: what each cell shows, and the number that this is of. */
function rowsOf(figure) {
  const read = (cell) => ({ text: cell.textContent.trim(), value: Number(cell.dataset.value) });
  return [...figure.querySelectorAll("tbody tr")].map((row) => [...row.cells].map(read));
}

function drawAll() {
  for (const [figure, chart] of drawn) {
    if (figure.isConnected) continue;
    chart.end();
    drawn.delete(figure);
  }
  for (const figure of document.querySelectorAll("figure[data-chart]")) draw(figure);
}

document.addEventListener("refreshed", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
drawAll();
