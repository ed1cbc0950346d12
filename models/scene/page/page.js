// The page: time, buttons, switches, keys.
const $ = (id) => document.getElementById(id);
function setTime(t) {
  now = Math.min(Math.max(t, begin()), finish());
  $("time").value = now;
  const span = finish() - begin(), digits = span > 0 ? Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(span)) - 1)) : 3;
  $("clock").textContent = `${now.toFixed(digits)} s`;
  const stage = clip.marks.stages.filter((each) => each.time <= now + 1e-12).pop();
  $("stage").hidden = !stage || !stage.name;
  $("stage").textContent = stage ? stage.name : "";
  pose(now);
  followBody();
  open.forEach(drawStrip);
  dirty = true;
}
let slowest = 0;
function play(on) {
  playing = on && (DATA.live ? !!live.engine && !live.failed : finish() > begin());
  if (!playing && eased) { slowest = eased; ease(0); dirty = true; } else if (playing) ease(slowest); // what was found out stays known
  if (playing && !DATA.live && now >= finish()) setTime(begin());
  $("play-shape").setAttribute("d", playing ? "M5 3h3.6v14H5zM11.4 3H15v14h-3.6z" : "M5 3l12 7-12 7z");
}
function drawMarks() { // stages and events along the time
  const span = finish() - begin() || 1, part = (t) => (100 * (t - begin())) / span;
  $("bands").innerHTML = ""; $("ticks").innerHTML = "";
  clip.marks.stages.forEach((stage, n) => { const i = document.createElement("i"), end = n + 1 < clip.marks.stages.length ? clip.marks.stages[n + 1].time : finish(); i.style.left = `${part(stage.time)}%`; i.style.width = `calc(${part(end) - part(stage.time)}% - 1px)`; i.title = stage.name; $("bands").append(i); });
  clip.marks.events.forEach((event) => { const i = document.createElement("i"); i.style.left = `${part(event.time)}%`; i.title = event.name; $("ticks").append(i); });
}
function tellStress() { // the end of the scale of colours
  $("heat").hidden = !(clip.stress > 0);
  $("heat-most").textContent = `0 … ${Number((clip.stress / 1e6).toPrecision(3))} MPa`;
}
function noteStress(stress) { // a clip that is still computed finds its largest stress as it goes
  if (!(stress > clip.stress)) return;
  const before = clip.stress;
  clip.stress = stress;
  if (!(stress < 1.02 * before)) tellStress();
}
function useClip(k) {
  clip = clips[k];
  $("clip").value = k;
  delete scales.forces; delete scales.reactions;
  tellStress();
  Object.assign($("time"), { min: begin(), max: finish() });
  drawMarks();
  open.forEach((strip) => strip.box.remove());
  open = [];
  tracePaths();
  clip.plots.filter((plot) => plot.shown).forEach(addStrip);
  hint();
  const span = finish() - begin() || 1, rates = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], wish = clip.rate || Math.max(span / 20, Math.min(1, span / 4));
  rate = clip.rate || rates.reduce((best, each) => Math.abs(Math.log(each / wish)) < Math.abs(Math.log(best / wish)) ? each : best);
  $("speed").replaceChildren(...[...new Set([...rates, rate])].sort((a, b) => a - b).map((each) => new Option(each < 1 ? `1:${Number((1 / each).toPrecision(3))}` : `${Number(each.toPrecision(3))}×`, each, each === rate, each === rate)));
  setTime(begin());
}
function theme(name) {
  document.documentElement.dataset.theme = name;
  paint();
  refreshPlots();
  dirty = true;
}
function panels() {
  const plots = $("panel-plots").getAttribute("aria-pressed") === "true" && clips.some((each) => each.plots.length);
  main.classList.toggle("bare", !plots);
  $("view").hidden = $("panel-view").getAttribute("aria-pressed") !== "true";
  resize(); refreshPlots(); dirty = true;
}
const toggle = (button) => { button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true"); panels(); };
const NAMES = { joints: "Joints", paths: "Paths", forces: "Forces", reactions: "Reactions", frames: "Frames", com: "Centres of mass", labels: "Names", floor: "Ground", stress: "Stress" };
function buildPage() {
  $("title").textContent = DATA.name || "Mechanism";
  $("text").textContent = DATA.text || "";
  $("text").title = DATA.text || "";
  const have = { paths: paths.length, forces: arrows.some((a) => a.kind !== "reaction") || ends.length, reactions: arrows.some((a) => a.kind === "reaction"), floor: DATA.ground !== null, stress: clips.some((each) => each.stress > 0 || (each.growing && (beamPieces.length || skins.some((skin) => skin.stresses)))) };
  for (const [kind, name] of Object.entries(NAMES)) {
    if (kind in have && !have[kind]) continue;
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox"; box.checked = shown[kind]; box.id = `show-${kind}`;
    box.onchange = () => { shown[kind] = box.checked; visibility(); setTime(now); };
    label.append(box, name);
    $("switches").append(label);
  }
  $("traces-box").hidden = !paths.length;
  paths.forEach((path) => {
    const label = document.createElement("label"), box = document.createElement("input"), swatch = document.createElement("span");
    box.type = "checkbox"; box.checked = path.shown; swatch.className = "swatch"; swatch.style.background = path.colour;
    box.onchange = () => { path.shown = box.checked; setTime(now); };
    label.append(box, swatch, path.name);
    $("traces").append(label);
  });
  $("follow").append(new Option("nothing", -1), ...bodies.map((body, k) => new Option(body.name, k)));
  $("follow").onchange = () => { startFollowing(Number($("follow").value)); if (follow < 0) carry(origin.clone().set(0, 0, 0)); };
  $("bending-box").hidden = !skins.length && !beamPieces.length;
  if (DATA.bending > 1) { $("bending").value = Math.log10(DATA.bending); bent = DATA.bending; $("bending-times").textContent = `× ${bent}`; }
  $("bending").oninput = () => { bent = 10 ** Number($("bending").value); bent = Number(bent.toPrecision(2)); $("bending-times").textContent = `× ${bent}`; setTime(now); };
  $("arrow-size").oninput = () => { arrowSize = 10 ** Number($("arrow-size").value); setTime(now); };
  $("clip").hidden = clips.length < 2;
  $("clip").append(...clips.map((each, k) => new Option(each.name, k)));
  $("clip").onchange = () => { if (beside) $("beside").click(); useClip(Number($("clip").value)); play(true); };
  $("beside").hidden = stills().length < 2;
  $("beside").onclick = () => { const on = $("beside").getAttribute("aria-pressed") !== "true"; $("beside").setAttribute("aria-pressed", on); showBeside(on); look(); };
  $("time").oninput = () => { play(false); setTime(Number($("time").value)); };
  $("play").onclick = () => play(!playing);
  $("speed").onchange = () => { rate = Number($("speed").value); };
  $("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  if (location.hash.includes("bare")) $("panel-plots").setAttribute("aria-pressed", "false"); // for frames in other pages
  $("panel-plots").onclick = () => toggle($("panel-plots"));
  $("panel-view").onclick = () => toggle($("panel-view"));
  $("panel-plots").hidden = !clips.some((each) => each.plots.length);
  document.querySelectorAll("[data-view]").forEach((button) => { button.onclick = () => { look(button.dataset.view); dirty = true; }; });
  buildKeys();
  controls.addEventListener("change", () => { dirty = true; });
  new ResizeObserver(() => { resize(); refreshPlots(); if (beside) showBeside(true); dirty = true; }).observe(main);
}
let last = 0, frames = 0;
function tick(stamp) {
  const whole = (stamp - last) / 1000, passed = Math.min(whole, 0.1);
  last = stamp;
  if (playing) {
    if (whole < 3) watch(whole); // more: the page was out of sight
    if (DATA.live) advanceLive(passed * rate);
    else if (now >= finish()) { if (clip.still) play(false); else setTime(begin()); } else setTime(now + passed * rate);
  }
  controls.update();
  if (DATA.live && jointDrag.to) followPointer();
  if (DATA.live && live.cord) drawCord();
  if (dirty) { dirty = false; render(); frames++; }
  requestAnimationFrame(tick);
}
function start() {
  const asked = new URLSearchParams(location.search).get("theme") || DATA.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = asked;
  if (!bodies.length) main.classList.add("flat");
  if (matchMedia("(max-width: 760px)").matches) shown.labels = false;
  buildPage();
  panels();
  visibility();
  paint();
  resize();
  useClip(DATA.first_clip ?? 0);
  look();
  if (DATA.follow !== null && DATA.follow !== undefined) { startFollowing(DATA.follow); $("follow").value = follow; }
  setTime(begin());
  if (DATA.live) startLive();
  else play(!matchMedia("(prefers-reduced-motion: reduce)").matches && !DATA.paused);
  requestAnimationFrame(tick);
}
start();
window.kinetree = { pose, seek: (t) => { play(false); setTime(t); render(); }, play, theme, useClip, look, get time() { return now; }, get span() { return [begin(), finish()]; }, get frames() { return frames; }, get eased() { return eased; }, ease, watch, get drawn() { return renderer.info.render; }, shown, visibility, render, bodies, camera, redraw: () => { setTime(now); render(); } };
