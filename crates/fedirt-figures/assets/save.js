// Saves a picture as SVG or PNG and its numbers as CSV. Saved pictures are the light ones, for paper.

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function plainSvg(svg) {
  const copy = svg.cloneNode(true);
  copy.querySelector(".guide")?.remove();
  const text = new XMLSerializer().serializeToString(copy);
  return text.replace(/var\(--[\w-]+,\s*(#[0-9a-f]+)\)/g, "$1");
}

function savePng(name, svg) {
  const { width, height } = svg.viewBox.baseVal;
  const scale = 3;
  const picture = new Image();
  picture.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(`${name}.png`, blob), "image/png");
  };
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(plainSvg(svg))}`;
}

const csvCell = (text) => (/[",\n;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csv = ({ headers, rows }) => [headers, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";

for (const button of document.querySelectorAll("[data-save]")) {
  button.addEventListener("click", () => {
    const figure = button.closest("figure");
    const svg = figure.querySelector(".wide svg");
    const name = figure.dataset.name.replace(/[^\p{L}\p{N}._-]+/gu, "_");
    if (button.dataset.save === "svg") {
      download(`${name}.svg`, new Blob([plainSvg(svg)], { type: "image/svg+xml" }));
    } else if (button.dataset.save === "png") {
      savePng(name, svg);
    } else {
      behind.get(figure).forEach((table, i) => {
        const part = i === 0 ? "" : `-${table.caption.toLowerCase()}`;
        download(`${name}${part}.csv`, new Blob([csv(table)], { type: "text/csv" }));
      });
    }
  });
}
