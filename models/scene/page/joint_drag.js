// Joints moved by hand: the start values of the joint that carries a body follow the pointer, by damped least squares.
const JOINT_STEP = 1e-4, JOINT_DAMPING = 1e-3, LARGEST_JOINT_MOVE = 0.6; // of a turn in rad, of the size for a shift; of the normal equations; rad, or of the size
const jointDrag = { held: null, to: null };
const jointUnit = (control) => (control.unit === "rad" || control.unit === "deg" || control.unit === "°" ? 1 : SIZE);
const valueOf = (control) => live.changed.get(control.reference)?.value ?? control.value;
function jointControls(body) { // of the joint that carries a body; of the one before it where it is fixed
  for (let k = body, n = 0; k >= 0 && n < COUNT; k = LIVE.joints[k].parent, n++) { // loops come round
    const found = LIVE.controls.filter((each) => each.group === "start" && LIVE.joints[k].coordinates.includes(each.name));
    if (found.length) return found;
  }
  return [];
}
function startWith(values) { // a new instance at start values; nothing of it is recorded
  live.saved.forEach((each) => live.engine.forget(each.state));
  live.saved = [];
  const given = new Map([...live.changed.values()].map(({ control, value }) => [control.reference, value]));
  values.forEach(([control, value]) => given.set(control.reference, value));
  live.engine.start([...given]);
}
function heldPoint() {
  const pose = new Float64Array(7), { body, point } = jointDrag.held;
  live.engine.pose(body, pose, 0);
  return new THREE.Vector3(...point).applyQuaternion(new THREE.Quaternion(pose[4], pose[5], pose[6], pose[3])).add(new THREE.Vector3(pose[0], pose[1], pose[2]));
}
function solved(A, b) { // a small symmetric system, by elimination with pivots
  const n = b.length, M = A.map((row, i) => [...row, b[i]]);
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(M[i][k]) > Math.abs(M[best][k])) best = i;
    [M[k], M[best]] = [M[best], M[k]];
    for (let i = 0; i < n; i++) if (i !== k) { const f = M[i][k] / M[k][k]; for (let j = k; j <= n; j++) M[i][j] -= f * M[k][j]; }
  }
  return M.map((row, k) => row[n] / row[k]);
}
function followPointer() { // one step of the start values towards the pointer
  if (!jointDrag.to) return;
  const { controls: moved } = jointDrag.held, before = moved.map(valueOf);
  try {
    startWith([]);
    const at = heldPoint(), error = jointDrag.to.clone().sub(at), columns = [];
    for (const [k, control] of moved.entries()) {
      const h = JOINT_STEP * jointUnit(control);
      startWith([[control, before[k] + h]]);
      columns.push(heldPoint().sub(at).multiplyScalar(jointUnit(control) / h));
    }
    const A = columns.map((a, i) => columns.map((b, j) => a.dot(b) + (i === j ? JOINT_DAMPING * SIZE * SIZE : 0))), b = columns.map((a) => a.dot(error));
    const steps = solved(A, b).map((x) => Math.max(-LARGEST_JOINT_MOVE, Math.min(LARGEST_JOINT_MOVE, x)));
    moved.forEach((control, k) => noteStart(control, before[k] + steps[k] * jointUnit(control)));
    restart();
    if (live.failed) throw new Error(live.failed);
  } catch (error) { // a loop that cannot be closed there: the last posture stays
    moved.forEach((control, k) => noteStart(control, before[k]));
    restart();
    tell(error.message); live.failed = "";
  }
  jointDrag.to = jointDrag.held.to.distanceTo(heldPoint()) > 1e-3 * SIZE && (jointDrag.held.tries += 1) < 8 ? jointDrag.held.to : null;
  dirty = true;
}
function noteStart(control, value) {
  const shown = Number(((value - control.offset) * control.scale).toPrecision(5));
  live.changed.set(control.reference, { control, value });
  control.row.querySelector("input[type=number]").value = shown; control.row.querySelector("input[type=range]").value = shown;
}
function grabJoint(found) {
  const moved = jointControls(found.body);
  if (!moved.length) { tell(`${bodies[found.body].name}: its joint has no start values that can be moved`); live.failed = ""; return false; }
  jointDrag.went = playing; play(false);
  restart();
  jointDrag.held = { ...found, controls: moved, to: found.place.clone(), tries: 0, plane: facing(found.place) };
  return true;
}
function moveJoint() { ray.ray.intersectPlane(jointDrag.held.plane, jointDrag.held.to); jointDrag.held.tries = 0; jointDrag.to = jointDrag.held.to; dirty = true; }
function releaseJoint() { jointDrag.held = jointDrag.to = null; if (jointDrag.went) play(true); }
