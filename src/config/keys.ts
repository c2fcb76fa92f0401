// What a key of the configuration is: a default, a zod schema made on demand, a description. Knows no key by name.
// Schemas are made lazily because making a hundred of them takes longer than the rest of the start.
import { z } from "zod";

export class Key<Value = unknown> {
  /** What counts when nobody set the key; undefined = no value. */
  readonly default: Value;
  readonly description: string;
  readonly #make: () => z.ZodType;
  #schema: z.ZodType | undefined;

  constructor(defaultValue: Value, make: () => z.ZodType, description: string) {
    this.default = defaultValue;
    this.#make = make;
    this.description = description;
  }

  get schema(): z.ZodType {
    return (this.#schema ??= this.#make());
  }
}

/** A key that always has a value. */
export function key<Schema extends z.ZodType>(defaultValue: z.output<Schema>, make: () => Schema, description: string): Key<z.output<Schema>> {
  return new Key(defaultValue, make, description);
}

/** A key without a default. */
export function optional<Schema extends z.ZodType>(make: () => Schema, description: string): Key<z.output<Schema> | undefined> {
  return new Key<z.output<Schema> | undefined>(undefined, make, description);
}

export interface KeyGroup {
  readonly [name: string]: Key | KeyGroup;
}

/** The values of a group of keys. */
export type Values<Group> = { readonly [Name in keyof Group]: Group[Name] extends Key<infer Value> ? Value : Values<Group[Name]> };

/** All keys below a group by dotted name, in order. */
export function flatten(group: KeyGroup, prefix = ""): Map<string, Key> {
  const keys = new Map<string, Key>();
  for (const [name, member] of Object.entries(group)) {
    if (member instanceof Key) keys.set(prefix + name, member);
    else for (const [inner, innerKey] of flatten(member, `${prefix}${name}.`)) keys.set(inner, innerKey);
  }
  return keys;
}

/** Nested values of a group; `valueOf` tells that of each dotted name. */
export function nest(group: KeyGroup, valueOf: (name: string, key: Key) => unknown, prefix = ""): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(group).map(([name, member]) => [
      name,
      member instanceof Key ? valueOf(prefix + name, member) : nest(member, valueOf, `${prefix}${name}.`),
    ]),
  );
}

/** One zod object for a group: unknown members are dropped, absent ones take their defaults. */
export function groupSchema(group: KeyGroup): z.ZodObject {
  return z.object(
    Object.fromEntries(
      Object.entries(group).map(([name, member]) => [name, member instanceof Key ? keySchema(member) : groupSchema(member).prefault({})]),
    ),
  );
}

function keySchema(key: Key): z.ZodType {
  return (key.default === undefined ? key.schema.optional() : key.schema.default(key.default)).describe(key.description);
}
