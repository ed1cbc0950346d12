// The scene: lights, ground, bodies; poses of an instant.
const canvas = document.getElementById("scene"), labels = document.getElementById("labels"), main = document.querySelector("main");
const world = new THREE.Scene(), origin = new THREE.Vector3();
const kinds = { joints: [], axes: [], frames: [], com: [], paths: [], forces: [], reactions: [], labels: [] };
const shown = { joints: true, paths: true, forces: true, reactions: false, frames: false, com: false, labels: false, floor: true, stress: DATA.stresses !== false };
const bodies = DATA.bodies.map((body) => {
  const object = new THREE.Group(), joints = new THREE.Group(), frame = axes(0.12 * SIZE), centre = com(0.016 * SIZE);
  body.parts.forEach((part) => object.add(solid(part, body.colour)));
  body.joints.forEach((part) => joints.add(solid(part, "#3b434c")));
  centre.position.set(...body.com);
  const label = document.createElement("span");
  label.textContent = body.name;
  labels.append(label);
  object.add(joints, frame, centre);
  world.add(object);
  kinds.joints.push(joints); kinds.frames.push(frame); if (body.mass > 0) kinds.com.push(centre); else centre.visible = false; kinds.labels.push(label);
  return { ...body, object, label, position: new THREE.Vector3(), turn: new THREE.Quaternion(), there: false };
});
const numberOf = new Map(bodies.map((body, k) => [body.name, k]));
const base = new THREE.Group(), bearings = new THREE.Group(), groundFrame = axes(0.16 * SIZE);
DATA.scenery.forEach((part) => base.add(solid(part, "#9aa4ae")));
DATA.bearings.forEach((part) => bearings.add(solid(part, "#3b434c")));
base.add(bearings, groundFrame); world.add(base);
kinds.joints.push(bearings); kinds.frames.push(groundFrame);
const place = (body, point, out = new THREE.Vector3()) => { out.set(point[0], point[1], point[2]); if (body === "ground") return out.sub(origin); const b = bodies[numberOf.get(body)]; return b && b.there ? out.applyQuaternion(b.turn).add(b.position) : null; };
const unturned = new THREE.Quaternion(), turnOf = (body) => (body === "ground" ? unturned : bodies[numberOf.get(body)].turn);

const lines = DATA.lines.map((line) => { const [object, fit] = stretching(line); world.add(object); return { ...line, object, fit }; });
DATA.lines.forEach((line) => [line.a, line.b].forEach((end) => { if (line.kind !== "turn" && end.body === "ground") bearings.add(solid({ kind: "box", size: [3.4, 3.4, 2.2].map((x) => x * 0.014 * SIZE), at: end.point, turn: [1, 0, 0, 0], opacity: 1 }, "#59636e")); }));
const arrows = DATA.arrows.map((each) => { const [object, fit] = arrow(each.kind === "reaction" ? "#8a63c4" : "#d2452f"); object.traverse((o) => { o.castShadow = false; }); world.add(object); (each.kind === "reaction" ? kinds.reactions : kinds.forces).push(object); return { ...each, object, fit }; });
const ends = DATA.lines.flatMap((line) => line.force ? [0, 1].map((end) => { const [object, fit] = arrow("#d2452f"); world.add(object); kinds.forces.push(object); return { line, end, object, fit }; }) : []);
const PATHS = ["#1f6fb5", "#d2452f", "#3c9a55", "#a35fb8", "#c98a1b", "#2a9d9a"];
const paths = DATA.traces.map((trace, k) => {
  const make = (opacity) => { const line = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: PATHS[k % PATHS.length], transparent: true, opacity, fog: false })); line.frustumCulled = false; world.add(line); return line; };
  const dot = new THREE.Mesh(new THREE.SphereGeometry(0.009 * SIZE, 16, 12), new THREE.MeshBasicMaterial({ color: PATHS[k % PATHS.length] }));
  world.add(dot);
  return { ...trace, colour: PATHS[k % PATHS.length], past: make(1), whole: make(0.28), dot };
});

const tracks = (DATA.strips || []).map((strip) => { // a ribbon just above the ground, clear where there is no rut
  const cells = strip.left.length, points = new Float32Array(6 * cells), colours = new Float32Array(8 * cells), faces = [], lift = 0.003 * SIZE;
  for (let c = 0; c < cells; c++) {
    [strip.left[c], strip.right[c]].forEach((at, side) => { points.set(at.map((x, i) => x + lift * strip.normal[i]), 6 * c + 3 * side); colours.set([0.2, 0.13, 0.07, 0], 8 * c + 4 * side); });
    if (c) faces.push(2 * c - 2, 2 * c - 1, 2 * c, 2 * c, 2 * c - 1, 2 * c + 1);
  }
  const made = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(points, 3)).setAttribute("color", new THREE.BufferAttribute(colours, 4));
  made.setIndex(faces);
  const object = new THREE.Mesh(made, new THREE.MeshBasicMaterial({ vertexColors: true, transparent: true, side: THREE.DoubleSide, depthWrite: false }));
  world.add(object);
  return { ...strip, object };
});

let bent = 1; // by how much bending is exaggerated
const HEAT = [[0, 38, 78, 158], [0.25, 57, 150, 190], [0.5, 112, 190, 110], [0.75, 240, 200, 60], [1, 205, 45, 40]];
function heat(part, out) { // linear colour of a share of the largest stress
  const x = Math.min(Math.max(part, 0), 1), k = Math.max(1, HEAT.findIndex((each) => each[0] >= x)), a = HEAT[k - 1], b = HEAT[k], s = (x - a[0]) / (b[0] - a[0]);
  for (let i = 0; i < 3; i++) out[i] = ((a[i + 1] + s * (b[i + 1] - a[i + 1])) / 255) ** 2.2;
  return out;
}
const skins = (DATA.skins || []).map((skin) => { // a surface that modes move
  const rest = unpack(skin.points), at = new Float32Array(rest), made = new THREE.BufferGeometry(), colours = new Float32Array(rest.length), body = bodies[numberOf.get(skin.body)];
  made.setAttribute("position", new THREE.BufferAttribute(at, 3)); made.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  made.setIndex(new THREE.BufferAttribute(new Uint32Array(unpack(skin.triangles, Int32Array)), 1));
  const plain = new THREE.MeshStandardMaterial({ color: body.colour, roughness: 0.55, metalness: 0.05, fog: false, flatShading: true }), hot = new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.6, metalness: 0, fog: false, flatShading: true });
  const object = new THREE.Mesh(made, plain);
  object.castShadow = object.receiveShadow = true; object.frustumCulled = false;
  body.object.add(object);
  return { ...skin, rest, at, colours, object, plain, hot, shapes: unpack(skin.shapes), stresses: skin.stresses && unpack(skin.stresses) };
});
const beamPieces = (DATA.beams || []).map((beam) => beam.pieces.map((piece) => {
  const body = bodies[numberOf.get(piece.body)], solids = body ? body.object.children.filter((each) => each.isMesh) : [];
  return { ...piece, body, solids: solids.map((mesh) => ({ mesh, own: mesh.material })), hot: new THREE.MeshStandardMaterial({ roughness: 0.6, metalness: 0, fog: false }) };
}));
const sky = new THREE.HemisphereLight("#ffffff", "#b9bec6", 1.9), sun = new THREE.DirectionalLight("#fff8ee", 1.7), fill = new THREE.DirectionalLight("#dfe8ff", 0.7);
const middle = V(DATA.middle), reach = Math.max(DATA.reach, 0.3 * SIZE);
{ // the sun stands above and beside
  const side = Math.abs(UP.z) > 0.9 ? new THREE.Vector3(0.5, -0.6, 0) : Math.abs(UP.y) > 0.9 ? new THREE.Vector3(0.5, 0, 0.6) : new THREE.Vector3(0, 0.5, 0.6);
  sun.position.copy(middle).addScaledVector(UP, 2.4 * reach).addScaledVector(side, 2 * reach);
  fill.position.copy(middle).addScaledVector(UP, 0.6 * reach).addScaledVector(side, -3 * reach);
  sky.position.copy(UP);
  sun.target.position.copy(middle); fill.target.position.copy(middle);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  Object.assign(sun.shadow.camera, { left: -1.7 * reach, right: 1.7 * reach, top: 1.7 * reach, bottom: -1.7 * reach, near: 0.1 * reach, far: 8 * reach });
  sun.shadow.bias = -0.0004; sun.shadow.normalBias = 0.004 * reach; sun.shadow.radius = 4;
  world.add(sky, sun, sun.target, fill, fill.target);
}
const floor = new THREE.Group();
let floorPlane = null, grids = [];
if (DATA.ground !== null) {
  const cell = 10 ** Math.floor(Math.log10(Math.max(reach, SIZE))) / 2, half = Math.ceil((7 * reach) / cell) * cell;
  floorPlane = new THREE.Mesh(new THREE.CircleGeometry(half, 72), new THREE.MeshStandardMaterial({ roughness: 1, metalness: 0 }));
  floorPlane.receiveShadow = true;
  floorPlane.position.z = -0.0015 * reach;
  floor.add(floorPlane);
  const points = [];
  for (let s = -half; s <= half + 1e-9 * half; s += cell) { const r = Math.sqrt(Math.max(half * half - s * s, 0)); points.push(s, -r, 0, s, r, 0, -r, s, 0, r, s, 0); }
  const made = new THREE.LineSegments(new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(points, 3)), new THREE.LineBasicMaterial({ transparent: true, opacity: 0.55 }));
  grids.push(made); floor.add(made);
  floor.quaternion.setFromUnitVectors(Z, UP);
  floor.position.copy(middle).addScaledVector(UP, DATA.ground - middle.dot(UP));
  world.add(floor);
  world.fog = new THREE.Fog("#ffffff", 6 * reach, 17 * reach);
}
const stood = [sun.position, sun.target.position, fill.position, fill.target.position, floor.position].map((at) => [at, at.clone()]);
function carry(way) { // lights go along; the ground in steps of its grid, which is seen to stand still
  const cell = 10 ** Math.floor(Math.log10(Math.max(reach, SIZE))) / 2, flat = way.clone().applyQuaternion(floor.quaternion.clone().invert());
  flat.set(Math.round(flat.x / cell) * cell, Math.round(flat.y / cell) * cell, 0).applyQuaternion(floor.quaternion);
  stood.forEach(([at, home]) => at.copy(home).add(at === floor.position ? flat : way));
}
let renderer = null;
try {
  renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFSoftShadowMap;
} catch (error) {
  document.getElementById("message").hidden = false;
  document.getElementById("message").textContent = "This browser offers no WebGL, so that the scene cannot be drawn; the plots work all the same.";
}
const camera = new THREE.PerspectiveCamera(32, 1, 0.005 * reach, 80 * reach);
camera.up.copy(UP);
const controls = new OrbitControls(camera, canvas);
controls.enableDamping = true; controls.dampingFactor = 0.12; controls.screenSpacePanning = true; controls.maxDistance = 25 * reach;
function look(which = "home") {
  const ways = { x: [1, 0, 0], y: [0, -1, 0], z: [0, 0, 1] };
  let way;
  if (which !== "home") way = V(ways[which]);
  else {
    const normal = DATA.normal ? V(DATA.normal) : null;
    const across = Math.abs(UP.z) > 0.9 ? new THREE.Vector3(0.62, -1, 0) : new THREE.Vector3(0.45, 0, 1);
    if (normal && Math.abs(normal.dot(UP)) < 0.5) { // plane mechanisms are seen from the front, a little from above and beside
      if (normal.dot(across) < 0) normal.negate();
      way = normal.addScaledVector(new THREE.Vector3().crossVectors(UP, normal), 0.3);
    } else way = across.addScaledVector(UP, -across.dot(UP));
    way.normalize().addScaledVector(UP, 0.36);
  }
  if (Math.abs(way.dot(UP)) > 0.999 * way.length()) way.addScaledVector(Math.abs(UP.x) > 0.9 ? new THREE.Vector3(0, 1e-3, 0) : new THREE.Vector3(0, -1e-3, 1e-3), 1);
  way.normalize();
  const distance = which === "home" && DATA.outline.length ? fitting(way) : (1.06 * reach) / Math.sin((camera.fov * Math.PI) / 360) / Math.max(Math.min(1, columnAspect()), 0.35);
  controls.target.copy(middle);
  if (world.fog) { world.fog.near = 1.1 * distance; world.fog.far = 3.6 * distance; }
  camera.position.copy(middle).addScaledVector(way.normalize(), distance);
  if (follow >= 0 && bodies[follow].there) { const gone = lastFollowed.clone().sub(homeFollowed); camera.position.add(gone); controls.target.add(gone); }
  controls.update();
}
const columnAspect = () => { if (!beside) return camera.aspect; const count = stills().length; return camera.aspect >= 1 ? camera.aspect / count : camera.aspect * count; };
function fitting(way) { // how far away the eye must be so that the outline fills the picture
  const right = new THREE.Vector3().crossVectors(UP, way).normalize(), above = new THREE.Vector3().crossVectors(way, right), tan = Math.tan((camera.fov * Math.PI) / 360);
  let most = 0.3 * SIZE;
  for (const place of DATA.outline) {
    const p = V(place).sub(middle);
    most = Math.max(most, p.dot(way) + (1.12 * Math.max(Math.abs(p.dot(above)), Math.abs(p.dot(right)) / Math.max(columnAspect(), 0.35))) / tan);
  }
  return most;
}
function paint() { // colours of the theme
  const style = getComputedStyle(document.documentElement), colour = (name) => new THREE.Color(style.getPropertyValue(name).trim());
  world.background = colour("--sky");
  if (world.fog) world.fog.color.copy(world.background);
  const dark = document.documentElement.dataset.theme === "dark", earth = dark ? "#3d3a33" : "#b9b29f", terrain = DATA.scenery.some((part) => part.colour === "#b9b29f");
  if (floorPlane) floorPlane.material.color.copy(terrain ? new THREE.Color(earth) : colour("--floor")); // a terrain goes on as a plane
  grids.forEach((grid) => { grid.material.color.copy(colour("--grid")); grid.visible = !terrain; });
  materials.forEach((each, key) => { if (key.startsWith("#b9b29f")) each.color.set(earth); }); // terrains
  sky.intensity = dark ? 1.7 : 1.9; sun.intensity = dark ? 1.9 : 1.7;
}
const EASED = [{ pixels: 2, shadows: true }, { pixels: 1, shadows: true }, { pixels: 0.7, shadows: false }, { pixels: 0.45, shadows: false }];
let eased = 0, late = 0;
function ease(level) { // without a graphics card: fewer pixels and no shadows while it plays; what stands still is drawn in full
  if (!renderer || level === eased) return;
  eased = level; late = 0;
  sun.castShadow = EASED[level].shadows;
  resize();
}
function watch(passed) { // seconds since the last frame that was drawn
  late = passed > 0.045 ? late + Math.min(passed / 0.09, 6) : Math.max(0, late - 0.5);
  if (late > 5 && eased < EASED.length - 1) ease(eased + 1);
}
function resize() {
  const box = canvas.parentElement.getBoundingClientRect();
  if (!renderer || !box.width || !box.height) return;
  renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, EASED[eased].pixels));
  renderer.setSize(box.width, box.height, false);
  camera.aspect = box.width / box.height;
  camera.updateProjectionMatrix();
}
