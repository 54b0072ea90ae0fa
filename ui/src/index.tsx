import { render } from "solid-js/web";
import { App } from "./shell/App";
import { watchForNewerPage } from "./shell/newer";
import "./styles/index.css";

const root = document.getElementById("app");
watchForNewerPage();
if (root) render(() => <App />, root);
