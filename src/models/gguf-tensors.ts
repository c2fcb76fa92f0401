// The list of tensors of a model file: names, shapes, types and places. Must not read the weights themselves; it makes
// sure that all of them are inside the file.
import { type GgufCursor, GgufDefect } from "./gguf-cursor.ts";
import { blockOf, tensorTypeMax } from "./gguf-tensor-types.ts";
import { readText } from "./gguf-values.ts";

export interface Tensors {
  /** Of all weights, with padding. */
  bytes: number;
  /** Number of weights. */
  elements: number;
  /** Dimensions by name, fastest first. */
  shapes: ReadonlyMap<string, readonly number[]>;
}

interface Place {
  name: string;
  offset: number;
  /** Unknown for types whose size is not known here. */
  bytes: number | undefined;
}

const nameBytesMax = 63;
const dimensionsMax = 4;
const elementsMax = 2 ** 48;

export function readTensors(cursor: GgufCursor, count: number, alignment: number): Tensors {
  if (!Number.isInteger(alignment) || alignment < 1 || alignment > 2 ** 20 || (alignment & (alignment - 1)) !== 0) throw new GgufDefect(`general.alignment is ${alignment}; it must be a power of two`);
  if (count === 0) throw new GgufDefect("it holds no weights");
  const shapes = new Map<string, readonly number[]>();
  const places: Place[] = [];
  let elements = 0;
  for (let index = 0; index < count; index++) {
    const { place, shape } = readTensor(cursor, `tensor ${index + 1} of ${count}`, alignment);
    if (shapes.has(place.name)) throw new GgufDefect(`the tensor ${place.name} is there twice`);
    shapes.set(place.name, shape);
    places.push(place);
    elements += shape.reduce((product, size) => product * size, 1);
  }
  const start = Math.ceil(cursor.position / alignment) * alignment;
  return { bytes: extent(places, start, cursor.sizeBytes), elements, shapes };
}

function readTensor(cursor: GgufCursor, what: string, alignment: number): { place: Place; shape: number[] } {
  const name = readText(cursor, nameBytesMax, `the name of ${what}`);
  const dimensions = cursor.u32(`the dimensions of ${name}`);
  if (dimensions < 1 || dimensions > dimensionsMax) throw new GgufDefect(`the tensor ${name} has ${dimensions} dimensions; 1 to ${dimensionsMax} are possible`);
  const shape = Array.from({ length: dimensions }, () => cursor.count(elementsMax, `a dimension of ${name}`));
  const elements = shape.reduce((product, size) => product * size, 1);
  if (elements < 1 || elements > elementsMax) throw new GgufDefect(`the tensor ${name} has the shape ${shape.join(" × ")}, which no model has`);
  const type = cursor.u32(`the type of ${name}`);
  if (type > tensorTypeMax) throw new GgufDefect(`the tensor ${name} has the unknown type ${type}`);
  const offset = cursor.count(Number.MAX_SAFE_INTEGER, `the offset of ${name}`);
  if (offset % alignment !== 0) throw new GgufDefect(`the tensor ${name} begins at ${offset}, which is not a multiple of ${alignment}`);
  const block = blockOf(type);
  const row = shape[0] ?? 0;
  if (block !== undefined && row % block[0] !== 0) throw new GgufDefect(`the tensor ${name} has rows of ${row}, which its type can't hold`);
  return { place: { name, offset, bytes: block && (elements / block[0]) * block[1] }, shape };
}

/** Bytes from the start of the weights to the end of the last tensor; each must be inside the file, and none in another. */
function extent(places: readonly Place[], start: number, sizeBytes: number): number {
  let end = 0;
  let previous = "";
  for (const place of places.toSorted((a, b) => a.offset - b.offset)) {
    if (place.offset < end) throw new GgufDefect(`the tensors ${previous} and ${place.name} overlap`);
    end = place.offset + (place.bytes ?? 1);
    previous = place.name;
  }
  if (start + end > sizeBytes) throw new GgufDefect(`it is cut off: ${start + end} bytes are needed for its weights, the file has ${sizeBytes}`);
  return end;
}
