// Where a key leads in a JSON value: by names, by places in a list, and by what an element of a list is called. In
// {"items":[{"dish":"pie","price":6}]} it is items.pie.price, and pie.price where that can mean nothing else.
import { ToolError } from "../../core/error.ts";
import { isRecord } from "../../core/is-record.ts";

export type JsonPath = (string | number)[];

/** An element that a list does not have yet. */
export interface NewElement {
  list: JsonPath;
  /** What it holds before its value is set. */
  element: Record<string, unknown>;
  /** The member that gets the value. */
  member: string;
}

/** The member whose text tells the elements of a list apart; undefined where there is none. */
export function labelOf(list: unknown): string | undefined {
  if (!Array.isArray(list) || !list.every(isRecord)) return undefined;
  return Object.keys(list[0] ?? {}).find((name) => {
    const labels = list.map((element) => element[name]);
    return labels.every((label) => typeof label === "string" && /^[^.[\]]+$/.test(label)) && new Set(labels).size === list.length;
  });
}

/** @throws ToolError when the key leads through what has no parts */
export function pathOf(root: unknown, key: string): JsonPath | NewElement {
  if (isRecord(root) && Object.hasOwn(root, key)) return [key];
  const parts = key.replace(/^\$?\./, "").replace(/\[(-?\d+)\]/g, ".$1").split(".");
  const { path, rest, value } = walk(root, parts);
  if (path.length === 0 && parts.length > 1) {
    const inner = innerPath(root, parts);
    if (inner) return inner;
  }
  if (rest.length === 0 || isRecord(value)) return [...path, ...rest];
  const added = Array.isArray(value) ? newElement(path, value, rest) : undefined;
  if (added) return added;
  if (Array.isArray(value) && rest.length === 1 && /^\d+$/.test(rest[0] ?? "")) return [...path, Number(rest[0])];
  throw new ToolError(Array.isArray(value) ? `${path.join(".")} is a list without ${rest.join(".")}; nothing was changed` : `${path.join(".")} is no object, so ${key} can't be set; nothing was changed`);
}

interface Walked {
  path: JsonPath;
  /** Parts that lead to nothing. */
  rest: string[];
  /** What the others lead to. */
  value: unknown;
}

/** As far as the parts lead to something that is there. */
function walk(root: unknown, parts: readonly string[]): Walked {
  const path: JsonPath = [];
  let value = root;
  for (const [index, part] of parts.entries()) {
    const step = stepTo(value, part);
    if (step === undefined) return { path, rest: parts.slice(index), value };
    path.push(step);
    value = Array.isArray(value) ? value[Number(step)] : isRecord(value) ? value[step] : undefined;
  }
  return { path, rest: [], value };
}

function stepTo(value: unknown, part: string): string | number | undefined {
  if (isRecord(value)) return Object.hasOwn(value, part) ? part : undefined;
  if (!Array.isArray(value)) return undefined;
  if (/^-?\d+$/.test(part) && value.at(Number(part)) !== undefined) return (Number(part) + value.length) % value.length;
  const label = labelOf(value);
  const index = label === undefined ? value.indexOf(part) : value.findIndex((element) => String(element[label]).toLowerCase() === part.toLowerCase());
  return index < 0 ? undefined : index;
}

/** For a key that begins further down: what it leads to there, or may add there, when that is one place alone. */
function innerPath(root: unknown, parts: readonly string[]): JsonPath | NewElement | undefined {
  const places = placesBelow(root, []).map((place) => ({ place, walked: walk(place.value, parts) }));
  const whole = places.filter(({ walked }) => walked.rest.length === 0);
  if (whole.length > 0) return whole.length === 1 && whole[0] ? [...whole[0].place.path, ...whole[0].walked.path] : undefined;
  const begun = places.filter(({ walked }) => walked.path.length > 0 && isRecord(walked.value));
  if (begun.length > 0) return begun.length === 1 && begun[0] ? [...begun[0].place.path, ...begun[0].walked.path, ...begun[0].walked.rest] : undefined;
  const lists = places.flatMap(({ place: { path, value } }) => (parts.length === 2 && Array.isArray(value) && isRecord(value[0]) && Object.hasOwn(value[0], parts[1] ?? "") ? [newElement(path, value, parts)] : []));
  return lists.length === 1 ? lists[0] : undefined;
}

/** Objects and lists in the value, without itself. */
function placesBelow(value: unknown, path: JsonPath): { path: JsonPath; value: unknown }[] {
  const members: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : isRecord(value) ? Object.entries(value) : [];
  return members.flatMap(([name, inner]) => (typeof inner === "object" && inner !== null ? [{ path: [...path, name], value: inner }, ...placesBelow(inner, [...path, name])] : []));
}

/** For a list whose elements have names: coffee.price, or coffee alone where each has but one more member. */
function newElement(list: JsonPath, elements: readonly unknown[], [name, ...members]: readonly string[]): NewElement | undefined {
  const label = labelOf(elements);
  if (label === undefined || name === undefined || members.length > 1 || !isRecord(elements[0])) return undefined;
  const others = Object.keys(elements[0]).filter((member) => member !== label);
  const member = members[0] ?? (others.length === 1 ? others[0] : undefined);
  return member === undefined || member === label ? undefined : { list, element: { [label]: name }, member };
}
