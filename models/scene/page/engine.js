// The compiled engine inside the page: one mechanism, its instance, and its memory. Loaded by live pages only.
const inflate = async (text) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
};
class LiveEngine {
  static async open(live) {
    const [code, model] = await Promise.all([inflate(live.engine), inflate(live.model)]);
    const module = await WebAssembly.compile(code), imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 0; // the engine neither reads nor writes files
    const { exports } = await WebAssembly.instantiate(module, imports);
    if (exports._initialize) exports._initialize();
    return new LiveEngine(live, exports, new Uint8Array(model));
  }
  constructor(live, exports, model) {
    this.live = live; this.calls = exports; this.instance = 0;
    const at = exports.live_model(model.length);
    new Uint8Array(exports.memory.buffer).set(model, at);
    this.token = this.text(live.token);
  }
  text(string) {
    const bytes = new TextEncoder().encode(`${string}\0`), at = this.calls.live_room(bytes.length);
    new Uint8Array(this.calls.memory.buffer).set(bytes, at);
    return at;
  }
  message() {
    const bytes = new Uint8Array(this.calls.memory.buffer), at = this.calls.live_message();
    return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }
  check(level) { if (level > 1) throw new Error(this.message() || `the engine stopped with level ${level}`); }
  start(values, t = this.live.start_time) { // values: [value reference, number] that differ from those of the description
    if (this.instance) this.calls.live_close(this.instance);
    this.instance = this.calls.live_open(this.token);
    if (!this.instance) throw new Error(this.message());
    for (const [reference, value] of values) this.set(reference, value);
    this.check(this.calls.live_start(this.instance, t));
  }
  set(reference, value) { this.check(this.calls.live_set(this.instance, reference, value)); }
  step(h) { this.check(this.calls.live_step(this.instance, this.time, h)); }
  get work() { // numbers of the instance; growing memory moves
    const buffer = this.calls.memory.buffer;
    if (this.view?.buffer !== buffer || this.of !== this.instance) { this.view = new Float64Array(buffer, this.calls.live_work(this.instance), this.calls.live_work_size(this.instance)); this.of = this.instance; }
    return this.view;
  }
  get time() { return this.work[this.live.places.time]; }
  get stage() { return this.work[this.live.places.stage]; }
  get events() { return this.work[this.live.places.events]; }
  get eventTime() { return this.work[this.live.places.event_time]; }
  value(variable) { return (this.work[variable.at] - variable.offset) * variable.scale; }
  save() { return this.calls.live_save(this.instance); }
  restore(saved) { this.check(this.calls.live_restore(this.instance, saved)); }
  forget(saved) { this.calls.live_forget(saved); }
  get savedSize() { return this.calls.live_state_size(this.instance); }
  pose(body, out, at) { // position and quaternion w, x, y, z of a body into out; not a number where it is not there
    const row = this.live.stages[this.stage].bodies[body], W = this.work;
    if (row < 0) { out.fill(NaN, at, at + 7); return; }
    const p = row + this.live.row.position, r = row + this.live.row.rotation;
    const xx = W[r], xy = W[r + 1], xz = W[r + 2], yx = W[r + 3], yy = W[r + 4], yz = W[r + 5], zx = W[r + 6], zy = W[r + 7], zz = W[r + 8];
    const trace = xx + yy + zz;
    let w, x, y, z;
    if (trace > 0) { const s = 2 * Math.sqrt(trace + 1); w = s / 4; x = (zy - yz) / s; y = (xz - zx) / s; z = (yx - xy) / s; }
    else if (xx > yy && xx > zz) { const s = 2 * Math.sqrt(1 + xx - yy - zz); w = (zy - yz) / s; x = s / 4; y = (xy + yx) / s; z = (xz + zx) / s; }
    else if (yy > zz) { const s = 2 * Math.sqrt(1 + yy - xx - zz); w = (xz - zx) / s; x = (xy + yx) / s; y = s / 4; z = (yz + zy) / s; }
    else { const s = 2 * Math.sqrt(1 + zz - xx - yy); w = (yx - xy) / s; x = (xz + zx) / s; y = (yz + zy) / s; z = s / 4; }
    out.set([W[p], W[p + 1], W[p + 2], w, x, y, z], at);
  }
  pull(body, force, moment) { // a load on a body about its origin, in body axes, held until it is set again
    const { loads, loaded } = this.live.stages[this.stage], W = this.work;
    if (loads[body] < 0) return;
    W[loaded] = 1;
    W.set([...force, ...moment], loads[body]);
  }
}
