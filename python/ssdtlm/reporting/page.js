// SPDX-License-Identifier: Apache-2.0
// Draws the charts of the page and offers their data. `views` and `drawn` are for whoever wants to ask the page.
const views = {};
window.views = views;
window.drawn = false;

function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type: "text/csv"}));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function draw() {
  const specs = JSON.parse(document.getElementById("specs").textContent);
  for (const [name, spec] of Object.entries(specs)) {
    const actions = {export: {svg: true, png: true}, source: false, compiled: false, editor: false};
    const shown = await vegaEmbed("#" + CSS.escape(name), spec, {renderer: "svg", actions, downloadFileName: name});
    views[name] = shown.view;
  }
  for (const button of document.querySelectorAll("button[data-csv]"))
    button.addEventListener("click", () => save(button.dataset.csv + ".csv", specs[button.dataset.csv].data.values));
  window.drawn = true;
}
draw();
