// Draws the icons of the installed page: `node scripts/icons.mjs`. The files are committed, so a build needs none of this.

import { mkdirSync, writeFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";

const out = new URL("../public/icons/", import.meta.url);
const ground = [0x4f, 0x4f, 0xd0];
/** The bars of the logo on its grid of 20: where they stand, and from where to where they reach. */
const bars = [
  [2.5, 6, 10],
  [6.25, 3.5, 12.5],
  [10, 8, 17.5],
  [13.75, 3.5, 12.5],
  [17.5, 6, 10],
];
const stroke = 1.9;
const samples = 4;

function isInSquare(x, y, radius) {
  const inner = (value) => Math.max(Math.abs(value - 0.5) - (0.5 - radius), 0);
  return Math.hypot(inner(x), inner(y)) <= radius;
}

/** `part` of the width is the logo; the middle of its height is the middle of the icon. */
function isInBar(x, y, part) {
  const [gx, gy] = [((x - 0.5) / part) * 20 + 10, ((y - 0.5) / part) * 20 + 10.5];
  return bars.some(([at, from, to]) => Math.hypot(gx - at, gy - Math.min(Math.max(gy, from), to)) <= stroke / 2);
}

/** Without a ground only the bars are drawn. */
function pixels(size, radius, part) {
  const rows = Buffer.alloc(size * (size * 4 + 1));
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      let [square, bar] = [0, 0];
      for (let sample = 0; sample < samples * samples; sample++) {
        const x = (column + ((sample % samples) + 0.5) / samples) / size;
        const y = (row + (Math.floor(sample / samples) + 0.5) / samples) / size;
        const drawn = isInBar(x, y, part);
        if (radius === null ? !drawn : !isInSquare(x, y, radius)) continue;
        square += 1;
        if (drawn) bar += 1;
      }
      const white = square === 0 ? 0 : bar / square;
      const at = row * (size * 4 + 1) + 1 + column * 4;
      for (const [index, value] of ground.entries()) rows[at + index] = Math.round(value + (255 - value) * white);
      rows[at + 3] = Math.round((square / (samples * samples)) * 255);
    }
  }
  return rows;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

function png(size, radius, part) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(pixels(size, radius, part), { level: 9 });
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

/** One picture, as a PNG inside. */
function ico(size, picture) {
  const header = Buffer.alloc(22);
  header.set([0, 0, 1, 0, 1, 0, size, size, 0, 0, 1, 0, 32, 0]);
  header.writeUInt32LE(picture.length, 14);
  header.writeUInt32LE(header.length, 18);
  return Buffer.concat([header, picture]);
}

function svg() {
  const path = bars.map(([at, from, to]) => `M${at} ${from}v${to - from}`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
  <title>VoxPilot</title>
  <rect width="32" height="32" rx="7" fill="#4f4fd0"/>
  <path transform="translate(6 5.5)" d="${path}" fill="none" stroke="#fff" stroke-width="${stroke}" stroke-linecap="round"/>
</svg>
`;
}

mkdirSync(out, { recursive: true });
const files = {
  "icon.svg": svg(),
  "icon-192.png": png(192, 0.22, 0.62),
  "icon-512.png": png(512, 0.22, 0.62),
  // Systems cut these as they like: the ground fills all of it, and the logo stays in the middle.
  "maskable-512.png": png(512, 0, 0.5),
  "apple-180.png": png(180, 0, 0.58),
  // Systems draw it in one colour, from its shape alone.
  "badge-96.png": png(96, null, 0.9),
  "favicon.ico": ico(32, png(32, 0.22, 0.7)),
};
for (const [name, content] of Object.entries(files)) writeFileSync(new URL(name, out), content);
