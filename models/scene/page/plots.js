// Plots that run with the scene: one strip per variable, a cursor at the present time.
const strips = document.getElementById("strips"), search = document.getElementById("search"), found = document.getElementById("found");
let open = [];
const STRIP = ["#1f6fb5", "#c9712b", "#3c9a55", "#a35fb8", "#b5473c", "#2a9d9a"];
const steps = (low, high, count) => { const raw = (high - low) / count, size = 10 ** Math.floor(Math.log10(raw)), unit = raw / size; const step = size * (unit < 1.5 ? 1 : unit < 3 ? 2 : unit < 7 ? 5 : 10), ticks = []; const first = Math.ceil(low / step - 1e-9); for (let k = 0; k <= 4 * count; k++) { const x = (first + k) * step; if (x > high + 1e-9 * step) break; ticks.push(Math.abs(x) < 1e-9 * step ? 0 : x); } return [ticks, step]; };
const plain = (x, step) => { if (Math.abs(x) < 1e-6 * step) return "0"; if (Math.abs(x) >= 1e6 || (x !== 0 && Math.abs(x) < 1e-4)) return x.toExponential(1).replace("e+", "e"); return x.toFixed(Math.max(0, Math.min(8, -Math.floor(Math.log10(step) + 1e-9)))); };
const reading = (x) => !Number.isFinite(x) ? "–" : x === 0 ? "0" : Math.abs(x) >= 1e7 || Math.abs(x) < 1e-4 ? x.toExponential(3).replace("e+", "e") : Number(x.toPrecision(5)).toString();
function valueAt(plot, t) { const [k, s] = frameAt(t), a = plot.values[k], b = plot.values[Math.min(k + 1, plot.values.length - 1)]; return Number.isFinite(b) && s > 0 ? a + s * (b - a) : a; }
function addStrip(plot) {
  const box = document.createElement("div"), canvas2 = document.createElement("canvas");
  box.className = "strip";
  box.innerHTML = '<div class="head"><b></b><i></i><i class="from"></i><output></output><button aria-label="Remove" title="Remove">×</button></div>';
  box.querySelector("b").textContent = plot.name;
  box.querySelector("i").textContent = plot.unit && plot.unit !== "1" ? `[${plot.unit}]` : "";
  box.append(canvas2);
  const strip = { plot, box, canvas: canvas2, from: box.querySelector(".from"), value: box.querySelector("output"), colour: STRIP[open.length % STRIP.length], still: null };
  box.querySelector("button").onclick = () => { box.remove(); open = open.filter((each) => each !== strip); hint(); };
  const seek = (event) => { const r = canvas2.getBoundingClientRect(); setTime(begin() + (Math.min(Math.max(event.clientX - r.left - LEFT, 0), r.width - LEFT - RIGHT) / (r.width - LEFT - RIGHT)) * (finish() - begin())); };
  canvas2.onpointerdown = (event) => { canvas2.setPointerCapture(event.pointerId); seek(event); canvas2.onpointermove = seek; };
  canvas2.onpointerup = canvas2.onpointercancel = () => { canvas2.onpointermove = null; };
  strips.append(box);
  open.push(strip);
  hint();
  drawStrip(strip);
}
const LEFT = 46, RIGHT = 8, TOP = 6, BOTTOM = 18;
function drawStill(strip) { // everything but the cursor, kept as a picture
  const { canvas: c, plot } = strip, ratio = window.devicePixelRatio || 1, width = c.clientWidth, height = c.clientHeight;
  if (!width) return;
  c.width = Math.round(width * ratio); c.height = Math.round(height * ratio);
  const still = document.createElement("canvas");
  still.width = c.width; still.height = c.height;
  const g = still.getContext("2d"), style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
  g.scale(ratio, ratio);
  let low = Infinity, high = -Infinity;
  for (const v of plot.values) if (Number.isFinite(v)) { if (v < low) low = v; if (v > high) high = v; }
  if (high - low < 2 * plot.least) { const mean = 0.5 * (low + high); low = mean - 3 * plot.least; high = mean + 3 * plot.least; }
  if (!(high > low)) { const wide = Math.abs(low) || 1; low -= 0.5 * wide; high += 0.5 * wide; }
  const pad = 0.06 * (high - low);
  low -= pad; high += pad;
  const t0 = begin(), t1 = finish(), X = (t) => LEFT + ((t - t0) / (t1 - t0 || 1)) * (width - LEFT - RIGHT), Y = (v) => height - BOTTOM - ((v - low) / (high - low)) * (height - TOP - BOTTOM);
  g.font = "10.5px system-ui, sans-serif"; g.fillStyle = colour("--soft"); g.strokeStyle = colour("--line"); g.lineWidth = 1;
  clip.marks.stages.forEach((stage, k) => { if (k % 2) { const end = k + 1 < clip.marks.stages.length ? clip.marks.stages[k + 1].time : t1; g.fillStyle = colour("--band"); g.fillRect(X(stage.time), TOP, X(end) - X(stage.time), height - TOP - BOTTOM); } });
  g.fillStyle = colour("--soft"); g.textBaseline = "middle"; g.textAlign = "right";
  const [ys, dy] = steps(low, high, Math.max(2, Math.floor(height / 38)));
  const wide = ys.some((v) => plain(v, dy).length > 6), from = wide ? ys[0] : 0; // small changes of large numbers are told from the lowest line
  ys.forEach((v) => { g.beginPath(); g.moveTo(LEFT, Y(v)); g.lineTo(width - RIGHT, Y(v)); g.stroke(); g.fillText(wide ? (v === from ? "" : "+") + plain(v - from, dy) : plain(v, dy), LEFT - 5, Y(v)); });
  strip.from.textContent = wide ? `from ${reading(from)}` : "";
  const [xs, dx] = steps(t0, t1, Math.max(2, Math.floor(width / 75)));
  g.textAlign = "center"; g.textBaseline = "alphabetic";
  xs.forEach((t, k) => { g.fillText(plain(t, dx) + (k === xs.length - 1 ? " s" : ""), Math.min(X(t), width - RIGHT - 8), height - 4); });
  clip.marks.events.forEach((event) => { g.strokeStyle = colour("--mark"); g.globalAlpha = 0.35; g.beginPath(); g.moveTo(X(event.time), TOP); g.lineTo(X(event.time), height - BOTTOM); g.stroke(); g.globalAlpha = 1; });
  g.strokeStyle = strip.colour; g.lineWidth = 1.6; g.lineJoin = "round"; g.beginPath();
  let pen = false;
  plot.values.forEach((v, k) => { if (!Number.isFinite(v)) { pen = false; return; } const x = X(clip.time[k]), y = Y(v); if (pen) g.lineTo(x, y); else g.moveTo(x, y); pen = true; });
  g.stroke();
  strip.still = still; strip.X = X; strip.Y = Y;
}
function drawStrip(strip) {
  if (!strip.still) drawStill(strip);
  if (!strip.still) return;
  const g = strip.canvas.getContext("2d"), ratio = window.devicePixelRatio || 1, value = valueAt(strip.plot, now);
  g.setTransform(1, 0, 0, 1, 0, 0);
  g.clearRect(0, 0, strip.canvas.width, strip.canvas.height);
  g.drawImage(strip.still, 0, 0);
  g.scale(ratio, ratio);
  g.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim(); g.globalAlpha = 0.55; g.lineWidth = 1;
  g.beginPath(); g.moveTo(strip.X(now), TOP); g.lineTo(strip.X(now), strip.canvas.clientHeight - BOTTOM); g.stroke();
  g.globalAlpha = 1;
  if (Number.isFinite(value)) { g.fillStyle = strip.colour; g.beginPath(); g.arc(strip.X(now), strip.Y(value), 3.2, 0, 7); g.fill(); }
  strip.value.textContent = Math.abs(value) < strip.plot.least ? "0" : reading(value);
}
function refreshPlots() { open.forEach((strip) => { strip.still = null; drawStrip(strip); }); }
function hint() { const old = strips.querySelector(".hint"); if (old) old.remove(); if (!open.length && clip.plots.length) strips.insertAdjacentHTML("beforeend", '<p class="hint">Choose a variable above.</p>'); }
function offer() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), taken = new Set(open.map((strip) => strip.plot));
  const near = clip.plots.filter((plot) => !taken.has(plot) && words.every((word) => plot.name.toLowerCase().includes(word))).slice(0, 60);
  found.replaceChildren(...near.map((plot) => { const b = document.createElement("button"), unit = document.createElement("small"); b.type = "button"; b.textContent = plot.name; unit.textContent = plot.unit === "1" ? "" : plot.unit; b.append(unit); b.onpointerdown = (event) => { event.preventDefault(); addStrip(plot); search.value = ""; offer(); strips.lastElementChild.scrollIntoView({ block: "nearest" }); }; return b; }));
  found.hidden = !near.length;
}
search.onfocus = search.oninput = offer;
search.onblur = () => { found.hidden = true; };
search.onkeydown = (event) => { event.stopPropagation(); if (event.key === "Enter" && found.firstElementChild) found.firstElementChild.onpointerdown(event); if (event.key === "Escape") search.blur(); };
