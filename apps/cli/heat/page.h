// The fixed parts of a page of heat maps and texts: style, elements and script.
//
// Cells are drawn on a canvas, which stays fast with hundreds of words per side. The words are on two canvases of their
// own, which stay visible while the cells are scrolled.

#pragma once

#include <string_view>

namespace heed::cli {

inline constexpr std::string_view kPageStyle = R"(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #202124; --faint: #6b7075; --line: #d5d8dc; --panel: #f4f5f7; }
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { --paper: #15171a; --ink: #e8eaed; --faint: #9aa0a6; --line: #3a3e44; --panel: #1f2227; } }
:root[data-theme=light] { color-scheme: light; }
:root[data-theme=dark] { color-scheme: dark; --paper: #15171a; --ink: #e8eaed; --faint: #9aa0a6; --line: #3a3e44; --panel: #1f2227; }
* { box-sizing: border-box; }
body { margin: 0; padding: 16px 20px; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", "WenQuanYi Micro Hei", sans-serif; }
h1 { font-size: 20px; margin: 0 0 10px; overflow-wrap: anywhere; }
h2 { font-size: 16px; font-weight: normal; margin: 0 0 8px; overflow-wrap: anywhere; }
#bar { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin-bottom: 10px; }
#bar label { display: flex; gap: 6px; align-items: center; color: var(--faint); }
select, button { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 3px 10px; max-width: min(60ch, 80vw); }
.text { display: flex; gap: 10px; margin: 2px 0; }
.text b { flex: 0 0 4em; font-weight: normal; color: var(--faint); }
.text div { max-height: 6em; overflow: auto; overflow-wrap: anywhere; }
.text span { display: inline-block; max-width: 100%; padding: 1px 3px; border-radius: 4px; cursor: default; }
.text span.on { outline: 2px solid var(--ink); outline-offset: -2px; }
#view { margin-top: 12px; display: inline-grid; grid-template: auto auto / auto auto; max-width: 100%; max-height: 82vh; overflow: auto; border: 1px solid var(--line); border-radius: 8px; }
#view > * { background: var(--paper); display: block; }
#corner { position: sticky; left: 0; top: 0; z-index: 3; }
#heads { position: sticky; top: 0; z-index: 2; }
#sides { position: sticky; left: 0; z-index: 2; }
#note { position: fixed; z-index: 9; pointer-events: none; padding: 4px 9px; border-radius: 6px; background: var(--ink); color: var(--paper); box-shadow: 0 2px 8px #0005; max-width: 60vw; overflow-wrap: anywhere; }
#scale { display: flex; gap: 8px; align-items: center; margin-top: 10px; color: var(--faint); }
#scale i { width: 200px; height: 12px; border-radius: 3px; }
section { margin: 0 0 22px; max-width: 110ch; }
section p { margin: 4px 0; line-height: 1.9; overflow-wrap: anywhere; }
section span, section b { padding: 2px 4px; border-radius: 4px; }
section b { font-weight: normal; margin-right: 6px; }
.note { max-width: 90ch; margin: 8px 0 0; color: var(--faint); overflow-wrap: anywhere; }
section .note { line-height: 1.5; }
[hidden] { display: none !important; }
)";

inline constexpr std::string_view kPageBody = R"(<div id="bar">
<label id="chooser">map <select id="choice"></select></label>
<label>size <input id="size" type="range" min="3" max="64"></label>
<label><input id="stretch" type="checkbox"> brightest = largest weight</label>
<button id="theme" type="button">light / dark</button>
</div>
<h2 id="name"></h2>
<div class="text"><b id="column_name"></b><div id="source"></div></div>
<div class="text"><b id="row_name"></b><div id="target"></div></div>
<div id="view"><div id="corner"></div><canvas id="heads"></canvas><canvas id="sides"></canvas><canvas id="cells"></canvas></div>
<div id="scale"><span>0</span><i></i><span id="top"></span></div>
<p id="below" class="note"></p>
<div id="note" hidden></div>
<noscript>The maps are drawn by a script in this file; nothing is fetched.</noscript>
)";

inline constexpr std::string_view kPageScript = R"(
'use strict';
const {maps, colors} = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const EDGE = 6, GAP = 8, LABEL = 220, MOST = 14000;  // pixels: around cells, to their words, of a word at most, of a canvas at most
const NOTHING = {title: '', columns: [], rows: [], weights: [], top: 1};
let map = maps[0] || NOTHING, cell = 0, top_ = 1, at = null;

const ink = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const font = size => size + 'px ' + getComputedStyle(document.body).fontFamily;
const step = weight => Math.max(0, Math.min(255, Math.round(255 * weight / top_)));
const css = colors.map(c => 'rgb(' + c.slice(0, 3) + ')');
const color = weight => weight === null ? '#808080' : css[step(weight)];
const number = weight => weight === null ? 'not a number' : weight.toFixed(weight !== 0 && Math.abs(weight) < 0.01 ? 4 : 2);
const contrast = weight => weight !== null && colors[step(weight)][3] ? '#202124' : '#ffffff';

function paint(canvas, width, height) {
  const dots = Math.min(window.devicePixelRatio || 1, MOST / Math.max(width, height, 1));
  canvas.width = Math.max(1, Math.round(width * dots));
  canvas.height = Math.max(1, Math.round(height * dots));
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  const g = canvas.getContext('2d');
  g.setTransform(dots, 0, 0, dots, 0, 0);
  return g;
}

function fitted(g, word) {
  if (g.measureText(word).width <= LABEL) return word;
  const letters = Array.from(word);
  while (letters.length > 1 && g.measureText(letters.join('') + '…').width > LABEL) letters.pop();
  return letters.join('') + '…';
}

function drawHeads(size, every) {
  const slanted = cell >= 20, angle = slanted ? Math.PI / 4 : Math.PI / 2, n = map.columns.length;
  let g = $('heads').getContext('2d');
  g.font = font(size);
  const words = map.columns.map((word, j) => j % every ? '' : fitted(g, word)), widths = words.map(word => g.measureText(word).width);
  const height = Math.max(0, ...widths) * Math.sin(angle) + size + GAP;
  const right = Math.max(n * cell + 2 * EDGE, ...widths.map((w, j) => EDGE + (j + 0.5) * cell + w * Math.cos(angle) + size));
  g = paint($('heads'), right, height);
  g.font = font(size);
  g.textBaseline = slanted ? 'alphabetic' : 'middle';
  words.forEach((word, j) => {
    g.save();
    g.translate(EDGE + (j + 0.5) * cell, height - 2);
    g.rotate(-angle);
    g.fillStyle = ink(at && at[1] === j ? '--ink' : '--faint');
    g.fillText(word, 0, 0);
    g.restore();
  });
  return {right, height};
}

function drawSides(size, every) {
  let g = $('sides').getContext('2d');
  g.font = font(size);
  const words = map.rows.map((word, i) => i % every ? '' : fitted(g, word));
  const width = Math.max(0, ...words.map(word => g.measureText(word).width)) + GAP;
  g = paint($('sides'), width, map.rows.length * cell + 2 * EDGE);
  g.font = font(size);
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  words.forEach((word, i) => {
    g.fillStyle = ink(at && at[0] === i ? '--ink' : '--faint');
    g.fillText(word, width - 2, EDGE + (i + 0.5) * cell);
  });
  return width;
}

function drawCell(i, j) {
  const g = $('cells').getContext('2d'), weight = map.weights[i][j], side = cell >= 8 ? cell - 1 : cell, x = EDGE + j * cell, y = EDGE + i * cell;
  g.fillStyle = color(weight);
  g.fillRect(x, y, side, side);
  if (cell >= 34 && (weight === null || Math.abs(weight) >= 0.005)) {
    g.fillStyle = contrast(weight);
    g.fillText(weight === null ? '?' : weight.toFixed(2), x + side / 2, y + side / 2 + 1);
  }
  if (!at || at[0] !== i || at[1] !== j) return;
  g.strokeStyle = contrast(weight);
  g.lineWidth = cell >= 8 ? 2 : 1;
  g.strokeRect(x + g.lineWidth / 2, y + g.lineWidth / 2, side - g.lineWidth, side - g.lineWidth);
}

function drawCells(right) {
  const g = paint($('cells'), right, map.rows.length * cell + 2 * EDGE);
  g.textAlign = 'center';
  g.textBaseline = 'middle';
  g.font = font(Math.max(10, Math.round(cell * 0.3)));
  map.weights.forEach((row, i) => row.forEach((_, j) => drawCell(i, j)));
}

function drawWords() {
  const size = Math.max(9, Math.min(16, Math.round(cell * 0.6))), every = Math.max(1, Math.ceil((size + 2) / cell));
  const {right, height} = drawHeads(size, every), width = drawSides(size, every);
  $('corner').style.cssText = 'width:' + width + 'px;height:' + height + 'px';
  return right;
}

const draw = () => drawCells(drawWords());

function spans(where, words, mark) {
  where.replaceChildren(...words.flatMap((word, i) => {
    const span = document.createElement('span');
    span.textContent = word;
    span.onpointerenter = () => mark(i);
    span.onpointerleave = () => mark(-1);
    return [span, ' '];
  }));
}

/// Colors the words of one side by the weights of one word of the other.
function tint(where, weights, chosen, other) {
  Array.from(where.children).forEach((span, i) => {
    span.style.background = weights ? color(weights[i]) : '';
    span.style.color = weights ? contrast(weights[i]) : '';
    span.classList.toggle('on', i === other);
  });
}
const markRow = i => { tint($('source'), i < 0 ? null : map.weights[i]); tint($('target'), null, 0, i); };
const markColumn = j => { tint($('target'), j < 0 ? null : map.weights.map(row => row[j])); tint($('source'), null, 0, j); };

/// Marks one cell, or none.
function mark(cellAt) {
  const before = at;
  at = cellAt;
  for (const each of [before, at]) if (each) drawCell(...each);
  drawWords();
  markRow(at ? at[0] : -1);
  if (at) $('source').children[at[1]].classList.add('on');
}

function point(event) {
  const box = $('cells').getBoundingClientRect();
  const i = Math.floor((event.clientY - box.top - EDGE) / cell), j = Math.floor((event.clientX - box.left - EDGE) / cell);
  if (i < 0 || j < 0 || i >= map.rows.length || j >= map.columns.length) return leave();
  if (!at || at[0] !== i || at[1] !== j) mark([i, j]);
  const note = $('note');
  note.textContent = map.columns[j] + ' → ' + map.rows[i] + '   ' + number(map.weights[i][j]);
  note.hidden = false;
  note.style.left = Math.max(0, Math.min(event.clientX + 14, innerWidth - note.offsetWidth - 8)) + 'px';
  note.style.top = Math.max(0, Math.min(event.clientY + 16, innerHeight - note.offsetHeight - 8)) + 'px';
}

function leave() {
  $('note').hidden = true;
  if (at) mark(null);
}

function scale() {
  const all = map.weights.flat().filter(weight => weight !== null);
  const largest = all.reduce((most, weight) => Math.max(most, weight), 0);
  top_ = $('stretch').checked && largest > 0 ? largest : map.top;
  $('top').textContent = number(top_);
  $('scale').hidden = all.length === 0;
}

function show(index) {
  map = maps[index] || NOTHING;
  at = null;
  const most = Math.max(map.columns.length, map.rows.length, 1);
  const cellSize = Math.min((innerWidth - 160) / Math.max(map.columns.length, 1), innerHeight * 0.7 / Math.max(map.rows.length, 1));
  $('size').max = Math.max(4, Math.min(64, Math.floor(MOST / most)));
  cell = Math.max(4, Math.min(52, Math.floor(Math.max(cellSize, most <= 60 ? 18 : 4))));
  $('size').value = cell;
  scale();
  $('column_name').textContent = map.column_name;
  $('below').textContent = map.note || '';
  $('row_name').textContent = map.row_name;
  spans($('source'), map.columns, markColumn);
  spans($('target'), map.rows, markRow);
  const empty = !map.columns.length || !map.rows.length;
  $('name').textContent = map.title + (empty ? ' (no words on ' + (map.columns.length ? 'the ' + map.row_name : 'the ' + map.column_name) + ' side)' : '');
  $('name').hidden = !empty && (maps.length > 1 || !map.title || map.title === map.columns.join(' '));
  $('view').hidden = empty;
  draw();
}

maps.forEach((each, i) => $('choice').add(new Option((i + 1) + '  ' + (each.title || each.columns.join(' ')), i)));
$('chooser').hidden = maps.length < 2;
$('scale').querySelector('i').style.background = 'linear-gradient(to right,' + css.filter((_, i) => i % 15 === 0) + ')';
$('choice').onchange = () => show(+$('choice').value);
$('size').oninput = () => { cell = +$('size').value; draw(); };
$('stretch').onchange = () => { scale(); draw(); };
$('theme').onclick = () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  draw();
};
$('cells').onpointermove = $('cells').onpointerdown = point;
$('cells').onpointerleave = leave;
matchMedia('(prefers-color-scheme: dark)').onchange = draw;
show(0);
)";

}  // namespace heed::cli
