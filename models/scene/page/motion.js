// Clips: poses over time; the scene at an instant; paths and arrows.
const clips = DATA.clips.map((clip) => ({ ...clip, time: unpack(clip.time, Float64Array), poses: unpack(clip.poses), ruts: (clip.ruts || []).map((each) => each && unpack(each)), vectors: clip.vectors.map((each) => each && unpack(each)), forces: clip.forces.map((each) => each && unpack(each)), amplitudes: (clip.amplitudes || []).map((each) => unpack(each)), beam_stresses: (clip.beam_stresses || []).map((each) => unpack(each)), origin: clip.origin && unpack(clip.origin, Float64Array), plots: clip.plots.map((plot) => ({ ...plot, values: Float64Array.from(unpack(plot.values), (v) => v + plot.base) })) }));
let clip = clips[0], now = 0, playing = false, rate = 1, follow = -1, dirty = true, arrowSize = 1;
const COUNT = bodies.length, q0 = new THREE.Quaternion(), q1 = new THREE.Quaternion(), followed = new THREE.Vector3(), lastFollowed = new THREE.Vector3(), homeFollowed = new THREE.Vector3(), homes = new Map();
const begin = () => clip.time[0], finish = () => clip.time[clip.time.length - 1];
function frameAt(t) { // index and part of the way to the next frame
  let low = 0, high = clip.time.length - 1;
  if (t >= clip.time[high]) return [high, 0];
  while (high - low > 1) { const half = (low + high) >> 1; if (clip.time[half] <= t) low = half; else high = half; }
  const span = clip.time[high] - clip.time[low];
  return [low, span > 0 ? Math.max(0, (t - clip.time[low]) / span) : 0];
}
function pose(t) {
  const [k, s] = frameAt(t), P = clip.poses;
  bodies.forEach((body, b) => {
    const i = 7 * (k * COUNT + b), last = k + 1 < clip.time.length && Number.isFinite(P[7 * ((k + 1) * COUNT + b)]), j = s > 0 && last ? 7 * ((k + 1) * COUNT + b) : i;
    body.there = Number.isFinite(P[i]);
    body.object.visible = body.there;
    if (!body.there) return;
    body.position.set(P[i] + s * (P[j] - P[i]), P[i + 1] + s * (P[j + 1] - P[i + 1]), P[i + 2] + s * (P[j + 2] - P[i + 2]));
    q0.set(P[i + 4], P[i + 5], P[i + 6], P[i + 3]); q1.set(P[j + 4], P[j + 5], P[j + 6], P[j + 3]);
    body.turn.slerpQuaternions(q0, q1, s);
    body.object.position.copy(body.position); body.object.quaternion.copy(body.turn);
  });
  bendSkins(k, s); bendBeams(k);
  if (clip.origin) { origin.set(clip.origin[3 * k], clip.origin[3 * k + 1], clip.origin[3 * k + 2]); base.position.copy(origin).negate(); }
  const a = new THREE.Vector3(), b = new THREE.Vector3();
  lines.forEach((line) => {
    line.object.visible = !!(place(line.a.body, line.a.point, a) && place(line.b.body, line.b.point, b));
    if (!line.object.visible) return;
    if (line.kind === "turn") { line.fit(a, turnOf(line.a.body), b, turnOf(line.b.body)); return; }
    b.sub(a);
    const length = b.length();
    line.object.position.copy(a);
    if (length > 0) line.object.quaternion.setFromUnitVectors(Z, b.divideScalar(length));
    line.fit(length);
  });
  drawArrows(k);
  drawRuts(k);
  paths.forEach((path) => {
    path.past.geometry.setDrawRange(0, k + 1);
    path.dot.visible = path.shown && shown.paths && !!place(path.body, path.point, path.dot.position);
    path.past.visible = path.whole.visible = path.shown && shown.paths;
  });
}
const rgb = [0, 0, 0], straight = new THREE.Quaternion(), way = new THREE.Vector3();
function bendSkins(k, s) {
  skins.forEach((skin, n) => {
    const Q = clip.amplitudes && clip.amplitudes[n], { rest, at, shapes, stresses, colours, count } = skin, size = rest.length, last = k + 1 < clip.time.length;
    at.set(rest);
    const q = Array.from({ length: count }, (_, m) => (Q ? Q[k * count + m] + (last ? s * (Q[(k + 1) * count + m] - Q[k * count + m]) : 0) : 0));
    q.forEach((value, m) => { const f = bent * value, from = m * size; if (f) for (let i = 0; i < size; i++) at[i] += f * shapes[from + i]; });
    const hot = shown.stress && stresses && (clip.stress > 0 || clip.growing);
    skin.object.material = hot ? skin.hot : skin.plain;
    if (hot) {
      const points = size / 3, six = [0, 0, 0, 0, 0, 0];
      for (let p = 0; p < points; p++) {
        six.fill(0);
        for (let m = 0; m < count; m++) for (let c = 0; c < 6; c++) six[c] += q[m] * stresses[6 * (m * points + p) + c];
        const [xx, yy, zz, xy, yz, xz] = six;
        const stress = Math.sqrt(0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3 * (xy * xy + yz * yz + xz * xz));
        if (clip.growing) noteStress(stress);
        colours.set(heat(stress / (clip.stress || 1), rgb), 3 * p);
      }
      skin.object.geometry.attributes.color.needsUpdate = true;
    }
    skin.object.geometry.attributes.position.needsUpdate = true;
  });
}
function bendBeams(k) { // pieces further from where the straight beam has them
  beamPieces.forEach((pieces, n) => {
    const root = pieces[0].body, stress = clip.beam_stresses && clip.beam_stresses[n];
    if (!root || !root.there) return;
    straight.copy(root.turn).invert();
    pieces.forEach((piece, m) => {
      if (!piece.body || !piece.body.there) return;
      const hot = shown.stress && stress && clip.stress > 0;
      if (hot) { heat(stress[k * pieces.length + m] / clip.stress, rgb); piece.hot.color.setRGB(...rgb); }
      piece.solids.forEach(({ mesh, own }) => { mesh.material = hot ? piece.hot : own; });
      if (bent === 1 || m === 0) return;
      way.copy(piece.body.position).sub(root.position).applyQuaternion(straight);
      way.x = piece.begin + bent * (way.x - piece.begin); way.y *= bent; way.z *= bent;
      piece.body.object.position.copy(way.applyQuaternion(root.turn).add(root.position));
      q0.copy(straight).multiply(piece.body.turn); if (q0.w < 0) q0.set(-q0.x, -q0.y, -q0.z, -q0.w);
      const sine = Math.hypot(q0.x, q0.y, q0.z), half = Math.min(bent * Math.atan2(sine, q0.w), 1.5);
      if (sine > 1e-12) { const f = Math.sin(half) / sine; q0.set(f * q0.x, f * q0.y, f * q0.z, Math.cos(half)); piece.body.object.quaternion.copy(root.turn).multiply(q0); }
    });
  });
}
function largest(kind) { // of all arrows of a kind, for a common scale
  let most = 0;
  const take = (x, y = 0, z = 0) => { const size = Math.hypot(x, y, z); if (size > most && Number.isFinite(size)) most = size; };
  arrows.forEach((each, k) => { if ((each.kind === "reaction") === (kind === "reactions") && clip.vectors[k]) for (let i = 0; i < clip.vectors[k].length; i += 3) take(clip.vectors[k][i], clip.vectors[k][i + 1], clip.vectors[k][i + 2]); });
  if (kind === "forces") DATA.lines.forEach((line, k) => clip.forces[k] && clip.forces[k].forEach((f) => take(f)));
  return most || 1;
}
const deepest = new Map();
function drawRuts(k) { // the deeper the darker
  tracks.forEach((strip, n) => {
    const depths = clip.ruts[n], cells = strip.left.length, colours = strip.object.geometry.attributes.color;
    strip.object.visible = !!depths && shown.floor;
    if (!depths) return;
    if (!deepest.has(depths)) deepest.set(depths, depths.reduce((most, each) => Math.max(most, each), 1e-9));
    for (let c = 0; c < cells; c++) { const part = Math.sqrt(Math.max(depths[k * cells + c], 0) / deepest.get(depths)) * 0.85; colours.setW(2 * c, part); colours.setW(2 * c + 1, part); }
    colours.needsUpdate = true;
    if (clip.origin) strip.object.position.copy(origin).negate();
  });
}
const scales = {};
function drawArrows(k) {
  const start = new THREE.Vector3(), vector = new THREE.Vector3(), other = new THREE.Vector3(), thick = 0.006 * SIZE;
  for (const kind of ["forces", "reactions"]) scales[kind] ??= (0.2 * SIZE) / largest(kind);
  arrows.forEach((each, n) => {
    const kind = each.kind === "reaction" ? "reactions" : "forces", values = clip.vectors[n];
    each.object.visible = false;
    if (!shown[kind] || !values || !place(each.body, each.point, start)) return;
    if (each.kind === "contact" && each.height !== null) { vector.set(...each.normal); start.addScaledVector(vector, each.height - start.dot(vector)); }
    vector.set(values[3 * k], values[3 * k + 1], values[3 * k + 2]).multiplyScalar(scales[kind] * arrowSize);
    each.fit(start, vector, thick);
  });
  ends.forEach((each) => {
    const index = DATA.lines.indexOf(each.line), values = clip.forces[index];
    each.object.visible = false;
    if (!shown.forces || !values || !place(each.line.a.body, each.line.a.point, start) || !place(each.line.b.body, each.line.b.point, other)) return;
    vector.copy(each.end ? other : start).sub(each.end ? start : other).normalize().multiplyScalar(values[k] * scales.forces * arrowSize);
    each.fit(each.end ? other : start, vector, thick);
  });
}
function tracePaths() {
  const p = new THREE.Vector3(), q = new THREE.Quaternion(), P = clip.poses;
  paths.forEach((path) => {
    const b = numberOf.get(path.body), points = new Float32Array(3 * clip.time.length);
    let last = [0, 0, 0];
    for (let k = 0; k < clip.time.length; k++) {
      const i = 7 * (k * COUNT + b);
      if (Number.isFinite(P[i])) { q.set(P[i + 4], P[i + 5], P[i + 6], P[i + 3]); p.set(...path.point).applyQuaternion(q); last = [p.x + P[i], p.y + P[i + 1], p.z + P[i + 2]]; }
      points.set(last, 3 * k);
    }
    for (const line of [path.past, path.whole]) { line.geometry.setAttribute("position", new THREE.BufferAttribute(points, 3)); line.geometry.attributes.position.needsUpdate = true; }
  });
}
function visibility() {
  for (const kind of ["joints", "frames", "com"]) kinds[kind].forEach((object) => { object.visible = shown[kind]; });
  kinds.labels.forEach((label) => { label.hidden = !shown.labels; });
  labels.hidden = !shown.labels;
  floor.visible = shown.floor;
  dirty = true;
}
function placeLabels() {
  if (!shown.labels) return;
  const box = canvas.getBoundingClientRect(), p = new THREE.Vector3();
  bodies.forEach((body) => {
    p.set(...body.com).applyQuaternion(body.turn).add(body.position).project(camera);
    body.label.hidden = !body.there || p.z > 1;
    body.label.style.transform = `translate(${((p.x + 1) / 2) * box.width + 8}px, ${((1 - p.y) / 2) * box.height - 8}px)`;
  });
}
const placeOf = (body, out) => out.set(...body.com).applyQuaternion(body.turn).add(body.position);
function followBody() { // the eye goes with a body, and with it the lights and the ground under it
  const body = bodies[follow];
  if (!body || !body.there) return;
  placeOf(body, followed);
  const step = followed.clone().sub(lastFollowed);
  camera.position.add(step); controls.target.add(step); lastFollowed.copy(followed);
  carry(followed.clone().sub(homeFollowed));
}
function startFollowing(index) { // where a body is now is where the eye begins to go with it
  const body = bodies[index];
  follow = body ? index : -1;
  if (body && body.there) { placeOf(body, lastFollowed); if (!homes.has(index)) { const t = now; pose(begin()); homes.set(index, placeOf(body, new THREE.Vector3()).clone()); pose(t); } homeFollowed.copy(homes.get(index)); }
}
const stills = () => clips.filter((each) => each.time.length === 1);
let beside = false;
function showBeside(on) { // states of rest one beside another, or one below another where the page is high
  beside = on && stills().length > 1;
  const names = document.getElementById("columns"), box = canvas.getBoundingClientRect(), across = box.width >= box.height;
  names.hidden = !beside;
  names.style.flexDirection = across ? "row" : "column";
  names.replaceChildren(...(beside ? stills() : []).map((each) => { const name = document.createElement("span"); name.textContent = each.name; return name; }));
  for (const kind of ["forces", "reactions"]) { const own = clip; scales[kind] = (0.2 * SIZE) / Math.max(...(beside ? stills() : [clip]).map((each) => { clip = each; return largest(kind); })); clip = own; }
  labels.style.visibility = beside ? "hidden" : "";
  dirty = true;
}
function renderBeside() {
  const own = clip, still = stills(), size = renderer.getSize(new THREE.Vector2()), across = size.x >= size.y, w = across ? size.x / still.length : size.x, h = across ? size.y : size.y / still.length;
  renderer.setScissorTest(true);
  camera.aspect = w / h;
  camera.updateProjectionMatrix();
  still.forEach((each, k) => {
    clip = each;
    pose(each.time[0]);
    const x = across ? k * w : 0, y = across ? 0 : size.y - (k + 1) * h;
    renderer.setViewport(x, y, w, h); renderer.setScissor(x, y, w, h);
    renderer.render(world, camera);
  });
  renderer.setScissorTest(false);
  renderer.setViewport(0, 0, size.x, size.y);
  camera.aspect = size.x / size.y;
  camera.updateProjectionMatrix();
  clip = own;
  pose(now);
}
function render() {
  if (!renderer) return;
  if (beside) return renderBeside();
  renderer.render(world, camera);
  placeLabels();
}
