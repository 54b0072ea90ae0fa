import { render } from "solid-js/web";
import { Gallery } from "./Gallery";
import "./fonts.css";
import "./tokens.css";
import "./base.css";
import "./kit.css";
import "./gallery.css";

const root = document.getElementById("app");
if (root) render(() => <Gallery />, root);
