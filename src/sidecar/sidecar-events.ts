// The types that a host imports (sidecar.md 1.1). Derived from the wire's schemas; nothing here is written by hand.
export type * from "../wire/sidecar/schema.ts";
