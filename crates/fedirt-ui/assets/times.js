// Times in the viewer's own zone; the exact one stays in the title.

const whenFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function showTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime()) || time.title) continue;
    time.title = time.dateTime;
    time.textContent = whenFormat.format(at);
  }
}

showTimes(document);
