// Keys of the page, and the list of them.
const KEYS = [
  { key: " ", name: "Space", text: "play or pause", act: () => play(!playing) },
  { key: "r", text: "begin again", live: true, act: () => { restart(); play(true); } },
  { key: "f", text: "pull bodies with a spring", live: true, act: () => $("live-pull").click() },
  { key: "j", text: "drag bodies on their joints", live: true, act: () => $("live-joint").click() },
  { key: "ArrowLeft", name: "←", text: "back", act: () => setTime(now - (finish() - begin()) / 200) },
  { key: "ArrowRight", name: "→", text: "forward", act: () => setTime(now + (finish() - begin()) / 200) },
  { key: "h", text: "first view", act: () => { look(); dirty = true; } },
  { key: "s", text: "states side by side", when: () => stills().length > 1, act: () => $("beside").click() },
  { key: "v", text: "what is shown", act: () => toggle($("panel-view")) },
  { key: "p", text: "plots", act: () => toggle($("panel-plots")) },
  { key: "t", text: "light or dark", act: () => $("theme").click() },
  { key: "?", text: "this list", act: () => showKeys() },
  { name: "Drag", text: "orbit; right button or two fingers: shift; wheel: zoom" },
  { name: "Shift + drag", text: "a spring pulls the body", live: true },
  { name: "Alt + drag", text: "the body moves on its joint, as a new start", live: true },
];
const usable = (each) => (!each.live || !!DATA.live) && (!each.when || each.when());
function showKeys(on = $("keys").hidden) { $("keys").hidden = !on; if (on) $("keys").querySelector("button").focus(); }
function buildKeys() {
  KEYS.filter(usable).forEach((each) => {
    const name = document.createElement("dt"), text = document.createElement("dd"), shown = document.createElement("kbd");
    shown.textContent = each.name ?? each.key; text.textContent = each.text;
    name.append(shown); $("keys-list").append(name, text);
  });
  $("panel-keys").onclick = () => showKeys();
  $("keys").querySelector("button").onclick = () => showKeys(false);
  document.onkeydown = (event) => {
    const around = studio();
    if (event.altKey && around) { // keys of the studio, which does not hear them here
      around.document.dispatchEvent(new around.KeyboardEvent("keydown", { key: event.key, code: event.code, altKey: true, bubbles: true }));
      return;
    }
    if (event.key === "Escape") { showKeys(false); return; }
    const typing = event.target.closest("input[type=search], input[type=number], select");
    if (typing || (event.target.closest("button") && event.key === " ")) return;
    const found = KEYS.find((each) => each.key === event.key && usable(each));
    if (found && !event.ctrlKey && !event.metaKey && !event.altKey) { found.act(); event.preventDefault(); }
  };
}
