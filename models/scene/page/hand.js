// What the pointer is on: the body, and the point of it in its axes.
const ray = new THREE.Raycaster(), onScreen = new THREE.Vector2();
function aim(event) { const r = canvas.getBoundingClientRect(); onScreen.set((2 * (event.clientX - r.left)) / r.width - 1, 1 - (2 * (event.clientY - r.top)) / r.height); ray.setFromCamera(onScreen, camera); }
function pick(event) {
  aim(event);
  const hit = ray.intersectObjects(bodies.filter((each) => each.there).map((each) => each.object), true)[0];
  if (!hit) return null;
  const body = bodies.findIndex((each) => { let o = hit.object; while (o && o !== each.object) o = o.parent; return !!o; });
  if (body < 0) return null;
  return { body, place: hit.point.clone(), point: hit.point.clone().sub(bodies[body].position).applyQuaternion(bodies[body].turn.clone().invert()).toArray() };
}
const facing = (place) => new THREE.Plane().setFromNormalAndCoplanarPoint(camera.getWorldDirection(new THREE.Vector3()), place);
// In the studio a click tells the place that it met: a body and a point of it, or the ground.
const mark = new THREE.Mesh(new THREE.SphereGeometry(0.012 * SIZE, 16, 12), new THREE.MeshBasicMaterial({ color: "#d2452f", depthTest: false }));
mark.renderOrder = 6; mark.visible = false; world.add(mark);
const onGrid = (x) => { const grid = 10 ** (Math.floor(Math.log10(SIZE)) - 2); return Number((Math.round(x / grid) * grid).toPrecision(9)); };
function placeAt(event) {
  const found = pick(event), ground = new THREE.Vector3();
  if (!found && !(floorPlane && ray.ray.intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(UP, floor.position), ground))) return null;
  mark.position.copy(found ? found.place : ground); mark.visible = true; dirty = true;
  return { body: found ? bodies[found.body].name : "ground", point: (found ? found.point : ground.toArray()).map(onGrid) };
}
function studio() { // the window of the studio around this page
  try { return window.parent !== window && "kinetreePlacing" in window.parent ? window.parent : null; } catch { return null; } // a page of another site
}
if (window.parent !== window) {
  let down = null;
  canvas.addEventListener("pointerdown", (event) => { down = [event.clientX, event.clientY]; });
  canvas.addEventListener("pointerup", (event) => {
    if (!studio()?.kinetreePlacing || !down || event.button || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4) return;
    const place = placeAt(event);
    if (place) studio().emitEvent("kinetree-placed", place);
  });
}
