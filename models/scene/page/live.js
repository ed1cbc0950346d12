// A live page: the motion is computed while it is shown; inputs, parameters, start values and bodies are moved by hand.
const LIVE = DATA.live, LIVE_POINTS = 40000, SAVED_BYTES = 96e6, REDRAW = 100; // recorded rows at most; memory of saved states; milliseconds between drawings of plots
const live = { engine: null, rows: 0, room: 0, time: null, poses: null, columns: [], vectors: [], forces: [], amplitudes: [], stresses: [], saved: [], failed: "", scriptTime: 0, speed: 1, slow: 0, drawn: 0, pulled: null, changed: new Map() };
clips[0] = { name: "live", rate: 1, time: new Float64Array(1), poses: clip.poses, vectors: [], forces: [], amplitudes: [], beam_stresses: [], stress: 0, growing: true, ruts: [], origin: null, plots: [], marks: { stages: [], events: [] } };
clip = clips[0];
clip.plots = LIVE.variables.map((variable, k) => ({ name: variable.name, unit: variable.unit, text: variable.text, shown: false, first: variable.first, get least() { return 1e-9 + 1e-7 * Math.abs(live.columns[k]?.[0] ?? 0); }, get values() { return live.columns[k] ? live.columns[k].subarray(0, live.rows) : new Float64Array(0); } }));

const grown = (Kind, old, size) => { const made = new Kind(size); if (old) made.set(old.subarray(0, Math.min(old.length, size))); return made; };
function makeRoom() {
  if (live.rows < live.room) return;
  live.room = Math.max(1024, 2 * live.room);
  live.time = grown(Float64Array, live.time, live.room);
  live.poses = grown(Float32Array, live.poses, live.room * 7 * COUNT);
  LIVE.variables.forEach((_, k) => { live.columns[k] = grown(Float64Array, live.columns[k], live.room); });
  DATA.lines.forEach((_, k) => { live.forces[k] = grown(Float32Array, live.forces[k], live.room); });
  DATA.arrows.forEach((_, k) => { live.vectors[k] = grown(Float32Array, live.vectors[k], 3 * live.room); });
  skins.forEach((skin, k) => { live.amplitudes[k] = grown(Float32Array, live.amplitudes[k], skin.count * live.room); });
  beamPieces.forEach((pieces, k) => { live.stresses[k] = grown(Float32Array, live.stresses[k], pieces.length * live.room); });
}
function showRows() { // what the rest of the page reads
  const n = live.rows;
  clip.time = live.time.subarray(0, n); clip.poses = live.poses.subarray(0, n * 7 * COUNT);
  clip.forces = live.forces.map((each) => each.subarray(0, n)); clip.vectors = live.vectors.map((each) => each.subarray(0, 3 * n));
  clip.amplitudes = live.amplitudes.map((each, k) => each.subarray(0, skins[k].count * n)); clip.beam_stresses = live.stresses.map((each, k) => each.subarray(0, beamPieces[k].length * n));
  Object.assign($("time"), { min: clip.time[0], max: clip.time[n - 1] });
}
const hinge = new THREE.Quaternion(), outer = new THREE.Quaternion();
function fibreStress(factors, P, a, b) { // von Mises stress of bending and twist by the turn of a piece (its pose at b) against the one before it
  hinge.set(-P[a + 4], -P[a + 5], -P[a + 6], P[a + 3]).multiply(outer.set(P[b + 4], P[b + 5], P[b + 6], P[b + 3]));
  const sine = Math.hypot(hinge.x, hinge.y, hinge.z), f = sine > 1e-9 ? (2 * Math.atan2(sine, Math.abs(hinge.w))) / sine : 2;
  const mx = Math.abs(f * hinge.x * factors[0]), my = Math.abs(f * hinge.y * factors[1]), mz = Math.abs(f * hinge.z * factors[2]), bends = factors[3] ? Math.hypot(my, mz) : my + mz;
  return Math.sqrt(bends * bends + 3 * mx * mx);
}
function recordBending(k, from) { // amplitudes of modes and stresses of beams of one row, whose poses begin at `from`
  const e = live.engine, W = e.work, modes = LIVE.stages[e.stage].modes;
  skins.forEach((skin, n) => { for (let m = 0; m < skin.count; m++) live.amplitudes[n][k * skin.count + m] = modes[n] < 0 ? 0 : W[modes[n] + m]; });
  beamPieces.forEach((pieces, n) => {
    const out = live.stresses[n], at = k * pieces.length, place = (m) => from + 7 * bodies.indexOf(pieces[m].body);
    out.fill(0, at, at + pieces.length);
    let last = 0;
    LIVE.fibres[n].forEach((factors, m) => { // the larger of the two hinges of a piece
      if (factors) { last = fibreStress(factors, live.poses, place(m), place(m + 1)); if (!Number.isFinite(last)) last = 0; }
      out[at + m] = Math.max(out[at + m], last); out[at + m + 1] = last;
      noteStress(last);
    });
  });
}
function recordRow() {
  makeRoom();
  const e = live.engine, k = live.rows, W = e.work, stage = LIVE.stages[e.stage], from = k * 7 * COUNT;
  live.time[k] = e.time;
  for (let b = 0; b < COUNT; b++) {
    const at = from + 7 * b, before = at - 7 * COUNT, P = live.poses;
    e.pose(b, P, at);
    if (k && P[at + 3] * P[before + 3] + P[at + 4] * P[before + 4] + P[at + 5] * P[before + 5] + P[at + 6] * P[before + 6] < 0) for (let i = 3; i < 7; i++) P[at + i] = -P[at + i];
  }
  recordBending(k, from);
  LIVE.variables.forEach((variable, c) => { live.columns[c][k] = e.value(variable); });
  stage.lines.forEach((at, c) => { live.forces[c][k] = at < 0 ? 0 : W[at]; });
  stage.arrows.forEach((at, c) => { const f = at < 0 ? 0 : W[at], n = DATA.arrows[c].normal; live.vectors[c].set([f * n[0], f * n[1], f * n[2]], 3 * k); });
  live.rows = k + 1;
  const count = Math.max(1, Math.floor(Math.min(SAVED_BYTES / e.savedSize, 400))), last = live.saved[live.saved.length - 1];
  if (!last || e.time - last.time >= (live.gap ?? 0.1)) live.saved.push({ time: e.time, row: live.rows, state: e.save(), events: e.events, stage: e.stage });
  if (live.saved.length > count) { // every other one goes, and from now on they are twice as far apart
    live.gap = 2 * (live.gap ?? 0.1);
    live.saved = live.saved.filter((each, n) => n % 2 === 0 || (e.forget(each.state), false));
  }
  if (live.rows >= LIVE_POINTS) halveRows();
}
function halveRows() { // a long motion keeps every other row
  const size = 7 * COUNT, half = live.rows >> 1;
  for (let k = 0; k < half; k++) {
    live.time[k] = live.time[2 * k + 1]; live.poses.copyWithin(k * size, (2 * k + 1) * size, (2 * k + 2) * size);
    live.columns.forEach((each) => { each[k] = each[2 * k + 1]; }); live.forces.forEach((each) => { each[k] = each[2 * k + 1]; });
    live.vectors.forEach((each) => each.copyWithin(3 * k, 6 * k + 3, 6 * k + 6));
    live.amplitudes.forEach((each, n) => { const count = skins[n].count; each.copyWithin(k * count, (2 * k + 1) * count, (2 * k + 2) * count); });
    live.stresses.forEach((each, n) => { const count = beamPieces[n].length; each.copyWithin(k * count, (2 * k + 1) * count, (2 * k + 2) * count); });
  }
  live.rows = half;
  live.saved.forEach((each) => { each.row = Math.max(1, each.row >> 1); });
}
function noteEvents(before, stage) {
  const e = live.engine;
  if (e.stage !== stage) clip.marks.stages.push({ time: e.eventTime, name: LIVE.stages[e.stage].name });
  else if (e.events > before && clip.marks.events.length < 400) clip.marks.events.push({ time: e.eventTime, name: "event" });
}
function tell(text) { live.failed = text; $("live-message").textContent = text; $("live-message").hidden = !text; }
function fail(error) { tell(error.message); play(false); dirty = true; }
function restart() { // a new motion from the start values as they stand
  tell("");
  live.saved.forEach((each) => live.engine.forget(each.state));
  Object.assign(live, { rows: 0, saved: [], gap: undefined, pulled: null });
  clip.marks.stages = LIVE.stages.length > 1 ? [{ time: LIVE.start_time, name: LIVE.stages[0].name }] : [];
  clip.marks.events = [];
  try { live.engine.start([...live.changed.values()].map(({ control, value }) => [control.reference, value])); } catch (error) {
    fail(error);
    if (!live.engine.instance || !live.time) return;
  }
  recordRow(); showRows(); tracePaths(); refreshPlots(); setTime(begin());
}
function rewind(t) { // the last saved state before an instant, and on from there to it
  const saved = live.saved.filter((each) => each.time <= t + 1e-12).pop();
  if (!saved) return restart();
  live.saved.filter((each) => each.time > saved.time).forEach((each) => live.engine.forget(each.state));
  live.saved = live.saved.filter((each) => each.time <= saved.time);
  live.engine.restore(saved.state);
  live.rows = saved.row;
  clip.marks.stages = clip.marks.stages.filter((each) => each.time <= saved.time); clip.marks.events = clip.marks.events.filter((each) => each.time <= saved.time);
  tell("");
  live.changed.forEach(({ control, value }) => { if (control.group === "inputs" || control.group === "parameters") live.engine.set(control.reference, value); });
  if (t > saved.time) live.engine.step(t - saved.time);
  recordRow(); showRows();
}
function applyPull() {
  const { body, point } = live.pulled, object = bodies[body], at = new THREE.Vector3(...point).applyQuaternion(object.turn).add(object.position);
  const rate = 2 * Math.PI * 1.2, mass = LIVE.mass || 1, speed = live.pulled.last ? at.clone().sub(live.pulled.last).divideScalar(Math.max(live.pulled.step, 1e-3)) : new THREE.Vector3();
  const force = live.pulled.to.clone().sub(at).multiplyScalar(mass * rate * rate).addScaledVector(speed, -mass * rate);
  live.pulled.last = at.clone();
  const turned = force.clone().applyQuaternion(object.turn.clone().invert()), moment = new THREE.Vector3(...point).cross(turned);
  live.engine.pull(body, turned.toArray(), moment.toArray());
}
function choosePlots() { // once something has moved: the first variables that do
  live.chosen = true;
  if (open.length) return;
  const moves = (plot) => { const v = plot.values; return Math.max(...v) - Math.min(...v) > plot.least; };
  const moving = clip.plots.filter((plot) => plot.first).filter(moves);
  [...moving, ...clip.plots.filter((plot) => plot.first && !moving.includes(plot))].slice(0, 3).forEach(addStrip);
}
function advanceLive(seconds) { // one picture: the motion goes on by so many seconds of its own time
  if (!live.engine || live.failed || !(seconds > 0)) return;
  const began = performance.now(), before = live.engine.events, stage = live.engine.stage;
  try {
    if (Math.abs(now - live.time[live.rows - 1]) > 1e-9) rewind(now);
    if (live.pulled) { live.pulled.step = seconds; applyPull(); }
    live.engine.step(seconds * live.speed);
  } catch (error) { fail(error); return; }
  recordRow(); showRows(); noteEvents(before, stage);
  const spent = performance.now() - began;
  live.scriptTime = live.scriptTime ? 0.95 * live.scriptTime + 0.05 * spent : spent;
  live.speed = spent > 28 ? Math.max(0.02, 0.8 * live.speed) : Math.min(1, 1.02 * live.speed);
  $("live-speed").textContent = live.speed < 0.9 ? `computing limits the speed to ${Math.round(100 * live.speed)} %` : "";
  const due = performance.now() - live.drawn > REDRAW;
  if (!live.chosen && live.rows >= 20) choosePlots();
  if (due) { if (shown.forces && largest("forces") > 1.2 * (live.largest ?? 0)) { live.largest = largest("forces"); delete scales.forces; } live.drawn = performance.now(); tracePaths(); open.forEach((strip) => { strip.still = null; }); drawMarks(); }
  setTime(finish());
}
function changeControl(control, shownValue, row) {
  const value = shownValue / control.scale + control.offset;
  if (!Number.isFinite(value)) return;
  row.querySelector("input[type=number]").value = Number(shownValue.toPrecision(5)); row.querySelector("input[type=range]").value = shownValue;
  live.changed.set(control.reference, { control, value });
  if (!live.engine) return;
  if (control.group === "start" || control.group === "fixed") { restart(); return; }
  if (Math.abs(now - live.time[live.rows - 1]) > 1e-9) return; // it counts from where the motion goes on
  try { live.engine.set(control.reference, value); tell(""); } catch (error) { tell(error.message); }
}
const GROUPS = { inputs: "Inputs", parameters: "Tunable parameters", start: "Start values (restart the motion)", fixed: "Fixed parameters (restart the motion)" };
function buildControls() {
  const box = document.createElement("section");
  box.id = "controls";
  box.innerHTML = '<div class="buttons"><button id="live-restart" title="Begin again (r)">Restart</button><button id="live-defaults" title="All values as described">Reset values</button><small id="live-speed"></small></div><p id="live-message" role="alert" hidden></p><p class="tip">Drag a body with Shift held, or with <b>Pull</b> on: a spring pulls it. With Alt held, or with <b>Joint</b> on: its joint moves, as a new start.</p>';
  for (const [group, title] of Object.entries(GROUPS)) {
    const those = LIVE.controls.filter((each) => each.group === group);
    if (!those.length) continue;
    const details = document.createElement("details"), summary = document.createElement("summary");
    details.open = group === "inputs" || (group === "parameters" && those.length < 9) || (group === "start" && those.length < 5);
    summary.textContent = title;
    details.append(summary);
    those.forEach((control) => {
      const row = document.createElement("label"), shown = (si) => (si - control.offset) * control.scale, low = shown(control.low), high = shown(control.high);
      row.className = "control"; row.title = control.text || control.name;
      row.innerHTML = '<span></span><input type="range" step="any"><input type="number" step="any"><small></small>';
      const [name, slider, number, unit] = row.children;
      name.textContent = control.name; unit.textContent = control.unit;
      Object.assign(slider, { min: low, max: high, value: shown(control.value) }); slider.setAttribute("aria-label", control.name);
      number.value = Number(shown(control.value).toPrecision(5)); number.setAttribute("aria-label", `${control.name} as a number`);
      slider.oninput = () => changeControl(control, Number(slider.value), row);
      number.onchange = () => { if (number.value !== "") changeControl(control, Number(number.value), row); };
      slider.ondblclick = () => changeControl(control, shown(control.value), row);
      control.row = row;
      details.append(row);
    });
    box.append(details);
  }
  document.getElementById("plots").prepend(box);
  $("live-restart").onclick = () => { restart(); play(true); };
  $("live-defaults").onclick = () => { live.changed.clear(); LIVE.controls.forEach((control) => { const shown = (control.value - control.offset) * control.scale; control.row.querySelector("input[type=range]").value = shown; control.row.querySelector("input[type=number]").value = Number(shown.toPrecision(5)); }); restart(); };
  const held = (id) => $(id).getAttribute("aria-pressed") === "true";
  const mode = (id, text, title, other) => {
    const button = document.createElement("button");
    Object.assign(button, { id, className: "small", textContent: text, title });
    button.setAttribute("aria-pressed", "false");
    button.onclick = () => { button.setAttribute("aria-pressed", !held(id)); $(other).setAttribute("aria-pressed", "false"); };
    document.getElementById("corner").append(button);
  };
  mode("live-pull", "Pull", "Pull bodies with a spring (f)", "live-joint");
  mode("live-joint", "Joint", "Drag bodies on their joints: start values (j)", "live-pull");
  const cord = new THREE.Line(new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]), new THREE.LineBasicMaterial({ color: "#d2452f", depthTest: false }));
  cord.visible = false; cord.frustumCulled = false; world.add(cord); live.cord = cord;
  canvas.addEventListener("pointerdown", (event) => {
    const byJoint = event.altKey || held("live-joint"), byForce = event.shiftKey || held("live-pull");
    if (!live.engine || !(byJoint || byForce)) return;
    const found = pick(event);
    if (!found) return;
    if (byJoint) { if (!grabJoint(found)) return; }
    else { live.pulled = { body: found.body, point: found.point, to: found.place, plane: facing(found.place) }; if (!playing) play(true); }
    controls.enabled = false; canvas.setPointerCapture(event.pointerId); event.stopImmediatePropagation();
  }, true);
  canvas.addEventListener("pointermove", (event) => {
    if (jointDrag.held) { aim(event); moveJoint(); return; }
    if (!live.pulled) return;
    aim(event); ray.ray.intersectPlane(live.pulled.plane, live.pulled.to); dirty = true;
  }, true);
  const release = () => {
    if (jointDrag.held) releaseJoint();
    else if (live.pulled) { live.engine.pull(live.pulled.body, [0, 0, 0], [0, 0, 0]); live.pulled = null; } else return;
    controls.enabled = true; dirty = true;
  };
  canvas.addEventListener("pointerup", release, true); canvas.addEventListener("pointercancel", release, true);
}
function drawCord() {
  live.cord.visible = !!live.pulled;
  if (!live.pulled) return;
  const at = new THREE.Vector3(...live.pulled.point).applyQuaternion(bodies[live.pulled.body].turn).add(bodies[live.pulled.body].position);
  live.cord.geometry.setFromPoints([at, live.pulled.to]);
}
async function startLive() {
  buildControls();
  try { live.engine = await LiveEngine.open(LIVE); } catch (error) { tell(`This browser cannot run the engine: ${error.message}`); return; }
  restart();
  panels();
  play(!matchMedia("(prefers-reduced-motion: reduce)").matches && !DATA.paused);
}
