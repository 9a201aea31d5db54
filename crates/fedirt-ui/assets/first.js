// Before anything is drawn: controls that need a script are shown only where scripts run.
document.documentElement.classList.add("scripted");
