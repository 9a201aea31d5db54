// Saves a picture as SVG or PNG with its title and notes, and its numbers as CSV. Saved pictures are the light ones, for paper;
// size and colours are chosen beside the buttons.

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Widths of a column and of a page of journals, in millimetres.
const SIZES = [["screen", "As on screen"], ["85", "85 mm"], ["174", "174 mm"]];
const LINE = 16;

function choices(figure) {
  const box = figure.querySelector(".save");
  if (!box || box.querySelector("select")) return;
  const size = document.createElement("select");
  size.className = "size";
  size.setAttribute("aria-label", "Size of the saved picture");
  for (const [value, text] of SIZES) size.append(new Option(text, value));
  const grey = document.createElement("select");
  grey.className = "colours";
  grey.setAttribute("aria-label", "Colours of the saved picture");
  grey.append(new Option("In colour", "colour"), new Option("Grey", "grey"));
  box.append(" ", size, " ", grey);
}

// Luminance as eyes see it (ITU-R BT.709), so that what differs in lightness still does.
function grey(hex) {
  const full = hex.length === 4 ? hex.replace(/[0-9a-f]/gi, "$&$&") : hex;
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(full.slice(at, at + 2), 16));
  const level = Math.round(0.2126 * r + 0.7152 * g + 0.0722 * b).toString(16).padStart(2, "0");
  return `#${level}${level}${level}`;
}

function wrapped(text, size, room) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${size}px sans-serif`;
  const lines = [];
  for (const word of text.split(/[ \n]+/)) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && pen.measureText(longer).width <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

// The drawing with its title above and its notes below, in plain colours.
function savedSvg(figure) {
  const size = figure.querySelector(".size")?.value ?? "screen";
  const svg = figure.querySelector(size === "85" ? ".narrow svg" : ".wide svg") ?? figure.querySelector("svg");
  const { width, height } = svg.viewBox.baseVal;
  const copy = svg.cloneNode(true);
  copy.querySelector(".guide")?.remove();
  for (const attribute of [...copy.attributes]) if (attribute.name.startsWith("data-")) copy.removeAttribute(attribute.name);
  const title = wrapped(figure.querySelector("h3").textContent, 15, width - 8);
  const notes = wrapped(figure.querySelector("figcaption").textContent.trim(), 11, width - 8).filter(Boolean);
  const above = title.length * 20 + 6;
  const below = notes.length ? notes.length * LINE + 10 : 0;
  const inside = document.createElementNS(svg.namespaceURI, "g");
  inside.setAttribute("transform", `translate(0 ${above})`);
  inside.append(...copy.childNodes);
  const text = (line, y, points, more) => {
    const node = document.createElementNS(svg.namespaceURI, "text");
    for (const [key, value] of Object.entries({ x: 4, y, "font-size": points, ...more })) node.setAttribute(key, value);
    node.textContent = line;
    return node;
  };
  copy.append(
    ...title.map((line, n) => text(line, 16 + 20 * n, 15, { fill: "#1b1f24", "font-weight": 600 })),
    inside,
    ...notes.map((line, n) => text(line, above + height + 12 + LINE * n, 11, { fill: "#5b636d" })),
  );
  const total = above + height + below;
  copy.setAttribute("viewBox", `0 0 ${width} ${total}`);
  const across = size === "screen" ? null : Number(size);
  copy.setAttribute("width", across ? `${across}mm` : width);
  copy.setAttribute("height", across ? `${((across * total) / width).toFixed(2)}mm` : total);
  const plain = new XMLSerializer().serializeToString(copy).replace(/var\(--[\w-]+,\s*(#[0-9a-f]+)\)/g, "$1");
  const wanted = figure.querySelector(".colours")?.value;
  return { text: wanted === "grey" ? plain.replace(/#[0-9a-f]{6}\b/gi, grey) : plain, width, height: total, across };
}

function savePng(name, { text, width, height, across }) {
  // 600 dots per inch where a size on paper was chosen.
  const scale = across ? ((across / 25.4) * 600) / width : 3;
  const picture = new Image();
  picture.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(`${name}.png`, blob), "image/png");
  };
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

// For programs: NA for what is not there, an ASCII minus, no spaces between thousands.
function csvCell(text) {
  if (text === "\u2013" || text === "") return "NA";
  const plain = text.replace(/\u2212/g, "-");
  const number = plain.replace(/\u202f/g, "");
  const cell = /^-?[\d.]+(e-?\d+)?$/.test(number) ? number : plain;
  return /[",\n;]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
const csv = ({ headers, rows }) => [headers, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";

for (const figure of document.querySelectorAll("figure")) choices(figure);
for (const button of document.querySelectorAll("[data-save]")) {
  button.addEventListener("click", () => {
    const figure = button.closest("figure");
    const name = figure.dataset.name.replace(/[^\p{L}\p{N}._-]+/gu, "_");
    if (button.dataset.save === "svg") {
      download(`${name}.svg`, new Blob([savedSvg(figure).text], { type: "image/svg+xml" }));
    } else if (button.dataset.save === "png") {
      savePng(name, savedSvg(figure));
    } else {
      behind.get(figure).forEach((table, i) => {
        const part = i === 0 ? "" : `-${table.caption.toLowerCase()}`;
        download(`${name}${part}.csv`, new Blob([csv(table)], { type: "text/csv" }));
      });
    }
  });
}
