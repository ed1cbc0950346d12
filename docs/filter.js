// A filter above tables in <div class="filtered">: rows that lack one of the typed words are hidden.
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll("div.filtered")) {
    const rows = [...box.querySelectorAll("tbody tr")];
    const input = document.createElement("input");
    const left = document.createElement("span");
    input.type = "search";
    input.className = "filter";
    input.placeholder = "filter: a key, a table, a word";
    input.setAttribute("aria-label", "Filter of the table below");
    left.className = "filter-left";
    left.setAttribute("aria-live", "polite");
    const update = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      left.textContent = words.length ? `${shown} of ${rows.length}` : "";
    };
    input.addEventListener("input", update);
    box.prepend(input, left);
    update();
  }
});
