// Draws charts by uPlot: a line with a band around it, or bars. What is drawn comes as values; where from is charts.js's.
//
// The colours are those of the page (css/base.css), read when a chart is drawn: draw again when they change.

import uPlot from "../vendor/uplot/uPlot.esm.js";

const HEIGHT = 220;
const BAR_PX = 60; // room for the label of a class

/**
 * Draw ratings over time: `points` are `[{at (ms), low, value, high, name, isFirm}]`, oldest first; each name is a line
 * of its own, that of the last point in the foreground. Where one isn't firm its band may reach beyond the chart.
 * `tell(point)` hears which one is pointed at, null when none is.
 */
export function drawLine(element, points, { tell = () => {} } = {}) {
  const colour = colours(element);
  const names = [...new Set(points.map((point) => point.name).reverse())].reverse();
  const columns = (key) => names.map((name) => points.map((point) => (point.name === name ? point[key] : null)));
  const edges = names.map((_, number) => [number + 1, names.length + number + 1]); // what comes later lies above
  return begin(element, colour, {
    data: [points.map((point) => point.at / 1000), ...columns("low"), ...columns("high"), ...columns("value")],
    scales: { x: { time: true, range: days }, y: { range: () => roomy(null, ...rangeOf(points)) } },
    series: [
      ...[...names, ...names].map(() => ({ spanGaps: true, width: 0, points: { show: false } })),
      ...names.map((_, number) => lineOf(number === names.length - 1, colour, points.length)),
    ],
    bands: edges.map(([low, high]) => ({ series: [high, low], fill: colour.band })),
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    axes: [axis(colour, { size: 32, values: (_, splits) => dated(splits) }), axis(colour, { size: 56 })],
    hooks: { setCursor: [(plot) => tell(points[plot.cursor.idx] ?? null)] },
  });
}

/**
 * Draw counts of neighbouring classes: `bars` are `[{label, value}]`, each label that of the edge at which its class
 * begins; `end` is that of the last edge. `tell(bar)` as above.
 */
export function drawBars(element, bars, { end = "", tell = () => {} } = {}) {
  const colour = colours(element);
  const edges = [...bars.map((bar) => bar.label), end];
  const places = bars.map((_, number) => number);
  return begin(element, colour, {
    data: [places, bars.map((bar) => bar.value)],
    scales: {
      x: { time: false, range: () => [-0.5, bars.length - 0.5] },
      y: { range: (_, __, most) => [0, most * 1.08 || 1] },
    },
    series: [
      { fill: colour.accent, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.94, 120] }) },
    ],
    axes: [
      axis(colour, {
        size: 32,
        grid: { show: false },
        splits: (plot) => thinned(edges.length, plot.width).map((edge) => edge - 0.5),
        values: (_, splits) => splits.map((split) => edges[split + 0.5]),
      }),
      axis(colour, {
        size: 56,
        values: (_, splits) => splits.map((split) => (Number.isInteger(split) ? compact(split) : "")),
      }),
    ],
    hooks: { setCursor: [(plot) => tell(bars[plot.cursor.idx] ?? null)] },
  });
}

/** Write moments, in seconds, as people of a site in UTC tell them apart: years, days, or hours. */
export function dated(moments) {
  const span = moments.at(-1) - moments[0];
  let shown = { hour: "2-digit", minute: "2-digit" };
  if (span >= 86_400) shown = { month: "short", day: "numeric" };
  if (span >= 300 * 86_400) shown = { year: "numeric", month: "short" };
  const format = new Intl.DateTimeFormat("en-GB", { ...shown, timeZone: "UTC" });
  return moments.map((moment) => format.format(new Date(moment * 1000)));
}

/** Give those of `count` edges that have room for a label on so many pixels, the first one always among them. */
export function thinned(count, width) {
  const step = Math.max(1, Math.ceil((count * BAR_PX) / Math.max(width, BAR_PX)));
  return Array.from({ length: Math.ceil(count / step) }, (_, number) => number * step);
}

/** Give a range of moments, in seconds, with some room at both ends; around a single one it is its day. */
export function days(_plot, low, high) {
  return low === high && low !== null ? [low - 43_200, high + 43_200] : roomy(null, low, high);
}

/** Give a range that leaves some room at both ends, also around a single value. */
export function roomy(_plot, low, high) {
  if (low === null || high === null) return [0, 1];
  const room = (high - low) * 0.06 || Math.max(Math.abs(high) * 0.01, 1);
  return [low - room, high + room];
}

function begin(element, colour, { data, series, axes, ...more }) {
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 8, fill: colour.accent } },
      series: [{}, ...series],
      axes,
      ...more,
    },
    data,
    element,
  );
  const observer = new ResizeObserver(() => {
    const width = element.clientWidth;
    if (width > 0 && width !== plot.width) plot.setSize({ width, height: HEIGHT });
  });
  observer.observe(element);
  return {
    end() {
      observer.disconnect();
      plot.destroy();
    },
  };
}

function lineOf(isForemost, colour, count) {
  return {
    spanGaps: true,
    stroke: isForemost ? colour.accent : colour.soft,
    width: isForemost ? 2 : 1.5,
    points: { show: count < 40, size: 5 },
  };
}

/** Give the lowest and the highest of all values and of the bands that say something. */
export function rangeOf(points) {
  const firm = points.filter((point) => point.isFirm);
  const bands = (firm.length ? firm : points).flatMap((point) => [point.low, point.high]);
  const all = [...bands, ...points.map((point) => point.value)];
  return [Math.min(...all), Math.max(...all)];
}

function axis(colour, more = {}) {
  const line = { stroke: colour.line, width: 1 };
  return { stroke: colour.soft, font: colour.font, grid: line, ticks: { ...line, size: 4 }, ...more };
}

function colours(element) {
  const style = getComputedStyle(element);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    accent: of("accent"),
    band: of("accent-soft"),
    soft: of("ink-soft"),
    line: of("line"),
    font: `12px ${style.fontFamily}`,
  };
}

function compact(number) {
  return number.toLocaleString("en", { notation: "compact" });
}
