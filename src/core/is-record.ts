// Telling objects with members from other values.
/** Whether a value is an object with members, and no list. */
export function isRecord(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
