import { render } from "solid-js/web";
import { App } from "./shell/App";
import { watchForNewerPage } from "./shell/newer";
import { readStored } from "./state/storage";
import "./styles/index.css";

const root = document.getElementById("app");
// Before anything is drawn; what it means is known to `state/appearance`.
for (const name of ["theme", "text", "motion"]) {
  const chosen = readStored(name);
  if (chosen) document.documentElement.dataset[name] = chosen;
}
if (readStored("theme")) void import("./state/appearance");
watchForNewerPage();
if (root) render(() => <App />, root);
