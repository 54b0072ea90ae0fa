// Stores the key of the device that was just signed in where only pages of this address can read it, then opens VoxPilot.
const key = document.querySelector('meta[name="voxpilot-key"]').content;
try {
  localStorage.setItem("voxpilot.key", key);
  location.replace("/");
} catch {
  document.querySelector(".lead").textContent =
    "This browser blocks site data for this address. Allow it, then sign in again with a new link.";
}
