// Objects of the scene from plain data: parts of bodies, what stretches, arrows, traces.
"use strict";
const { THREE, OrbitControls } = KINETREE_THREE;
const DATA = JSON.parse(document.getElementById("data").textContent);
const unpack = (text, kind = Float32Array) => { const raw = atob(text), bytes = new Uint8Array(raw.length); for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k); return new kind(bytes.buffer); };
const V = (a) => new THREE.Vector3(a[0], a[1], a[2]);
const UP = V(DATA.up), SIZE = DATA.size, Z = new THREE.Vector3(0, 0, 1);
const materials = new Map();
function material(colour, opacity = 1, rough = 0.55, metal = 0.05) {
  const key = [colour, opacity, rough, metal].join();
  if (!materials.has(key)) materials.set(key, new THREE.MeshStandardMaterial({ color: colour, roughness: rough, metalness: metal, fog: false, transparent: opacity < 1, opacity, depthWrite: opacity > 0.6, side: opacity < 1 ? THREE.DoubleSide : THREE.FrontSide }));
  return materials.get(key);
}
const geometries = new Map();
const corners = (radius, most, least = 10) => Math.max(least, 2 * Math.round(0.5 * most * Math.min(1, Math.sqrt(radius / (0.06 * SIZE))))); // corners of a circle: small ones need few
function geometry(part) {
  const key = part.kind + ":" + part.size.map((x) => x.toPrecision(5)).join();
  if (part.kind !== "mesh" && geometries.has(key)) return geometries.get(key);
  const [a, b, c] = part.size;
  const made = {
    box: () => new THREE.BoxGeometry(a, b, c),
    cylinder: () => new THREE.CylinderGeometry(a, a, b, corners(a, 40)).rotateX(Math.PI / 2),
    cone: () => new THREE.CylinderGeometry(0.25 * a, a, b, 4).rotateX(Math.PI / 2).rotateZ(Math.PI / 4),
    capsule: () => new THREE.CapsuleGeometry(a, b, corners(a, 8, 4), corners(a, 20, 8)).rotateX(Math.PI / 2),
    sphere: () => new THREE.SphereGeometry(a, corners(a, 36), corners(a, 24, 8)),
    wheel: () => wheel(a, b),
    mesh: () => mesh(part),
  }[part.kind]();
  if (part.kind !== "mesh") geometries.set(key, made);
  return made;
}
function wheel(radius, width) { // a round tyre with a rounded shoulder
  const points = [], inner = 0.6 * radius, half = width / 2, round = 0.35 * half;
  for (const [r, z] of [[inner, -half], [radius - round, -half], [radius - 0.3 * round, -half + 0.3 * round], [radius, -half + round], [radius, half - round], [radius - 0.3 * round, half - 0.3 * round], [radius - round, half], [inner, half], [inner, -half]]) points.push(new THREE.Vector2(r, z));
  return new THREE.LatheGeometry(points, corners(radius, 48, 16)).rotateX(Math.PI / 2);
}
function mesh(part) {
  const made = new THREE.BufferGeometry();
  made.setAttribute("position", new THREE.BufferAttribute(new Float32Array(part.points), 3));
  made.setIndex(part.triangles);
  const flat = made.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}
function solid(part, colour) {
  const own = part.colour || colour, dark = own === "#2b2f36" || own === "#b9b29f";
  const object = new THREE.Mesh(geometry(part), material(own, part.opacity, dark ? 0.9 : 0.55));
  object.position.set(...part.at);
  object.quaternion.set(part.turn[1], part.turn[2], part.turn[3], part.turn[0]);
  object.castShadow = part.opacity > 0.6;
  object.receiveShadow = true;
  return object;
}
function bar(radius, colour, segments = 20) { // along z, from 0 to 1: scaled to its length
  const made = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, 1, segments).rotateX(Math.PI / 2).translate(0, 0, 0.5), material(colour, 1, 0.4, 0.25));
  made.castShadow = true;
  return made;
}
function coil(radius, rest, colour) {
  const length = Math.max(rest, 0.2 * radius), end = Math.min(0.12 * length, 1.2 * radius), turns = Math.max(4, Math.min(22, Math.round((length - 2 * end) / (0.75 * radius)))), points = [];
  points.push(new THREE.Vector3(0, 0, 0), new THREE.Vector3(0, 0, 0.7 * end));
  for (let k = 0; k <= turns * 14; k++) { const s = k / (turns * 14), angle = 2 * Math.PI * turns * s; points.push(new THREE.Vector3(radius * Math.cos(angle), radius * Math.sin(angle), end + (length - 2 * end) * s)); }
  points.push(new THREE.Vector3(0, 0, length - 0.7 * end), new THREE.Vector3(0, 0, length));
  const made = new THREE.Mesh(new THREE.TubeGeometry(new THREE.CatmullRomCurve3(points), turns * 20, 0.16 * radius, 7), material(colour, 1, 0.4, 0.3));
  made.castShadow = true;
  made.userData.length = length;
  return made;
}
function turn(line) { // one turn of a wire: its ends go with two bodies, between them it bends from one to the other
  const steps = 32, round = 10, row = round + 1, at = new Float32Array(3 * row * (steps + 1)), out = new Float32Array(at.length), faces = [];
  for (let k = 0; k < steps; k++) for (let j = 0; j < round; j++) { const p = k * row + j; faces.push(p, p + 1, p + row, p + row, p + 1, p + row + 1); }
  const shape = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(at, 3)).setAttribute("normal", new THREE.BufferAttribute(out, 3));
  shape.setIndex(faces);
  const object = new THREE.Mesh(shape, material(line.colour, 1, 0.4, 0.3)), axes = [0, 1, 2].map((k) => new THREE.Vector3().setComponent((line.axis + 1 + k) % 3, 1));
  object.castShadow = object.receiveShadow = true; object.frustumCulled = false;
  const a = new THREE.Vector3(), b = new THREE.Vector3(), away = new THREE.Vector3(), up = new THREE.Vector3(), tangent = new THREE.Vector3();
  const spoke = (s, placeA, turnA, placeB, turnB) => {
    a.copy(axes[0]).multiplyScalar(Math.cos(2 * Math.PI * s)).addScaledVector(axes[1], Math.sin(2 * Math.PI * s)); b.copy(a);
    a.applyQuaternion(turnA); b.applyQuaternion(turnB);
    away.copy(a).lerp(b, s).normalize();
    return a.multiplyScalar(line.radius).add(placeA).lerp(b.multiplyScalar(line.radius).add(placeB), s);
  };
  return [object, (placeA, turnA, placeB, turnB) => {
    for (let k = 0; k <= steps; k++) {
      tangent.copy(spoke((k + 0.5) / steps, placeA, turnA, placeB, turnB)).sub(spoke((k - 0.5) / steps, placeA, turnA, placeB, turnB));
      const middle = spoke(k / steps, placeA, turnA, placeB, turnB);
      up.crossVectors(tangent, away).normalize(); away.crossVectors(up, tangent).normalize();
      for (let j = 0; j <= round; j++) {
        const c = Math.cos((2 * Math.PI * j) / round), s = Math.sin((2 * Math.PI * j) / round), i = 3 * (k * row + j);
        for (const [n, letter] of ["x", "y", "z"].entries()) { out[i + n] = c * away[letter] + s * up[letter]; at[i + n] = middle[letter] + line.wire * out[i + n]; }
      }
    }
    shape.attributes.position.needsUpdate = shape.attributes.normal.needsUpdate = true;
  }];
}
function stretching(line) { // a group along z between two points, with a function that fits it to a length
  if (line.kind === "turn") return turn(line);
  const group = new THREE.Group();
  if (line.commanded) { const box = new THREE.Mesh(new THREE.BoxGeometry(2.6 * line.radius, 2.6 * line.radius, 2 * line.radius), material(line.commanded)); box.position.z = 4 * line.radius; box.castShadow = true; group.add(box); }
  if (line.kind === "spring") {
    const spring = coil(line.radius, line.rest, line.colour);
    group.add(spring);
    return [group, (length) => { spring.scale.z = Math.max(length, 1e-6) / spring.userData.length; }];
  }
  if (line.kind === "rope") {
    const rope = bar(line.radius, line.colour, 10);
    group.add(rope);
    return [group, (length) => { rope.scale.z = Math.max(length, 1e-9); }];
  }
  const barrel = bar(line.radius, line.colour), piston = bar(0.55 * line.radius, "#c3c9d0"), cap = bar(1.12 * line.radius, "#59636e");
  barrel.scale.z = line.barrel; cap.scale.z = 0.06 * line.barrel; cap.position.z = 0.95 * line.barrel;
  for (const z of [0, 1]) { const eye = new THREE.Mesh(new THREE.SphereGeometry(0.9 * line.radius, 20, 14), material("#59636e")); eye.name = z ? "far" : "near"; group.add(eye); }
  group.add(barrel, piston, cap);
  return [group, (length) => { piston.position.z = 0.5 * line.barrel; piston.scale.z = Math.max(length - 0.5 * line.barrel, 1e-9); group.getObjectByName("far").position.z = length; }];
}
function arrow(colour, over = true) { // seen through bodies: what pushes a foot stands inside of the leg
  const look = new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.88, depthTest: !over, fog: false });
  const group = new THREE.Group(), shaft = bar(1, colour, 12), head = new THREE.Mesh(new THREE.ConeGeometry(1, 1, 18).rotateX(Math.PI / 2).translate(0, 0, -0.5), look);
  shaft.material = look; shaft.castShadow = false; shaft.renderOrder = head.renderOrder = over ? 4 : 0;
  group.add(shaft, head);
  return [group, (start, vector, thick) => {
    const length = vector.length();
    group.visible = length > 0.4 * thick;
    if (!group.visible) return;
    const tip = Math.min(5 * thick, 0.6 * length);
    group.position.copy(start);
    group.quaternion.setFromUnitVectors(Z, vector.clone().divideScalar(length));
    shaft.scale.set(thick, thick, length - tip);
    head.scale.set(2.4 * thick, 2.4 * thick, tip);
    head.position.z = length;
  }];
}
function axes(length) { // red, green, blue along x, y, z
  const group = new THREE.Group();
  [["#c8453b", [1, 0, 0]], ["#4c9a55", [0, 1, 0]], ["#2f6fb3", [0, 0, 1]]].forEach(([colour, way]) => {
    const [one, fit] = arrow(colour);
    fit(new THREE.Vector3(), V(way).multiplyScalar(length), 0.035 * length);
    group.add(one);
  });
  return group;
}
function com(radius) { // the sign of a centre of mass: a ball in quarters
  const group = new THREE.Group();
  for (let k = 0; k < 8; k++) {
    const octant = new THREE.Mesh(new THREE.SphereGeometry(radius, 10, 8, (k % 4) * Math.PI / 2, Math.PI / 2, k < 4 ? 0 : Math.PI / 2, Math.PI / 2), new THREE.MeshBasicMaterial({ color: (k + (k < 4 ? 0 : 1)) % 2 ? "#f4f5f7" : "#1f2328", depthTest: false, transparent: true }));
    octant.renderOrder = 5;
    group.add(octant);
  }
  return group;
}
