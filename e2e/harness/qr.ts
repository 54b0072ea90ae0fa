// Reads a QR code as the server draws it: pristine, so that nothing has to be found or corrected, in the few sizes that a link needs.

/** Blocks and data bytes of each, by version, at the middle level of correction. */
const layouts: Record<number, [blocks: number, bytes: number]> = { 4: [2, 32], 5: [2, 43], 6: [4, 27], 7: [4, 31] };
const alignments: Record<number, number[]> = { 4: [6, 26], 5: [6, 30], 6: [6, 34], 7: [6, 22, 38] };
const quiet_zone = 4;
const format_mask = 0b101_0100_0001_0010;
const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";

const masks: ((row: number, column: number) => boolean)[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2 === 0,
];

/** The text that the picture holds. */
export function readQr(svg: string): string {
  const grid = readGrid(svg);
  const version = (grid.length - 17) / 4;
  const layout = layouts[version];
  if (!layout) throw new Error(`a QR code of version ${version}`);
  return readText(deinterleave(readBytes(grid, version), layout));
}

function readGrid(svg: string): boolean[][] {
  const dark = [...svg.matchAll(/M(\d+)[ ,](\d+)h(\d+)v(\d+)/g)].map((found) => found.slice(1).map(Number));
  const unit = Math.min(...dark.map(([, , , height]) => height ?? 0));
  const cells = dark.flatMap(([x = 0, y = 0, width = 0, height = 0]) =>
    Array.from({ length: (width * height) / unit ** 2 }, (_, index) => {
      const across = width / unit;
      return [y / unit + Math.floor(index / across) - quiet_zone, x / unit + (index % across) - quiet_zone] as const;
    }),
  );
  const size = Math.max(...cells.map(([row]) => row)) + 1;
  const grid = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  for (const [row, column] of cells) (grid[row] as boolean[])[column] = true;
  return grid;
}

function readMask(grid: boolean[][]): number {
  const across = [0, 1, 2, 3, 4, 5, 7, 8].map((column) => grid[8]?.[column]);
  const down = [7, 5, 4, 3, 2, 1, 0].map((row) => grid[row]?.[8]);
  const format = [...across, ...down].reduce((bits, bit) => bits * 2 + (bit ? 1 : 0), 0) ^ format_mask;
  return (format >> 10) & 0b111;
}

/** Whether the place holds no data but helps to find it. */
function isFixed(row: number, column: number, size: number, version: number): boolean {
  const nearStart = (place: number) => place <= 8;
  const nearEnd = (place: number) => place >= size - 8;
  if (row === 6 || column === 6) return true;
  if ((nearStart(row) && (nearStart(column) || nearEnd(column))) || (nearEnd(row) && nearStart(column))) return true;
  if (version >= 7 && ((row < 6 && column >= size - 11) || (column < 6 && row >= size - 11))) return true;
  const centers = alignments[version] ?? [];
  const last = centers.at(-1) ?? 0;
  return centers.some((y) =>
    centers.some((x) => {
      const isCorner = (y === 6 && (x === 6 || x === last)) || (y === last && x === 6);
      return !isCorner && Math.abs(row - y) <= 2 && Math.abs(column - x) <= 2;
    }),
  );
}

function readBytes(grid: boolean[][], version: number): number[] {
  const size = grid.length;
  const mask = masks[readMask(grid)] as (row: number, column: number) => boolean;
  const bits: number[] = [];
  let upwards = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right -= 1;
    for (let step = 0; step < size; step += 1) {
      const row = upwards ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (!isFixed(row, column, size, version)) bits.push(grid[row]?.[column] !== mask(row, column) ? 1 : 0);
      }
    }
    upwards = !upwards;
  }
  return Array.from({ length: Math.floor(bits.length / 8) }, (_, index) =>
    number(bits.slice(index * 8, index * 8 + 8)),
  );
}

const number = (bits: number[]) => bits.reduce((sum, bit) => sum * 2 + bit, 0);

function deinterleave(bytes: number[], [blocks, length]: [number, number]): number[] {
  return Array.from({ length: blocks }, (_, block) => block).flatMap((block) =>
    Array.from({ length }, (_, index) => bytes[index * blocks + block] ?? 0),
  );
}

function readText(bytes: number[]): string {
  const bits = bytes.flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((bit) => (byte >> bit) & 1));
  let at = 0;
  const take = (count: number) => {
    at += count;
    return number(bits.slice(at - count, at));
  };
  let text = "";
  for (let mode = take(4); mode !== 0 && at < bits.length; mode = take(4)) {
    if (mode === 4) for (let left = take(8); left > 0; left -= 1) text += String.fromCharCode(take(8));
    if (mode === 2) {
      let left = take(9);
      for (; left > 1; left -= 2) {
        const pair = take(11);
        text += `${alphanumeric[Math.floor(pair / 45)]}${alphanumeric[pair % 45]}`;
      }
      if (left === 1) text += alphanumeric[take(6)];
    }
    if (mode === 1) {
      let left = take(10);
      for (; left > 0; left -= 3) {
        const digits = Math.min(left, 3);
        text += String(take([0, 4, 7, 10][digits] ?? 0)).padStart(digits, "0");
      }
    }
  }
  return text;
}
