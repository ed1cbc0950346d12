// Browsers give pages that are opened from a folder no workers: the search runs in a hidden frame there.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      inner.document.open();
      inner.document.write(`<body><script>
        postMessage = (data) => parent.postMessage(data, "*");
        importScripts = (...files) => files.reduce((before, file) => before.then(() => new Promise((done) => {
          const script = document.createElement("script");
          script.src = file; script.onload = done; document.body.append(script);
        })), Promise.resolve());
      <\/script><script src="${address}"><\/script></body>`);
      inner.document.close();
      this.ready = new Promise((done) => inner.addEventListener("load", done));
      addEventListener("message", (event) => {
        if (event.source !== inner) return;
        this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        if (this.onmessage) this.onmessage(event);
      });
    }
    postMessage(data) { this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }))); }
    terminate() { this.frame.remove(); }
  };
}
